"""From the nearest neighbours of a forest to clusters, and what clusters look like."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..spectral import cluster_rows, leading_eigenpairs, normalised_graph, spectral_rows

__all__ = ["MOST_CLUSTERS", "mean_codes", "spectral_clusters"]

Labels = NDArray[np.intp]
MOST_CLUSTERS = 20  # looked for where no number is given


def spectral_clusters(
    nearest: Any, present: NDArray[np.bool_], n_clusters: int | None, seed: int, n_jobs: int | None
) -> tuple[Labels, Labels, NDArray[np.float64]]:
    """Normalised spectral clustering of the graph of nearest neighbours: (items, their labels, eigenvalues).

    Items without any neighbour are left out (each would be a piece of the graph by itself and take an eigenvector),
    unless hardly any are left. Without a number of clusters, the widest gap between eigenvalues gives it.
    """
    graph = nearest.maximum(nearest.T)
    inside = np.flatnonzero(present & (graph.getnnz(axis=1) > 0))
    if inside.size < (n_clusters or 2):  # hardly anybody shares a leaf: loops stand for the links that are not there
        inside = np.flatnonzero(present)
    if inside.size < graph.shape[0]:
        graph = graph[inside][:, inside]
    operator = normalised_graph(graph)
    del graph  # ARPACK needs the room
    look = min(inside.size, MOST_CLUSTERS + 1 if n_clusters is None else n_clusters)
    values, vectors = leading_eigenpairs(operator, look, seed=seed)
    del operator
    if n_clusters is None:
        n_clusters = 1 + int(np.argmax(values[:-1] - values[1:])) if values.size > 1 else 1
    if n_clusters == 1:
        return inside, np.zeros(inside.size, dtype=np.intp), values
    # Vectors of eigenvalues below 0 tell neighbours apart instead of joining them.
    kept = max(1, int((values[:n_clusters] > 1e-8).sum()))
    rows = spectral_rows(values[:kept], vectors[:, :kept])
    del vectors
    np.round(rows, 6, out=rows)  # items alike in every leaf stay alike
    return inside, cluster_rows(rows, n_clusters, seed=seed, n_jobs=n_jobs)[0], values


def mean_codes(codes: NDArray[Any], labels: Labels, n_clusters: int, missing: int) -> NDArray[np.float32]:
    """Mean code of each feature in each cluster, over the items that have it; 0 where nobody has."""
    means = np.zeros((n_clusters, codes.shape[0]), dtype=np.float32)
    for cluster in range(n_clusters):
        members = codes[:, labels == cluster]
        held = members != missing
        total = (members * held).sum(axis=1, dtype=np.float64)
        means[cluster] = total / np.maximum(1, held.sum(axis=1))
    return means
