"""Counts read back from tables of words that were weighted before they came here.

Tf-idf is a count times a factor of its word times a factor of its row. Weighted once more, rare words would count by
the square of that factor. Where the factor is a usual function of how many of these very items have the word, the
counts can be read back without losing anything, and are. One that was learned from other items knows what these do not:
such a table stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Matrix, is_sparse
from ..types import Floats, Mask, Places
from .weighting import MANY_COLUMNS, MOSTLY_ZERO, holders

__all__ = ["Factors", "are_weighted_counts", "counts_of", "find_factors"]

_LOOKED_AT = 2_000  # rows on which it is decided
_CLOSE = 0.05  # to a whole number, of those that are to be one:
_ALL_BUT_FEW = 0.99


class Factors(NamedTuple):
    """What a table's counts were multiplied by, word by word; and whether 1 + ln of the counts was taken before."""

    words: Floats
    logs: bool


def find_factors(matrix: Matrix, present: Mask) -> Factors | None:
    """How a table was weighted; None where it holds whole numbers, or where the counts cannot be read back."""
    held = np.flatnonzero(present)
    sample = _entries(matrix[held[:: max(1, -(-held.size // _LOOKED_AT))]])
    if (sample.data < 0).any() or (sample.data == np.floor(sample.data)).all():
        return None
    n_rest = sample.nnz - np.count_nonzero(np.diff(sample.indptr))  # the smallest of a row is 1 in any case
    for words in _usual_factors(held.size, holders(matrix, present)):
        for logs in (False, True):
            found = _multiples(sample, Factors(words, logs))
            odd = np.count_nonzero(np.abs(found - np.rint(found)) > _CLOSE)
            if odd <= (1.0 - _ALL_BUT_FEW) * n_rest and n_rest:
                return Factors(words, logs)
    return None


def are_weighted_counts(matrix: Matrix, present: Mask) -> bool:
    """Is a dense table really one of words that somebody weighted? Mostly 0, many columns, counts that can be read."""
    if is_sparse(matrix) or matrix.shape[1] < MANY_COLUMNS:
        return False
    held = np.flatnonzero(present)
    sample = matrix[held[:: max(1, -(-held.size // _LOOKED_AT))]]
    if not sample.size or (sample < 0).any() or np.mean(sample == 0) < MOSTLY_ZERO:
        return False
    return find_factors(matrix, present) is not None


def counts_of(rows: Matrix, factors: Factors) -> Any:
    """The counts behind weighted rows, CSR. In every row the smallest is taken for 1."""
    counts = _entries(rows)
    counts.data = np.sign(counts.data) * np.maximum(np.rint(_multiples(counts, factors)), 1.0)
    return counts


def _usual_factors(n_items: int, held: Places) -> Iterator[Floats]:
    """None, the idf of scikit-learn with and without smoothing, and that of textbooks; ``held`` counts items."""
    yield np.ones(held.size)
    yield np.log((1.0 + n_items) / (1.0 + held)) + 1.0
    plain = np.log(n_items / np.maximum(held, 1.0))
    yield plain + 1.0
    yield np.where(plain > 0, plain, 1.0)  # a word that all items have weighs nothing, and is not in the table


def _entries(rows: Matrix) -> Any:
    from scipy.sparse import csr_matrix

    entries = csr_matrix(rows, dtype=np.float64, copy=True)
    entries.eliminate_zeros()
    return entries


def _multiples(entries: Any, factors: Factors) -> Floats:
    """Every entry without the factors of its word and of its row."""
    sizes = np.diff(entries.indptr)
    values = np.abs(entries.data) / factors.words[entries.indices]
    if values.size:
        smallest = np.minimum.reduceat(values, entries.indptr[:-1][sizes > 0])
        values /= np.repeat(smallest, sizes[sizes > 0])
    return np.asarray(np.exp(np.minimum(values - 1.0, 30.0)) if factors.logs else values)
