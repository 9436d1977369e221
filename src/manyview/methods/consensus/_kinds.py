"""Items of several kinds in one collection, such as documents beside photographs: views that hardly share any items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import is_sparse
from ...data.views import Views
from ...data.weighting import speaks
from ...types import Mask, Places, Singles

__all__ = ["best_sums", "covered", "items_of_kinds", "kind_columns", "kind_of_items", "kinds_of_views", "present_in"]

_SHARED = 0.1
"""Of the items of either side: views that share as many are about the same items."""
_INSIDE = 0.5
"""Of a view's items: one of which as many have another view belongs to that one, but joins nothing else to it."""


def present_in(views: Views) -> list[Mask]:
    """Who has each view, with at least one entry where it is sparse."""
    found = [views.present(name) for name in views.names]
    sparse = (is_sparse(views[name]) for name in views.names)
    return [
        has & speaks(views[name]) if one else has for has, name, one in zip(found, views.names, sparse, strict=True)
    ]


@dataclass
class _Kind:
    items: Mask
    views: list[int]


def kinds_of_views(speaking: Sequence[Mask]) -> Places:
    """The same number for views that are about the same items, such as looks and captions of photographs; 0 for those
    of the most items (ties: the first items).

    Views of other items, such as the words of documents beside photographs, can neither bear each other out nor differ.
    From the one with most items on, a view goes with those that it shares a tenth with, of their items and of its own,
    and so joins them; or else with those where at least half of its items are, as captions of a few photographs do.
    """
    kinds: list[_Kind] = []
    for view in sorted(range(len(speaking)), key=lambda v: (-np.count_nonzero(speaking[v]), speaking[v].tobytes())):
        mine = speaking[view]
        size, shared = int(np.count_nonzero(mine)), [int(np.count_nonzero(mine & kind.items)) for kind in kinds]
        larger = [max(size, int(np.count_nonzero(kind.items))) for kind in kinds]
        joined = [k for k in range(len(kinds)) if 0 < shared[k] >= _SHARED * larger[k]]
        if not joined and kinds and max(shared) > 0 and max(shared) >= _INSIDE * size:
            joined = [int(np.argmax(shared))]
        parts = [kinds[k] for k in joined]
        items = np.any([mine, *(part.items for part in parts)], axis=0)
        kinds = [kind for k, kind in enumerate(kinds) if k not in joined]
        kinds.append(_Kind(items, [view, *(v for part in parts for v in part.views)]))
    number = np.zeros(len(speaking), dtype=np.intp)
    by_size = sorted(kinds, key=lambda kind: (-np.count_nonzero(kind.items), (~kind.items).tobytes()))
    for place, kind in enumerate(by_size):
        number[kind.views] = place
    return number


def kind_of_items(speaking: Mask, kinds: Places) -> Places:
    """(n,): the kind of every item, of two the one with more items; -1 for those that no view says anything of.

    ``speaking`` (n, n_views); ``kinds`` of the views.
    """
    found = np.full(speaking.shape[0], -1, dtype=np.intp)
    for kind in range(int(kinds.max(initial=-1)), -1, -1):
        found[speaking[:, kinds == kind].any(axis=1)] = kind
    return found


def items_of_kinds(speaking: Sequence[Mask]) -> list[tuple[Places, list[int]]]:
    """The items of every kind, and its views."""
    if not speaking:
        return []
    kinds = kinds_of_views(speaking)
    found = kind_of_items(np.column_stack(speaking), kinds)
    return [
        (np.flatnonzero(found == kind), np.flatnonzero(kinds == kind).tolist()) for kind in np.unique(found[found >= 0])
    ]


def kind_columns(speaking: Mask, kinds: Places, far: float) -> Singles:
    """(n, n_kinds): columns in which items of different kinds are as far apart as asked; none where there is one."""
    n_kinds = int(kinds.max(initial=0)) + 1
    if n_kinds < 2:
        return np.empty((speaking.shape[0], 0), dtype=np.float32)
    side = np.float32(far / np.sqrt(2.0))
    return side * (kind_of_items(speaking, kinds)[:, None] == np.arange(n_kinds))


def covered(speaking: Sequence[Mask]) -> list[float]:
    """The share of every view's items that have another of these views."""
    many = np.sum(speaking, axis=0) > 1
    return [float(np.count_nonzero(has & many)) / max(1, int(np.count_nonzero(has))) for has in speaking]


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
