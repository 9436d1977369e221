"""Association and its moves against explicit matrices, and the answers that many candidates give."""

import numpy as np
import pytest
from scipy import sparse

from manyview import ConsensusClustering, Views
from manyview.blocks import workers
from manyview.methods.consensus._association import Votes, place_unknown, refine
from manyview.methods.consensus._graph import Memberships, NeighbourGraph, Space
from manyview.methods.neighbours import nearest_neighbours

N, K = 60, 4


@pytest.fixture
def threads():
    with workers(2) as pool:
        yield pool


def some_votes(threads, alpha=0.6, seed=0):
    """Votes of seven members and three spaces, and T written out, one pair of items at a time."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 5, size=(N, 7)).astype(np.int16)
    labels[:, 0] = rng.integers(0, 5, size=N)
    weights = rng.uniform(0.5, 2, size=7)
    voices = ((labels >= 0) * weights).sum(axis=1)
    C = np.zeros((N, N))
    for j, weight in enumerate(weights):
        for a in range(N):
            for b in range(N):
                if labels[a, j] == labels[b, j] >= 0:
                    mass = weight * (labels[:, j] == labels[a, j]).sum()
                    C[a, b] += weight**2 / mass / np.sqrt(voices[a] * voices[b])
    spaces, found, W = [], [], np.zeros((N, N))
    for items, weight in ((np.arange(N), 1.0), (np.arange(0, N, 2), 0.5), (np.arange(10, N), 0.5)):
        rows = rng.normal(size=(items.size, 3)).astype(np.float32)
        spaces.append(Space(None, 0, rows, items.astype(np.int32)))
        found.append(nearest_neighbours(rows, 3, threads))
        A = np.zeros((N, N))
        for row, named in zip(items, found[-1], strict=True):
            A[row, items[named]] = 1 / 3
        W += weight * (A + A.T) / 2
    degrees = W.sum(axis=1)
    S = W / np.sqrt(np.outer(degrees, degrees))
    graph = NeighbourGraph(N, spaces, found, [1.0, 0.5, 0.5], threads)
    votes = Votes(alpha, graph, Memberships(labels, np.full(7, 5), weights, threads), threads)
    return votes, alpha * S + (1 - alpha) * C


def literal_round(T, labels):
    """One round of moves and the association before it, with every matrix written out."""
    Y = np.eye(K)[labels]
    sizes, inside, totals = Y.sum(axis=0), np.diag(Y.T @ T @ Y), T @ Y
    return np.argmax(2 * totals / sizes - inside / sizes**2, axis=1), (inside / sizes).sum()


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_association_and_moves_equal_the_explicit_matrix(threads, alpha):
    votes, T = some_votes(threads, alpha)
    for seed in range(3):
        labels = np.random.default_rng(seed).integers(0, K, size=N)
        moved, value = literal_round(T, labels)
        table = votes.table(labels, K)
        assert votes.association(labels, K) == pytest.approx(value)
        assert np.array_equal(votes.moves(labels, K, table, votes.inside(labels, K, table)), moved)


def test_refinement_is_the_literal_one_and_never_lowers_the_association(threads):
    votes, T = some_votes(threads)
    for seed in range(5):
        labels = np.random.default_rng(seed).integers(0, K, size=N)
        start = labels.copy()
        found, value = refine(votes, labels, K, np.arange(N))
        for _ in range(10):
            moved, now = literal_round(T, labels)
            if np.unique(moved).size < K or literal_round(T, moved)[1] <= now:
                break
            labels = moved
        assert np.array_equal(found, labels) and value == pytest.approx(literal_round(T, labels)[1])
        assert value >= literal_round(T, start)[1]


def test_two_cliques_have_association_two(threads):
    rows = np.repeat([[0.0], [9.0]], 5, axis=0).astype(np.float32)
    space = Space(None, 0, rows, np.arange(10, dtype=np.int32))
    graph = NeighbourGraph(10, [space], [nearest_neighbours(rows, 4, threads)], [1.0], threads)
    members = Memberships(np.zeros((10, 1), dtype=np.int16), np.array([1]), np.ones(1), threads)
    truth = np.repeat([0, 1], 5)
    assert Votes(1.0, graph, members, threads).association(truth, 2) == pytest.approx(2)
    assert Votes(0.0, graph, members, threads).association(truth, 2) == pytest.approx(1)  # one lump


def test_unknown_items_go_where_they_gain_most(threads):
    votes, T = some_votes(threads)
    labels = np.random.default_rng(0).integers(0, K, size=N)
    partial = np.where(np.arange(N) % 5 == 0, -1, labels)
    Y = np.where(partial[:, None] >= 0, np.eye(K)[partial], 0.0)
    sizes, inside = Y.sum(axis=0), np.diag(Y.T @ T @ Y)
    wanted = np.argmax(2 * (T @ Y) / sizes - inside / sizes**2, axis=1)
    assert np.array_equal(place_unknown(votes, partial, K), np.where(partial >= 0, partial, wanted))


def test_uneven_classes_stay_uneven():
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], [300, 40])
    X = Views([rng.normal(size=(340, 8)) + 3.0 * truth[:, None] * (np.arange(8) < 3) for _ in range(2)])
    model = ConsensusClustering(2).fit(X)
    assert (model.labels_ == truth).mean() > 0.97
    assert 0 < model.association_ <= 1 and model.candidate_


def test_the_answer_is_no_worse_than_that_of_k_means():
    from sklearn.cluster import KMeans

    from manyview.methods.preparation import prepared_views

    rng = np.random.default_rng(1)
    X = Views({"a": rng.normal(size=(90, 5)), "b": sparse.csr_matrix(rng.poisson(0.3, size=(90, 40)))})
    seen = {}
    from manyview.methods.consensus import _candidates

    def keep(votes, labels, n_clusters, leaders):
        seen["votes"] = votes
        return refine(votes, labels, n_clusters, leaders)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_candidates, "refine", keep)
        model = ConsensusClustering(3, scale="rank").fit(X)
    joined = np.hstack([matrix for _, matrix in prepared_views(X).items()])
    plain = KMeans(3, n_init=10, random_state=0).fit(joined).labels_.astype(np.intp)
    assert 3 * model.association_ >= seen["votes"].association(plain, 3)
