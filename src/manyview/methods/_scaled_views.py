"""Views as the k-means family sees them: scaled on the fly, a tile of rows at a time.

A scaled view multiplies each feature by a factor inside every distance; rows and centroids themselves stay in the
units of the data. Nothing larger than a tile is ever made from the input, so a memory-mapped view stays on disk.
``DenseView`` and ``SparseView`` answer the same few questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, is_sparse
from ..blocks import Workers, row_blocks
from ..data.checks import check_choice
from ..data.views import Views
from ..errors import ParameterError, ViewError
from . import _scaled_view_kernels as kernels
from ._narrow_product_kernels import narrow_product, suits

__all__ = ["Centroids", "DenseView", "ScaledView", "Scaling", "SparseView", "learn_scaling", "scaled_views"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Rows = slice | Ints

_OFFSET = 15.0  # how many times its spread a view's squared mean may be before rows are centred for BLAS


@dataclass(frozen=True)
class Centroids:
    """One view's centroids, ready for a pass over the rows.

    ``points`` (K, d) are in the units and the type of the rows. ``folded`` (d, K) has the squared scaling multiplied
    in, so that BLAS can work on rows as they lie in memory, and ``norms`` are the lengths of the scaled points.
    """

    points: NDArray[Any]
    folded: NDArray[Any]
    norms: Floats


class DenseView:
    """A dense view with its scaling.

    Where the mean of the rows is large against their spread, inner products would lose too many digits; then ``shift``
    holds the mean, each tile is centred before use, and points are given and taken relative to it.
    """

    def __init__(self, matrix: Matrix, present: NDArray[np.bool_], shift: Floats, scale: Floats) -> None:
        self.matrix, self.present = matrix, present.copy()
        self.shift = shift.astype(matrix.dtype) if shift.any() else None
        self.scale = scale.astype(matrix.dtype)
        self.n_features = int(matrix.shape[1])
        self.row_bytes = _row_bytes(matrix)
        self.slack = (self.n_features + 8) * 0.5 * float(np.finfo(matrix.dtype).eps)  # of an inner product, any order
        self._norms: Floats | None = None

    def _rows(self, rows: Rows) -> NDArray[Any]:
        part = _contiguous(self.matrix, rows)
        if self.shift is None:
            return part
        centred = part - self.shift
        centred.flags.writeable = False
        return centred

    def norms(self, rows: Rows) -> Floats:
        """Lengths of the scaled rows."""
        return self._compute_norms(rows) if self._norms is None else self._norms[rows]

    def keep_norms(self, workers: Workers) -> None:
        """Compute the lengths of all rows now, when many passes will ask for them."""
        parts = workers.map(self._compute_norms, row_blocks(self.present.size, self.row_bytes))
        self._norms = np.concatenate(list(parts))

    def _compute_norms(self, rows: Rows) -> Floats:
        part = self._rows(rows)
        out = np.empty(part.shape[0])
        kernels.row_norms(part, self.present[rows], self.scale, out)
        return out

    def centroids(self, points: Floats) -> Centroids:
        """Round points to the type of the data and prepare them for a pass."""
        rounded = points.astype(self.matrix.dtype)
        scale = self.scale.astype(np.float64)
        scaled = rounded * scale
        folded = np.ascontiguousarray((scaled * scale).T.astype(self.matrix.dtype))
        return Centroids(rounded, folded, np.sqrt((scaled**2).sum(axis=1)))

    def given(self, centroids: Centroids) -> Floats:
        """The points as they were given to ``centroids``, rounded."""
        return centroids.points.astype(np.float64)

    def products(self, rows: Rows, centroids: Centroids, out: NDArray[Any]) -> None:
        """Inner products of scaled rows with every scaled centroid."""
        if suits(centroids.folded):
            narrow_product(self._rows(rows), centroids.folded, out)
        else:
            np.matmul(self._rows(rows), centroids.folded, out=out)

    def pair_squared_distances(self, rows: Rows, which: Ints, centroid: Ints, centroids: Centroids) -> Floats:
        """Squared distances of pairs: the ``which``-th of the rows, and a centroid."""
        out = np.empty(which.size)
        kernels.pair_squared_distances(
            self._rows(rows), self.present[rows], self.scale, which, centroid, centroids.points, out
        )
        return out

    def sums(self, n_clusters: int) -> NDArray[Any]:
        """Room for the sums of one block; its few thousand rows need no more digits than the data have."""
        return np.zeros((n_clusters, self.n_features), dtype=self.matrix.dtype)

    def residuals_and_sums(
        self,
        rows: slice,
        labels: Ints,
        item_weight: Floats,
        centroids: Centroids,
        squares: Floats,
        eps: float,
        lengths: NDArray[Any],
        sums: NDArray[Any],
        mass: Floats,
    ) -> float:
        """Smoothed distances to the assigned centroids, and the differences that move them.

        ``squares`` holds the squared distances that are known already, and -1 where they are still to be taken.
        """
        given = (self.present[rows], self.scale, labels, item_weight, centroids.points, squares, eps)
        return float(kernels.residuals_and_sums(self._rows(rows), *given, lengths, sums, mass))

    def add_differences(
        self, rows: slice, labels: Ints, weight: Floats, centroids: Centroids, sums: NDArray[Any], mass: Floats
    ) -> None:
        """Add weighted differences of rows from their centroids to the sums of their clusters."""
        kernels.add_differences(self._rows(rows), self.present[rows], labels, weight, centroids.points, sums, mass)

    def points(self, rows: Ints) -> Floats:
        """Chosen items as centroids; one that lacks the view stands at zero."""
        chosen = self.matrix[rows] if self.shift is None else self.matrix[rows] - self.shift
        return np.where(self.present[rows][:, None], chosen, 0.0).astype(np.float64)

    def item_squared_distances(self, rows: Ints, targets: Ints) -> Floats:
        """Squared distances of chosen items, in order, to a few others of the same view, within a hundredth."""
        in_line = slice(int(rows[0]), int(rows[-1]) + 1)
        place = in_line if in_line.stop - in_line.start == rows.size else rows
        centroids = self.centroids(self.points(targets))
        products = np.empty((rows.size, targets.size), dtype=self.matrix.dtype)
        self.products(place, centroids, products)
        x, f = self.norms(place)[:, None], centroids.norms
        squares = x**2 + f**2 - 2.0 * products
        which, target = np.nonzero(~(0.01 * squares >= self.slack * (x + f) ** 2))  # too much cancelled
        squares[which, target] = self.pair_squared_distances(place, which, target, centroids)
        return squares


class SparseView:
    """A CSR view with its scaling, never made dense; it answers what ``DenseView`` does, in float64."""

    def __init__(self, matrix: Matrix, present: NDArray[np.bool_], shift: Floats, scale: Floats) -> None:
        self.matrix, self.present, self.scale = matrix, present.copy(), scale.astype(np.float64)
        self.shift = shift if shift.any() else None  # learned on dense rows: points come relative to it
        self.csr = (matrix.data, matrix.indices, matrix.indptr)
        self.n_features = int(matrix.shape[1])
        self.row_bytes = _row_bytes(matrix)
        self.slack = (self.n_features + 8) * 0.5 * float(np.finfo(np.float64).eps)
        self._norms = np.empty(matrix.shape[0])
        kernels.csr_row_norms(*self.csr, self.scale, self._norms)

    def norms(self, rows: slice) -> Floats:
        return self._norms[rows]

    def keep_norms(self, workers: Workers) -> None:
        """Nothing to do: they are cheap and already there."""

    def centroids(self, points: Floats) -> Centroids:
        points = points if self.shift is None else points + self.shift
        scaled = points * self.scale
        return Centroids(points, np.ascontiguousarray((scaled * self.scale).T), np.sqrt((scaled**2).sum(axis=1)))

    def given(self, centroids: Centroids) -> Floats:
        return centroids.points if self.shift is None else centroids.points - self.shift

    def products(self, rows: slice, centroids: Centroids, out: NDArray[Any]) -> None:
        out[:] = self.matrix[rows] @ centroids.folded

    def pair_squared_distances(self, rows: slice, which: Ints, centroid: Ints, centroids: Centroids) -> Floats:
        out, squares = np.empty(which.size), centroids.norms**2
        kernels.csr_pair_squared_distances(
            *self.csr, self.present, which + rows.start, centroid, self.scale, centroids.points, squares, out
        )
        return out

    def sums(self, n_clusters: int) -> Floats:
        return np.zeros((n_clusters, self.n_features))

    def residuals_and_sums(
        self,
        rows: slice,
        labels: Ints,
        item_weight: Floats,
        centroids: Centroids,
        squares: Floats,
        eps: float,
        lengths: NDArray[Any],
        sums: NDArray[Any],
        mass: Floats,
    ) -> float:
        open_rows = np.flatnonzero(squares < 0)
        squares = squares.copy()
        squares[open_rows] = self.pair_squared_distances(rows, open_rows, labels[open_rows], centroids)
        smooth = np.sqrt(squares + eps * eps)
        held = self.present[rows] & (labels >= 0)
        lengths[:] = np.where(held, smooth, np.inf)
        self.add_differences(rows, labels, 0.5 * item_weight / smooth, centroids, sums, mass)
        return float(item_weight[held] @ smooth[held])

    def add_differences(
        self, rows: slice, labels: Ints, weight: Floats, centroids: Centroids, sums: NDArray[Any], mass: Floats
    ) -> None:
        added = np.zeros_like(mass)
        kernels.csr_add_rows(*self.csr, rows.start, self.present[rows], labels, weight, sums, added)
        mass += added
        sums -= added[:, None] * centroids.points

    def points(self, rows: Ints) -> Floats:
        chosen = self.matrix[rows].toarray().astype(np.float64)
        chosen = chosen if self.shift is None else chosen - self.shift
        return np.where(self.present[rows][:, None], chosen, 0.0)

    def item_squared_distances(self, rows: Ints, targets: Ints) -> Floats:
        points = self.matrix[targets].toarray().astype(np.float64)
        squares = ((points * self.scale) ** 2).sum(axis=1)
        out, column = np.empty((rows.size, targets.size)), np.empty(rows.size)
        for c in range(targets.size):
            which = np.full(rows.size, c)
            kernels.csr_pair_squared_distances(
                *self.csr, self.present, rows, which, self.scale, points, squares, column
            )
            out[:, c] = column
        return out


ScaledView = DenseView | SparseView


@dataclass(frozen=True)
class Scaling:
    """What ``fit`` learned about one view, to be applied again in ``predict``.

    A view that is to keep its own units is still divided by a power of two, its ``unit``, which costs no
    digit and keeps squares inside the range of float32; lengths in the owner's units are ``unit`` times ours.
    """

    mean: Floats
    shift: Floats
    scale: Floats
    unit: float
    mean_distance: float  # of scaled rows to their mean
    mean_square: float
    varies: bool


def scaled_views(views: Views, shifts: Sequence[Floats], scales: Sequence[Floats]) -> list[ScaledView]:
    """Pair the matrices with their scalings."""
    result: list[ScaledView] = []
    for v, matrix in enumerate(views.values()):
        kind = SparseView if is_sparse(matrix) else DenseView
        result.append(kind(matrix, views.mask[:, v], shifts[v], scales[v]))
    return result


def check_view_scale(view_scale: Any) -> tuple[str, ...]:
    """The steps of scaling, in order."""
    if view_scale is None:
        return ()
    steps = tuple(view_scale) if isinstance(view_scale, (list, tuple)) else (view_scale,)
    for step in steps:
        check_choice("view_scale", step, ("minmax", "mean_distance"))
    if len(set(steps)) != len(steps) or (len(steps) == 2 and steps[0] != "minmax"):
        raise ParameterError(
            "view_scale as a pair must be ('minmax', 'mean_distance'): features first, then the view as a whole; "
            f"got {view_scale!r}."
        )
    return steps


def _contiguous(matrix: Matrix, rows: Any) -> NDArray[Any]:
    """Rows of a dense matrix in the one layout that kernels are compiled for."""
    part = np.ascontiguousarray(matrix[rows])
    part.flags.writeable = False
    return part


def learn_scaling(views: Views, view_scale: Any, weight: Floats, workers: Workers) -> list[Scaling]:
    """Find each view's scaling in two passes over its rows. Only items of positive weight count."""
    steps = check_view_scale(view_scale)
    return [
        _learn_one(name, matrix, views.mask[:, v].copy(), steps, weight, workers)
        for v, (name, matrix) in enumerate(views.items())
    ]


