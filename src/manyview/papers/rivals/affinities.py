"""Spectral clustering of several graphs: averaged, and aggregated with learned weights (AASC)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...methods.forest._clusters import spectral_clusters
from ...methods.spectral import leading_eigenpairs, normalised_graph
from ...types import Floats, Places

__all__ = ["Aggregated", "aggregated_graph", "averaged_graph", "graph_labels", "neighbour_graph"]


def neighbour_graph(rows: Any, n_neighbors: int = 20) -> Any:
    """The graph of the nearest rows by cosine, CSR, nobody his own neighbour."""
    from scipy.sparse import csr_matrix
    from sklearn.neighbors import NearestNeighbors

    n_items = rows.shape[0]
    asked = min(n_neighbors + 1, n_items)
    distances, items = NearestNeighbors(n_neighbors=asked, metric="cosine").fit(rows).kneighbors(rows)
    weights = np.maximum(0.0, 1.0 - distances)
    starts = np.arange(0, items.size + 1, asked)
    graph = csr_matrix((weights.ravel(), items.ravel(), starts), shape=(n_items, n_items))
    graph.setdiag(0)
    graph.eliminate_zeros()
    return csr_matrix(graph)


def graph_labels(graph: Any, n_clusters: int, seed: int) -> Places:
    """Normalised spectral clustering, the same step as the forest's."""
    n_items = graph.shape[0]
    found, labels, _ = spectral_clusters(graph, np.ones(n_items, dtype=bool), n_clusters, seed, None)
    every = np.zeros(n_items, dtype=np.intp)
    every[found] = labels
    return every


def averaged_graph(graphs: Sequence[Any]) -> Any:
    """The mean of D^-1/2 A D^-1/2 of each graph made symmetric: the paper's "SpClust-bln"."""
    return sum(_normalised(graph) for graph in graphs) / len(graphs)


@dataclass(frozen=True)
class Aggregated:
    """graph : the weighted sum; weights : of the graphs, summing to 1; objective : after each round, never rising."""

    graph: Any
    weights: Floats
    objective: Floats


def aggregated_graph(graphs: Sequence[Any], n_clusters: int, *, n_rounds: int = 10, seed: int = 0) -> Aggregated:
    """One graph of several, the smoother ones counting more, in the manner of AASC.

    Minimises sum_p v_p^2 tr(F'(I - S_p)F) over F'F = I (``n_clusters`` columns) and sum_p v_p = 1, S_p being the
    normalised graphs. Given v, F is the leading eigenvectors of sum_p v_p^2 S_p; given F, v_p is proportional to
    1 / tr(F'(I - S_p)F). The published method has a second constraint on v, which is constant for normalised graphs
    and an orthonormal F.

    H.-C. Huang, Y.-Y. Chuang, C.-S. Chen, "Affinity aggregation for spectral clustering", CVPR 2012.
    """
    smooth = [_normalised(graph) for graph in graphs]
    v = np.full(len(graphs), 1.0 / len(graphs))
    objective: list[float] = []
    for _ in range(n_rounds):
        joined = sum(share**2 * graph for share, graph in zip(v, smooth, strict=True))
        F = np.linalg.qr(leading_eigenpairs(joined, n_clusters, seed=seed, tol=1e-8)[1])[0]
        rough = np.array([max(n_clusters - float(np.sum(F * (graph @ F))), 1e-12) for graph in smooth])
        v = (1.0 / rough) / (1.0 / rough).sum()
        objective.append(float(v**2 @ rough))
        if len(objective) > 1 and objective[-2] - objective[-1] <= 1e-9 * objective[-2]:
            break
    return Aggregated(sum(share**2 * graph for share, graph in zip(v, smooth, strict=True)), v, np.array(objective))


def _normalised(graph: Any) -> Any:
    return normalised_graph(graph.maximum(graph.T))
