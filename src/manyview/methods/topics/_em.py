"""The EM core that PLSA and AnnotatedPLSA share, in block form.

There are one or more tables of counts over the same words; each has its own rows of topic shares (theta, psi) and
all share the topics phi. One iteration reads every table once, block by block; a block gives its rows' new shares,
its part of G and its part of the log-likelihood. Every right-hand side uses the old values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import blocks
from ...arrays import Matrix, is_sparse
from ...blocks import Workers, row_blocks
from ...steps import each
from ..base import say
from . import _kernels as kernels

__all__ = ["Counts", "Outcome", "best_start", "dense_above", "fold_in", "random_start", "run_em"]

Floats = NDArray[np.floating]

# p is floored by adding; shares below the second number count as zero (their products would be subnormal).
_TINY = {np.dtype(np.float32): (1e-30, 1e-18), np.dtype(np.float64): (1e-300, 1e-150)}
_TILE_CELLS = 2**18
# The factor of the tolerance below which an expected change may be the last one: how far changes are foreseen.
_NEAR_END = 1.2


def dense_above(n_topics: int) -> float:
    """The density from which whole rows are faster than non-zeros.

    Measured in ns on one core: about 4 + K for a non-zero, 6 + K / 6 for a cell of a matrix product, K topics.
    That is 0.61 for 8 topics, 0.25 for 64, and never for two.
    """
    return (6 + n_topics / 6) / (4 + n_topics)


@dataclass(frozen=True)
class Counts:
    """A table of counts, in the form that suits its density, and what its rows weigh."""

    matrix: Matrix
    sums: NDArray[np.float64]  # (n,) of each row
    weight: NDArray[np.float64]  # (n,) of each row in the objective, 0 for an empty row

    @property
    def n_rows(self) -> int:
        return int(self.matrix.shape[0])

    def blocks(self, n_topics: int) -> list[slice]:
        """Rows in pieces of a fixed size, large against the partial result G of each."""
        n_rows, n_words = self.matrix.shape
        size = max(blocks.BLOCK_BYTES, 4 * n_words * n_topics * 8)
        if is_sparse(self.matrix):
            row_bytes = self.matrix.nnz / max(1, n_rows) * (self.matrix.data.itemsize + self.matrix.indices.itemsize)
        else:
            row_bytes = n_words * self.matrix.itemsize
        return row_blocks(n_rows, row_bytes + 16 * n_topics, size)


@dataclass
class Outcome:
    """Where one start ended."""

    topics: NDArray[Any]  # phi, (n_words, n_topics)
    shares: list[NDArray[Any]]  # theta of each table, (n_rows, n_topics)
    log_likelihood: list[float]  # after each iteration
    n_reseeded: int


def random_start(
    n_words: int, n_rows: Sequence[int], n_topics: int, rng: np.random.Generator
) -> tuple[Floats, list[Floats]]:
    """Topics drawn evenly from all distributions over words; every row starts with equal shares of all topics.

    Equal shares break no symmetry, the topics do. They make the answer independent of the order of rows and give
    rows that are alike the same shares for ever.
    """
    topics = rng.standard_exponential((n_topics, n_words))
    topics /= topics.sum(axis=1, keepdims=True)
    return topics.T, [np.broadcast_to(1.0 / n_topics, (n, n_topics)) for n in n_rows]


def run_em(
    tables: Sequence[Counts],
    topics: Floats,
    shares: Sequence[Floats],
    *,
    dtype: Any = np.float64,
    max_iter: int = 200,
    tol: float = 1e-6,
    workers: Workers,
    report: Callable[[int, float], None] | None = None,
) -> Outcome:
    """Iterate from a start until the log-likelihood changes by less than ``tol`` of itself, or ``max_iter`` times.

    O(nnz n_topics) per iteration; memory is the shares once and a few copies of the topics per thread: a row's new
    shares depend on its own old ones alone and take their place. The answer is what the last sweep read, so a sweep
    that looks like the last one writes nothing; where the end comes unforeseen, the same way is gone once more.
    """
    n_topics = topics.shape[1]
    width = max(n_topics, kernels.LANES)
    phi = _padded(topics, width, dtype)
    theta = [_padded(share, width, dtype) for share in shares]
    history: list[float] = []
    n_reseeded = 0
    values: list[float] = []  # at the start, then as history
    for n_iter in range(max_iter + 1):
        may_end = n_iter == max_iter or _end_is_near(values, tol)
        value, G, loglik = _sweep(tables, theta, phi, n_topics, workers, advance=not may_end)
        values.append(value)
        if n_iter > 0:
            history.append(value)
            if report is not None:
                report(n_iter, value)
            if n_iter == max_iter or abs(value - values[-2]) < tol * abs(value):
                if may_end:
                    break
                return run_em(tables, topics, shares, dtype=dtype, max_iter=n_iter, tol=0, workers=workers)
        if may_end:
            _sweep(tables, theta, phi, n_topics, workers)
        phi, dead = _new_topics(phi, G, n_topics)
        if dead.size:
            n_reseeded += _reseed(tables, theta, phi, dead, loglik)
    return Outcome(
        np.ascontiguousarray(phi[:, :n_topics]),
        [np.ascontiguousarray(share[:, :n_topics]) for share in theta],
        history,
        n_reseeded,
    )


def best_start(
    tables: Sequence[Counts],
    n_topics: int,
    sources: Sequence[np.random.Generator],
    *,
    max_iter: int,
    tol: float,
    workers: Workers,
    verbose: int = 0,
) -> Outcome:
    """One run from each random source; the one that ends with the largest log-likelihood."""
    dtype = np.result_type(*(table.matrix.dtype for table in tables))
    outcomes: list[Outcome] = []
    for start, rng in each("starts", enumerate(sources, 1), len(sources)):

        def report(n_iter: int, value: float, start: int = start) -> None:
            if verbose > 1:
                say(f"start {start} of {len(sources)}, iteration {n_iter}: log-likelihood {value:.9g}")

        topics, shares = random_start(tables[0].matrix.shape[1], [table.n_rows for table in tables], n_topics, rng)
        outcome = run_em(
            tables, topics, shares, dtype=dtype, max_iter=max_iter, tol=tol, workers=workers, report=report
        )
        if verbose:
            n_iter, value = len(outcome.log_likelihood), outcome.log_likelihood[-1]
            say(f"start {start} of {len(sources)}: log-likelihood {value:.9g}, {n_iter} iterations")
        outcomes = [max([*outcomes, outcome], key=lambda one: one.log_likelihood[-1])]
    return outcomes[0]


def _padded(values: Floats, width: int, dtype: Any) -> NDArray[Any]:
    padded = np.zeros((values.shape[0], width), dtype=dtype)
    padded[:, : values.shape[1]] = values
    return padded


def _end_is_near(values: Sequence[float], tol: float) -> bool:
    """Whether the next change may be the one that ends it: changes shrink by about the same factor each time."""
    if len(values) < 3:
        return False
    before, last = abs(values[-2] - values[-3]), abs(values[-1] - values[-2])
    return last * last < _NEAR_END * tol * abs(values[-1]) * before


def _sweep(
    tables: Sequence[Counts],
    theta: Sequence[NDArray[Any]],
    phi: NDArray[Any],
    n_topics: int,
    workers: Workers,
    *,
    advance: bool = True,
) -> tuple[float, NDArray[np.float64], list[NDArray[np.float64]]]:
    """Read every table once: log-likelihood, G, and the log-likelihood of each row.

    Block by block the new shares overwrite ``theta``, unless it is to stay where it is (``advance``).
    """
    G = np.zeros(phi.shape)
    value = 0.0
    loglik = [np.zeros(table.n_rows) for table in tables]
    for table, shares, row_values in zip(tables, theta, loglik, strict=True):

        def block(rows: slice, table: Counts = table, shares: Any = shares, out: Any = row_values) -> Any:
            partial, new = np.zeros(phi.shape, dtype=phi.dtype), np.empty_like(shares[rows])
            step = _csr_block if is_sparse(table.matrix) else _dense_block
            step(table, rows, shares[rows], phi, n_topics, new, partial, out[rows])
            if advance:
                shares[rows] = new
            return partial, float(table.weight[rows] @ out[rows])

        for partial, part in workers.map(block, table.blocks(n_topics)):
            G += partial
            value += part
    return value, G, loglik


def _csr_block(
    table: Counts, rows: slice, theta: Any, phi: Any, n_topics: int, new: Any, G: Any, loglik: NDArray[np.float64]
) -> None:
    m = table.matrix
    inverse, weight = _row_factors(table, rows, phi.dtype)
    step = kernels.csr_step_in_lanes if phi.shape[1] == kernels.LANES else kernels.csr_step
    tiny, flush = (phi.dtype.type(number) for number in _TINY[phi.dtype])
    indptr = m.indptr[rows.start : rows.stop + 1]
    step(m.data, m.indices, indptr, inverse, weight, theta, phi, tiny, flush, new, G, loglik)


def _dense_block(
    table: Counts, rows: slice, theta: Any, phi: Any, n_topics: int, new: Any, G: Any, loglik: NDArray[np.float64]
) -> None:
    inverse, weight = _row_factors(table, rows, phi.dtype)
    tiny, flush = (phi.dtype.type(number) for number in _TINY[phi.dtype])
    words = phi[:, :n_topics]
    new[:] = 0
    step = max(1, _TILE_CELLS // max(1, phi.shape[0]))
    for start in range(0, theta.shape[0], step):
        part = slice(start, start + step)
        t = theta[part, :n_topics]
        P = t @ words.T
        x = np.ascontiguousarray(table.matrix[rows.start + start : min(rows.start + start + step, rows.stop)])
        kernels.dense_ratios(x, inverse[part], P, tiny, loglik[part])
        sums = P @ words
        kernels.settle_rows(np.ascontiguousarray(t), sums, flush)
        new[part, :n_topics] = sums
        G[:, :n_topics] += P.T @ (weight[part, None] * t)


def _row_factors(table: Counts, rows: slice, dtype: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    sums = table.sums[rows]
    inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    return inverse.astype(dtype), table.weight[rows].astype(dtype)


def _new_topics(phi: NDArray[Any], G: NDArray[np.float64], n_topics: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """phi * G with columns that sum to one; a topic that lost all its mass keeps its words, and is named."""
    new = phi * G
    new[new < _TINY[phi.dtype][1]] = 0.0
    mass = new.sum(axis=0)
    alive = mass > 0
    new /= np.where(alive, mass, 1.0)
    dead = np.flatnonzero(~alive[:n_topics])
    new[:, dead] = phi[:, dead]
    return new.astype(phi.dtype), dead


def _reseed(
    tables: Sequence[Counts],
    theta: Sequence[NDArray[Any]],
    phi: NDArray[Any],
    dead: NDArray[np.intp],
    loglik: Sequence[NDArray[np.float64]],
) -> int:
    """Make each dead topic the words of a row that the others explain worst; returns how many.

    No row used a dead topic, so this can only raise the likelihood: that row's own becomes the largest possible.
    Where every row is explained fully, dead topics stay as they are.
    """
    which = next(t for t, table in enumerate(tables) if table.weight.any())
    table = tables[which]
    gap = np.where(table.weight > 0, _negative_entropy(table) - loglik[which], 0.0)
    order = np.argsort(-gap, kind="stable")
    given = 0
    for topic, row in zip(dead, order, strict=False):
        if gap[row] <= 1e-6:
            break
        words = table.matrix[[row]]
        words = words.toarray()[0] if is_sparse(words) else words[0]
        phi[:, topic] = words / table.sums[row]
        theta[which][row] = 0.0
        theta[which][row, topic] = 1.0
        given += 1
    return given


def _negative_entropy(table: Counts) -> NDArray[np.float64]:
    """Sum of a log a for each row: the largest log-likelihood it can have."""
    result = np.zeros(table.n_rows)
    for rows in row_blocks(table.n_rows, table.matrix.shape[1] * 8.0):
        part = table.matrix[rows]
        part = part.toarray() if is_sparse(part) else np.asarray(part)
        a = part / np.where(table.sums[rows] > 0, table.sums[rows], 1.0)[:, None]
        result[rows] = np.sum(a * np.log(np.where(a > 0, a, 1.0)), axis=1)
    return result


def fold_in(
    matrix: Matrix, topics: NDArray[Any], workers: Workers, *, max_iter: int = 100, tol: float = 1e-7
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Topic shares of each row under fixed topics (n_words, n_topics), and its log-likelihood per count.

    The likelihood is concave in the shares, so that the start does not matter. Rows without a known word get equal
    shares and NaN. Each row stops for itself: who else is folded in makes no difference.
    """
    from scipy.sparse import csr_matrix

    phi = np.ascontiguousarray(topics)
    known = phi.sum(axis=1) > 0
    tiny, flush = (phi.dtype.type(number) for number in _TINY[phi.dtype])
    n_rows, n_words = matrix.shape
    theta, loglik = np.empty((n_rows, phi.shape[1]), dtype=phi.dtype), np.empty(n_rows)

    def block(rows: slice) -> None:
        part = csr_matrix(matrix[rows])
        kernels.csr_fold_in(
            part.data, part.indices, part.indptr, known, phi, tiny, flush, max_iter, tol, theta[rows], loglik[rows]
        )

    for _ in workers.map(block, row_blocks(n_rows, 12.0 * n_words)):
        pass
    return theta, loglik