def _learn_one(
    name: str,
    matrix: Matrix,
    present: NDArray[np.bool_],
    steps: tuple[str, ...],
    weight: Floats,
    workers: Workers,
) -> Scaling:
    width = int(matrix.shape[1])
    mass = float(weight[present].sum())
    if mass == 0.0:
        return Scaling(np.zeros(width), np.zeros(width), np.ones(width), 1.0, 0.0, 0.0, varies=False)
    low, high, total = _ranges(matrix, present, weight, workers)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = high - low
        limits = np.finfo(matrix.dtype)
        too_wide = ~(spread < 1e-3 * float(limits.max)) | ~np.isfinite(total)
    if too_wide.any():
        column = int(np.flatnonzero(too_wide)[0])
        raise ViewError(
            f"view {name!r}, column {column}, holds values from {low[column]:g} to {high[column]:g}, more than "
            f"{matrix.dtype} can add up. Divide the column by a large number first."
        )
    moves = spread > 1e3 * float(limits.tiny)  # below that a feature counts as constant
    unit = 1.0
    if "minmax" in steps:
        scale = np.where(moves, 2.0 / np.where(moves, spread, 1.0), 0.0)
    else:
        unit = float(np.exp2(np.frexp(spread.max())[1])) if moves.any() else 1.0
        scale = np.full(width, 1.0 / unit)
    mean = total / mass
    distance, square = _spread(matrix, present, weight, scale, mean, workers)
    distance, square = distance / mass, square / mass
    varies = bool(moves.any()) and distance > 0
    centred = not is_sparse(matrix) and float(((mean * scale) ** 2).sum()) > _OFFSET * square
    shift = mean.astype(matrix.dtype).astype(np.float64) if centred else np.zeros(width)
    if "mean_distance" in steps and varies:
        scale, unit, square, distance = scale / distance, 1.0, square / distance**2, 1.0
    return Scaling(mean, shift, scale, unit, distance, square, varies)


