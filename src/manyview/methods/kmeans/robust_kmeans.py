"""Robust multi-view k-means (RMKMC)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClusterMixin

from ...arrays import holds_sparse, is_dask, is_sparse
from ...data.checks import as_generator, check_sample_weight, per_view_numbers
from ...data.chunks import cut_like
from ...data.parameters import RUNNING, Choice, Constraints, Given, Number
from ...data.source import RowSource, source_of, view_column
from ...data.views import Views
from ...engines.base import Engine
from ...engines.checkpoint import Checkpoint, fit_in
from ...engines.choice import working
from ...errors import ParameterError
from ...steps import each
from ...types import Floats, Places
from ..base import MultiviewEstimator, check_n_clusters, items_with_views, say, warn_fewer, warn_idle
from ._prepared import PreparesViews
from ._robust_assignment import Frame
from ._robust_rounds import Outcome, Problem, assign_items, objective_and_weights, run_rounds
from ._scaled_views import ViewFrame
from ._seeding import seed_points
from .scaling import Scaling, learn_scaling

__all__ = ["RobustMultiviewKMeans"]

_EPS = {np.dtype(np.float32): 1e-4, np.dtype(np.float64): 1e-8}


class RobustMultiviewKMeans(PreparesViews, ClusterMixin, MultiviewEstimator):
    """Cluster items by all their views at once, with outliers and weak views held back.

    One common assignment, a centroid per cluster and view, distances that are not squared, and view weights
    learned along the way. Choose it for dense numeric views of any number and size, at the cost of k-means;
    data may be memory-mapped and larger than memory.

    Parameters
    ----------
    n_clusters : int, default=8
    gamma : float above 1, default=79.4
        How evenly views share the weight (the paper's gamma). The default is the flat end of the paper's grid,
        where weights hardly depend on the views' units; near 1 one view takes all.
    view_weights : "learned", "equal", numbers or a dict of numbers, default="learned"
        "equal" is the paper's SMKMC. Numbers are what multiplies each view's distances (omega).
    assign : "literal" or "exact", default="literal"
        "literal" is the paper's equation (13); "exact" moves every item to the cluster of the smallest objective.
        Exact reaches lower objectives, which are not always better clusters: each was ahead on some collections.
    view_scale : "auto", "minmax", "mean_distance", ("minmax", "mean_distance") or None, default="auto"
        "auto" prepares views as ``ConsensusClustering`` does: ranks for dense ones, tf-idf and 100 dimensions for
        sparse ones and tables of counts, or what agrees better with the other views. The others are learned in ``fit``
        and applied in ``predict`` without copying a view: each feature to a range of 2 (the paper's [-1, 1]); each
        view to mean distance 1 from its mean; both in that order; or nothing.
    init : "k-means++", "random" or "partition", default="k-means++"
        Items far apart over all views; random items; or random labels, as the paper starts.
    n_init : int, default=10
        Number of starts; the one of the smallest objective is kept.
    max_iter : int, default=300
    tol : float, default=1e-9
        Stop when no label changes and log Phi changes by at most this, relative.
    random_state : None, int or numpy Generator
    n_jobs : None or int
        Threads; None takes all cores. The result does not depend on it.
    verbose : int, default=0
        1 tells of every start, 2 of every round, on stderr.

    Attributes
    ----------
    labels_ : ndarray (n_items,), -1 for items that lack every view; a Dask array where a view was one
    cluster_centers_ : dict of view name to ndarray (n_clusters, n_features), in the units of the input; with "auto" the
        means of the members
    scaling_agreement_, view_scalings_ : as in ``ConsensusClustering``, with "auto"
    view_weights_ : ndarray (n_views,), omega summing to 1: what acts in the assignment
    alpha_ : ndarray (n_views,), the paper's alpha
    residuals_ : ndarray (n_views,), summed distances of items to their centroid, per scaled view
    objective_ : ndarray, log Phi after each round; never rises after the first, except where ``n_reseeded_`` counts
    n_iter_, n_clusters_, n_reseeded_ : int

    Notes
    -----
    A round takes O(n K sum_v d_v) time and one pass over the data. Memory beyond the data is the model,
    n_items x n_views residuals, norms and labels, and about 20 MB per thread. Labels do not depend on threads, blocks
    or workers: products only propose them, close calls are decided from differences in float64, residuals and sums are
    float64 too, and residuals and centroids are rounded once, to the type of the view.

    X. Cai, F. Nie, H. Huang, "Multi-view K-means clustering on big data", IJCAI 2013. Items that lack a view take
    part through the views they have. Weights compare mean residuals of the items that have a view.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import RobustMultiviewKMeans
    >>> looks = np.array([[0.0, 0.1], [0.1, 0.0], [5.0, 5.1], [5.1, 5.0]])
    >>> tags = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> model = RobustMultiviewKMeans(n_clusters=2, random_state=0).fit({"looks": looks, "tags": tags})
    >>> (model.labels_ == model.labels_[0]).tolist()
    [True, True, False, False]
    """

    _takes_chunks = True
    _constraints: ClassVar[Constraints] = {
        "n_clusters": Number(integer=True, low=1),
        "gamma": Number(low=1, low_open=True),
        "view_weights": Given("'learned', 'equal' or a number for each view"),
        "assign": Choice("literal", "exact"),
        "view_scale": Given("'auto', 'minmax', 'mean_distance', both as a pair, or None"),
        "init": Choice("k-means++", "random", "partition"),
        "n_init": Number(integer=True, low=1),
        "max_iter": Number(integer=True, low=1),
        "tol": Number(low=0),
        **RUNNING,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        gamma: float = 79.4,
        view_weights: Any = "learned",
        assign: str = "literal",
        view_scale: Any = "auto",
        init: str = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-9,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.view_weights = view_weights
        self.assign = assign
        self.view_scale = view_scale
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> RobustMultiviewKMeans:
        """Find the clusters of ``X``: a ``Views``, a list or dict of matrices, or one 2-D array."""
        given = views = self._fit_views(X)
        self._fixed_weights()  # refuses what gives no number for a view
        weight = check_sample_weight(sample_weight, views.n_items)
        weight = np.ones(views.n_items) if weight is None else weight.copy()
        has_any = items_with_views(views)
        weight[~has_any] = 0.0
        n_clusters = check_n_clusters(self.n_clusters, int((weight > 0).sum()))
        if self.verbose:
            say("preparing (kernels compile on the first run only)")
        with working(self.n_jobs) as engine:
            views = self._readable(views, engine)
            compared = self._fit_spaces(views, n_clusters, engine.threads, np.where(has_any, weight, 1.0))
            source = source_of(compared, weight)
            with fit_in(engine, self, source) as (here, checkpoint):
                source = here.place(source)
                scalings = learn_scaling(compared, self.view_scale, weight, here, source)
                active = _views_that_vary(compared, scalings)
                problem = self._problem(compared, scalings, active, weight, n_clusters, here, source, checkpoint)
                best = self._best_start(problem, np.array([scalings[v].mean_square for v in active]))
            best.labels[~has_any] = -1
            self._store(best, views, compared, scalings, active, weight)
        self.labels_ = cut_like(given, best.labels)
        warn_fewer(np.unique(best.labels[best.labels >= 0]).size, n_clusters)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Places:
        """Find the clusters and give each item's label."""
        return self.fit(X, y, sample_weight=sample_weight).labels_

    def predict(self, X: Any) -> Places:
        """Label new items, which may lack views, by the smallest weighted sum of distances.

        This is the exact rule whatever ``assign`` is: a new item has no residual yet. It may therefore move a
        few items of ``fit`` itself.
        """
        views = self._new_views(X)
        items_with_views(views)
        with working(self.n_jobs) as engine:
            known = self._in_spaces(self._readable(views, engine), engine.threads)
            return cut_like(views, self._assign(known, False, engine)[0])

    def score(self, X: Any, y: Any = None) -> float:
        """Minus log Phi per item of ``X`` that has a view: higher is better.

        Comparable between models of one ``gamma``.
        """
        views = self._new_views(X)
        with working(self.n_jobs) as engine:
            views = self._in_spaces(self._readable(views, engine), engine.threads)
            labels, lengths = self._assign(views, True, engine)
        active = self._active()
        present = views.mask[:, active] & (labels >= 0)[:, None]
        counts, n_items = present.sum(axis=0), np.count_nonzero(labels >= 0)
        held = counts > 0
        if not held.any():
            raise ParameterError("score needs at least one item that has a view which varied in fit.")
        eps, unit = self._eps()[active], self.view_unit_[active]
        sums = (np.sqrt(lengths.T**2 + eps**2) * present).sum(axis=0) * unit
        log_phi, _, _ = objective_and_weights(
            sums[held] / n_items,
            counts[held] / n_items,
            1.0,
            float(self.gamma),
            None if self._learns_weights() else self._fixed_weights()[active][held],
        )
        return -log_phi

    def _learns_weights(self) -> bool:
        return isinstance(self.view_weights, str) and self.view_weights == "learned"

    def _fixed_weights(self) -> Floats:
        """The numbers behind ``view_weights``; 1 for each view where they are learned or equal."""
        given = self.view_weights
        if isinstance(given, str) and given in ("learned", "equal"):
            return np.ones(len(self.view_names_))
        instead = "'learned', 'equal' or "
        return per_view_numbers("view_weights", given, self.view_names_, some_above_zero=True, instead=instead)

    def _problem(
        self,
        views: Views,
        scalings: list[Scaling],
        active: Places,
        weight: Floats,
        n_clusters: int,
        engine: Engine,
        source: RowSource,
        checkpoint: Checkpoint,
    ) -> Problem:
        self._keep_scaling(views, scalings, active)
        return Problem(
            source=source,
            frame=self._frame(views, active, n_clusters, self.assign),
            gamma=float(self.gamma),
            fixed_weights=None if self._learns_weights() else self._fixed_weights()[active],
            unit=self.view_unit_[active],
            share=(views.mask[:, active].T @ weight) / weight.sum(),
            total_weight=float(weight.sum()),
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            engine=engine,
            checkpoint=checkpoint,
        )

    def _frame(self, views: Views, active: Places, n_clusters: int, rule: str) -> Frame:
        """The views that act, with the scaling of ``fit``."""
        frames = [
            ViewFrame(
                view_column(name),
                v,
                np.dtype(views[name].dtype),
                holds_sparse(views[name]),
                self.view_shift_[name],
                self.view_factor_[name],
            )
            for v, name in enumerate(views.names)
        ]
        return Frame(tuple(frames[v] for v in active), n_clusters, rule, self._eps()[active])

    def _best_start(self, problem: Problem, mean_squares: Floats) -> Outcome:
        """The start of the smallest objective, the first of them on ties; only the best so far is held."""
        streams = enumerate(as_generator(self.random_state).spawn(int(self.n_init)), 1)
        outcomes = (
            self._run_start(problem, mean_squares, start, rng)
            for start, rng in each("starts", streams, int(self.n_init))
        )
        return min(outcomes, key=lambda outcome: outcome.objective[-1])

    def _run_start(self, problem: Problem, mean_squares: Floats, start: int, rng: np.random.Generator) -> Outcome:
        name = f"start {start} of {self.n_init}"

        def report(n_round: int, log_phi: float, n_moved: int) -> None:
            if self.verbose > 1:
                say(f"{name}, round {n_round}: log Phi {log_phi:.9g}, {n_moved} items moved")

        outcome = run_rounds(problem, lambda: self._first_labels(problem, mean_squares, rng), report, f"start {start}")
        if self.verbose:
            say(f"{name}: log Phi {outcome.objective[-1]:.9g}, {len(outcome.objective)} rounds")
        return outcome

    def _first_labels(self, problem: Problem, mean_squares: Floats, rng: np.random.Generator) -> list[Any]:
        spans = problem.plan.spans
        if self.init == "partition":
            labels = rng.integers(problem.n_clusters, size=problem.source.n_rows)
            return [labels[span.start : span.stop] for span in spans]
        mean_squares = np.where(mean_squares > 0, mean_squares, 1.0)
        points = seed_points(problem.source, problem.frame, mean_squares, self.init, rng, problem.engine.threads)
        given = (problem.source, problem.frame, points, 1.0 / np.sqrt(mean_squares), problem.engine)
        return assign_items(*given)

    def _keep_scaling(self, views: Views, scalings: list[Scaling], active: Places) -> None:
        self.view_shift_ = {name: scalings[v].shift for v, name in enumerate(views.names)}
        self.view_factor_ = {name: scalings[v].scale for v, name in enumerate(views.names)}
        self.view_unit_ = np.array([scaling.unit for scaling in scalings])
        self.view_spread_ = np.array([scaling.mean_distance for scaling in scalings])
        self.view_varies_ = np.isin(np.arange(views.n_views), active)
        dtypes = [np.dtype(matrix.dtype) for matrix in views.values()]
        self.view_precision_ = np.array([_EPS[dtype] for dtype in dtypes])

    def _eps(self) -> Floats:
        """Below this length a residual counts as zero; 1 where a view does not vary at all."""
        single = self.view_precision_ == _EPS[np.dtype(np.float32)]
        least = np.where(single, np.finfo(np.float32).smallest_subnormal, 0.0)  # a residual is never rounded to zero
        return np.where(self.view_spread_ > 0, np.maximum(self.view_precision_ * self.view_spread_, least), 1.0)

    def _active(self) -> Places:
        return np.flatnonzero(self.view_varies_)

    def _assign(self, views: Views, distances: bool, engine: Engine) -> tuple[Places, Floats]:
        if not views.n_items:
            return np.zeros(0, dtype=np.intp), np.zeros((self._active().size, 0))
        centers = self.cluster_centers_ if getattr(self, "spaces_", None) is None else self.prepared_centers_
        active = self._active()
        names = [views.names[v] for v in active]
        frame = self._frame(views, active, self.n_clusters_, "exact")
        centroids = [centers[name] - self.view_shift_[name] for name in names]
        weights = self.view_weights_[active] * self.view_unit_[active]
        source = engine.place(source_of(views, np.ones(views.n_items)))
        found = np.concatenate(assign_items(source, frame, centroids, weights / weights.max(), engine, distances))
        labels, lengths = (found[:, 0], found[:, 1:].T) if distances else (found, np.empty((active.size, 0)))
        labels = labels.astype(np.intp)
        labels[~views.mask.any(axis=1)] = -1
        return labels, lengths

    def _store(
        self, best: Outcome, views: Views, compared: Views, scalings: list[Scaling], active: Places, weight: Floats
    ) -> None:
        n_views = views.n_views
        self.labels_ = best.labels
        self.n_clusters_ = int(best.centroids[0].shape[0])
        self.objective_ = np.array(best.objective)
        self.n_iter_ = len(best.objective)
        self.n_reseeded_ = best.n_reseeded
        self.view_weights_, self.alpha_, self.residuals_ = np.zeros((3, n_views))
        omega = np.exp(best.log_weights)
        self.view_weights_[active] = omega / omega.sum()
        self.alpha_[active] = np.exp(best.log_alpha)
        self.residuals_[active] = best.residual_sums
        centers = {}
        for v, (name, matrix) in enumerate(compared.items()):
            if v in active:
                centres = best.centroids[list(active).index(v)] + scalings[v].shift
            else:  # the same for every item that has it, and so for every cluster
                row = matrix[np.flatnonzero(views.mask[:, v])[:1]]
                row = row.compute() if is_dask(row) else row
                row = row.toarray() if is_sparse(row) else row
                centres = np.zeros((self.n_clusters_, matrix.shape[1])) + (row if row.shape[0] else 0.0)
            centers[name] = centres
        if self.spaces_ is None:
            self.cluster_centers_ = centers
        else:
            self.prepared_centers_ = centers
            self.cluster_centers_ = views.means(best.labels, self.n_clusters_, weight)


def _views_that_vary(views: Views, scalings: list[Scaling]) -> Places:
    """The views that can act; each of the others keeps its place with weight 0 and is named in a warning."""
    active = [v for v, scaling in enumerate(scalings) if scaling.varies]
    for v, name in enumerate(views.names):
        if v not in active:
            warn_idle(name, views.mask[:, v])
    return np.array(active or np.flatnonzero(views.mask.any(axis=0)), dtype=np.intp)
