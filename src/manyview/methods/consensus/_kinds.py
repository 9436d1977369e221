"""Items of several kinds in one collection, such as documents beside photographs: views that hardly share any items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...arrays import is_sparse
from ...data.views import Views
from ...data.weighting import speaks
from ...types import Mask, Places

__all__ = ["best_sums", "by_kind", "kinds_of_views"]

_SHARED = 0.1
"""Of the items of the smaller of two views; with fewer they are not about the same."""


def kinds_of_views(speaking: Sequence[Mask]) -> Places:
    """The same number for views that are about the same items, such as looks and captions of photographs.

    Views of other items, such as the words of documents beside photographs, can neither bear each other out nor differ.
    Two are of the same items where they share a tenth of those of the smaller one, or both do so with a third.
    """
    from scipy.sparse.csgraph import connected_components

    present = np.column_stack(speaking).astype(np.float64)
    shared = present.T @ present
    fewer = np.minimum.outer(shared.diagonal(), shared.diagonal())
    return np.asarray(connected_components((shared > 0) & (shared >= _SHARED * fewer), directed=False)[1])


def by_kind(views: Views) -> list[Views]:
    """The items of every kind, with their views alone. An item of two kinds is of that with more items."""
    held = {name: views.present(name) for name in views.names}
    held |= {name: held[name] & speaks(views[name]) for name in views.names if is_sparse(views[name])}
    names = [name for name in views.names if held[name].any()]
    if len(names) < 2:
        return [views]
    kinds = kinds_of_views([held[name] for name in names])
    if not kinds.any():
        return [views]
    sides = []
    for kind in range(int(kinds.max()) + 1):
        mine = [name for name, one in zip(names, kinds.tolist(), strict=True) if one == kind]
        sides.append((np.any([held[name] for name in mine], axis=0), mine))
    sides.sort(key=lambda side: (-np.count_nonzero(side[0]), int(np.argmax(side[0]))))
    found, left = [], np.ones(views.n_items, dtype=bool)
    for has, mine in sides:
        if (has & left).any():
            found.append(views[has & left][mine])
        left &= ~has
    return found


def best_sums(scores: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """Of every sum of numbers, one from each of these: the best product of their scores, each beside its best."""
    total = {0: 1.0}
    for one in scores:
        best = max(one.values())
        made: dict[int, float] = {}
        for number, score in one.items():
            mine = max(score, 0.0) / best if best > 0 else 1.0
            for before, value in total.items():
                made[before + number] = max(made.get(before + number, 0.0), value * mine)
        total = made
    return total
