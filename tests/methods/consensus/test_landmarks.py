"""Landmarks: who is taken, what the others get, and that everything a model offers holds for them too."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import normalized_mutual_info_score as nmi

import manyview
from manyview import ConsensusClustering, Views
from manyview.blocks import Workers, workers
from manyview.data.nearest import nearest_among
from manyview.methods import neighbours
from manyview.methods.consensus import _landmarks, cost
from manyview.methods.consensus._graph import Memberships, NeighbourGraph, Space, mixed_operator
from manyview.methods.consensus._landmarks import choose_landmarks
from manyview.methods.consensus.cost import number_of_landmarks, shape_of
from manyview.methods.spectral import leading_eigenpairs, nearby_eigenpairs

ALONE = Workers(1, None)

pytestmark = pytest.mark.filterwarnings("ignore:.*lack every view")


def groups(n_items, seed=0, n_groups=6, spread=1.0, missing=0.1):
    """Groups in two views; some items lack one of them, and the last item lacks both."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_groups, n_items)
    views = {}
    for name, width in (("looks", 8), ("text", 5)):
        rows = (4 * rng.normal(size=(n_groups, width)))[truth] + spread * rng.normal(size=(n_items, width))
        views[name] = rows.astype(np.float32)
    lacking = rng.random((n_items, 2)) < missing
    lacking[lacking.all(axis=1)] = False
    lacking[-1] = True
    for v, rows in enumerate(views.values()):
        rows[lacking[:, v]] = np.nan
    return Views(views), truth


@pytest.fixture(scope="module")
def fitted():
    views, truth = groups(900)
    return ConsensusClustering(6, landmarks=300, n_jobs=1).fit(views), views, truth


class TestWhoVotes:
    def test_all_where_they_are_few(self):
        everyone = np.ones(50, dtype=bool)
        assert choose_landmarks(everyone, np.ones((50, 2), dtype=bool), None, 50, 0) is None
        everyone[3] = False
        assert choose_landmarks(everyone, np.ones((50, 2), dtype=bool), None, 49, 0) is None

    def test_every_kind_has_its_share(self):
        mask = np.ones((10_000, 2), dtype=bool)
        mask[:3000, 0] = False
        mask[-30:, 1] = False  # rare: twenty of them, though its share is three
        mask[5] = False
        chosen = choose_landmarks(mask.any(axis=1), mask, None, 1000, 0)
        assert (np.diff(chosen) > 0).all() and 5 not in chosen
        assert abs((chosen < 3000).sum() - 300) <= 1
        assert (chosen >= 9970).sum() == 20
        np.testing.assert_array_equal(chosen, choose_landmarks(mask.any(axis=1), mask, None, 1000, 0))
        assert not np.array_equal(chosen, choose_landmarks(mask.any(axis=1), mask, None, 1000, 1))

    def test_earlier_clusters_are_represented(self):
        previous = np.zeros(5000, dtype=np.intp)
        previous[:25], previous[25:30] = 1, -1
        chosen = choose_landmarks(np.ones(5000, dtype=bool), np.ones((5000, 1), dtype=bool), previous, 100, 0)
        assert (chosen < 25).sum() == 20 and ((chosen >= 25) & (chosen < 30)).sum() == 5

    def test_how_many(self, monkeypatch):
        views = shape_of(Views(np.zeros((10, 100), dtype=np.float32)))
        assert number_of_landmarks(None, views, 3, 10) == 10
        assert number_of_landmarks(2, views, 3, 10) == 3
        assert number_of_landmarks("auto", views, 3, 10) == 100_000
        monkeypatch.setattr(cost, "MEMORY", 2**25)
        assert 5_000 < number_of_landmarks("auto", views, 3, 10) < 20_000


def test_a_small_collection_has_none():
    views, _ = groups(100)
    assert ConsensusClustering(3).fit(views).landmarks_ is None


