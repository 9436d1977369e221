"""Ranks of one column as normal quantiles, for columns with long tails; others keep their spacing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Floats, Places

__all__ = ["KNOTS", "has_group_apart", "rank_heights"]

KNOTS = 512  # points of a feature's distribution kept for new items
_WIDEST = 2.0  # of the variance of ranks: evenly spread noise, which says nothing, would otherwise outweigh all else


def rank_heights(values: Any) -> tuple[Floats, Floats, Floats] | None:
    """Normal quantiles of average ranks, minus their mean: of every value, and as knots (value, height) for new ones.

    Ranks are for tails: moved evenly to the range that ranks give them, values with a long tail huddle in a corner of
    it and vary less than ranks do. Values that do not, and those of which some lie apart from the rest, keep their
    spacing, with at most twice the variance of ranks: those would only close the gaps between groups. The smallest
    and the largest value have no say in this, and go no farther out than their ranks, so that no single one decides
    for all. None where all are the same.
    """
    from scipy.special import ndtri

    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    if first.size < 2:
        return None
    counts = np.diff(np.r_[first, values.size])
    height = ndtri((first + counts / 2) / values.size)  # the mean rank is first + (counts + 1) / 2
    exact = ordered.astype(np.float64) / float(np.abs(ordered[[0, -1]]).max())
    inner = counts - (np.arange(counts.size) % (counts.size - 1) == 0)  # less one at either end
    ends = np.flatnonzero(inner)[[0, -1]].tolist() if inner.any() else [0, counts.size - 1]
    even = _evenly(exact[first], height, *ends)
    spread, ranked = _spread(even, inner), _spread(height, inner)
    if spread >= ranked:
        height = even * min(1.0, np.sqrt(_WIDEST * ranked / spread)) if ranked > 0 else even
    elif has_group_apart(exact):
        height = _evenly(exact[first], height, 0, counts.size - 1)
    height -= (height @ counts) / values.size
    heights = np.empty(values.size)
    heights[order] = np.repeat(height, counts)
    kept = _knots(height)
    kept = np.r_[kept, np.repeat(kept[-1:], KNOTS - kept.size)]
    return heights, ordered[first[kept]].astype(np.float64), height[kept]


def _evenly(exact: Floats, height: Floats, low: int, high: int) -> Floats:
    """Heights of different values with their spacing, two of which stay where they are and none goes past the ends."""
    if exact[high] == exact[low]:
        return height
    share = (exact - exact[low]) / (exact[high] - exact[low])
    return np.asarray(np.clip(height[low] + share * (height[high] - height[low]), height[0], height[-1]))


def _knots(height: Floats) -> Places:
    """Which values of a feature are kept for new items: half of them evenly in number, half evenly in height."""
    even = np.linspace(0, height.size - 1, KNOTS // 2).round().astype(np.intp)
    tall = np.searchsorted(height, np.linspace(height[0], height[-1], KNOTS // 2))
    return np.union1d(even, np.minimum(tall, height.size - 1))


def _spread(values: Floats, counts: Places) -> float:
    """The variance of values of which there are so many."""
    n_values = max(1, int(counts.sum()))
    return float((values - values @ counts / n_values) ** 2 @ counts / n_values)


def has_group_apart(ordered: Floats) -> bool:
    """Is there a gap in these rising values that is wider than the values on either side of it are spread?

    A fiftieth of them (and five) have to lie on each side: a small group. What lies far out by itself, and a long
    tail, are spread more than their gaps are wide.
    """
    smallest = max(5, -(-ordered.size // 50))
    if ordered.size < 2 * smallest:
        return False
    gaps = ordered[smallest : ordered.size - smallest + 1] - ordered[smallest - 1 : ordered.size - smallest]
    cut = smallest + int(np.argmax(gaps))
    return float(gaps.max()) > max(float(ordered[:cut].std()), float(ordered[cut:].std()))
