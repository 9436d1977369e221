"""What the steps of a fit cost, in seconds of one core as measured on one machine: what matters is their ratios.

Constants come from views of 64 + 32 and of 1,280 + 400 columns, 600 to 100,000 items, 10 to 60 clusters.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...arrays import is_sparse
from ...blocks import effective_n_jobs
from ...data.views import Views

__all__ = [
    "WORDS",
    "Shape",
    "cost_of_number",
    "cost_of_steps",
    "memory_of_fit",
    "number_of_landmarks",
    "parts_of_number",
    "seconds_to_place",
    "shape_of",
    "usual_number",
]

WORDS = 100
"""Columns that remain of a sparse view, about."""
_SAMPLED, _NUMBERED, _COMPARED = 4_000, 6_000, 2_600
"""Items that views are compared on, that the number is sought on, and that an item is compared with."""
_EXACT = 8_000
"""Items up to which everybody is compared with everybody."""
_FIRST = 0.7
"""Seconds for which whatever comes first pays: imports, compiled code read from disk."""
_DRAWN = 60
"""Clusters from which members start from drawn items, which is cheaper."""
_MANY, _LEARNED = 20_000, 10_000
"""Items above which k-means is learned on samples: of members and of candidates."""


MOST = 100_000
"""Landmarks."""
MEMORY = 2 * 2**30
"""Bytes that a fit of landmarks may take, about."""
_FEWEST = 5_000
_PER_CLUSTER = 100


class Shape(NamedTuple):
    """What the cost of a fit depends on."""

    n_items: int
    n_views: int
    width: int
    """Columns of all views; of a sparse one those that remain."""


def shape_of(views: Views) -> Shape:
    """The shape of views."""
    widths = [min(w, WORDS) if is_sparse(views[name]) else w for name, w in views.n_features.items()]
    return Shape(views.n_items, len(widths), sum(widths))


def usual_number(n_items: int) -> int:
    """A number of clusters to reckon with before one is found."""
    return int(np.clip(np.sqrt(n_items) / 2, 8, 60))


def cost_of_number(shape: Shape) -> dict[str, float]:
    """Of ``suggest_n_clusters`` by neighbours."""
    return {"number of clusters": sum(parts_of_number(shape))}


def parts_of_number(shape: Shape) -> tuple[float, float, float, float]:
    """Of preparing and weighing views, finding copies, finding neighbours, and of the communities and eigenvalues."""
    n, d = min(shape.n_items, _NUMBERED), shape.width
    pairs = 7e-11 * n * n * d
    return _FIRST + 2e-7 * n * d + 2e-5 * n + _cost_of_says(shape), 0.4 * pairs, 0.6 * pairs, 3.4e-4 * n


def _cost_of_says(shape: Shape) -> float:
    return min(shape.n_items, _SAMPLED) * (1.5e-7 * shape.width + 1e-4)


def memory_of_fit(shape: Shape, n_clusters: int, n_members: int) -> float:
    """Bytes of ``ConsensusClustering.fit`` for each item that votes."""
    spaces = shape.n_views + 1
    return 12.0 * shape.width + 2.0 * n_members * spaces + 240.0 * spaces + 40.0 * n_clusters


def number_of_landmarks(asked: Any, shape: Shape, n_clusters: int, n_members: int) -> int:
    """How many items may vote: as asked, or up to 100,000 and as many as 2 GB have room for."""
    if asked is None:
        return shape.n_items
    if asked != "auto":
        return max(int(asked), n_clusters)
    room = int(MEMORY / memory_of_fit(shape, n_clusters, n_members))
    return max(min(MOST, room), _FEWEST, _PER_CLUSTER * n_clusters)


def cost_of_steps(
    shape: Shape, n_clusters: int, n_members: int, n_jobs: int | None, n_voting: int | None = None
) -> dict[str, float]:
    """Of ``ConsensusClustering.fit``, in the order of its steps; so many items vote, the others are placed."""
    n, d, k = shape.n_items if n_voting is None else min(n_voting, shape.n_items), shape.width, n_clusters
    spaces = shape.n_views + 1
    entries = min(n, _MANY) * 2 * d
    sizes = np.linspace(k, 3 * k, max(1, n_members))
    per_entry = float((5e-10 * sizes + np.where(sizes < _DRAWN, 1.6e-9 * sizes, 0.0)).sum())
    cores = effective_n_jobs(n_jobs)
    compared = n if n <= _EXACT else _COMPARED
    learned = n if n <= _MANY else _LEARNED
    refined = 3e-6 if n <= _MANY else 1.1e-6
    costs = {
        "views": min(n, _SAMPLED) * (1.2e-6 * d + 3e-4) + 1e-7 * n * d,
        "say of the views": _cost_of_says(shape),
        "members": (per_entry * entries + 2e-6 * min(n, _MANY) * spaces * n_members) / cores
        + 1.1e-9 * max(0, n - _MANY) * d * k * n_members / 10 / cores,
        "neighbours": 5e-11 * n * compared * 2 * d / cores,
        "eigenvectors": 3.5e-6 * n * k + 5e-6 * learned * k,
        "k-means": (1.5e-8 * learned * d * k + 7e-7 * n * k) / min(2, cores),
        "last step": refined * n * k / cores,
        "levels": n * (1.8e-5 + 3.7e-8 * d),
    }
    if n < shape.n_items:
        costs["placing the rest"] = (shape.n_items - n) * seconds_to_place(shape, n_members * spaces) / cores
    return costs


def seconds_to_place(shape: Shape, n_members: int) -> float:
    """Of one core, for one item that did not vote; so many members in all."""
    return 3e-7 * shape.width + 7e-7 * n_members
