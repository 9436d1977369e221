"""k-means that computes only the distances it needs, with Lloyd's labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import ClusterMixin

from ...arrays import holds_sparse
from ...data.checks import as_generator, check_sample_weight
from ...data.chunks import cut_like
from ...data.parameters import RUNNING, Array, Choice, Constraints, Either, Number
from ...data.source import Rows, RowSource, source_of, view_column
from ...data.views import Views
from ...engines.base import Engine
from ...engines.checkpoint import Checkpoint, fit_in
from ...engines.choice import working
from ...errors import ParameterError, ViewError
from ...types import Floats, Places
from ..base import MultiviewEstimator, check_n_clusters, items_with_views, say, warn_fewer
from ._accelerated_leaf import TableFrame, open_table
from ._accelerated_rounds import Outcome, Problem, assign_rows, run_rounds
from ._accelerated_tables import SparseTable
from ._seeding import candidates, choose_seeds
from .scaling import learn_scaling

__all__ = ["AcceleratedKMeans"]

_MOST_COPIED = 2**29  # bytes of views that are held side by side; more are put side by side again in every pass
_LARGEST_UNIT = 1e150  # squared and added up a hundred million times it is still a number


class ExactKMeans(ClusterMixin, MultiviewEstimator):
    """What the exact k-means estimators share: views become one table, and every start runs on it."""

    _takes_chunks = True
    _constraints: ClassVar[Constraints] = {
        "n_clusters": Number(integer=True, low=1),
        "empty_clusters": Choice("keep", "farthest"),
        "max_iter": Number(integer=True, low=1),
        "tol": Number(low=0),
        **RUNNING,
    }
    n_clusters: Any
    empty_clusters: str
    max_iter: int
    tol: float
    random_state: Any
    n_jobs: int | None
    verbose: int

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the clusters of ``X``: a ``Views``, a list or dict of matrices, or one 2-D array."""
        views = self._fit_views(X)
        has_any = items_with_views(views)
        weight = check_sample_weight(sample_weight, views.n_items)
        weight = (np.ones(views.n_items) if weight is None else weight)[has_any]
        n_clusters = check_n_clusters(self.n_clusters, int((weight > 0).sum()))
        if self.verbose:
            say("preparing (kernels compile on the first run only)")
        with working(self.n_jobs) as engine:
            here = views[has_any] if not has_any.all() else views
            source = source_of(here, weight)
            with fit_in(engine, self, source) as (there, checkpoint):
                problem, mean_square = self._problem(here, weight, there, there.place(source), checkpoint)
                best = self._search(problem, mean_square, n_clusters)
        self._store(best, has_any, views)
        why = "the others hold no item. Items may be too much alike, or the start was far from them."
        warn_fewer(int((best.mass > 0).sum()), n_clusters, why)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Places:
        """Find the clusters and give each item's label."""
        labels: Places = self.fit(X, y, sample_weight=sample_weight).labels_
        return labels

    def predict(self, X: Any) -> Places:
        """The nearest centre of each item, the lowest number on ties; -1 for items that lack every view."""
        views = self._new_views(X)
        return cut_like(views, self._assign(views)[0])

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the mean squared distance of the items of ``X`` to their nearest centres: higher is better."""
        _, squares = self._assign(self._new_views(X))
        if not squares.size:
            raise ParameterError("score needs at least one item that has a view.")
        return -float(squares.mean()) * self.view_unit_**2

    def _search(self, problem: Problem, mean_square: float, n_clusters: int) -> Outcome:
        raise NotImplementedError

    def _problem(
        self, views: Views, weight: Floats, engine: Engine, source: RowSource, checkpoint: Checkpoint
    ) -> tuple[Problem, float]:
        """The table with its units, and the mean squared distance of items to their mean."""
        scalings = learn_scaling(views, None, weight, engine, source)
        unit, name = max(
            ((s.unit, name) for s, name in zip(scalings, views.names, strict=True) if s.varies), default=(1.0, "")
        )
        if unit > _LARGEST_UNIT:
            raise ViewError(
                f"view {name!r} has columns that span up to {unit:g}; the squares of its distances are more than "
                "float64 can hold. Divide the view by a large number first."
            )
        mean_square = sum(s.mean_square * (s.unit / unit) ** 2 for s in scalings if s.varies)
        far = any(s.shift.any() for s in scalings)
        self.view_fill_ = {
            name: np.zeros_like(s.mean) if holds_sparse(views[name]) else s.mean
            for name, s in zip(views.names, scalings, strict=True)
        }
        self.view_unit_ = unit
        # Far from the origin products lose the digits that matter: such tables are centred, once, in float64.
        self.offset_ = np.concatenate(list(self.view_fill_.values())) if far else np.zeros(self.n_features_in_)
        tol = float(self.tol) * mean_square / self.n_features_in_
        return self._table_problem(views, source, engine, checkpoint, tol), mean_square

    def _table_problem(
        self, views: Views, source: RowSource, engine: Engine, checkpoint: Checkpoint, tol: float
    ) -> Problem:
        """All views as one table, with the units of ``fit``."""
        columns = tuple(view_column(name) for name in views.names)
        frame = TableFrame(
            columns,
            tuple(range(views.n_views)),
            tuple(self.view_fill_[name] for name in views.names),
            self.offset_ if self.offset_.any() else None,
            np.full(self.n_features_in_, 1.0 / self.view_unit_),
            by_leaf=source.is_remote or (self._is_copied(views) and _dense_bytes(views) > _MOST_COPIED),
        )
        empty = {column: np.zeros((0, 0)) for column in columns}
        for name, column in zip(views.names, columns, strict=True):
            kind = csr_matrix if holds_sparse(views[name]) else np.zeros
            empty[column] = kind((0, views[name].shape[1]), dtype=views[name].dtype)
        table = frame.table(Rows(0, empty | {"mask": np.ones((0, views.n_views), dtype=bool)}, {}))
        sparse = isinstance(table, SparseTable)
        row_bytes = sum(source.row_bytes[column] for column in columns) if sparse else table.row_bytes
        relocate = self.empty_clusters == "farthest"
        return Problem(source, frame, table, row_bytes, int(self.max_iter), tol, relocate, engine, checkpoint)

    def _is_copied(self, views: Views) -> bool:
        """Must rows be copied to make a table of them?"""
        return views.n_views > 1 or bool(self.offset_.any()) or not views.mask.all()

    def _given_points(self, init: Any, n_clusters: int) -> Floats:
        """Centres that a person gave, as one table relative to the offset."""
        if isinstance(init, Mapping):
            absent = [name for name in self.view_names_ if name not in init]
            if absent or len(init) != len(self.view_names_):
                raise ParameterError(
                    f"init must give centres for each view ({', '.join(self.view_names_)}); "
                    f"got {', '.join(map(str, init))}."
                )
            init = [np.asarray(init[name], dtype=np.float64) for name in self.view_names_]
            points = np.concatenate(init, axis=1) if all(part.ndim == 2 for part in init) else np.empty(0)
        else:
            try:
                points = np.array(init, dtype=np.float64)
            except (TypeError, ValueError):
                points = np.empty(0)
        if points.shape != (n_clusters, self.n_features_in_):
            raise ParameterError(
                f"init must be a word or {n_clusters} centres of {self.n_features_in_} features; got shape "
                f"{points.shape}."
            )
        if not np.isfinite(points).all():
            raise ParameterError("init must hold finite numbers only, got NaN or inf.")
        return points - self.offset_

    def _report(self, name: str) -> Any:
        def report(n_round: int, _: Any, inertia: float, n_moved: int, n_distances: int) -> None:
            if self.verbose > 1:
                shown = inertia * self.view_unit_**2
                say(f"{name}, round {n_round}: inertia {shown:.9g}, {n_moved} items moved, {n_distances} distances")

        return report

    def _run(self, problem: Problem, first_points: Callable[[], Floats], name: str) -> Outcome:
        outcome = run_rounds(problem, first_points, self._report(name), name)
        if self.verbose:
            say(f"{name}: inertia {outcome.inertia * self.view_unit_**2:.9g}, {outcome.n_iter} rounds")
        return outcome

    def _store(self, best: Outcome, has_any: Any, views: Views) -> None:
        labels = np.full(has_any.size, -1, dtype=np.intp)
        labels[has_any] = best.labels
        self.labels_ = cut_like(views, labels)
        self.n_clusters_ = int(best.points.shape[0])
        self.objective_ = np.array(best.objective[:-1]) * self.view_unit_**2
        self.inertia_ = float(best.inertia * self.view_unit_**2)
        self.n_iter_ = best.n_iter
        self.n_distances_ = best.n_distances
        self.cluster_centers_ = {}
        start = 0
        for name in self.view_names_:
            stop = start + self.n_features_per_view_[name]
            self.cluster_centers_[name] = best.points[:, start:stop] + self.offset_[start:stop]
            start = stop

    def _points(self) -> Floats:
        return np.concatenate([self.cluster_centers_[name] for name in self.view_names_], axis=1) - self.offset_

    def _assign(self, views: Views) -> tuple[Places, Floats]:
        """Labels of all items, and squared distances of those that have a view, in squares of the view's unit."""
        has_any = items_with_views(views)
        labels = np.full(views.n_items, -1, dtype=np.intp)
        if not has_any.any():
            return labels, np.empty(0)
        here = views if has_any.all() else views[has_any]
        with working(self.n_jobs) as engine:
            source = engine.place(source_of(here, np.ones(here.n_items)))
            problem = self._table_problem(here, source, engine, Checkpoint(None, engine), 0.0)
            labels[has_any], squares = assign_rows(problem, self._points())
        return labels, squares


