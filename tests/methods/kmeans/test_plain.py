"""Plain k-means for other methods: Lloyd's labels from starts that a seed decides, on every engine."""

import numpy as np
import pytest
from scipy import sparse

from manyview.blocks import workers
from manyview.engines.jobs import alone, each
from manyview.engines.local import LocalEngine
from manyview.methods.kmeans.plain._kernels import far_apart, mean_variance
from manyview.methods.kmeans.plain.runs import PlainTable, nearest_centres, plain_kmeans, short_kmeans

from .kmeans_reference import inertia, lloyd


def groups(rng, n_rows=300, width=6, n_groups=5, dtype=np.float32):
    return (4 * rng.normal(size=(n_groups, width))[rng.integers(n_groups, size=n_rows)]
            + rng.normal(size=(n_rows, width))).astype(dtype)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_labels_are_those_of_lloyd(seed, init, dtype):
    rows = groups(np.random.default_rng(seed), dtype=dtype)
    start = plain_kmeans(rows, 5, init, 1, seed, alone())
    expected, centres = lloyd(rows, start.centres)
    found = plain_kmeans(rows, 5, start.centres, 300, 0, alone())
    if len(np.unique(expected[-1])) == 5:  # else an empty cluster is put elsewhere
        np.testing.assert_allclose(found.inertia, inertia(rows, found.labels, found.centres), rtol=1e-9)
        assert inertia(rows, expected[-1], centres) <= found.inertia * (1 + 1e-3)  # which stops a little earlier
    np.testing.assert_array_equal(nearest_centres(PlainTable.of(rows), found.centres, alone()), found.labels)


def test_starts_are_the_draws_of_scikit_learn(seed):
    """So that answers stay what they were when it made them."""
    from sklearn.cluster import KMeans

    rows = groups(np.random.default_rng(seed), dtype=np.float64)
    rows -= rows.mean(axis=0)
    for init in ("random", "k-means++"):
        theirs = KMeans(7, init=init, n_init=1, max_iter=15, random_state=seed).fit(rows)
        ours = plain_kmeans(rows, 7, init, 15, seed, alone())
        np.testing.assert_array_equal(ours.labels, theirs.labels_)
        np.testing.assert_allclose(ours.inertia, theirs.inertia_, rtol=1e-9)


def test_sparse_rows_are_as_good_as_dense_ones(seed):
    from sklearn.cluster import KMeans

    rows = sparse.random(300, 20, density=0.3, format="csr", random_state=seed)
    for init in ("random", "k-means++"):
        theirs = KMeans(6, init=init, n_init=1, max_iter=15, random_state=seed).fit(rows)
        ours = plain_kmeans(rows, 6, init, 15, seed, alone())
        np.testing.assert_array_equal(ours.labels, theirs.labels_)
        dense = plain_kmeans(rows.toarray(), 6, init, 15, seed, alone())
        np.testing.assert_array_equal(ours.labels, dense.labels)
        np.testing.assert_allclose(ours.inertia, dense.inertia, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_starts_are_drawn_by_their_distance_from_those_before(seed, dtype):
    """What is left out because it cannot matter does not: the seeds of a loop that computes every distance."""
    rng = np.random.default_rng(seed)
    rows, uniform = groups(rng, dtype=dtype), rng.random((11, 4))
    seeds = np.full(12, 3, dtype=np.intp)
    far_apart(rows, uniform, seeds)
    wide, expected = rows.astype(np.float64), [3]
    squares = ((wide[:, None] - wide) ** 2).sum(axis=2)
    for draws in uniform:
        nearest = squares[expected].min(axis=0)
        tries = np.searchsorted(np.cumsum(nearest), draws * nearest.sum(), side="right")
        expected.append(tries[np.argmin([np.minimum(nearest, squares[t]).sum() for t in tries])])
    np.testing.assert_array_equal(seeds, expected)


def test_the_mean_variance_of_a_feature(seed):
    rows = groups(np.random.default_rng(seed)) + 1000
    assert np.isclose(mean_variance(rows), rows.astype(np.float64).var(axis=0).mean(), rtol=1e-9)


@pytest.mark.parametrize("n_different", [1, 2, 4])
@pytest.mark.parametrize("init", ["random", "k-means++"])
def test_fewer_different_rows_than_clusters(n_different, init):
    rows = np.repeat(np.arange(n_different, dtype=np.float32), 9)[:, None] + np.zeros((1, 3), np.float32)
    found = plain_kmeans(rows, 6, init, 15, 0, alone())
    assert found.inertia == 0 and np.unique(found.labels).size == n_different


def test_threads_change_nothing(seed, monkeypatch):
    from manyview.methods.kmeans import _accelerated_rounds

    monkeypatch.setattr(_accelerated_rounds, "MOST_ROWS", 64)
    monkeypatch.setattr(_accelerated_rounds, "BLOCK_BYTES", 4096)
    rows = groups(np.random.default_rng(seed), 900)
    one = plain_kmeans(rows, 8, "random", 20, seed, alone())
    with workers(3) as threads:
        three = plain_kmeans(rows, 8, "random", 20, seed, LocalEngine(threads))
    np.testing.assert_array_equal(one.labels, three.labels)
    np.testing.assert_array_equal(one.centres, three.centres)


def test_short_ones_have_one_to_three_times_the_clusters(seed):
    rows = groups(np.random.default_rng(seed))
    sizes = [len(short_kmeans(rows, 4, np.random.default_rng(s), alone()).centres) for s in range(30)]
    assert min(sizes) >= 4 and max(sizes) <= 12 and len(set(sizes)) > 5
    assert len(short_kmeans(rows[:9], 4, np.random.default_rng(0), alone()).centres) == 3  # a third of the rows


def _number(job, shared, engine):
    return job * shared, engine.threads.n_threads


def test_jobs_come_back_in_order_and_work_alone():
    with workers(3) as threads:
        made = list(each(LocalEngine(threads), _number, list(range(20)), 2, 1.0))
    assert made == [(2 * job, 1) for job in range(20)]


def test_one_table_is_placed_among_any_number_of_centres(seed):
    """Wide rows, for which bounds of every row and centre would be kept: nothing is kept for one pass."""
    rng = np.random.default_rng(seed)
    table = PlainTable.of(rng.normal(size=(400, 700)).astype(np.float32))
    for n_centres in (12, 90, 40):
        centres = rng.normal(size=(n_centres, 700))
        expected = ((table.matrix[:, None].astype(np.float64) - centres) ** 2).sum(axis=2).argmin(axis=1)
        np.testing.assert_array_equal(nearest_centres(table, centres, alone()), expected)
    kept = table.source.rows(0, 400).kept
    assert not any(key[0] == "pairs" for key in kept)
