"""The tree of clusters: nested cuts, the fit itself among them, the same for any order of views and any threads."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import manyview
from manyview import ConsensusClustering
from manyview.blocks import workers
from manyview.errors import ParameterError
from manyview.methods.consensus import levels as module
from manyview.methods.consensus._graph import NeighbourGraph, Space, few_neighbours


def nested_blobs(n_items=160, seed=0):
    """Eight blobs in four pairs, in two views, and a few items that lack one of them."""
    rng = np.random.default_rng(seed)
    centres = np.repeat(np.eye(4, 5) * 20, 2, axis=0)
    centres[:, 4] = 8 * (np.arange(8) % 2)
    fine = np.arange(n_items) % 8
    X = {"a": centres[fine] + rng.normal(size=(n_items, 5)), "b": centres[fine] + rng.normal(size=(n_items, 5))}
    X["b"][:4] = np.nan
    return X, fine


@pytest.fixture(scope="module")
def fitted():
    X, fine = nested_blobs()
    return ConsensusClustering(8, random_state=0, n_jobs=1).fit(X), X, fine


def is_nested(coarse, fine):
    return all(np.unique(coarse[fine == label]).size == 1 for label in np.unique(fine))


def test_cuts_are_nested_and_the_cut_of_the_fit_is_the_fit(fitted):
    model, _, _ = fitted
    low, high = module.level_range(model.levels_)
    assert low == 2 and 8 < high <= 24
    assert np.array_equal(model.cut(8), model.labels_)
    cuts = {k: model.cut(k) for k in range(low, high + 1)}
    for k, labels in cuts.items():
        assert sorted(set(labels.tolist())) == list(range(k))
        assert k == low or is_nested(cuts[k - 1], labels)
        assert k <= 8 or np.bincount(labels).min() >= 3
    pairs = np.arange(160) % 8 // 2
    assert is_nested(pairs, cuts[8]) and is_nested(cuts[4], pairs), "pairs of blobs are the coarser level"


def test_names_order_and_threads_change_nothing(fitted):
    model, X, _ = fitted
    turned = ConsensusClustering(8, random_state=0, n_jobs=2).fit({"z": X["b"], "y": X["a"]})
    low, high = module.level_range(model.levels_)
    for k in range(low, high + 1):
        assert np.array_equal(model.cut(k), turned.cut(k))


def test_finer_levels_find_blobs_that_the_fit_had_joined():
    X, fine = nested_blobs()
    model = ConsensusClustering(4, random_state=0, n_jobs=1).fit(X)
    assert manyview.metrics.adjusted_rand_index(fine, model.cut(8)) > 0.99


def test_twelve_items_have_finer_levels_too(seed):
    groups, rng = np.repeat(np.arange(4), 3), np.random.default_rng(seed)
    centres = 8 * np.eye(4, 6)[groups] + 8 * np.eye(4, 6, k=4)[groups // 2]
    X = {name: centres + rng.normal(size=(12, 6)) for name in "ab"}
    model = ConsensusClustering(2, random_state=0, n_jobs=1).fit(X)
    assert module.level_range(model.levels_) == (2, 4)
    assert manyview.metrics.adjusted_rand_index(groups, model.cut(4)) == 1


@pytest.mark.parametrize(
    ("asked", "n_items", "expected"), [(10, 40, 10), (10, 5000, 10), (10, 32, 8), (10, 12, 3), (10, 5, 3), (2, 12, 2)]
)
def test_neighbours_are_no_more_than_a_quarter_of_the_items(asked, n_items, expected):
    assert few_neighbours(asked, n_items) == expected


def test_a_model_at_a_level_places_new_items_there(fitted, tmp_path):
    model, _, _ = fitted
    X, _ = nested_blobs(seed=0)
    fresh = {name: rows + 0.05 for name, rows in X.items()}
    for k in (4, 8, 12):
        other = model.at_level(k)
        assert other.n_clusters_ == k and other.cluster_sizes_.sum() == 160
        assert (other.predict(fresh) == model.cut(k)).mean() > 0.9
    assert model.n_clusters_ == 8 and np.array_equal(model.labels_, model.cut(8)), "the model itself stays as it is"
    kept = manyview.load(manyview.save(model.at_level(12), tmp_path / "model"))
    assert np.array_equal(kept.predict(fresh), model.at_level(12).predict(fresh))
    assert np.array_equal(kept.at_level(5).labels_, model.cut(5))


def test_the_levels_of_new_items_are_nested_too(fitted):
    model, _, _ = fitted
    rng = np.random.default_rng(3)
    X, _ = nested_blobs(seed=0)
    fresh = {name: rng.permutation(rows) + rng.normal(size=rows.shape) for name, rows in X.items()}
    finest = model.at_level(model.level_range_[1]).predict(fresh)
    for k in range(2, model.level_range_[1]):
        placed = model.at_level(k).predict(fresh)
        assert all(np.unique(placed[finest == part]).size == 1 for part in np.unique(finest))


def test_merges_are_those_of_average_link_by_its_definition():
    rng = np.random.default_rng(0)
    W = rng.uniform(size=(30, 30)) * (rng.uniform(size=(30, 30)) < 0.4)
    W, labels = W + W.T, rng.permutation(np.arange(30) % 9)
    weights = np.array([[W[labels == a][:, labels == b].sum() for b in range(9)] for a in range(9)])
    found = module.average_links(weights, np.zeros((9, 9)), np.bincount(labels))
    groups = {label: [label] for label in range(9)}
    expected = []
    while len(groups) > 2:

        def mean(a, b):
            rows, columns = np.isin(labels, groups[a]), np.isin(labels, groups[b])
            return W[rows][:, columns].mean()

        a, b = max(((a, b) for a in groups for b in groups if a < b), key=lambda pair: mean(*pair))
        expected.append((a, b))
        groups[a] += groups.pop(b)
    assert found == expected


def test_clusters_without_links_are_merged_by_their_points():
    points = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [-1.0, 0.2]])
    assert module.average_links(np.zeros((4, 4)), points @ points.T, np.ones(4)) == [(0, 2), (1, 3)]
    weights = np.zeros((4, 4))
    weights[0, 1] = weights[1, 0] = 1e-3  # any link counts more
    assert module.average_links(weights, points @ points.T, np.ones(4)) == [(0, 1), (0, 2)]


def test_the_graph_in_parts_is_the_graph_by_its_definition():
    rng = np.random.default_rng(0)
    everyone, some = np.arange(12, dtype=np.int32), np.array([0, 2, 3, 5, 8, 11], dtype=np.int32)
    spaces = [Space(None, 0, np.zeros((12, 1)), everyone), Space("a", 1, np.zeros((6, 1)), some)]
    near = [
        np.array([rng.choice(np.delete(np.arange(s.items.size), i), 3, False) for i in range(s.items.size)])
        for s in spaces
    ]
    W = np.zeros((12, 12))
    for space, named, weight in zip(spaces, near, (1.0, 0.5), strict=True):
        for row, others in enumerate(named):
            for other in others:
                pair = space.items[row], space.items[other]
                W[pair] += weight / 6
                W[pair[::-1]] += weight / 6
    labels = rng.integers(3, size=12)
    with workers(1) as threads:
        graph = NeighbourGraph(12, spaces, [n.astype(np.int32) for n in near], [1.0, 0.5], threads)
    part = np.array([1, 2, 5, 6, 11])
    assert np.allclose(graph.part(part).toarray(), W[np.ix_(part, part)])
    Y = np.eye(3)[labels]
    assert np.allclose(graph.between(labels, 3), Y.T @ W @ Y)


def test_equal_items_stay_together_and_few_kinds_have_one_level():
    X = np.repeat(np.random.default_rng(0).normal(size=(12, 3)), 4, axis=0)
    model = ConsensusClustering(3, random_state=0).fit(X)
    low, high = module.level_range(model.levels_)
    for k in range(low, high + 1):
        assert all(np.unique(part).size == 1 for part in model.cut(k).reshape(12, 4))
    with pytest.warns(ConvergenceWarning, match="found 2 distinct clusters"):
        plain = ConsensusClustering(3, random_state=0).fit(np.repeat([[0.0], [1.0]], 5, axis=0))
    assert np.array_equal(plain.cut(2), plain.labels_)


def test_levels_that_are_not_there_are_refused(fitted):
    model, _, _ = fitted
    with pytest.raises(ParameterError, match="the levels go from 2 to"):
        model.cut(100)
    with pytest.raises(ParameterError, match="n_clusters"):
        model.cut(0)


def test_two_means_by_hand():
    rows = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [5.3], [5.4]])
    assert module._two_means(rows).tolist() == [False] * 3 + [True] * 5
    lonely = np.array([[0.0], [5.0], [5.1], [5.2], [5.3], [5.4]])
    side = module._two_means(lonely)
    assert side.sum() == 3, "one item is no part: two halves stay"
    assert module._two_means(lonely[:5]) is None


def test_the_cut_of_numbers_is_the_best_of_all_tried_one_by_one(seed):
    numbers = np.random.default_rng(seed).gamma(0.5, size=30).round(1)
    tried = [numbers > value for value in np.unique(numbers)]
    tried = [above for above in tried if min(above.sum(), (~above).sum()) >= 3]
    spreads = [sum(part.var() * part.size for part in (numbers[above], numbers[~above])) for above in tried]
    found = module._two_means_of_numbers(numbers)
    assert np.array_equal(found, tried[int(np.argmin(spreads))])


@pytest.mark.parametrize("n_items", [150, 1500])  # fewer and more than a view's distribution has knots for new items
def test_fitted_items_are_placed_where_they_are_at_every_level(n_items):
    group = np.arange(n_items) % 3
    X = np.random.default_rng(0).normal(size=(n_items, 6)) + 3 * np.eye(3, 6)[group]
    model = ConsensusClustering(6, random_state=0).fit(X)
    for n_clusters in (3, 6, 12, 18):
        level = model.at_level(n_clusters)
        assert np.array_equal(level.predict(X), level.labels_)