def _ranges(
    matrix: Matrix, present: NDArray[np.bool_], weight: Floats, workers: Workers
) -> tuple[Floats, Floats, Floats]:
    width = int(matrix.shape[1])

    def block(rows: slice) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
        low, high, total = np.full(width, np.inf), np.full(width, -np.inf), np.zeros(width)
        stored = np.zeros(width, dtype=np.int64)
        if is_sparse(matrix):
            csr = (matrix.data, matrix.indices, matrix.indptr)
            kernels.csr_column_range(*csr, rows.start, present[rows], weight[rows], low, high, total, stored)
        else:
            part = _contiguous(matrix, rows)
            kernels.column_range(part, present[rows], weight[rows], low, high, total)
        return low, high, total, stored

    low, high, total = np.full(width, np.inf), np.full(width, -np.inf), np.zeros(width)
    stored = np.zeros(width, dtype=np.int64)
    for part in workers.map(block, row_blocks(present.size, _row_bytes(matrix))):
        np.minimum(low, part[0], out=low)
        np.maximum(high, part[1], out=high)
        total += part[2]
        stored += part[3]
    if is_sparse(matrix):
        has_zero = stored < int((present & (weight > 0)).sum())
        low[has_zero] = np.minimum(low[has_zero], 0.0)
        high[has_zero] = np.maximum(high[has_zero], 0.0)
    return low, high, total


def _spread(
    matrix: Matrix, present: NDArray[np.bool_], weight: Floats, scale: Floats, mean: Floats, workers: Workers
) -> tuple[float, float]:
    """Weighted sums of the distances of scaled rows to their mean, and of their squares."""
    kind = SparseView if is_sparse(matrix) else DenseView
    view: ScaledView = kind(matrix, present, np.zeros_like(mean), scale)
    centre = view.centroids(mean[None, :])

    def block(rows: slice) -> tuple[float, float]:
        here = np.arange(rows.stop - rows.start)
        squares = view.pair_squared_distances(rows, here, np.zeros_like(here), centre)
        return float(weight[rows] @ np.sqrt(squares)), float(weight[rows] @ squares)

    distance = square = 0.0
    for part_distance, part_square in workers.map(block, row_blocks(present.size, view.row_bytes)):
        distance += part_distance
        square += part_square
    return distance, square


def _row_bytes(matrix: Matrix) -> float:
    width = matrix.shape[1] * matrix.dtype.itemsize
    return matrix.nnz / max(1, matrix.shape[0]) * 12 + 16 if is_sparse(matrix) else width