def test_landmarks_cluster_as_they_would_alone(fitted):
    model, views, truth = fitted
    alone = ConsensusClustering(6, n_jobs=1).fit(views[model.landmarks_])
    np.testing.assert_array_equal(model.labels_[model.landmarks_], alone.labels_)
    assert model.association_ == alone.association_
    assert model.labels_[-1] == -1 and (model.labels_[:-1] >= 0).all()
    assert nmi(truth[:-1], model.labels_[:-1]) > 0.95
    np.testing.assert_array_equal(model.cluster_sizes_, np.bincount(model.labels_[:-1]))
    np.testing.assert_allclose(model.cluster_centers_["text"], views.means(model.labels_)["text"])
    assert model.member_labels_.shape == (900, 30) and (model.member_labels_[:-1].max(axis=1) >= 0).all()


def test_the_others_go_where_predict_puts_them(fitted):
    model, views, _ = fitted
    np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_levels_hold_for_everybody(fitted):
    model, views, _ = fitted
    low, high = model.level_range_
    assert (low, high) == (2, 18)
    np.testing.assert_array_equal(model.cut(6), model.labels_)
    finer = model.cut(high)
    assert (finer[:-1] >= 0).all() and finer[-1] == -1 and np.unique(finer[:-1]).size == high
    for level in (2, 4, 6, 11):  # nested
        assert all(np.unique(model.cut(level)[finer == part]).size == 1 for part in range(high))
    for level in (3, 11, high):
        placed, cut = model.at_level(level).predict(views), model.cut(level)
        others = np.setdiff1d(np.arange(len(cut)), model.landmarks_)
        np.testing.assert_array_equal(placed[others], cut[others])


def test_blocks_threads_and_saving_change_nothing(fitted, monkeypatch, tmp_path):
    model, views, _ = fitted
    monkeypatch.setattr(_landmarks, "_BLOCK_BYTES", 20_000)
    other = ConsensusClustering(6, landmarks=300, n_jobs=2).fit(views)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_array_equal(other.levels_["leaves"], model.levels_["leaves"])
    np.testing.assert_array_equal(other.member_labels_, model.member_labels_)
    again = manyview.load(manyview.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(views), model.labels_)
    np.testing.assert_array_equal(again.landmarks_, model.landmarks_)


def test_in_cells_too(monkeypatch, tmp_path):
    monkeypatch.setattr(neighbours, "EXACT", 200)
    monkeypatch.setattr("manyview.methods.consensus._vote.EXACT", 200)
    monkeypatch.setattr(neighbours, "CELL", 16)
    views, truth = groups(1500, spread=0.5)
    model = ConsensusClustering(6, landmarks=500, n_jobs=1).fit(views)
    assert set(model.state_["cells"]["spaces"]) == {None, "looks", "text"}
    assert nmi(truth[:-1], model.labels_[:-1]) > 0.95
    loaded = manyview.load(manyview.save(model, tmp_path / "model"))
    one_by_one = np.concatenate([loaded.predict(views[i : i + 1]) for i in range(40)])
    np.testing.assert_array_equal(one_by_one, model.labels_[:40])  # whoever else is placed makes no difference


def test_neighbours_in_cells_are_found_as_often_as_those_of_fitted_items(monkeypatch):
    monkeypatch.setattr(neighbours, "CELL", 32)
    monkeypatch.setattr(neighbours, "EXACT", 100)
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(3000, 4)).astype(np.float32), rng.normal(size=(400, 4)).astype(np.float32)
    cells = neighbours.learn_cells(rows, ALONE)
    assert sorted(np.concatenate(cells.items).tolist()) == list(range(3000))

    def recall(found, exact):
        return np.mean([np.isin(a, b).mean() for a, b in zip(exact, found, strict=True)])

    of_new = recall(neighbours.nearest_in_cells(new, rows, cells, 5, ALONE), nearest_among(new, rows, 5, ALONE))
    own = np.arange(3000, dtype=np.int32)
    fitted = neighbours.nearest_neighbours(rows, 5, ALONE, cells=cells)
    of_fitted = recall(fitted, nearest_among(rows, rows, 5, ALONE, own=own))
    assert of_new > of_fitted - 0.03 > 0.75


def test_one_and_many_find_the_same_in_cells_also_among_equals(monkeypatch):
    monkeypatch.setattr(neighbours, "CELL", 32)
    monkeypatch.setattr(neighbours, "EXACT", 100)
    rng = np.random.default_rng(0)
    rows, new = (rng.integers(4, size=(n, 4)).astype(np.float32) for n in (1500, 300))  # ties everywhere
    cells = neighbours.learn_cells(rows, ALONE)
    many = neighbours.nearest_in_cells(new, rows, cells, 5, ALONE)
    one = [neighbours.nearest_in_cells(new[i : i + 1], rows, cells, 5, ALONE)[0] for i in range(40)]
    np.testing.assert_array_equal(many[:40], one)


