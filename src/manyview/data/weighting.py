"""What words weigh: damped counts times idf, in rows of length one; and which tables are made of words.

Everything reads a table in blocks of rows, so that one on disk may be larger than memory.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..arrays import Matrix, is_sparse
from ..blocks import row_blocks
from ..types import Floats, Mask, Places

__all__ = [
    "MANY_COLUMNS",
    "MOSTLY_ZERO",
    "Damping",
    "are_counts",
    "damped",
    "holders",
    "inverse_frequency",
    "row_bytes",
    "smallest_entry",
    "speaks",
    "tf_idf",
    "unit_rows",
]

Damping = Literal["counts", "weights"]
"""How a word's number is damped: 1 + ln of a count; ln(1 + value), with its sign, of anything else."""

MOSTLY_ZERO = 0.75  # share of zeros from which a dense table may be one of words
MANY_COLUMNS = 20  # below that words cannot be told from a few figures


def damped(values: Any, damping: Damping) -> Floats:
    """The weight of a word from its number: more often is more, but not so much more."""
    size = np.abs(np.asarray(values, dtype=np.float64))
    # A new item may hold what fit did not: below 1 the logarithm of a count would turn negative.
    return np.asarray(
        np.sign(values) * (1.0 + np.log(np.maximum(size, 1.0)) if damping == "counts" else np.log1p(size))
    )


def inverse_frequency(matrix: Matrix, present: Mask) -> Floats:
    """Smoothed idf of every column: ln((1 + n) / (1 + items that have it)) + 1, over the items that are present."""
    return np.log((1.0 + np.count_nonzero(present)) / (1.0 + holders(matrix, present))) + 1.0


def holders(matrix: Matrix, present: Mask) -> Places:
    """How many of the items that are present have something in each column."""
    held = np.zeros(matrix.shape[1], dtype=np.int64)
    for block in row_blocks(matrix.shape[0], row_bytes(matrix)):
        part = matrix[block][present[block]]
        if is_sparse(part):
            held += np.bincount(part.indices[part.data != 0], minlength=held.size)
        else:
            held += np.count_nonzero(part, axis=0)
    return held


def tf_idf(matrix: Matrix, idf: Floats, damping: Damping) -> Any:
    """Damped words times idf, rows to length one; float64 CSR without stored zeros."""
    from scipy.sparse import csr_matrix

    weighted = csr_matrix(matrix, dtype=np.float64, copy=True)
    weighted.eliminate_zeros()
    weighted.data = damped(weighted.data, damping) * idf[weighted.indices]
    weighted.eliminate_zeros()
    return unit_rows(weighted)


def unit_rows(rows: Matrix, smallest: float = 0.0) -> Any:
    """Rows of length one in float64; one of at most ``smallest`` becomes zeros (a sparse one stays as it is)."""
    if is_sparse(rows):
        lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
        rows.data = rows.data / np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(rows.indptr))
        return rows
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))[:, None]
    return np.divide(rows, lengths, out=np.zeros(rows.shape), where=lengths > smallest)


def speaks(rows: Matrix) -> Mask:
    """Which rows are not empty: those that hold something other than 0."""
    if not is_sparse(rows):
        return np.asarray((rows != 0).any(axis=1))
    filled = rows.data != 0
    return np.bincount(np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[filled], minlength=rows.shape[0]) > 0


def are_counts(matrix: Matrix, present: Mask) -> bool:
    """Is a dense table really one of counts, words or tags? Whole numbers from 0 on, most of them 0, many columns."""
    if is_sparse(matrix) or matrix.shape[1] < MANY_COLUMNS:
        return False
    zeros = cells = 0
    for block in row_blocks(matrix.shape[0], row_bytes(matrix)):
        part = matrix[block][present[block]]
        if not ((part >= 0) & (part == np.floor(part))).all():  # mostly the first block tells
            return False
        zeros, cells = zeros + part.size - int(np.count_nonzero(part)), cells + part.size
    return cells > 0 and zeros >= MOSTLY_ZERO * cells and zeros < cells


def smallest_entry(matrix: Matrix, present: Mask) -> float:
    """The smallest entry other than 0; 1 where there is none."""
    smallest = np.inf
    for block in row_blocks(matrix.shape[0], row_bytes(matrix)):
        part = matrix[block][present[block]]
        values = part.data if is_sparse(part) else part
        values = values[values != 0]
        smallest = min(smallest, float(values.min())) if values.size else smallest
    return smallest if np.isfinite(smallest) else 1.0


def row_bytes(matrix: Matrix) -> float:
    """About how many bytes a row takes, for cutting blocks."""
    return float(12.0 * matrix.nnz / max(1, matrix.shape[0]) + 16 if is_sparse(matrix) else 8.0 * matrix.shape[1])
