"""k-means started from the merged centres of several runs, and the tree of its clusters."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...data.checks import as_generator, check_number
from ...data.parameters import Choice, Constraints, Number
from ...data.views import Views
from ...engines.local import LocalEngine
from ...steps import each
from ...types import Floats, Places
from ..base import say
from ._accelerated_rounds import Outcome, PlainTable, Problem, run_rounds
from ._accelerated_tree import cut_tree, merge_points, ward_tree
from .accelerated_kmeans import ExactKMeans, random_points

__all__ = ["HierarchicalKMeans"]

_MOST_POINTS = 5000  # to merge pairwise: 200 MB of costs; more are merged by k-means on themselves


class HierarchicalKMeans(ExactKMeans):
    """Exact k-means from the merged centres of several short runs, with a tree of its clusters to browse (AHKMC).

    Each of ``n_starts`` runs leaves its centres and how much they hold. All of them are merged down to ``n_clusters``
    by the smallest rise of the inertia (Ward, weighted by mass), and a last run starts there. The result is never worse
    than the best of the starts. Choose it where one start of k-means is a gamble: outliers, many clusters.

    Parameters
    ----------
    n_clusters : int, default=8
    n_starts : int, default=10
        Short runs whose centres are merged (the paper's P).
    start_iter : int, default=20
        Rounds of each short run.
    init : "random" or "k-means++", default="random"
        Where short runs start. The paper takes random items.
    max_iter : int, default=300
        Rounds of the last run.
    tol : float, default=1e-4
        As in ``AcceleratedKMeans``.
    empty_clusters : "farthest" or "keep", default="farthest"
        As in ``AcceleratedKMeans``. Of merged centres more lose all their items than of items taken as centres.
    random_state : None, int or numpy Generator
    n_jobs : None or int
        Threads; None takes all cores. The result does not depend on it.
    verbose : int, default=0
        1 tells of every run, 2 of every round, on stderr.

    Attributes
    ----------
    labels_, cluster_centers_, inertia_, objective_, n_iter_, n_clusters_, view_fill_ : as in ``AcceleratedKMeans``
    n_distances_ : int, of all runs together
    start_inertia_ : ndarray (n_starts,), what each short run reached
    cluster_tree_ : dict, the clusters merged step by step. ``"children"`` (n_clusters - 1, 2): the two nodes that each
        merge joins; nodes below ``n_clusters`` are the clusters, node ``n_clusters + t`` is made by merge t, the last
        is the root. ``"heights"`` (n_clusters - 1,): by how much each merge raises the inertia, never falling.
        ``"sizes"`` (2 n_clusters - 1,): the weight of the items under each node.

    Notes
    -----
    Costs ``n_starts`` runs of ``start_iter`` rounds and one to the end, and O(m^2) time and 8 m^2 bytes to merge
    m = n_starts x n_clusters centres; above 5,000 they are merged by weighted k-means on themselves.

    C. Jin, W. Mao, R. Zhang, Y. Zhang, X. Xue, "Cross-modal image clustering via canonical correlation analysis", AAAI
    2015. How to merge is not said there; merging the nearest centres fails with outliers, weighing by mass does not.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import HierarchicalKMeans
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0], [30.0], [31.0]])
    >>> model = HierarchicalKMeans(n_clusters=3, random_state=0).fit(X)
    >>> model.inertia_, model.cluster_tree_["heights"].tolist()
    (1.5, [100.0, 833.3333333333334])
    >>> model.cut(2).tolist() == model.cut(2, model.predict(X)).tolist()
    True
    """

    _constraints: ClassVar[Constraints] = {
        **ExactKMeans._constraints,
        "n_starts": Number(integer=True, low=1),
        "start_iter": Number(integer=True, low=1),
        "init": Choice("random", "k-means++"),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_starts: int = 10,
        start_iter: int = 20,
        init: str = "random",
        max_iter: int = 300,
        tol: float = 1e-4,
        empty_clusters: str = "farthest",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_starts = n_starts
        self.start_iter = start_iter
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.empty_clusters = empty_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def cut(self, n_clusters: int, labels: Any = None) -> Places:
        """Labels after the first merges of the tree, when ``n_clusters`` are left: 1 to as many as were fitted.

        ``labels`` are those of ``fit`` or what ``predict`` gave for other items; -1 stays -1.
        """
        check_is_fitted(self)
        number = check_number("n_clusters", n_clusters, integer=True, low=1, high=self.n_clusters_)
        given = np.asarray(self.labels_ if labels is None else labels, dtype=np.intp)
        branch = cut_tree(self.cluster_tree_["children"], number)
        return np.where(given >= 0, branch[given], -1)

    def _search(self, problem: Problem, mean_square: float, n_clusters: int) -> Outcome:
        short = replace(problem, max_iter=int(self.start_iter))
        streams = as_generator(self.random_state).spawn(int(self.n_starts))
        starts = [
            self._run(
                short,
                partial(random_points, problem, mean_square, n_clusters, self.init, rng),
                f"start {number} of {self.n_starts}",
            )
            for number, rng in each("starts", enumerate(streams, 1), len(streams))
        ]
        self.start_inertia_ = np.array([start.inertia for start in starts]) * self.view_unit_**2
        best = min(starts, key=lambda start: start.inertia)
        merged = self._run(problem, partial(_merged_points, problem, starts, best), "merged centres")
        n_distances = sum(start.n_distances for start in starts) + merged.n_distances
        if best.inertia < merged.inertia:
            if self.verbose:
                say("the best start is better than the merged centres; it goes on to the end")
            merged = self._run(problem, lambda: best.points, "best start")
            n_distances += merged.n_distances
        return replace(merged, n_distances=n_distances)

    def _store(self, best: Outcome, has_any: Any, views: Views) -> None:
        super()._store(best, has_any, views)
        children, heights = ward_tree(best.points / self.view_unit_, best.mass)
        sizes = np.concatenate([best.mass, np.zeros(children.shape[0])])
        for step, pair in enumerate(children):
            sizes[self.n_clusters_ + step] = sizes[pair].sum()
        self.cluster_tree_ = {"children": children, "heights": heights * self.view_unit_**2, "sizes": sizes}


def _merged_points(problem: Problem, starts: list[Outcome], best: Outcome) -> Floats:
    """The centres of all starts, merged down to as many as one start has."""
    n_clusters = best.points.shape[0]
    points = np.concatenate([start.points for start in starts])
    mass = np.concatenate([start.mass for start in starts])
    points, mass = points[mass > 0], mass[mass > 0]
    if mass.size <= n_clusters:
        return best.points
    scale = problem.table.scale.astype(np.float64)
    if mass.size <= _MOST_POINTS:
        return merge_points(points * scale, mass, n_clusters) / scale
    here = LocalEngine(problem.engine.threads)
    few = PlainTable.of(points, scale, mass).problem(here, problem.max_iter, problem.tol, problem.relocate)
    return run_rounds(few, lambda: best.points).points
