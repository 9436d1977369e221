"""``view_scale="auto"``: the k-means family on views as ``methods.preparation`` makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...blocks import Workers
from ...data.views import Views
from ...engines.base import Engine
from ...engines.filing import views_in_files
from ...types import Floats
from ..preparation import as_views, place_in, prepare

__all__ = ["PreparesViews"]


class PreparesViews:
    """The part of an estimator that knows in which spaces its views are compared.

    ``spaces_`` is None where views are compared in their own units, scaled as ``view_scale`` says.
    """

    view_scale: Any
    spaces_: dict[str, dict[str, Any]] | None

    def _readable(self, views: Views, engine: Engine) -> Views:
        """Views as they can be prepared: in files where they are Dask arrays, since ranks are found over all rows."""
        is_auto = isinstance(self.view_scale, str) and self.view_scale == "auto"
        return views_in_files(views, engine) if is_auto else views

    def _fit_spaces(self, views: Views, n_clusters: int, threads: Workers, weight: Floats | None = None) -> Views:
        """The views of ``fit`` as they are compared; items of weight 0 are placed among the others, and say nothing."""
        self.spaces_ = None
        if not isinstance(self.view_scale, str) or self.view_scale != "auto":
            return views
        counted = np.arange(views.n_items) if weight is None else np.flatnonzero(weight > 0)
        is_all = counted.size == views.n_items
        found = prepare(views if is_all else views[counted], "auto", threads, n_clusters)
        self.spaces_, self.scaling_agreement_, self.view_scalings_ = found.spaces, found.agreement, found.chosen
        if is_all:
            return as_views(views, found.points, found.speaking)
        points, speaking = place_in(found.spaces, views, threads)
        for name in found.points:
            points[name][counted], speaking[name][counted] = found.points[name], found.speaking[name]
        return as_views(views, points, speaking)

    def _in_spaces(self, views: Views, threads: Workers) -> Views:
        """New items in the same spaces."""
        spaces = getattr(self, "spaces_", None)  # models saved before there were any
        return views if spaces is None else as_views(views, *place_in(spaces, views, threads))
