"""Which items are like some others by all views together, on a scale that means the same in every collection.

How large a likeness is says little by itself: drawings on white are all a bit alike, holiday pictures hardly. So it is
told against pairs of items of the same collection picked blindly: "more alike than 99 % of them". By its making, an
item meets one in a hundred others above 99 % on average, whatever the views and their number. Items that no view tells
apart are at 100 %, however many of them there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..blocks import row_blocks, workers
from ..types import Floats, Places
from .likeness import Compared

__all__ = ["BlindPairs", "likeness_to"]

MOST_COMPARED = 1_500
"""Items drawn for the blind pairs; with so many or fewer, all pairs are compared."""
_EQUAL = 1e-6
"""Likenesses this near are one: float32 rows do not tell them apart."""


def likeness_to(compared: Compared, asked: Places, n_jobs: int | None = None) -> Floats:
    """(n_items,): how alike each item is to some rows; NaN where nobody can say.

    To several rows it is the mean over the half of them that the item is most like. What rows of one kind have in
    common then counts, and rows of two kinds each find their own (``benchmarks.quality alike``). One pass over the
    views, and a product with each row.
    """
    found = np.full(compared.n_items, np.nan)
    if not asked.size:
        return found

    def compare(block: slice) -> None:
        alike = compared.of_items(block, asked)
        n_near = -(-(~np.isnan(alike)).sum(axis=1) // 2)
        falling = -np.sort(-alike, axis=1)  # what is not known comes last
        sums = np.cumsum(falling, axis=1)[np.arange(n_near.size), n_near - 1]
        found[block] = np.where(n_near > 0, sums / np.maximum(n_near, 1), np.nan)

    with workers(n_jobs) as threads:
        for _ in threads.map(compare, row_blocks(compared.n_items, compared.row_bytes + 40.0 * asked.size)):
            pass
    return found


class BlindPairs:
    """How alike two items of a collection are that were picked blindly: the scale on which likeness is told.

    All pairs of at most 1,500 items, drawn by the seed: 1.1 million of them, so that a share of 99.99 % still rests on
    a hundred.
    """

    def __init__(self, compared: Compared, *, seed: int = 0) -> None:
        rows = np.arange(compared.n_items)
        if rows.size > MOST_COMPARED:
            rows = np.sort(np.random.default_rng(seed).choice(rows.size, size=MOST_COMPARED, replace=False))
        values = compared.of_items(rows, rows)[np.triu_indices(rows.size, 1)]
        self._pairs = np.sort(values[~np.isnan(values)])

    def share(self, likeness: ArrayLike) -> Floats:
        """The share of other pairs that are less alike, 0 to 1, and 1 for items that no view tells apart; NaN stays."""
        asked = np.asarray(likeness, dtype=np.float64)
        below = np.searchsorted(self._pairs, np.nan_to_num(asked) - _EQUAL) / max(1, self._pairs.size - 1)
        return np.where(np.isnan(asked), np.nan, np.where(asked >= 1.0 - _EQUAL, 1.0, np.minimum(1.0, below)))
