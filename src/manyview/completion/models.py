"""Fitted models as sources: the labels of any clusterer, the leaves of a forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.tags import TagTable
from ..data.views import Views
from ..errors import ParameterError
from ..methods.base import MultiviewEstimator
from ..types import Ints, Singles
from .batch import Batch
from .nearest import Nearest

__all__ = [
    "OF_FOREST",
    "Extras",
    "answers_in_fit",
    "answers_on_new",
    "check_model",
    "rehearsed_answers",
    "source_of_model",
]


OF_FOREST = ("neighbourhood", "affinity", "leaf_frequency")
_REHEARSAL_TREES = 100


@dataclass(frozen=True)
class Extras:
    """What a model answered: for each set of tags the cluster of every item, or the score of every item and tag.

    The first answer is on the tags of the fit, the others on those of the rehearsals; without a model there is none.
    ``near`` are the items that a forest finds most alike, for reasons.
    """

    labels: Sequence[Ints] = ()
    scores: Sequence[Singles] = ()
    near: Nearest | None = None

    def add(self, batch: Batch, rows: Ints, number: int = 0) -> Batch:
        """The batch with the answers on these rows."""
        if self.labels:
            return replace(batch, labels=self.labels[min(number, len(self.labels) - 1)][rows])
        if self.scores:
            near = None if self.near is None else Nearest(self.near.items[rows], self.near.cosines[rows])
            return replace(batch, model_scores=self.scores[number][rows], model_near=near)
        return batch


def source_of_model(model: Any) -> str:
    """How a model joins the other sources: a forest by its leaves, a clusterer by its clusters."""
    return "leaf_frequency" if _is_forest(model) else "cluster"


def check_model(model: Any, source: str, table: TagTable) -> None:
    """Refuse a model that is not fitted, or fitted to other items or tags."""
    if getattr(model, "labels_", None) is None:
        raise ParameterError(
            f"model must be fitted and have labels_, a cluster for each item; got {type(model).__name__} without. "
            "Call its fit first."
        )
    if len(model.labels_) != table.n_items:
        raise ParameterError(
            f"the model was fitted to {len(model.labels_)} items, but there are {table.n_items}; fit both to the same."
        )
    if source in OF_FOREST:
        if not _is_forest(model):
            raise ParameterError(f"method {source!r} asks a TagForest; got {type(model).__name__}.")
        if tuple(model.tag_names_) != table.names:
            raise ParameterError("the forest was fitted to other tags; fit both with the same tags.")


def answers_in_fit(model: Any, source: str) -> Extras:
    """What the model says of the items it was fitted to."""
    if model is None:
        return Extras()
    if source == "cluster":
        return Extras(labels=[np.asarray(model.labels_, dtype=np.int64)])
    return Extras(scores=[model.tag_scores(method=source)], near=_most_alike(model))


def _most_alike(forest: Any) -> Nearest:
    """The items with which each shares most leaves."""
    graph = forest.neighbors_.tocsr()
    length = np.diff(graph.indptr)
    width = int(length.max(initial=0))
    place = np.arange(graph.nnz) - np.repeat(graph.indptr[:-1], length)
    row = np.repeat(np.arange(graph.shape[0]), length)
    items, affinity = (
        np.zeros((graph.shape[0], width), dtype=np.int32),
        np.zeros((graph.shape[0], width), dtype=np.float32),
    )
    items[row, place], affinity[row, place] = graph.indices, graph.data
    order = np.argsort(-affinity, axis=1, kind="stable")
    return Nearest(np.take_along_axis(items, order, axis=1), np.take_along_axis(affinity, order, axis=1))


def rehearsed_answers(model: Any, source: str, X: Any, table: TagTable, visible: Sequence[Any]) -> Extras:
    """What the model says of its items, and what it would say had it seen less.

    Labels are taken as they are. A forest is grown again on the tags that are left, with at most 100 trees: its own
    trees have seen what a rehearsal hides.
    """
    first = answers_in_fit(model, source)
    if not first.scores:
        return first
    from sklearn.base import clone

    again = []
    for tags in visible:
        forest = clone(model).set_params(n_estimators=min(_REHEARSAL_TREES, model.n_estimators))
        forest.fit(X, TagTable(table.names, tags.copy(), table.no.copy()))
        again.append(forest.tag_scores(method=source))
    return replace(first, scores=[*first.scores, *again])


def answers_on_new(model: Any, source: str, X: Any) -> Extras:
    """What the model says of items it has not seen."""
    if model is None:
        return Extras()
    if X is None:
        raise ParameterError("the model is asked about new items by their views; pass X as well as tags.")
    if isinstance(X, Views) and not isinstance(model, MultiviewEstimator) and X.n_views == 1:
        X = X.values()[0]  # scikit-learn's own clusterers know no views
    if source != "cluster":
        return Extras(scores=[model.tag_scores(X, method=source)])
    if not hasattr(model, "predict"):
        raise ParameterError(f"{type(model).__name__} has no predict, so it cannot place items it was not fitted to.")
    return Extras(labels=[np.asarray(model.predict(X), dtype=np.int64)])


def _is_forest(model: Any) -> bool:
    return hasattr(model, "tag_scores") and hasattr(model, "leaves_")
