"""Neighbours: the exact search against a plain one, and the lists against the exact search."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.blocks import workers
from manyview.completion.neighbours import nearest
from manyview.completion.neighbours.nearest import find_nearest, make_lists, nearest_of_all


def units(n_items=300, n_features=8, seed=0, n_centres=12):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_centres, n_features))[rng.integers(n_centres, size=n_items)] * 2
    rows = (rows + rng.normal(size=rows.shape)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def sorted_by_hand(queries, rows, k, threads, own):
    products = queries @ rows.T
    products[own >= 0, own[own >= 0]] = -2
    best = np.argsort(-products, axis=1, kind="stable")[:, :k]
    return best.astype(np.int32), np.take_along_axis(products, best, axis=1)


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("proposed", [False, True])
def test_exact_search(form, n_jobs, proposed, monkeypatch):
    """Also by what somebody proposes; sparse rows are never asked about."""
    monkeypatch.setattr("manyview.blocks.BLOCK_BYTES", 50_000)
    rows = units()
    asked = []
    if proposed:
        monkeypatch.setattr(nearest, "proposed_alike", lambda *of, **to: asked.append(of) or sorted_by_hand(*of, **to))
    has = np.random.default_rng(1).random(300) < 0.8
    rows[~has] = 0
    with workers(n_jobs) as threads:
        found = nearest_of_all(form(rows), has, 5, threads)[0]
    assert bool(asked) == (proposed and form is np.asarray)
    cosine = rows @ rows.T
    np.fill_diagonal(cosine, -1)
    cosine[:, ~has] = -1
    best = np.sort(cosine, axis=1)[:, ::-1][:, :5]
    assert found.cosines[has] == pytest.approx(best[has], abs=1e-6)
    assert not found.cosines[~has].any()
    assert np.take_along_axis(cosine, found.items.astype(int), axis=1)[has] == pytest.approx(best[has], abs=1e-6)


def test_fewer_items_than_neighbours():
    rows = units(n_items=3, n_centres=1)
    with workers(1) as threads:
        found = nearest_of_all(rows, np.ones(3, dtype=bool), 5, threads)[0]
    assert (found.cosines[:, 2:] == 0).all() and (found.items < 3).all()


def test_lists_find_most_of_them():
    rows = units(n_items=2_000, n_features=16, n_centres=40)
    has = np.ones(2_000, dtype=bool)
    has[:50] = False
    with workers(2) as threads:
        exact = nearest_of_all(rows, has, 10, threads)[0]
        lists = make_lists(rows, has, np.random.default_rng(0))
        near = nearest_of_all(rows, has, 10, threads, lists)[0]
        new = find_nearest(rows[50:60], rows, has, 10, threads, lists=lists)
    shared = [np.intersect1d(a, b).size for a, b in zip(exact.items[50:], near.items[50:], strict=True)]
    assert np.mean(shared) > 9
    assert (new.items[:, 0] == np.arange(50, 60)).all()  # a new item may be near to its own likeness
    assert np.isin(near.items[near.cosines > 0], np.arange(50), invert=True).all()
