"""Spectral relational clustering: exact steps, and the singular value decomposition for one relation."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.papers.rivals.relational import spectral_relational


def test_of_one_relation_it_is_the_singular_value_decomposition():
    R = np.random.default_rng(0).random((15, 7))
    found = spectral_relational([R], 3, n_rounds=300, tol=0.0)
    best = np.linalg.svd(R, compute_uv=False)[:3] ** 2
    assert found.objective[-1] == pytest.approx(best.sum(), rel=1e-9)
    assert np.allclose(found.space.T @ found.space, np.eye(3))


def test_what_is_explained_never_falls_and_is_what_the_formula_says():
    rng = np.random.default_rng(1)
    relations, weights = [rng.random((12, 6)), rng.random((12, 9))], [0.3, 0.7]
    found = spectral_relational(relations, 2, weights=weights, n_rounds=30, tol=0.0)
    assert (np.diff(found.objective) >= -1e-9).all()
    C = found.space
    best = sum(
        w * (np.linalg.svd(C.T @ R, compute_uv=False) ** 2).sum() for w, R in zip(weights, relations, strict=True)
    )
    assert found.objective[-1] <= best + 1e-9  # the features' side may still better itself


def test_two_blocks_are_found_from_sparse_relations():
    half = np.repeat([0, 1], 10)
    words = csr_matrix(np.eye(2)[half].repeat(3, axis=1))
    labels = spectral_relational([words, words], 2).labels
    assert np.unique(labels[:10]).size == np.unique(labels[10:]).size == 1 and labels[0] != labels[-1]
