"""Matrices of the ridges: an inverse, squares of rows, and the few entries of a column that are worth keeping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import is_sparse
from ..types import Floats, Ints

__all__ = ["as_dense", "entries_of", "inverse_of", "largest_of_columns", "row_products", "squares_by"]

_MIRRORED = 256


def as_dense(matrix: Any) -> Any:
    return matrix.toarray() if is_sparse(matrix) else np.asarray(matrix)


def entries_of(matrix: Any, rows: Ints, columns: Ints) -> Floats:
    """Single entries of a matrix, sparse or dense."""
    if not rows.size:
        return np.zeros(0)
    return np.asarray(matrix[rows, columns], dtype=np.float64).ravel()


def row_products(left: Any, right: Floats) -> Floats:
    """The inner product of each row of one with the same row of the other."""
    if is_sparse(left):
        return np.asarray(left.multiply(right).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", left, right))


def squares_by(P: Floats, sparse: bool = False) -> Callable[[Any], Floats]:
    """From rows to x'Px of each, P being positive definite: of dense rows by its root, which is half of a product."""
    from scipy.linalg import get_blas_funcs, get_lapack_funcs

    def plain(rows: Any) -> Floats:
        return row_products(rows, rows @ P)

    if sparse or not P.size:
        return plain
    factorize, multiply = get_lapack_funcs(("potrf",), (P,))[0], get_blas_funcs(("trmm",), (P,))[0]
    root, failed = factorize(P.T, lower=1, overwrite_a=0)
    if failed:  # rounding made it indefinite
        return plain

    def by_root(rows: Any) -> Floats:
        across = multiply(1.0, root, rows.T, lower=1, trans_a=1)
        return np.asarray(np.einsum("ij,ij->j", across, across))

    return by_root


def largest_of_columns(coef: Floats, n_kept: int) -> Any:
    """The largest entries of each column, as CSR of single floats."""
    from scipy.sparse import csr_matrix

    if coef.shape[0] > n_kept:
        least = -np.partition(-np.abs(coef), n_kept - 1, axis=0)[n_kept - 1]
        coef = np.where(np.abs(coef) >= least, coef, 0.0)
    return csr_matrix(coef.astype(np.float32))


def inverse_of(G: Floats) -> Floats:
    """The inverse of a symmetric positive definite matrix, in its place."""
    if not G.size:
        return G
    from scipy.linalg.lapack import dpotrf, dpotri

    diagonal = G.diagonal().copy()
    # G.T: the order of columns that LAPACK wants. Only one half is written, the other is as it was.
    factor, failed = dpotrf(G.T, lower=1, clean=0, overwrite_a=1)
    if failed:  # rounding made it indefinite; the penalties keep it invertible
        return np.asarray(np.linalg.inv(np.tril(G, -1) + np.tril(G, -1).T + np.diag(diagonal)))
    inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
    for start in range(0, inverse.shape[0], _MIRRORED):
        stop = start + _MIRRORED
        corner = inverse[start:stop, start:stop]
        corner[:] = np.tril(corner) + np.tril(corner, -1).T
        inverse[start:stop, stop:] = inverse[stop:, start:stop].T
    return np.asarray(inverse.T)
