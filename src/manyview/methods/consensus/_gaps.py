"""What items would look like in the views they lack: as those do that are nearest in the views they have.

Without this an item without tags would lie, among all views side by side, at the centre of the tags: near to every
other one without tags and far from those with some, and clusters would be of the tagged and of the untagged.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...blocks import Workers
from ...data.nearest import nearest_among
from ...types import Places

__all__ = ["fill_gaps"]

_DONORS = 10
"""Items whose mean fills a gap; they are shorter the less they agree."""
_LOOKED_AT = 2_000
"""Items that have a view, among which those are sought."""

Rows = NDArray[np.float32]
Present = NDArray[np.bool_]


def fill_gaps(
    rows: Rows, present: Present, edges: Places, threads: Workers, known: tuple[Rows, Present] | None = None
) -> None:
    """Fill, in place, the columns of the views that items lack, from ``known`` rows or from each other.

    rows : (n, all columns), zero where an item lacks the view; ``edges`` say where each view's columns start
    known : rows and present of fitted items, which may be filled already; only what they really have is used

    Items lacking every view, and views nobody has beside what an item has, keep their zeros.
    """
    theirs, have = (rows, present) if known is None else known
    columns = [np.arange(edges[v], edges[v + 1]) for v in range(present.shape[1])]
    made: list[tuple[Places, Places, Rows]] = []
    patterns, pattern_of = np.unique(present, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if pattern.all() or not pattern.any():
            continue
        items = np.flatnonzero(pattern_of.ravel() == number)
        here = np.concatenate([columns[v] for v in np.flatnonzero(pattern)])
        asking = np.ascontiguousarray(rows[items][:, here])
        for v in np.flatnonzero(~pattern):
            donors = np.flatnonzero(have[:, v] & have[:, pattern].all(axis=1))
            if donors.size > _LOOKED_AT:
                donors = donors[:: -(-donors.size // _LOOKED_AT)]
            if donors.size:
                beside = np.ascontiguousarray(theirs[donors][:, here])
                near = nearest_among(asking, beside, min(_DONORS, donors.size), threads)
                made.append((items, columns[v], _means(theirs[donors][:, columns[v]], near)))
    for items, where, found in made:  # last, so that what was filled in never fills
        rows[np.ix_(items, where)] = found


def _means(rows: Rows, near: NDArray[np.int32]) -> Rows:
    """The mean of the rows that each line of ``near`` lists."""
    n_items, count = near.shape
    share = np.full(near.size, 1.0 / count, dtype=np.float32)
    lines = sparse.csr_array((share, near.ravel(), np.arange(0, near.size + 1, count)), (n_items, rows.shape[0]))
    return np.asarray(lines @ rows)
