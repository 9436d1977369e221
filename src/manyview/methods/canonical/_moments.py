"""Means and covariances of several views in one pass over blocks of rows, dense or sparse, centred without a copy.

Products are taken in the precision of the data, block by block, and added up in float64. Rows that an item lacks
count as zero and the sums keep track of who was there, so a covariance is that of the items that have both views.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, is_sparse
from ...blocks import Workers, row_blocks
from ...data.views import Views
from ...errors import ViewError
from ...types import Floats

__all__ = ["Moments", "Side", "covariances", "reduced_sides"]


_BLOCK_BYTES = 48 * 2**20
_DENSE_ABOVE = 0.03  # a block of a sparse view this full goes through BLAS faster than through its indices
_OFFSET = 16.0  # how many times its variance a squared mean may be before rows are shifted
_SAFE = {np.dtype(np.float32): (1e-12, 1e12), np.dtype(np.float64): (1e-100, 1e100)}
_OVERSAMPLING = 32
_POWER_ITERATIONS = 2


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

    def __init__(self, matrix: Matrix, present: NDArray[np.bool_]) -> None:
        self.matrix, self.present = matrix, present
        self.complete = bool(present.all())
        self.dtype = np.dtype(matrix.dtype)
        self.unit = 1.0
        self.shift: NDArray[Any] | None = None
        self.basis: Floats | None = None
        self.variance: float | None = None
        n_rows, n_features = matrix.shape
        self.sparse = is_sparse(matrix) and matrix.nnz <= _DENSE_ABOVE * max(1, n_rows * n_features)
        self._look()

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1] if self.basis is None else self.basis.shape[1])

    @property
    def row_bytes(self) -> float:
        n_rows, n_features = self.matrix.shape
        if is_sparse(self.matrix) and self.sparse:
            return 16.0 * self.matrix.nnz / max(1, n_rows)
        return float(n_features * self.dtype.itemsize)

    def _look(self) -> None:
        """Choose unit and shift by a few hundred rows spread over the view."""
        rows = np.flatnonzero(self.present)
        rows = rows[:: max(1, rows.size // 256)]
        sample = self.matrix[rows].astype(np.float64)
        values = sample.data if is_sparse(sample) else sample
        self._set_unit(float(np.abs(values).max(initial=0.0)))
        if is_sparse(sample) or not rows.size:
            return
        sample *= self.unit
        self.sparse = np.count_nonzero(sample) <= _DENSE_ABOVE * sample.size
        far = sample.mean(axis=0) ** 2 > _OFFSET * sample.var(axis=0)
        if far.any():  # a row of the data rather than the mean: a constant feature becomes exactly zero
            self.shift = np.where(far, sample[0], 0.0).astype(self.dtype)

    def _set_unit(self, largest: float) -> None:
        self.largest = largest
        low, high = _SAFE[self.dtype]
        self.unit = _unit(largest, self.dtype) if not low < largest < high else 1.0

    def rescale(self) -> None:
        """Choose the unit by all rows: those looked at were misleading."""
        largest = 0.0
        for rows in row_blocks(self.matrix.shape[0], self.row_bytes, _BLOCK_BYTES):
            part = self.matrix[rows]
            values = part.data if is_sparse(part) else part[self.present[rows]]
            largest = max(largest, float(np.abs(values).max(initial=0.0)))
        unit = _unit(largest, self.dtype)
        if self.shift is not None:
            self.shift = (self.shift.astype(np.float64) * (unit / self.unit)).astype(self.dtype)
        self.unit = unit

    def rows(self, rows: slice) -> Matrix:
        """A block as it enters the products: CSR, or dense with zeros where an item lacks the view."""
        part = self.matrix[rows]
        if is_sparse(part):
            if self.unit != 1.0:
                part = part * self.dtype.type(self.unit)
            if not self.complete:
                part = part.multiply(self.present[rows, None]).tocsr().astype(self.dtype)
            if self.basis is not None:
                return np.asarray(part @ self.basis.astype(self.dtype))
            return part if self.sparse else part.toarray()
        part = np.ascontiguousarray(part)  # sums must not hang on the order in memory
        if self.unit != 1.0:
            part = part * self.dtype.type(self.unit)
        if self.shift is not None:
            part = part - self.shift
        if not self.present[rows].all():
            part = np.where(self.present[rows, None], part, self.dtype.type(0))
        if self.basis is not None:
            return part @ self.basis.astype(self.dtype)
        return _csr(part) if self.sparse else part

    def in_units_of_the_view(self, weights: Floats) -> Floats:
        """What multiplies a row of the view, from what multiplies a row as it entered the products."""
        weights = weights if self.basis is None else self.basis @ weights
        return weights * self.unit


@dataclass
class Moments:
    """Sums over items. ``sums[i][:, j]``: of view i over the items that also have view j; ``counts[i, j]`` of them."""

    counts: Floats
    sums: list[Floats]
    products: dict[tuple[int, int], Floats]

    @property
    def means(self) -> list[Floats]:
        return [sums[:, i] / max(self.counts[i, i], 1.0) for i, sums in enumerate(self.sums)]

    def variances(self, i: int) -> Floats:
        """Of each feature of a view, as on the diagonal of its covariance."""
        count = self.counts[i, i]
        squares = np.diagonal(self.products[i, i])
        return np.maximum(squares - count * self.means[i] ** 2, 0.0) / max(count - 1.0, 1.0)

    def covariance(self, i: int, j: int) -> Floats:
        """Of the items that have both views, about the means of each view."""
        means, count = self.means, self.counts[i, j]
        if count < 1:
            return np.zeros_like(self.products[i, j])
        own, other = self.sums[i][:, j], self.sums[j][:, i]
        # sum (x - a)(y - b)' = sum xy' - sx b' - a sy' + n a b', as one correction of rank two
        left = np.column_stack([own, means[i]])
        right = np.column_stack([means[j], other - count * means[j]])
        return (self.products[i, j] - left @ right.T) / max(count - 1.0, 1.0)


def covariances(sides: list[Side], workers: Workers) -> Moments:
    """All sums and products in one pass; once more where the range of the numbers was misjudged."""
    moments = _one_pass(sides, workers)
    wrong = [i for i, side in enumerate(sides) if side.basis is None and _out_of_range(moments, i)]
    if wrong:
        for i in wrong:
            sides[i].rescale()
        moments = _one_pass(sides, workers)
    return moments


def _out_of_range(moments: Moments, i: int) -> bool:
    squares = np.diagonal(moments.products[i, i])
    lost = (squares == 0) & (moments.sums[i][:, i] != 0)
    return bool(not np.isfinite(moments.products[i, i]).all() or lost.any())


def _one_pass(sides: list[Side], workers: Workers) -> Moments:
    n_views, n_items = len(sides), sides[0].present.size
    present = np.column_stack([side.present for side in sides])
    pairs = [(i, j) for i in range(n_views) for j in range(i, n_views)]
    totals = Moments(
        counts=np.zeros((n_views, n_views)),
        sums=[np.zeros((side.width, n_views)) for side in sides],
        products={(i, j): np.zeros((sides[i].width, sides[j].width)) for i, j in pairs},
    )

    def work(rows: slice) -> tuple[Floats, list[Any], list[Any]]:
        with np.errstate(over="ignore", invalid="ignore"):
            blocks = [side.rows(rows) for side in sides]
            here = present[rows]
            sums = [_sums(block, here) for block in blocks]
            return here.T.astype(np.float64) @ here, sums, [_product(blocks[i], blocks[j]) for i, j in pairs]

    row_bytes = sum(side.row_bytes for side in sides)
    for counts, sums, products in workers.map(work, row_blocks(n_items, row_bytes, _BLOCK_BYTES)):
        totals.counts += counts
        for total, part in zip(totals.sums, sums, strict=True):
            total += part
        for pair, part in zip(pairs, products, strict=True):
            totals.products[pair] += part
    return totals


def _csr(block: NDArray[Any]) -> Any:
    """A dense block of few numbers by its indices."""
    from scipy.sparse import csr_matrix

    return csr_matrix(block)


def _sums(block: Matrix, here: NDArray[np.bool_]) -> Any:
    """``block.T @ here``; a dense block is quicker from the left, and once is enough where nothing is missing."""
    if here.all():
        return np.asarray(block.T @ np.ones(here.shape[0], dtype=block.dtype))[:, None]
    ones = here.astype(block.dtype)
    return block.T @ ones if is_sparse(block) else (np.ascontiguousarray(ones.T) @ block).T


def _product(a: Matrix, b: Matrix) -> Floats:
    """``a.T @ b``, dense, in the coarser of the two precisions."""
    if a is not b and a.dtype != b.dtype:
        dtype = min(a.dtype, b.dtype, key=lambda kind: kind.itemsize)
        a, b = a.astype(dtype, copy=False), b.astype(dtype, copy=False)
    if is_sparse(b) and not is_sparse(a):
        return np.asarray((b.T @ a).T)
    product = a.T @ b
    return product.toarray() if is_sparse(product) else np.asarray(product)


def reduced_sides(
    views: Views, active: list[int], limit: int, rank: int, rng: np.random.Generator, workers: Workers
) -> list[Side]:
    """The views as sides; one wider than ``limit`` gets a basis.

    With few items the basis spans all their rows, which changes nothing at all. Otherwise it holds the ``rank`` leading
    principal directions, found by random projection with two power iterations.
    """
    sides = [Side(views.values()[v], views.mask[:, v]) for v in active]
    for v, side in zip(active, sides, strict=True):
        if 0 < side.largest < 1e6 * float(np.finfo(side.dtype).tiny):
            raise ViewError(
                f"view {views.names[v]!r} holds nothing larger than {side.largest:g}, too little for {side.dtype} to "
                "divide by. Multiply it by a large number first."
            )
        n_rows, n_features = int(side.present.sum()), side.width
        if n_features > 4 * n_rows or (n_features > limit and n_rows <= limit):
            side.basis = _row_space(side)
        elif n_features > limit:
            side.basis = _leading_directions(side, min(rank, n_rows - 1, n_features), rng, workers)
    return sides


def _row_space(side: Side) -> Floats:
    """Orthonormal directions spanning the centred rows, from the products of rows with each other."""
    rows = slice(0, side.present.size)
    part = side.rows(rows)[np.flatnonzero(side.present)]
    part = part.astype(np.float64)
    gram = part @ part.T
    gram = gram.toarray() if is_sparse(gram) else gram
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    kept = values > max(values[-1], 0.0) * values.size * np.finfo(np.float64).eps
    vectors = vectors[:, kept] / np.sqrt(values[kept])
    return np.asarray(part.T @ (vectors - vectors.mean(axis=0)))


def _leading_directions(side: Side, rank: int, rng: np.random.Generator, workers: Workers) -> Floats:
    width = min(rank + _OVERSAMPLING, side.width)
    directions = rng.standard_normal((side.width, width))
    blocks = row_blocks(side.present.size, side.row_bytes + 8.0 * width, _BLOCK_BYTES)
    for _ in range(_POWER_ITERATIONS + 1):
        directions = _covariance_times(side, np.linalg.qr(directions)[0], blocks, workers)
    vectors, _, _ = np.linalg.svd(directions, full_matrices=False)
    return vectors[:, :rank]


def _covariance_times(side: Side, directions: Floats, blocks: list[slice], workers: Workers) -> Floats:
    """The covariance of a view, which is never made, times some directions; and its trace, on the way."""
    narrow = directions.astype(side.dtype)

    def work(rows: slice) -> tuple[Any, Any, float]:
        part = side.rows(rows)
        values = (part.data if is_sparse(part) else part).ravel()
        ones = side.present[rows].astype(part.dtype)
        return part.T @ (part @ narrow), part.T @ ones, float(np.dot(values, values))

    image, total, squares = np.zeros_like(directions), np.zeros(side.width), 0.0
    for product, sums, square in workers.map(work, blocks):
        image += product
        total += sums
        squares += square
    count = float(side.present.sum())
    mean = total / count
    side.variance = (squares - count * float(mean @ mean)) / max(count - 1.0, 1.0)
    return (image - count * np.outer(mean, mean @ directions)) / max(count - 1.0, 1.0)
