"""Checks that every array and every setting passes once, at the door."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, is_sparse
from ..blocks import row_blocks
from ..errors import ParameterError, ViewError
from .parameters import SEED, Choice, Number

_LARGEST = np.float64(1e300)  # a hundred million of these add up to a number that float64 still holds
_MOST_WEIGHT = 1e303  # of all items together, times their squares in units of the view

__all__ = [
    "as_generator",
    "check_choice",
    "check_mask",
    "check_number",
    "check_rows",
    "check_sample_weight",
    "missing_rows",
    "per_view_numbers",
]


def missing_rows(name: str, matrix: Matrix, ignore: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """Which rows of a view are missing (all NaN); any other NaN, infinity or value nobody can add up is an error.

    Rows marked in ``ignore`` are not looked at. Reads the matrix once, in blocks. The rows of a sparse
    matrix are never missing: an empty one says that nothing is known, which is not the same.
    """
    missing = np.zeros(matrix.shape[0], dtype=bool)
    if is_sparse(matrix):
        bad = np.flatnonzero(~_usable(matrix.data))
        if bad.size:
            row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
            raise _unusable(name, row, int(matrix.indices[bad[0]]), matrix.data[bad[0]])
        return missing
    for block in row_blocks(matrix.shape[0], matrix.shape[1] * matrix.itemsize):
        part = matrix[block]
        with np.errstate(over="ignore", invalid="ignore"):
            # Extremes are NaN where any value is; of most blocks one look at all values is enough.
            if _within(part.min(initial=0.0), part.max(initial=0.0)):
                continue
            if _within(np.fmin.reduce(part, axis=None), np.fmax.reduce(part, axis=None)):  # nothing worse than NaN
                suspects = np.flatnonzero(~np.isfinite(part.sum(axis=1)))
            else:
                suspects = np.flatnonzero(~_within(part.min(axis=1), part.max(axis=1)))
        for row in suspects.tolist():
            item = block.start + row
            if ignore is not None and ignore[item]:
                continue
            values = part[row]
            if np.isnan(values).all():
                missing[item] = values.size > 0
            elif not _usable(values).all():
                column = int(np.flatnonzero(~_usable(values))[0])
                raise _unusable(name, item, column, values[column])
    return missing


def check_mask(mask: Any, n_items: int, n_views: int) -> NDArray[np.bool_] | None:
    """Which item has which view, as it was given: booleans, items by views."""
    if mask is None:
        return None
    given = np.asarray(mask)
    if given.shape != (n_items, n_views) or given.dtype.kind != "b":
        raise ViewError(
            f"mask must be {n_items} x {n_views} booleans (items x views), got {given.dtype} of shape {given.shape}."
        )
    return given


def check_rows(key: Any, n_items: int) -> Any:
    """Which rows to take: a slice as it is, numbers or booleans as an array."""
    if isinstance(key, slice):
        return key
    rows = np.asarray(key)
    if rows.size == 0:
        return rows.astype(np.intp).ravel()
    if rows.ndim != 1 or rows.dtype.kind not in "iub":
        raise ViewError("rows must be a slice, a 1-D array of integers or one of booleans.")
    if rows.dtype.kind == "b" and rows.size != n_items:
        raise ViewError(f"a boolean row selection needs {n_items} entries, got {rows.size}.")
    return rows


def _within(low: Any, high: Any) -> Any:
    return (low >= -_LARGEST) & (high <= _LARGEST)


def _usable(values: NDArray[Any]) -> NDArray[np.bool_]:
    usable: NDArray[np.bool_] = np.abs(values) <= _LARGEST
    return usable


def _unusable(name: str, row: int, column: int, value: Any) -> ViewError:
    if np.isfinite(value):
        return ViewError(
            f"view {name!r}, column {column}, holds {value:g} in row {row}, more than float64 can add up. Divide the "
            "column by a large number first."
        )
    shown = "NaN" if np.isnan(value) else "inf" if value > 0 else "-inf"
    return ViewError(
        f"view {name!r} contains {shown} in row {row}, column {column}. Values must be finite; a dense row of "
        "nothing but NaN means that the item lacks the view. Fill the gap, or make the whole row NaN."
    )


def check_number(
    name: str,
    value: Any,
    *,
    integer: bool = False,
    low: float | None = None,
    high: float | None = None,
    low_open: bool = False,
) -> Any:
    """A number inside its range, or an error that says the range and what came."""
    Number(integer, low, high, low_open).check(name, value)
    return int(value) if integer else float(value)


def check_choice(name: str, value: Any, choices: Sequence[str | None]) -> Any:
    """One of a few words, or an error that lists them."""
    Choice(*choices).check(name, value)
    return value


def per_view_numbers(
    name: str,
    value: Any,
    names: Sequence[str],
    *,
    high: float | None = None,
    some_above_zero: bool = False,
    instead: str = "",
) -> NDArray[np.float64]:
    """One number of at least 0 for each view, from one for all, a list in the views' order, or a dict by name.

    A pandas Series that is indexed by words goes by name too. ``instead`` says in the error what else could be given,
    such as "'equal' or ".
    """
    wanted = "finite number(s) of at least 0" + ("" if high is None else f" and at most {high:g}")
    wanted += ", not all 0" if some_above_zero else ""

    def refuse(fault: str) -> ParameterError:
        views = ", ".join(map(str, names))
        return ParameterError(f"{name} must be {instead}{len(names)} {wanted}, one for each view ({views}); {fault}.")

    given = value
    if isinstance(index := getattr(given, "index", None), Iterable) and all(isinstance(key, str) for key in index):
        given = given.to_dict()
    if isinstance(given, Mapping):
        for key in (*given, *names):
            if key not in names:
                raise refuse(f"{key!r} is not a view")
            if key not in given:
                raise refuse(f"there is no number for {key!r}")
        given = [given[key] for key in names]
    elif isinstance(given, numbers.Real):
        given = [given] * len(names)
    if isinstance(given, (str, bytes)) or not np.iterable(given):
        raise refuse(f"got {value!r}")
    parts = list(given)
    if len(parts) != len(names):
        raise refuse(f"got {value!r}")
    for view, part in zip(names, parts, strict=True):
        try:
            good = np.isfinite(check_number(name, part, low=0, high=high))
        except ParameterError:
            good = False
        if not good:
            raise refuse(f"got {part!r} for view {view!r}")
    result = np.array(parts, dtype=np.float64)
    if some_above_zero and not result.any():
        raise refuse(f"got {value!r}")
    return result


def check_sample_weight(sample_weight: Any, n_items: int) -> NDArray[np.float64] | None:
    """Finite weights of at least 0, one per item, not all 0; None stays None."""
    if sample_weight is None:
        return None
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"sample_weight must hold one number per item: {error}.") from error
    if weight.ndim == 0:
        weight = np.full(n_items, float(weight))
    if weight.shape != (n_items,):
        raise ParameterError(f"sample_weight.shape == {weight.shape}, expected {(n_items,)}: one number per item.")
    if not np.isfinite(weight).all() or (weight < 0).any():
        item = int(np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))[0])
        raise ParameterError(
            f"sample_weight must be finite and at least 0, got {weight[item]} for item {item} (no NaN or inf)."
        )
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if total > _MOST_WEIGHT:
        raise ParameterError(f"sample_weight adds up to {total:g}, more than float64 can work with. Divide it first.")
    if not weight.any():
        raise ParameterError("sample_weight is zero for every item; at least one item needs a positive weight.")
    return weight


def as_generator(random_state: Any) -> np.random.Generator:
    """One source of random numbers from None, a seed, a Generator or an old RandomState."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4, dtype=np.int64))
    SEED.check("random_state", random_state)
    return np.random.default_rng(None if random_state is None else int(random_state))
