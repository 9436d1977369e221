"""Canonical correlation analysis as a fusion of views: one space in which looks and words can be added and compared."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...blocks import BLOCK_BYTES, Workers
from ...data.checks import as_generator, check_number, per_view_numbers
from ...data.nearest import most_alike
from ...data.parameters import RUNNING, Choice, Constraints, Either, Given, Number
from ...data.source import RowSource, view_column
from ...data.views import Views, is_one_array
from ...engines.base import Engine, add_up, cut
from ...engines.choice import working
from ...errors import ParameterError, ViewError, ViewWarning
from ...types import Floats, Mask, Places
from ..base import MultiviewTransformer, outside, say, warn_idle
from ._learned import Learned
from ._ridge import RIDGES, choose_ridge
from ._sides import Projection, project_leaf
from ._solve import Solution

__all__ = ["CanonicalFusion", "check_weights"]


_NEAREST_BYTES = 64 * 2**20
_SECONDS_PER_PRODUCT = 1e-10  # of two numbers, on one core


class CanonicalFusion(MultiviewTransformer):
    """Bring views into one space, along the directions in which they agree, and add them there.

    Regularised canonical correlation analysis for two views, its MAXVAR generalisation for more. Choose it to cluster
    or search items by looks and words together, to place items that have only one of them, and to find words for a
    picture or pictures for words.

    Parameters
    ----------
    n_components : int, default=128
        Dimensions of the shared space (the paper's R). Clipped, with a warning, to what the views have in common.
    regularization : float of at least 0, or "auto", default=1.0
        The paper's rho, as a multiple of each view's mean variance, so that neither the number of items nor the unit of
        a view matters. It is part of the model: with more features than items and nothing here every correlation is
        1, and measured clusterings lose much below 0.1. "auto" takes the one of 1, 10, 100 and 1,000 under which items
        left out have the most in common between their views: for collections with few pairs.
    weights : None, numbers or a dict of numbers, default=None
        Share of each view in the sum (the paper's alpha and 1 - alpha); equal when None.
    corr_power : float of at least 0, default=1.0
        Each dimension is multiplied by its correlation to this power; 0 is the paper.
    random_state : None, int or numpy Generator
        Only used for views too wide for their covariance.
    n_jobs : None or int
        Threads; None takes all cores. The result does not depend on it.
    verbose : int, default=0

    Attributes
    ----------
    correlations_ : ndarray (R,), descending, from 0 to 1, as regularised; for more than two views the mean over pairs
    projections_ : dict of view name to ndarray (n_features, R)
    view_weights_ : ndarray (n_views,), summing to 1; 0 for a view that is the same for every item
    n_components_ : int
    regularization_ : float, as given or as found
    couplings_ : ndarray (R, n_views, n_views), how far one view's coordinate tells another's

    Notes
    -----
    One pass over the data, in blocks, dense or sparse, never densified or copied whole. For D features in all it takes
    O(n_items D^2) time (for a sparse view, its non-zeros take the place of D), O(D^3) for the directions and D^2
    numbers of memory. Views that are together wider than 6,144 are first reduced: exactly where there are few items,
    otherwise to their leading 512 directions or more by random projection, three more passes.

    An item that lacks a view is placed by the others: what it lacks is replaced by what ridge regression of the
    same strength says about it, which for two views is the coordinate of the other times the correlation. With items
    that lack views, a covariance is that of the items that have both. One view alone is taken together with itself.

    C. Jin and others, "Cross-modal image clustering via canonical correlation analysis", AAAI 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import CanonicalFusion
    >>> looks, words = np.array([[1.0], [2], [3], [4]]), np.array([[1.0], [3], [2], [4]])
    >>> CanonicalFusion(1, regularization=0).fit([looks, words]).correlations_.round(6).tolist()
    [0.8]
    """

    _constraints: ClassVar[Constraints] = {
        "n_components": Number(integer=True, low=1),
        "regularization": Either(Number(low=0), Choice("auto")),
        "weights": Given("None, or a number for each view"),
        "corr_power": Number(low=0),
        **RUNNING,
    }
    _takes_chunks: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int = 128,
        *,
        regularization: float | str = 1.0,
        weights: Any = None,
        corr_power: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization
        self.weights = weights
        self.corr_power = corr_power
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> CanonicalFusion:
        """Learn the shared space of ``X``: a ``Views``, a list or dict of matrices, or one 2-D array."""
        views = self._fit_views(X)
        return self._fit(views, views.mask, warn=True)

    def _fit(self, views: Views, given: Mask, warn: bool) -> CanonicalFusion:
        """``given``: who has which view, empty rows or not; ``warn=False``: as many components as there may be."""
        n_components = int(self.n_components)
        weights = check_weights("weights", self.weights, views.names)
        rng = as_generator(self.random_state)
        with working(self.n_jobs) as engine:
            if self.verbose:
                say(f"covariances of {views!r}")
            learned = Learned.of(views, n_components, rng, engine)
            for v, name in enumerate(views.names):
                if v not in learned.acting:
                    warn_idle(name, given[:, v])
            self.regularization_ = self._ridge(views, learned, rng, engine)
        if self.verbose:
            say(f"directions of {[side.width for side in learned.sides]} dimensions, ridge {self.regularization_:g}")
        solution = learned.directions(self.regularization_)
        found = solution.correlations.size
        if found < n_components and (warn or (learned.acting and not found)):
            warnings.warn(
                f"n_components={n_components}, but the views have {found} correlated direction(s) in common (no more "
                f"than the rank of a view); {max(found, 1)} are kept.",
                ViewWarning,
                stacklevel=outside(),
            )
        self._keep_nothing(views, max(found, 1))
        if found:
            self._keep(views, learned, solution, weights)
        self._items: Views | None = views
        return self

    def _ridge(self, views: Views, learned: Learned, rng: np.random.Generator, engine: Engine) -> float:
        if self.regularization != "auto":
            return float(self.regularization)
        if len(learned.acting) < 2:
            return RIDGES[0]
        return choose_ridge(views[[views.names[v] for v in learned.acting]], learned.n_components, rng, engine)

    def _keep_nothing(self, views: Views, n_components: int) -> None:
        """Views that say nothing: everything at the origin."""
        self.n_components_ = n_components
        self.correlations_ = np.zeros(n_components)
        self.couplings_ = np.tile(np.eye(views.n_views), (n_components, 1, 1))
        self.view_weights_ = np.zeros(views.n_views)
        self.view_acts_ = np.zeros(views.n_views, dtype=bool)
        self.projections_ = {name: np.zeros((width, n_components)) for name, width in views.n_features.items()}
        self.shifts_ = {name: np.zeros(width) for name, width in views.n_features.items()}
        self.offsets_ = {name: np.zeros(n_components) for name in views.names}

    def _keep(self, views: Views, learned: Learned, solution: Solution, weights: Floats) -> None:
        """What the acting views say. The mean row of a view goes in two parts: the shift before, the rest after."""
        acting = learned.acting
        self.correlations_ = solution.correlations
        self.couplings_[np.ix_(range(self.n_components_), acting, acting)] = solution.couplings
        self.view_acts_[acting] = True
        shares = weights[acting] if weights[acting].any() else np.ones(len(acting))
        self.view_weights_[acting] = shares / shares.sum()
        for v, side, mean, part in zip(acting, learned.sides, learned.means, solution.directions, strict=True):
            name = views.names[v]
            self.projections_[name] = side.in_units_of_the_view(part)
            self.offsets_[name] = mean @ part
            if side.shift is not None:
                self.shifts_[name] = side.shift.astype(np.float64) / side.unit

    def transform(self, X: Any) -> NDArray[Any]:
        """Items in the shared space (n_items, R), also those that lack views; NaN for those that lack all of them.

        The weighted sum of the views' coordinates, each dimension times its correlation to ``corr_power``.
        """
        check_is_fitted(self)
        views = self._new_views(X)
        lacking = int((~views.mask.any(axis=1)).sum())
        if lacking:
            warnings.warn(f"{lacking} item(s) lack every view; their rows are NaN.", ViewWarning, stacklevel=outside())
        return self._fused(views)

    def _fused(self, views: Views) -> NDArray[Any]:
        out = np.zeros((views.n_items, self.n_components_), dtype=_common_dtype(views))
        groups = [(has, rows, self._shares(has)) for has, rows in _patterns(views.mask & self.view_acts_)]
        for v in np.flatnonzero(self.view_acts_ & views.mask.any(axis=0)).tolist():
            own = self._coordinates(views, v, self._strength())
            for has, rows, shares in groups:
                if has[v]:
                    out[rows] += own[rows] * shares[:, v].astype(own.dtype)
        out[~views.mask.any(axis=1)] = np.nan
        return out

    def coordinates(self, X: Any, view: str) -> NDArray[Any]:
        """The coordinates (n_items, R) of one view alone, each dimension times its correlation to ``corr_power``.

        NaN for items that lack the view. Those of different views can be compared, see ``nearest``.
        """
        check_is_fitted(self)
        if is_one_array(X):
            X = {self._known(view): X}
        views = self._new_views(X)
        v = views.position(self._known(view))
        out = self._coordinates(views, v, self._strength())
        out[~views.mask[:, v]] = np.nan
        return out

    def _strength(self) -> Floats:
        return self.correlations_ ** float(self.corr_power)

    def _shares(self, has: NDArray[np.bool_]) -> Floats:
        """What multiplies each view's coordinates (R, n_views) for items that have these views.

        A lacking view's coordinate is predicted from those at hand, and its weight falls to them accordingly.
        """
        weights = np.tile(self.view_weights_, (self.n_components_, 1))
        lacks = self.view_acts_ & ~has
        if not has.any() or not lacks.any():
            return weights
        among = self.couplings_[:, has][:, :, has]
        across = self.couplings_[:, has][:, :, lacks] @ self.view_weights_[lacks]
        weights[:, has] += (np.linalg.pinv(among, hermitian=True) @ across[:, :, None])[:, :, 0]
        return weights

    def _coordinates(self, views: Views, v: int, factor: Floats) -> NDArray[Any]:
        """The rows of a view, centred and projected, each dimension times a factor; blocks on all threads."""
        name, matrix = views.names[v], views.values()[v]
        dtype = np.dtype(matrix.dtype)
        weights = (self.projections_[name] * factor).astype(dtype)
        offset = (self.offsets_[name] * factor).astype(dtype)
        shift = self.shifts_[name].astype(dtype) if self.shifts_[name].any() else None
        told = Projection(view_column(name), weights, offset, shift)
        out = np.empty((views.n_items, weights.shape[1]), dtype=dtype)
        width = views.values_per_row(name)
        row_bytes = dtype.itemsize * (width + 2 * weights.shape[1])
        plan = cut(views.n_items, row_bytes, BLOCK_BYTES, _SECONDS_PER_PRODUCT * width * weights.shape[1])
        with working(self.n_jobs) as engine:
            source = engine.place(RowSource({told.column: matrix}))
            results = engine.map(project_leaf, source, plan, told, None, add_up)
            for span, (_, state) in zip(plan.spans, results, strict=True):
                out[span.start : span.stop] = engine.read(state)
                engine.let_go([state])
        return out

    def nearest(self, view: str, to: Any, *, among: Any = None, n_neighbors: int = 10) -> tuple[Places, NDArray[Any]]:
        """Items whose ``view`` says what ``to`` says in its own views: words for a picture, pictures for words.

        ``to`` holds the items to search with, in any of the views (a dict or ``Views``; with two views a plain array is
        taken for the other one). ``among`` holds the items to search; the items of ``fit`` when None, which a model
        read back from disk no longer has. Returns their row numbers and cosine similarities, best first, both
        (n_queries, n_neighbors), fewer columns where fewer items have the view; -1 and NaN for a query without views.
        """
        check_is_fitted(self)
        target = self.view_names_.index(self._known(view))
        count = check_number("n_neighbors", n_neighbors, integer=True, low=1)
        if is_one_array(to) and len(self.view_names_) == 2:
            to = {self.view_names_[1 - target]: to}
        queries = self._mean_coordinates(self._new_views(to))
        items = self._searched(among)
        has = np.flatnonzero(items.mask[:, target])
        if not has.size:
            raise ViewError(f"no item to search among has view {view!r}.")
        found = _unit_rows(self._coordinates(items, target, self._strength())[has])
        asked = np.isfinite(queries).all(axis=1)
        queries, count = _unit_rows(np.where(asked[:, None], queries, 0.0)), min(count, has.size)
        best, similarity = most_alike(queries, found, count, Workers(1, None), block_bytes=_NEAREST_BYTES)
        order = has[best]
        order[~asked], similarity[~asked] = -1, np.nan
        return order, similarity

    def _mean_coordinates(self, views: Views) -> NDArray[Any]:
        """The views an item has, weighted against each other and added up as they are, without prediction."""
        total = np.zeros((views.n_items, self.n_components_), dtype=_common_dtype(views))
        for v in np.flatnonzero(self.view_acts_ & views.mask.any(axis=0)).tolist():
            part = self._coordinates(views, v, self._strength() * max(self.view_weights_[v], 1e-12))
            total += np.where(views.mask[:, v : v + 1], part, 0)
        total[~views.mask.any(axis=1)] = np.nan
        return total

    def _searched(self, among: Any) -> Views:
        if among is not None:
            return self._new_views(among)
        items = getattr(self, "_items", None)
        if items is None:
            raise ParameterError(
                "this model was read back or copied and no longer holds the items of fit; pass the items to search "
                "with among=."
            )
        return items

    def _known(self, view: str) -> str:
        if view not in self.view_names_:
            raise ViewError(f"there is no view {view!r}; the views are {', '.join(map(repr, self.view_names_))}.")
        return view

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """canonicalfusion0, canonicalfusion1, ..."""
        check_is_fitted(self)
        return np.array([f"canonicalfusion{number}" for number in range(self.n_components_)], dtype=object)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_items", None)  # a copy of the model is not a copy of the data
        return state


def check_weights(parameter: str, given: Any, names: tuple[str, ...]) -> Floats:
    """Numbers of at least 0, one for each view, summing to 1; equal where None is given."""
    if given is None:
        return np.full(len(names), 1.0 / len(names))
    numbers = per_view_numbers(parameter, given, names, some_above_zero=True)
    return numbers / numbers.sum()


def _common_dtype(views: Views) -> Any:
    return np.result_type(*(matrix.dtype for matrix in views.values()))


def _patterns(present: NDArray[np.bool_]) -> list[tuple[NDArray[np.bool_], Any]]:
    """Which views items have, each combination with its rows."""
    kinds, which = np.unique(present, axis=0, return_inverse=True)
    if len(kinds) == 1:
        return [(kinds[0], slice(None))]
    return [(kind, np.flatnonzero(which.ravel() == k)) for k, kind in enumerate(kinds)]


def _unit_rows(rows: NDArray[Any]) -> NDArray[Any]:
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(norms > 0, norms, 1)[:, None]
