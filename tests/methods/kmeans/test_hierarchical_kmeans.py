"""HierarchicalKMeans: merged starts, never worse than the best of them, and a tree that can be cut anywhere."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from sklearn.exceptions import ConvergenceWarning

from manyview import HierarchicalKMeans
from manyview.errors import ParameterError
from manyview.methods.kmeans import hierarchical_kmeans
from manyview.methods.kmeans._accelerated_tree import cut_tree, merge_points, ward_tree


def blobs(n_items, n_blobs, d, seed, outliers=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_blobs, d))[np.arange(n_items) % n_blobs] * 4 + rng.normal(size=(n_items, d))
    X[:outliers] = rng.normal(size=(outliers, d)) * 60
    return X


def greedy_ward(points, mass):
    """Merge the cheapest pair until one is left: heights and members of every step."""
    alive = [([i], points[i].astype(float), float(m)) for i, m in enumerate(mass)]
    heights, members = [], []
    while len(alive) > 1:
        pairs = [(i, j) for i in range(len(alive)) for j in range(i)]
        costs = [
            alive[i][2] * alive[j][2] / (alive[i][2] + alive[j][2]) * ((alive[i][1] - alive[j][1]) ** 2).sum()
            for i, j in pairs
        ]
        i, j = pairs[int(np.argmin(costs))]
        heights.append(min(costs))
        (a, x, v), (b, y, w) = alive[i], alive[j]
        members.append(sorted(a + b))
        alive = [node for t, node in enumerate(alive) if t not in (i, j)]
        alive.append((a + b, (v * x + w * y) / (v + w), v + w))
    return np.array(heights), members


def members_of(children, n):
    found = [[i] for i in range(n)]
    for a, b in children:
        found.append(sorted(found[a] + found[b]))
    return found[n:]


def test_two_pairs_by_hand():
    children, heights = ward_tree(np.array([[0.0], [2.0], [10.0], [13.0]]), np.array([1.0, 3.0, 1.0, 1.0]))
    assert children.tolist() == [[0, 1], [2, 3], [4, 5]]
    np.testing.assert_allclose(heights, [3.0, 4.5, 4 * 2 / 6 * 10.0**2])
    assert cut_tree(children, 2).tolist() == [0, 0, 1, 1] and cut_tree(children, 3).tolist() == [0, 0, 1, 2]
    assert cut_tree(children, 1).tolist() == [0] * 4 and cut_tree(children, 4).tolist() == [0, 1, 2, 3]


def test_the_tree_is_the_one_that_merging_the_cheapest_pair_gives():
    rng = np.random.default_rng(0)
    for n in (2, 5, 17, 30):
        points, mass = rng.normal(size=(n, 3)), rng.integers(1, 9, size=n).astype(float)
        children, heights = ward_tree(points, mass)
        expected, members = greedy_ward(points, mass)
        np.testing.assert_allclose(heights, expected, rtol=1e-9)
        assert members_of(children, n) == members
    children, heights = ward_tree(points, np.ones(30))
    theirs = linkage(points, "ward")
    np.testing.assert_allclose(np.sqrt(2 * heights), theirs[:, 2], rtol=1e-9)


@pytest.mark.parametrize("unit", [1e-250, 1e200])
def test_the_unit_of_weights_does_not_matter(unit):
    X, weight = blobs(60, 5, 3, seed=0), np.random.default_rng(0).uniform(0.5, 2, 60)
    usual = HierarchicalKMeans(5, n_starts=3, random_state=0).fit(X, sample_weight=weight)
    other = HierarchicalKMeans(5, n_starts=3, random_state=0).fit(X, sample_weight=weight * unit)
    assert np.array_equal(other.labels_, usual.labels_)
    assert np.array_equal(other.cluster_tree_["children"], usual.cluster_tree_["children"])
    assert other.cluster_tree_["heights"] / unit == pytest.approx(usual.cluster_tree_["heights"])


def test_equal_points_and_points_without_mass_merge_first():
    children, heights = ward_tree(np.array([[0.0], [5.0], [0.0], [9.0]]), np.array([1.0, 0.0, 1.0, 2.0]))
    assert (heights[:2] == 0).all() and heights[2] > 0
    assert sorted(children.ravel().tolist()) == list(range(6))


def test_merged_points_are_weighted_means():
    points = np.array([[0.0], [1.0], [10.0], [12.0]])
    merged = merge_points(points, np.array([1.0, 3.0, 1.0, 1.0]), 2)
    np.testing.assert_allclose(merged, [[0.75], [11.0]])


def test_never_worse_than_its_best_start():
    for seed in range(12):
        X = blobs(300, 12, 2, seed, outliers=3 * (seed % 2))
        model = HierarchicalKMeans(12, n_starts=3, start_iter=4, random_state=seed).fit(X)
        assert model.inertia_ <= model.start_inertia_.min() * (1 + 1e-12)
        assert model.start_inertia_.shape == (3,)


def test_outliers_do_not_take_the_centres_of_clusters():
    better = 0
    for seed in range(4):
        X = blobs(1500, 15, 8, seed, outliers=15)
        model = HierarchicalKMeans(15, n_starts=6, random_state=seed).fit(X)
        better += model.inertia_ < 0.999 * model.start_inertia_.min()
    assert better >= 3


def test_the_tree_of_a_fit_can_be_browsed_and_cut():
    X = blobs(200, 6, 3, seed=1)
    X[5] = np.nan
    with pytest.warns(UserWarning, match="lack every view"):
        model = HierarchicalKMeans(6, random_state=0).fit(X)
    tree = model.cluster_tree_
    assert tree["children"].shape == (5, 2) and tree["sizes"].shape == (11,)
    assert sorted(tree["children"].ravel().tolist()) == list(range(10)), "every node but the root has one parent"
    assert (
        tree["sizes"][-1] == 199
        and tree["sizes"][:6].tolist() == np.bincount(model.labels_[model.labels_ >= 0]).tolist()
    )
    assert (np.diff(tree["heights"]) >= 0).all()
    rest = np.delete(X, 5, axis=0)
    assert model.inertia_ + tree["heights"].sum() == pytest.approx(((rest - rest.mean(axis=0)) ** 2).sum(), rel=1e-9)
    for n in range(1, 7):
        labels = model.cut(n)
        assert set(labels.tolist()) == {-1, *range(n)} and labels[5] == -1
        if n > 1:  # a finer cut splits one cluster of the coarser
            pairs = set(zip(labels.tolist(), model.cut(n - 1).tolist(), strict=True))
            assert len(pairs) == n + 1
    assert np.array_equal(model.cut(3, model.predict(rest)), model.cut(3)[np.arange(200) != 5])
    with pytest.raises(ParameterError, match="at least 1 and at most 6, got 7"):
        model.cut(7)


def test_many_centres_are_merged_by_k_means_on_themselves(monkeypatch):
    X = blobs(400, 10, 4, seed=2)
    plain = HierarchicalKMeans(10, n_starts=4, random_state=0).fit(X)
    monkeypatch.setattr(hierarchical_kmeans, "_MOST_POINTS", 20)
    other = HierarchicalKMeans(10, n_starts=4, random_state=0).fit(X)
    assert np.array_equal(other.start_inertia_, plain.start_inertia_)
    assert other.inertia_ <= other.start_inertia_.min() * (1 + 1e-12)


def test_fewer_kinds_than_clusters():
    with pytest.warns(ConvergenceWarning):
        model = HierarchicalKMeans(4, n_starts=2, random_state=0).fit(np.repeat(np.eye(2), 5, axis=0))
    assert model.inertia_ == 0 and len(set(model.labels_.tolist())) == 2
    assert model.cut(2).tolist() == model.cut(2, model.labels_).tolist()


def test_wrong_settings_are_named():
    for settings, words in (({"n_starts": 0}, "n_starts"), ({"start_iter": 0}, "start_iter"), ({"init": None}, "init")):
        with pytest.raises(ParameterError, match=words):
            HierarchicalKMeans(2, **settings).fit(np.eye(3))
