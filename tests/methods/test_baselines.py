import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

from manyview import ConcatenatedKMeans, SingleViewKMeans
from manyview.errors import ViewError
from manyview.testing import separated_views

from .rmkmc_reference import blobs


def test_concatenation_is_scikit_learn_on_scaled_columns():
    views, _ = blobs(np.random.default_rng(0), n=80)
    ours = ConcatenatedKMeans(3, random_state=0).fit(views)
    X = np.hstack(views)
    scaled = 2 * (X - X.min(0)) / (X.max(0) - X.min(0)) - 1
    theirs = KMeans(3, n_init=10, random_state=0).fit(scaled - scaled.mean(0))
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    assert np.array_equal(ours.predict(views), ours.labels_)


def test_mean_distance_makes_every_view_one_on_average():
    views, _ = blobs(np.random.default_rng(0), n=80)
    model = ConcatenatedKMeans(3, view_scale=("minmax", "mean_distance"), random_state=0).fit(views)
    joined = model._join(model._new_views(views))
    for start, stop in ((0, 3), (3, 8), (8, 10)):
        assert np.linalg.norm(joined[:, start:stop], axis=1).mean() == pytest.approx(1.0)


def test_centres_are_in_the_units_of_the_input():
    views, _ = blobs(np.random.default_rng(0), n=80)
    for scale in ("minmax", None, "mean_distance"):
        model = ConcatenatedKMeans(3, view_scale=scale, random_state=0).fit(views)
        for v, name in enumerate(model.view_names_):
            means = [views[v][model.labels_ == k].mean(axis=0) for k in range(3)]
            assert np.allclose(model.cluster_centers_[name], means)


def test_all_sparse_views_stay_sparse():
    views, _ = separated_views()
    thin = {name: sparse.csr_matrix(matrix) for name, matrix in views.items()}
    model = ConcatenatedKMeans(3, random_state=0).fit(thin)
    assert sparse.issparse(model._join(model._new_views(thin)))
    assert np.array_equal(model.labels_, ConcatenatedKMeans(3, random_state=0).fit(views).labels_)


def test_single_view_looks_at_one_view_only():
    views, _ = separated_views()
    noise = np.random.default_rng(0).normal(size=(views.n_items, 3))
    both = {"noise": noise, "looks": views["looks"]}
    model = SingleViewKMeans(3, view="looks", random_state=0).fit(both)
    assert np.array_equal(model.labels_, SingleViewKMeans(3, random_state=0).fit(views["looks"]).labels_)
    assert list(model.cluster_centers_) == ["looks"]
    assert np.array_equal(model.predict(both), model.labels_)
    with pytest.raises(ViewError, match="needs view 'looks'"):
        model.predict({"noise": noise})
    with pytest.raises(ViewError, match="no view 'sound'"):
        SingleViewKMeans(3, view="sound").fit(both)
