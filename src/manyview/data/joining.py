"""Matrices side by side as one, and what their rows are on average."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Matrix, is_sparse
from ..blocks import row_blocks
from ..types import Floats, Mask, Places

__all__ = ["cluster_means", "column_means", "side_by_side"]


def side_by_side(matrices: Sequence[Matrix], present: Mask, fills: Sequence[Floats]) -> Matrix:
    """All matrices as one, where row i of matrix v is ``fills[v]`` unless ``present[i, v]``.

    Sparse where all of them are, otherwise dense in C order. A single matrix without gaps (dense: in C order) is given
    back as it is, and may lie on disk.
    """
    if matrices and all(is_sparse(matrix) for matrix in matrices):
        return _sparse_side_by_side(matrices, present, fills)
    if len(matrices) == 1 and present.all():
        return np.ascontiguousarray(matrices[0])
    edges = np.cumsum([0, *(matrix.shape[1] for matrix in matrices)])
    joined = np.empty(
        (present.shape[0], int(edges[-1])),
        dtype=np.result_type(*(m.dtype for m in matrices)) if matrices else np.float32,
    )
    for v, matrix in enumerate(matrices):
        part = joined[:, edges[v] : edges[v + 1]]
        for block in row_blocks(part.shape[0], part.shape[1] * part.itemsize):
            part[block] = matrix[block].toarray() if is_sparse(matrix) else matrix[block]
        part[~present[:, v]] = fills[v]
    return joined


def _sparse_side_by_side(matrices: Sequence[Matrix], present: Mask, fills: Sequence[Floats]) -> Matrix:
    from scipy import sparse

    parts = []
    for v, matrix in enumerate(matrices):
        has = present[:, v]
        if not has.all():
            filled = np.asarray(fills[v], dtype=matrix.dtype)
            matrix = (sparse.diags_array(has.astype(matrix.dtype)) @ matrix).tocsr()
            if filled.any():
                gaps = sparse.csr_array((~has)[:, None].astype(matrix.dtype))
                matrix = (matrix + gaps @ sparse.csr_array(filled[None, :])).tocsr()
        parts.append(matrix)
    return parts[0] if len(parts) == 1 else sparse.hstack(parts, format="csr")


def column_means(matrix: Matrix, present: Mask) -> Floats:
    """The mean of the rows that are present; zeros where none is."""
    mean: Floats = cluster_means(matrix, present, np.zeros(present.size, dtype=np.intp), 1)[0]
    return mean


def cluster_means(
    matrix: Matrix, present: Mask, labels: Places, n_clusters: int, weights: Floats | None = None
) -> Floats:
    """The mean of each cluster's present rows; of all clusters' where a cluster has none. Reads the matrix in blocks.

    Labels below 0 belong to no cluster. Rows may have weights, none of them below 0; by default each counts once.
    """
    from scipy.sparse import csr_array

    totals, counts = np.zeros((n_clusters, matrix.shape[1])), np.zeros(n_clusters)
    for rows in row_blocks(matrix.shape[0], 8 * matrix.shape[1]):
        held = np.flatnonzero(present[rows] & (labels[rows] >= 0)) + rows.start
        if held.size:
            once = np.ones(held.size)
            chooser = csr_array(
                (once if weights is None else weights[held], (labels[held], np.arange(held.size))),
                shape=(n_clusters, held.size),
            )
            part = chooser @ matrix[held]
            totals += part.toarray() if is_sparse(part) else part
            counts += np.asarray(chooser.sum(axis=1)).ravel()
    overall = totals.sum(axis=0) / (counts.sum() or 1.0)
    return np.where(counts[:, None] > 0, totals / np.where(counts > 0, counts, 1.0)[:, None], overall)
