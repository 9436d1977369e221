"""Why a tag was proposed: what each tag, view and neighbour of the item added to its score.

The score is linear in its sources, and the ridges and the neighbours are linear in what they are given, so their parts
add up exactly. What naive Bayes lifts a tag above its frequency is shared out among the item's tags by how much each
lifts it; that split is a convention.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .batch import Batch
from .items import Items
from .naive_bayes import NaiveBayes
from .nearest import Nearest, weights_of
from .recipe import Recipe
from .ridge import Ridge
from .simple_sources import Clusters, Companions, ModelScores, Neighbours

__all__ = ["Evidence", "explain_pairs", "main_evidence", "sentence"]

_SHOWN = 3
_NEGATIVE_SHARE = 0.25


@dataclass(frozen=True)
class Evidence:
    """One thing that spoke for a proposal, or against it.

    kind : "tag" (a tag of the item), "view" (what it is like in a view, by the ridges and by similar items),
        "cluster", "forest", or "frequency" (what is left: how frequent the tag is anyway)
    name : the tag or the view
    amount : what it added to the score
    share : amount over the sum of all positive amounts
    items : up to three rows of ``fit`` that carry the tag, most similar first
    """

    kind: str
    name: str
    amount: float
    share: float
    items: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Asked:
    """One pair of item and tag, and all that is needed to look into it."""

    batch: Batch
    row: int
    tag: int
    near: Sequence[Nearest]
    carriers: NDArray[np.bool_]
    names: Sequence[str]
    items: Items
    divisors: Mapping[int, float]

    @property
    def own_tags(self) -> NDArray[np.intp]:
        start, stop = self.batch.tags.indptr[self.row : self.row + 2]
        return np.asarray(self.batch.tags.indices[start:stop], dtype=np.intp)

    def carrying(self, near: Nearest) -> tuple[int, ...]:
        """The nearest items that carry the tag."""
        found, weight = near.items[self.row], near.cosines[self.row]
        return tuple(int(t) for t in found[(weight > 0) & self.carriers[found]][:_SHOWN])


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
    found = []
    for p, (row, tag) in enumerate(zip(rows.tolist(), tags.tolist(), strict=True)):
        carriers = np.zeros(items.n_items, dtype=bool)
        carriers[known.indices[known.indptr[tag] : known.indptr[tag + 1]]] = True
        own = {key: float(values[p]) for key, values in divisors.items()}
        asked = _Asked(batch, row, tag, near, carriers, names, items, own)
        found.append(_evidence(recipe, asked, float(scores[row, tag])))
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


def main_evidence(found: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The three largest that spoke for it, the one that spoke loudest against it, and what is left."""
    *parts, left = found
    positive = [one for one in parts if one.amount > 0][:_SHOWN]
    against = [one for one in parts if one.share < -_NEGATIVE_SHARE][-1:]
    return (*positive, *against, left)


def sentence(tag: str, evidence: Sequence[Evidence], item_names: Any) -> str:
    """The reason in words."""
    parts = [_words(one, item_names) for one in evidence if one.amount > 0 and one.kind != "frequency"]
    if not parts:
        return f"{tag}: frequent in this collection."
    against = [_words(one, item_names) for one in evidence if one.amount < 0 and one.kind != "frequency"]
    return f"{tag}: because of {', '.join(parts)}" + (f"; against it: {', '.join(against)}." if against else ".")


def _words(one: Evidence, item_names: Any) -> str:
    like = f" (like {', '.join(str(item_names[t]) for t in one.items)})" if one.items else ""
    what = {
        "tag": f"the tag {one.name}",
        "view": f"its {one.name}{like}",
        "cluster": f"its cluster {one.name}{like}",
        "forest": f"items in the same leaves{like}",
    }[one.kind]
    return f"{what} {abs(one.share):.0%}"


_Part = tuple[str, str, float, tuple[int, ...]]


def _parts(source: Any, asked: _Asked) -> list[_Part]:
    if isinstance(source, Ridge):
        return _ridge_parts(source, asked)
    if isinstance(source, Neighbours):
        return _neighbour_parts(asked)
    if isinstance(source, NaiveBayes):
        return _bayes_parts(source, asked)
    if isinstance(source, Companions):
        given = source.share[asked.own_tags][:, [asked.tag]].toarray().ravel()
        return [("tag", asked.names[j], float(amount), ()) for j, amount in zip(asked.own_tags, given, strict=True)]
    if isinstance(source, Clusters):
        return _cluster_part(source, asked)
    if isinstance(source, ModelScores):
        rows = asked.carrying(asked.batch.model_near) if asked.batch.model_near is not None else ()
        return [("forest", "", float(asked.batch.model_scores[asked.row, asked.tag]), rows)]
    return []  # the frequency is what is left


def _ridge_parts(ridge: Ridge, asked: _Asked) -> list[_Part]:
    batch, row = asked.batch, asked.row
    from_tags, from_features = ridge.coefficients(asked.tag)
    divisor = asked.divisors[id(ridge)]
    parts: list[_Part] = [
        ("tag", asked.names[j], float(from_tags[j]) / divisor, ()) for j in asked.own_tags if j != asked.tag
    ]
    start = 0
    for v, space in enumerate(asked.items.spaces):
        stop = start + space.n_features
        amount = float(batch.features[row, start:stop] @ from_features[start:stop]) / divisor
        parts.append(("view", space.name, amount, asked.carrying(asked.near[v])))
        start = stop
    return parts


def _neighbour_parts(asked: _Asked) -> list[_Part]:
    weights = [weights_of(Nearest(near.items[[asked.row]], near.cosines[[asked.row]]))[0] for near in asked.near]
    n_views = sum(bool(weight.any()) for weight in weights)
    parts: list[_Part] = []
    for v, weight in enumerate(weights):
        amount = float(weight[asked.carriers[asked.near[v].items[asked.row]]].sum())
        if amount:
            parts.append(("view", asked.items.spaces[v].name, amount / n_views, asked.carrying(asked.near[v])))
    return parts


def _bayes_parts(source: NaiveBayes, asked: _Asked) -> list[_Part]:
    own = asked.own_tags
    lifts = np.maximum(source.lift[own][:, [asked.tag]].toarray().ravel() + source.apart[own], 0.0)
    if not lifts.any():
        return []
    value = float(source.scores(Batch(asked.batch.tags[[asked.row]], *_NOTHING))[0, asked.tag])
    shared = (value - source.prior[asked.tag]) * lifts / lifts.sum()
    return [("tag", asked.names[j], float(amount), ()) for j, amount in zip(own, shared, strict=True)]


_NOTHING: tuple[Any, Any, Any] = (np.zeros((1, 0), dtype=np.float32), None, None)


def _cluster_part(source: Clusters, asked: _Asked) -> list[_Part]:
    label = int(asked.batch.labels[asked.row])
    if label < 0:
        return []
    one = slice(asked.row, asked.row + 1)
    rows = None if asked.batch.rows is None else asked.batch.rows[one]
    alone = Batch(asked.batch.tags[one], *_NOTHING[:2], rows, asked.batch.labels[one])
    return [("cluster", str(label), float(source.scores(alone)[0, asked.tag]), ())]
