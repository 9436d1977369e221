"""Why a tag was proposed: what each tag, view and neighbour of the item added to its score.

The score is linear in its sources, and the ridges and the neighbours are linear in what they are given, so their parts
add up exactly. What naive Bayes lifts a tag above its frequency is shared out among the item's tags by how much each
lifts it; that split is a convention.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .batch import Batch
from .evidence import SHOWN, Evidence
from .items import Items
from .nearest import Nearest, weights_of
from .recipe import Recipe
from .ridge import Ridge

__all__ = ["Pair", "explain_pairs"]


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

    def divisors(self, ridge: Ridge) -> Any:
        """What a ridge divides by to leave the items of the batch out."""
        if id(ridge) not in self._values:
            batch = self.batch
            self._values[id(ridge)] = (
                np.ones(batch.tags.shape, dtype=np.float32)
                if batch.rows is None
                else ridge.denominators(batch, batch.tags.toarray() - ridge.fitted(batch))
            )
        return self._values[id(ridge)]


@dataclass(frozen=True)
class Pair:
    """One pair of item and tag, and all that a source needs to look into it."""

    shared: _Shared
    row: int
    tag: int

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

    def divisor(self, ridge: Ridge) -> float:
        """What the prediction of a ridge for this pair was divided by to leave the item out; 1 for a new item."""
        return float(self.shared.divisors(ridge)[self.row, self.tag])


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
    shared = _Shared(batch, near, items, known, names)
    found: list[list[Evidence]] = [[] for _ in range(len(rows))]
    for p in np.argsort(tags, kind="stable").tolist():
        row, tag = int(rows[p]), int(tags[p])
        shared.turn_to(tag)
        found[p] = _evidence(recipe, Pair(shared, row, tag), float(scores[row, tag]))
    return found


def _evidence(recipe: Recipe, pair: Pair, score: float) -> list[Evidence]:
    amounts: dict[tuple[str, str], float] = defaultdict(float)
    shown: dict[tuple[str, str], tuple[int, ...]] = {}
    weights = recipe.weights[int(pair.own_tags.size == 0)]
    for weight, source in zip(weights, recipe.sources.values(), strict=True):
        if weight:
            for kind, name, amount, rows in source.explain(pair):
                amounts[kind, name] += float(weight) * amount
                shown[kind, name] = rows
    left = score - sum(amounts.values())
    total = sum(amount for amount in amounts.values() if amount > 0) + max(left, 0.0)
    total = total if total > 0 else 1.0
    found = [Evidence(*key, amount, amount / total, shown[key]) for key, amount in amounts.items() if amount]
    found.sort(key=lambda one: -one.amount)
    return [*found, Evidence("frequency", "", left, left / total)]
