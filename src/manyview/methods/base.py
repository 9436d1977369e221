"""What every estimator of manyview shares: the way in for data, and the random source."""

from __future__ import annotations

import functools
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arrays import (
    NotNumbers,
    as_matrix,
    is_dask,
    is_frame,
    is_sparse,
    is_tensor,
    refuse_columns,
    refuse_malformed,
    tensor_values,
)
from ..blocks import row_blocks
from ..data.frames import column_names, common_index, refuse_other_columns
from ..data.parameters import Constraints, check_parameters
from ..data.views import Views, is_one_array
from ..errors import ParameterError, ViewError, ViewWarning
from ..figures import counted
from ..steps import at_work, is_heard, still
from ..types import Mask

_SQUARES = 1e16  # a million squares of this still fit into float32
_BETWEEN = ("manyview.", "sklearn.", "joblib.")  # whose code lies between a warning and who asked
_SELDOM = 5.0  # seconds between two lines about the same step

__all__ = [
    "MultiviewEstimator",
    "MultiviewTransformer",
    "aloud",
    "check_n_clusters",
    "fit_to_views",
    "items_with_views",
    "outside",
    "say",
    "warn_fewer",
    "warn_idle",
]


class MultiviewEstimator(BaseEstimator):
    """An estimator whose ``X`` is a ``Views``, or anything that becomes one.

    ``_constraints`` says of every parameter what it may be; ``fit`` checks them all, first of all.
    ``checks_not_applicable`` names those checks of ``manyview.testing`` that cannot hold for a method, each
    with its reason.
    """

    _constraints: ClassVar[Constraints] = {}
    checks_not_applicable: ClassVar[Mapping[str, str]] = {}
    _takes_chunks: ClassVar[bool] = False  # does it read Dask arrays chunk by chunk?

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _fit_views(self, X: Any) -> Views:
        """Check the data of ``fit`` and remember the views' names and widths."""
        check_parameters(self)
        names = None
        if is_dask(X):
            X = {"view0": X}
        elif is_one_array(X):
            names = column_names(X)
            X = _validate_one_array(self, X, reset=True)
        views = X if isinstance(X, Views) else Views(X)
        self._refuse_chunks(views)
        if views.n_items == 0:
            raise ViewError("expected at least one item, got 0 sample(s): every view has no rows.")
        for name, width in views.n_features.items():
            if width == 0:
                raise ViewError(f"view {name!r} has 0 feature(s); a view needs at least one column.")
        self.view_names_ = views.names
        self.n_features_per_view_ = views.n_features
        self.n_features_in_ = sum(views.n_features.values())
        self.columns_per_view_ = views.columns if names is None else {views.names[0]: names}
        return views

    def _refuse_chunks(self, views: Views) -> None:
        if views.in_chunks and not self._takes_chunks:
            raise ViewError(
                f"view {views.in_chunks[0]!r} is a Dask array, which {type(self).__name__} cannot read chunk by chunk. "
                "Call .compute() on it, or write it to a .npy file and pass that memory-mapped."
            )

    def _new_views(self, X: Any) -> Views:
        """Check data of ``predict`` against those of ``fit``, and put its views in the order of ``fit``.

        A view that is absent, from a mapping or as None in a list, counts as missing for every item.
        """
        check_is_fitted(self)
        if is_dask(X) and len(self.view_names_) == 1:
            X = {self.view_names_[0]: X}
        if is_one_array(X):
            if len(self.view_names_) != 1:
                raise ViewError(
                    f"expected {len(self.view_names_)} views ({', '.join(self.view_names_)}), got one array. Pass "
                    "a dict with the views the items have, or a list with None for absent ones."
                )
            if isinstance(X, np.ndarray) and X.ndim == 0:
                raise ViewError("expected a table of items, got a single number.")
            X = {self.view_names_[0]: _validate_one_array(self, X, reset=False)}
        elif isinstance(X, (list, tuple)):
            if len(X) != len(self.view_names_):
                raise ViewError(
                    f"expected {len(self.view_names_)} views ({', '.join(self.view_names_)}), got {len(X)}. Put "
                    "None where a view is absent, or pass a dict."
                )
            X = {name: matrix for name, matrix in zip(self.view_names_, X, strict=True) if matrix is not None}
        views = X if isinstance(X, Views) else Views(X)
        self._refuse_chunks(views)
        known_columns = getattr(self, "columns_per_view_", {})  # models of earlier editions have none
        for name, width in views.n_features.items():
            if name not in self.view_names_:
                known = ", ".join(map(repr, self.view_names_))
                raise ViewError(f"view {name!r} was not part of fit; the views known are {known}.")
            if width != self.n_features_per_view_[name]:
                raise ViewError(
                    f"view {name!r} has {width} features, but {type(self).__name__} is expecting "
                    f"{self.n_features_per_view_[name]} features as input."
                )
            refuse_other_columns(name, known_columns.get(name), views.columns.get(name))
        return self._complete(_with_room(views))

    def _complete(self, views: Views) -> Views:
        if views.names == self.view_names_:
            return views
        from scipy.sparse import csr_matrix

        columns, matrices = [], []
        for name in self.view_names_:
            if name in views:
                columns.append(views.present(name))
                matrices.append(views[name])
            else:
                columns.append(np.zeros(views.n_items, dtype=bool))
                matrices.append(csr_matrix((views.n_items, self.n_features_per_view_[name])))
        return Views._trusted(self.view_names_, tuple(matrices), np.column_stack(columns), views.ids, views._held)


