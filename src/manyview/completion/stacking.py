"""How far to trust each source, and how often a score was right: from known tags, each left out in turn.

Every source leaves the item itself out, so hiding one of its tags needs no second fit. For items with tags, each of
which is hidden once, the weights come nearest to "hidden: 1, not known: 0"; the curve compares the scores of hidden
tags with those of all tags that are not known, as they are. For items without tags the same is done with items whose
tags are all hidden.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers
from ..types import Floats, Singles
from .batch import Batch, LeftOut, Source

__all__ = [
    "COLD",
    "WARM",
    "Judged",
    "Sums",
    "judge_scores",
    "mixed",
    "share_by_rank",
    "stack_weights",
    "sum_squares",
]

WARM, COLD = 0, 1
_STATES_AT_ONCE = 2**21
"""Scores of one source that are worked out at once for items with a tag hidden."""
_MOST_UNKNOWN = 500
"""Tags an item does not have whose scores are kept, the largest; the curve only counts the others."""
_LEAST_HIDDEN = 20
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
_CLEARLY = 2.0
"""Standard errors by which another share must be better to be taken."""

Batches = Sequence[Callable[[], Batch]]


@dataclass(frozen=True)
class Sums:
    """Of scores s and answers y (1 for a hidden tag, 0 for one that is not known): the sums of s s' and of y s."""

    gram: Floats
    target: Floats
    n_hidden: int

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.gram + other.gram, self.target + other.target, self.n_hidden + other.n_hidden)


def sum_squares(sources: Mapping[str, Source], batches: Batches, threads: Workers) -> tuple[Sums, Sums]:
    """What the weights for items with tags and for items without are found from.

    With tags: every known tag of items with two or more is hidden once. It counts 1, and each tag that the item does
    not have, scored without it, one over the number of the item's tags. Without: all are hidden, every pair counts 1.
    """

    def part(block: slice) -> tuple[Sums, Sums]:
        batch = batches[block.start]()
        left = [source.left_out(batch) for source in sources.values()]
        return _with_tags(batch, left), _without_tags(batch, left)

    nothing = Sums(np.zeros((len(sources), len(sources))), np.zeros(len(sources)), 0)
    found = [nothing, nothing]
    for pair in threads.map(part, [slice(b, b + 1) for b in range(len(batches))]):
        found = [total + more for total, more in zip(found, pair, strict=True)]
    return found[WARM], found[COLD]


