"""The EM core that PLSA and AnnotatedPLSA share, over the rows of sources by an engine.

There are one or more tables of counts over the same words; each has its own rows of topic shares (theta, psi) and
all share the topics phi. What is done with rows is in ``_tasks``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import blocks
from ...arrays import Matrix
from ...data.source import RowSource
from ...engines.base import Engine, Plan, add_up, cut, total
from ...engines.checkpoint import Checkpoint
from ...steps import each
from ..base import say
from . import _kernels as kernels
from ._tasks import (
    LIMITS,
    Counts,
    Fold,
    Part,
    Sweep,
    Worst,
    add_parts,
    even_leaf,
    fold_leaf,
    padded,
    sweep_leaf,
)

__all__ = ["Outcome", "best_start", "dense_above", "fold_in", "random_topics", "run_em"]

# The factor of the tolerance below which an expected change may be the last one: how far changes are foreseen.
_NEAR_END = 1.2
_FOLD_SECONDS = 1e-6  # a row of twenty words takes about so long to be folded in, for each topic, on one core


def dense_above(n_topics: int) -> float:
    """The density from which whole rows are faster than non-zeros.

    Measured in ns on one core: about 4 + K for a non-zero, 6 + K / 6 for a cell of a matrix product, K topics.
    That is 0.61 for 8 topics, 0.25 for 64, and never for two.
    """
    return (6 + n_topics / 6) / (4 + n_topics)


@dataclass
class Outcome:
    """Where one start ended."""

    topics: NDArray[Any]  # phi, (n_words, n_topics)
    shares: list[NDArray[Any]]  # theta of each table, (n_rows, n_topics)
    log_likelihood: list[float]  # after each iteration
    n_reseeded: int


@dataclass(frozen=True)
class Problem:
    """What stays the same over all starts."""

    tables: Sequence[Counts]
    engine: Engine
    checkpoint: Checkpoint
    max_iter: int = 200
    tol: float = 1e-6
    dtype: Any = np.float64

    @cached_property
    def acting(self) -> int:
        """The first table whose rows count."""
        return next(number for number, table in enumerate(self.tables) if table.weight.any())

    @cached_property
    def _plans(self) -> dict[int, list[Plan]]:
        return {}

    def plans(self, n_topics: int) -> list[Plan]:
        """How the rows of each table are cut."""
        if n_topics not in self._plans:
            self._plans[n_topics] = [table.plan(n_topics) for table in self.tables]
        return self._plans[n_topics]


def random_topics(n_words: int, n_topics: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Topics drawn evenly from all distributions over words (n_words, n_topics).

    Every row starts with equal shares of them, which break no symmetry, the topics do. They make the answer
    independent of the order of rows and give rows that are alike the same shares for ever.
    """
    topics = rng.standard_exponential((n_topics, n_words))
    topics /= topics.sum(axis=1, keepdims=True)
    return topics.T


@dataclass
class _Run:
    """One start between two iterations: all that the next one needs."""

    phi: NDArray[Any]
    states: list[list[Any]]  # shares per table and span, as the engine keeps them
    max_iter: int
    tol: float
    values: list[float] = field(default_factory=list)  # log-likelihoods: at the start, then after each iteration
    reseeded: dict[int, int] = field(default_factory=dict)
    n_reseeded: int = 0
    is_over: bool = False
    is_again: bool = False  # the same way for the second time

    def arrays(self) -> dict[str, Any]:
        """All but the states, to be kept."""
        return {
            "phi": self.phi,
            "values": np.array(self.values),
            "reseeded": np.array(list(self.reseeded.items()), dtype=np.int64).reshape(-1, 2),
            "tol": np.array(self.tol),
            "progress": np.array([self.max_iter, self.n_reseeded, self.is_over, self.is_again], dtype=np.int64),
            "states": np.array([len(states) for states in self.states]),
        }

    @classmethod
    def restored(cls, kept: dict[str, Any], states: list[Any]) -> _Run:
        ends = np.cumsum([0, *kept["states"]])
        max_iter, n_reseeded, is_over, is_again = (int(number) for number in kept["progress"])
        return cls(
            kept["phi"],
            [states[low:high] for low, high in pairwise(ends)],
            max_iter,
            float(kept["tol"]),
            kept["values"].tolist(),
            {int(row): int(topic) for row, topic in kept["reseeded"]},
            n_reseeded,
            bool(is_over),
            bool(is_again),
        )