def _with_room(views: Views) -> Views:
    """New items whose float32 values would overflow when squared, in float64: a model was fitted to smaller ones."""
    wide = []
    for matrix in views.values():
        if is_dask(matrix):
            wide.append(matrix)
            continue
        values = matrix.data if is_sparse(matrix) else matrix
        if matrix.dtype != np.float32 or not values.size:
            wide.append(matrix)
            continue
        blocks = [values] if is_sparse(matrix) else (values[b] for b in row_blocks(len(values), 4 * values.shape[1]))
        largest = max(max(float(np.fmax.reduce(b, None)), -float(np.fmin.reduce(b, None))) for b in blocks)
        wide.append(matrix.astype(np.float64) if largest > _SQUARES else matrix)
    if all(new is old for new, old in zip(wide, views.values(), strict=True)):
        return views
    return Views._trusted(views.names, tuple(wide), views.mask, views.ids, views._held)


def _validate_one_array(estimator: BaseEstimator, X: Any, reset: bool) -> Any:
    """Let scikit-learn check a plain table, so that names and counts of features are kept its way."""
    if is_tensor(X):
        X = tensor_values("view0", X)
    refuse_malformed("view0", X)
    if is_frame(X):
        refuse_columns("view0", X)
    try:
        if is_sparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
            X = as_matrix("view0", X)  # which knows of more that can be wrong
        return validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
        )
    except ViewError:
        raise
    except (TypeError, ValueError) as error:
        kind = NotNumbers if isinstance(error, TypeError) else ViewError
        raise kind(f"view 'view0', a {type(X).__name__}, cannot be used: {error}") from error


def fit_to_views(model: Any, views: Views, instead: str, **params: Any) -> Any:
    """Fit a clusterer, which may be of another library; one that takes no ``Views`` is an error: do ``instead``."""
    if isinstance(model, MultiviewEstimator):
        return model.fit(views, **params)
    try:
        return model.fit(views, **params)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{type(model).__name__} could not be fitted to Views: {error} {instead}") from error


class MultiviewTransformer(TransformerMixin, MultiviewEstimator):
    """One that has ``transform``: frames that it gives (``set_output``) have the ids of the items as their index.

    scikit-learn does that for one pandas frame only.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "transform" in vars(cls):
            cls.transform = _with_ids(cls.transform)


def _with_ids(transform: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    @functools.wraps(transform)
    def wrapped(self: Any, X: Any) -> Any:
        made = transform(self, X)
        if is_frame(made) and not is_frame(X):
            ids = X.ids if isinstance(X, Views) else common_index(X)
            made.index = made.index if ids is None else ids
        return made

    return wrapped


def check_n_clusters(n_clusters: Any, n_items: int) -> int:
    """At least one cluster, and no more than there are items."""
    from ..data.checks import check_number

    checked = int(check_number("n_clusters", n_clusters, integer=True, low=1))
    if n_items == 0:
        raise ViewError(
            "every item lacks every view, or weighs nothing, so there is nothing to learn from. At least "
            f"n_clusters={checked} items need a row that is not all NaN, nor false in mask, in one of the views."
        )
    if checked > n_items:
        raise ParameterError(
            f"n_clusters must be at most the number of items, got n_clusters={checked} with n_samples={n_items}. "
            "Ask for fewer clusters, or give more items."
        )
    return checked


class LackViews(ViewWarning):
    """Some items have no view at all. It names rows; who knows what items are called can say it better."""


def items_with_views(views: Views) -> Mask:
    """Which items have any view at all; one warning for those that have none."""
    has_any = np.asarray(views.mask.any(axis=1))
    lacking = np.flatnonzero(~has_any)
    if lacking.size:
        shown = ", ".join(map(str, lacking[:5])) + (", ..." if lacking.size > 5 else "")
        warnings.warn(
            f"{lacking.size} item(s) lack every view and get label -1: rows {shown}.",
            LackViews,
            stacklevel=outside(),
        )
    return has_any


def warn_idle(name: str, present: Mask, then: str = "it gets weight 0") -> None:
    """A warning that names a view which cannot tell items apart, and why; ``present``: who has it."""
    why = "is the same for every item" if present.any() else "is missing for every item"
    warnings.warn(f"view {name!r} {why}; {then}.", ViewWarning, stacklevel=outside())


def warn_fewer(n_found: int, n_clusters: int, why: str = "too many items are alike.") -> None:
    """A warning where a fit found fewer clusters than it was asked for."""
    if n_found < n_clusters:
        warnings.warn(
            f"found {counted(n_found, 'distinct cluster')}, fewer than n_clusters={n_clusters}: {why}",
            ConvergenceWarning,
            stacklevel=outside(),
        )


def outside() -> int:
    """The ``stacklevel`` of a warning that is shown where manyview was called, however deep it is given.

    scikit-learn's wrappers (``fit_predict``, pipelines, searches) lie between.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_BETWEEN):
        frame, level = frame.f_back, level + 1
    return level


@contextmanager
def aloud(what: str, verbose: int) -> Iterator[None]:
    """Tell of the steps inside on stderr, where ``verbose`` asks for it and nobody else listens."""
    if not verbose or is_heard():
        yield
        return
    last: dict[str, Any] = {"text": "", "when": 0.0}

    def report(text: str, done: int, of: int) -> None:
        now = time.monotonic()
        if text != last["text"] or now - last["when"] >= _SELDOM:
            last.update(text=text, when=now)
            left = still((of - done) / 1000)
            say(f"  {text}; {done / 1000:.1f} s so far{', ' * bool(left)}{left}")

    with at_work(what, report):
        yield


def say(text: str) -> None:
    """A line of progress, on stderr so that it never mixes with results."""
    print(text, file=sys.stderr, flush=True)
