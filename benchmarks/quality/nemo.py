"""NEMO as its paper writes it: relative similarities to a few neighbours, averaged over views, and a spectral step.

N. Rappoport, R. Shamir, "NEMO: cancer subtyping by integration of partial multi-omic data", Bioinformatics 2019. Dense
n x n matrices. Neighbours: n / (6 K), as its authors set them.
"""

from __future__ import annotations

import numpy as np

from manyview import Views


def nemo(prepared: Views, n_clusters: int, seed: int) -> np.ndarray:
    """Labels from views that are prepared as for the others; items that lack a view are averaged over the rest."""
    from sklearn.cluster import SpectralClustering

    n_items = prepared.n_items
    n_near = max(2, n_items // (6 * n_clusters))
    total, count = np.zeros((2, n_items, n_items))
    for name, rows in prepared.items():
        has = np.flatnonzero(prepared.present(name))
        total[np.ix_(has, has)] += relative_similarity(rows[has].astype(np.float64), min(n_near, has.size - 1))
        count[np.ix_(has, has)] += 1
    mean = total / np.maximum(count, 1)
    return SpectralClustering(n_clusters, affinity="precomputed", random_state=seed).fit(mean + 1e-12).labels_


def relative_similarity(rows: np.ndarray, n_near: int) -> np.ndarray:
    squares = (rows**2).sum(axis=1)
    square = np.maximum(squares[:, None] + squares - 2 * rows @ rows.T, 0)
    np.fill_diagonal(square, np.inf)
    near = np.argpartition(square, n_near - 1, axis=1)[:, :n_near]
    is_near = np.zeros_like(square, dtype=bool)
    np.put_along_axis(is_near, near, True, axis=1)
    distance = np.sqrt(square)
    reach = np.take_along_axis(distance, near, axis=1).mean(axis=1)
    np.fill_diagonal(distance, 0)
    np.fill_diagonal(square, 0)
    width = np.maximum((reach[:, None] + reach + distance) / 3, 1e-12)
    similarity = np.exp(-square / (0.5 * width**2))
    mine = np.where(is_near, similarity, 0)
    mine /= np.maximum(mine.sum(axis=1, keepdims=True), 1e-300)
    return mine + mine.T
