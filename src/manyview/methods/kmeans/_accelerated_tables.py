"""One table of numbers as the accelerated k-means sees it: dense or CSR, with what the rounds ask of it.

Centres are float64 whatever the table holds. Products with them may be rounded to the table's own type; whatever is
decided from a product allows for that, and close calls are decided from differences in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, is_sparse
from ...types import Floats, Places
from . import _accelerated_kmeans_kernels as kernels
from ._scaled_views import Centroids, DenseView, SparseView

__all__ = ["Centres", "DenseTable", "SparseTable", "Table", "make_table"]

_AT_ONCE = 2**20  # numbers in memory while ties are decided
_TURNED = 60  # up to so many centres BLAS is quicker with float32 rows on the left, and turning costs little


@dataclass(frozen=True)
class Centres(Centroids):
    """Centres ready for a pass: ``points`` float64 (K, d), ``folded`` as ``panel_products`` wants it, and

    ``half`` (K,), (1 - slack) |c|^2 / 2 in the type of the products.
    """

    half: NDArray[Any]

    @property
    def squares(self) -> Floats:
        return self.norms**2


class Panel(NamedTuple):
    """Memory for the products of some rows."""

    rows: NDArray[Any]
    products: NDArray[Any] | None


class _Common:
    """What dense and sparse tables share."""

    scale: NDArray[Any]
    slack: float
    n_features: int
    error: float
    """Relative error of a squared distance made of a product, its centre rounded to the type of the product."""
    wider: float
    """A factor beyond the rounding of a length that was computed from differences."""

    def _allow_for_rounding(self, dtype: Any) -> None:
        self.error = self.slack + 16 * float(np.finfo(dtype).eps)
        self.wider = 1.0 + 4 * (self.n_features + 8) * float(np.finfo(np.float64).eps)

    def lengths(self, differences: Floats) -> Floats:
        """Scaled lengths of the rows of a matrix."""
        return np.sqrt(((differences * self.scale) ** 2).sum(axis=1))

    def tie_squares(self, rows: Places, clusters: Places, points: Floats) -> Floats:
        """Squared distances of pairs, added up feature by feature as a plain loop over float64 would."""
        out = np.empty(rows.size)
        step = max(1, _AT_ONCE // self.n_features)
        for start in range(0, rows.size, step):
            part = slice(start, start + step)
            differences = (self.dense_rows(rows[part]) - points[clusters[part]]) * self.scale.astype(np.float64)
            out[part] = (differences**2).sum(axis=1)
        return out

    def dense_rows(self, rows: Places) -> Floats:
        raise NotImplementedError

    def _centres(self, points: Floats, folded: NDArray[Any], norms: Floats) -> Centres:
        half = (0.5 * (1.0 - self.error) * norms**2).astype(folded.dtype)
        return Centres(points, folded, norms, half)


class DenseTable(_Common, DenseView):
    """A dense table in C order."""

    def __init__(self, matrix: Matrix, scale: Floats) -> None:
        DenseView.__init__(self, matrix, np.ones(matrix.shape[0], dtype=bool), np.zeros(matrix.shape[1]), scale)
        self._allow_for_rounding(matrix.dtype)

    def centres(self, points: Floats) -> Centres:
        """Prepare points, which stay float64 beside their rounded form for BLAS."""
        folded, norms = np.empty(points.shape, dtype=self.matrix.dtype), np.empty(points.shape[0])
        kernels.fold_centres(points, self.scale, folded, norms)
        return self._centres(points, folded, norms)

    def panel(self, n_rows: int, n_clusters: int) -> Panel:
        """Room in which ``panel_products`` gathers rows and turns products."""
        turned = self.matrix.dtype == np.float32 and n_clusters <= min(_TURNED, self.n_features // 2)
        return Panel(
            np.empty((n_rows, self.n_features), dtype=self.matrix.dtype),
            np.empty((n_rows, n_clusters), dtype=self.matrix.dtype) if turned else None,
        )

    def panel_products(self, rows: slice | Places, centres: Centres, panel: Panel, out: NDArray[Any]) -> None:
        """Inner products of scaled rows with every scaled centre, (K, m), by BLAS."""
        if isinstance(rows, slice):
            chosen = self.matrix[rows]
        else:
            chosen = np.take(self.matrix, rows, axis=0, out=panel.rows[: rows.size], mode="clip")
        if panel.products is None:
            np.matmul(centres.folded, chosen.T, out=out)
        else:
            np.copyto(out, np.matmul(chosen, centres.folded.T, out=panel.products[: len(chosen)]).T)

    def dense_rows(self, rows: Places) -> Floats:
        return self.matrix[rows].astype(np.float64)

    def add_rows(self, rows: Places, clusters: NDArray[np.int32], weight: Floats, sign: float, sums: Floats) -> None:
        """Add rows, times weight and sign, to the sums of their clusters."""
        kernels.add_rows(self.matrix, rows, clusters, weight, sign, sums)


class SparseTable(_Common, SparseView):
    """A CSR table, never made dense."""

    def __init__(self, matrix: Matrix, scale: Floats) -> None:
        SparseView.__init__(self, matrix, np.ones(matrix.shape[0], dtype=bool), np.zeros(matrix.shape[1]), scale)
        self._allow_for_rounding(np.float64)

    def centres(self, points: Floats) -> Centres:
        return self._centres(points, np.ascontiguousarray((points * self.scale * self.scale).T), self.lengths(points))

    def panel(self, n_rows: int, n_clusters: int) -> Panel:
        return Panel(np.empty(0), None)

    def panel_products(self, rows: slice | Places, centres: Centres, panel: Panel, out: NDArray[Any]) -> None:
        chosen = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        kernels.csr_products(*self.csr, chosen, centres.folded, np.empty(out.shape[0]), out)

    def dense_rows(self, rows: Places) -> Floats:
        return self.matrix[rows].toarray().astype(np.float64)

    def add_rows(self, rows: Places, clusters: NDArray[np.int32], weight: Floats, sign: float, sums: Floats) -> None:
        kernels.csr_add_chosen(*self.csr, rows, clusters, weight, sign, sums)


Table = DenseTable | SparseTable


def make_table(matrix: Matrix, scale: Floats) -> Table:
    """A table of either kind."""
    return SparseTable(matrix, scale) if is_sparse(matrix) else DenseTable(matrix, scale)
