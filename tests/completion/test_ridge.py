"""The ridges: the numbers of a hand-worked example, and a refit without each item."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.blocks import workers
from manyview.completion import penalties
from manyview.completion import ridge as ridge_module
from manyview.completion.batch import Batch
from manyview.completion.matrices import inverse_of, squares_by
from manyview.completion.recipe import _warn_clipped
from manyview.completion.ridge import fit_ridge, gather_moments

TAGS = np.array([[1, 1], [1, 1], [1, 0], [0, 0], [0, 0]], dtype=float)


def batch_of(tags, features, rows):
    return Batch(csr_matrix(tags)[rows], np.asarray(features)[rows], None, rows)


def fitted(tags, features, tag_penalty, feature_penalties, **options):
    with workers(1) as threads:
        everyone = batch_of(tags, features, np.arange(len(tags)))
        moments = moments_of(features, csr_matrix(tags), threads)
        fit = fit_ridge(moments, tag_penalty, np.asarray(feature_penalties, dtype=float), **options)
        return fit, fit.with_leverage([lambda: everyone], len(tags), threads), everyone


def moments_of(features, tags, threads):
    return gather_moments(lambda rows: features[rows], features.shape[1], tags, np.arange(tags.shape[0]), threads)


def test_worked_example():
    fit, ridge, everyone = fitted(TAGS, np.zeros((5, 0)), 1.0, [])
    assert fit.precision == pytest.approx(np.array([[0.523810, -0.190476], [-0.190476, 0.523810]]), abs=1e-6)
    assert ridge.tag_coef[0, 1] == pytest.approx(0.363636, abs=1e-6)
    assert ridge.fitted(everyone)[2, 1] == pytest.approx(0.545455, abs=1e-6)
    assert ridge.leverage[2] == pytest.approx(0.428571, abs=1e-6)
    expected = [[0.714286, 0.375], [0.714286, 0.375], [0.25, 0.75], [0.625, 0.285714], [0.625, 0.285714]]
    assert ridge.scores(everyone) == pytest.approx(np.array(expected), abs=1e-6)


def by_hand(tags, features, tag_penalty, feature_penalties, item, target):
    """Ridge with an intercept on all other tags and the features, without one item; its prediction for that item."""
    others = np.delete(np.arange(len(tags)), item)
    columns = np.delete(np.arange(tags.shape[1]), target) if tag_penalty else np.arange(0)
    penalty = np.r_[np.full(columns.size, tag_penalty or 0.0), feature_penalties]
    A = np.hstack([tags[:, columns], features])
    mean, y_mean = A[others].mean(axis=0), tags[others, target].mean()
    centred = A[others] - mean
    coef = np.linalg.solve(centred.T @ centred + np.diag(penalty), centred.T @ (tags[others, target] - y_mean))
    return y_mean + (A[item] - mean) @ coef


@pytest.mark.parametrize("tag_penalty", [3.0, None], ids=["joint", "views"])
def test_leaving_an_item_out_is_a_fit_without_it(tag_penalty):
    rng = np.random.default_rng(0)
    tags, features = (rng.random((30, 5)) < 0.4).astype(float), rng.normal(size=(30, 4))
    _, ridge, everyone = fitted(tags, features, tag_penalty, np.full(4, 2.0))
    expected = [[by_hand(tags, features, tag_penalty, np.full(4, 2.0), s, i) for i in range(5)] for s in range(30)]
    assert np.abs(ridge.scores(everyone) - np.array(expected)).max() < 1e-6


def test_a_new_item_is_predicted_by_the_fit_without_it():
    rng = np.random.default_rng(1)
    tags, features = (rng.random((40, 6)) < 0.3).astype(float), rng.normal(size=(40, 5)).astype(np.float32)
    for tag_penalty in (10.0, None):
        _, ridge, everyone = fitted(tags, features, tag_penalty, np.full(5, 3.0))
        inside = ridge.scores(everyone)
        for item in (0, 17):
            rest = np.delete(np.arange(40), item)
            _, without, _ = fitted(tags[rest], features[rest], tag_penalty, np.full(5, 3.0))
            new = replace(batch_of(tags, features, np.array([item])), rows=None)
            unknown = tags[item] == 0  # a tag the item has is an input of the others in both
            assert without.scores(new)[0][unknown] == pytest.approx(inside[item][unknown], abs=1e-5)


def test_rare_tags_are_targets_with_the_same_leave_one_out(monkeypatch):
    monkeypatch.setattr(ridge_module, "MOST_INPUTS", 3)
    rng = np.random.default_rng(2)
    tags = (rng.random((30, 6)) < [0.6, 0.5, 0.55, 0.2, 0.15, 0.1]).astype(float)
    features = rng.normal(size=(30, 4))
    _, ridge, everyone = fitted(tags, features, 3.0, np.full(4, 2.0))
    assert ridge.inputs.tolist() == [0, 1, 2] and ridge.rare.tolist() == [3, 4, 5]
    found = ridge.scores(everyone)
    inputs = tags[:, :3]
    for target in (3, 5):
        for item in (0, 11):
            joined = np.column_stack([inputs, tags[:, target]])
            assert found[item, target] == pytest.approx(
                by_hand(joined, features, 3.0, np.full(4, 2.0), item, 3), abs=1e-5
            )
    from_tags, from_features = ridge.coefficients(4)
    assert from_features == pytest.approx(ridge.rare_coef[3:, 1].toarray().ravel())
    assert from_tags[:3] == pytest.approx(ridge.rare_coef[:3, 1].toarray().ravel()) and not from_tags[3:].any()


def test_rare_tags_keep_their_largest_coefficients(monkeypatch):
    monkeypatch.setattr(ridge_module, "MOST_INPUTS", 2)
    monkeypatch.setattr(ridge_module, "_KEPT_PER_RARE_TAG", 3)
    rng = np.random.default_rng(3)
    tags, features = (rng.random((50, 4)) < [0.5, 0.5, 0.2, 0.2]).astype(float), rng.normal(size=(50, 6))
    _, ridge, _ = fitted(tags, features, 3.0, np.full(6, 2.0))
    assert np.diff(ridge.rare_coef.tocsc().indptr).tolist() == [3, 3]


def test_items_that_decide_their_own_prediction_are_told():
    rng = np.random.default_rng(5)
    tags = (rng.random((12, 30)) < 0.5).astype(float)
    _, ridge, everyone = fitted(tags, np.zeros((12, 0)), 1e-9, [])
    assert ridge.leverage == pytest.approx(1, abs=1e-3)
    with pytest.warns(UserWarning, match="decide their own prediction"):
        _warn_clipped(ridge, [lambda: everyone])
    _, held, everyone = fitted(tags, np.zeros((12, 0)), 100.0, [])
    _warn_clipped(held, [lambda: everyone])


def test_moments_do_not_depend_on_blocks_or_threads(monkeypatch):
    rng = np.random.default_rng(4)
    untagged = np.arange(200) >= 80
    tags = csr_matrix(((rng.random((200, 5)) < 0.3) & ~untagged[:, None]).astype(np.float32))
    features = rng.normal(size=(200, 7)).astype(np.float32)
    with workers(1) as threads:
        whole = moments_of(features, tags, threads)
        halves = [
            gather_moments(lambda rows: features[rows], 7, some, rows, threads)
            for rows, some in ((np.arange(80), tags), (np.arange(80, 200), tags[:, :0]))
        ]
    added = halves[0].and_untagged(halves[1])
    assert added.n_items == 200 and added.tag_sums.tolist() == whole.tag_sums.tolist()
    assert added.features_features == pytest.approx(whole.features_features, rel=1e-5, abs=1e-4)
    assert added.tags_features == pytest.approx(whole.tags_features, rel=1e-5, abs=1e-4)
    monkeypatch.setattr("manyview.blocks.BLOCK_BYTES", 2_000)
    for n_jobs in (1, 2):
        with workers(n_jobs) as threads:
            parts = moments_of(features, tags, threads)
        assert parts.features_features == pytest.approx(whole.features_features, rel=1e-5, abs=1e-4)
        assert parts.tags_features == pytest.approx(whole.tags_features, rel=1e-5, abs=1e-4)
        assert (parts.tags_tags != whole.tags_tags).nnz == 0


def test_moments_of_some_tags_are_those_of_a_collection_without_the_others():
    rng = np.random.default_rng(3)
    tags, features = csr_matrix((rng.random((40, 7)) < 0.3).astype(float)), rng.normal(size=(40, 3))
    kept = np.array([1, 2, 5])
    with workers(1) as threads:
        some, alone = moments_of(features, tags, threads).of_tags(kept), moments_of(features, tags[:, kept], threads)
    assert some.tag_sums.tolist() == alone.tag_sums.tolist() and (some.tags_tags != alone.tags_tags).nnz == 0
    assert np.array_equal(some.tags_features, alone.tags_features)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_squares_by_the_root_are_those_of_the_whole_product(kind):
    rng = np.random.default_rng(4)
    rows, half = rng.normal(size=(20, 6)).astype(kind), rng.normal(size=(6, 6))
    P = (half @ half.T + np.eye(6)).astype(kind)
    expected = np.einsum("ij,jk,ik->i", rows, P, rows)
    assert squares_by(P)(rows) == pytest.approx(expected, rel=1e-5)
    assert squares_by(P, sparse=True)(csr_matrix(rows)) == pytest.approx(expected, rel=1e-5)
    P[0, 0] = -1.0  # rounding can make a matrix indefinite
    assert squares_by(P)(rows) == pytest.approx(np.einsum("ij,jk,ik->i", rows, P, rows), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("size", [0, 1, 6, 300])
def test_the_inverse_takes_the_place_of_the_matrix(size):
    half = np.random.default_rng(6).normal(size=(size, size))
    G = half @ half.T + np.eye(size)
    expected = np.linalg.inv(G) if size else G.copy()
    found = inverse_of(G)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9) and np.array_equal(found, found.T)
    assert np.shares_memory(found, G) == (size > 0)


def test_an_indefinite_matrix_is_inverted_all_the_same():
    G = np.array([[2.0, 3.0, 0.5], [3.0, 1.0, 0.25], [0.5, 0.25, 4.0]])
    assert inverse_of(G.copy()) == pytest.approx(np.linalg.inv(G))


@pytest.mark.parametrize("tag_penalty", [None, 2.0])
def test_coefficients_of_rare_tags_are_those_of_the_whole_product(tag_penalty, monkeypatch):
    rng = np.random.default_rng(7)
    tags = (rng.random((80, 9)) < np.linspace(0.5, 0.05, 9)).astype(float)
    features = rng.normal(size=(80, 3))
    monkeypatch.setattr(ridge_module, "MOST_INPUTS", 4)
    monkeypatch.setattr(ridge_module, "_KEPT_PER_RARE_TAG", 50)
    fit, ridge, _ = fitted(tags, features, tag_penalty, np.ones(3))
    inputs = np.hstack([tags[:, ridge.inputs], features])
    crossed = (inputs - inputs.mean(axis=0)).T @ (tags - tags.mean(axis=0))
    assert ridge.rare.size == 5
    assert ridge.rare_coef.toarray() == pytest.approx(fit.precision @ crossed[:, ridge.rare], abs=1e-5)


def test_of_many_tags_the_most_frequent_decide_how_strongly_to_hold_back(monkeypatch):
    rng = np.random.default_rng(5)
    tags = csr_matrix((rng.random((60, 9)) < np.linspace(0.6, 0.1, 9)).astype(np.float32))
    features, every = rng.normal(size=(60, 4)).astype(np.float32), np.arange(60)
    with workers(1) as threads:
        moments = moments_of(features, tags, threads)
        frequent = np.sort(np.argsort(-moments.tag_sums, kind="stable")[:4])
        few = moments_of(features, tags[:, frequent], threads)
    expected, joint, on_views = chosen(few, tags[:, frequent], features, every)
    again = fit_ridge(few, expected.tags, np.full(4, expected.joint_views[0]))
    assert np.array_equal(joint.precision, again.precision)
    again = fit_ridge(few, None, np.full(4, expected.views[0]))
    assert np.array_equal(on_views.precision, again.precision)
    monkeypatch.setattr(penalties, "MOST_DECIDING", 4)
    assert chosen(moments, tags, features, every) == (expected, None, None)


def chosen(moments, tags, features, rows):
    sample = Batch(tags[rows], features[rows], None, rows)
    return penalties.choose_penalties(moments, sample, moments, sample, [4], lambda text: None)
