"""``view_scale="auto"``: the k-means family on views as ``methods.preparation`` makes them."""

from __future__ import annotations

from typing import Any

from ...blocks import Workers
from ...data.views import Views
from ...errors import ParameterError
from ..preparation import as_views, place_in, prepare

__all__ = ["PreparesViews"]


class PreparesViews:
    """The part of an estimator that knows in which spaces its views are compared.

    ``spaces_`` is None where views are compared in their own units, scaled as ``view_scale`` says.
    """

    view_scale: Any
    spaces_: dict[str, dict[str, Any]] | None

    def _check_spaces(self, views: Views) -> None:
        """Refuse to prepare views that nobody holds all at once: ranks and directions are found over all rows."""
        if views.in_chunks and isinstance(self.view_scale, str) and self.view_scale == "auto":
            raise ParameterError(
                f"view_scale='auto' needs views in memory or in files, and view {views.in_chunks[0]!r} is a Dask "
                "array. Pass view_scale='minmax' or ('minmax', 'mean_distance'), or None where views are prepared."
            )

    def _fit_spaces(self, views: Views, n_clusters: int, threads: Workers) -> Views:
        """The views of ``fit`` as they are compared."""
        self.spaces_ = None
        if not isinstance(self.view_scale, str) or self.view_scale != "auto":
            return views
        found = prepare(views, "auto", threads, n_clusters)
        self.spaces_, self.scaling_agreement_, self.view_scalings_ = found.spaces, found.agreement, found.chosen
        return as_views(views, found.points, found.speaking)

    def _in_spaces(self, views: Views, threads: Workers) -> Views:
        """New items in the same spaces."""
        spaces = getattr(self, "spaces_", None)  # models saved before there were any
        return views if spaces is None else as_views(views, *place_in(spaces, views, threads))
