"""The votes of ConsensusClustering, worked out by hand: members, neighbours, both together."""

import numpy as np
import pytest

from manyview.blocks import workers
from manyview.methods import neighbours as _neighbours
from manyview.methods import spectral
from manyview.methods.consensus._graph import Memberships, NeighbourGraph, Space, mixed_operator

LABELS = np.array([[0, 0], [0, 0], [1, 0], [1, 1]], dtype=np.int16)
LINE = np.array([[0], [1], [3], [7]], dtype=np.float32)


@pytest.fixture
def threads():
    with workers(2) as pool:
        yield pool


def dense_members(labels, weights):
    """C as it is defined, one pair of items at a time."""
    n, m = labels.shape
    C = np.zeros((n, n))
    votes = [sum(weights[j] for j in range(m) if labels[i, j] >= 0) for i in range(n)]
    for j in range(m):
        for a in range(n):
            for b in range(n):
                if labels[a, j] == labels[b, j] >= 0:
                    mass = weights[j] * (labels[:, j] == labels[a, j]).sum()
                    C[a, b] += weights[j] ** 2 / mass / np.sqrt(votes[a] * votes[b])
    return C


def columns(product, n):
    return np.column_stack([product(unit) for unit in np.eye(n)])


def test_two_members_of_four_items(threads):
    C = columns(Memberships(LABELS, np.array([2, 2]), np.ones(2), threads).product, 4)
    expected = [
        [5 / 12, 5 / 12, 1 / 6, 0],
        [5 / 12, 5 / 12, 1 / 6, 0],
        [1 / 6, 1 / 6, 5 / 12, 1 / 4],
        [0, 0, 1 / 4, 3 / 4],
    ]
    assert pytest.approx(np.array(expected)) == C
    assert C.sum(axis=1) == pytest.approx(np.ones(4))
    assert np.sort(np.linalg.eigvalsh(C))[::-1] == pytest.approx([1, 0.788675, 0.211325, 0], abs=1e-6)
    C = columns(Memberships(LABELS, np.array([2, 2]), np.array([2.0, 1.0]), threads).product, 4)
    assert [C[0, 1], C[0, 2], C[2, 3], C[3, 3]] == pytest.approx([0.444444, 0.111111, 0.333333, 0.666667], abs=1e-6)


def line_graph(threads):
    space = Space(None, 0, LINE, np.arange(4, dtype=np.int32))
    return NeighbourGraph(4, [space], [_neighbours.nearest_neighbours(LINE, 1, threads)], [1.0], threads)


def test_graph_of_four_numbers(threads):
    graph = line_graph(threads)
    W, S = columns(graph.plain_product, 4), columns(graph.product, 4)
    assert [W[0, 1], W[1, 2], W[2, 3], W[0, 2]] == pytest.approx([1, 0.5, 0.5, 0])
    assert graph.degrees == pytest.approx([1, 1.5, 1, 0.5])
    assert [S[0, 1], S[1, 2], S[2, 3]] == pytest.approx([0.816497, 0.408248, 0.707107], abs=1e-6)
    assert np.sort(np.linalg.eigvalsh(S))[::-1] == pytest.approx([1, 0.577350, -0.577350, -1], abs=1e-6)


def test_both_together(threads):
    memberships = Memberships(LABELS, np.array([2, 2]), np.ones(2), threads)
    operator = mixed_operator(0.5, line_graph(threads), memberships)
    values, vectors = spectral.leading_eigenpairs(operator, 4, seed=0)
    assert values == pytest.approx([0.995434, 0.652824, -0.180649, -0.467608], abs=1e-6)
    rows = spectral.spectral_rows(values[:2], vectors[:, :2], power=1.0)
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    cosines = [float(rows[a] @ rows[b]) for a, b in pairs]
    assert cosines == pytest.approx([0.991923, 0.522063, 0.168061, 0.626030, 0.291740, 0.928514], abs=1e-6)
    labels, _ = spectral.cluster_rows(rows, 2, seed=0)
    assert labels[0] == labels[1] != labels[2] == labels[3]


def test_products_equal_the_dense_matrices(threads):
    rng = np.random.default_rng(0)
    n, k = 60, 4
    labels = rng.integers(-1, 5, size=(n, 7)).astype(np.int16)  # some leave items out
    labels[:, 0] = rng.integers(0, 5, size=n)
    weights = rng.uniform(0.5, 2, size=7)
    C = columns(Memberships(labels, np.full(7, 5), weights, threads).product, n)
    assert dense_members(labels, weights) == pytest.approx(C, abs=1e-12)
    spaces, found, W = [], [], np.zeros((n, n))
    for items, weight in ((np.arange(n), 1.0), (np.arange(0, n, 2), 0.5), (np.arange(10, n), 0.5)):
        rows = rng.normal(size=(items.size, 3)).astype(np.float32)
        spaces.append(Space(None, 0, rows, items.astype(np.int32)))
        found.append(_neighbours.nearest_neighbours(rows, k, threads))
        A = np.zeros((n, n))
        for row, named in zip(items, found[-1], strict=True):
            A[row, items[named]] = 1 / k
        W += weight * (A + A.T) / 2
    graph = NeighbourGraph(n, spaces, found, [1.0, 0.5, 0.5], threads)
    assert columns(graph.plain_product, n) == pytest.approx(W, abs=1e-12)
    degrees = W.sum(axis=1)
    S = W / np.sqrt(np.outer(degrees, degrees))
    T = columns(mixed_operator(0.6, graph, Memberships(labels, np.full(7, 5), weights, threads)).matvec, n)
    assert pytest.approx(0.6 * S + 0.4 * C, abs=1e-12) == T
    for matrix, low in ((C, 0), (S, -1), (T, -1)):
        values = np.linalg.eigvalsh(matrix)
        assert pytest.approx(matrix.T, abs=1e-12) == matrix and values[-1] <= 1 + 1e-9 and values[0] >= low - 1e-9
    assert np.linalg.eigvalsh(S)[-1] == pytest.approx(1) and np.linalg.eigvalsh(C)[-1] == pytest.approx(1)
    turned = np.where(labels >= 0, 4 - labels, -1).astype(np.int16)  # a member's numbers are only names
    assert columns(Memberships(turned, np.full(7, 5), weights, threads).product, n) == pytest.approx(C, abs=1e-12)
    clusters = rng.integers(0, 3, size=n)
    same = clusters[:, None] == clusters
    expected = ((W - np.outer(degrees, degrees) / degrees.sum()) * same).sum() / degrees.sum()
    assert graph.modularity(clusters) == pytest.approx(expected)
    inside = [(clusters[s.items[f]] == clusters[s.items, None]).mean() for s, f in zip(spaces, found, strict=True)]
    assert graph.shares(clusters) == pytest.approx(inside)