def run_em(
    problem: Problem,
    topics: NDArray[Any],
    shares: Sequence[NDArray[Any]] | None = None,
    report: Callable[[int, float], None] | None = None,
    name: str = "rounds",
) -> Outcome:
    """Iterate from a start until the log-likelihood changes by less than ``tol`` of itself, or ``max_iter`` times.

    Rows start with equal shares where none are given. O(nnz n_topics) per iteration; memory is the shares once and a
    few copies of the topics per thread: a row's new shares depend on its own old ones alone and take their place. The
    answer is what the last sweep read, so a sweep that looks like the last one writes nothing; where the end comes
    unforeseen, the same way is gone once more. Goes on from the point of this name, if the checkpoint has one.
    """
    n_topics, checkpoint = topics.shape[1], problem.checkpoint

    def first(max_iter: int, tol: float) -> _Run:
        phi = padded(topics, max(n_topics, kernels.LANES), problem.dtype)
        return _Run(phi, _first_states(problem, phi, n_topics, shares), max_iter, tol)

    point = checkpoint.load(name)
    run = first(problem.max_iter, problem.tol) if point is None else _Run.restored(*point)
    while not run.is_over:
        n_iter = _next_iteration(problem, run, n_topics, report)
        if n_iter is not None:  # the end was not foreseen, and what it read is gone
            _let_go(problem, run)
            run = first(n_iter, 0.0)
            run.is_again = True
        elif run.is_over or checkpoint.is_due():
            checkpoint.save(name, run.arrays(), [state for states in run.states for state in states])
    found = [_together(problem, *one, n_topics) for one in zip(problem.tables, run.states, strict=True)]
    return Outcome(np.ascontiguousarray(run.phi[:, :n_topics]), found, run.values[1:], run.n_reseeded)


def _first_states(problem: Problem, phi: Any, n_topics: int, shares: Sequence[NDArray[Any]] | None) -> list[list[Any]]:
    engine, states = problem.engine, []
    for number, (table, plan) in enumerate(zip(problem.tables, problem.plans(n_topics), strict=True)):
        if shares is None:
            results = engine.map(even_leaf, table.source, plan, Sweep(phi, n_topics), None, add_up)
            states.append([state for _, state in results])
        else:
            wide = padded(shares[number], phi.shape[1], phi.dtype)
            states.append(engine.keep([wide[span.start : span.stop] for span in plan.spans]))
    return states


def _next_iteration(
    problem: Problem, run: _Run, n_topics: int, report: Callable[[int, float], None] | None
) -> int | None:
    """One iteration more. Where it was the last and nobody foresaw that: its number."""
    n_iter = len(run.values)
    may_end = n_iter == run.max_iter or _end_is_near(run.values, run.tol)
    swept = _sweep(problem, run, n_topics, advance=not may_end)
    run.values.append(swept.value)
    if n_iter > 0:
        if report is not None and not run.is_again:
            report(n_iter, run.values[-1])
        if n_iter == run.max_iter or abs(run.values[-1] - run.values[-2]) < run.tol * abs(run.values[-1]):
            run.is_over = may_end
            return None if may_end else n_iter
    if may_end:
        _sweep(problem, run, n_topics)
    run.phi, dead = _new_topics(run.phi, swept.G, n_topics)
    run.reseeded = {}
    if dead.size:
        _reseed(problem, run, dead, swept.worst)
    return None


def best_start(problem: Problem, n_topics: int, sources: Sequence[np.random.Generator], verbose: int = 0) -> Outcome:
    """One run from each random source; the one that ends with the largest log-likelihood."""
    outcomes: list[Outcome] = []
    for start, rng in each("starts", enumerate(sources, 1), len(sources)):

        def report(n_iter: int, value: float, start: int = start) -> None:
            if verbose > 1:
                say(f"start {start} of {len(sources)}, iteration {n_iter}: log-likelihood {value:.9g}")

        topics = random_topics(problem.tables[0].matrix.shape[1], n_topics, rng)
        outcome = run_em(problem, topics, None, report, f"start {start}")
        if verbose:
            n_iter, value = len(outcome.log_likelihood), outcome.log_likelihood[-1]
            say(f"start {start} of {len(sources)}: log-likelihood {value:.9g}, {n_iter} iterations")
        outcomes = [max([*outcomes, outcome], key=lambda one: one.log_likelihood[-1])]
    return outcomes[0]


