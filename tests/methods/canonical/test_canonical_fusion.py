"""CanonicalFusion in use: missing views, retrieval, settings, corners."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

import manyview
from manyview import CanonicalFusion, Views
from manyview.errors import ParameterError, ViewError, ViewWarning

from .canonical_reference import centred
from .test_canonical_fusion_reference import two_views


def test_a_lacking_view_is_what_ridge_regression_says(seed):
    V, S = two_views(seed)
    model = CanonicalFusion(4, weights=[0.3, 0.7], corr_power=0).fit([V, S])
    looks = model.coordinates(V, "view0")
    ridge = np.linalg.solve(
        centred(V).T @ centred(V) / 79 + V.var(axis=0, ddof=1).mean() * np.eye(9), centred(V).T @ centred(S) / 79
    )
    predicted = centred(V) @ ridge @ model.projections_["view1"]
    np.testing.assert_allclose(model.transform([V, None]), 0.3 * looks + 0.7 * predicted, atol=1e-9)
    np.testing.assert_allclose(model.transform({"view0": V}), model.transform([V, None]))


def test_items_that_lack_views(seed):
    V, S = two_views(seed, 200)
    model = CanonicalFusion(3).fit([V, S])
    holes = V.copy()
    holes[::3] = np.nan
    mixed, whole, words = model.transform([holes, S]), model.transform([V, S]), model.transform([None, S])
    np.testing.assert_allclose(mixed[::3], words[::3])
    np.testing.assert_allclose(np.delete(mixed, np.s_[::3], axis=0), np.delete(whole, np.s_[::3], axis=0))
    refit = CanonicalFusion(3).fit([holes, S])
    assert np.abs(refit.correlations_ - model.correlations_).max() < 0.1
    # items that lack a view still tell about the mean and the spread of the other
    holes[1] = np.nan
    S = S.copy()
    S[1] = np.nan
    with pytest.warns(ViewWarning, match="1 item\\(s\\) lack every view; their rows are NaN"):
        assert np.isnan(refit.transform([holes, S])[1]).all()


def test_available_items_make_each_covariance(seed):
    V, S = two_views(seed, 60)
    V[:20], S[50:] = np.nan, np.nan
    model = CanonicalFusion(2, regularization=0.5).fit([V, S])
    v, s = V[20:], S[:50]
    Cv, Cs = (np.cov(X.T) + 0.5 * X.var(axis=0, ddof=1).mean() * np.eye(X.shape[1]) for X in (v, s))
    cross = (V[20:50] - v.mean(axis=0)).T @ (S[20:50] - s.mean(axis=0)) / 29
    T = np.linalg.solve(np.linalg.cholesky(Cv), cross) @ np.linalg.inv(np.linalg.cholesky(Cs)).T
    np.testing.assert_allclose(model.correlations_, np.minimum(np.linalg.svd(T)[1][:2], 1), atol=1e-10)


def test_three_views_and_a_lacking_one(seed):
    views = two_views(seed, 150, (6, 5, 7))
    model = CanonicalFusion(3).fit(views)
    whole = model.transform(views)
    for lacking in range(3):
        rest = [None if v == lacking else X for v, X in enumerate(views)]
        placed = model.transform(rest)
        for r in range(2):
            assert np.corrcoef(whole[:, r], placed[:, r])[0, 1] > 0.8
    assert model.couplings_.shape == (3, 3, 3)


def test_weights_and_powers(seed):
    V, S = two_views(seed)
    plain = CanonicalFusion(4, weights=[1, 0], corr_power=0).fit([V, S])
    np.testing.assert_allclose(plain.transform([V, S]), centred(V) @ plain.projections_["view0"], atol=1e-9)
    strong = CanonicalFusion(4, weights=[1, 0], corr_power=2).fit([V, S])
    np.testing.assert_allclose(strong.transform([V, S]), plain.transform([V, S]) * plain.correlations_**2, atol=1e-9)
    assert CanonicalFusion(4).fit([V, S]).view_weights_.tolist() == [0.5, 0.5]


def test_words_for_pictures_and_pictures_for_words(seed):
    V, S = two_views(seed, 300, (12, 10), common=6)
    V, S = V + np.random.default_rng(seed).normal(size=V.shape) * 1e-3, S
    model = CanonicalFusion(6, regularization=0.01).fit({"looks": V, "tags": S})
    order, similarity = model.nearest("tags", V, n_neighbors=20)
    assert order.shape == similarity.shape == (300, 20)
    assert (np.diff(similarity, axis=1) <= 0).all() and similarity.max() <= 1 + 1e-9
    hit = (order == np.arange(300)[:, None]).any(axis=1).mean()
    assert hit > 0.7  # 20 of 300 by chance
    by_words, _ = model.nearest(view="looks", to={"tags": S[:5]}, n_neighbors=3)
    assert by_words.shape == (5, 3)
    # the same through plain arithmetic
    a, b = (model.coordinates(X, name) for X, name in ((V, "looks"), (S, "tags")))
    cosine = (a / np.linalg.norm(a, axis=1, keepdims=True)) @ (b / np.linalg.norm(b, axis=1, keepdims=True)).T
    np.testing.assert_array_equal(order[:, 0], cosine.argmax(axis=1))
    np.testing.assert_allclose(similarity[:, 0], cosine.max(axis=1))


def test_searching_among_other_items(seed, tmp_path):
    V, S = two_views(seed, 100)
    model = CanonicalFusion(3).fit({"looks": V, "tags": S})
    S_holes = S.copy()
    S_holes[:95] = np.nan
    order, _ = model.nearest("tags", V[:2], among={"tags": S_holes})
    assert order.shape == (2, 5) and order.min() == 95  # only items that have the view
    asked = np.vstack([V[:1], np.full((1, 9), np.nan)])
    order, similarity = model.nearest("tags", {"looks": asked})
    assert (order[1] == -1).all() and np.isnan(similarity[1]).all() and order[0].min() >= 0
    copies = manyview.load(manyview.save(model, tmp_path / "fusion")), pickle.loads(pickle.dumps(model))  # noqa: S301
    for copy in copies:
        np.testing.assert_array_equal(copy.transform({"looks": V}), model.transform({"looks": V}))
        with pytest.raises(ParameterError, match="pass the items to search with among="):
            copy.nearest("tags", V[:2])
        np.testing.assert_array_equal(
            copy.nearest("tags", V[:2], among={"tags": S})[0], model.nearest("tags", V[:2])[0]
        )
    with pytest.raises(ViewError, match="no item to search among has view 'tags'"):
        model.nearest("tags", V[:2], among={"looks": V})
    with pytest.raises(ViewError, match="there is no view 'words'"):
        model.nearest("words", V[:2])


@pytest.mark.parametrize("scale", [1e30, 1e-30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_and_tiny_numbers(seed, scale, dtype):
    V, S = (X.astype(dtype) for X in two_views(seed))
    first = CanonicalFusion(3).fit([V, S])
    other = CanonicalFusion(3).fit([V * dtype(scale), S])
    np.testing.assert_allclose(other.correlations_, first.correlations_, atol=1e-5)
    np.testing.assert_allclose(other.transform([V * dtype(scale), S]), first.transform([V, S]), atol=1e-3)


def test_rows_that_were_not_looked_at(seed):
    """The range of the numbers is judged by a few rows; when those mislead, it is judged by all of them."""
    V, S = (X.astype(np.float32) for X in two_views(seed, 2000))
    V[1::2] *= np.float32(1e25)
    model = CanonicalFusion(2).fit([V, S])
    assert np.isfinite(model.correlations_).all() and np.isfinite(model.transform([V, S])).all()
    expected = CanonicalFusion(2).fit([V.astype(float), S.astype(float)])
    np.testing.assert_allclose(model.correlations_, expected.correlations_, atol=1e-5)


def test_fewer_components_than_asked(seed):
    V, S = two_views(seed, 50, (4, 3))
    with pytest.warns(ViewWarning, match="n_components=128, but the views have 3 correlated direction"):
        assert CanonicalFusion().fit([V, S]).n_components_ == 3
    V[:, 1:] = V[:, :1] * [2.0, 3.0, 4.0]  # rank one
    with pytest.warns(ViewWarning, match="have 1 correlated"):
        model = CanonicalFusion(3).fit([V, S])
    assert model.transform([V, S]).shape == (50, 1)
    assert model.get_feature_names_out().tolist() == ["canonicalfusion0"]


@pytest.mark.parametrize("ridge", [0.0, 1e-9, 1e-6])
def test_collinear_single_precision_without_a_ridge(seed, ridge):
    """Rounding makes the smallest variances negative; directions that cannot be told from it drop out."""
    V, S = two_views(seed, 2000, (4, 3))
    rng = np.random.default_rng(seed)
    V = (V @ rng.normal(size=(4, 30))).astype(np.float32)  # rank four
    model = CanonicalFusion(3, regularization=ridge).fit([V, S.astype(np.float32)])
    expected = CanonicalFusion(3, regularization=ridge).fit([V.astype(float), S])
    np.testing.assert_allclose(model.correlations_, expected.correlations_, atol=1e-4)


def test_views_without_items_in_common_say_so():
    V, S = two_views(0, 40)
    V[:20], S[20:] = np.nan, np.nan
    with pytest.warns(ViewWarning, match="0 correlated direction"):
        model = CanonicalFusion(1).fit([V, S])
    assert not model.transform([V, S]).any()


def test_nothing_varies():
    with pytest.warns(ViewWarning):
        model = CanonicalFusion(2).fit([np.ones((4, 2)), np.zeros((4, 3))])
    assert not model.transform([np.ones((4, 2)), np.zeros((4, 3))]).any()
    assert not model.view_weights_.any() and model.correlations_.tolist() == [0.0]
    with pytest.warns(ViewWarning, match="'view1' is missing for every item"):
        CanonicalFusion(1).fit([np.arange(8.0).reshape(4, 2), np.full((4, 3), np.nan)])


def test_memory_maps_views_and_clone(seed, tmp_path):
    V, S = two_views(seed)
    np.save(tmp_path / "v.npy", V)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    model = CanonicalFusion(3).fit(Views({"v": mapped, "s": S}))
    np.testing.assert_array_equal(model.correlations_, CanonicalFusion(3).fit({"v": V, "s": S}).correlations_)
    assert not [name for name in vars(clone(model)) if name.endswith("_")]


def test_scikit_learn_checks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ViewWarning)
        warnings.simplefilter("ignore", SkipTestWarning)
        results = check_estimator(CanonicalFusion(2), on_fail=None)
    assert not {r["check_name"]: repr(r["exception"])[:300] for r in results if r["status"] == "failed"}


def test_errors_say_what_to_do(seed):
    V, S = two_views(seed)
    with pytest.raises(ParameterError, match="n_components must be an integer at least 1"):
        CanonicalFusion(0).fit([V, S])
    with pytest.raises(ParameterError, match="regularization must be a number at least 0"):
        CanonicalFusion(1, regularization=-1).fit([V, S])
    with pytest.raises(ParameterError, match="one for each view \\(view0, view1\\)"):
        CanonicalFusion(1, weights=[1, 2, 3]).fit([V, S])
    with pytest.raises(ParameterError, match="'looks' is not a view"):
        CanonicalFusion(1, weights={"looks": 1}).fit([V, S])
    with pytest.raises(ViewError, match="'view1' has 5 features"):
        CanonicalFusion(1).fit([V, S]).transform([V, S[:, :5]])