def _dense_bytes(views: Views) -> int:
    """What a dense table of all views takes; nothing where all are sparse, as it is then never made."""
    if all(holds_sparse(matrix) for matrix in views.values()):
        return 0
    size = np.result_type(*(matrix.dtype for matrix in views.values())).itemsize
    return views.n_items * sum(views.n_features.values()) * int(size)


class AcceleratedKMeans(ExactKMeans):
    """k-means with Lloyd's labels at every round, without the distances that cannot matter.

    Bounds on distances say which items can have changed their cluster; only those are looked at, by BLAS in blocks.
    From the same start every round gives the labels of Lloyd's algorithm in float64, ties to the lowest number, for
    float32 data too. Choose it for one table, dense or sparse, of any size. Several views are taken side by side as
    they are, so scale them first, or use ``RobustMultiviewKMeans`` or ``ConcatenatedKMeans``.

    Parameters
    ----------
    n_clusters : int, default=8
    init : "k-means++", "random", array (n_clusters, n_features) or a dict of such arrays per view, default="k-means++"
        Items far apart, random items, or centres of yours.
    n_init : int, default=1
        Starts with other random items; the one of the smallest inertia is kept. Given centres are one start.
    max_iter : int, default=300
    tol : float, default=1e-4
        Stop when the squared shifts of all centres add up to no more than this times the mean variance of a feature.
        Stops in any case when no label changes.
    empty_clusters : "keep" or "farthest", default="keep"
        The centre of a cluster that lost all its items stays where it is, or goes to the item farthest from its centre.
    random_state : None, int or numpy Generator
    n_jobs : None or int
        Threads; None takes all cores. The result does not depend on it.
    verbose : int, default=0
        1 tells of every start, 2 of every round, on stderr.

    Attributes
    ----------
    labels_ : ndarray (n_items,), -1 for items that lack every view; a Dask array where a view was one
    cluster_centers_ : dict of view name to ndarray (n_clusters, n_features)
    inertia_ : float, summed squared distances of items to their centres
    objective_ : ndarray, the inertia of each round's labels with the centres they were found with; never rises
    n_distances_ : int, distances computed: of items to centres, and between centres. Lloyd's algorithm takes
        n_items x n_clusters in each round and once more for the last labels
    n_iter_, n_clusters_ : int
    view_fill_ : dict of view name to ndarray, what stands for a view that an item lacks: its mean (0 where sparse)

    Notes
    -----
    A round costs at most n K d operations, and only those of the items that bounds leave open. Memory beyond the data
    is the model, 36 bytes per item, sums of K x d and about 10 MB per thread; where one bound per item and cluster pays
    (wide tables, many clusters) 4 n K bytes more, never above 1 GB. One dense table in C order, memory-mapped too, is
    read where it lies. Several views, views that items lack, and tables whose mean lies far from the origin compared
    with their spread are copied, dense unless every view is sparse: once, or in every round where that would take more
    than half a GB.

    C. Jin, W. Mao, R. Zhang, Y. Zhang, X. Xue, "Cross-modal image clustering via canonical correlation analysis", AAAI
    2015, with the corrections that make it exact; G. Hamerly, "Making k-means even faster", SDM 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import AcceleratedKMeans
    >>> model = AcceleratedKMeans(n_clusters=2, init=[[0.0], [1.0]]).fit([[11.0], [0.0], [1.0]])
    >>> model.labels_.tolist(), model.cluster_centers_["view0"].ravel().tolist()
    ([1, 0, 0], [0.5, 11.0])
    """

    _constraints: ClassVar[Constraints] = {
        **ExactKMeans._constraints,
        "init": Either(Choice("k-means++", "random"), Array("an array of first centres")),
        "n_init": Number(integer=True, low=1),
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        empty_clusters: str = "keep",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.empty_clusters = empty_clusters
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _search(self, problem: Problem, mean_square: float, n_clusters: int) -> Outcome:
        if not isinstance(self.init, str):
            given = self._given_points(self.init, n_clusters)
            return self._run(problem, lambda: given, "given centres")
        streams = as_generator(self.random_state).spawn(int(self.n_init))
        starts = (
            self._run(
                problem,
                partial(random_points, problem, mean_square, n_clusters, self.init, rng),
                f"start {number} of {self.n_init}",
            )
            for number, rng in enumerate(streams, 1)
        )
        return min(starts, key=lambda outcome: outcome.inertia)


def random_points(problem: Problem, mean_square: float, n_clusters: int, init: str, rng: np.random.Generator) -> Floats:
    """Items of the table as first centres."""
    source, scale = problem.source, np.array([mean_square if mean_square > 0 else 1.0])
    weight = source.columns["weight"]
    items = candidates(weight, rng)
    if items.size < source.n_rows or source.is_remote:
        table, weight = problem.frame.table(source.take(items)), weight[items]
        items = np.arange(items.size)
    else:
        table = open_table(source.rows(0, source.n_rows), problem.frame)
    table.keep_norms(problem.engine.threads)
    seeds = choose_seeds([table], weight, scale, n_clusters, init, rng, problem.engine.threads, items)
    return table.dense_rows(seeds)
