"""Fitted models as sources: the labels of any clusterer, the leaves of a forest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.tags import TagTable
from ..data.views import Views
from ..errors import ParameterError
from ..methods.base import MultiviewEstimator
from ..types import Ints
from .batch import Batch
from .neighbours.nearest import Nearest

__all__ = [
    "OF_FOREST",
    "Extras",
    "answers_in_fit",
    "answers_on_new",
    "answers_to_learn_from",
    "check_model",
    "source_of_model",
]


OF_FOREST = ("neighbourhood", "affinity", "leaf_frequency")
_TREES_TO_LEARN_FROM = 100
_FOLDS = 5


@dataclass(frozen=True)
class Extras:
    """What a model answered: the cluster of every item, or the score of every item and tag; without a model nothing.

    ``hidden`` holds, where a tag is known, the score of a forest that had not seen it (CSR). ``near`` are the items
    that a forest finds most alike, for reasons.
    """

    labels: Any = None
    scores: Any = None
    hidden: Any = None
    near: Nearest | None = None

    def add(self, batch: Batch, rows: Ints) -> Batch:
        """The batch with the answers on these rows."""
        if self.labels is not None:
            return replace(batch, labels=self.labels[rows])
        if self.scores is None:
            return batch
        near = None if self.near is None else Nearest(self.near.items[rows], self.near.cosines[rows])
        hidden = None if self.hidden is None else self.hidden[rows].data
        return replace(batch, model_scores=self.scores[rows], model_hidden=hidden, model_near=near)


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
        return Extras(labels=np.asarray(model.labels_, dtype=np.int64))
    return Extras(scores=model.tag_scores(method=source), near=_most_alike(model))


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


def answers_to_learn_from(model: Any, source: str, X: Any, table: TagTable, rng: np.random.Generator) -> Extras:
    """The same, and what the model says of tags that it has not seen.

    Labels are taken as they are. A forest is grown again without a fifth of the tags, five times, with at most 100
    trees: its own trees have seen every tag. Fewer tags to learn from make scores smaller, so they are scaled up.
    """
    found = answers_in_fit(model, source)
    if found.scores is None:
        return found
    from scipy.sparse import csr_matrix
    from sklearn.base import clone

    tags = table.yes
    row = np.repeat(np.arange(tags.shape[0]), np.diff(tags.indptr))
    fold = rng.permutation(tags.nnz) % _FOLDS
    hidden = np.zeros(tags.nnz, dtype=np.float32)
    for one in range(_FOLDS):
        away = fold == one
        if not away.any() or away.all():
            continue
        seen = csr_matrix((tags.data[~away], (row[~away], tags.indices[~away])), shape=tags.shape)
        forest = clone(model).set_params(n_estimators=min(_TREES_TO_LEARN_FROM, model.n_estimators))
        scores = forest.fit(X, TagTable(table.names, seen, table.no.copy())).tag_scores(method=source)
        hidden[away] = scores[row[away], tags.indices[away]] * (tags.nnz / seen.nnz)
    return replace(found, hidden=csr_matrix((hidden, tags.indices, tags.indptr), shape=tags.shape))


def answers_on_new(model: Any, source: str, X: Any) -> Extras:
    """What the model says of items it has not seen."""
    if model is None:
        return Extras()
    if X is None:
        raise ParameterError("the model is asked about new items by their views; pass X as well as tags.")
    if isinstance(X, Views) and not isinstance(model, MultiviewEstimator) and X.n_views == 1:
        X = X.values()[0]  # scikit-learn's own clusterers know no views
    if source != "cluster":
        return Extras(scores=model.tag_scores(X, method=source))
    if not hasattr(model, "predict"):
        raise ParameterError(f"{type(model).__name__} has no predict, so it cannot place items it was not fitted to.")
    return Extras(labels=np.asarray(model.predict(X), dtype=np.int64))


def _is_forest(model: Any) -> bool:
    return hasattr(model, "tag_scores") and hasattr(model, "leaves_")
