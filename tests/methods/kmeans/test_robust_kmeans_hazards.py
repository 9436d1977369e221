"""The hazards of robust multi-view k-means, one test or more for each."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from manyview import RobustMultiviewKMeans, Views
from manyview.errors import ParameterError, ViewError, ViewWarning
from manyview.testing import separated_views

from .rmkmc_reference import blobs, fit, start_from


def test_residuals_of_zero():
    # Singletons and duplicates sit on their centroid, where D would be infinite.
    views = [np.array([[0.0], [0], [0], [5], [9]]), np.array([[1.0], [1], [1], [2], [3]])]
    for rule in ("literal", "exact"):
        model = fit(views, 3, assign=rule, view_scale=None)
        assert len(set(model.labels_[:3].tolist())) == 1 and len(set(model.labels_.tolist())) == 3
        assert np.isfinite(model.objective_).all() and np.isfinite(model.view_weights_).all()


def test_an_empty_cluster_takes_the_costliest_item():
    views = [np.array([[0.0], [0.1], [0.2], [10.0]])]
    _, _, outcome = start_from(views, [0, 0, 0, 0], n_clusters=2)
    assert outcome.n_reseeded >= 1
    assert outcome.labels.tolist() in ([0, 0, 0, 1], [1, 1, 1, 0])


def test_several_empty_clusters_take_distinct_items():
    rng = np.random.default_rng(0)
    _, _, outcome = start_from([rng.normal(size=(12, 2))], np.zeros(12, dtype=int), n_clusters=5)
    assert len(set(outcome.labels.tolist())) == 5 and outcome.n_reseeded >= 4


def test_gamma_near_one_leaves_one_view():
    views, _ = blobs(np.random.default_rng(0), n=60)
    model = fit(views, gamma=1.0001, view_scale=None)
    assert model.view_weights_.max() == pytest.approx(1.0)
    winner = int(model.view_weights_.argmax())
    _, _, alone = start_from([views[winner]], model.labels_, max_iter=50)
    assert np.array_equal(alone.labels, model.labels_)
    assert np.isfinite(model.objective_).all()


@pytest.mark.parametrize("gamma", [1, 0.5, 0, -2, np.nan, "2"])
def test_gamma_of_one_or_less_is_refused(gamma):
    with pytest.raises(ParameterError, match="gamma must be a number above 1"):
        fit([np.eye(4)], 2, gamma=gamma)


def test_weights_do_not_underflow():
    views, _ = blobs(np.random.default_rng(0), n=60)
    model = fit([X.astype(np.float32) for X in views], gamma=79.4)
    assert model.view_weights_.sum() == pytest.approx(1.0) and (model.view_weights_ > 0).all()


@pytest.mark.parametrize("scale", ["minmax", "mean_distance", None])
@pytest.mark.parametrize("value", [0.0, 0.1, -7e5])
def test_a_constant_view_keeps_its_place_with_weight_zero(scale, value):
    views, _ = blobs(np.random.default_rng(0), n=60)
    named = {"a": views[0], "flat": np.full((60, 3), value), "b": views[1]}
    with pytest.warns(ViewWarning, match="view 'flat' is the same for every item; it gets weight 0"):
        model = fit(named, view_scale=scale)
    assert model.view_weights_[1] == 0.0 and model.alpha_[1] == 0.0
    assert np.array_equal(model.labels_, fit({"a": views[0], "b": views[1]}, view_scale=scale).labels_)
    assert np.allclose(model.cluster_centers_["flat"], value)
    assert (model.predict(named) >= 0).all()


def test_a_view_nobody_has_keeps_its_place_too():
    views, _ = blobs(np.random.default_rng(0), n=60)
    with pytest.warns(ViewWarning, match="view 'none' is missing for every item"):
        model = fit({"a": views[0], "none": np.full((60, 3), np.nan)})
    assert model.view_weights_.tolist() == [1.0, 0.0]


def test_nothing_but_constant_views():
    with pytest.warns((ViewWarning, ConvergenceWarning)):
        model = fit([np.ones((5, 2)), np.zeros((5, 1))], 2)
    assert model.labels_.tolist() == [0] * 5


def test_duplicates_never_part():
    views, _ = blobs(np.random.default_rng(0), n=20)
    rows = np.repeat(np.arange(20), 3)
    labels = fit([X[rows] for X in views], 4).labels_.reshape(20, 3)
    assert (labels == labels[:, :1]).all()


def test_fewer_kinds_than_clusters():
    with pytest.warns(ConvergenceWarning, match="found 2 distinct clusters, fewer than n_clusters=4"):
        model = fit([np.repeat([[0.0], [1.0]], 4, axis=0)], 4)
    assert len(set(model.labels_[:4])) == len(set(model.labels_[4:])) == 1 and model.n_iter_ < 50


@pytest.mark.parametrize("scale", ["minmax", None])
@pytest.mark.parametrize("rule", ["literal", "exact"])
def test_single_precision_near_zero_residuals(scale, rule):
    # Tight clusters far from the origin: by expanding the square the residual would be rounding noise.
    rng = np.random.default_rng(0)
    truth = np.arange(300) % 5
    centres = rng.normal(size=(5, 40)) * 1e-2 + 100
    views = [
        centres[truth] + rng.normal(size=(300, 40)) * 1e-5,
        np.eye(5)[truth] + 1e-6 * rng.normal(size=(300, 5)),
    ]
    double = fit(views, 5, view_scale=scale, assign=rule)
    single = fit([X.astype(np.float32) for X in views], 5, view_scale=scale, assign=rule)
    assert np.array_equal(single.labels_, double.labels_)
    assert all(len(set(single.labels_[truth == k])) == 1 for k in range(5))
    assert np.array_equal(single.predict([X.astype(np.float32) for X in views]), single.labels_)


def test_nearly_equal_centroids_are_told_apart_in_single_precision():
    # Two centroids closer than the rounding of x.f: only differences can tell, and they do, in every row.
    rng = np.random.default_rng(0)
    base = rng.normal(size=200).astype(np.float32) * 100
    step = np.zeros(200, dtype=np.float32)
    step[0] = 2e-4
    X = np.vstack([base + step * k + 0 for k in (0, 1)] * 20).astype(np.float32)
    labels = fit([X], 2, view_scale=None, n_init=5).labels_
    distinct = np.unique(X, axis=0).shape[0]
    assert distinct == 2 and np.array_equal(labels[::2] == labels[0], np.ones(20, dtype=bool))
    assert (labels[1::2] != labels[0]).all()


def test_an_outlier_pulls_less_than_in_a_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(51, 2))
    X[50] = 1e6
    model, _, _ = start_from([X], [0] * 51, max_iter=200)
    assert np.abs(model.cluster_centers_["view0"]).max() < 10 < np.abs(X.mean(axis=0)).min()


@pytest.mark.parametrize("size", [1e-30, 1e-12, 1e12, 1e30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", ["minmax", "mean_distance", None])
def test_units_do_not_matter_to_the_arithmetic(size, dtype, scale):
    views, truth = separated_views()
    data = [np.ascontiguousarray(X * size, dtype=dtype) for X in views.values()]
    labels = fit(data, view_scale=scale).labels_
    assert len(set(zip(labels.tolist(), truth.tolist(), strict=True))) == 3


def test_values_too_large_to_add_are_named():
    with pytest.raises(ViewError, match="view 'big', column 1, holds 1e\\+308 in row 0, more than float64 can"):
        fit({"big": np.array([[0.0, 1e308], [1.0, -1e308], [2.0, 0.0]])}, 2)
    with pytest.raises(ViewError, match="view 'big', column 1, holds values from -3e\\+38 to 3e\\+38"):
        fit({"big": np.array([[0.0, 3e38], [1.0, -3e38], [2.0, 0.0]], dtype=np.float32)}, 2)


def test_more_clusters_than_items():
    with pytest.raises(ParameterError, match="n_clusters=5 with n_samples=4"):
        fit([np.eye(4)], 5)


def test_views_of_unequal_length():
    with pytest.raises(ViewError, match="view 'view1' has 3 rows"):
        fit([np.eye(4), np.eye(3)], 2)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite(value):
    bad = np.random.default_rng(0).normal(size=(6, 3))
    bad[4, 2] = value
    with pytest.raises(ViewError, match="view 'looks' contains .* row 4, column 2"):
        fit({"tags": np.eye(6), "looks": bad}, 2)
    model = fit({"tags": np.eye(6), "looks": np.nan_to_num(bad, posinf=0)}, 2)
    with pytest.raises(ViewError, match="view 'looks' contains .* row 4, column 2"):
        model.predict({"looks": bad})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"assign": "fast"}, "assign must be one of 'literal', 'exact'"),
        ({"init": "best"}, "init must be one of"),
        ({"n_init": 0}, "n_init must be an integer at least 1"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"tol": -1}, "tol must be"),
        ({"n_clusters": 0}, "n_clusters must be an integer at least 1"),
        ({"view_scale": "zscore"}, "view_scale must be 'auto', .*or None; got 'zscore'"),
        ({"view_scale": ("mean_distance", "minmax")}, "features first"),
        ({"view_weights": "auto"}, "view_weights must be 'learned', 'equal' or 2 finite number"),
        ({"view_weights": [1.0]}, "2 finite number"),
        ({"view_weights": [1.0, -1.0]}, "at least 0"),
        ({"view_weights": [0, 0]}, "not all 0"),
        ({"view_weights": {"a": 1}}, "there is no number for 'b'"),
        ({"view_weights": {"a": 1, "b": 1, "c": 1}}, "'c' is not a view"),
    ],
)
def test_bad_settings(settings, words):
    views, _ = blobs(np.random.default_rng(0), n=10)
    with pytest.raises(ParameterError, match=words):
        fit({"a": views[0], "b": views[1]}, **settings)


def test_no_items_have_no_labels():
    rows = np.random.default_rng(0).normal(size=(20, 3))
    model = RobustMultiviewKMeans(2, n_init=1, random_state=0).fit({"a": rows})
    assert model.predict(Views({"a": rows})[:0]).shape == (0,)