def _end_is_near(values: Sequence[float], tol: float) -> bool:
    """Whether the next change may be the one that ends it: changes shrink by about the same factor each time."""
    if len(values) < 3:
        return False
    before, last = abs(values[-2] - values[-3]), abs(values[-1] - values[-2])
    return last * last < _NEAR_END * tol * abs(values[-1]) * before


def _sweep(problem: Problem, run: _Run, n_topics: int, *, advance: bool = True) -> Part:
    """Read every table once. The new shares become the run's states, unless they are to stay where they are."""
    parts = []
    for number, (table, plan) in enumerate(zip(problem.tables, problem.plans(n_topics), strict=True)):
        told = Sweep(run.phi, n_topics, advance, run.reseeded if number == problem.acting else {})
        before = run.states[number]
        part, states = total(problem.engine.map(sweep_leaf, table.source, plan, told, before, add_parts), add_parts)
        parts.append(part)
        if states[0] is not None:
            run.states[number] = states
            problem.checkpoint.release(before)
    G = parts[0].G.astype(np.float64, copy=False)
    for part in parts[1:]:
        G += part.G
    return Part(G, sum(part.value for part in parts), parts[problem.acting].worst)


def _new_topics(phi: NDArray[Any], G: NDArray[np.float64], n_topics: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """phi * G with columns that sum to one; a topic that lost all its mass keeps its words, and is named."""
    new = phi * G
    new[new < LIMITS[phi.dtype][1]] = 0.0
    mass = new.sum(axis=0)
    alive = mass > 0
    new /= np.where(alive, mass, 1.0)
    dead = np.flatnonzero(~alive[:n_topics])
    new[:, dead] = phi[:, dead]
    return new.astype(phi.dtype), dead


def _reseed(problem: Problem, run: _Run, dead: NDArray[np.intp], worst: Worst) -> None:
    """Make each dead topic the words of a row that the others explain worst.

    No row used a dead topic, so this can only raise the likelihood: that row's own becomes the largest possible.
    Where every row is explained fully, dead topics stay as they are.
    """
    table = problem.tables[problem.acting]
    for topic, row, gap in zip(dead, worst.rows, worst.gaps, strict=False):
        if gap <= 1e-6:
            break
        words = table.words_of(int(row))
        run.phi[:, topic] = words / table.sums[row]
        run.reseeded[int(row)] = int(topic)
    run.n_reseeded += len(run.reseeded)


def _let_go(problem: Problem, run: _Run) -> None:
    for states in run.states:
        problem.checkpoint.release(states)
    run.states = []


def _together(problem: Problem, table: Counts, states: list[Any], n_topics: int) -> NDArray[Any]:
    """The shares of all rows. Every state is given up as soon as it has been read."""
    if len(states) == 1:
        whole: NDArray[Any] = np.ascontiguousarray(problem.engine.read(states[0])[:, :n_topics])
        problem.checkpoint.release(states)
        return whole
    whole = np.empty((table.n_rows, n_topics), dtype=problem.dtype)
    start = 0
    while states:
        part = problem.engine.read(states[0])[:, :n_topics]
        whole[start : start + len(part)] = part
        start += len(part)
        problem.checkpoint.release([states.pop(0)])
    return whole


def fold_in(
    matrix: Matrix, topics: NDArray[Any], engine: Engine, *, max_iter: int = 100, tol: float = 1e-7
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Topic shares of each row under fixed topics (n_words, n_topics), and its log-likelihood per count.

    The likelihood is concave in the shares, so that the start does not matter. Rows without a known word get equal
    shares and NaN. Each row stops for itself: who else is folded in makes no difference.
    """
    n_rows, n_words = matrix.shape
    told = Fold(np.ascontiguousarray(topics), max_iter, tol)
    source = engine.place(RowSource({"counts": matrix}))
    plan = cut(n_rows, 12.0 * n_words, blocks.BLOCK_BYTES, _FOLD_SECONDS * topics.shape[1])
    theta, logliks = np.empty((n_rows, topics.shape[1]), dtype=topics.dtype), []
    for span, (loglik, state) in zip(plan.spans, engine.map(fold_leaf, source, plan, told, None, add), strict=True):
        theta[span.start : span.stop] = engine.read(state)
        engine.let_go([state])
        logliks += loglik
    return theta, np.concatenate(logliks) if logliks else np.empty(0)
