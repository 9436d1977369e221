"""Why tags were proposed: what each tag, view and neighbour of an item added to the score.

The score is linear in its sources, and the ridges and the neighbours are linear in what they are given, so their parts
add up exactly. What naive Bayes lifts a tag above its frequency is shared out among the item's tags by how much each
lifts it; that split is a convention. All pairs of a block are worked out at once: of a million items there are five
million.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..types import Floats, Ints, Singles
from .batch import Batch, Other
from .evidence import NEGATIVE_SHARE, SHOWN, Evidence
from .items import Items
from .neighbours.nearest import Nearest, weights_of
from .recipe import Recipe

__all__ = ["Pairs", "Told", "explain_pairs", "joined"]

TAG, VIEW, OTHER = 0, 1, 2


class Carriers(NamedTuple):
    """Of each pair: the nearest items that carry the tag, (n, 3), -1 for nobody; and what all of them weigh."""

    items: Ints
    weight: Floats


class Pairs:
    """Pairs of a row of a batch and a tag, and all that sources need to look into them.

    ``near`` are the neighbours of the batch in each view, ``known`` the tags of all items of the fit, CSR.
    """

    def __init__(self, batch: Batch, near: Sequence[Nearest], items: Items, known: Any, rows: Ints, tags: Ints) -> None:
        self.batch, self.near, self.items = batch, near, items
        self.rows, self.tags, self.n = np.asarray(rows), np.asarray(tags), len(rows)
        self._known = known
        self._scores: dict[int, Floats] = {}

    @cached_property
    def n_own(self) -> Ints:
        """How many tags the item of each pair has."""
        return np.asarray(np.diff(self.batch.tags.indptr)[self.rows], dtype=np.int64)

    @cached_property
    def own(self) -> tuple[Ints, Ints]:
        """The tags of the items: pair and tag of every entry, pair by pair."""
        pair = np.repeat(np.arange(self.n), self.n_own)
        step = np.arange(pair.size) - np.repeat(np.cumsum(self.n_own) - self.n_own, self.n_own)
        return pair, self.batch.tags.indices[self.batch.tags.indptr[self.rows][pair] + step].astype(np.int64)

    @cached_property
    def is_known(self) -> Floats:
        """1 where the item has the tag of its pair, else 0."""
        pair, own = self.own
        return np.bincount(pair, weights=(own == self.tags[pair]).astype(np.float64), minlength=self.n).astype(
            np.float64
        )

    @cached_property
    def n_views(self) -> Ints:
        """In how many views the item of each pair has neighbours."""
        return np.sum([(found.cosines > 0).any(axis=1) for found in self.near], axis=0)[self.rows]

    @cached_property
    def alike(self) -> list[Carriers]:
        """The nearest items that carry the tag, in each view."""
        return [self.carrying(near) for near in self.near]

    @property
    def nobody(self) -> Ints:
        """In the place of similar items."""
        return np.full((self.n, SHOWN), -1, dtype=np.int64)

    def carrying(self, near: Nearest) -> Carriers:
        """The nearest items that carry the tag of each pair, among these neighbours of the batch."""
        row, rank = np.nonzero(near.cosines > 0)
        who = near.items[row, rank]
        held = self._known[who]
        entry = np.repeat(np.arange(who.size), np.diff(held.indptr))
        # Every tag of every neighbour as one number: of a row and a tag the nearest first, as the sort keeps it.
        number = row[entry] * held.shape[1] + held.indices
        order = np.argsort(number, kind="stable")
        number, entry = number[order], entry[order]
        asked = self.rows * np.int64(held.shape[1]) + self.tags
        first, end = np.searchsorted(number, asked), np.searchsorted(number, asked, side="right")
        place = first[:, None] + np.arange(SHOWN)
        items = self.nobody
        there = place < end[:, None]
        items[there] = who[entry[place[there]]]
        weight = np.concatenate([[0.0], np.cumsum(weights_of(near)[row, rank][entry], dtype=np.float64)])
        return Carriers(items, weight[end] - weight[first])

    def scores_by(self, source: Any) -> Floats:
        """What a source says of each pair."""
        if id(source) not in self._scores:
            self._scores[id(source)] = source.scores(self.batch)[self.rows, self.tags].astype(np.float64)
        found: Floats = self._scores[id(source)]
        return found


@dataclass(frozen=True)
class Told:
    """Evidence for some pairs: parts pair by pair, the largest of a pair first. What is left is not among them.

    pair : which pair a part is of
    kind : 0 a tag of the item, 1 a view, 2 what a model said
    which : the tag or view
    amount, share : as in ``Evidence``
    items : (n_parts, 3) rows of similar items, -1 where there are fewer
    left, left_share : of each pair, what no part explains
    """

    pair: NDArray[Any]
    kind: NDArray[Any]
    which: NDArray[Any]
    amount: NDArray[Any]
    share: NDArray[Any]
    items: NDArray[Any]
    left: Floats
    left_share: Floats
    tag_names: Sequence[str]
    view_names: Sequence[str]
    other: Other | None

    def main(self) -> Told:
        """The three largest parts of a pair that spoke for it, and the one that spoke loudest against it; compact."""
        rank = np.arange(self.pair.size) - np.searchsorted(self.pair, self.pair)
        is_last = np.append(self.pair[1:] != self.pair[:-1], True)[: self.pair.size]
        kept = ((self.amount > 0) & (rank < SHOWN)) | (is_last & (self.share < -NEGATIVE_SHARE))
        return replace(
            self,
            pair=self.pair[kept].astype(np.int32),
            kind=self.kind[kept].astype(np.int8),
            which=self.which[kept].astype(np.int32),
            amount=self.amount[kept].astype(np.float32),
            share=self.share[kept].astype(np.float32),
            items=self.items[kept].astype(np.int32),
        )

    def divided_by(self, divisor: Singles) -> Told:
        """The same for scores that were divided: one number for each pair."""
        if (divisor == 1).all():
            return self
        return replace(self, amount=self.amount / divisor[self.pair], left=self.left / divisor)

    def parts(self) -> Iterator[list[tuple[str, str, float, float, list[int]]]]:
        """Kind, name, amount, share and similar items of each part, pair by pair."""
        kinds = ("tag", "view", self.other.kind if self.other else "")
        names = (self.tag_names, self.view_names, self.other.names if self.other else ())
        few = (self.items >= 0).sum(axis=1).tolist()
        told = [
            (kinds[kind], names[kind][which], amount, share, items[:n])
            for kind, which, amount, share, items, n in zip(
                self.kind.tolist(),
                self.which.tolist(),
                self.amount.tolist(),
                self.share.tolist(),
                self.items.tolist(),
                few,
                strict=True,
            )
        ]
        bounds = np.searchsorted(self.pair, np.arange(self.left.size + 1)).tolist()
        for start, stop in pairwise(bounds):
            yield told[start:stop]

    def evidence(self) -> Iterator[tuple[Evidence, ...]]:
        """The same as objects, what is left last."""
        for parts, left, share in zip(self.parts(), self.left.tolist(), self.left_share.tolist(), strict=True):
            yield (
                *(Evidence(kind, name, amount, part, tuple(rows)) for kind, name, amount, part, rows in parts),
                Evidence("frequency", "", left, share),
            )


def joined(groups: Sequence[tuple[Ints, Told]]) -> Told:
    """Evidence for some pairs from that for two groups of them, by where the pairs of each are; models spoke for the
    first alone."""
    places = np.concatenate([at for at, _ in groups])
    pair = np.concatenate([at[told.pair] for at, told in groups])
    order = np.argsort(pair, kind="stable")

    def parts(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(told, name) for _, told in groups])

    return replace(
        groups[0][1],
        pair=pair[order].astype(np.int32),
        kind=parts("kind")[order],
        which=parts("which")[order],
        amount=parts("amount")[order],
        share=parts("share")[order],
        items=parts("items")[order],
        left=parts("left")[np.argsort(places)],
        left_share=parts("left_share")[np.argsort(places)],
    )


def explain_pairs(recipe: Recipe, pairs: Pairs, names: Sequence[str]) -> Told:
    """All evidence for some pairs: amounts and what is left sum to the score."""
    weights = recipe.weights[(pairs.n_own == 0).astype(int)]
    spaces = pairs.items.spaces
    pair, own = pairs.own
    of_tags, of_views = np.zeros(own.size), np.zeros((pairs.n, len(spaces)))
    score, of_other, other = np.zeros(pairs.n), np.zeros(pairs.n), None
    for k, source in enumerate(recipe.sources.values()):
        if not weights[:, k].any():
            continue
        score += weights[:, k] * pairs.scores_by(source)
        added = source.explain(pairs)
        of_tags += 0.0 if added.tags is None else weights[pair, k] * added.tags
        of_views += 0.0 if added.views is None else weights[:, k, None] * added.views
        if added.other is not None:
            other, of_other = added.other, weights[:, k] * added.other.amounts
    everyone = np.arange(pairs.n)
    rows_of_views = np.stack([found.items for found in pairs.alike], axis=1) if pairs.near else pairs.nobody[:, :0]
    whose = np.concatenate([pair, np.repeat(everyone, len(spaces)), everyone])
    kind = np.repeat([TAG, VIEW, OTHER], [own.size, of_views.size, pairs.n])
    which = np.concatenate([own, np.tile(np.arange(len(spaces)), pairs.n), everyone])
    amount = np.concatenate([of_tags, of_views.ravel(), of_other])
    items = np.concatenate(
        [
            np.full((own.size, SHOWN), -1),
            rows_of_views.reshape(-1, SHOWN),
            pairs.nobody if other is None else other.rows,
        ]
    )
    order = np.lexsort((-amount, whose))
    order = order[amount[order] != 0]
    left = score - np.bincount(whose, weights=amount, minlength=pairs.n)
    total = np.bincount(whose, weights=np.maximum(amount, 0.0), minlength=pairs.n) + np.maximum(left, 0.0)
    total = np.where(total > 0, total, 1.0)
    return Told(
        whose[order],
        kind[order],
        which[order],
        amount[order],
        amount[order] / total[whose[order]],
        items[order],
        left,
        left / total,
        names,
        [space.name for space in spaces],
        other,
    )
