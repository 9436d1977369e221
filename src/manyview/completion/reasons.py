"""Why a tag was proposed: what each tag, view and neighbour of the item added to its score.

The score is linear in its sources, and the ridges and the neighbours are linear in what they are given, so their parts
add up exactly. What naive Bayes lifts a tag above its frequency is shared out among the item's tags by how much each
lifts it; that split is a convention.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .batch import Batch
from .evidence import SHOWN, Evidence
from .items import Items
from .naive_bayes import NaiveBayes
from .nearest import Nearest, weights_of
from .recipe import Recipe
from .ridge import Ridge
from .simple_sources import Clusters, Companions, ModelScores, Neighbours

__all__ = ["explain_pairs"]


class _Shared:
    """What several pairs of one batch have in common, worked out once. Pairs come tag by tag."""

    def __init__(self, batch: Batch, near: Sequence[Nearest], items: Items, known: Any, names: Sequence[str]) -> None:
        self.batch, self.near, self.items, self.names = batch, near, items, names
        self.weights = [weights_of(found) for found in near]
        self._known = known
        self._values: dict[int, Any] = {}
        self._of_tag: dict[tuple[int, str], Any] = {}
        self._tag = -1
        self.carriers = np.zeros(items.n_items, dtype=bool)

    def turn_to(self, tag: int) -> None:
        """The pairs that follow are of this tag."""
        if tag != self._tag:
            self.carriers[self._carriers_of(self._tag)] = False
            self.carriers[self._carriers_of(tag)] = True
            self._tag = tag
            self._of_tag.clear()

    def _carriers_of(self, tag: int) -> Any:
        start, stop = self._known.indptr[tag : tag + 2] if tag >= 0 else (0, 0)
        return self._known.indices[start:stop]

    def coefficients(self, ridge: Ridge) -> tuple[Any, Any]:
        """Those of the tag."""
        found: tuple[Any, Any] = self._once(ridge, "coefficients", lambda: ridge.coefficients(self._tag))
        return found

    def column(self, source: Any, matrix: Any) -> Any:
        """The column of the tag in a sparse matrix of a source, dense."""
        by_columns = self._values.setdefault(id(matrix), None)
        if by_columns is None:
            by_columns = self._values[id(matrix)] = matrix.tocsc()
        return self._once(source, "column", lambda: by_columns[:, [self._tag]].toarray().ravel())

    def _once(self, source: Any, what: str, make: Callable[[], Any]) -> Any:
        key = (id(source), what)
        if key not in self._of_tag:
            self._of_tag[key] = make()
        return self._of_tag[key]

    def scores(self, source: Any) -> Any:
        """What a source says of the whole batch."""
        if id(source) not in self._values:
            self._values[id(source)] = source.scores(self.batch)
        return self._values[id(source)]


@dataclass(frozen=True)
class _Asked:
    """One pair of item and tag, and all that is needed to look into it."""

    shared: _Shared
    row: int
    tag: int
    divisors: Mapping[int, float]

    @property
    def batch(self) -> Batch:
        return self.shared.batch

    @property
    def names(self) -> Sequence[str]:
        return self.shared.names

    @cached_property
    def own_tags(self) -> NDArray[np.intp]:
        start, stop = self.batch.tags.indptr[self.row : self.row + 2]
        return np.asarray(self.batch.tags.indices[start:stop], dtype=np.intp)

    @cached_property
    def alike(self) -> list[tuple[int, ...]]:
        """The nearest items that carry the tag, in each view."""
        return [self.carrying(near) for near in self.shared.near]

    def carrying(self, near: Nearest) -> tuple[int, ...]:
        """The nearest items that carry the tag."""
        found, weight = near.items[self.row], near.cosines[self.row]
        return tuple(found[(weight > 0) & self.shared.carriers[found]][:SHOWN].tolist())


def explain_pairs(
    recipe: Recipe,
    items: Items,
    batch: Batch,
    near: Sequence[Nearest],
    rows: NDArray[Any],
    tags: NDArray[Any],
    known: Any,
    names: Sequence[str],
) -> list[list[Evidence]]:
    """All evidence for pairs of a row of the batch and a tag: amounts sum to the score; the last is what is left.

    ``near`` are the neighbours of the batch in each view, ``known`` the tags of all items of the fit, as CSC.
    """
    scores = recipe.scores(batch)
    ridges = {id(source): source for source in recipe.sources.values() if isinstance(source, Ridge)}
    divisors = {key: _divisors(ridge, batch)[rows, tags] for key, ridge in ridges.items()}
    shared = _Shared(batch, near, items, known, names)
    found: list[list[Evidence]] = [[] for _ in range(len(rows))]
    for p in np.argsort(tags, kind="stable").tolist():
        row, tag = int(rows[p]), int(tags[p])
        shared.turn_to(tag)
        own = {key: float(values[p]) for key, values in divisors.items()}
        found[p] = _evidence(recipe, _Asked(shared, row, tag, own), float(scores[row, tag]))
    return found


def _divisors(ridge: Ridge, batch: Batch) -> NDArray[np.float32]:
    if batch.rows is None:
        return np.ones(batch.tags.shape, dtype=np.float32)
    return ridge.denominators(batch, batch.tags.toarray() - ridge.fitted(batch))


def _evidence(recipe: Recipe, asked: _Asked, score: float) -> list[Evidence]:
    amounts: dict[tuple[str, str], float] = defaultdict(float)
    shown: dict[tuple[str, str], tuple[int, ...]] = {}
    weights = recipe.weights[int(asked.own_tags.size == 0)]
    for weight, source in zip(weights, recipe.sources.values(), strict=True):
        if weight:
            for kind, name, amount, rows in _parts(source, asked):
                amounts[kind, name] += float(weight) * amount
                shown[kind, name] = rows
    left = score - sum(amounts.values())
    total = sum(amount for amount in amounts.values() if amount > 0) + max(left, 0.0)
    total = total if total > 0 else 1.0
    found = [Evidence(*key, amount, amount / total, shown[key]) for key, amount in amounts.items() if amount]
    found.sort(key=lambda one: -one.amount)
    return [*found, Evidence("frequency", "", left, left / total)]


_Part = tuple[str, str, float, tuple[int, ...]]


def _parts(source: Any, asked: _Asked) -> list[_Part]:
    if isinstance(source, Ridge):
        return _ridge_parts(source, asked)
    if isinstance(source, Neighbours):
        return _neighbour_parts(asked)
    if isinstance(source, NaiveBayes):
        return _bayes_parts(source, asked)
    if isinstance(source, Companions):
        given = asked.shared.column(source, source.share)[asked.own_tags]
        return [("tag", asked.names[j], float(amount), ()) for j, amount in zip(asked.own_tags, given, strict=True)]
    if isinstance(source, Clusters):
        return _cluster_part(source, asked)
    if isinstance(source, ModelScores):
        rows = asked.carrying(asked.batch.model_near) if asked.batch.model_near is not None else ()
        return [("forest", "", float(asked.batch.model_scores[asked.row, asked.tag]), rows)]
    return []  # the frequency is what is left


def _ridge_parts(ridge: Ridge, asked: _Asked) -> list[_Part]:
    from_tags, from_features = asked.shared.coefficients(ridge)
    divisor, features = asked.divisors[id(ridge)], asked.batch.features[asked.row]
    parts: list[_Part] = [
        ("tag", asked.names[j], float(from_tags[j]) / divisor, ()) for j in asked.own_tags.tolist() if j != asked.tag
    ]
    start = 0
    for v, space in enumerate(asked.shared.items.spaces):
        stop = start + space.n_features
        amount = float(features[start:stop] @ from_features[start:stop]) / divisor
        parts.append(("view", space.name, amount, asked.alike[v]))
        start = stop
    return parts


def _neighbour_parts(asked: _Asked) -> list[_Part]:
    weights = [weight[asked.row] for weight in asked.shared.weights]
    n_views = sum(bool(weight.any()) for weight in weights)
    parts: list[_Part] = []
    for v, weight in enumerate(weights):
        amount = float(weight[asked.shared.carriers[asked.shared.near[v].items[asked.row]]].sum())
        if amount:
            parts.append(("view", asked.shared.items.spaces[v].name, amount / n_views, asked.alike[v]))
    return parts


def _bayes_parts(source: NaiveBayes, asked: _Asked) -> list[_Part]:
    own = asked.own_tags
    lifts = np.maximum(asked.shared.column(source, source.lift)[own] + source.apart[own], 0.0)
    if not lifts.any():
        return []
    value = float(asked.shared.scores(source)[asked.row, asked.tag])
    shared = (value - source.prior[asked.tag]) * lifts / lifts.sum()
    return [("tag", asked.names[j], amount, ()) for j, amount in zip(own.tolist(), shared.tolist(), strict=True)]


_NOTHING: tuple[Any, Any, Any] = (np.zeros((1, 0), dtype=np.float32), None, None)


def _cluster_part(source: Clusters, asked: _Asked) -> list[_Part]:
    label = int(asked.batch.labels[asked.row])
    if label < 0:
        return []
    one = slice(asked.row, asked.row + 1)
    rows = None if asked.batch.rows is None else asked.batch.rows[one]
    alone = Batch(asked.batch.tags[one], *_NOTHING[:2], rows, asked.batch.labels[one])
    return [("cluster", str(label), float(source.scores(alone)[0, asked.tag]), ())]
