"""Tagged items that come several times, all but alike: pictures of one moment, editions of one text.

What is promised to items without tags is measured by hiding the tags of tagged ones. Where near copies of these keep
their tags, what was hidden is found again every time; items without tags have no such copies, and would be promised as
much.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...types import Floats, Ints, Mask, Singles
from .nearest import Nearest
from .population import surely_larger

__all__ = ["one_of_each"]

_NEAR = 0.5
"""A near copy is at most half as far from an item as the last of its neighbours."""
_MORE = 0.5
"""The share of the tagged items that have a near copy is larger by so much than that of the others."""
_LEFT = 0.02
"""It is larger by so little once near copies are gone."""
_TINY = float(np.finfo(np.float32).eps)
_LINES = 20
"""Where a near copy begins is one of so many."""


def one_of_each(near: Sequence[Nearest], speaks: Mask, n_tags: Ints, like: Floats) -> Mask | None:
    """Which tagged items stand for all their near copies; None where few have any, or items without tags have as many.

    By the nearest tagged items of all items in every view, which views say something of each, how many tags each has,
    and how likely each is of the kind of the tagged ones (``Population``): those that are not tell nothing here. The
    one with most tags stands for its copies. What is a near copy follows from the others: those that are left have as
    few as they. Takes O(n_views n n_neighbours) time and memory.
    """
    tagged = n_tags > 0
    others = ~tagged & (like >= 0.5)
    if not near or not others.any() or np.mean(_at_most(near, speaks)[tagged] >= _NEAR) <= _MORE:
        return None
    nearness = _nearness(near, speaks)
    nearest = _largest(nearness, tagged)
    if _excess(nearest[tagged], nearest[others]) <= _MORE or not surely_larger(nearest[tagged], nearest[others]):
        return None
    order = np.lexsort((np.arange(tagged.size), -n_tags))[: np.count_nonzero(tagged)]
    lines = np.linspace(np.median(nearest[tagged]), _NEAR, _LINES)

    def is_enough(which: int) -> bool:
        kept = _thinned(nearness, order, lines[which])
        nearest = _largest(nearness, kept)
        return _excess(nearest[kept], nearest[others]) <= _LEFT

    return _thinned(nearness, order, lines[bisect_left(range(_LINES - 1), True, key=is_enough)])


def _of_view(cosines: Singles, last: Singles) -> Floats:
    """From 0, as far as the last neighbour, to 1, no distance at all; 0 for nobody."""
    apart, far = np.maximum(1.0 - cosines.astype(np.float64), 0.0), np.maximum(1.0 - last.astype(np.float64), _TINY)
    return np.where(cosines > 0, 1.0 - apart / far, 0.0)


def _at_most(near: Sequence[Nearest], speaks: Mask) -> Floats:
    """No neighbour of an item is nearer: (n,). Quick to tell, and enough for most collections."""
    first = [_of_view(found.cosines[:, 0], found.cosines[:, -1]) for found in near]
    total = np.sum([np.where(speaks[:, v], one, 0.0) for v, one in enumerate(first)], axis=0)
    return np.asarray(total / np.maximum(speaks.sum(axis=1), 1))


def _nearness(near: Sequence[Nearest], speaks: Mask) -> Any:
    """How near each neighbour of an item is, the mean of the item's views: CSR (n, n)."""
    from scipy.sparse import csr_matrix

    n_items = speaks.shape[0]
    share = 1.0 / np.maximum(speaks.sum(axis=1), 1)
    total = csr_matrix((n_items, n_items))
    for v, found in enumerate(near):
        value = _of_view(found.cosines, found.cosines[:, -1:])
        kept = (value > 0) & speaks[:, v, None]
        row = np.broadcast_to(np.arange(n_items)[:, None], kept.shape)[kept]
        total = total + csr_matrix((value[kept] * share[row], (row, found.items[kept])), shape=total.shape)
    return total.tocsr()


def _largest(nearness: Any, searched: Mask) -> Floats:
    """The largest nearness of each item to one of some."""
    from scipy.sparse import csr_matrix

    data = np.where(searched[nearness.indices], nearness.data, 0.0)
    some = csr_matrix((data, nearness.indices, nearness.indptr), shape=nearness.shape)
    return np.asarray(some.max(axis=1).toarray().ravel())


def _excess(nearest: Floats, of_others: Floats) -> float:
    """By how much the share of items with a near copy is larger, wherever near begins."""
    ends = np.unique(nearest[nearest >= _NEAR])
    n, n_others = (one.size - np.searchsorted(np.sort(one), ends) for one in (nearest, of_others))
    return float((n / nearest.size - n_others / of_others.size).max(initial=0.0))


def _thinned(nearness: Any, order: Ints, least: float) -> Mask:
    """Items in this order, without those of which a near copy is there already."""
    kept = np.zeros(nearness.shape[0], dtype=bool)
    is_near = nearness.data >= least
    for i in order:
        row = slice(nearness.indptr[i], nearness.indptr[i + 1])
        kept[i] = not kept[nearness.indices[row][is_near[row]]].any()
    return kept
