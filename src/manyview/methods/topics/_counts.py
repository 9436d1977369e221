"""Tables of counts on their way into a topic model: checked, joined and brought into the form that suits them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, is_sparse
from ...blocks import row_blocks
from ...data.views import Views
from ...errors import ViewError, ViewWarning
from ...types import Mask
from ..base import outside

__all__ = [
    "check_counts",
    "check_sums",
    "join_counts",
    "join_parts",
    "refuse_negative",
    "suited",
    "warn_empty_rows",
]


def check_counts(name: str, matrix: Matrix, who: str) -> None:
    """Counts are at least zero; anything else is an error that names the table and the row."""
    row = -1
    if is_sparse(matrix):
        negative = np.flatnonzero(matrix.data < 0)
        if negative.size:
            row = int(np.searchsorted(matrix.indptr, negative[0], side="right")) - 1
    else:
        for rows in row_blocks(matrix.shape[0], matrix.shape[1] * matrix.itemsize):
            negative = np.flatnonzero((matrix[rows] < 0).any(axis=1))
            if negative.size:
                row = rows.start + int(negative[0])
                break
    if row >= 0:
        refuse_negative(f"view {name!r}", row, who)


def refuse_negative(what: str, row: int, who: str) -> NoReturn:
    raise ViewError(
        f"Negative values in data passed to {who}: {what}, row {row}. It models counts, which are at "
        "least 0; pass how often each word or feature occurs, not centred or scaled values."
    )


def join_counts(views: Views, who: str) -> Matrix:
    """All views side by side as one vocabulary; rows an item lacks are empty. No copy of a single complete view."""
    for name, matrix in views.items():
        check_counts(name, matrix, who)
    if views.n_views == 1 and views.mask.all():
        return views.values()[0]
    return join_parts(views.values(), views.mask)


def join_parts(matrices: Iterable[Matrix], mask: Mask) -> Matrix:
    """Rows of several views side by side, zero where an item lacks one: dense where all are."""
    from scipy import sparse

    parts = []
    for v, matrix in enumerate(matrices):
        has = mask[:, v]
        if is_sparse(matrix):
            parts.append(matrix if has.all() else (sparse.diags_array(has.astype(matrix.dtype)) @ matrix).tocsr())
        else:
            parts.append(matrix if has.all() else np.where(has[:, None], matrix, 0))
    if any(is_sparse(part) for part in parts):
        return sparse.hstack([sparse.csr_matrix(part) for part in parts], format="csr")
    return np.hstack(parts)


def suited(matrix: Matrix, dense_above: float, what: str = "the counts") -> tuple[Matrix, NDArray[np.float64]]:
    """The table as a dense array if its density is above the limit, else in CSR form; and the sums of its rows.

    Reads a dense table once, in blocks; what has the right form already is not copied.
    """
    from scipy import sparse

    n_rows, n_words = matrix.shape
    cells = max(1, n_rows * n_words)
    if is_sparse(matrix):
        sums = np.asarray(matrix.sum(axis=1, dtype=np.float64), dtype=np.float64).ravel()
        check_sums(sums, what, matrix.dtype)
        return (matrix.toarray() if matrix.nnz > dense_above * cells else matrix), sums
    sums, n_filled = np.empty(n_rows), 0
    pieces = row_blocks(n_rows, n_words * matrix.itemsize)
    for rows in pieces:
        sums[rows] = matrix[rows].sum(axis=1, dtype=np.float64)
        n_filled += int(np.count_nonzero(matrix[rows]))
    check_sums(sums, what, matrix.dtype)
    if n_filled > dense_above * cells:
        return matrix, sums
    if not pieces:
        return sparse.csr_matrix(matrix), sums
    return sparse.vstack([sparse.csr_matrix(matrix[rows]) for rows in pieces], format="csr"), sums


def check_sums(sums: NDArray[np.float64], what: str, dtype: Any) -> None:
    """Refuse rows whose sum is above zero and yet too small to divide by."""
    small = np.flatnonzero((sums > 0) & (sums < np.finfo(dtype).tiny))
    if small.size:
        raise ViewError(
            f"{what}: row {small[0]} adds up to {sums[small[0]]:g}, too little for {dtype} to take shares of. Multiply "
            "the counts by a large number first."
        )


def warn_empty_rows(empty: NDArray[np.bool_], what: str = "have no counts") -> None:
    """One warning for all items about which nothing is known."""
    rows = np.flatnonzero(empty)
    if rows.size:
        shown = ", ".join(map(str, rows[:5].tolist())) + (", ..." if rows.size > 5 else "")
        warnings.warn(f"{rows.size} item(s) {what} and get label -1: rows {shown}.", ViewWarning, stacklevel=outside())


def as_names(tag_names: Any, n_tags: int) -> list[str]:
    """The tags' names, or their numbers."""
    if tag_names is None:
        return [str(tag) for tag in range(n_tags)]
    names = [str(name) for name in tag_names]
    if len(names) != n_tags:
        raise ViewError(f"tag_names must hold one name per row of the annotations, {n_tags} in all; got {len(names)}.")
    return names
