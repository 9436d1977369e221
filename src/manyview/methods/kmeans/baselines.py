"""What a new method has to beat: scikit-learn's k-means on one view, or on all of them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from ...arrays import Matrix, is_sparse
from ...data.checks import check_sample_weight
from ...data.joining import side_by_side
from ...data.parameters import SEED, Choice, Constraints, Given, Number
from ...data.views import Views, is_one_array
from ...engines.choice import working
from ...errors import ParameterError, ViewError
from ...types import Places
from ..base import MultiviewEstimator, check_n_clusters, items_with_views, warn_idle
from ._prepared import PreparesViews
from .scaling import learn_scaling

__all__ = ["ConcatenatedKMeans", "SingleViewKMeans"]


class ConcatenatedKMeans(PreparesViews, ClusterMixin, MultiviewEstimator):
    """Plain k-means on all views side by side: the honest baseline (the RMKMC paper's NKMC).

    Views are prepared as ``ConsensusClustering`` prepares them (or scaled as ``view_scale`` says) and joined;
    scikit-learn's ``KMeans`` does the rest, from ten starts. This is hard to beat. A view that an item lacks is filled
    with the view's mean (with zeros where the view is sparse). Makes one copy of the data, dense unless every view is
    sparse and ``view_scale`` is not "auto".

    Parameters
    ----------
    n_clusters : int, default=8
    view_scale : as in ``RobustMultiviewKMeans``, default="auto"
    init : "k-means++" or "random", default="k-means++"
    n_init : int, default=10
    max_iter : int, default=300
    tol : float, default=1e-4
    random_state : None, int or numpy Generator
        These, from ``init`` on, as in scikit-learn's ``KMeans``.

    Attributes
    ----------
    labels_, n_iter_, n_clusters_
    cluster_centers_ : dict of view name to ndarray, in the units of the input; with "auto" the means of the members
    scaling_agreement_, view_scalings_ : as in ``ConsensusClustering``, with "auto"
    inertia_ : float, summed squared distances of scaled items
    """

    _constraints: ClassVar[Constraints] = {
        "n_clusters": Number(integer=True, low=1),
        "view_scale": Given("'auto', 'minmax', 'mean_distance', both as a pair, or None"),
        "init": Choice("k-means++", "random"),
        "n_init": Number(integer=True, low=1),
        "max_iter": Number(integer=True, low=1),
        "tol": Number(low=0),
        "random_state": SEED,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        view_scale: Any = "auto",
        init: str = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.view_scale = view_scale
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> ConcatenatedKMeans:
        """Find the clusters of ``X``: a ``Views``, a list or dict of matrices, or one 2-D array."""
        return self._fit(self._fit_views(X), sample_weight)

    def _fit(self, views: Views, sample_weight: Any) -> Any:
        has_any = items_with_views(views)
        weight = check_sample_weight(sample_weight, views.n_items)
        weight = None if weight is None else weight / weight.max()  # single numbers hold them
        counts = np.where(has_any, 1.0 if weight is None else weight, 0.0)
        n_clusters = check_n_clusters(self.n_clusters, int((counts > 0).sum()))
        with working(None) as engine:
            compared = self._fit_spaces(views, n_clusters, engine.threads, weight)
            scalings = learn_scaling(compared, self.view_scale, counts, engine)
        for v, (name, scaling) in enumerate(zip(views.names, scalings, strict=True)):
            if not scaling.varies:
                warn_idle(name, views.mask[:, v], "it changes nothing")
        self.view_shift_ = {
            name: np.zeros_like(s.mean) if is_sparse(compared[name]) else s.mean
            for name, s in zip(views.names, scalings, strict=True)
        }
        self.view_factor_ = {name: s.scale * s.unit for name, s in zip(views.names, scalings, strict=True)}
        kmeans = KMeans(
            n_clusters,
            init=self.init,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=_seed(self.random_state),
        )
        joined, counted = self._join(compared), counts > 0
        kmeans.fit(joined[counted], sample_weight=None if weight is None else weight[counted])
        self.labels_ = np.full(views.n_items, -1, dtype=np.intp)
        self.labels_[counted] = kmeans.labels_
        if (silent := has_any & ~counted).any():
            self.labels_[silent] = kmeans.predict(joined[silent])
        self.n_clusters_, self.n_iter_, self.inertia_ = (
            n_clusters,
            int(kmeans.n_iter_),
            float(kmeans.inertia_),
        )
        self.joined_centers_ = kmeans.cluster_centers_
        if self.spaces_ is None:
            self.cluster_centers_ = self._split(kmeans.cluster_centers_)
        else:
            self.cluster_centers_ = views.means(self.labels_, n_clusters, weight)
        return self

    def predict(self, X: Any) -> Places:
        """The nearest centre for each item; -1 for items that lack every view."""
        from sklearn.metrics import pairwise_distances_argmin

        views = self._new_views(X)
        has_any = items_with_views(views)
        labels = np.full(views.n_items, -1, dtype=np.intp)
        if has_any.any():
            with working(None) as engine:
                joined = self._join(self._in_spaces(views, engine.threads))[has_any]
            labels[has_any] = pairwise_distances_argmin(joined, self.joined_centers_.astype(joined.dtype))
        return labels

    def _join(self, views: Views) -> Matrix:
        """The scaled views as one table; 0, the middle of a dense view, where an item lacks one."""
        from scipy import sparse

        parts = []
        for name, matrix in views.items():
            shift, factor = self.view_shift_[name], self.view_factor_[name]
            if is_sparse(matrix):
                parts.append((matrix @ sparse.diags_array(factor)).tocsr())
            else:
                parts.append((matrix - shift.astype(matrix.dtype)) * factor.astype(matrix.dtype))
        return side_by_side(parts, views.mask, [np.zeros(part.shape[1]) for part in parts])

    def _split(self, centers: NDArray[np.floating]) -> dict[str, NDArray[np.float64]]:
        result, start = {}, 0
        for name in self.view_names_:
            factor = self.view_factor_[name]
            stop = start + factor.size
            part = np.zeros((centers.shape[0], factor.size))
            np.divide(centers[:, start:stop], factor, out=part, where=factor > 0)
            result[name] = part + self.view_shift_[name]
            start = stop
        return result


class SingleViewKMeans(ConcatenatedKMeans):
    """Plain k-means on one of the views, for the rows "best single view" of a table.

    Which view is best cannot be known without the classes: run one model per view and say that the choice was made
    with them.

    Parameters
    ----------
    n_clusters : int, default=8
    view : None or str, default=None
        Its name; None takes the first view.
    view_scale : as in ``RobustMultiviewKMeans``, default="auto"
    init : "k-means++" or "random", default="k-means++"
    n_init : int, default=10
    max_iter : int, default=300
    tol : float, default=1e-4
    random_state : None, int or numpy Generator
        These, from ``init`` on, as in scikit-learn's ``KMeans``.
    """

    _constraints: ClassVar[Constraints] = {
        **ConcatenatedKMeans._constraints,
        "view": Given("the name of a view"),
    }
    checks_not_applicable: ClassVar[Mapping[str, str]] = {
        "check_view_order": "without a name it takes the first view",
        "check_missing_view": "an item that lacks the one view it looks at cannot be placed",
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        view: str | None = None,
        view_scale: Any = "auto",
        init: str = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_clusters,
            view_scale=view_scale,
            init=init,
            n_init=n_init,
            max_iter=max_iter,
            tol=tol,
            random_state=random_state,
        )
        self.view = view

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SingleViewKMeans:
        """Find the clusters of one view of ``X``."""
        views = self._fit_views(X)
        name = views.names[0] if self.view is None else self.view
        if not isinstance(name, str):
            raise ParameterError(f"view must be the name of a view, one of {', '.join(views.names)}; got {name!r}.")
        self.view_position_, self.n_views_given_ = views.position(name), views.n_views
        return self._fit(self._fit_views(views[[name]]), sample_weight)

    def predict(self, X: Any) -> Places:
        """The nearest centre for each item; other views than the chosen one are left aside."""
        check_is_fitted(self)
        if isinstance(X, (Views, Mapping)) and not is_sparse(X):
            name = self.view_names_[0]
            if name not in X:
                raise _lacks(name, ", ".join(map(str, X)))
            X = X[[name]] if isinstance(X, Views) else {name: X[name]}
        elif isinstance(X, (list, tuple)) and not is_one_array(X):
            given = getattr(self, "n_views_given_", 1)  # models of earlier editions have none
            if len(X) == given > 1:
                X = [X[self.view_position_]]
                if X[0] is None:
                    raise _lacks(self.view_names_[0], f"others: it is number {self.view_position_} of the list")
        return super().predict(X)


def _lacks(name: str, given: str) -> ViewError:
    return ViewError(f"this model needs view {name!r}; the views given are {given or 'none'}.")


def _seed(random_state: Any) -> Any:
    """scikit-learn's k-means takes no Generator, nor numbers beyond 32 bits; draw it a seed."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if isinstance(random_state, (int, np.integer)) and random_state >= 2**32:
        return int(np.random.default_rng(int(random_state)).integers(2**31))
    return random_state
