"""From scores to probabilities: what share of such proposals was right in the rehearsal, and what that means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats

__all__ = [
    "LEAST_DECISIONS",
    "Calibration",
    "completeness_from_decisions",
    "estimated_completeness",
    "fit_calibration",
    "probability_true",
    "record_probability",
    "share_new",
]


LEAST_DECISIONS = 30
_COMPLETENESS_RANGE = (0.3, 0.9)
_SPREAD = 0.12
"""How far the measured share of a step of the curve may lie from the true one, relative to it."""
_CERTAIN = 0.999


@dataclass(frozen=True)
class Calibration:
    """The share of hidden tags among rehearsed pairs of a score: corners of a curve that never falls."""

    score: Floats
    share: Floats

    def hidden_share(self, scores: NDArray[Any]) -> Floats:
        """The share found at these scores (r)."""
        return np.interp(scores, self.score, self.share)


def fit_calibration(scores: NDArray[Any], hidden: NDArray[np.bool_]) -> Calibration:
    """Isotonic regression of hidden on score. Without a pair to learn from: never hidden."""
    from scipy.optimize import isotonic_regression

    if not scores.size:
        return Calibration(np.zeros(1), np.zeros(1))
    order = np.argsort(scores, kind="stable")
    value = scores[order].astype(np.float64)
    # Pairs of one score count as one point: what they share cannot depend on their order.
    start = np.flatnonzero(np.concatenate([[True], value[1:] > value[:-1]]))
    count = np.diff(np.concatenate([start, [value.size]]))
    share = np.add.reduceat(hidden[order].astype(np.float64), start) / count
    fitted = isotonic_regression(share, weights=count).x
    value = value[start]
    corner = np.ones(fitted.size, dtype=bool)
    corner[1:-1] = (fitted[1:-1] > fitted[:-2]) | (fitted[2:] > fitted[1:-1])
    return Calibration(value[corner], fitted[corner])


def record_probability(share: NDArray[Any], hidden_share: float) -> Floats:
    """The probability that the owner's record would contain the tag (g), from the share hidden (r)."""
    return np.asarray(share / (hidden_share + share * (1.0 - hidden_share)))


def probability_true(record: NDArray[Any], new: NDArray[Any], completeness: float | Floats) -> Floats:
    """The probability that a tag holds though it is not recorded: (n,).

    ``new`` is the probability that nobody has looked at the item yet: 0 where it has a tag, 1 where it was not in the
    collection. A tag missing from a record says more against it than one missing where there is no record.
    """
    g = np.minimum(np.asarray(record, dtype=np.float64), _CERTAIN)
    forgotten = g * (1.0 - completeness) / (completeness * (1.0 - g))
    return np.asarray(new * _at_most_one(g / completeness) + (1.0 - new) * _at_most_one(forgotten))


def _at_most_one(ratio: Floats) -> Floats:
    """What to expect of a share that cannot exceed one, when it was measured as ``ratio``, and that to an eighth.

    The mean of a normal distribution cut off at one. The largest ratios are largest partly by luck: cut off plainly at
    one, proposals of which 88 % were right were promised as certain.
    """
    from scipy.special import erfcx

    spread = _SPREAD * np.clip(ratio, 1e-9, 1.0)
    with np.errstate(over="ignore"):
        beyond = np.sqrt(2.0 / np.pi) / erfcx((ratio - 1.0) / (np.sqrt(2.0) * spread))
    return np.asarray(np.maximum(ratio - spread * beyond, 0.0))


def share_new(n_tags_per_item: NDArray[Any]) -> float:
    """The share of the items without tags that nobody has looked at, as against those whose tags were all forgotten.

    Where tags are forgotten at random, the items with one and with two tags tell how many have none left (Chao's
    estimate); what goes beyond that number was never looked at.
    """
    none, one, two = (int(np.sum(n_tags_per_item == k)) for k in range(3))
    emptied = one * (one - 1) / (2.0 * (two + 1))
    return max(0.0, 1.0 - emptied / none) if none else 1.0


def estimated_completeness(largest: NDArray[Any]) -> float:
    """The mean g of the surest unrecorded pairs: right where some of them are certain to be true."""
    low, high = _COMPLETENESS_RANGE
    return float(np.clip(np.mean(largest), low, high)) if largest.size else (low + high) / 2


def completeness_from_decisions(record: Floats, new: Floats, n_accepted: int) -> float:
    """The completeness at which the probabilities of reviewed proposals add up to the number accepted."""
    low, high = 1e-3, 1.0 - 1e-3  # the sum falls as completeness grows
    for _ in range(60):
        middle = (low + high) / 2
        if probability_true(record, new, middle).sum() > n_accepted:
            low = middle
        else:
            high = middle
    return (low + high) / 2
