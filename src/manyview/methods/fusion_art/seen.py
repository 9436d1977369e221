"""What must be known of all rows before any is learned: found in one pass where views are Dask arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, is_dask, is_sparse
from ...blocks import BLOCK_BYTES, row_blocks
from ...data.source import Rows, source_of, view_column
from ...data.views import Views
from ...engines.base import Engine, cut, total
from ...types import Floats

__all__ = ["Seen"]

_BOUNDS_BYTES = 2**20  # so that the second look at a block finds it in the cache
_SECONDS_PER_BYTE = 1e-9  # to load and look at it, about


class NoTag(NamedTuple):
    """The first number that is neither 0 nor 1, and its row."""

    row: int
    value: float


class _Facts(NamedTuple):
    """Of some rows of one view."""

    no_tag: NoTag | None
    bounds: tuple[Floats, Floats] | None


class Seen:
    """Questions about the views of a fit, answered when they are asked: by the engine where rows are elsewhere."""

    def __init__(self, views: Views, engine: Engine | None = None) -> None:
        self.views, self._engine = views, engine

    def no_tag(self, name: str) -> NoTag | None:
        """Where a view holds more than 0 and 1; of a dense one only rows count that an item has."""
        return self._found(name, lambda facts: facts.no_tag, _no_tag)

    def bounds(self, name: str) -> tuple[Floats, Floats]:
        """Smallest and largest value of each feature over the items that have the view; 0 and 0 where none has."""
        found = self._found(name, lambda facts: facts.bounds, _bounds)
        width = self.views[name].shape[1]
        return (np.zeros(width), np.zeros(width)) if found is None else found

    def _found(self, name: str, known: Callable[[_Facts], Any], ask: Callable[[Matrix, NDArray[np.bool_]], Any]) -> Any:
        if is_dask(self.views[name]):
            return known(self._elsewhere[name])
        return ask(self.views[name], self.views.present(name))

    @cached_property
    def _elsewhere(self) -> dict[str, _Facts]:
        """One pass over all Dask arrays."""
        assert self._engine is not None  # noqa: S101
        names = self.views.in_chunks
        source = self._engine.place(source_of(self.views, np.ones(self.views.n_items)))
        row_bytes = sum(source.row_bytes[view_column(name)] for name in names)
        plan = cut(self.views.n_items, row_bytes, BLOCK_BYTES, _SECONDS_PER_BYTE * row_bytes)
        places = [(name, self.views.position(name)) for name in names]
        found, _ = total(self._engine.map(_look_leaf, source, plan, places, None, _both), _both)
        return dict(zip(names, found, strict=True))


def _look_leaf(rows: Rows, leaf: slice, places: Any, _: Any) -> tuple[tuple[_Facts, ...], None]:
    found = []
    for name, place in places:
        matrix, has = rows.some(view_column(name), leaf), np.asarray(rows["mask"][leaf])[:, place]
        wrong = _no_tag(matrix, has)
        wrong = None if wrong is None else NoTag(rows.start + leaf.start + wrong.row, wrong.value)
        found.append(_Facts(wrong, _bounds(matrix, has)))
    return tuple(found), None


def _both(whole: tuple[_Facts, ...], part: tuple[_Facts, ...]) -> tuple[_Facts, ...]:
    return tuple(_joined(one, other) for one, other in zip(whole, part, strict=True))


def _joined(one: _Facts, other: _Facts) -> _Facts:
    bounds = one.bounds or other.bounds
    if one.bounds is not None and other.bounds is not None:
        bounds = np.minimum(one.bounds[0], other.bounds[0]), np.maximum(one.bounds[1], other.bounds[1])
    return _Facts(one.no_tag if one.no_tag is not None else other.no_tag, bounds)


def _no_tag(matrix: Matrix, has: NDArray[np.bool_]) -> NoTag | None:
    if is_sparse(matrix):
        wrong = np.flatnonzero((matrix.data != 0) & (matrix.data != 1))
        if not wrong.size:
            return None
        at = int(wrong[0])
        return NoTag(int(np.searchsorted(matrix.indptr, at, side="right")) - 1, float(matrix.data[at]))
    for block in row_blocks(matrix.shape[0], matrix.shape[1] * matrix.itemsize, _BOUNDS_BYTES):
        part = matrix[block]
        bad = (part != 0) & (part != 1) & has[block, None]
        if bad.any():
            row, column = (int(at[0]) for at in np.nonzero(bad))
            return NoTag(block.start + row, float(part[row, column]))
    return None


def _bounds(matrix: Matrix, has: NDArray[np.bool_]) -> tuple[Floats, Floats] | None:
    if not has.any():
        return None
    if is_sparse(matrix):
        rows = matrix if has.all() else matrix[has]
        ends = [getattr(rows, side)(axis=0) for side in ("min", "max")]
        low, high = (np.asarray(end.todense() if hasattr(end, "todense") else end, dtype=np.float64) for end in ends)
        return low.ravel(), high.ravel()
    low, high = np.full(matrix.shape[1], np.inf), np.full(matrix.shape[1], -np.inf)
    for block in row_blocks(matrix.shape[0], matrix.shape[1] * matrix.itemsize, _BOUNDS_BYTES):
        # Rows that a mask hides may hold anything, so NaN is not what tells them apart.
        rows = matrix[block] if has[block].all() else matrix[block][has[block]]
        if rows.shape[0]:
            np.minimum(low, rows.min(axis=0), out=low)
            np.maximum(high, rows.max(axis=0), out=high)
    return low, high
