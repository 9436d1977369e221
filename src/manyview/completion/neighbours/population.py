"""Are the items without tags of the kind of those with tags, on which everything that is promised was measured?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...types import Floats, Mask, Singles
from .nearest import Nearest

__all__ = ["ONE_KIND", "Population", "fit_population", "surely_larger"]

_STEPS = 10
_SURE = 1e-3
"""Chance of calling two samples different that are not."""
_FEW, _MANY = 100, 10_000
"""Up to so many with and without tags the chance is counted, else taken from the limit."""


@dataclass(frozen=True)
class Population:
    """How likely an item is of the kind of those with tags, by how near it is to some of them.

    ``rank``: to the how many-th nearest, the root of how many there are; the very nearest may be another picture of the
    same moment, tagged with it. ``closest``, one per view: the cosine of each tagged item with that other one, sorted.
    ``means`` (n_tagged,): where in these each tagged item stands, the mean of its views, sorted. ``share`` (n_steps,):
    how likely an item is of their kind that is as near to them as this tenth of themselves, the farthest first; all
    ones where nothing speaks against it. ``some_alone``: are there tagged items of which no view says anything?

    Were the tagged ones a random part, an item without tags would be as near to them as they are to each other: one in
    ten farther than nine tenths of them. Where far more are that far, most of these are something that nobody has
    tagged yet.
    """

    rank: int
    closest: tuple[Singles, ...]
    means: Floats
    share: Floats
    some_alone: bool

    def of(self, near: Sequence[Nearest], speaks: Mask, has_tags: Mask) -> Floats:
        """For items by their nearest tagged ones in every view and which views (n, n_views) say something of them.

        (n,): 1 where an item has tags; 0 where it cannot be compared with any item that has: its views are others
        (clips beside tagged texts), or it has none and every tagged item has one.
        """
        if not self.closest:
            return np.ones(has_tags.size)
        shared = np.array([known.size > 0 for known in self.closest])
        likewise = (speaks & shared).any(axis=1) | (self.some_alone & ~speaks.any(axis=1))
        if self.share.min(initial=1.0) >= 1.0:
            return np.where(has_tags | likewise, 1.0, 0.0)
        mean = _standing(self.closest, [_near(one, self.rank) for one in near], speaks)
        step = _steps(mean, self.means, self.share.size)
        return np.where(has_tags, 1.0, np.where(likewise, np.where(np.isnan(mean), 1.0, self.share[step]), 0.0))


ONE_KIND = Population(1, (), np.zeros(0), np.ones(1), True)
"""Nothing is known that would tell items apart."""


def fit_population(near: Sequence[Nearest], speaks: Mask, has_tags: Mask, has_none: Mask) -> Population:
    """From the nearest tagged items of all items, in every view. Takes O(n_views n log n_tagged) time.

    Items of neither kind are left aside.
    """
    from scipy.optimize import isotonic_regression

    if not near:
        return ONE_KIND
    rank = max(1, round(float(has_tags.sum()) ** 0.5))
    cosines = [_near(one, rank) for one in near]
    closest = tuple(np.sort(one[has_tags & speaks[:, v]]) for v, one in enumerate(cosines))
    mean = _standing(closest, cosines, speaks)
    means = np.sort(mean[has_tags & ~np.isnan(mean)])
    others = mean[has_none & ~np.isnan(mean)]
    n_steps = min(_STEPS, means.size + 1)
    share = np.ones(n_steps)
    if means.size > 1 and others.size and surely_larger(means, others):
        counts = np.bincount(_steps(others, means, n_steps), minlength=n_steps)
        # Of one kind, as many would stand on every step. The nearer half says how many are of that kind; a step that
        # has more has others beside them.
        falling = isotonic_regression(counts + 0.5, increasing=False).x
        share = np.minimum(1.0, np.mean(counts[n_steps // 2 :] + 0.5) / falling)
    return Population(rank, closest, means, share, bool((has_tags & ~speaks.any(axis=1)).any()))


def _near(found: Nearest, rank: int) -> Singles:
    """Cosines with the tagged item of that rank, or the last that was sought; 0 where there is nobody."""
    n_sought = found.cosines.shape[1]
    return found.cosines[:, min(rank, n_sought) - 1] if n_sought else np.zeros(found.cosines.shape[0], dtype=np.float32)


def _standing(closest: Sequence[Singles], cosines: Sequence[Singles], speaks: Mask) -> Floats:
    """The share of tagged items that are as far from others of them, the mean of an item's views; NaN without any."""
    total, n_views = np.zeros(speaks.shape[0]), np.zeros(speaks.shape[0])
    for v, (known, one) in enumerate(zip(closest, cosines, strict=True)):
        if known.size:
            total += np.where(speaks[:, v], np.searchsorted(known, one, side="right") / known.size, 0.0)
            n_views += speaks[:, v]
    return np.where(n_views > 0, total / np.maximum(n_views, 1), np.nan)


def _steps(mean: Floats, means: Floats, n_steps: int) -> NDArray[np.int64]:
    """Which of as many steps each stands on, the farthest first; as many tagged items are on each."""
    rank = np.searchsorted(means, np.nan_to_num(mean), side="right")  # 0 to n_tagged
    return np.minimum(rank * n_steps // (means.size + 1), n_steps - 1).astype(np.int64)


def surely_larger(some: Floats, others: Floats) -> bool:
    """Is it more than chance that the first are larger? By the test of Kolmogorov and Smirnov."""
    from scipy.stats import ks_2samp

    method = "exact" if some.size <= _FEW and others.size <= _MANY else "asymp"
    return bool(ks_2samp(others, some, alternative="greater", method=method).pvalue <= _SURE)
