"""NMF of several relations against a literal version with loops."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.papers.rivals.factorization import factorize


def literal(relations, k, weights, n_rounds, seed):
    """Lee and Seung's updates, element by element, from the same start."""
    rng = np.random.default_rng(seed)
    G = rng.random((relations[0].shape[0], k)) + 1e-12
    F = [rng.random((R.shape[1], k)) + 1e-12 for R in relations]
    S = [rng.random((k, k)) + 1e-12 for _ in relations]
    for _ in range(n_rounds):
        for p, R in enumerate(relations):
            above, below = R.T @ G @ S[p], F[p] @ (S[p].T @ G.T @ G @ S[p])
            F[p] = np.array([[F[p][j, a] * above[j, a] / below[j, a] for a in range(k)] for j in range(R.shape[1])])
            above, below = G.T @ R @ F[p], G.T @ G @ S[p] @ F[p].T @ F[p]
            S[p] = np.array([[S[p][a, b] * above[a, b] / below[a, b] for b in range(k)] for a in range(k)])
        B = [s @ f.T for s, f in zip(S, F, strict=True)]
        above = sum(w * R @ b.T for w, R, b in zip(weights, relations, B, strict=True))
        below = G @ sum(w * b @ b.T for w, b in zip(weights, B, strict=True))
        G = G * above / below
    error = sum(w * ((R - G @ b) ** 2).sum() for w, R, b in zip(weights, relations, B, strict=True))
    return G, error


def two_blocks(rng, n=12):
    half = np.repeat([0, 1], n // 2)
    looks = rng.random((n, 5)) * 0.2 + np.eye(2)[half] @ rng.random((2, 5))
    tags = (np.eye(2)[half] @ np.array([[1, 1, 0, 0], [0, 0, 1, 1]])).astype(float)
    return [looks, tags], half


def test_is_the_literal_version():
    relations, _ = two_blocks(np.random.default_rng(0))
    G, error = literal(relations, 3, [0.3, 0.7], 4, seed=5)
    found = factorize(relations, 3, weights=[0.3, 0.7], n_rounds=4, random_state=5)
    assert np.allclose(found.items, G, rtol=1e-8)
    assert found.objective[-1] == pytest.approx(error, rel=1e-8)


def test_the_objective_never_rises_and_sparse_is_dense():
    relations, half = two_blocks(np.random.default_rng(1))
    found = factorize(relations, 2, n_rounds=80)
    assert (np.diff(found.objective) <= 1e-9).all()
    assert np.unique(found.labels[half == 0]).size == np.unique(found.labels[half == 1]).size == 1
    sparse = factorize([csr_matrix(R) for R in relations], 2, n_rounds=80)
    assert np.array_equal(sparse.labels, found.labels)


def test_named_items_stay_and_lead_the_others():
    relations, half = two_blocks(np.random.default_rng(2))
    named = np.full(half.size, -1)
    named[0], named[-1] = 1, 0  # the other way round than a run without names might have it
    for seed in range(3):
        found = factorize(relations, 2, named=named, n_rounds=80, random_state=seed)
        assert np.array_equal(found.labels, 1 - half)
        assert (np.diff(found.objective) <= 1e-9).all()
        assert found.items[0].tolist() == [0.0, 1.0] and found.items[-1].tolist() == [1.0, 0.0]