def _with_tags(batch: Batch, left: Sequence[LeftOut]) -> Sums:
    row, column = batch.known
    count = np.diff(batch.tags.indptr)[row]
    several = np.flatnonzero(count > 1)
    hidden = np.stack([one.hidden[several] for one in left], axis=1).astype(np.float64)
    gram = hidden.T @ hidden
    unknown = batch.tags.toarray() == 0
    step = max(1, _STATES_AT_ONCE // max(1, batch.tags.shape[1]))
    for start in range(0, several.size, step):
        states = several[start : start + step]
        open_, root = unknown[row[states]], 1.0 / np.sqrt(count[states])
        scores = np.stack(
            [((one.without(row[states], column[states])) * root[:, None])[open_] for one in left], axis=1
        ).astype(np.float64)
        gram += scores.T @ scores
    return Sums(gram, hidden.sum(axis=0), int(several.size))


def _without_tags(batch: Batch, left: Sequence[LeftOut]) -> Sums:
    told = ~batch.is_cold
    scores = np.stack([one.emptied[told].ravel() for one in left], axis=1).astype(np.float64)
    hidden = batch.tags[told].toarray().ravel() > 0
    return Sums(scores.T @ scores, scores[hidden].sum(axis=0), int(hidden.sum()))


def stack_weights(sums: Sums, used: Sequence[bool]) -> Floats:
    """Weights of at least 0, summing to one, with which the sources come nearest to the answers.

    Only the ``used`` sources take part. With fewer than 20 hidden tags to learn from, all of them count the same.
    """
    from scipy.optimize import nnls

    taken = np.asarray(used, dtype=bool)
    weights = taken / taken.sum()
    if sums.n_hidden < _LEAST_HIDDEN:
        return np.asarray(weights)
    # The square root of the normal equations has the same minimiser and a handful of rows.
    values, vectors = np.linalg.eigh(sums.gram[np.ix_(taken, taken)])
    root = np.sqrt(np.maximum(values, values[-1] * 1e-12))
    found, _ = nnls(root[:, None] * vectors.T, (vectors.T @ sums.target[taken]) / root)
    if found.sum() > 0:
        weights = np.zeros(taken.size)
        weights[taken] = found / found.sum()
    return np.asarray(weights)


def share_by_rank(
    sources: Mapping[str, Source], weights: Floats, pair: tuple[str, str], batches: Batches, threads: Workers
) -> Floats:
    """The weights for items with tags, two sources sharing what they have together so that hidden tags stand highest.

    Squares hardly tell two ridges apart that come as near to the answers; who is proposed first is decided by how high
    a hidden tag stands among those that its item does not have. The mean of 1 / its place is compared, item by item,
    and another share than that of the squares is taken only where it is clearly better.
    """
    place = {name: k for k, name in enumerate(sources)}
    first, second = (place[name] for name in pair)
    together = weights[first] + weights[second]
    if not together:
        return weights
    tried = [weights]
    for share in _SHARES:
        other = weights.copy()
        other[first], other[second] = together * (1.0 - share), together * share
        tried.append(other)

    def part(block: slice) -> Floats:
        batch = batches[block.start]()
        left = [source.left_out(batch) for source in sources.values()]
        return np.stack([_heights(batch, left, one) for one in tried], axis=1)

    found = np.concatenate(list(threads.map(part, [slice(b, b + 1) for b in range(len(batches))])))
    if not len(found):  # no item has two tags
        return weights
    gain = found[:, 1:] - found[:, :1]
    error = np.sqrt(((gain - gain.mean(axis=0)) ** 2).sum(axis=0))
    best = int(np.argmax(gain.sum(axis=0)))
    return tried[1 + best] if gain[:, best].sum() > _CLEARLY * error[best] else weights


def _heights(batch: Batch, left: Sequence[LeftOut], weights: Floats) -> Floats:
    """For each item with two tags or more, the sum over its tags of 1 / the place of the tag had it been hidden."""
    row, _ = batch.known
    count = np.diff(batch.tags.indptr)
    several = np.flatnonzero(count[row] > 1)
    hidden = mixed(weights, [one.hidden for one in left])
    scores = np.where(batch.tags.toarray() == 0, mixed(weights, [one.scores for one in left]), -np.inf)
    found = np.zeros(count.size)
    step = max(1, _STATES_AT_ONCE // max(1, scores.shape[1]))
    for start in range(0, several.size, step):
        states = several[start : start + step]
        place = 1 + np.count_nonzero(scores[row[states]] > hidden[states, None], axis=1)
        found += np.bincount(row[states], weights=1.0 / place, minlength=count.size)
    return found[count > 1]


@dataclass(frozen=True)
class Judged:
    """Scores of hidden tags, and of tags that are not known: the largest of each item, and how many more there are."""

    hidden: Singles
    unknown: Singles
    n_more: int
    n_items: int

    @property
    def surest(self) -> Singles:
        """The largest scores of tags that are not known: of a twentieth of the items, and twenty at least."""
        n = min(self.unknown.size, max(20, self.n_items // 20))
        return np.sort(np.partition(self.unknown, -n)[-n:])[::-1] if n else self.unknown


def judge_scores(
    sources: Mapping[str, Source], weights: Floats, batches: Batches, threads: Workers
) -> tuple[Judged, Judged]:
    """The weighted scores of items with tags, each hidden in turn, and of the same items with all of them hidden."""

    def part(block: slice) -> list[Judged]:
        batch = batches[block.start]()
        left = [source.left_out(batch) for source in sources.values()]
        told, several = ~batch.is_cold, np.diff(batch.tags.indptr)[batch.known[0]] > 1
        unknown = batch.tags.toarray() == 0
        scores = mixed(weights[WARM], [one.scores for one in left])
        hidden = mixed(weights[WARM], [one.hidden for one in left])[several]
        emptied = mixed(weights[COLD], [one.emptied for one in left])
        return [
            Judged(hidden, *_largest(scores[told], unknown[told])),
            Judged(emptied[batch.known], *_largest(emptied[told], unknown[told])),
        ]

    found = list(threads.map(part, [slice(b, b + 1) for b in range(len(batches))]))
    warm, cold = (
        Judged(
            np.concatenate([one[group].hidden for one in found] or [np.zeros(0, np.float32)]),
            np.concatenate([one[group].unknown for one in found] or [np.zeros(0, np.float32)]),
            sum(one[group].n_more for one in found),
            sum(one[group].n_items for one in found),
        )
        for group in (WARM, COLD)
    )
    return warm, cold


def mixed(weights: Floats, parts: Sequence[Singles]) -> Singles:
    """The weighted sum of what sources say."""
    total = np.zeros(parts[0].shape, dtype=np.float32)
    for weight, part in zip(weights.tolist(), parts, strict=True):
        if weight:
            total += np.float32(weight) * part
    return total


def _largest(scores: Singles, unknown: NDArray[np.bool_]) -> tuple[Singles, int, int]:
    open_ = np.where(unknown, scores, -np.inf)
    if open_.shape[1] > _MOST_UNKNOWN:
        open_ = -np.partition(-open_, _MOST_UNKNOWN - 1, axis=1)[:, :_MOST_UNKNOWN]
    kept = open_[open_ > -np.inf]
    return kept, int(np.count_nonzero(unknown)) - kept.size, scores.shape[0]
