"""What a fitted FusionART can be asked: prototypes in the units of the input, history, and reasons."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ...data.checks import check_number
from ...errors import ParameterError, ViewError
from ...types import Floats
from ..base import MultiviewEstimator
from ._explain import explain_cluster, explain_items
from ._reader import Channels, Reader
from ._state import DIVISOR, MEMBERS, SCATTER

__all__ = ["FieldResults"]


class FieldResults(MultiviewEstimator):
    """Results that are read off ``field_`` when asked for, so that they are never out of date."""

    field_: dict[str, NDArray[Any]]
    channels_: dict[str, str]
    groups_: list[Any]
    n_clusters_: int

    def explain_cluster(self, cluster: int, *, names: Any = None, top: int = 5) -> dict[str, Any]:
        """What holds a cluster together: size, key tags with probability, content features that matter, scatter.

        ``names`` gives feature names by view. The answer is plain data, with one sentence under "text".
        """
        check_is_fitted(self)
        cluster = int(check_number("cluster", cluster, integer=True, low=0, high=self.n_clusters_ - 1))
        field, rules = self._open_field(None)
        return explain_cluster(field, rules, self._layout(), self.groups_, cluster, names or {}, top)

    def explain(self, X: Any, labels: Any = None, *, names: Any = None, top: int = 5) -> list[dict[str, Any]]:
        """Why each item of ``X`` is in its cluster: how much each channel and each tag spoke for it.

        ``labels`` are the clusters to explain; what ``predict`` says where None.
        """
        views = self._new_views(X)
        if views.in_chunks:
            raise ViewError(
                f"view {views.in_chunks[0]!r} is a Dask array, but items are explained one by one: call .compute() on "
                "the rows that are to be explained."
            )
        found = self.predict(X) if labels is None else np.asarray(labels)
        if found.shape != (views.n_items,) or found.dtype.kind not in "iu" or (found >= self.n_clusters_).any():
            raise ParameterError(f"labels must be {views.n_items} cluster numbers below {self.n_clusters_}.")
        reader = Reader(views, self._layout())
        field, rules = self._open_field(reader)
        return explain_items(field, rules, reader, found, names or {}, top)

    @property
    def cluster_centers_(self) -> dict[str, Any]:
        """Middle of each box in the units of the input; tag probabilities as CSR."""
        from scipy.sparse import csr_matrix

        channels, field, centers = self._layout(), self.field_, {}
        boxes = self.cluster_boxes_
        for k in range(channels.n_content, channels.n_channels):
            t = k - channels.n_content
            rows = slice(int(channels.tags_at[t]), int(channels.tags_at[t + 1]))
            divisor = field["figures"][DIVISOR, k]
            divisor = np.where(divisor > 0, divisor, 1.0)
            centers[channels.names[k]] = csr_matrix((field["counts"][rows] / divisor).T)
        return {
            name: centers[name] if name in centers else (boxes[name][0] + boxes[name][1]) / 2
            for name in self.view_names_
        }

    @property
    def cluster_boxes_(self) -> dict[str, tuple[Floats, Floats]]:
        """Lower and upper corner of each cluster in each content view; NaN where no member has the view."""
        channels, field, boxes = self._layout(), self.field_, {}
        for k in range(channels.n_content):
            cut = slice(int(channels.content_at[k]), int(channels.content_at[k + 1]))
            low, span = field["low"][cut], field["high"][cut] - field["low"][cut]
            unseen = field["numbers"][MEMBERS, k] == 0
            sides = [low + field["corner"][:, cut] * span, low + (1.0 - field["ceiling"][:, cut]) * span]
            for side in sides:
                side[unseen] = np.nan
            boxes[channels.names[k]] = (sides[0], sides[1])
        return boxes

    @property
    def cluster_sizes_(self) -> NDArray[np.int64]:
        return self.field_["size"].copy()

    @property
    def scatter_(self) -> Floats:
        return self._layout().in_view_order(self.field_["figures"][SCATTER].T)

    @property
    def contributions_history_(self) -> Floats:
        return self._layout().in_view_order(self.field_["history"][: int(self.field_["tally"][2])])

    @property
    def history_items_(self) -> NDArray[np.int64]:
        return self.field_["history_at"][: int(self.field_["tally"][2])].copy()

    @property
    def bounds_(self) -> dict[str, tuple[Floats, Floats]]:
        channels, field = self._layout(), self.field_
        cuts = [slice(int(a), int(b)) for a, b in zip(channels.content_at, channels.content_at[1:], strict=False)]
        return {
            name: (field["low"][cut].copy(), field["high"][cut].copy())
            for name, cut in zip(channels.names, cuts, strict=False)
        }

    def _layout(self) -> Channels:
        return Channels.of(self.channels_, self.n_features_per_view_)

    def _open_field(self, reader: Reader | None) -> tuple[Any, Any]:
        raise NotImplementedError

    def predict(self, X: Any) -> Any:
        raise NotImplementedError
