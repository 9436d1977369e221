"""More like these: likeness to several items, told against pairs picked blindly."""

import itertools

import numpy as np
import pytest
from scipy.sparse import random as draw_sparse

from manyview import Views
from manyview.describe import alike
from manyview.describe._grouping import check_grouping
from manyview.describe.alike import BlindPairs, likeness_to
from manyview.describe.likeness import compare_views, measure_likeness


@pytest.fixture
def views(seed):
    """Forty items of two views; one lacks the first, one the second, one both."""
    rng = np.random.default_rng(seed)
    dense = rng.normal(size=(40, 4)) + 2.0 * np.repeat(np.eye(4), 10, axis=0)
    dense[[5, 9]] = np.nan
    words = draw_sparse(40, 25, density=0.3, format="csr", random_state=rng)
    mask = np.ones((40, 2), dtype=bool)
    mask[[5, 9], 0] = False
    mask[[9, 30], 1] = False
    return Views({"looks": dense, "words": words}, mask=mask)


def by_hand(views, weights, first, second):
    """Likeness of two items as the docstring of ``likeness`` has it, a number at a time."""
    total = say = 0.0
    for v, name in enumerate(views.names):
        rows, there = views[name], views.mask[:, v]
        if hasattr(rows, "toarray"):
            rows = rows.toarray().astype(float)
            used = (rows[there] > 0).sum(axis=0)
            rows = np.log1p(rows) * (np.log((1.0 + there.sum()) / (1.0 + used)) + 1.0)
        else:
            known = rows[there]
            spread = known.std(axis=0)
            rows = np.column_stack([(rows - known.mean(axis=0)) / spread, np.full(len(rows), 2.0)])
        units = {i: rows[i] / np.linalg.norm(rows[i]) for i in np.flatnonzero(there)}
        if first not in units or second not in units:
            continue
        base = np.mean([units[a] @ units[b] for a, b in itertools.combinations(units, 2)])
        total += weights[v] * (units[first] @ units[second] - base) / (1.0 - base)
        say += weights[v]
    return total / say if say else np.nan


def test_likeness_of_two_is_as_worked_out_by_hand(views):
    weights = [0.7, 0.3]
    compared = compare_views(views, weights)
    found = compared.of_items(slice(0, 12), [3, 30, 9])
    expected = [[by_hand(views, weights, i, j) for j in (3, 30, 9)] for i in range(12)]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_clusters_do_not_change_it(views):
    grouped = measure_likeness(views, check_grouping(np.arange(40) % 3), [0.7, 0.3])
    alone = compare_views(views, [0.7, 0.3])
    np.testing.assert_allclose(grouped.of_items([1, 2], [3, 4, 5]), alone.of_items([1, 2], [3, 4, 5]), atol=1e-9)


def test_to_several_the_nearer_half_counts(views):
    compared, asked = compare_views(views), np.array([0, 12, 30, 5, 9])
    pairs = compared.of_items(slice(0, 40), asked)
    found = likeness_to(compared, asked)
    assert np.isnan(found[9]) and not np.isnan(np.delete(found, 9)).any()
    for row in np.delete(np.arange(40), 9):
        known = sorted((value for value in pairs[row] if value == value), reverse=True)
        near = known[: (len(known) + 1) // 2]
        assert found[row] == pytest.approx(sum(near) / len(near)), row
    np.testing.assert_allclose(likeness_to(compared, asked[:1]), pairs[:, 0], rtol=0, atol=1e-6)


def test_blocks_do_not_change_it(views, monkeypatch):
    compared, asked = compare_views(views), np.array([0, 12])
    whole = likeness_to(compared, asked)
    monkeypatch.setattr(alike, "row_blocks", lambda n, _: [slice(s, min(s + 7, n)) for s in range(0, n, 7)])
    np.testing.assert_allclose(likeness_to(compared, asked), whole, atol=1e-6)


def test_the_share_counts_the_pairs_that_are_less_alike(views):
    compared = compare_views(views)
    pairs = [compared.of_items([i], [j])[0, 0] for i, j in itertools.combinations(range(40), 2)]
    known = np.array([value for value in pairs if value == value])
    for asked in (-1.0, 0.0, 0.3, 0.9):
        expected = min(1.0, (known < asked - 1e-6).sum() / (known.size - 1))
        assert BlindPairs(compared).share(asked) == pytest.approx(expected)
    assert np.isnan(BlindPairs(compared).share(np.nan))


def test_the_share_means_the_same_whatever_the_views(seed):
    """One pair in a hundred is above 99 %, with items that hardly differ and with items that hardly agree."""
    rng = np.random.default_rng(seed)
    for rows in (rng.normal(size=(400, 3)), 5.0 + rng.random(size=(400, 60)), rng.normal(size=(400, 200))):
        compared = compare_views(Views({"looks": rows}))
        shares = BlindPairs(compared).share(compared.of_items(slice(0, 400), slice(0, 400))[np.triu_indices(400, 1)])
        for least in (0.5, 0.9, 0.99, 0.999):
            assert (shares >= least).mean() == pytest.approx(1.0 - least, rel=0.02, abs=2e-5)


def test_what_no_view_tells_apart_is_the_same_in_a_collection_of_any_size():
    """Three pictures of one thing among six: a fifth of all pairs is equal, and each of these at 100 % all the same."""
    rows = np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0], [3.0, 1.0], [1.0, 5.0], [2.0, 9.0]])
    compared = compare_views(Views({"looks": rows}))
    found = BlindPairs(compared).share(likeness_to(compared, np.array([0])))
    assert found[1] == found[2] == 1.0 and (found[3:] < 1.0).all()


def test_many_items_are_judged_by_a_draw(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    compared = compare_views(Views({"looks": rng.normal(size=(600, 5))}))
    every = BlindPairs(compared)
    monkeypatch.setattr(alike, "MOST_COMPARED", 200)
    some, again, other = (BlindPairs(compared, seed=draw) for draw in (0, 0, 1))
    asked = np.linspace(-0.5, 1.0, 30)
    np.testing.assert_array_equal(some.share(asked), again.share(asked))
    assert (some.share(asked) != other.share(asked)).any()
    np.testing.assert_allclose(some.share(asked), every.share(asked), atol=0.03)


def test_nobody_to_compare_with(views):
    compared = compare_views(views)
    assert np.isnan(likeness_to(compared, np.array([], dtype=np.intp))).all()
    assert np.isnan(likeness_to(compared, np.array([9]))).all()
