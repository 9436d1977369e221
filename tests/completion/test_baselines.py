"""The baselines are what they say, so that beating them means something."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import Lasso

from manyview.papers.rivals.tag_completion import (
    MatrixRecovery,
    MultiOutputForest,
    PlainNeighbours,
    SparseReconstruction,
    _nonnegative_lasso,
    _rebuild_tags,
    _shrunk,
)
from tests.completion.made import collection

LOOKS, WORDS, TAGS, TOPIC = collection(n_items=90)


def test_plain_neighbours():
    units = (LOOKS - LOOKS.mean(axis=0)) / LOOKS.std(axis=0)
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    cosine = units @ units.T
    np.fill_diagonal(cosine, -1)
    mates = np.argsort(-cosine, axis=1)[:, :5]
    expected = np.stack([TAGS[rows].toarray().mean(axis=0) for rows in mates])
    assert PlainNeighbours(5).fit(LOOKS, TAGS).tag_scores() == pytest.approx(expected, abs=1e-6)


def test_lasso_is_scikit_learns():
    rng = np.random.default_rng(0)
    A, y = rng.normal(size=(40, 6)), rng.normal(size=40)
    theirs = Lasso(alpha=2.0 / 40, positive=True, fit_intercept=False, tol=1e-10, max_iter=10_000).fit(A, y)
    ours = _nonnegative_lasso(A.T @ A, (A.T @ y)[:, None], 2.0, 500)
    assert ours.ravel() == pytest.approx(theirs.coef_, abs=1e-6)


def test_a_tag_is_never_rebuilt_from_itself():
    tags = TAGS.toarray()
    tags[:, 12] = np.arange(90) == 3
    assert _rebuild_tags(csr_matrix(tags), 0.02)[3, 12] < 0.5


def test_shrinking_is_that_of_singular_values():
    matrix = np.random.default_rng(0).normal(size=(20, 6)).astype(np.float32)
    u, s, v = np.linalg.svd(matrix, full_matrices=False)
    assert _shrunk(matrix, 3.0) == pytest.approx((u * np.maximum(s - 3.0, 0)) @ v, abs=1e-4)
    assert np.linalg.matrix_rank(_shrunk(matrix, float(s[2])), tol=1e-3) == 2


@pytest.mark.parametrize("baseline", [MatrixRecovery(), SparseReconstruction(), MultiOutputForest()])
def test_they_find_the_topic(baseline):
    scores = baseline.fit({"looks": LOOKS, "words": WORDS}, TAGS).tag_scores()
    assert scores.shape == TAGS.shape and np.isfinite(scores).all()
    open_ = np.where(TAGS.toarray() > 0, -np.inf, scores)[:, :12]
    left = np.isfinite(open_).any(axis=1)
    fits = np.arange(12) // 3 == TOPIC[:, None]
    possible = left & (fits & np.isfinite(open_)).any(axis=1)
    assert fits[possible, open_[possible].argmax(axis=1)].mean() > 0.6
