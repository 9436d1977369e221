"""Are the items without tags of the kind of those with tags, on which everything that is promised was measured?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..types import Floats, Mask, Singles
from .nearest import Nearest

__all__ = ["Population", "fit_population"]

_STEPS = 10
_SURE = 1e-3
"""Chance of calling items another kind that are not."""
_FEW, _MANY = 100, 10_000
"""Up to so many with and without tags the chance is counted, else taken from the limit."""


@dataclass(frozen=True)
class Population:
    """How likely an item is of the kind of those with tags, by how near it is to the nearest of them.

    ``closest``, one per view: the cosine of each tagged item with the nearest other one, sorted. ``means`` (n_tagged,):
    where in these each tagged item stands, the mean of its views, sorted. ``share`` (n_steps,): how likely an item is
    of their kind that is as near to them as this tenth of themselves, the farthest first; all ones where nothing
    speaks against it.

    Were the tagged ones a random part, an item without tags would be as near to them as they are to each other: one in
    ten farther than nine tenths of them. Where far more are that far, most of these are something that nobody has
    tagged yet.
    """

    closest: tuple[Singles, ...]
    means: Floats
    share: Floats

    def of(self, near: Sequence[Nearest], speaks: Mask, has_tags: Mask) -> Floats:
        """For items by their nearest tagged ones in every view and which views (n, n_views) say something of them.

        (n,): 1 where an item has tags or no view.
        """
        if self.share.min(initial=1.0) >= 1.0:
            return np.ones(has_tags.size)
        mean = _standing(self.closest, near, speaks)
        step = _steps(mean, self.means, self.share.size)
        return np.where(has_tags | np.isnan(mean), 1.0, self.share[step])


def fit_population(near: Sequence[Nearest], speaks: Mask, has_tags: Mask) -> Population:
    """From the nearest tagged items of all items, in every view. Takes O(n_views n log n_tagged) time."""
    from scipy.optimize import isotonic_regression

    if not near:
        return Population((), np.zeros(0), np.ones(1))
    closest = tuple(np.sort(_nearest(one)[has_tags & speaks[:, v]]) for v, one in enumerate(near))
    mean = _standing(closest, near, speaks)
    means = np.sort(mean[has_tags & ~np.isnan(mean)])
    others = mean[~has_tags & ~np.isnan(mean)]
    n_steps = min(_STEPS, means.size + 1)
    share = np.ones(n_steps)
    if means.size > 1 and others.size and _are_farther(others, means):
        counts = np.bincount(_steps(others, means, n_steps), minlength=n_steps)
        # Of one kind, as many would stand on every step. The nearer half says how many are of that kind; a step that
        # has more has others beside them.
        falling = isotonic_regression(counts + 0.5, increasing=False).x
        share = np.minimum(1.0, np.mean(counts[n_steps // 2 :] + 0.5) / falling)
    return Population(closest, means, share)


def _nearest(found: Nearest) -> Singles:
    """Cosines with the nearest; 0 where there is nobody."""
    return found.cosines[:, 0] if found.cosines.shape[1] else np.zeros(found.cosines.shape[0], dtype=np.float32)


def _standing(closest: Sequence[Singles], near: Sequence[Nearest], speaks: Mask) -> Floats:
    """The share of tagged items as far from the nearest other, the mean of an item's views; NaN without any."""
    total, n_views = np.zeros(speaks.shape[0]), np.zeros(speaks.shape[0])
    for v, (known, one) in enumerate(zip(closest, near, strict=True)):
        if known.size:
            total += np.where(speaks[:, v], np.searchsorted(known, _nearest(one), side="right") / known.size, 0.0)
            n_views += speaks[:, v]
    return np.where(n_views > 0, total / np.maximum(n_views, 1), np.nan)


def _steps(mean: Floats, means: Floats, n_steps: int) -> NDArray[np.int64]:
    """Which of as many steps each stands on, the farthest first; as many tagged items are on each."""
    rank = np.searchsorted(means, np.nan_to_num(mean), side="right")  # 0 to n_tagged
    return np.minimum(rank * n_steps // (means.size + 1), n_steps - 1).astype(np.int64)


def _are_farther(others: Floats, means: Floats) -> bool:
    """Is it more than chance that items without tags stand farther from the tagged ones than these from each other?"""
    from scipy.stats import ks_2samp

    method = "exact" if means.size <= _FEW and others.size <= _MANY else "asymp"
    return bool(ks_2samp(others, means, alternative="greater", method=method).pvalue <= _SURE)
