"""The spectral step: eigenpairs against dense ones, repeated eigenvalues, and k-means that does not see threads."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence

from manyview.errors import ParameterError
from manyview.methods import spectral
from manyview.methods.spectral import cluster_rows, leading_eigenpairs, normalised_graph, spectral_rows


def graph_in_pieces(n_items, n_pieces, seed=0):
    """A random graph whose pieces have no edge between them."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(np.arange(n_items), 8)
    steps = rng.integers(0, n_items // n_pieces, size=rows.size) * n_pieces
    columns = rows % n_pieces + steps
    half = sparse.csr_matrix((np.ones(rows.size), (rows, columns)), shape=(n_items, n_items))
    return half + half.T


def test_normalised_graph_of_a_path():
    W = np.zeros((4, 4))
    W[0, 1], W[1, 2], W[2, 3] = 1, 0.5, 0.5
    S = normalised_graph(sparse.csr_matrix(W + W.T)).toarray()
    assert S[0, 1] == pytest.approx(0.816497, abs=1e-6)
    assert S[1, 2] == pytest.approx(0.408248, abs=1e-6)
    assert S[2, 3] == pytest.approx(0.707107, abs=1e-6)
    assert leading_eigenpairs(sparse.csr_matrix(S), 4, seed=0)[0] == pytest.approx(
        [1, 0.577350, -0.577350, -1], abs=1e-6
    )


def test_an_item_without_neighbours_gets_a_loop():
    S = normalised_graph(sparse.csr_matrix((3, 3)))
    assert np.array_equal(S.toarray(), np.eye(3))


def test_eigenpairs_are_the_largest_algebraic_ones():
    # A bipartite graph has -1 as an eigenvalue: as large as 1 by magnitude, and useless.
    n = 600
    rng = np.random.default_rng(0)
    B = sparse.random(n // 2, n // 2, 0.05, rng=rng)
    W = sparse.bmat([[None, B], [B.T, None]]).tocsr()
    S = normalised_graph(W)
    values, vectors = leading_eigenpairs(S, 5, seed=0)
    dense = np.sort(np.linalg.eigvalsh(S.toarray()))[::-1]
    assert dense[-1] == pytest.approx(-1)
    assert values == pytest.approx(dense[:5], abs=1e-4)
    assert np.linalg.norm(S @ vectors - vectors * values) < 1e-2
    assert np.abs(vectors.T @ vectors - np.eye(5)).max() < 1e-6


def test_every_copy_of_a_repeated_eigenvalue_is_found():
    n_pieces = 30
    S = normalised_graph(graph_in_pieces(1_500, n_pieces))
    values, vectors = leading_eigenpairs(S, n_pieces + 2, seed=0)
    assert (values[:n_pieces] > 0.9999).all() and (values[n_pieces:] < 0.99).all()
    labels, _ = cluster_rows(spectral_rows(values, vectors), n_pieces, seed=0)
    pairs = set(zip(labels.tolist(), (np.arange(1_500) % n_pieces).tolist(), strict=True))
    assert len(pairs) == n_pieces


def test_same_seed_same_vectors():
    S = normalised_graph(graph_in_pieces(900, 3))
    first, second = (leading_eigenpairs(S, 5, seed=4) for _ in range(2))
    assert np.array_equal(first[1], second[1])


def test_more_vectors_than_items():
    values, vectors = leading_eigenpairs(sparse.eye_array(3).tocsr(), 8, seed=0)
    assert values.shape == (3,) and vectors.shape == (3, 3)
    with pytest.raises(ParameterError, match="n_vectors must be at least 1"):
        leading_eigenpairs(sparse.eye_array(3).tocsr(), 0, seed=0)


def test_without_convergence_what_did_converge_is_kept(monkeypatch):
    S = normalised_graph(graph_in_pieces(900, 1))
    monkeypatch.setattr(spectral, "_RESTARTS", 1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values, vectors = leading_eigenpairs(S, 20, seed=0, tol=1e-13)
    assert 1 <= values.size <= 20 and vectors.shape == (900, values.size)
    assert values[0] == pytest.approx(1)
    assert any("did not converge" in str(w.message) for w in caught)


def test_nothing_converged_is_an_error(monkeypatch):
    import scipy.sparse.linalg as linalg

    def never(*args, **kwargs):
        raise ArpackNoConvergence("no (%s, %s)", np.empty(0), np.empty((900, 0)))

    monkeypatch.setattr(linalg, "eigsh", never)
    with pytest.raises(ArpackNoConvergence):
        leading_eigenpairs(normalised_graph(graph_in_pieces(900, 1)), 2, seed=0)


def test_rows_have_unit_length_and_zero_rows_stay():
    vectors = np.array([[3.0, 4.0, 5.0], [0.0, 0.0, 7.0], [1.0, 0.0, 0.0]])
    values = np.array([1.0, 0.5, -0.2])
    rows = spectral_rows(values, vectors, power=1.0)
    assert rows[0] == pytest.approx(np.array([3, 2, 0]) / np.sqrt(13))
    assert np.array_equal(rows[1], [0, 0, 0])
    assert spectral_rows(values, vectors)[0] == pytest.approx(vectors[0] / np.sqrt(50))


@pytest.mark.parametrize("sampled", [False, True])
def test_cluster_rows_for_any_number_of_threads(monkeypatch, sampled):
    if sampled:
        monkeypatch.setattr(spectral, "_SAMPLE", 200)
    rng = np.random.default_rng(0)
    truth = np.arange(600) % 4
    rows = np.eye(4)[truth] + 0.1 * rng.normal(size=(600, 4))
    one, two = (cluster_rows(rows, 4, seed=1, n_jobs=jobs) for jobs in (1, 2))
    assert np.array_equal(one[0], two[0]) and np.array_equal(one[1], two[1])
    assert len(set(zip(one[0].tolist(), truth.tolist(), strict=True))) == 4
    nearest = ((rows[:, None] - one[1]) ** 2).sum(axis=2).argmin(axis=1)
    assert np.array_equal(nearest, one[0])
