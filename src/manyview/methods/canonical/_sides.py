"""One view on its way into covariances, and what is done with some of its rows: the tasks that an engine runs.

Products are taken in the precision of the data, leaf by leaf, and added up in float64. Rows that an item lacks count as
zero and the sums keep track of who was there, so a covariance is that of the items that have both views.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, holds_sparse, is_dask, is_sparse
from ...data.source import Rows, view_column
from ...data.views import Views
from ...engines.device import device_form
from ...types import Floats, Mask

__all__ = ["Projection", "Side", "direction_leaf", "largest_leaf", "moments_leaf", "pairs_of", "project_leaf"]

_DENSE_ABOVE = 0.03  # a block of a sparse view this full goes through BLAS faster than through its indices
_OFFSET = 0.25  # how many times its variance a squared mean may be before rows are shifted
_SAFE = {np.dtype(np.float32): (1e-12, 1e12), np.dtype(np.float64): (1e-100, 1e100)}


def _unit(largest: float, dtype: np.dtype[Any]) -> float:
    """The power of two that brings the largest value near one, as far as the type can hold it."""
    most = np.finfo(dtype).maxexp - 10
    return float(np.exp2(np.clip(-np.frexp(largest)[1], -most, most))) if largest > 0 else 1.0


class Side:
    """One view on its way into the covariances: times ``unit``, less ``shift``, in the coordinates of ``basis``.

    ``unit`` is a power of two that keeps squares inside the range of the data's type, ``shift`` stands near the mean
    where that is large, ``basis`` (n_features, r) holds orthonormal directions of a view too wide for its covariance,
    and ``variance`` the sum of all features' variances where the basis leaves some of it out.
    """

    def __init__(self, views: Views, number: int) -> None:
        matrix, present = views.values()[number], views.mask[:, number]
        self.column, self.number = view_column(views.names[number]), number
        self.n_features = int(matrix.shape[1])
        self.n_present = int(present.sum())
        self.complete = bool(present.all())
        self.dtype = np.dtype(matrix.dtype)
        self.unit = 1.0
        self.shift: NDArray[Any] | None = None
        self.basis: Floats | None = None
        self.variance: float | None = None
        self._filled = views.values_per_row(views.names[number])
        self._is_sparse = holds_sparse(matrix)
        self.sparse = self._is_sparse and self._filled <= _DENSE_ABOVE * self.n_features
        self._look(matrix, present)

    @property
    def width(self) -> int:
        return int(self.n_features if self.basis is None else self.basis.shape[1])

    @property
    def row_bytes(self) -> float:
        if self._is_sparse and self.sparse:
            return 16.0 * self._filled
        return float(self.n_features * self.dtype.itemsize)

    @property
    def per_row(self) -> float:
        """Numbers of a row that enter products."""
        return self._filled if self._is_sparse and self.sparse and self.basis is None else float(self.width)

    def _look(self, matrix: Matrix, present: Mask) -> None:
        """Choose unit and shift by a few hundred rows spread over the view."""
        rows = np.flatnonzero(present)
        rows = rows[:: max(1, rows.size // 256)]
        taken = matrix[rows]
        sample = (taken.compute() if is_dask(taken) else taken).astype(np.float64)
        values = sample.data if is_sparse(sample) else sample
        self._set_unit(float(np.abs(values).max(initial=0.0)))
        if is_sparse(sample) or not rows.size:
            return
        sample *= self.unit
        self.sparse = np.count_nonzero(sample) <= _DENSE_ABOVE * sample.size
        far = sample.mean(axis=0) ** 2 > _OFFSET * sample.var(axis=0)
        # a number of the data near the mean rather than the mean: a constant feature becomes exactly zero
        shift = np.where(far, np.quantile(sample, 0.5, axis=0, method="lower"), 0.0).astype(self.dtype)
        if shift.any():
            self.shift = shift

    def _set_unit(self, largest: float) -> None:
        self.largest = largest
        low, high = _SAFE[self.dtype]
        self.unit = _unit(largest, self.dtype) if not low < largest < high else 1.0

    def rescale(self, largest: float) -> None:
        """Choose the unit by the largest number of all rows: those looked at were misleading."""
        unit = _unit(largest, self.dtype)
        if self.shift is not None:
            self.shift = (self.shift.astype(np.float64) * (unit / self.unit)).astype(self.dtype)
        self.unit = unit

    def rows(self, rows: Rows, leaf: slice) -> Matrix:
        """A leaf as it enters the products: CSR, or dense with zeros where an item lacks the view."""
        part, present = rows.some(self.column, leaf), rows["mask"][leaf, self.number]
        if is_sparse(part):
            if self.unit != 1.0:
                part = part * self.dtype.type(self.unit)
            if not self.complete:
                part = part.multiply(present[:, None]).tocsr().astype(self.dtype)
            if self.basis is not None:
                return np.asarray(part @ self.basis.astype(self.dtype))
            return part if self.sparse else part.toarray()
        part = np.ascontiguousarray(part)  # sums must not hang on the order in memory
        if self.unit != 1.0:
            part = part * self.dtype.type(self.unit)
        if self.shift is not None:
            part = part - self.shift
        if not present.all():
            part = np.where(present[:, None], part, self.dtype.type(0))
        if self.basis is not None:
            return part @ self.basis.astype(self.dtype)
        return _csr(part) if self.sparse else part

    def in_units_of_the_view(self, weights: Floats) -> Floats:
        """What multiplies a row of the view, from what multiplies a row as it entered the products."""
        weights = weights if self.basis is None else self.basis @ weights
        return weights * self.unit


def largest_leaf(rows: Rows, leaf: slice, side: Side, _: Any) -> tuple[float, None]:
    """The largest number of a view."""
    part = rows.some(side.column, leaf)
    values = part.data if is_sparse(part) else part[rows["mask"][leaf, side.number]]
    return float(np.abs(values).max(initial=0.0)), None


def pairs_of(n_views: int) -> list[tuple[int, int]]:
    """Views whose products are taken, each with itself and those after it."""
    return [(i, j) for i in range(n_views) for j in range(i, n_views)]


@device_form("manyview.methods.canonical.device")
def moments_leaf(rows: Rows, leaf: slice, sides: list[Side], _: Any) -> tuple[tuple[Any, ...], None]:
    """Who has which views, the sums of each view over them, and the products of all pairs, as one tuple."""
    with np.errstate(over="ignore", invalid="ignore"):
        blocks = [side.rows(rows, leaf) for side in sides]
        here = np.ascontiguousarray(rows["mask"][leaf][:, [side.number for side in sides]])
        sums = [_sums(block, here) for block in blocks]
        products = [_product(blocks[i], blocks[j]) for i, j in pairs_of(len(sides))]
        return (here.T.astype(np.float64) @ here, *sums, *products), None


def direction_leaf(rows: Rows, leaf: slice, shared: tuple[Side, Floats], _: Any) -> tuple[tuple[Any, ...], None]:
    """Rows of a view times some directions, times the rows again; their sums, and the sum of all squares."""
    side, directions = shared
    part = side.rows(rows, leaf)
    values = (part.data if is_sparse(part) else part).ravel()
    ones = rows["mask"][leaf, side.number].astype(part.dtype)
    return (part.T @ (part @ directions), part.T @ ones, np.array([np.dot(values, values)])), None


class Projection(NamedTuple):
    """What makes coordinates of a view's rows, in the type of the view."""

    column: str
    weights: NDArray[Any]
    offset: NDArray[Any]
    shift: NDArray[Any] | None


