"""From scores to probabilities: what share of such scores belonged to a known tag, and what that means."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..types import Floats

__all__ = [
    "LEAST_DECISIONS",
    "Calibration",
    "check_decisions",
    "completeness_from_answers",
    "estimated_completeness",
    "expected_scale",
    "fit_calibration",
    "how_sure",
    "is_trusted",
    "probability_true",
    "share_asked_as_new",
    "share_new",
    "untouched_scale",
]


LEAST_DECISIONS = 30
_COMPLETENESS_RANGE = (0.3, 0.9)
_SPREAD = 0.12
"""How far the measured share of a step of the curve may lie from the true one, relative to it."""
_CERTAIN = 0.999
_TILT = 0.1
_WELL_ENOUGH = 0.15
"""How far probabilities may be off, for a completeness learned from answers to be used."""
_OF_TWO_TAGS = 2.0
"""Chao's estimate over how many of the items that had two tags lost both at random; of more tags it is less."""
_WORDS = ((0.8, "very likely"), (0.5, "likely"), (0.0, "maybe"))


@dataclass(frozen=True)
class Calibration:
    """The share of known tags among those of a score (g): corners of a curve that never falls, as log odds."""

    score: Floats
    log_odds: Floats

    def record(self, scores: NDArray[Any]) -> Floats:
        """The share at these scores."""
        from scipy.special import expit

        return np.asarray(expit(np.interp(scores, self.score, self.log_odds)))


