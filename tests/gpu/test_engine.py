"""Robust k-means on the device: the labels of every other engine."""

import numpy as np
import pytest
from sklearn.base import clone

import manyview
from manyview import AcceleratedKMeans, HierarchicalKMeans, RobustMultiviewKMeans
from manyview.errors import ParameterError


def sample(n_items, rng):
    which = rng.integers(4, size=n_items)
    looks = rng.normal(size=(4, 5))[which] * 3 + rng.normal(size=(n_items, 5))
    text = rng.normal(size=(4, 3))[which] * 3 + rng.normal(size=(n_items, 3)) + 100.0
    return looks, text


@pytest.mark.parametrize("memory", [None, 4_000])  # all at once, and in groups
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_robust_kmeans_has_the_labels_of_threads(device, seed, dtype, memory):
    rng = np.random.default_rng(seed)
    looks, text = (view.astype(dtype) for view in sample(160, rng))
    looks[:20], text[140:] = np.nan, np.nan
    weight = rng.integers(0, 3, size=160)
    settings = {"n_init": 2, "max_iter": 8, "random_state": seed, "view_scale": "minmax"}
    threads = RobustMultiviewKMeans(5, **settings).fit([looks, text], sample_weight=weight)
    with manyview.on("cuda", memory=memory):
        there = RobustMultiviewKMeans(5, **settings).fit([looks, text], sample_weight=weight)
    np.testing.assert_array_equal(there.labels_, threads.labels_)
    np.testing.assert_allclose(there.objective_, threads.objective_, rtol=1e-12)
    for name in threads.cluster_centers_:
        np.testing.assert_allclose(there.cluster_centers_[name], threads.cluster_centers_[name], rtol=1e-6)


def test_ties_are_settled_as_threads_do(device, seed):
    rng = np.random.default_rng(seed)
    grid = [rng.integers(-1, 2, size=(200, width)).astype(np.float64) for width in (3, 2)]
    settings = {"n_init": 3, "max_iter": 6, "random_state": seed, "view_scale": None}
    with manyview.on("cuda"):
        there = RobustMultiviewKMeans(7, **settings).fit(grid)
    np.testing.assert_array_equal(there.labels_, RobustMultiviewKMeans(7, **settings).fit(grid).labels_)


@pytest.mark.parametrize("memory", [None, 4_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kmeans_has_the_labels_of_threads(device, seed, dtype, memory):
    rng = np.random.default_rng(seed)
    looks, text = (view.astype(dtype) for view in sample(160, rng))
    looks[:20] = np.nan
    text[5] = text[6]
    weight = rng.integers(0, 3, size=160)
    for model in (
        AcceleratedKMeans(6, random_state=seed, n_init=2, max_iter=9),
        AcceleratedKMeans(6, random_state=seed, max_iter=9, empty_clusters="farthest"),
        HierarchicalKMeans(4, random_state=seed, n_starts=2, max_iter=5),
    ):
        threads = clone(model).fit([looks, text], sample_weight=weight)
        with manyview.on("cuda", memory=memory):
            there = clone(model).fit([looks, text], sample_weight=weight)
            np.testing.assert_array_equal(there.predict([looks, text]), there.labels_)
        np.testing.assert_array_equal(there.labels_, threads.labels_)
        np.testing.assert_allclose(there.objective_, threads.objective_, rtol=1e-9)


def test_ties_of_kmeans_go_to_the_lowest_number(device, seed):
    rng = np.random.default_rng(seed)
    grid = rng.integers(-1, 2, size=(150, 3)).astype(np.float32)
    centres = np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 0]])
    settings = {"init": centres, "max_iter": 4, "tol": 0}
    with manyview.on("cuda"):
        there = AcceleratedKMeans(5, **settings).fit(grid)
    np.testing.assert_array_equal(there.labels_, AcceleratedKMeans(5, **settings).fit(grid).labels_)


def test_what_has_no_form_for_the_device_runs_on_threads(device, seed):
    from scipy.sparse import random_array

    rng = np.random.default_rng(seed)
    views = [random_array((80, 30), density=0.2, format="csr", rng=rng), rng.normal(size=(80, 4))]
    settings = {"n_init": 1, "random_state": seed, "view_scale": None}
    for more in ({}, {"assign": "exact"}):
        with manyview.on("cuda"):
            there = RobustMultiviewKMeans(3, **settings, **more).fit(views)
        np.testing.assert_array_equal(there.labels_, RobustMultiviewKMeans(3, **settings, **more).fit(views).labels_)


def test_without_a_device_threads_do_the_work(monkeypatch):
    from manyview.gpu import device

    monkeypatch.setattr(device, "why_not", lambda: "there is none")
    X = np.arange(8.0)[:, None]
    with pytest.warns(UserWarning, match="threads do the work: there is none"), manyview.on("cuda"):
        found = RobustMultiviewKMeans(2, n_init=1, random_state=0, view_scale=None).fit(X)
    np.testing.assert_array_equal(
        found.labels_, RobustMultiviewKMeans(2, n_init=1, random_state=0, view_scale=None).fit(X).labels_
    )


@pytest.mark.parametrize("memory", ["much", "0", -1, "1.2.3 GB"])
def test_memory_is_a_number_of_bytes(memory):
    with pytest.raises(ParameterError, match="60 GiB"), manyview.on("cuda", memory=memory):
        pass


def test_memory_in_words():
    from manyview.engines.choice import _bytes

    assert [_bytes(word) for word in ("60 GiB", "1.5k", 7, "2 mb")] == [60 * 2**30, 1500, 7, 2_000_000]
