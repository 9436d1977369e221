"""Which cluster of a new run continues which one that was there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...types import Ids

__all__ = ["FLOOR", "Then", "continued_clusters", "identities_of_labels", "overlap_table", "parts_of_merges"]


FLOOR = 1 / 3
"""Likeness (twice the shared items over the sum of both sizes) below which a cluster does not continue another: it may
be cut to a fifth, or grow to five times its size, but not both change most of its items and lose most of them."""
_MAJORITY = 1 / 2


def continued_clusters(
    labels: Ids, own: Ids, first: Iterable[int] = (), earlier: Iterable[Ids] = (), only_first: bool = False
) -> dict[int, int]:
    """The identity each label of a new run continues, by the items they share; labels that continue none are absent.

    labels : of the new run, one per item that was there before; -1 for none
    own : the identity each of these items had, before merges; -1 for none
    first : identities with a person's name or pin: where such a one and a label share at least half of their items,
        by ``FLOOR``'s measure, that holds before all else
    earlier : the identities of the same items at other times. Where labels share as many items with an identity, as
        the halves of a cluster do that was two before, it goes to the one that shared more with it then
    only_first : leave it at those with a name or pin

    A matching with the largest number of shared items, among pairs above ``FLOOR``, so that no identity goes
    to two labels.
    """
    table, numbers, identities = overlap_table(labels, own)
    sizes = np.bincount(np.searchsorted(numbers, labels[labels >= 0]), minlength=numbers.size)
    before = np.bincount(np.searchsorted(identities, own[own >= 0]), minlength=identities.size)
    alike = 2.0 * table / np.maximum(1, sizes[:, None] + before)
    weights = table + _ties(labels, list(earlier), numbers, identities)
    chosen: dict[int, int] = {}
    named = np.isin(identities, list(first)) & (alike >= _MAJORITY)
    for allowed in (named,) if only_first else (named, alike >= FLOOR):
        rows = np.setdiff1d(np.arange(numbers.size), list(chosen))
        columns = np.setdiff1d(np.arange(identities.size), list(chosen.values()))
        weight = np.where(allowed, weights, 0)[np.ix_(rows, columns)]
        chosen |= {int(rows[row]): int(columns[column]) for row, column in _matched(weight)}
    return {int(numbers[row]): int(identities[column]) for row, column in chosen.items()}


class Then(NamedTuple):
    """An earlier state: items, ascending, and the identity each had."""

    ids: Ids
    own: Ids


def identities_of_labels(
    ids: Ids,
    labels: Ids,
    states: Iterable[Then],
    *,
    by_hand: Iterable[int] = (),
    merged: Mapping[int, int] | None = None,
    first: Iterable[int] = (),
) -> dict[int, int]:
    """Which identity each label of a new run continues; labels that are new are absent.

    ids, labels : the new run's items, ascending, and their labels
    states : earlier states, the newest first; older ones are asked, one after another, about labels that are left, so
        that a cluster that was lost for a while comes back as itself. Those with a person's name or pin come before
        clusters that nobody named, also where they were lost
    by_hand : items that a person put where they are. They need no label to stay there, and must not draw the others
        after them: labels are matched by their other items first, and by all only where most items are such
    merged : identities that a person merged away -> what they were merged into. A label that continues nothing, but
        most of whose items were in a merge, becomes part of it (``parts_of_merges``)
    first : identities with a person's name or pin
    """
    hand, known, protected = np.fromiter(by_hand, dtype=np.int64), list(states), list(first)
    if not known:
        return {}
    open_labels = labels.astype(np.int64)
    found: dict[int, int] = {}
    # what is there now is not what was lost; a cluster of which only moved items are there is
    taken = np.unique(known[0].own[~np.isin(known[0].ids, hand)])

    def match(then: Then, without: Ids, only: Ids | None = None, only_named: bool = False) -> None:
        nonlocal taken
        _, new, old = np.intersect1d(ids, then.ids, assume_unique=True, return_indices=True)
        own = np.where(np.isin(then.own[old], without), -1, then.own[old])
        now = open_labels[new] if only is None else np.where(np.isin(open_labels[new], only), open_labels[new], -1)
        put = np.isin(then.ids[old], hand) if only is None else np.zeros(old.size, dtype=bool)
        earlier = [_identity(other, then.ids[old]) for other in known if other is not then]
        continued = continued_clusters(np.where(put, -1, now), np.where(put, -1, own), protected, earlier, only_named)
        found.update(continued)
        taken = np.union1d(taken, list(continued.values()))
        open_labels[np.isin(open_labels, list(continued))] = -1

    for only_named in (True, False):
        for number, then in enumerate(known):
            match(then, taken if number else np.array(list(found.values()), dtype=np.int64), only_named=only_named)
            if (open_labels < 0).all():
                return found
    match(known[0], np.array(list(found.values()), dtype=np.int64), _mostly(open_labels, np.isin(ids, hand)))
    _, new, old = np.intersect1d(ids, known[0].ids, assume_unique=True, return_indices=True)
    return found | parts_of_merges(open_labels[new], known[0].own[old], merged or {})


def _identity(then: Then, ids: Ids) -> Ids:
    """What some items were then; -1 for those that were not there."""
    place = np.minimum(np.searchsorted(then.ids, ids), max(0, then.ids.size - 1))
    return np.where(then.ids[place] == ids, then.own[place], -1) if then.ids.size else np.full(ids.size, -1)


def _mostly(labels: Ids, chosen: NDArray[np.bool_]) -> Ids:
    """Labels more than half of whose items are chosen."""
    numbers, place, sizes = np.unique(labels[labels >= 0], return_inverse=True, return_counts=True)
    return numbers[np.bincount(place, chosen[labels >= 0], numbers.size) > _MAJORITY * sizes]


def overlap_table(first: Ids, second: Ids) -> tuple[Ids, Ids, Ids]:
    """How many items two clusterings put into each pair of clusters, and the labels of its rows and columns."""
    rows, columns = np.unique(first[first >= 0]), np.unique(second[second >= 0])
    both = (first >= 0) & (second >= 0)
    cells = np.searchsorted(rows, first[both]) * columns.size + np.searchsorted(columns, second[both])
    return np.bincount(cells, minlength=rows.size * columns.size).reshape(rows.size, columns.size), rows, columns


def _ties(labels: Ids, earlier: list[Ids], numbers: Ids, identities: Ids) -> NDArray[np.float64]:
    """Shared items at other times, all of them together less than one."""
    found = np.zeros((numbers.size, identities.size))
    for own in earlier:
        table, rows, columns = overlap_table(labels, np.where(np.isin(own, identities), own, -1))
        found[np.ix_(np.searchsorted(numbers, rows), np.searchsorted(identities, columns))] += table
    return found / (1 + labels.size * len(earlier))


def _matched(weight: NDArray[Any]) -> list[tuple[int, int]]:
    """Pairs with the largest sum of weights; pairs without weight are left out."""
    if not weight.size:
        return []
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-weight)
    return [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if weight[r, c] > 0]


def parts_of_merges(labels: Ids, own: Ids, merged: Mapping[int, int]) -> dict[int, int]:
    """Labels most of whose items were in clusters that a person had merged -> a part of that merge.

    ``merged`` says what was merged into what. Each label takes the identity of that merged part it shares most with, so
    that the merge stays one cluster, and comes apart again when it is undone. Several labels may take the same.
    """
    ends = np.array([merged.get(identity, identity) for identity in own.tolist()], dtype=np.int64)
    found = {}
    for label in np.unique(labels[labels >= 0]).tolist():
        mine = labels == label
        for end in sorted(set(merged.values())):
            inside = mine & (ends == end)
            if inside.sum() > _MAJORITY * mine.sum():
                away, counts = np.unique(own[inside & (own != end)], return_counts=True)
                spare = [part for part, target in merged.items() if target == end]
                found[label] = int(away[np.argmax(counts)]) if away.size else min(spare)
    return found
