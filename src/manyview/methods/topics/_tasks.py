"""What topic models do with some rows of counts: the tasks that an engine runs. Symbols as in ``_kernels``.

The shares of a leaf's rows are its state. A sweep reads every table once; a leaf gives its part of G and of the
log-likelihood, and its rows' new shares take the place of the old ones. Every right-hand side uses the old values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import blocks
from ...arrays import Matrix, holds_sparse, is_sparse
from ...blocks import row_blocks
from ...data.source import Rows, RowSource
from ...engines.base import Plan, cut
from ...engines.device import device_form
from ...types import Floats, Places
from . import _kernels as kernels

__all__ = [
    "LIMITS",
    "Counts",
    "Fold",
    "Part",
    "Sweep",
    "Worst",
    "add_parts",
    "even_leaf",
    "fold_leaf",
    "padded",
    "row_factors",
    "sweep_leaf",
    "worst_rows",
]

LIMITS = {np.dtype(np.float32): (1e-30, 1e-18), np.dtype(np.float64): (1e-300, 1e-150)}
"""p is floored by adding the first; shares below the second count as zero (their products would be subnormal)."""

_TILE_CELLS = 2**18
_NS_PER_NUMBER = 4.0  # of a row, on one core; and one more for each topic


@dataclass(frozen=True)
class Counts:
    """A table of counts, in the form that suits its density: its rows as "counts", their "sums" and their "weight".

    The weight is what a row counts in the objective, 0 for an empty one.
    """

    source: RowSource
    per_row: float  # numbers that a row holds, on average

    @classmethod
    def of(cls, matrix: Matrix, sums: Floats, weight: Floats, per_row: float | None = None) -> Counts:
        if per_row is None:
            per_row = matrix.nnz / max(1, matrix.shape[0]) if is_sparse(matrix) else matrix.shape[1]
        return cls(RowSource({"counts": matrix, "sums": sums, "weight": weight}), float(per_row))

    @property
    def matrix(self) -> Matrix:
        return self.source.columns["counts"]

    @property
    def sums(self) -> Floats:
        sums: Floats = self.source.columns["sums"]
        return sums

    @property
    def weight(self) -> Floats:
        weight: Floats = self.source.columns["weight"]
        return weight

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    def words_of(self, row: int) -> NDArray[Any]:
        """One row of the counts, dense."""
        words = self.source.take(np.array([row]))["counts"]
        return np.asarray(words.toarray() if is_sparse(words) else words)[0]

    def plan(self, n_topics: int) -> Plan:
        """Leaves of a fixed size, large against the partial result G of each."""
        n_words = self.matrix.shape[1]
        size = max(blocks.BLOCK_BYTES, 4 * n_words * n_topics * 8)
        number = self.matrix.dtype.itemsize + (4 if holds_sparse(self.matrix) else 0)
        seconds = 1e-9 * self.per_row * (_NS_PER_NUMBER + n_topics)
        return cut(self.n_rows, self.per_row * number + 16 * n_topics, size, seconds)


@dataclass(frozen=True)
class Sweep:
    """What the leaves of one sweep are told. ``phi`` is padded with zeros to the kernels' width."""

    phi: NDArray[Any]
    n_topics: int
    advance: bool = True  # else shares stay what they are
    reseeded: Mapping[int, int] = field(default_factory=dict)  # rows that have become topics since the last sweep

    @cached_property
    def loudest(self) -> Places:
        """The likeliest word of each topic."""
        return self.phi[:, : self.n_topics].argmax(axis=0)

    @property
    def limits(self) -> tuple[Any, Any]:
        tiny, flush = (self.phi.dtype.type(number) for number in LIMITS[self.phi.dtype])
        return tiny, flush

    def shares(self, state: NDArray[Any], first: int) -> NDArray[Any]:
        """The shares that rows begin with, from ``first`` on; the state itself where it has the kernels' form."""
        theta = state
        if theta.shape[1] != self.phi.shape[1] or theta.dtype != self.phi.dtype or not theta.flags.writeable:
            theta = padded(theta[:, : self.n_topics], self.phi.shape[1], self.phi.dtype)
        for row, topic in self.reseeded.items():
            if first <= row < first + theta.shape[0]:
                theta[row - first] = 0.0
                theta[row - first, topic] = 1.0
        return theta


