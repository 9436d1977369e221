"""Large sets of whole numbers as sorted arrays: read from the catalogue at once, and compared by bisection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Ints
from .catalog import Catalog

__all__ = ["among", "distinct", "joined", "read_numbers", "without"]


def read_numbers(catalog: Catalog, sql: str, values: Iterable[Any] = ()) -> Ints:
    """The numbers that a statement selects under the name ``n``, in its order; several a row with commas between.

    As one text that NumPy takes apart: four times as quick as a Python number for each.
    """
    text = catalog.value(f"SELECT group_concat(n) FROM ({sql})", values)  # noqa: S608  statements of ours
    return np.fromstring(text, dtype=np.int64, sep=",") if text else np.zeros(0, dtype=np.int64)


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
    """Two sorted sets as one."""
    return distinct(np.concatenate([numbers, more])) if more.size else numbers
