"""AcceleratedKMeans gives Lloyd's labels at every round, and says what it saved."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from manyview import AcceleratedKMeans, HierarchicalKMeans, Views
from manyview.engines.choice import working
from manyview.errors import ParameterError
from manyview.methods.kmeans import _accelerated_bounds as bounds
from manyview.methods.kmeans import _accelerated_kmeans_kernels as kernels
from manyview.methods.kmeans import _accelerated_rounds as rounds
from manyview.methods.kmeans._accelerated_tables import make_table

from .kmeans_reference import inertia, lloyd, problem


@pytest.fixture
def everything_small(monkeypatch):
    """Many blocks and panels, and pair bounds wherever they can be used."""
    monkeypatch.setattr(rounds, "MOST_ROWS", 32)
    monkeypatch.setattr(rounds, "BLOCK_BYTES", 2048)
    for name in ("_ROW", "_SCAN", "_PAIR", "_PAIR_FEATURE", "_OWN", "_OWN_FEATURE"):
        monkeypatch.setattr(bounds, name, 0.001)
    monkeypatch.setattr(bounds, "_SCOUTS", 2)
    monkeypatch.setattr(bounds, "_ROWS_PER_CENTRE", 2)


def history(X, centres, n_jobs=1, weight=None, relocate=False, max_iter=300):
    """Labels of every round, as the rounds themselves tell them."""
    X = X if sparse.issparse(X) else np.ascontiguousarray(X)
    found = []
    with working(n_jobs) as engine:
        weight = np.ones(X.shape[0]) if weight is None else weight
        scale = np.full(X.shape[1], 0.25)
        outcome = rounds.run_rounds(
            rounds.PlainTable.of(X, scale, weight).problem(engine, max_iter, -1.0, relocate),
            lambda: np.array(centres, dtype=np.float64),
            lambda _, labels, *rest: found.append(labels()),
        )
    return found, outcome


def assert_lloyd(X, centres, **settings):
    expected, points = lloyd(X.toarray() if sparse.issparse(X) else X, centres, weight=settings.get("weight"))
    found, outcome = history(X, centres, **settings)
    assert len(found) == len(expected)
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
    np.testing.assert_allclose(outcome.points, points, rtol=1e-12, atol=1e-12)
    return outcome


def test_the_counter_example_of_the_printed_algorithm():
    model = AcceleratedKMeans(2, init=[[0.0], [1.0]]).fit([[11.0], [0.0], [1.0]])
    assert model.labels_.tolist() == [1, 0, 0]
    assert model.cluster_centers_["view0"].ravel().tolist() == [0.5, 11.0]
    assert model.inertia_ == 0.5 and model.objective_.tolist() == [100.0, 26.0, 0.5]


@pytest.mark.parametrize("part", range(3))
def test_labels_of_every_round_on_random_problems_and_integer_grids(part):
    for seed in range(100 * part, 100 * part + 100):
        X, centres = problem(seed)
        assert_lloyd(X, centres)


@pytest.mark.slow  # every combination of blocks, threads and bounds
def test_labels_of_every_round_with_many_blocks_threads_and_pair_bounds(everything_small):
    n_pairs = 0
    for seed in range(60):
        X, centres = problem(seed)
        assert_lloyd(X.astype(np.float32 if seed % 3 else np.float64), centres, n_jobs=1 + seed % 2)
        table = make_table(np.zeros((4, X.shape[1])), np.ones(X.shape[1]))
        n_pairs += bounds.PairBounds(table, len(centres), 4).useful
    assert n_pairs > 30, "the pair bounds were hardly tried"


def test_float32_gives_the_labels_of_float64(everything_small):
    rng = np.random.default_rng(0)
    for d in (3, 40, 200):
        X = (rng.normal(size=(300, d)) + 3).astype(np.float32)
        assert_lloyd(X, X[:20])
        twice = np.repeat(X[:100], 2, axis=0)  # equal rows and centres that nearly coincide
        assert_lloyd(twice, np.concatenate([X[:5], np.nextafter(X[:5], np.float32(9))]))


def test_sparse_and_weighted():
    rng = np.random.default_rng(1)
    for seed in range(8):
        dense = np.round(rng.normal(size=(120, 15)) * (rng.random((120, 15)) < 0.3), 1 + seed % 2)
        X = sparse.csr_matrix(dense.astype(np.float32 if seed % 2 else np.float64))
        weight = rng.integers(0, 3, size=120).astype(np.float64)
        weight[:7] = 1
        assert_lloyd(X, dense[:7], weight=weight)
        assert_lloyd(dense, dense[:7], weight=weight)
    repeated = AcceleratedKMeans(7, init=dense[:7]).fit(np.repeat(dense, weight.astype(int), axis=0))
    weighted = AcceleratedKMeans(7, init=dense[:7]).fit(dense, sample_weight=weight)
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-12)
    assert np.array_equal(np.repeat(weighted.labels_, weight.astype(int)), repeated.labels_)


def test_far_from_the_origin_and_huge():
    X = problem(1)[0]
    for scale, offset in ((1.0, 1e5), (1e30, 0.0), (1e-25, 0.0), (1.0, 3.0)):
        moved = (X * scale + offset).astype(np.float32)
        start = moved[:3].astype(np.float64)
        expected, points = lloyd((moved - np.float64(offset)) / scale, (start - offset) / scale)
        model = AcceleratedKMeans(3, init=start, tol=0).fit(moved)
        assert np.array_equal(model.labels_, expected[-1])
        np.testing.assert_allclose((model.cluster_centers_["view0"] - offset) / scale, points, atol=1e-9)


@pytest.mark.parametrize("kind", [AcceleratedKMeans, HierarchicalKMeans])
@pytest.mark.parametrize("constant", [1.0, 0.1, 1e9, 1e-140])
def test_tiny_numbers_beside_a_constant_one(kind, constant):
    """The squares of such a constant, in units of the others, are beyond float64; no distance needs them."""
    truth = np.repeat(range(3), 30)
    rows = np.random.default_rng(0).normal(truth[:, None], 0.1, (90, 4))
    X = np.column_stack([1e-250 * rows, np.full(90, constant)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kind(3, random_state=0).fit(X)
        assert adjusted_rand_score(truth, model.labels_) == 1
        np.testing.assert_array_equal(model.predict(X), model.labels_)
    (centres,) = model.cluster_centers_.values()
    assert (centres[:, 4] == constant).all()


def test_an_outlier_that_leaves_takes_no_digits_with_it():
    X = np.array([[0.1], [0.3], [1e16], [1.5e16]])  # the third begins with the first two
    model = AcceleratedKMeans(2, init=[[0.2], [2.5e16]], tol=0).fit(X)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.cluster_centers_["view0"][0, 0] == 0.2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_like_scikit_learn_from_the_same_start_to_the_same_tolerance(dtype):
    rng = np.random.default_rng(2)
    X = (rng.normal(size=(2000, 20)) + rng.normal(size=(15, 20))[rng.integers(15, size=2000)] * 3).astype(dtype)
    theirs = KMeans(15, init=X[:15], n_init=1, tol=1e-4).fit(X)
    ours = AcceleratedKMeans(15, init=X[:15]).fit(X)
    assert ours.n_iter_ == theirs.n_iter_ and np.array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-6)
    assert ours.inertia_ == pytest.approx(inertia(X, ours.labels_, ours.cluster_centers_["view0"]), rel=1e-12)
    assert (np.diff(ours.objective_) <= 1e-9 * ours.objective_[0]).all()
    assert np.array_equal(ours.predict(X), ours.labels_)
    assert ours.score(X) == pytest.approx(-ours.inertia_ / 2000, rel=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_the_inertia_of_every_round_however_far_from_the_origin(kind, offset):
    X = np.round(np.random.default_rng(4).normal(size=(300, 4)), 3)  # the same at every offset, to its digits
    near = AcceleratedKMeans(8, init=X[:8], tol=0).fit(X)
    far = AcceleratedKMeans(8, init=X[:8] + offset, tol=0).fit(kind(X + offset))
    assert far.objective_ == pytest.approx(near.objective_, rel=1e-6)
    assert (np.diff(far.objective_) <= 1e-9 * far.objective_[0]).all()


def test_never_many_more_distances_than_lloyd_and_far_fewer_where_clusters_separate():
    rng = np.random.default_rng(3)
    for seed in range(40):
        X = rng.normal(size=(200, 1 + seed % 6))
        k = 2 + seed % 9
        _, outcome = history(X, X[:k])
        assert outcome.n_distances <= (200 * k + k * k) * outcome.n_iter
    X = rng.normal(size=(3000, 16)) + rng.normal(size=(20, 16))[np.arange(3000) % 20] * 6
    _, outcome = history(X, X[rng.choice(3000, 20, replace=False)])
    assert outcome.n_iter > 3 and outcome.n_distances < 0.5 * 3000 * 20 * outcome.n_iter


def test_rows_are_opened_as_the_bounds_say():
    rng = np.random.default_rng(8)
    n, k = 200, 5
    labels = rng.integers(k, size=n).astype(np.int32)
    upper = rng.random(n)
    own, lower = upper - 0.1 * rng.random(n), upper + 0.5 * rng.random(n)
    shift, other, gate = 0.1 * rng.random(k), np.full(k, 0.1), 0.4 * rng.random(k)
    new, least, others = upper + shift[labels], own - shift[labels], lower - 0.1
    by_gate, by_others = upper < gate[labels], new < others
    rows, tighten = np.empty(n, dtype=np.intp), np.empty(n, dtype=bool)
    n_open, n_gated = kernels.open_rows(labels, upper, own, lower, shift, other, gate, rows, tighten)
    assert rows[:n_open].tolist() == np.flatnonzero(~by_gate & ~by_others).tolist()
    assert n_gated == (by_gate & ~by_others).sum() > 0
    expected = least[rows[:n_open]] < np.maximum(others, gate[labels])[rows[:n_open]]
    assert np.array_equal(tighten[:n_open], expected) and expected.any() and not expected.all()
    assert (upper >= new).all() and (own <= least).all() and (lower <= others).all()


def test_nearest_is_argmin():
    rng = np.random.default_rng(9)
    products, half = rng.integers(0, 4, size=(7, 50)).astype(np.float32), rng.integers(0, 3, size=7).astype(np.float32)
    best, second, label = np.empty(50, np.float32), np.empty(50, np.float32), np.empty(50, np.int32)
    kernels.nearest(products, half, best, second, label)
    values = np.sort(half[:, None] - products, axis=0)
    assert np.array_equal(best, values[0]) and np.array_equal(second, values[1])
    assert np.array_equal(label, (half[:, None] - products).argmin(axis=0))


def test_the_first_bound_saves_nothing_that_the_second_does_not():
    rng = np.random.default_rng(4)
    for _ in range(50):
        old = rng.normal(size=(6, 3))
        new = old + rng.normal(size=(6, 3)) * 0.3
        table = make_table(np.zeros((9, 3)), np.ones(3))
        shift = np.linalg.norm(new - old, axis=1)
        move, _ = bounds.Gates(6, 1000, True).move(table, table.centres(old), new, shift, True)
        apart = np.linalg.norm(new[:, None] - new, axis=2) + np.diag(np.full(6, np.inf))
        across = np.linalg.norm(old[:, None] - new, axis=2) + np.diag(np.full(6, np.inf))
        np.testing.assert_allclose(move.gate, across.min(axis=1) / 2 - shift / 2, rtol=1e-9)
        assert (move.gate >= apart.min(axis=1) / 2 - shift - 1e-9).all()


def test_empty_clusters_stay_or_go_to_the_farthest_item():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    with pytest.warns(ConvergenceWarning, match="found 2 distinct clusters"):
        kept = AcceleratedKMeans(3, init=[[1.0], [50.0], [9.0]]).fit(X)
    assert kept.labels_.tolist() == [0, 0, 0, 2] and kept.cluster_centers_["view0"][1, 0] == 50.0
    moved = AcceleratedKMeans(3, init=[[1.0], [50.0], [9.0]], empty_clusters="farthest").fit(X)
    assert sorted(np.bincount(moved.labels_).tolist()) == [1, 1, 2] and moved.inertia_ == 0.5


def test_empty_clusters_as_in_scikit_learn():
    rng = np.random.default_rng(10)
    X = rng.normal(size=(400, 3)) + rng.normal(size=(8, 3))[rng.integers(8, size=400)] * 9
    start = np.concatenate([X[:7], [[1e3, 1e3, 1e3]]])  # the last has no item
    theirs = KMeans(8, init=start, n_init=1).fit(X)
    ours = AcceleratedKMeans(8, init=start, empty_clusters="farthest").fit(X)
    assert np.array_equal(ours.labels_, theirs.labels_) and ours.n_iter_ == theirs.n_iter_
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)


def test_one_cluster_as_many_as_items_and_duplicates():
    X = np.random.default_rng(5).normal(size=(7, 3))
    one = AcceleratedKMeans(1, random_state=0).fit(X)
    np.testing.assert_allclose(one.cluster_centers_["view0"][0], X.mean(axis=0), rtol=1e-12)
    assert AcceleratedKMeans(7, random_state=0).fit(X).inertia_ == pytest.approx(0.0, abs=1e-20)
    same = np.ones((5, 2))
    with pytest.warns(ConvergenceWarning):
        assert AcceleratedKMeans(3, random_state=0).fit(same).labels_.tolist() == [0] * 5


def test_the_result_does_not_depend_on_threads_or_blocks(monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(3000, 60)).astype(np.float32)
    settings = {"random_state": 0, "max_iter": 30}
    once = AcceleratedKMeans(40, n_jobs=1, **settings).fit(X)
    again = AcceleratedKMeans(40, n_jobs=3, **settings).fit(X)
    assert np.array_equal(once.labels_, again.labels_) and once.n_distances_ == again.n_distances_
    assert np.array_equal(once.objective_, again.objective_)
    monkeypatch.setattr(rounds, "MOST_ROWS", 100)
    other = AcceleratedKMeans(40, n_jobs=2, **settings).fit(X)
    assert np.array_equal(once.labels_, other.labels_) and once.n_iter_ == other.n_iter_


def test_several_views_stand_side_by_side():
    rng = np.random.default_rng(7)
    looks, tags = rng.normal(size=(80, 4)), (rng.random((80, 6)) < 0.4).astype(np.float64)
    joined = np.hstack([looks, tags])
    plain = AcceleratedKMeans(5, init=joined[:5]).fit(joined)
    for form in ({"looks": looks, "tags": tags}, {"looks": looks, "tags": sparse.csr_matrix(tags)}):
        start = {"looks": joined[:5, :4], "tags": joined[:5, 4:]}
        model = AcceleratedKMeans(5, init=start).fit(Views(form))
        assert np.array_equal(model.labels_, plain.labels_)
        together = np.hstack([model.cluster_centers_["looks"], model.cluster_centers_["tags"]])
        np.testing.assert_allclose(together, plain.cluster_centers_["view0"], rtol=1e-12, atol=1e-12)
    looks[3] = np.nan
    holes = AcceleratedKMeans(5, random_state=0).fit({"looks": looks, "tags": tags})
    np.testing.assert_allclose(holes.view_fill_["looks"], np.delete(looks, 3, axis=0).mean(axis=0))


def test_wrong_settings_are_named():
    X = np.zeros((5, 2))
    for settings, words in (
        ({"init": "best"}, "init must be 'k-means\\+\\+', 'random' or an array"),
        ({"init": np.zeros((3, 2))}, "2 centres of 2 features; got shape \\(3, 2\\)"),
        ({"init": [[0.0, np.nan], [1.0, 1.0]]}, "finite"),
        ({"init": {"other": np.zeros((2, 2))}}, "for each view \\(view0\\)"),
        ({"n_init": 0}, "n_init"),
        ({"tol": -1.0}, "tol"),
        ({"empty_clusters": "drop"}, "empty_clusters"),
    ):
        with pytest.raises(ParameterError, match=words):
            AcceleratedKMeans(**{"n_clusters": 2, **settings}).fit(X)


def test_progress_is_told(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        AcceleratedKMeans(2, init=[[0.0], [1.0]], verbose=2).fit([[11.0], [0.0], [1.0]])
    told = capsys.readouterr().err
    assert "round 1: inertia 100, 3 items moved" in told and "given centres: inertia 0.5, 3 rounds" in told


def test_bounds_that_do_not_pay_rest_twice_as_long_each_time():
    table = make_table(np.zeros((64, 512), dtype=np.float32), np.ones(512))
    pairs = bounds.PairBounds(table, 60, 64)
    assert pairs.useful and not pairs.cheap
    tried = []
    for _ in range(20):
        pairs.next_round(np.zeros(60))
        tried.append(pairs.told(10).active)
        if pairs.told(10).keeps(0):
            pairs.count(100, 0, 100)  # of all rows that had bounds none was settled
    assert "".join("+" if one else "-" for one in tried) == "+-+--+----+--------+"
    pairs.next_round(np.zeros(60))
    while not pairs.told(10).active:
        pairs.next_round(np.zeros(60))
    pairs.count(100, 100, 0)  # now they settle all
    pairs.next_round(np.zeros(60))
    assert pairs.told(10).everywhere and pairs.told(10).keeps(1)


def test_what_clusters_hold_and_who_moved_is_counted_as_numpy_counts_it():
    rng = np.random.default_rng(0)
    old, new = rng.integers(-1, 5, 300).astype(np.int32), rng.integers(0, 5, 300).astype(np.int32)
    old[:150] = new[:150]
    weight, norms = rng.integers(0, 4, 300).astype(float), rng.integers(0, 9, 300) / 8  # sums are exact
    mass, held, came, gone = np.zeros((4, 6))
    touched, changed = np.zeros(6, dtype=bool), np.empty(300, dtype=np.intp)
    n_changed = kernels.count_rows(old, new, weight, norms, mass, held, came, gone, touched, changed)
    moved = np.flatnonzero(old != new)
    left = moved[old[moved] >= 0]
    assert np.array_equal(changed[:n_changed], moved) and 0 < left.size < moved.size < 150
    assert np.array_equal(mass, np.bincount(new, weight, 6))
    assert np.array_equal(held, np.bincount(new, weight * norms, 6))
    assert np.array_equal(came, np.bincount(new[moved], (weight * norms)[moved], 6))
    assert np.array_equal(gone, np.bincount(old[left], (weight * norms)[left], 6))
    assert np.array_equal(np.flatnonzero(touched), np.union1d(new[moved], old[left]))
