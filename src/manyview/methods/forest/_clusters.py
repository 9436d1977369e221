"""From the nearest neighbours of a forest to clusters, and what clusters look like."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import row_blocks
from ..spectral import cluster_rows, leading_eigenpairs, normalised_graph, spectral_rows

__all__ = ["MOST_CLUSTERS", "mean_codes", "spectral_clusters"]

Labels = NDArray[np.intp]
MOST_CLUSTERS = 20  # looked for where no number is given


def spectral_clusters(
    nearest: Any,
    present: NDArray[np.bool_],
    n_clusters: int | None,
    seed: int,
    n_jobs: int | None,
    leaves: NDArray[Any] | None = None,
) -> tuple[Labels, Labels, NDArray[np.float64]]:
    """Normalised spectral clustering of the graph of nearest neighbours: (items, their labels, eigenvalues).

    Items that share every leaf (``leaves``: (n, n_trees), where there are trees) get one label, also where they are
    more than the neighbours that were kept. Items without any neighbour are left out (each would be a piece of the
    graph by itself and take an eigenvector), unless hardly any are left. Without a number of clusters, the widest gap
    between eigenvalues gives it. A graph in more pieces than clusters has more leading eigenvectors than are asked for,
    any of which would do: then the largest pieces are the clusters, and the items of the others are left out.
    """
    graph = nearest.maximum(nearest.T)
    inside = np.flatnonzero(present & (graph.getnnz(axis=1) > 0))
    if inside.size < (n_clusters or 2):  # hardly anybody shares a leaf: loops stand for the links that are not there
        inside = np.flatnonzero(present)
    if inside.size < graph.shape[0]:
        graph = graph[inside][:, inside]
    kinds = None if leaves is None else _kinds(leaves, inside)
    piece = _pieces(graph, kinds)
    most = MOST_CLUSTERS if n_clusters is None else n_clusters
    if piece.max(initial=0) >= most:
        inside, labels = _largest(inside, piece, most)
        return inside, labels, np.ones(most)
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
    if kinds is not None:
        rows = _one_for_all(rows, kinds)
    np.round(rows, 6, out=rows)
    return inside, cluster_rows(rows, n_clusters, seed=seed, n_jobs=n_jobs)[0], values


def _pieces(graph: Any, kinds: Labels | None) -> Labels:
    """The piece of the graph that each item lies in; those of one kind lie in the same."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    piece = connected_components(graph, directed=False)[1].astype(np.intp)
    if kinds is None:
        return piece
    n_pieces, n_all = int(piece.max(initial=-1)) + 1, int(kinds.max(initial=-1)) + 1
    both = csr_matrix((np.ones(piece.size), (piece, n_pieces + kinds)), shape=(n_pieces + n_all, n_pieces + n_all))
    found = connected_components(both, directed=False)[1][piece]
    return np.unique(found, return_inverse=True)[1].astype(np.intp)


def _largest(inside: Labels, piece: Labels, n_clusters: int) -> tuple[Labels, Labels]:
    """The items of the largest pieces, and which of these each lies in."""
    order = np.argsort(-np.bincount(piece), kind="stable")
    place = np.full(order.size, -1, dtype=np.intp)
    place[order[:n_clusters]] = np.arange(min(n_clusters, order.size))
    kept = np.flatnonzero(place[piece] >= 0)
    return inside[kept], place[piece[kept]]


def _kinds(leaves: NDArray[Any], items: Labels) -> Labels:
    """Numbers of items that are equal for those that share every leaf: sums of the leaves with random factors, modulo
    2^64, which others have in common with a chance of about n^2 / 2^65."""
    factors = np.random.default_rng(0).integers(2**64, size=leaves.shape[1], dtype=np.uint64, endpoint=False) | 1
    sums = np.zeros(items.size, dtype=np.uint64)
    for rows in row_blocks(items.size, 8.0 * leaves.shape[1]):
        sums[rows] = leaves[items[rows]].astype(np.uint64) @ factors
    return np.unique(sums, return_inverse=True)[1]


def _one_for_all(rows: NDArray[np.float64], kinds: Labels) -> NDArray[np.float64]:
    """Rows, those of one kind at their mean."""
    counts = np.bincount(kinds)
    if counts.size == kinds.size:
        return rows
    means = np.column_stack([np.bincount(kinds, weights=column) for column in rows.T]) / counts[:, None]
    return np.asarray(means[kinds])


def mean_codes(codes: NDArray[Any], labels: Labels, n_clusters: int, missing: int) -> NDArray[np.float32]:
    """Mean code of each feature in each cluster, over the items that have it; 0 where nobody has."""
    means = np.zeros((n_clusters, codes.shape[0]), dtype=np.float32)
    for cluster in range(n_clusters):
        members = codes[:, labels == cluster]
        held = members != missing
        total = (members * held).sum(axis=1, dtype=np.float64)
        means[cluster] = total / np.maximum(1, held.sum(axis=1))
    return means
