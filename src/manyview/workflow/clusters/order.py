"""Which clusters to show first: those that are surely something, before large ones that are everything."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...types import Floats, Ids
from .living import LiveCluster

__all__ = ["best_first", "cluster_scores"]

_NO_NAME = 0.5
"""What a cluster counts that has a number and no name."""


def cluster_scores(clusters: Sequence[LiveCluster], places: Ids, confidence: Floats) -> dict[int, float]:
    """How much each cluster is worth looking at, by its number.

    ``cohesion * sureness * sqrt(size)``: how alike its members are (0 to 1), how clearly they belong here and not
    elsewhere (twice their mean confidence, less 1; 0 to 1), and how many there are, by the square root, since a lump
    of everything is large. Half of that where it has no name but a number; 0 where nothing is known.

    places, confidence : of every item, -1 and NaN where there is none. Where no item has a confidence, sureness is 1.
    Time is one pass over the items, memory a number per item.
    """
    here = (places >= 0) & ~np.isnan(confidence)
    most = int(places.max(initial=-1)) + 1
    n = np.bincount(places[here], minlength=most)
    total = np.bincount(places[here], weights=confidence[here], minlength=most)
    return {one.id: _score(one, int(n[one.id]), float(total[one.id])) for one in clusters if one.id < most}


def _score(one: LiveCluster, n_known: int, total: float) -> float:
    sureness = min(1.0, max(0.0, 2.0 * total / n_known - 1.0)) if n_known else 1.0
    is_number = not one.is_named and one.profile.get("name", {}).get("source") == "number"
    return float((one.profile.get("cohesion") or 0.0) * sureness * one.size**0.5 * (_NO_NAME if is_number else 1.0))


def best_first(clusters: Sequence[LiveCluster], scores: dict[int, float]) -> list[LiveCluster]:
    """Clusters by falling score; of equal ones the larger first."""
    return sorted(clusters, key=lambda one: (-round(scores.get(one.id, 0.0), 6), -one.size, one.id))
