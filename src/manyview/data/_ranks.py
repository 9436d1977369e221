"""Ranks of one column as normal quantiles, with the guard that keeps the gaps between separate peaks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Floats, Places

__all__ = ["KNOTS", "has_group_apart", "in_peaks", "rank_heights"]

KNOTS = 512  # points of a feature's distribution kept for new items
_PEAKED = 0.6  # share of an even spread's inner variance below which values count as separate groups


def rank_heights(values: Any) -> tuple[Floats, Floats, Floats] | None:
    """Normal quantiles of average ranks, minus their mean: of every value, and as knots (value, height) for new ones.

    Values that lie in a few separate peaks, or some of them apart from the rest, keep their spacing, in the range that
    ranks would have given them. None where all are the same.
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
    if in_peaks(exact) or has_group_apart(exact):  # ranks would close the gap between them
        share = (exact[first] - exact[0]) / (exact[-1] - exact[0])
        height = height[0] + share * (height[-1] - height[0])
    height -= (height @ counts) / values.size
    heights = np.empty(values.size)
    heights[order] = np.repeat(height, counts)
    kept = _knots(height)
    kept = np.r_[kept, np.repeat(kept[-1:], KNOTS - kept.size)]
    return heights, ordered[first[kept]].astype(np.float64), height[kept]


def _knots(height: Floats) -> Places:
    """Which values of a feature are kept for new items: half of them evenly in number, half evenly in height."""
    even = np.linspace(0, height.size - 1, KNOTS // 2).round().astype(np.intp)
    tall = np.searchsorted(height, np.linspace(height[0], height[-1], KNOTS // 2))
    return np.union1d(even, np.minimum(tall, height.size - 1))


def in_peaks(ordered: Floats) -> bool:
    """Do these rising values lie in two or three separate groups, each of at least a twentieth of them (and five)?

    Cut greedily where most variance goes. Values spread evenly leave 1/k^2 of theirs inside k groups, a bell leaves
    more; less than 0.6 of that means that there is little between the groups.
    """
    n_values = ordered.size
    smallest = max(5, -(-n_values // 20))
    within = float(((ordered - ordered.mean()) ** 2).sum())
    total, parts = within, [ordered]
    for n_parts in (2, 3):
        cuts = [_best_cut(part, smallest) for part in parts]
        best = max(range(len(parts)), key=lambda p: cuts[p][0])
        gain, cut = cuts[best]
        if cut == 0:
            return False
        parts[best : best + 1] = [parts[best][:cut], parts[best][cut:]]
        within -= gain
        if within * n_parts**2 < _PEAKED * total:
            return True
    return False


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


def _best_cut(part: Floats, smallest: int) -> tuple[float, int]:
    """How much variance (as a sum of squares) the best cut of rising values takes away, and where it is; 0: nowhere."""
    n_values = part.size
    if n_values < 2 * smallest or part[0] == part[-1]:
        return 0.0, 0
    left = np.cumsum(part - part.mean())[smallest - 1 : n_values - smallest]
    size = np.arange(smallest, n_values - smallest + 1)
    gains = left**2 * (1.0 / size + 1.0 / (n_values - size))
    best = int(np.argmax(gains))
    return float(gains[best]), smallest + best
