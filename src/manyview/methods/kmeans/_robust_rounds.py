"""The rounds of robust multi-view k-means, in block form.

Symbols of the paper, used here only: F centroids, D = 1 / (2 e) row weights, e residual lengths (smoothed by
eps), H their sum per view, omega the weights that act, gamma the exponent, Phi the objective.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers
from ...types import Floats, Places
from . import _robust_kmeans_kernels as kernels
from ._robust_assignment import Field, Spare, assign_block, blocks, make_field
from ._scaled_views import Centroids, ScaledView

__all__ = ["Outcome", "Problem", "objective_and_weights", "run_rounds"]

Sums = tuple[list[NDArray[np.floating]], list[Floats]]  # per view (K, d_v) of D (x - f), and masses (K,) of D


@dataclass(frozen=True)
class Problem:
    """What stays the same over all rounds and starts. Arrays over views list the views that vary, in order."""

    views: Sequence[ScaledView]
    item_weight: Floats
    n_clusters: int
    gamma: float
    fixed_weights: Floats | None  # omega when it is not learned
    rule: str
    eps: Floats
    unit: Floats
    share: Floats  # of the items' weight that has the view
    max_iter: int
    tol: float
    workers: Workers

    @property
    def blocks(self) -> list[slice]:
        return blocks(self.views, self.n_clusters)

    @cached_property
    def rooms(self) -> Spare[Sums]:
        K = self.n_clusters
        return Spare(lambda: ([view.sums(K) for view in self.views], [np.zeros(K) for _ in self.views]))


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


@dataclass
class _Partial:
    """What one block contributes to a round."""

    labels: Places
    residuals: NDArray[np.floating]  # (n_views, n), smoothed, infinite where an item lacks the view
    sums: list[NDArray[np.floating]]  # per view (K, d_v), of D (x - f)
    mass: list[Floats]  # per view (K,), of D
    residual_sums: Floats  # per view, of e


def _round_block(
    problem: Problem, field: Field, weights: Floats, residuals: NDArray[np.floating], rows: slice
) -> _Partial:
    """Assign the items of a block, measure their residuals, and sum them up for the next centroids."""
    views = problem.views
    if problem.rule == "literal":
        weight = 0.5 * weights[:, None] / residuals[:, rows]  # 0 where an item lacks the view
    else:
        weight = np.array([w * view.present[rows] for w, view in zip(weights, views, strict=True)])
    labels, squares = assign_block(views, rows, field, weight, problem.rule)
    fresh = np.empty((len(views), labels.size), dtype=residuals.dtype)
    sums, mass = _empty(problem.rooms.take())
    residual_sums = np.zeros(len(views))
    counts = problem.item_weight[rows]
    for v, view in reversed(list(enumerate(views))):  # the last is still in the cache
        given = (rows, labels, counts, field.centroids[v], squares[v], problem.eps[v])
        residual_sums[v] = view.residuals_and_sums(*given, fresh[v], sums[v], mass[v])
    return _Partial(labels, fresh, sums, mass, residual_sums)


def _empty(room: Sums) -> Sums:
    for one in (*room[0], *room[1]):
        one.fill(0)
    return room


def _sum_block(problem: Problem, field: Field, labels: Places, rows: slice) -> _Partial:
    """Sums of the items of a block under given labels, every D = 1."""
    views = problem.views
    sums, mass = _empty(problem.rooms.take())
    for v, view in enumerate(views):
        view.add_differences(rows, labels[rows], problem.item_weight[rows], field.centroids[v], sums[v], mass[v])
    return _Partial(labels[rows], np.empty((len(views), 0)), sums, mass, np.zeros(len(views)))


def _gather(problem: Problem, function: Callable[[slice], _Partial]) -> _Partial:
    """Run a block function over all blocks; sums are added in block order."""
    parts = problem.workers.map(function, problem.blocks)
    total = next(parts)
    total.sums = [part.astype(np.float64) for part in total.sums]
    labels, residuals = [total.labels], [total.residuals]
    for part in parts:
        labels.append(part.labels)
        residuals.append(part.residuals)
        total.residual_sums += part.residual_sums
        for v in range(len(problem.views)):
            kernels.add_to(total.sums[v], part.sums[v])
            total.mass[v] += part.mass[v]
        problem.rooms.give((part.sums, part.mass))
    total.labels, total.residuals = np.concatenate(labels), np.concatenate(residuals, axis=1)
    return total


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


def run_rounds(problem: Problem, labels: Places, report: Callable[[int, float, int], None]) -> Outcome:
    """Alternate assignment, residuals, centroids and weights from given labels until nothing moves."""
    views, n_views = problem.views, len(problem.views)
    dtype = np.result_type(*(view.matrix.dtype for view in views))
    # D = 1 in the owner's units, so that the first round is an ordinary k-means step with equal weights.
    residuals = np.array([np.where(view.present, 0.5 / u, np.inf) for view, u in zip(views, problem.unit, strict=True)])
    residuals = residuals.astype(dtype)
    log_omega = np.zeros(n_views) if problem.fixed_weights is None else _log(problem.fixed_weights)
    field = make_field(views, [np.zeros((problem.n_clusters, view.n_features)) for view in views])
    total = _gather(problem, partial(_sum_block, problem, field, labels))
    total.labels = labels.copy()
    n_reseeded = _reseed(problem, total, lambda: np.ones(labels.size), residuals, field.centroids)
    labels, objective = total.labels, []
    log_alpha = residual_sums = np.zeros(n_views)
    for n_round in range(1, problem.max_iter + 1):
        field = make_field(
            views, [_moved(views[v], field.centroids[v], total.sums[v], total.mass[v]) for v in range(n_views)]
        )
        weights = _shifted_exp(log_omega + np.log(problem.unit))
        total = _gather(problem, partial(_round_block, problem, field, weights, residuals))
        residual_sums = total.residual_sums * problem.unit
        log_phi, log_omega, log_alpha = objective_and_weights(
            residual_sums,
            problem.share,
            float(problem.item_weight.sum()),
            problem.gamma,
            problem.fixed_weights,
        )
        objective.append(log_phi)
        n_moved = int((total.labels != labels).sum())
        residuals = total.residuals
        report(n_round, log_phi, n_moved)
        still = n_round > 1 and abs(objective[-2] - log_phi) <= problem.tol * max(1.0, abs(log_phi))
        if n_moved == 0 and still:
            break
        if n_round < problem.max_iter:
            weights = _shifted_exp(log_omega + np.log(problem.unit))
            cost = partial(_costs, problem, residuals, weights)
            n_reseeded += _reseed(problem, total, cost, residuals, field.centroids)
        labels = total.labels
    points = [view.given(field.centroids[v]) for v, view in enumerate(views)]
    return Outcome(total.labels, points, log_omega, log_alpha, residual_sums, objective, n_reseeded)


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def _shifted_exp(logs: Floats) -> Floats:
    return np.asarray(np.exp(logs - logs.max()))


def _moved(view: ScaledView, centroids: Centroids, sums: NDArray[Any], mass: Floats) -> Floats:
    """Centroids after a round, in the memory of ``sums``; one none of whose items has the view stays where it is."""
    sums /= np.where(mass > 0, mass, np.inf)[:, None]
    sums += view.given(centroids)
    return sums


def _costs(problem: Problem, residuals: NDArray[np.floating], weights: Floats) -> Floats:
    """What each item costs where it is, less what smoothing adds."""
    cost = np.zeros(problem.item_weight.size)
    for v, view in enumerate(problem.views):
        cost += np.where(view.present, weights[v] * np.maximum(residuals[v] - 2 * problem.eps[v], 0), 0)
    return cost


def _reseed(
    problem: Problem,
    total: _Partial,
    costs: Callable[[], Floats],
    residuals: NDArray[np.floating],
    centroids: Sequence[Centroids],
) -> int:
    """Give each empty cluster the costliest item of a cluster that can spare it; returns how many were given.

    Items at no cost stay where they are: with fewer distinct items than clusters, some clusters remain empty.
    """
    counted = (total.labels >= 0) & (problem.item_weight > 0)
    sizes = np.bincount(total.labels[counted], minlength=problem.n_clusters)
    empty = np.flatnonzero(sizes == 0)
    if not empty.size:
        return 0
    cost = costs()
    candidates = np.flatnonzero(counted & (cost > 0))
    order = iter(candidates[np.argsort(-cost[candidates], kind="stable")])
    given = 0
    for k in empty:
        item = next((i for i in order if sizes[total.labels[i]] > 1), None)
        if item is None:
            break
        _move(problem, total, int(item), int(k), residuals[:, item], centroids)
        sizes[total.labels[item]] -= 1
        total.labels[item] = k
        given += 1
    return given


def _move(
    problem: Problem,
    total: _Partial,
    item: int,
    to: int,
    residual: NDArray[np.floating],
    centroids: Sequence[Centroids],
) -> None:
    """Take an item's share out of the sums of its cluster and make it the whole of another."""
    first_round = total.residuals.size == 0
    row = slice(item, item + 1)
    for v, view in enumerate(problem.views):
        D = np.array([problem.item_weight[item] * (1.0 if first_round else 0.5 / float(residual[v]))])
        view.add_differences(row, total.labels[[item]], -D, centroids[v], total.sums[v], total.mass[v])
        view.add_differences(row, np.array([to], dtype=np.intp), D, centroids[v], total.sums[v], total.mass[v])
