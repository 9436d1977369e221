"""Graphs averaged and aggregated, against dense formulas."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.papers.rivals.affinities import aggregated_graph, averaged_graph, graph_labels, neighbour_graph

HALF = np.repeat([0, 1], 10)


def block_graph(noise, seed=0):
    rng = np.random.default_rng(seed)
    same = (HALF[:, None] == HALF).astype(float)
    weights = (1 - noise) * same + noise * rng.random((20, 20))
    weights = (weights + weights.T) / 2
    np.fill_diagonal(weights, 0)
    return csr_matrix(weights)


def normalised(graph):
    dense = graph.toarray()
    root = 1 / np.sqrt(dense.sum(axis=1))
    return root[:, None] * dense * root


def test_neighbours_by_cosine_without_oneself():
    rows = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    graph = neighbour_graph(rows, 1).toarray()
    assert graph.argmax(axis=1).tolist() == [1, 0, 3, 2] and (np.diag(graph) == 0).all()
    cosine = rows[0] @ rows[1] / np.linalg.norm(rows[1])
    assert graph[0, 1] == pytest.approx(cosine)


def test_the_average_is_that_of_the_normalised_graphs():
    graphs = [block_graph(0.1), block_graph(0.9, 1)]
    expected = (normalised(graphs[0]) + normalised(graphs[1])) / 2
    assert np.allclose(averaged_graph(graphs).toarray(), expected)
    labels = graph_labels(averaged_graph(graphs), 2, 0)
    assert np.unique(labels[:10]).size == 1 and labels[0] != labels[-1]


def test_the_smoother_graph_counts_more_and_no_other_weights_are_better():
    graphs = [block_graph(0.05), block_graph(1.0, 1)]
    found = aggregated_graph(graphs, 2, n_rounds=20)
    assert found.weights.sum() == pytest.approx(1.0) and found.weights[0] > found.weights[1]
    assert (np.diff(found.objective) <= 1e-8).all()
    S = [normalised(graph) for graph in graphs]

    def objective(v):
        """The best over F, by a dense solver: the trace less the two largest eigenvalues."""
        joined = sum(share**2 * one for share, one in zip(v, S, strict=True))
        return 2 * (np.asarray(v) ** 2).sum() - np.linalg.eigvalsh(joined)[-2:].sum()

    assert objective(found.weights) == pytest.approx(found.objective[-1], abs=1e-6)
    near = [np.array([share, 1 - share]) for share in found.weights[0] + np.linspace(-0.05, 0.05, 11)]
    assert min(objective(v) for v in near) >= found.objective[-1] - 1e-6


def test_a_graph_of_as_many_pieces_as_clusters_takes_all_weight():
    """As published; the docs say so where it makes a row of no use."""
    pieces = aggregated_graph([block_graph(0.3), block_graph(0.0)], 2)
    assert pieces.weights == pytest.approx([0.0, 1.0], abs=1e-9)
