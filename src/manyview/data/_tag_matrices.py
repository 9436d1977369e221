"""0/1 matrices of tags: canonical CSR of float32, made from pairs, tables and each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import is_sparse, refuse_malformed, to_csr
from ..errors import ViewError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["as_binary", "as_ones", "canonical", "moved", "pairs_to_csr", "widened"]


def pairs_to_csr(rows: Any, columns: Any, shape: tuple[int, int]) -> csr_matrix:
    """1 at each pair of row and column."""
    from scipy.sparse import csr_matrix

    rows, columns = np.asarray(rows, dtype=np.int64), np.asarray(columns, dtype=np.int64)
    return as_ones(csr_matrix((np.ones(rows.size, dtype=np.float32), (rows, columns)), shape=shape))


def as_binary(matrix: Any, what: str) -> csr_matrix:
    """A copy of a dense or sparse table of 0 and 1; anything else is an error that names the item."""
    from scipy.sparse import csr_matrix

    if is_sparse(matrix):
        taken = csr_matrix(to_csr(what, matrix))  # shares its arrays with a CSR that comes in
    else:
        refuse_malformed(what, matrix)
        try:
            matrix = np.asarray(matrix)
        except ValueError as error:
            raise ViewError(f"{what} must be a 2-D table of 0 and 1, but its rows differ in length.") from error
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise ViewError(f"{what} must be a 2-D table of 0 and 1, items by tags; got {matrix.dtype} {matrix.shape}.")
        rows, columns = np.nonzero(matrix)
        taken = csr_matrix((matrix[rows, columns].astype(np.float64), (rows, columns)), shape=matrix.shape)
    values = taken.data
    bad = np.flatnonzero((values != 0) & (values != 1))
    if bad.size:
        row = int(np.searchsorted(taken.indptr, bad[0], side="right")) - 1
        raise ViewError(
            f"{what} must be 0 or 1, but item {row} has {values[bad[0]]:g} for tag {taken.indices[bad[0]]}. Say "
            "(counts > 0) where counts are meant as yes."
        )
    copied = csr_matrix((values.astype(np.float32), taken.indices.copy(), taken.indptr.copy()), shape=taken.shape)
    return as_ones(copied)


def as_ones(matrix: Any) -> csr_matrix:
    """A canonical CSR whose entries are 1 wherever they are not 0."""
    matrix = canonical(matrix)
    matrix.data[:] = 1
    return matrix


def canonical(matrix: Any) -> csr_matrix:
    """Sorted, without doubles and stored zeros, and writable."""
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(matrix, dtype=np.float32)
    if not all(part.flags.writeable for part in (matrix.data, matrix.indices, matrix.indptr)):
        matrix = matrix.copy()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def widened(matrix: csr_matrix, n_tags: int) -> csr_matrix:
    """The same entries with empty columns behind them."""
    from scipy.sparse import csr_matrix

    return csr_matrix((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], n_tags))


def moved(matrix: csr_matrix, column: NDArray[np.intp], n_tags: int) -> csr_matrix:
    """Each entry in its new column; entries that meet become one."""
    entries = matrix.tocoo()
    return pairs_to_csr(entries.row, column[entries.col], (matrix.shape[0], n_tags))