class Worst(NamedTuple):
    """Rows that the topics explain worst, the worst first, as many as there are topics that may be dying."""

    n_wanted: int
    gaps: Floats
    rows: Places

    @classmethod
    def none(cls) -> Worst:
        return cls(0, np.empty(0), np.empty(0, dtype=np.intp))

    def merged(self, other: Worst) -> Worst:
        """A topic that is dead is dying in every leaf, so the smaller number is enough."""
        n_wanted = min(self.n_wanted, other.n_wanted)
        gaps, rows = np.concatenate([self.gaps, other.gaps]), np.concatenate([self.rows, other.rows])
        best = np.argsort(-gaps, kind="stable")[:n_wanted]
        return Worst(n_wanted, gaps[best], rows[best])


@dataclass
class Part:
    """What some rows contribute to a sweep."""

    G: Floats  # (n_words, width)
    value: float  # of the log-likelihood
    worst: Worst


def add_parts(whole: Part, part: Part) -> Part:
    whole.G += part.G
    whole.value += part.value
    whole.worst = whole.worst.merged(part.worst)
    return whole


def padded(values: NDArray[Any], width: int, dtype: Any) -> NDArray[Any]:
    """More columns, of zeros."""
    wide = np.zeros((values.shape[0], width), dtype=dtype)
    wide[:, : values.shape[1]] = values
    return wide


@device_form("manyview.methods.topics.device")
def even_leaf(rows: Rows, leaf: slice, shared: Sweep, _: Any) -> tuple[tuple[()], NDArray[Any]]:
    """Equal shares of all topics, as a state."""
    theta = np.zeros((leaf.stop - leaf.start, shared.phi.shape[1]), dtype=shared.phi.dtype)
    theta[:, : shared.n_topics] = 1.0 / shared.n_topics
    return (), theta


@device_form("manyview.methods.topics.device")
def sweep_leaf(rows: Rows, leaf: slice, shared: Sweep, state: NDArray[Any]) -> tuple[Part, NDArray[Any] | None]:
    """One EM step of some rows. The new shares are written over the old ones, where these need not stay.

    No state comes back where nothing has changed in any row.
    """
    counts, phi = rows["counts"], shared.phi
    theta = shared.shares(state, rows.start + leaf.start)
    new, G, loglik = np.empty_like(theta), np.zeros(phi.shape), np.empty(theta.shape[0])
    step = _csr_rows if is_sparse(counts) else _dense_rows
    step(rows, leaf, shared, theta, new, G, loglik)
    part = Part(G, float(rows["weight"][leaf] @ loglik), worst_rows(rows, leaf, shared, G, lambda: loglik))
    if shared.advance:
        theta[:] = new
    return part, theta if shared.advance or shared.reseeded else None


def _csr_rows(
    rows: Rows, leaf: slice, shared: Sweep, theta: NDArray[Any], new: NDArray[Any], G: NDArray[Any], loglik: Floats
) -> None:
    phi, counts = shared.phi, rows["counts"]
    step = kernels.csr_step_in_lanes if phi.shape[1] == kernels.LANES else kernels.csr_step
    indptr = counts.indptr[leaf.start : leaf.stop + 1]
    factors = row_factors(rows, leaf)
    step(counts.data, counts.indices, indptr, *factors, theta, phi, *shared.limits, new, G, loglik)


