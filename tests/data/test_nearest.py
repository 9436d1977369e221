"""The nearest rows: equal to sorting everything, whatever the blocks and whoever is left out."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.blocks import workers
from manyview.data import nearest
from manyview.data.nearest import alike_among, best_first, largest, most_alike, nearest_among, proposed_alike


def by_sorting(rows, k):
    """Squared distances added up in float64, sorted by distance and then by index."""
    rows = rows.astype(np.float64)
    distances = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    index = np.broadcast_to(np.arange(len(rows)), distances.shape)
    return np.lexsort((index, distances), axis=1)[:, :k]


@pytest.mark.parametrize("block_rows", [7, 256, 1_024])
@pytest.mark.parametrize("kind", ["normal", "grid", "copies", "far"])
def test_equals_sorting_for_any_block_size(kind, block_rows, monkeypatch):
    monkeypatch.setattr(nearest, "_QUERIES", block_rows)
    monkeypatch.setattr(nearest, "_CANDIDATES", 3 * block_rows)
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 5))
    if kind == "grid":  # ties everywhere
        rows = rng.integers(0, 4, size=(300, 3))
    elif kind == "copies":
        rows = np.repeat(rows[:20], 15, axis=0)
    elif kind == "far":  # where inner products lose digits
        rows = np.round(rows * 64) / 64 + 1_000
    rows = rows.astype(np.float32)
    with workers(2) as threads:
        found = nearest_among(rows, rows, 10, threads, own=np.arange(300, dtype=np.int32))
    assert np.array_equal(found, by_sorting(rows, 10))


def test_new_rows_find_their_copies():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 8)).astype(np.float32)
    with workers(2) as threads:
        found = nearest_among(rows[::5], rows, 3, threads)
        assert np.array_equal(found[:, 0], np.arange(0, 500, 5))
        assert nearest_among(rows[:0], rows, 3, threads).shape == (0, 3)


def test_squares_beyond_single_precision_leave_nobody_out():
    rows = np.array([[1e19], [2], [1e19], [0], [3e19]], dtype=np.float32)
    with workers(1) as threads, np.errstate(over="ignore", invalid="ignore"):
        found = nearest_among(rows, rows, 2, threads, own=np.arange(5, dtype=np.int32))
        few = nearest_among(rows, rows[:2], 2, threads)  # as many as are asked for
    assert found[[0, 1, 3]].tolist() == [[2, 1], [3, 0], [1, 0]]
    assert np.sort(few, axis=1).tolist() == [[0, 1]] * 5


@pytest.mark.parametrize("k", [1, 3, 10])
def test_a_bound_leaves_few_more_than_asked_for(k):
    from manyview.data._nearest_kernels import kth_at_most

    values = np.random.default_rng(k).normal(5.0, 0.1, size=700).astype(np.float32)
    values[:3] = np.inf, np.nan, 100.0
    assert k <= (values <= kth_at_most(values, k)).sum() <= k + 1 + k // 4
    assert (np.ones(20, dtype=np.float32) <= kth_at_most(np.ones(20, dtype=np.float32), k)).all()
    assert kth_at_most(values[:2], k) == np.inf


def test_rows_in_another_order_go_by_their_numbers():
    rows = np.random.default_rng(0).integers(3, size=(200, 3)).astype(np.float32)  # ties everywhere
    numbers = np.random.default_rng(1).permutation(200).astype(np.int32)
    own = np.arange(200, dtype=np.int32)
    with workers(1) as threads:
        expected = nearest_among(rows, rows, 7, threads, own=own)
        found = nearest_among(rows, rows[numbers], 7, threads, own=own, within=[(own, own)], numbers=numbers)
    np.testing.assert_array_equal(found, expected)


def test_only_the_rows_listed_are_looked_at():
    rows = np.array([[0], [1], [3], [7], [8]], dtype=np.float32)
    own = np.arange(5, dtype=np.int32)
    low, high = np.array([0, 1, 2], dtype=np.int32), np.array([2, 3, 4], dtype=np.int32)
    with workers(1) as threads:
        found = nearest_among(rows, rows, 1, threads, own=own, within=[(low[:2], low), (high, high)])
    assert found.ravel().tolist() == [1, 0, 3, 4, 3]  # 3 would be nearest to 1, which its group does not hold


@pytest.mark.parametrize("d", [0, 1, 3, 7, 8, 16, 31, 64, 100, 129, 300])
def test_distances_are_the_same_bits_whoever_proposed(d):
    from manyview.data._nearest_kernels import keep_nearest, keep_proposed

    rng = np.random.default_rng(d)
    rows = (100 * rng.normal(size=(200, d))).astype(np.float32)
    points, own = rows[:50], np.arange(50, dtype=np.int32)
    squares, index = np.einsum("ij,ij->i", rows, rows), np.arange(200, dtype=np.int32)
    here, there = nearest._empty_lists(50, 199), nearest._empty_lists(50, 199)
    keep_nearest(points, squares[:50], own, rows, squares, index, points @ rows.T, np.float32(1e-3), *here)
    keep_proposed(points, own, rows, np.array([rng.permutation(200) for _ in own], dtype=np.int32), *there)
    assert np.array_equal(here[1].view(np.int32), there[1].view(np.int32)) and np.array_equal(here[0], there[0])


class Some:
    """The eight nearest in no order, and the distance of the ninth, for 30 queries at once."""

    n_queries = 30

    def __init__(self, rows):
        self._rows = rows.astype(np.float64)

    def __call__(self, queries):
        squares = ((queries[:, None] - self._rows[None]) ** 2).sum(axis=2)
        order = np.argsort(squares, axis=1)[:, :9].astype(np.int32)
        return order[:, 7::-1].copy(), np.take_along_axis(squares, order[:, 8:], axis=1)[:, 0] * (1 - 1e-6)


@pytest.fixture
def asked():
    """What was asked of somebody who proposes, as a graphics processor does."""
    questions = []

    def propose(n_queries, rows, k):
        questions.append((n_queries, k))
        return Some(rows)

    token = nearest.PROPOSER.set(propose)
    yield questions
    nearest.PROPOSER.reset(token)


@pytest.mark.parametrize("kind", ["normal", "grid"])
def test_proposals_change_nothing(kind, asked):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 4)) if kind == "normal" else rng.integers(0, 3, size=(100, 3))  # ties: more than eight
    rows = rows.astype(np.float32)
    own = np.arange(100, dtype=np.int32)
    with workers(2) as threads:
        found = nearest_among(rows, rows, 5, threads, own=own)
        nearest_among(rows, rows, 5, threads, own=own, within=[(own, own)])  # groups are not asked for
    assert np.array_equal(found, by_sorting(rows, 5))
    assert asked == [(100, 5)]


def test_of_unit_rows_those_proposed_are_the_most_alike(asked):
    rows = np.random.default_rng(0).normal(size=(100, 4)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    own = np.arange(100, dtype=np.int32)
    with workers(2) as threads:
        expected = most_alike(rows, rows, 5, threads, own=own)
        found = proposed_alike(rows, rows, 5, threads, own=own)
        assert asked == [(100, 5)]
        nearest.PROPOSER.set(None)
        assert proposed_alike(rows, rows, 5, threads, own=own) is None
    assert np.array_equal(found[0], expected[0]) and found[1] == pytest.approx(expected[1], abs=1e-6)


def test_largest_and_best_first():
    scores = np.array([[3.0, 9.0, 4.0, 9.0], [1.0, -np.inf, 0.0, 2.0]])
    assert np.sort(largest(scores, 2)).tolist() == [[1, 3], [0, 3]]
    places, values = best_first(scores, 3)
    assert places.tolist() == [[1, 3, 2], [3, 0, 2]] and values.tolist() == [[9, 9, 4], [2, 1, 0]]
    assert best_first(scores[0], 9)[0].tolist() == [1, 3, 2, 0]  # more than there are


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("in_groups", [False, True])
def test_most_alike_equals_sorting(form, n_jobs, in_groups, monkeypatch):
    monkeypatch.setattr("manyview.blocks.BLOCK_BYTES", 20_000)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 6))
    present, own = rng.random(200) < 0.8, np.arange(200)
    products = rows @ rows.T
    products[:, ~present] = -np.inf
    np.fill_diagonal(products, -np.inf)
    within = None
    if in_groups:  # everybody looks among those of the same half
        within = [(own[own % 2 == half], own[own % 2 == half]) for half in (0, 1)]
        products[own[:, None] % 2 != own % 2] = -np.inf
    with workers(n_jobs) as threads:
        found = most_alike(form(rows), form(rows), 5, threads, present=present, own=own, within=within)
    assert found[0].tolist() == np.argsort(-products, axis=1, kind="stable")[:, :5].tolist()
    np.testing.assert_allclose(found[1], -np.sort(-products, axis=1)[:, :5])


def test_too_few_to_choose_from():
    rows = np.eye(3)
    with workers(1) as threads:
        ids, products = most_alike(rows, rows, 4, threads, own=np.arange(3))
    assert (products[:, :2] == 0).all() and (products[:, 2:] == -np.inf).all()
    assert ids[:, :2].tolist() == [[1, 2], [0, 2], [0, 1]]


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("share", [1.0, 0.6, 0.02])
def test_half_of_the_products_give_what_all_of_them_give(form, n_jobs, share, monkeypatch):
    monkeypatch.setattr("manyview.blocks.BLOCK_BYTES", 20_000)
    rng = np.random.default_rng(0)
    rows = rng.integers(-2, 3, size=(203, 4)).astype(np.float32)  # whole numbers: exact products, ties everywhere
    present = rng.random(203) < share
    watched = np.sort(rng.choice(203, size=17, replace=False))
    with workers(n_jobs) as threads:
        found = alike_among(form(rows), 9, threads, present, watched)
        expected = most_alike(form(rows), form(rows), 9, threads, present=present, own=np.arange(203))
    there = expected[1] > -np.inf
    assert np.array_equal(found[1], expected[1]) and np.array_equal(found[0][there], expected[0][there])
    assert there.all() == (share > 0.5)
    assert np.array_equal(found[2], rows @ rows[watched].T)
