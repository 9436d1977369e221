"""PLSA, a topic model for clustering: on counts, and, for ``annotated_plsa``, beside other people's."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from ...arrays import Matrix, as_matrix
from ...blocks import row_blocks
from ...data.checks import as_generator, missing_rows
from ...data.frames import column_names, refuse_other_columns
from ...data.parameters import RUNNING, Choice, Constraints, Either, Number
from ...data.views import Views, is_one_array
from ...engines.base import Engine
from ...engines.checkpoint import fit_in
from ...engines.choice import working
from ...errors import ParameterError, ViewError
from ..base import MultiviewEstimator, check_n_clusters, items_with_views, say, warn_fewer
from ._chunks import join_chunks, suited_chunks
from ._counts import check_counts, join_counts, suited, warn_empty_rows
from ._em import Outcome, Problem, best_start, dense_above, fold_in
from ._tasks import Counts

__all__ = ["PLSA"]

Labels = NDArray[np.intp]

_NOT_APPLICABLE = {
    "check_as_many_clusters_as_items": (
        "a topic model shares topics out over items; with as many topics as items several items may still lean to "
        "the same topic. That k > n is an error holds, and is tested."
    ),
}


class PLSA(ClusterMixin, MultiviewEstimator):
    """Cluster items by the topics of their words, visual words or other counts.

    Every item is a mixture of topics, every topic a distribution over words; the largest share names the cluster.
    Choose it for counts (bags of words or of visual words), where distances between rows say little because rows
    are short. Several views are laid side by side as one vocabulary.

    Parameters
    ----------
    n_clusters : int, default=8
    n_topics : None or int, default=None
        Topics to learn; None takes ``n_clusters``. With more, items are grouped by k-means on the square roots of
        their shares (Hellinger distance).
    weighting : "row" or "count", default="row"
        Every item weighs the same, as in the aPLSA paper, or as much as it has counts, as in Hofmann's PLSA.
    max_iter : int, default=200
    tol : float, default=1e-6
        Stop when the log-likelihood changes by less than this share of itself.
    n_init : int, default=5
        Number of starts; the one of the largest log-likelihood is kept.
    random_state : None, int or numpy Generator
    n_jobs : None or int
        Threads; None takes all cores. The result does not depend on it.
    verbose : int, default=0
        1 tells of every start, 2 of every iteration, on stderr.

    Attributes
    ----------
    labels_ : ndarray (n_items,), -1 for items without any count
    item_topics_ : ndarray (n_items, n_topics), rows sum to one; equal shares for items without any count
    topic_features_ : ndarray (n_topics, n_features), rows sum to one
    log_likelihood_ : ndarray, after each iteration; never falls. ``objective_`` is another name for it.
    cluster_centers_ : dict of view name to ndarray (n_clusters, n_features), mean words of each cluster
    n_iter_, n_clusters_, n_topics_ : int
    n_reseeded_ : int, topics that died out and were started again

    Notes
    -----
    An iteration takes O(nnz n_topics) time and touches only the non-zeros; above a density that depends on
    ``n_topics`` the table is kept dense and goes through matrix products. Memory beyond the data is the shares once
    (n_items x n_topics; twice from the second start on) and a few n_topics x n_features tables per thread. float32
    data are fitted in float32.

    T. Hofmann, "Probabilistic latent semantic analysis", UAI 1999; weighted as in Q. Yang and others, ACL 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import PLSA
    >>> counts = np.array([[3, 1, 0, 0], [1, 2, 0, 0], [0, 0, 2, 2], [0, 0, 1, 4]])
    >>> model = PLSA(n_clusters=2, random_state=0).fit(counts)
    >>> bool(model.labels_[0] == model.labels_[1]), bool(model.labels_[0] == model.labels_[2])
    (True, False)
    >>> bool(model.predict([[0, 1, 0, 0]])[0] == model.labels_[0])
    True
    """

    _constraints: ClassVar[Constraints] = {
        "n_clusters": Number(integer=True, low=1),
        "n_topics": Either(Number(integer=True, low=1), Choice(None)),
        "weighting": Choice("row", "count"),
        "max_iter": Number(integer=True, low=1),
        "tol": Number(low=0),
        "n_init": Number(integer=True, low=1),
        **RUNNING,
    }
    checks_not_applicable: ClassVar[Mapping[str, str]] = _NOT_APPLICABLE
    _takes_chunks: ClassVar[bool] = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_topics: int | None = None,
        weighting: str = "row",
        max_iter: int = 200,
        tol: float = 1e-6,
        n_init: int = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_topics = n_topics
        self.weighting = weighting
        self.max_iter = max_iter
        self.tol = tol
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X: Any, y: Any = None) -> PLSA:
        """Find the topics and clusters of ``X``: counts as a ``Views``, a list or dict of matrices, or one array."""
        return self._fit(X, None)

    def fit_predict(self, X: Any, y: Any = None, **settings: Any) -> Labels:
        """Find the clusters and give each item's label."""
        return self.fit(X, y, **settings).labels_

    def _fit(self, X: Any, annotations: Any) -> Any:
        views = self._fit_views(X)
        share = self._check_parameters()
        has_any = items_with_views(views)
        tags = None if annotations is None else self._annotation_counts(annotations)
        n_topics = int(self.n_clusters if self.n_topics is None else self.n_topics)
        with working(self.n_jobs) as engine:
            counts = self._counts(views, dense_above(n_topics), engine)
            targets = self._table(*counts, share=1.0 if tags is None else share)
            filled = np.asarray(targets.sums > 0)
            if has_any.any() and not filled.any():
                shown = ", ".join(map(repr, views.names))
                raise ViewError(f"view {shown}: no item has any count above 0, so there is nothing to learn from.")
            warn_empty_rows(has_any & ~filled)
            n_clusters = check_n_clusters(self.n_clusters, int(filled.sum()))
            tables = [targets]
            if tags is not None:
                tag_counts = suited(tags, dense_above(n_topics), "the annotations")
                if not (tag_counts[1] > 0).any():
                    raise ViewError("the annotations hold no counts at all; pass annotations=None to do without them.")
                tables.append(self._table(*tag_counts, share=1.0 - share))
            rng = as_generator(self.random_state)
            if self.verbose:
                say("compiling, on the first run only")
            # Annotations of no weight cannot act: they are left out, and read against the finished topics.
            acting = tables if share < 1 else tables[:1]
            with fit_in(engine, self, *(table.source for table in acting)) as (here, checkpoint):
                problem = Problem(
                    [replace(table, source=here.place(table.source)) for table in acting],
                    here,
                    checkpoint,
                    int(self.max_iter),
                    float(self.tol),
                    np.result_type(*(table.matrix.dtype for table in acting)),
                )
                best = best_start(problem, n_topics, rng.spawn(int(self.n_init)), int(self.verbose))
            if len(best.shares) < len(tables):
                best.shares.append(fold_in(tables[1].matrix, best.topics, engine)[0])
        self._store(best, n_clusters)
        self._group(n_clusters, filled, rng)
        why = "the others are the largest share of no item. Items may be too much alike, or max_iter too small."
        warn_fewer(np.unique(self.labels_[filled]).size, n_clusters, why)
        if tags is not None:
            self.annotation_topics_, self.annotation_mass_ = best.shares[1], tables[1].sums
        return self

    def _check_parameters(self) -> float:
        if self.n_topics is not None:
            if self.n_topics < self.n_clusters:
                raise ParameterError(
                    f"n_topics must be at least n_clusters, got n_topics={self.n_topics} with n_clusters="
                    f"{self.n_clusters}. Leave it None for one topic per cluster."
                )
        return 1.0

    def _balance(self) -> str:
        return "rows"

    def _counts(self, views: Views, limit: float, engine: Engine) -> tuple[Matrix, NDArray[np.float64], float | None]:
        """All views side by side, dense if their density is above the limit; sums of rows, and numbers in a row."""
        who, what = type(self).__name__, f"view {', '.join(map(repr, views.names))}"
        if not views.in_chunks:
            return *suited(join_counts(views, who), limit, what), None
        per_row = sum(views.values_per_row(name) for name in views.names)
        return suited_chunks(join_chunks(views), per_row, limit, what, who, engine)

    def _table(
        self, matrix: Matrix, sums: NDArray[np.float64], per_row: float | None = None, *, share: float
    ) -> Counts:
        """What each row weighs: its share of the objective, alike for all rows or by their counts."""
        weight = (sums > 0).astype(np.float64) if self.weighting == "row" else sums.copy()
        if self._balance() == "mass":
            weight /= max(weight.sum(), np.finfo(np.float64).tiny)
        return Counts.of(matrix, sums, share * weight, per_row)

    def _annotation_counts(self, annotations: Any) -> Matrix:
        who = type(self).__name__
        if not is_one_array(annotations):
            views = self._new_views(annotations)
            if views.in_chunks:
                raise ViewError(
                    f"view {views.in_chunks[0]!r} of the annotations is a Dask array. Call .compute() on it: there is "
                    "a row for each tag, not for each item."
                )
            return join_counts(views, who)
        matrix = as_matrix("annotations", annotations)
        if matrix.shape[1] != self.n_features_in_:
            raise ViewError(
                f"the annotations have {matrix.shape[1]} columns but the items have {self.n_features_in_} features. "
                "Both must count the same words, in the same order; see annotation_matrix."
            )
        called = [self.columns_per_view_.get(name) for name in self.view_names_]
        known = [names for names in called if names is not None]
        if len(known) == len(called):
            refuse_other_columns("annotations", np.concatenate(known), column_names(annotations), "X")
        missing_rows("annotations", matrix)
        check_counts("annotations", matrix, who)
        return matrix

    def _store(self, best: Outcome, n_clusters: int) -> None:
        self.item_topics_ = best.shares[0]
        self.topic_features_ = np.ascontiguousarray(best.topics.T)
        self.log_likelihood_ = np.array(best.log_likelihood)
        self.n_iter_ = len(best.log_likelihood)
        self.n_topics_ = int(best.topics.shape[1])
        self.n_clusters_ = n_clusters
        self.n_reseeded_ = best.n_reseeded

    def _group(self, n_clusters: int, filled: NDArray[np.bool_], rng: np.random.Generator) -> None:
        """Clusters from topic shares: the largest, or k-means on their square roots where there are more topics."""
        self.hellinger_centers_ = None
        if self.n_topics_ > n_clusters:
            from sklearn.cluster import KMeans

            kmeans = KMeans(n_clusters, n_init=10, random_state=int(rng.integers(2**31)))
            roots = self.item_topics_[filled]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # too few clusters are told of by the model itself
                self.hellinger_centers_ = kmeans.fit(np.sqrt(roots, out=roots)).cluster_centers_
        self.labels_ = self._labels(self.item_topics_, filled)
        shares = np.eye(n_clusters, self.n_topics_)
        if self.hellinger_centers_ is not None:
            for k in range(n_clusters):
                members = self.item_topics_[self.labels_ == k]
                shares[k] = members.mean(axis=0) if members.size else self.hellinger_centers_[k] ** 2
            shares /= shares.sum(axis=1, keepdims=True)
        self.cluster_topics_ = shares

    def _labels(self, shares: NDArray[Any], filled: NDArray[np.bool_]) -> Labels:
        if self.hellinger_centers_ is None:
            labels = shares.argmax(axis=1)
        else:
            from sklearn.metrics import pairwise_distances_argmin

            labels = np.empty(shares.shape[0], dtype=np.intp)
            for rows in row_blocks(shares.shape[0], shares.shape[1] * shares.itemsize):
                roots = np.sqrt(shares[rows], dtype=self.hellinger_centers_.dtype)
                labels[rows] = pairwise_distances_argmin(roots, self.hellinger_centers_)
        labels[~filled] = -1
        return labels

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Topic shares of new items (n_items, n_topics), with the topics held fixed.

        With one topic per cluster, column k is cluster k. Words that no topic knows are left out; items without any
        known word get equal shares. O(nnz n_topics) for each of up to 100 rounds.
        """
        return self._fold_in(X)[0]

    def predict(self, X: Any) -> Labels:
        """Label new items by folding them in; -1 for items without any known word.

        Items of ``fit`` may move where two topics are close: their shares in ``fit`` came with the topics.
        """
        shares, loglik, views = self._fold_in(X)
        known = ~np.isnan(loglik)
        has_any = items_with_views(views)
        warn_empty_rows(has_any & ~known, "have no word that was seen in fit")
        return self._labels(shares, known)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the items of ``X`` per count, folded in: higher is better.

        For choosing ``n_topics`` or ``tradeoff`` on held-out items without labels.
        """
        _, loglik, _ = self._fold_in(X)
        if np.isnan(loglik).all():
            raise ViewError("score needs at least one item with a word that was seen in fit.")
        return float(np.nanmean(loglik))

    def _fold_in(self, X: Any) -> tuple[NDArray[Any], NDArray[np.float64], Views]:
        views = self._new_views(X)
        with working(self.n_jobs) as engine:
            if views.in_chunks:
                matrix, *_ = self._counts(views, np.inf, engine)
            else:
                matrix = join_counts(views, type(self).__name__)
            shares, loglik = fold_in(matrix, self.topic_features_.T, engine)
        return shares, loglik, views

    @property
    def objective_(self) -> NDArray[np.float64]:
        """The log-likelihood after each iteration."""
        return self.log_likelihood_

    @property
    def cluster_centers_(self) -> dict[str, NDArray[Any]]:
        """The words of each cluster, one table per view."""
        words, result, start = self.cluster_topics_ @ self.topic_features_, {}, 0
        for name, width in self.n_features_per_view_.items():
            result[name] = words[:, start : start + width]
            start += width
        return result