def _dense_rows(
    rows: Rows, leaf: slice, shared: Sweep, theta: NDArray[Any], new: NDArray[Any], G: NDArray[Any], loglik: Floats
) -> None:
    n_topics, (tiny, flush) = shared.n_topics, shared.limits
    words, (inverse, weight) = shared.phi[:, :n_topics].astype(np.float64), row_factors(rows, leaf)
    counts = rows["counts"][leaf]
    new[:] = 0
    step = max(1, _TILE_CELLS // max(1, words.shape[0]))
    for start in range(0, theta.shape[0], step):
        part = slice(start, start + step)
        t = theta[part, :n_topics].astype(np.float64)
        P = t @ words.T
        some = np.ascontiguousarray(counts[part])
        some.flags.writeable = False
        kernels.dense_ratios(some, inverse[part], P, tiny, loglik[part])
        sums = P @ words
        kernels.settle_rows(t, sums, flush)
        new[part, :n_topics] = sums
        G[:, :n_topics] += P.T @ (weight[part, None] * t)


def row_factors(rows: Rows, leaf: slice) -> tuple[Floats, Floats]:
    """One over the sum of each row, 0 for an empty one, and its weight."""
    sums = np.asarray(rows["sums"][leaf], dtype=np.float64)
    inverse = np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > 0)
    return inverse, rows["weight"][leaf].astype(np.float64, copy=False)


def worst_rows(rows: Rows, leaf: slice, shared: Sweep, G: NDArray[Any], loglik: Callable[[], Floats]) -> Worst:
    """Those farthest from what could be said of them, if these rows leave topics without any mass."""
    n_wanted = _n_dying(shared, G)
    if not n_wanted:
        return Worst.none()
    key = ("entropy", leaf.start, leaf.stop)
    if key not in rows.kept:
        rows.kept[key] = _negative_entropy(rows["counts"][leaf], rows["sums"][leaf])
    gaps = np.where(rows["weight"][leaf] > 0, rows.kept[key] - loglik(), 0.0)
    best = np.argsort(-gaps, kind="stable")[:n_wanted]
    return Worst(n_wanted, gaps[best], best + rows.start + leaf.start)


def _n_dying(shared: Sweep, G: NDArray[Any]) -> int:
    """Topics to which these rows leave no mass. Mostly one word of each shows that there are none."""
    phi, flush, topics = shared.phi, LIMITS[shared.phi.dtype][1], np.arange(shared.n_topics)
    lasting = phi[shared.loudest, topics] * G[shared.loudest, topics] >= 2 * flush
    doubtful = np.flatnonzero(~lasting)
    if not doubtful.size:
        return 0
    return int(((phi[:, doubtful] * G[:, doubtful].astype(np.float64)).max(axis=0) < flush).sum())


def _negative_entropy(counts: Matrix, sums: Floats) -> Floats:
    """Sum of a log a for each row: the largest log-likelihood it can have."""
    result = np.zeros(counts.shape[0])
    for rows in row_blocks(counts.shape[0], counts.shape[1] * 8.0):
        part = counts[rows]
        part = part.toarray() if is_sparse(part) else np.asarray(part)
        a = part / np.where(sums[rows] > 0, sums[rows], 1.0)[:, None]
        result[rows] = np.sum(a * np.log(np.where(a > 0, a, 1.0)), axis=1)
    return result


@dataclass(frozen=True)
class Fold:
    """What rows are folded into: topics that stay as they are."""

    phi: NDArray[Any]  # (n_words, n_topics)
    max_iter: int
    tol: float


def fold_leaf(rows: Rows, leaf: slice, shared: Fold, _: Any) -> tuple[list[Floats], NDArray[Any]]:
    """Topic shares of some rows under fixed topics, each row by itself; as the partial result, log-likelihoods."""
    from scipy.sparse import csr_matrix

    phi, part = shared.phi, csr_matrix(rows["counts"][leaf])
    tiny, flush = (phi.dtype.type(number) for number in LIMITS[phi.dtype])
    theta, loglik = np.empty((part.shape[0], phi.shape[1]), dtype=phi.dtype), np.empty(part.shape[0])
    known = phi.sum(axis=1) > 0
    settings = (tiny, flush, shared.max_iter, float(shared.tol))
    kernels.csr_fold_in(part.data, part.indices, part.indptr, known, phi, *settings, theta, loglik)
    return [loglik], theta
