"""Proposals of one item that stand above each other: never both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.hierarchy import TagHierarchy
from ..data.tags import match_key
from ..errors import ParameterError
from ..types import Floats, Ints, Mask
from .asked import Asked
from .proposals import Picked

__all__ = ["ancestors", "check_hierarchy", "settle_families", "settled"]

_CLEAR = 2.0
"""A tag is the clear choice among those below another where it is so many times likelier than the next one..."""
_NEAR = 0.5
"""... and at least this share as likely as the one above."""


def ancestors(hierarchy: TagHierarchy, names: Sequence[str]) -> dict[int, frozenset[int]]:
    """Column -> the columns of all tags above it, for those that have some."""
    place = {match_key(name): column for column, name in enumerate(names)}
    found = {}
    for column, name in enumerate(names):
        above = hierarchy.above(name) if name in hierarchy else ()
        columns = frozenset(place[match_key(word)] for word in above if match_key(word) in place)
        if columns:
            found[column] = columns
    return found


def check_hierarchy(hierarchy: Any) -> None:
    """A ``TagHierarchy`` or None; anything else is an error."""
    if hierarchy is not None and not isinstance(hierarchy, TagHierarchy):
        raise ParameterError(
            f"hierarchy must be a TagHierarchy; got {type(hierarchy).__name__}. Make one with TagHierarchy.from_paths "
            "or TagHierarchy.from_layers."
        )


def settled(
    picked: Picked,
    hierarchy: TagHierarchy,
    never: NDArray[np.bool_],
    carried: Sequence[Any],
    asked: Asked,
    names: Sequence[str],
) -> Picked:
    """Proposals without a tag and one above it for the same item. ``carried`` are the tags of the items, in blocks."""
    from scipy.sparse import vstack

    was, known = picked.columns.copy(), vstack(carried, format="csr")
    given = (picked.items, picked.columns, picked.probabilities, picked.records)
    kept = settle_families(ancestors(hierarchy, names), never, known, asked.refused, *given)
    lifted = np.flatnonzero(picked.columns != was)
    if lifted.size:
        picked.scores[lifted] = asked.scores_of(picked.items[lifted], picked.columns[lifted])
    return picked.only(kept)


def settle_families(
    above: dict[int, frozenset[int]],
    never: NDArray[np.bool_],
    known: Any,
    refused: Any,
    items: Ints,
    columns: Ints,
    probabilities: Floats,
    records: Floats,
) -> Mask:
    """Which proposals stay; where those below a tag disagree, the best of them is made that tag, in place.

    above : column -> columns of the tags above it
    never : (n_tags,), what is not proposed
    known, refused : CSR (n_items, n_tags), tags the items carry, and what was answered with no
    items, columns, probabilities, records : the proposals, item by item
    """
    kept = np.ones(items.size, dtype=bool)
    related = set(above).union(*above.values()) if above else set()
    concerned = np.isin(columns, sorted(related))
    for item in np.unique(items[concerned]).tolist():
        rows = _rows_of(items, item, concerned)
        carried = set(known.indices[known.indptr[item] : known.indptr[item + 1]].tolist())
        implied = carried.union(*(above.get(column, frozenset()) for column in carried))
        kept[rows] = [column not in implied for column in columns[rows].tolist()]
        barred = implied | set(refused.indices[refused.indptr[item] : refused.indptr[item + 1]].tolist())
        barred |= set(np.flatnonzero(never).tolist()) & related
        _settle(above, barred, rows[kept[rows]], kept, columns, probabilities, records)
    return kept


def _rows_of(items: Ints, item: int, concerned: Mask) -> Ints:
    """Rows of one item among proposals that come item by item."""
    first, last = np.searchsorted(items, [item, item + 1])
    return first + np.flatnonzero(concerned[first:last])


def _settle(
    above: dict[int, frozenset[int]],
    barred: set[int],
    rows: Ints,
    kept: Mask,
    columns: Ints,
    probabilities: Floats,
    records: Floats,
) -> None:
    """One item: the lowest families first."""
    proposed = {int(columns[row]): int(row) for row in rows}
    parents = set().union(*(above.get(column, frozenset()) for column in proposed)) if proposed else set()
    for parent in sorted(parents, key=lambda column: -len(above.get(column, ()))):
        family = [c for c in proposed if parent in above.get(c, ()) and kept[proposed[c]]]
        if not family:
            continue
        family.sort(key=lambda c: -probabilities[proposed[c]])
        best, *others = family
        first = probabilities[proposed[best]]
        agree = not others or first >= _CLEAR * probabilities[proposed[others[0]]]
        own = proposed.get(parent)
        if own is not None and kept[own]:
            if agree and first >= _NEAR * probabilities[own]:
                kept[own] = False
            else:
                kept[[proposed[c] for c in family]] = False
        elif not agree and parent not in barred:
            row = proposed.pop(best)
            for values in (probabilities, records):
                values[row] = 1.0 - np.prod([1.0 - values[r] for r in (row, *(proposed[c] for c in others))])
            columns[row] = parent
            proposed[parent] = row
            kept[[proposed[c] for c in others]] = False
