"""From a graph of neighbours to clusters, where the graph falls into pieces."""

import numpy as np
from scipy.linalg import block_diag
from scipy.sparse import csr_matrix

from manyview.methods.forest._clusters import MOST_CLUSTERS, spectral_clusters


def graph_of(*sizes):
    """Every item linked with all of its piece; which piece each item lies in, items in a random order."""
    order = np.random.default_rng(0).permutation(sum(sizes))
    dense = block_diag(*[np.ones((size, size)) - np.eye(size) for size in sizes])
    piece = np.repeat(np.arange(len(sizes)), sizes)
    return csr_matrix(dense[order][:, order]), piece[order]


def clusters(graph, n_clusters, seed=0, leaves=None):
    everybody = np.ones(graph.shape[0], dtype=bool)
    return spectral_clusters(graph, everybody, n_clusters, seed, 1, leaves)


def test_of_more_pieces_than_clusters_the_largest_are_the_clusters(seed):
    graph, piece = graph_of(8, 3, 12, 9, 2)
    inside, labels, values = clusters(graph, 3, seed)
    assert set(piece[inside]) == {0, 2, 3} and inside.size == 29
    assert np.array_equal(np.array([2, 3, 0])[labels], piece[inside])  # the largest is the first
    np.testing.assert_array_equal(values, np.ones(3))


def test_of_more_pieces_than_are_looked_for_the_largest_are_the_clusters():
    graph, piece = graph_of(*range(2, MOST_CLUSTERS + 7))
    inside, labels, _ = clusters(graph, None)
    assert np.unique(labels).size == MOST_CLUSTERS and set(piece[inside]) == set(range(5, MOST_CLUSTERS + 5))


def test_as_many_pieces_as_clusters_are_the_clusters():
    graph, piece = graph_of(8, 3, 12)
    inside, labels, _ = clusters(graph, 3)
    assert inside.size == 23 and len(set(zip(piece, labels, strict=True))) == 3
    assert np.unique(clusters(graph, None)[1]).size == 3


def test_items_that_share_every_leaf_are_one_piece():
    graph, piece = graph_of(4, 4, 3)
    leaves = np.array([7, 7, 1])[piece][:, None]  # more of them than the neighbours that are kept
    inside, labels, _ = clusters(graph, 1, leaves=leaves)
    assert set(piece[inside]) == {0, 1} and not labels.any()