def project_leaf(rows: Rows, leaf: slice, shared: Projection, _: Any) -> tuple[tuple[()], NDArray[Any]]:
    """Rows of a view, centred and projected."""
    part = rows.some(shared.column, leaf)
    with np.errstate(over="ignore", invalid="ignore"):  # rows that an item lacks may hold anything
        if shared.shift is not None:
            part = (part.toarray() if is_sparse(part) else part) - shared.shift
        out = np.asarray(part @ shared.weights)
        out -= shared.offset
    return (), out


def _csr(block: NDArray[Any]) -> Any:
    """A dense block of few numbers by its indices."""
    from scipy.sparse import csr_matrix

    return csr_matrix(block)


def _sums(block: Matrix, here: Mask) -> NDArray[Any]:
    """``block.T @ here``; a dense block is quicker from the left, and once is enough where nothing is missing."""
    if here.all():
        once = np.asarray(block.T @ np.ones(here.shape[0], dtype=block.dtype))
        return np.repeat(once[:, None], here.shape[1], axis=1)
    ones = here.astype(block.dtype)
    return np.asarray(block.T @ ones if is_sparse(block) else (np.ascontiguousarray(ones.T) @ block).T)


def _product(a: Matrix, b: Matrix) -> NDArray[Any]:
    """``a.T @ b``, dense, in the coarser of the two precisions."""
    if a is not b and a.dtype != b.dtype:
        dtype = min(a.dtype, b.dtype, key=lambda kind: kind.itemsize)
        a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    if is_sparse(b) and not is_sparse(a):
        return np.asarray((b.T @ a).T)
    product = a.T @ b
    return product.toarray() if is_sparse(product) else np.asarray(product)
