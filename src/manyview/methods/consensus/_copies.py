"""Near copies of items, of which one is enough to count groups by."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers, row_blocks
from ...types import Floats, Places, Singles
from ..neighbours import nearest_neighbours
from ._points import Points, kinds_of

__all__ = ["without_copies"]

_NEIGHBOURS = 10
_FEW = 60
"""Items up to which only equal ones are copies."""
_COPIES = 0.2
"""Of the usual distance; re-encoded and slightly cropped pictures are closer, different ones of the same thing not."""


def without_copies(points: Points, seed: int, threads: Workers) -> Points:
    """One of each kind of items, and of near copies the first: else copies would be each other's only neighbours.

    Near copies are at most a fifth as far apart as any two items usually are, and a third as far as the tenth neighbour
    of either: whatever has ten more like itself is a group and stays.
    """
    points = points.of(np.unique(kinds_of(points), return_index=True)[1])
    n_items = points.rows.shape[0]
    if n_items <= _FEW:
        return points
    near = nearest_neighbours(points.rows, _NEIGHBOURS, threads, seed=seed)
    others = np.random.default_rng(seed).permutation(n_items)
    usual = float(np.median(_distances(points.rows, others)))
    limit = np.minimum(_COPIES * usual, _distances(points.rows, near[:, -1]) / 3)
    is_first = np.ones(n_items, dtype=bool)
    pairs = []
    for column in near.T:
        close = _distances(points.rows, column) <= np.minimum(limit, limit[column])
        pairs += [sorted(pair) for pair in zip(np.flatnonzero(close).tolist(), column[close].tolist(), strict=True)]
    for first, second in sorted(pairs):
        if is_first[first]:
            is_first[second] = False
    return points.of(np.flatnonzero(is_first))


def _distances(rows: Singles, others: Places | NDArray[np.int32]) -> Floats:
    """How far each row is from another one."""
    blocks = row_blocks(rows.shape[0], 16 * max(1, rows.shape[1]))
    return np.concatenate(
        [np.sqrt(((rows[block] - rows[others[block]]).astype(np.float64) ** 2).sum(axis=1)) for block in blocks]
    )
