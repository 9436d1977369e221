"""Large sets of whole numbers, and of pairs of item and tag, as sorted arrays that are compared by bisection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Ints
from .catalog import Catalog

__all__ = [
    "TAG_BITS",
    "among",
    "by_row",
    "distinct",
    "joined",
    "known_pairs",
    "read_numbers",
    "read_pairs",
    "taken_apart",
    "turned",
    "without",
]

TAG_BITS = 31
"""A pair of item (or row) and tag is one number, whose last bits are the tag."""
_TAG = (1 << TAG_BITS) - 1
_ITEMS_AT_A_TIME = 200_000


def read_numbers(catalog: Catalog, sql: str, values: Iterable[Any] = ()) -> Ints:
    """The numbers that a statement selects under the name ``n``, in its order; several a row with commas between.

    As one text that NumPy takes apart: four times as quick as a Python number for each.
    """
    text = catalog.value(f"SELECT group_concat(n) FROM ({sql})", values)  # noqa: S608  statements of ours
    return np.fromstring(text, dtype=np.int64, sep=",") if text else np.zeros(0, dtype=np.int64)


def read_pairs(catalog: Catalog, table: str, where: str = "1", values: Iterable[Any] = ()) -> Ints:
    """Pairs of item and tag of a table, of items that are gone too, in no order; some items at a time."""
    sql = f"SELECT item_id << {TAG_BITS} | tag_id AS n FROM {table} WHERE item_id BETWEEN ? AND ? AND {where}"  # noqa: S608
    last = int(catalog.value("SELECT coalesce(max(id), 0) FROM items"))
    starts = range(0, last + 1, _ITEMS_AT_A_TIME)
    given = list(values)
    return np.concatenate(
        [read_numbers(catalog, sql, [start, start + _ITEMS_AT_A_TIME - 1, *given]) for start in starts]
    )


def known_pairs(catalog: Catalog, ids: Ints) -> tuple[Ints, Ints]:
    """Row and tag of all that counts for these items (``known_tags``), and of what a person said no to."""
    said, yes, no = (
        by_row(pairs, ids)
        for pairs in (
            read_pairs(catalog, "said_tags"),
            read_pairs(catalog, "decisions", "answer = 1"),
            read_pairs(catalog, "decisions", "answer = 0"),
        )
    )
    return joined(without(said, no), yes), no


def by_row(pairs: Ints, ids: Ints) -> Ints:
    """Pairs of item and tag as pairs of row and tag, sorted; without items that are not among the ascending ``ids``."""
    items = pairs >> TAG_BITS
    here = among(items, ids)
    return distinct((np.searchsorted(ids, items[here]) << TAG_BITS) | (pairs[here] & _TAG))


def taken_apart(pairs: Ints) -> tuple[Ints, Ints]:
    """The rows (or items) of pairs, and their tags."""
    return pairs >> TAG_BITS, pairs & _TAG


def turned(pairs: Ints) -> Ints:
    """Pairs of row and tag as pairs of tag and row, sorted: all rows of a tag beside each other."""
    rows, tags = taken_apart(pairs)
    return np.sort((tags << TAG_BITS) | rows)


def distinct(numbers: Ints) -> Ints:
    """Sorted, each once."""
    found = np.sort(numbers)
    return found[np.append(True, found[1:] != found[:-1])] if found.size else found


def among(numbers: Ints, known: Ints) -> NDArray[np.bool_]:
    """For each number: is it in ``known``, which is sorted?"""
    if not known.size:
        return np.zeros(numbers.size, dtype=bool)
    place = np.minimum(np.searchsorted(known, numbers), known.size - 1)
    return np.asarray(known[place] == numbers)


def without(numbers: Ints, taken: Ints) -> Ints:
    """Sorted numbers less some others; quick where those are few."""
    if not numbers.size:
        return numbers
    place = np.minimum(np.searchsorted(numbers, taken), numbers.size - 1)
    kept = np.ones(numbers.size, dtype=bool)
    kept[place[numbers[place] == taken]] = False
    return numbers[kept]


def joined(numbers: Ints, more: Ints) -> Ints:
    """Two sorted sets as one; quick where the second is small."""
    new = more[~among(more, numbers)]
    return np.insert(numbers, np.searchsorted(numbers, new), new) if new.size else numbers