def fit_calibration(hidden: NDArray[Any], unknown: NDArray[Any], n_below: int = 0, per_step: int = 50) -> Calibration:
    """The share of hidden tags among hidden and unknown ones, as a function of the score that never falls.

    Found by isotonic regression over steps of at least ``per_step`` hidden tags. Its log odds run straight from the
    middle of one step to that of the next, so that different scores have different shares. ``n_below`` unknown tags lie
    below all scores that are given. Without a hidden tag to learn from the share is 0 everywhere.
    """
    from scipy.optimize import isotonic_regression

    if not hidden.size:
        return Calibration(np.zeros(1), np.full(1, -np.inf))
    value = np.sort(hidden)
    n_steps = max(1, value.size // per_step)
    # Equal scores belong to one step: what they share cannot depend on their order.
    edge = np.unique(value[np.arange(n_steps) * value.size // n_steps])
    bound = np.append(np.searchsorted(value, edge), value.size)
    lies_below = unknown < edge[0]
    step, below = np.searchsorted(edge, unknown[~lies_below], side="right"), unknown[lies_below]
    # Below all hidden tags is one more step. Half a tag more in every step keeps its odds finite.
    n_hidden = np.concatenate([[0], np.diff(bound)]) + 0.5
    n_unknown = np.bincount(step, minlength=edge.size + 1) + 0.5
    n_unknown[0] += below.size + n_below
    size = n_hidden + n_unknown
    share = isotonic_regression(n_hidden / size, weights=size).x
    lowest = np.median(below) if below.size else value[0]
    middle = np.array([lowest, *(np.median(value[a:b]) for a, b in pairwise(bound))], dtype=np.float64)
    log_odds = _tilted(np.log(share / (1.0 - share)))
    score = np.append(middle, unknown.max(initial=value[-1]))
    log_odds = np.append(log_odds, _beyond(middle, log_odds, score[-1]))
    kept = np.concatenate([[True], score[1:] > score[:-1]])
    return Calibration(score[kept], log_odds[kept])


def _tilted(log_odds: Floats) -> Floats:
    """Steps that the regression has joined, each a little above the one before, so that no two scores are alike.

    By a tenth at most from their common height up and down, and by no more than a third of the way to the next.
    """
    start = np.flatnonzero(np.concatenate([[True], log_odds[1:] > log_odds[:-1]]))
    gap = np.diff(log_odds[start]) / 3
    down, up = (np.minimum(one, _TILT) for one in (np.append(_TILT, gap), np.append(gap, _TILT)))
    found = log_odds.copy()
    for b, (first, stop) in enumerate(pairwise([*start, log_odds.size])):
        if stop - first > 1:
            found[first:stop] += np.linspace(-down[b], up[b], stop - first)
    return found


def _beyond(middle: Floats, log_odds: Floats, largest: float) -> float:
    """At the largest score: as steep as between the last two steps, and at most twice the odds of the last."""
    if middle.size < 2 or middle[-1] <= middle[-2]:
        return float(log_odds[-1])
    steep = (log_odds[-1] - log_odds[-2]) / (middle[-1] - middle[-2])
    return float(log_odds[-1] + min(steep * (largest - middle[-1]), np.log(2.0)))


def probability_true(
    record: NDArray[Any], new: NDArray[Any], completeness: float | Floats, untouched: float = 1.0
) -> Floats:
    """The probability that a tag holds though it is not recorded: (n,).

    ``new`` is the probability that nobody has looked at the item yet: 0 where it has a tag, 1 where it was not in the
    collection. Of such an item the question is whether its owner would give it the tag, which is the share among known
    items (``record``) times ``untouched``: one over the completeness that was given, since known items lack tags too,
    or what answers on such items have taught. Of an item with tags it is whether this one was forgotten.
    """
    g = np.minimum(np.asarray(record, dtype=np.float64), _CERTAIN)
    forgotten = g * (1.0 - completeness) / (completeness * (1.0 - g))
    asked = g * untouched
    if untouched > 1.0:  # what more is expected is held back near one, what was measured is not
        asked = np.maximum(g, _at_most_one(asked))
    return np.asarray(new * asked + (1.0 - new) * _at_most_one(forgotten))


def _at_most_one(ratio: Floats) -> Floats:
    """What to expect of a share that cannot exceed one, when it was measured as ``ratio``, and that to an eighth.

    The mean of a normal distribution cut off at one. The largest ratios are largest partly by luck: cut off plainly at
    one, proposals of which 88 % were right were promised as certain.
    """
    from scipy.special import erfcx

    ratio = np.minimum(ratio, 1e3)  # of larger ones the difference below has no digits left
    spread = _SPREAD * np.clip(ratio, 1e-9, 1.0)
    with np.errstate(over="ignore"):
        beyond = np.sqrt(2.0 / np.pi) / erfcx((ratio - 1.0) / (np.sqrt(2.0) * spread))
    return np.asarray(np.maximum(ratio - spread * beyond, 0.0))


def is_trusted(new: Any, completeness_source: str) -> Any:
    """Whether a probability may be shown as a number: of items nobody has looked at, or once completeness is known.

    How complete the tags of an item are cannot be had from the tags alone: it takes the owner's word ("given") or at
    least thirty answers ("decisions"). Until then ``how_sure`` has words.
    """
    return (np.asarray(new) >= 0.5) | (completeness_source in ("given", "decisions"))


def how_sure(probability: float, trusted: bool = True) -> str:
    """A probability for people: "83 %" where the number can be trusted, else very likely, likely or maybe.

    >>> how_sure(0.834), how_sure(0.834, trusted=False), how_sure(0.3, trusted=False)
    ('83 %', 'very likely', 'maybe')
    """
    if trusted:
        return f"{100 * probability:.0f} %"
    return next(word for least, word in _WORDS if probability >= least)


def share_new(n_tags_per_item: NDArray[Any], completeness: float | None = None) -> float:
    """The share of the items without tags that nobody has looked at, as against those whose tags were all forgotten.

    Where tags are forgotten at random, the items with one and with two tags tell how many have none left (Chao's
    estimate), and fewer where those with three are few: ``(k + 1) f[k + 1] / f[k]`` is the same for every number of
    tags k where items have many, and falls in a straight line where they have few. What goes beyond that number was
    never looked at. A known ``completeness`` c bounds it: of t tags, (1 - c)^t is the chance that none is left and
    t c (1 - c)^(t-1) that one is, so that there are at most (1 - c) / c times as many items with none left as with one.

    Items of t tags each leave (t - 1) / t of Chao's estimate: where less than half of it are without tags, items have
    one tag because they are given one (a folder, a subject), and nothing was forgotten.
    """
    none, one, two, three = (int(np.sum(n_tags_per_item == k)) for k in range(4))
    if not none or one < 2:
        return 1.0
    of_one, of_two = 2.0 * (two + 1) / (one - 1), 3.0 * three / (two + 1)
    chao, emptied = one / of_one, one / (of_one + max(0.0, of_one - of_two))
    if completeness is not None:
        emptied = min(emptied, one * (1.0 - completeness) / completeness)
    return max(0.0, 1.0 - emptied / none, 1.0 - _OF_TWO_TAGS * none / chao)


def share_asked_as_new(n_tags_per_item: NDArray[Any], untouched: float) -> float:
    """How far an item without tags is promised what one is that nobody has looked at; ``untouched`` of them are such.

    The others lost all their tags. Where every item is given one, having lost it says nothing about which it was, and
    the item is like a new one. Where all have many, each of them was forgotten, as a further tag of an item with tags
    is. In between, the share of the items with tags that have one is how far the first holds: exactly so for a Poisson
    number of tags of which half are on record, and to an eighth where up to seven of ten are.
    """
    one, some = int(np.sum(n_tags_per_item == 1)), int(np.sum(n_tags_per_item > 0))
    return untouched + (1.0 - untouched) * one / max(some, 1)


def estimated_completeness(largest: NDArray[Any]) -> float:
    """The mean g of the surest unrecorded pairs: right where some of them are certain to be true."""
    low, high = _COMPLETENESS_RANGE
    return float(np.clip(np.mean(largest), low, high)) if largest.size else (low + high) / 2


def check_decisions(accepted: Any, n_proposals: int) -> NDArray[np.bool_]:
    """A yes or no for each of some proposals, enough of them to learn from."""
    answers = np.asarray(accepted)
    if answers.shape != (n_proposals,) or answers.dtype.kind != "b":
        raise ParameterError(
            f"accepted must hold True or False for each of the {n_proposals} proposals; got {answers.dtype} "
            f"of shape {answers.shape}."
        )
    if answers.size < LEAST_DECISIONS:
        raise ParameterError(
            f"{answers.size} decisions are too few to learn from; at least {LEAST_DECISIONS} are needed."
        )
    return answers


def completeness_from_answers(
    record: Floats, accepted: NDArray[np.bool_], recorded: float | Floats = 1.0
) -> float | None:
    """How complete the tags of items with tags are, by answers on proposals for them; None where they tell too little.

    The mean of what the answers leave likely, every completeness being as likely before them. They tell enough where
    the probability of a tag that half of such items carry is known to about a seventh. ``recorded`` is how many tags
    an item had when each was given, over how many it has now: what was accepted since has made the record more
    complete.
    """
    now = (np.arange(200) + 0.5) / 200
    then = np.clip(now[:, None] * np.asarray(recorded, dtype=np.float64), 1e-3, 1.0 - 1e-3)
    # Every hundredth answer may be a slip, so that no single one rules a completeness out.
    right = 0.01 + 0.98 * probability_true(record[None, :], np.zeros(1), then)
    log = np.where(accepted, np.log(right), np.log1p(-right)).sum(axis=1)
    likely = np.exp(log - log.max())
    likely /= likely.sum()
    even = probability_true(np.full(now.size, 0.5), np.zeros(1), now)
    spread = ((even - (even * likely).sum()) ** 2 * likely).sum()
    return float((now * likely).sum()) if spread <= _WELL_ENOUGH**2 else None


def expected_scale(completeness: float | None) -> float:
    """How many more tags untouched items have than known ones have on record, where it was said how complete those are.

    >>> expected_scale(0.8), expected_scale(None)
    (1.25, 1.0)
    """
    return 1.0 if completeness is None else 1.0 / float(completeness)


def untouched_scale(record: Floats, accepted: NDArray[np.bool_], before: float = 1.0) -> float:
    """How many more proposals for untouched items were accepted than measured, held to ``before`` by a hundred.

    What they are promised was measured; it takes many answers to know better. ``before``: see ``expected_scale``.
    """
    return float((np.count_nonzero(accepted) + 100.0 * before) / (np.minimum(record, _CERTAIN).sum() + 100.0))
