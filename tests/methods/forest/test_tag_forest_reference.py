"""TagForest against its slow twin, numbers worked out by hand, and scikit-learn's multi-output tree."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.tree import DecisionTreeRegressor

from manyview import TagForest, Views
from manyview.blocks import workers
from manyview.data.tags import TagTable
from manyview.methods.forest._bins import Bins, cut_points, feature_quota
from manyview.methods.forest._scores import affinity_scores, cluster_scores, leaf_scores
from manyview.methods.forest._soft_tags import correlations, soft_layers
from manyview.methods.forest._tag_layers import induced_layers
from manyview.methods.forest._trees import Forest, Mates, Shares, grow_forest

from . import tag_forest_reference as twin


def tree(X, layers, min_leaf=1, min_split=2, max_bins=255, seeds=(1,)):
    """One tree (or more) on all features: (forest, leaves, partition of the first tree)."""
    views = Views(X)
    with workers(1) as threads:
        bins, codes = Bins.learn(views, max_bins, threads)
        forest, leaves, _ = grow_forest(
            codes,
            [csr_matrix(np.asarray(layer, dtype=np.float32)) for layer in layers],
            np.arange(views.n_items, dtype=np.int32),
            feature_quota(None, views.n_features),
            np.cumsum([0, *views.n_features.values()]),
            seeds=list(seeds),
            min_leaf=min_leaf,
            min_split=min_split,
            missing=bins.missing,
            n_kept=views.n_items,
            threads=threads,
            report=lambda: None,
        )
    return forest, leaves, parts(leaves[:, 0])


def parts(leaf):
    return {frozenset(np.flatnonzero(leaf == k).tolist()) for k in np.unique(leaf)}


X4 = np.array([[1.0], [2.0], [3.0], [4.0]])
TAG1, TAG2 = np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 0, 0])


def test_gains_by_hand():
    values = np.column_stack([TAG1, TAG2])
    gains = [twin.gain(values, X4[:, 0] <= cut) for cut in (1.5, 2.5, 3.5)]
    assert gains == pytest.approx([0.541667, 0.625, 0.208333], abs=1e-6)
    forest, _, _ = tree(X4, [values])
    assert forest.feature[0] == 0 and forest.cut[0] == 1  # the second of three cut-points, 2.5


def test_the_abstract_layer_decides_first_by_hand():
    layers = [np.column_stack([0 * TAG1, TAG2]), np.column_stack([TAG1, 0 * TAG2])]
    layer, gain, left = twin.best_split(X4, layers, np.arange(4), 1)
    assert layer == 0 and gain == pytest.approx(0.375) and left.tolist() == [True, False, False, False]
    layer, gain, left = twin.best_split(X4, layers, np.arange(1, 4), 1)
    assert layer == 1 and gain == pytest.approx(0.444444, abs=1e-6) and left.tolist() == [True, False, False]
    forest, _, found = tree(X4, layers)
    assert found == {frozenset({0}), frozenset({1}), frozenset({2, 3})}
    assert forest.cut[0] == 0 and forest.cut[forest.child[0] + 1] == 1


def test_correlations_by_hand():
    numbers = np.array([4.0]), np.array([5.0]), 10
    for both, shrink, likely, against in ((1, 0, 0.2, 0.5), (1, 5, 0.2, 0.142857), (3, 0, 0.6, 0.0)):
        found = correlations(np.array([[float(both)]]), *numbers, shrink)
        assert [float(part[0, 0]) for part in found] == pytest.approx([likely, against], abs=1e-6)
    assert [part[0, 0] for part in correlations(np.zeros((1, 1)), np.zeros(1), np.zeros(1), 10, 0.0)] == [0.0, 0.0]


LEAVES = np.array([[0, 0], [0, 1], [1, 1]], dtype=np.int32)


def test_affinity_by_hand():
    with workers(1) as threads:
        mates = Mates(LEAVES, np.array([0, 2, 4]), threads)
        assert mates.affinity(threads).toarray().tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
        nearest = mates.nearest(2, threads)
    assert nearest.toarray().tolist() == [[0, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0]]


def test_cluster_scores_by_hand():
    yes = csr_matrix(np.array([[0.0], [1], [1], [0], [0], [1]]))
    labels = np.array([0, 0, 0, 0, 0, 1])
    scores = cluster_scores(labels, np.arange(6), labels, yes)
    assert scores[0, 0] == 0.5 and scores[1, 0] == 0.25 and np.isnan(scores[5, 0])
    assert cluster_scores(np.array([0, -1]), np.array([-1, -1]), labels, yes)[0, 0] == pytest.approx(0.4)


@pytest.mark.parametrize(("others", "expected"), [([1, 1], 1.0), ([1, 0], 0.5), ([0, 0], 0.0), ([], np.nan)])
def test_neighbourhood_scores_by_hand(others, expected):
    n = 1 + len(others)
    yes = csr_matrix(np.array([[0.0], *[[float(y)] for y in others]]))
    start = np.array([0, 1])
    with workers(1) as threads:
        mates = Mates(np.zeros((n, 1), dtype=np.int32), start, threads)
    shares = Shares.of_training(np.zeros((1, 1), dtype=np.int32), start)
    found = leaf_scores(shares, np.array([0]), mates, yes, votes=True)
    assert found[0, 0] == pytest.approx(expected, nan_ok=True)


def test_affinity_scores_by_hand():
    nearest = csr_matrix(np.array([[0, 0.6, 0.3]], dtype=np.float32))
    assert affinity_scores(nearest, 2, csr_matrix([[0.0], [1], [0]]))[0, 0] == pytest.approx(0.3)


@pytest.mark.parametrize("draw", range(20))
def test_one_flat_layer_is_a_multi_output_regression_tree(draw):
    rng = np.random.default_rng(draw)
    X, Y = rng.normal(size=(240, 6)), (rng.random((240, 12)) < 0.15).astype(float)
    Y[:, :3] = (X[:, :3] + rng.normal(size=(240, 3)) > 1).astype(float)
    _, _, found = tree(X, [Y], min_leaf=1, min_split=61)
    peer = DecisionTreeRegressor(min_samples_split=61, random_state=0).fit(X, Y)
    assert found == parts(peer.apply(X))


@pytest.mark.parametrize("draw", range(6))
def test_trees_equal_the_slow_twin_with_layers_soft_values_and_gaps(draw):
    rng = np.random.default_rng(draw)
    n = 40
    X = rng.normal(size=(n, 3))
    X[:, 2] = np.round(X[:, 2])  # ties within a feature
    values = rng.random((n, 6)) * (rng.random((n, 6)) < 0.3)
    layers = [np.where(np.arange(6) < 3, values, 0), np.where(np.arange(6) >= 3, values, 0)]
    layers[0][rng.random(n) < 0.4] = 0
    gaps = X.copy()
    views = {"a": gaps[:, :1], "b": gaps[:, 1:]}
    if draw % 2:
        views["a"][rng.random(n) < 0.3] = np.nan
    gaps = np.hstack(list(views.values()))
    min_leaf = 1 + draw % 3
    forest, leaves, _ = tree(views, layers, min_leaf)
    # Cuts of equal gain are equally good: each split is compared by what it gains, not by who it parts.
    reach = {0: np.arange(n)}
    for node in range(forest.feature.size):
        rows, f = reach[node], forest.feature[node]
        best = twin.best_split(gaps, layers, rows, min_leaf)
        if f < 0:
            assert best is None and (leaves[rows, 0] == forest.child[node]).all()
            continue
        points = cut_points(gaps[~np.isnan(gaps[:, f]), f])
        absent = np.isnan(gaps[rows, f])
        left = np.where(absent, forest.absent[node] == 1, np.searchsorted(points, gaps[rows, f]) <= forest.cut[node])
        assert twin.gain(layers[best[0]][rows], left) == pytest.approx(best[1], abs=1e-9)
        assert (forest.absent[node] >= 0) == absent.any() and min(left.sum(), (~left).sum()) >= min_leaf
        reach[forest.child[node]], reach[forest.child[node] + 1] = rows[left], rows[~left]


def test_cells_without_a_value_have_a_code_of_their_own():
    column = np.array([[3.0], [np.nan], [1.0], [2.0]])
    trusted = Views._trusted(("a",), (column,), np.ones((4, 1), dtype=bool), np.arange(4))
    with workers(1) as threads:
        bins, codes = Bins.learn(trusted, 255, threads)
    assert bins.points.tolist() == [1.5, 2.5] and codes.tolist() == [[2, 255, 0, 1]]


@pytest.mark.parametrize("draw", range(3))
def test_binned_equals_exact_with_every_value_kept(draw):
    rng = np.random.default_rng(draw)
    X, Y = rng.normal(size=(250, 5)), (rng.random((250, 10)) < 0.2).astype(float)
    seeds = [3, 4, 5]
    binned, leaves, _ = tree(X, [Y], 3, seeds=seeds)
    exact, same_leaves, _ = tree(X, [Y], 3, max_bins=None, seeds=seeds)
    assert np.array_equal(leaves, same_leaves)
    for name in ("feature", "cut", "child", "size"):
        assert np.array_equal(getattr(binned, name), getattr(exact, name))


def test_more_values_than_a_byte_holds_are_kept_by_the_exact_form():
    rng = np.random.default_rng(0)
    X = rng.permutation(3000.0 + np.arange(1200))[:, None]
    order = np.argsort(X[:, 0])
    Y = np.zeros((1200, 1))
    Y[order[:703]] = 1
    _, _, found = tree(X, [Y], 3, max_bins=None)
    assert found == {frozenset(order[:703].tolist()), frozenset(order[703:].tolist())}
    _, _, rough = tree(X, [Y], 3)
    assert len(rough) > 2  # no cut-point of 254 falls there


def test_cut_points():
    assert cut_points(np.array([2.0, 1, 2, 4])).tolist() == [1.5, 3.0]
    assert cut_points(np.array([5.0, 5])).size == 0 and cut_points(np.array([])).size == 0
    close = np.nextafter(1.0, 2)
    assert cut_points(np.array([1.0, close])).tolist() == [1.0]  # no number between: the lower one still parts them
    assert cut_points(np.array([-1.7e308, 1.7e308])).tolist() == [0.0]
    values = np.random.default_rng(0).normal(size=10_000)
    points = cut_points(values)
    counts = np.bincount(np.searchsorted(points, values), minlength=255)
    assert points.size == 254 and counts.max() - counts.min() <= 2
    mostly_zero = np.concatenate([np.zeros(9_000), np.arange(1, 1001)])
    assert cut_points(mostly_zero).size > 200  # the zeros fill one bin and leave the others to the rest


def test_codes_and_raw_values_agree_on_every_cut():
    rng = np.random.default_rng(1)
    for X in (rng.normal(size=(300, 2)), rng.normal(size=(300, 2)).astype(np.float32), rng.integers(0, 9, (300, 2))):
        with workers(1) as threads:
            bins, codes = Bins.learn(Views(X), 255, threads)
        for f in range(2):
            points = bins.points[bins.start[f] : bins.start[f + 1]]
            for cut, point in enumerate(points):
                assert np.array_equal(codes[f] <= cut, X[:, f] <= point)


def test_each_view_gets_its_share_of_the_features():
    assert feature_quota("sqrt", {"wide": 4096}).tolist() == [64]
    assert feature_quota("sqrt", {"wide": 4090, "narrow": 6}).tolist() == [58, 6]
    assert feature_quota(9, {"a": 100, "b": 100, "c": 2}).tolist() == [4, 3, 2]
    assert feature_quota(1, {"a": 5, "b": 5}).tolist() == [1, 1]
    for half in (0.5, np.float32(0.5), np.float64(0.5)):
        assert feature_quota(half, {"a": 4, "b": 4}).tolist() == [2, 2]
    assert feature_quota(np.int64(4), {"a": 4, "b": 4}).tolist() == [2, 2]
    assert feature_quota(None, {"a": 3, "b": 1}).tolist() == [3, 1]
    assert feature_quota(99, {"a": 3, "b": 1}).tolist() == [3, 1]
    assert feature_quota(4, {"a": 6, "still": 6}, ["still"]).tolist() == [4, 0]


@pytest.mark.parametrize("draw", range(4))
def test_soft_tags_equal_the_slow_twin(draw):
    rng = np.random.default_rng(draw)
    Y = (rng.random((60, 14)) < 0.12).astype(float)
    layers = [np.arange(5), np.arange(5, 9), np.arange(9, 14)]
    table = TagTable.from_matrix(Y)
    found = soft_layers(table, layers, True)
    for ours, slow, tags in zip(found, twin.soft_tags(Y, layers), layers, strict=True):
        assert ours.toarray() == pytest.approx(slow, abs=1e-6)
        values = ours.toarray()
        assert values.min() >= 0 and values.max() <= 1 and np.array_equal(np.unique(ours.indices), np.unique(tags))
        has = Y[:, tags].any(axis=1)
        assert np.array_equal(values[has][:, tags], Y[has][:, tags])  # observed tags stay, no soft ones beside them
    assert (found[-1].toarray()[:, 9:] == Y[:, 9:]).all()
    hard = soft_layers(table, layers, False)
    assert sum(part.nnz for part in hard) == Y.sum()


def test_soft_tags_respect_a_known_no():
    Y = np.array([[1.0, 0, 1], [1, 0, 1], [0, 1, 0], [0, 0, 1]])
    layers = [np.array([0, 1]), np.array([2])]
    assert soft_layers(TagTable.from_matrix(Y), layers, True)[0][3, 0] == 1.0
    no = np.zeros_like(Y)
    no[3, 0] = 1
    assert soft_layers(TagTable.from_matrix(Y, no=no), layers, True)[0][3].nnz == 0


def test_the_induced_hierarchy_puts_the_heavy_tags_of_each_group_first():
    rows = [["animal", f"dog{i}"] for i in range(12)] + [["plant", f"oak{i}"] for i in range(12)]
    table = TagTable.from_lists(rows)
    layers = induced_layers(table.yes, 2, 2, 0)
    assert {"animal", "plant"} <= {table.names[i] for i in layers[0]} and layers[0].size <= 6
    assert sorted(np.concatenate(layers)) == list(range(table.n_tags))
    assert [layer.size for layer in induced_layers(table.yes, 1, 2, 0)] == [table.n_tags]
    three = induced_layers(table.yes, 3, 2, 0)
    assert len(three) == 3 and sorted(np.concatenate(three)) == list(range(table.n_tags))
    assert induced_layers(csr_matrix((4, 3)), 2, 2, 0) == []


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)).astype(np.float32)
    Y = (rng.random((50, 8)) < 0.2).astype(float)
    Y[:, 0] = X[:, 0] > 0
    model = TagForest(3, n_estimators=12, n_neighbors=6, random_state=1, use_hierarchy=False).fit(X, Y)
    return model, X, Y


def test_affinity_and_scores_equal_the_slow_twin(fitted):
    model, _, Y = fitted
    A = twin.affinity(model.leaves_)
    assert model.affinity().toarray() == pytest.approx(A, abs=1e-6)
    votes, frequency = twin.neighbourhood_scores(model.leaves_, Y)
    assert model.tag_scores(method="neighbourhood") == pytest.approx(votes, abs=1e-6)
    assert model.tag_scores(method="leaf_frequency") == pytest.approx(frequency, abs=1e-6)
    np.fill_diagonal(A, 0)
    for x in range(50):
        row = model.neighbors_[x]
        assert row.data == pytest.approx(np.sort(A[x])[::-1][: row.nnz], abs=1e-6)
        assert row.data == pytest.approx(A[x, row.indices], abs=1e-6)
    affine = model.tag_scores(method="affinity")
    assert affine == pytest.approx(model.neighbors_.toarray() @ Y / 6, abs=1e-6)


def test_unseen_items_meet_the_training_items_of_their_leaves(fitted):
    model, X, Y = fitted
    new = X[:7] + 0.001
    leaves = model.apply(new)
    shared = (leaves[:, None, :] == model.leaves_[None, :, :]).mean(axis=2)
    frequency = np.array(
        [np.mean([Y[model.leaves_[:, t] == leaf[t]].mean(axis=0) for t in range(12)], axis=0) for leaf in leaves]
    )
    assert model.tag_scores(new, method="leaf_frequency") == pytest.approx(frequency, abs=1e-6)
    best = np.sort(shared, axis=1)[:, ::-1][:, :6].sum(axis=1)
    affine = model.tag_scores(new, method="affinity")
    assert (affine <= best[:, None] / 6 + 1e-6).all() and affine.any()
    sizes = np.bincount(model.labels_)
    expected = np.array([Y[model.labels_ == k].sum(axis=0) / sizes[k] for k in model.predict(new)])
    assert model.tag_scores(new, method="cluster") == pytest.approx(expected, abs=1e-6)


def test_routing_training_items_gives_their_leaves_and_leaves_are_large_enough(fitted):
    model, X, _ = fitted
    assert np.array_equal(model.apply(X), model.leaves_) and np.array_equal(model.apply(), model.leaves_)
    assert np.array_equal(model.apply(X.astype(np.float64)), model.leaves_)
    for t in range(12):
        assert np.bincount(model.leaves_[:, t]).min() >= 3
    A = model.affinity()
    assert abs(A - A.T).max() == 0 and (A.diagonal() == 1).all()
    assert A.data * 12 == pytest.approx(np.round(A.data * 12), abs=1e-4)
    assert np.linalg.eigvalsh(A.toarray().astype(float)).min() > -1e-5


def test_every_split_gains_something(fitted):
    model, X, Y = fitted
    forest = Forest(**model.forest_)
    for t in range(3):
        reach = {0: np.arange(50)}
        first = int(forest.tree_start[t])
        with workers(1) as threads:
            codes = model._bins().codes(Views(X), threads)
        for node in range(int(forest.tree_start[t + 1]) - first):
            rows, f = reach[node], int(forest.feature[first + node])
            assert rows.size == forest.size[first + node]
            if f >= 0:
                left = codes[f, rows] <= forest.cut[first + node]
                assert twin.gain(Y[rows], left) > 0
                child = int(forest.child[first + node])
                reach[child], reach[child + 1] = rows[left], rows[~left]
