"""Louvain communities: each move against modularity recomputed by its definition, and graphs whose parts are known."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_matrix

from manyview.methods.consensus._communities import communities
from manyview.methods.consensus._communities_kernels import move_items


def modularity(W, labels):
    """By the definition: a sum over all pairs."""
    W = W.toarray()
    degrees, total = W.sum(axis=1), W.sum()
    same = labels[:, None] == labels
    return float(((W - np.outer(degrees, degrees) / total) * same).sum() / total)


def random_graph(n_items, seed, share=0.2):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.uniform(0.1, 1.0, (n_items, n_items)) * (rng.uniform(size=(n_items, n_items)) < share), 1)
    W[np.arange(n_items - 1), np.arange(1, n_items)] += 0.05  # nobody is alone
    return csr_matrix(W + W.T)


def slow_moves(W, order, labels):
    """Every item in its turn tries the communities of its partners, modularity counted anew for each."""
    labels, moves = labels.copy(), 0
    while True:
        before = moves
        for item in order:
            home, best = labels[item], modularity(W, labels)
            for other in dict.fromkeys(labels[W.indices[W.indptr[item] : W.indptr[item + 1]]].tolist()):
                trial = labels.copy()
                trial[item] = other
                if modularity(W, trial) > best + 1e-12:
                    home, best = other, modularity(W, trial)
            moves += int(home != labels[item])
            labels[item] = home
        if moves == before:
            return labels, moves


@pytest.mark.parametrize("draw", range(4))
@pytest.mark.parametrize("compiled", [True, False])
def test_moves_are_those_of_modularity_by_its_definition(draw, compiled):
    W = random_graph(18, draw)
    order, start = np.random.default_rng(draw).permutation(18), np.arange(18)
    degrees = np.asarray(W.sum(axis=1)).ravel()
    labels, held = start.copy(), degrees.copy()
    kernel = move_items if compiled else getattr(move_items, "py_func", move_items)
    moves = kernel(W.indptr.astype(np.int64), W.indices, W.data, degrees, order, labels, held)
    expected, n_expected = slow_moves(W, order, start)
    assert labels.tolist() == expected.tolist() and moves == n_expected
    assert np.allclose(held, np.bincount(labels, weights=degrees, minlength=18))


def test_communities_leave_nothing_to_gain_and_are_numbered_by_first_item():
    for seed in range(4):
        W = random_graph(40, seed, share=0.1)
        labels = communities(W, seed)
        seen = list(dict.fromkeys(labels.tolist()))
        assert seen == list(range(len(seen)))
        best = modularity(W, labels)
        for item in range(40):  # no single item would be better off elsewhere
            for other in set(labels[W.indices[W.indptr[item] : W.indptr[item + 1]]].tolist()):
                trial = labels.copy()
                trial[item] = other
                assert modularity(W, trial) <= best + 1e-9
        for one, other in {(a, b) for a in seen for b in seen if a < b}:  # nor would two communities as one
            assert modularity(W, np.where(labels == other, one, labels)) <= best + 1e-9


def test_cliques_on_a_ring_are_found_whatever_the_seed():
    clique = np.ones((6, 6)) - np.eye(6)
    W = block_diag([clique] * 5).tolil()
    for number in range(5):
        a, b = 6 * number, 6 * ((number + 1) % 5) + 1
        W[a, b] = W[b, a] = 1.0
    W, expected = csr_matrix(W), np.repeat(np.arange(5), 6).tolist()
    for seed in range(5):
        assert communities(W, seed).tolist() == expected
