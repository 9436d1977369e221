"""The rounds of robust multi-view k-means, over the rows of a source by an engine.

Symbols of the paper, used here only: F centroids, D = 1 / (2 e) row weights, e residual lengths (smoothed by
eps), H their sum per view, omega the weights that act, gamma the exponent, Phi the objective.

The arithmetic is canonical: products propose labels and differences in float64 decide them; residuals and sums are
float64; residuals and centroids are rounded once, to the type of their view. A residual is a function of a row, its
label and the centroids of its round, so all that an item carries from round to round is its label.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.source import RowSource
from ...engines.base import Engine, Plan, cut, total
from ...engines.checkpoint import Checkpoint
from ...types import Floats, Places
from ._robust_assignment import (
    Frame,
    Partial,
    Round,
    Tools,
    add_partials,
    costly_leaf,
    label_leaf,
    merge_costliest,
    open_views,
    round_leaf,
    smoothed_lengths,
    sum_leaf,
)

__all__ = ["Outcome", "Problem", "assign_items", "make_plan", "objective_and_weights", "run_rounds"]

LEAF_BYTES = 32 * 2**20
MOST_ROWS = 4096
_NS_PER_PRODUCT = 0.03  # of a row with a centroid, in one feature; with a little for each of these, on one core
_NS_PER_NUMBER = 1.5


@dataclass(frozen=True)
class Problem:
    """What stays the same over all rounds and starts. Arrays over views list the views that vary, in order."""

    source: RowSource  # the views by name, "mask" and "weight"
    frame: Frame
    gamma: float
    fixed_weights: Floats | None  # omega when it is not learned
    unit: Floats
    share: Floats  # of the items' weight that has the view
    total_weight: float
    max_iter: int
    tol: float
    engine: Engine
    checkpoint: Checkpoint

    @property
    def n_clusters(self) -> int:
        return self.frame.n_clusters

    @property
    def eps(self) -> Floats:
        return self.frame.eps

    @cached_property
    def plan(self) -> Plan:
        return make_plan(self.source, self.frame)

    @cached_property
    def tools(self) -> Tools:
        return Tools(self.frame)


@dataclass
class Outcome:
    """Where one start ended."""

    labels: Places
    centroids: list[Floats]
    log_weights: Floats
    log_alpha: Floats
    residual_sums: Floats
    objective: list[float]
    n_reseeded: int


def make_plan(source: RowSource, frame: Frame) -> Plan:
    """Leaves large enough that adding up their sums costs little, small against memory."""
    per_row = [source.row_bytes[view.name] for view in frame.views]
    n_bytes = sum(per_row) + 8 * frame.n_clusters * len(per_row)
    seconds = 0.25e-9 * sum(per_row) * (_NS_PER_NUMBER + _NS_PER_PRODUCT * frame.n_clusters)
    return cut(source.n_rows, max(n_bytes, LEAF_BYTES / MOST_ROWS), LEAF_BYTES, seconds)


def objective_and_weights(
    residual_sums: Floats, share: Floats, total_weight: float, gamma: float, fixed_weights: Floats | None
) -> tuple[float, Floats, Floats]:
    """log Phi, log omega (largest 0) and log alpha, from the residual sums of the views.

    Learned weights follow equation (17), in logs so that neither gamma near 1 nor alpha^gamma can overflow. With
    h_v the mean residual of the items that have view v and q_v their share, alpha minimises Phi subject to
    sum_v q_v alpha_v = 1; when no view is missing that is the paper's constraint.
    """
    log_sums = np.log(residual_sums)
    if fixed_weights is not None:
        with np.errstate(divide="ignore"):
            log_omega = np.log(fixed_weights)
        log_phi = float(np.logaddexp.reduce(log_omega + log_sums))
        log_omega = log_omega - log_omega.max()
        return log_phi, log_omega, log_omega - np.logaddexp.reduce(log_omega)
    log_mean = log_sums - np.log(share * total_weight)
    power = log_mean / (1.0 - gamma)
    level = np.logaddexp.reduce(power + np.log(share))
    log_phi = float(np.log(total_weight) + (1.0 - gamma) * level)
    log_omega = -(gamma / (gamma - 1.0)) * log_mean
    return log_phi, log_omega - log_omega.max(), power - np.logaddexp.reduce(power)


@dataclass
class _Run:
    """One start between two rounds: all that the next round needs."""

    states: list[Any]  # labels per span, as the engine keeps them
    sums: Partial
    points: list[Floats]
    log_omega: Floats
    log_alpha: Floats
    residual_sums: Floats
    objective: list[float]
    reseeded: dict[int, int]
    n_reseeded: int = 0
    is_over: bool = False
    name: str = field(default_factory=lambda: uuid.uuid4().hex)

    def arrays(self) -> dict[str, Any]:
        """All but the states, to be kept."""
        per_view = {f"points {v}": points for v, points in enumerate(self.points)}
        per_view |= {f"sums {v}": sums for v, sums in enumerate(self.sums.sums)}
        per_view |= {f"mass {v}": mass for v, mass in enumerate(self.sums.mass)}
        return per_view | {
            "log_omega": self.log_omega,
            "log_alpha": self.log_alpha,
            "residual_sums": self.residual_sums,
            "counts": self.sums.counts,
            "objective": np.array(self.objective),
            "reseeded": np.array(list(self.reseeded.items()), dtype=np.int64).reshape(-1, 2),
            "progress": np.array([self.n_reseeded, self.is_over], dtype=np.int64),
        }

    @classmethod
    def restored(cls, kept: dict[str, Any], states: list[Any], n_views: int) -> _Run:
        points, sums, mass = ([kept[f"{name} {v}"] for v in range(n_views)] for name in ("points", "sums", "mass"))
        n_reseeded, is_over = (int(number) for number in kept["progress"])
        return cls(
            states,
            Partial(sums, mass, np.zeros(n_views), kept["counts"]),
            points,
            kept["log_omega"],
            kept["log_alpha"],
            kept["residual_sums"],
            kept["objective"].tolist(),
            {int(item): int(cluster) for item, cluster in kept["reseeded"]},
            n_reseeded,
            bool(is_over),
        )

    @property
    def n_rounds(self) -> int:
        return len(self.objective)


def run_rounds(
    problem: Problem,
    first_labels: Callable[[], Sequence[Any]],
    report: Callable[[int, float, int], None],
    name: str = "rounds",
) -> Outcome:
    """Alternate assignment, residuals, centroids and weights from given labels (per span) until nothing moves.

    Goes on from the point of this name, if the problem's checkpoint has one.
    """
    point = problem.checkpoint.load(name)
    run = _first_run(problem, first_labels()) if point is None else _Run.restored(*point, len(problem.frame.views))
    while not run.is_over:
        run.is_over = _next_round(problem, run, report)
        if run.is_over or problem.checkpoint.is_due():
            problem.checkpoint.save(name, run.arrays(), run.states)
    everyone = np.concatenate([problem.engine.read(state) for state in run.states]).astype(np.intp)
    return Outcome(everyone, run.points, run.log_omega, run.log_alpha, run.residual_sums, run.objective, run.n_reseeded)


def _first_run(problem: Problem, labels: Sequence[Any]) -> _Run:
    """The sums of the first labels, every D = 1."""
    views, n_views = problem.frame.views, len(problem.frame.views)
    zeros = [np.zeros((problem.n_clusters, view.n_features)) for view in views]
    log_omega = np.zeros(n_views) if problem.fixed_weights is None else _log(problem.fixed_weights)
    # D = 1 in the owner's units, so that the first round is an ordinary k-means step with equal weights.
    shared = Round(problem.frame, zeros, np.ones(n_views), first_lengths=0.5 / problem.unit, tools=problem.tools)
    states = problem.engine.keep([np.asarray(one).astype(problem.frame.label_type) for one in labels])
    sums, _ = _pass(problem, sum_leaf, shared, states)
    run = _Run(states, sums, zeros, log_omega, np.zeros(n_views), np.zeros(n_views), [], {})
    _reseed(problem, run, shared)
    return run


def _next_round(problem: Problem, run: _Run, report: Callable[[int, float, int], None]) -> bool:
    """One round more; is it the last?"""
    views, last = problem.frame.views, run.points
    number = run.n_rounds + 1
    run.points = [view.rounded(_moved(last[v], run.sums.sums[v], run.sums.mass[v])) for v, view in enumerate(views)]
    shared = Round(
        problem.frame,
        run.points,
        _shifted_exp(run.log_omega + np.log(problem.unit)),
        first_lengths=0.5 / problem.unit if number == 1 else None,
        last=None if number == 1 else last,
        name=f"{run.name} {number}",
        last_name=f"{run.name} {number - 1}",
        reseeded=run.reseeded,
        tools=problem.tools,
    )
    before = run.states
    run.sums, run.states = _pass(problem, round_leaf, shared, before)
    problem.checkpoint.release(before)
    run.residual_sums = run.sums.residual_sums * problem.unit
    log_phi, run.log_omega, run.log_alpha = objective_and_weights(
        run.residual_sums, problem.share, problem.total_weight, problem.gamma, problem.fixed_weights
    )
    run.objective.append(log_phi)
    report(number, log_phi, run.sums.n_moved)
    still = number > 1 and abs(run.objective[-2] - log_phi) <= problem.tol * max(1.0, abs(log_phi))
    if (run.sums.n_moved == 0 and still) or number >= problem.max_iter:
        return True
    _reseed(
        problem,
        run,
        replace(
            shared,
            weights=_shifted_exp(run.log_omega + np.log(problem.unit)),
            first_lengths=None,
            last=run.points,
            last_name=shared.name,
        ),
    )
    return False


def _pass(problem: Problem, task: Any, shared: Round, states: Sequence[Any]) -> tuple[Partial, list[Any]]:
    results = problem.engine.map(task, problem.source, problem.plan, shared, states, add_partials)
    return total(results, add_partials)


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _shifted_exp(logs: Floats) -> Floats:
    return np.asarray(np.exp(logs - logs.max()))


def _moved(points: Floats, sums: Floats, mass: Floats) -> Floats:
    """Centroids after a round; one none of whose items has the view stays where it is."""
    return points + sums / np.where(mass > 0, mass, np.inf)[:, None]


def _reseed(problem: Problem, run: _Run, shared: Round) -> None:
    """Give each empty cluster the costliest item of a cluster that can spare it.

    Items at no cost stay where they are: with fewer distinct items than clusters, some clusters remain empty. Labels
    stay as they were assigned; only sums move, and what counts as a move in the next round.
    """
    run.reseeded = {}
    sizes = run.sums.counts.copy()
    empty = np.flatnonzero(sizes == 0)
    if not empty.size:
        return
    # One item at most of every cluster is passed over, when it is its last.
    wanted = replace(shared, n_wanted=int(empty.size) + problem.n_clusters)
    (found, _), _ = total(
        problem.engine.map(costly_leaf, problem.source, problem.plan, wanted, run.states, merge_costliest),
        merge_costliest,
    )
    order = iter(range(found.items.size))
    chosen = []
    for k in empty:
        place = next((p for p in order if sizes[found.labels[p]] > 1), None)
        if place is None:
            break
        sizes[found.labels[place]] -= 1
        chosen.append((int(found.items[place]), int(found.labels[place]), int(k)))
    _move(problem, run, shared, chosen)
    run.reseeded = {item: cluster for item, _, cluster in chosen}
    run.n_reseeded += len(chosen)


def _move(problem: Problem, run: _Run, shared: Round, chosen: list[tuple[int, int, int]]) -> None:
    """Take items' shares out of the sums of their clusters and make each the whole of another."""
    if not chosen:
        return
    items, old, new = (np.array(column, dtype=np.intp) for column in zip(*chosen, strict=True))
    rows = problem.source.take(items)
    for v, view in enumerate(open_views(rows, problem.frame)):
        for p in range(items.size):
            row, label = slice(p, p + 1), old[p : p + 1]
            D = rows["weight"][row].astype(np.float64)
            if shared.first_lengths is None:
                e = smoothed_lengths(view, row, label, D, shared.field.centroids[v], float(problem.eps[v]))
                D = 0.5 * D / e
            to = (shared.field.centroids[v], run.sums.sums[v], run.sums.mass[v])
            view.add_differences(row, label, -D, *to)
            view.add_differences(row, new[p : p + 1], D, *to)


def assign_items(
    source: RowSource,
    frame: Frame,
    points: Sequence[Floats],
    weights: Floats,
    engine: Engine,
    distances: bool = False,
) -> list[NDArray[Any]]:
    """Label items by the smallest ``sum_v weights_v |x^v - f_k^v|``, per span; with distances per view if asked."""
    frame = replace(frame, rule="exact")
    shared = Round(frame, points, weights, with_distances=distances)
    states = [state for _, state in engine.map(label_leaf, source, make_plan(source, frame), shared, None)]
    found = [engine.read(state) for state in states]
    engine.let_go(states)
    return found
