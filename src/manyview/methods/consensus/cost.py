"""What the steps of a fit cost, in seconds of one core as measured on one machine: what matters is their ratios.

Constants come from views of 64 + 32 and of 1,280 + 400 columns, 600 to 50,000 items, 10 to 60 clusters.
"""

from __future__ import annotations

import numpy as np

from ...arrays import is_sparse
from ...blocks import effective_n_jobs
from ...data.views import Views

__all__ = ["cost_of_number", "cost_of_steps", "memory_of_fit", "parts_of_number", "usual_number"]

_WORDS = 100
"""Columns that remain of a sparse view, about."""
_SAMPLED, _NUMBERED, _COMPARED = 4_000, 6_000, 2_600
"""Items that views are compared on, that the number is sought on, and that an item is compared with."""
_DRAWN = 60
"""Clusters from which members start from drawn items, which is cheaper."""


def usual_number(n_items: int) -> int:
    """A number of clusters to reckon with before one is found."""
    return int(np.clip(np.sqrt(n_items) / 2, 8, 60))


def cost_of_number(views: Views) -> dict[str, float]:
    """Of ``suggest_n_clusters`` by neighbours."""
    return {"number of clusters": sum(parts_of_number(views))}


def parts_of_number(views: Views) -> tuple[float, float, float, float]:
    """Of preparing the views, finding copies, finding neighbours, and of the communities and eigenvalues."""
    n, d = min(views.n_items, _NUMBERED), _width(views)
    pairs = 2.1e-10 * n * n * d
    return 5e-7 * n * d + 2e-5 * n, 0.4 * pairs, 0.6 * pairs, 1.8e-4 * n


def memory_of_fit(views: Views, n_clusters: int, n_members: int) -> float:
    """Bytes of ``ConsensusClustering.fit`` for each item that votes."""
    spaces = len(views.names) + 1
    return 12.0 * _width(views) + 2.0 * n_members * spaces + 240.0 * spaces + 30.0 * n_clusters


def cost_of_steps(
    views: Views, n_clusters: int, n_members: int, n_jobs: int | None, n_voting: int | None = None
) -> dict[str, float]:
    """Of ``ConsensusClustering.fit``, in the order of its steps; so many items vote, the others are placed."""
    n, d, k = views.n_items if n_voting is None else n_voting, _width(views), n_clusters
    spaces = len(views.names) + 1
    entries = n * 2 * d
    sizes = np.linspace(k, 3 * k, max(1, n_members))
    per_entry = float((5e-10 * sizes + np.where(sizes < _DRAWN, 1.6e-9 * sizes, 0.0)).sum())
    cores = effective_n_jobs(n_jobs)
    return {
        "views": min(n, _SAMPLED) * (1.2e-6 * d + 3e-4) + 1e-7 * n * d,
        "say of the views": min(n, _SAMPLED) * (1.5e-7 * d + 1e-4),
        "members": (per_entry * entries + 2e-6 * n * spaces * n_members) / cores,
        "neighbours": 2.9e-11 * n * min(n, _COMPARED) * 2 * d / cores,
        "eigenvectors": 8.5e-6 * n * k,
        "k-means": (1.5e-8 * n * d * k + 7e-7 * n * k) / min(2, cores),
        "last step": 1.5e-6 * n * k / cores,
        "levels": 8e-5 * n,
        "placing the rest": (views.n_items - n) * (1e-6 * d + 1e-6 * spaces * n_members) / cores,
    }


def _width(views: Views) -> int:
    return sum(min(width, _WORDS) if is_sparse(views[name]) else width for name, width in views.n_features.items())