def test_equal_items_share_a_cluster():
    views, _ = groups(400, missing=0.0)
    twice = Views({name: np.vstack([views[name][:-1]] * 2) for name in views.names})
    labels = ConsensusClustering(6, landmarks=200, n_jobs=1).fit(twice).labels_
    np.testing.assert_array_equal(labels[:399], labels[399:])


def test_what_was_said_before_counts_for_the_others_too():
    views, _ = groups(600, spread=6.0)
    rng = np.random.default_rng(0)
    said = rng.integers(0, 6, 600)
    free = ConsensusClustering(6, landmarks=200, n_jobs=1).fit(views)
    model = ConsensusClustering(6, landmarks=200, members=[10, (said, 200.0)], n_jobs=1).fit(views)
    rest = np.setdiff1d(np.arange(599), model.landmarks_)
    assert nmi(said[rest], model.labels_[rest]) > 0.9 > nmi(said[rest], free.labels_[rest])
    np.testing.assert_array_equal(model.member_labels_[:-1, -1], said[:-1])
    again, anew = (
        ConsensusClustering(6, landmarks=200, previous=previous, random_state=1, n_jobs=1).fit(views)
        for previous in (free.labels_, None)
    )
    assert nmi(free.labels_[rest], again.labels_[rest]) > nmi(free.labels_[rest], anew.labels_[rest]) + 0.1


def test_few_kinds_of_items():
    rows = np.repeat(np.eye(3), 100, axis=0)
    with pytest.warns(ConvergenceWarning, match="found 3 distinct clusters"):
        model = ConsensusClustering(5, landmarks=60).fit(rows)
    assert model.n_clusters_ == 3 and nmi(np.repeat(np.arange(3), 100), model.labels_) == 1.0
    assert ConsensusClustering(1, landmarks=60).fit(rows).labels_.max() == 0


def test_products_of_many_vectors_are_those_of_each(seed):
    rng = np.random.default_rng(seed)
    n = 90
    near = np.array([rng.choice(np.delete(np.arange(n), i), 4, replace=False) for i in range(n)], dtype=np.int32)
    part = np.arange(0, n, 2, dtype=np.int32)
    few = rng.integers(0, part.size, (part.size, 3)).astype(np.int32)
    spaces = [Space(None, 0, np.zeros((n, 1), np.float32), np.arange(n, dtype=np.int32))]
    spaces.append(Space("v", 1, np.zeros((part.size, 1), np.float32), part))
    labels = rng.integers(-1, 5, (n, 7)).astype(np.int16)
    with workers(2) as threads:
        graph = NeighbourGraph(n, spaces, [near, few], [1.0, 0.6], threads)
        memberships = Memberships(labels, np.full(7, 5), rng.random(7) + 0.5, threads)
        for alpha in (0.0, 0.6, 1.0):
            operator = mixed_operator(alpha, graph, memberships)
            X = rng.normal(size=(n, 6))
            each = np.column_stack([operator.matvec(x) for x in X.T])
            np.testing.assert_allclose(operator @ X, each, atol=1e-13)


def test_eigenpairs_from_those_of_a_similar_operator():
    rng = np.random.default_rng(0)
    n, k = 500, 8
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = np.r_[np.linspace(1.0, 0.7, k), rng.uniform(-0.2, 0.4, n - k)]
    first = basis @ np.diag(values) @ basis.T
    change = rng.normal(size=(n, n)) * 0.003
    second = first + change + change.T
    exact, vectors = np.linalg.eigh(second)
    found = nearby_eigenpairs(second, leading_eigenpairs(first, k, seed=0)[1])
    np.testing.assert_allclose(found[0], exact[::-1][:k], atol=1e-4)
    np.testing.assert_allclose(found[1].T @ found[1], np.eye(k), atol=1e-8)
    overlap = np.linalg.svd(found[1].T @ vectors[:, ::-1][:, :k], compute_uv=False)
    assert overlap.min() > 0.999
