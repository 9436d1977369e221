"""How strong a ridge has to be: such that the directions hold for items that were left out.

With few pairs and many features directions fit the very pairs they were learned from. An item with one view then lies
near the centre of the shared space, whatever it is, and all such items form one cluster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.source import RowSource
from ...data.views import Views
from ...engines.base import Engine
from ...types import Floats, Places
from ._learned import Learned
from ._sides import pairs_of

__all__ = ["RIDGES", "choose_ridge"]

RIDGES = (1.0, 10.0, 100.0, 1000.0)
_LOOKED_AT = 2_000
"""Items with several views that are looked at, and as many with one."""
_FOLDS = 5


def choose_ridge(views: Views, n_components: int, rng: np.random.Generator, engine: Engine) -> float:
    """The one of ``RIDGES`` under which items left out, a fifth at a time, have the most in common between their views.

    That is the sum over the directions of the squared correlation, negative ones counted against it. It is found from
    2,000 items with several views, drawn at random; as noise in a covariance goes down with the number of items, so
    does the ridge where there are more, though not below 1. The strongest where there are too few to tell.
    """
    n_views = views.mask.sum(axis=1)
    several, one = np.flatnonzero(n_views > 1), np.flatnonzero(n_views == 1)
    if several.size < 2 * _FOLDS:
        return RIDGES[-1]
    looked_at = np.sort(np.concatenate([rng.permutation(items)[:_LOOKED_AT] for items in (several, one)]))
    sample = _in_memory(views, looked_at)
    has_several = np.flatnonzero(n_views[looked_at] > 1)
    fold = np.full(looked_at.size, -1)
    fold[has_several] = rng.permutation(has_several.size) % _FOLDS
    found = np.zeros(len(RIDGES))
    for number in range(_FOLDS):
        learned = Learned.of(sample[fold != number], n_components, rng, engine)
        left_out = sample[fold == number]
        found += [_in_common(learned.coordinates(left_out, learned.directions(ridge)), left_out) for ridge in RIDGES]
    best = RIDGES[int(np.argmax(found))]
    return max(RIDGES[0], best * has_several.size / several.size)


def _in_memory(views: Views, items: Places) -> Views:
    """Some rows, wherever the views are and whatever makes them."""
    taken = RowSource(dict(views.items())).take(items)
    return Views._trusted(views.names, tuple(taken[name] for name in views.names), views.mask[items], views.ids[items])


def _in_common(coordinates: dict[int, Floats], views: Views) -> float:
    """Squared correlations with their signs, over all directions, mean over pairs of views."""
    pairs = [(i, j) for i, j in pairs_of(views.n_views) if i != j and i in coordinates and j in coordinates]
    found = []
    for i, j in pairs:
        both = views.mask[:, i] & views.mask[:, j]
        if both.sum() > 2:
            correlation = _correlations(coordinates[i][both], coordinates[j][both])
            found.append(float((correlation * np.abs(correlation)).sum()))
    return float(np.mean(found)) if found else 0.0


def _correlations(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Of each column of one with the same column of the other; 0 where one is constant."""
    a, b = (part - part.mean(axis=0) for part in (a, b))
    lengths = np.sqrt((a * a).sum(axis=0) * (b * b).sum(axis=0))
    return np.divide((a * b).sum(axis=0), lengths, out=np.zeros_like(lengths), where=lengths > 0)
