"""Views as the k-means family sees them: scaled on the fly, a tile of rows at a time.

A scaled view multiplies each feature by a factor inside every distance; rows and centroids themselves stay in the
units of the data. Nothing larger than a tile is ever made from the input, so a memory-mapped view stays on disk.
``DenseView`` and ``SparseView`` answer the same few questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, is_sparse
from ...blocks import Workers, row_blocks
from ...data.source import Rows
from ...types import Floats, Places
from . import _scaled_view_kernels as kernels
from ._narrow_product_kernels import narrow_product, suits

__all__ = [
    "Centroids",
    "DenseView",
    "ScaledView",
    "SparseView",
    "ViewFrame",
    "contiguous",
    "open_view",
    "row_bytes",
]

Some = slice | Places  # rows


@dataclass(frozen=True)
class Centroids:
    """One view's centroids, ready for a pass over the rows.

    ``points`` (K, d) are in the units and the type of the rows. ``folded`` (d, K) has the squared scaling multiplied
    in, so that BLAS can work on rows as they lie in memory, and ``norms`` are the lengths of the scaled points.
    """

    points: NDArray[Any]
    folded: NDArray[Any]
    norms: Floats


@dataclass(frozen=True)
class ViewFrame:
    """A view without its rows: what is needed to prepare centroids for it."""

    name: str
    number: int  # which column of the mask
    dtype: np.dtype[Any]
    is_sparse: bool
    shift: Floats
    scale: Floats

    @property
    def n_features(self) -> int:
        return int(self.scale.size)

    @property
    def product_type(self) -> np.dtype[Any]:
        return np.dtype(np.float64) if self.is_sparse else self.dtype

    @property
    def slack(self) -> float:
        """Relative error of an inner product, whatever the order of its sum."""
        return (self.n_features + 8) * 0.5 * float(np.finfo(self.product_type).eps)

    def rounded(self, points: Floats) -> Floats:
        """Points in the type of the data."""
        return points.astype(self.dtype).astype(np.float64)

    def centroids(self, points: Floats) -> Centroids:
        """Round points to the type of the data and prepare them for a pass."""
        if self.is_sparse:  # a shift was learned on dense rows: points come relative to it
            points = points + self.shift if self.shift.any() else points
            scaled = points * self.scale
            return Centroids(points, np.ascontiguousarray((scaled * self.scale).T), np.sqrt((scaled**2).sum(axis=1)))
        rounded = points.astype(self.dtype)
        scale = self.scale.astype(self.dtype).astype(np.float64)
        scaled = rounded * scale
        folded = np.ascontiguousarray((scaled * scale).T.astype(self.dtype))
        return Centroids(rounded, folded, np.sqrt((scaled**2).sum(axis=1)))


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
        self.row_bytes = row_bytes(matrix)
        self.frame = ViewFrame("", 0, matrix.dtype, False, shift, scale)
        self.slack = self.frame.slack
        self._norms: Floats | None = None
        self._kept: dict[Any, Floats] | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        kind: np.dtype[Any] = self.matrix.dtype
        return kind

    def _rows(self, rows: Some) -> NDArray[Any]:
        part = contiguous(self.matrix, rows)
        if self.shift is None:
            return part
        centred = part - self.shift
        centred.flags.writeable = False
        return centred

    def norms(self, rows: Some) -> Floats:
        """Lengths of the scaled rows."""
        if self._norms is not None:
            return self._norms[rows]
        if self._kept is None or not isinstance(rows, slice):
            return self._compute_norms(rows)
        place = (rows.start, rows.stop)
        if place not in self._kept:
            self._kept[place] = self._compute_norms(rows)
        return self._kept[place]

    def remember(self, kept: dict[Any, Floats]) -> None:
        """Keep the lengths of slices that are asked for here."""
        self._kept = kept

    def keep_norms(self, workers: Workers, items: Places | None = None) -> None:
        """Compute the lengths of all rows now, or of those that many passes will ask for."""
        n_rows = self.present.size if items is None else items.size
        blocks: list[Any] = row_blocks(n_rows, self.row_bytes)
        if items is not None and items.size < self.present.size:
            blocks = [items[block] for block in blocks]
        norms = np.full(self.present.size, np.nan)
        for block, part in zip(blocks, workers.map(self._compute_norms, blocks), strict=True):
            norms[block] = part
        self._norms = norms

    def _compute_norms(self, rows: Some) -> Floats:
        part = self._rows(rows)
        out = np.empty(part.shape[0])
        kernels.row_norms(part, self.present[rows], self.scale, out)
        return out

    def centroids(self, points: Floats) -> Centroids:
        """Round points to the type of the data and prepare them for a pass."""
        return self.frame.centroids(points)

    def products(self, rows: Some, centroids: Centroids, out: NDArray[Any]) -> None:
        """Inner products of scaled rows with every scaled centroid."""
        if suits(centroids.folded):
            narrow_product(self._rows(rows), centroids.folded, out)
        else:
            np.matmul(self._rows(rows), centroids.folded, out=out)

    def pair_squared_distances(self, rows: Some, which: Places, centroid: Places, centroids: Centroids) -> Floats:
        """Squared distances of pairs: the ``which``-th of the rows, and a centroid."""
        out = np.empty(which.size)
        which, centroid = np.ascontiguousarray(which), np.ascontiguousarray(centroid)
        kernels.pair_squared_distances(
            self._rows(rows), self.present[rows], self.scale, which, centroid, centroids.points, out
        )
        return out

    def lengths_and_sums(
        self,
        rows: slice,
        labels: Places,
        item_weight: Floats,
        centroids: Centroids,
        eps: float,
        lengths: NDArray[Any],
        sums: Floats,
        mass: Floats,
    ) -> float:
        """Smoothed distances to the assigned centroids, infinite where missing; what moves centroids is added up.

        Returns the weighted sum of the distances.
        """
        given = (self.present[rows], self.scale, labels, item_weight, centroids.points, eps)
        return float(kernels.lengths_and_sums(self._rows(rows), *given, lengths, sums, mass))

    def add_differences(
        self, rows: slice, labels: Places, weight: Floats, centroids: Centroids, sums: NDArray[Any], mass: Floats
    ) -> None:
        """Add weighted differences of rows from their centroids to the sums of their clusters."""
        kernels.add_differences(self._rows(rows), self.present[rows], labels, weight, centroids.points, sums, mass)

    def points(self, rows: Places) -> Floats:
        """Chosen items as centroids; one that lacks the view stands at zero."""
        chosen = self.matrix[rows] if self.shift is None else self.matrix[rows] - self.shift
        return np.where(self.present[rows][:, None], chosen, 0.0).astype(np.float64)

    def item_squared_distances(self, rows: Places, targets: Places) -> Floats:
        """Squared distances of chosen items, in order, to a few others of the same view, within a hundredth."""
        in_line = slice(int(rows[0]), int(rows[-1]) + 1)
        place = in_line if in_line.stop - in_line.start == rows.size else rows
        centroids = self.centroids(self.points(targets))
        products = np.empty((rows.size, targets.size), dtype=self.matrix.dtype)
        self.products(place, centroids, products)
        x, f = self.norms(place)[:, None], centroids.norms
        squares = x**2 + f**2 - 2.0 * products
        which, target = np.nonzero(~(0.01 * squares >= self.slack * (x + f) ** 2))  # too much cancelled
        if which.size:
            squares[which, target] = self.pair_squared_distances(place, which, target, centroids)
        return squares


class SparseView:
    """A CSR view with its scaling, never made dense; it answers what ``DenseView`` does, in float64."""

    def __init__(self, matrix: Matrix, present: NDArray[np.bool_], shift: Floats, scale: Floats) -> None:
        self.matrix, self.present, self.scale = matrix, present.copy(), scale.astype(np.float64)
        self.shift = shift if shift.any() else None  # learned on dense rows: points come relative to it
        self.csr = (matrix.data, matrix.indices, matrix.indptr)
        self.n_features = int(matrix.shape[1])
        self.row_bytes = row_bytes(matrix)
        self.frame = ViewFrame("", 0, matrix.dtype, True, shift, scale)
        self.slack = self.frame.slack
        self._norms: Floats | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        kind: np.dtype[Any] = self.matrix.dtype
        return kind

    def norms(self, rows: slice) -> Floats:
        if self._norms is None:
            norms = np.empty(self.matrix.shape[0])
            kernels.csr_row_norms(*self.csr, self.scale, norms)
            self._norms = norms
        return self._norms[rows]

    def remember(self, kept: dict[Any, Floats]) -> None:
        """Nothing to do: they are cheap."""

    def keep_norms(self, workers: Workers, items: Places | None = None) -> None:
        """Nothing to do: they are cheap."""

    def centroids(self, points: Floats) -> Centroids:
        return self.frame.centroids(points)

    def products(self, rows: slice, centroids: Centroids, out: NDArray[Any]) -> None:
        out[:] = self.matrix[rows] @ centroids.folded

    def pair_squared_distances(self, rows: slice, which: Places, centroid: Places, centroids: Centroids) -> Floats:
        out, squares = np.empty(which.size), centroids.norms**2
        kernels.csr_pair_squared_distances(
            *self.csr, self.present, which + rows.start, centroid, self.scale, centroids.points, squares, out
        )
        return out

    def _smooth(self, rows: slice, labels: Places, centroids: Centroids, eps: float) -> Floats:
        squares = self.pair_squared_distances(rows, np.arange(labels.size), labels, centroids)
        return np.where(self.present[rows] & (labels >= 0), np.sqrt(squares + eps * eps), np.inf)

    def lengths_and_sums(
        self,
        rows: slice,
        labels: Places,
        item_weight: Floats,
        centroids: Centroids,
        eps: float,
        lengths: NDArray[Any],
        sums: Floats,
        mass: Floats,
    ) -> float:
        smooth = self._smooth(rows, labels, centroids, eps)
        lengths[:] = smooth
        held = np.isfinite(smooth)
        self.add_differences(rows, labels, 0.5 * item_weight / lengths, centroids, sums, mass)
        return float(item_weight[held] @ smooth[held])

    def add_differences(
        self, rows: slice, labels: Places, weight: Floats, centroids: Centroids, sums: NDArray[Any], mass: Floats
    ) -> None:
        added = np.zeros_like(mass)
        kernels.csr_add_rows(*self.csr, rows.start, self.present[rows], labels, weight, sums, added)
        mass += added
        sums -= added[:, None] * centroids.points

    def points(self, rows: Places) -> Floats:
        chosen = self.matrix[rows].toarray().astype(np.float64)
        chosen = chosen if self.shift is None else chosen - self.shift
        return np.where(self.present[rows][:, None], chosen, 0.0)

    def item_squared_distances(self, rows: Places, targets: Places) -> Floats:
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


def open_view(frame: ViewFrame, rows: Rows, key: str) -> ScaledView:
    """The view of some rows; lengths are kept with them."""
    kind = SparseView if frame.is_sparse else DenseView
    view = kind(rows[frame.name], rows["mask"][:, frame.number], frame.shift, frame.scale)
    view.remember(rows.kept.setdefault(("norms", key, frame.name), {}))
    return view


def contiguous(matrix: Matrix, rows: Any) -> NDArray[Any]:
    """Rows of a dense matrix in the one layout that kernels are compiled for."""
    part = np.ascontiguousarray(matrix[rows])
    part.flags.writeable = False
    return part


def row_bytes(matrix: Matrix) -> float:
    width = matrix.shape[1] * matrix.dtype.itemsize
    return matrix.nnz / max(1, matrix.shape[0]) * 12 + 16 if is_sparse(matrix) else width
