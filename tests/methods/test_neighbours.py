"""Neighbours: equal to sorting all distances, whatever the blocks; cells lose few and never blow up."""

import numpy as np
import pytest

from manyview.blocks import workers
from manyview.methods import neighbours as _neighbours
from manyview.methods.neighbours import cells_of, nearest_among, nearest_neighbours


def by_sorting(rows, k):
    """Squared distances added up in float64, sorted by distance and then by index."""
    rows = rows.astype(np.float64)
    distances = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    index = np.broadcast_to(np.arange(len(rows)), distances.shape)
    return np.lexsort((index, distances), axis=1)[:, :k]


def test_four_numbers_on_a_line():
    rows = np.array([[0], [1], [3], [7]], dtype=np.float32)
    with workers(1) as threads:
        assert nearest_neighbours(rows, 1, threads).ravel().tolist() == [1, 0, 1, 2]


@pytest.mark.parametrize("block_rows", [7, 256, 1_024])
@pytest.mark.parametrize("kind", ["normal", "grid", "copies", "far"])
def test_equals_sorting_for_any_block_size(kind, block_rows, monkeypatch):
    monkeypatch.setattr(_neighbours, "_CANDIDATES", 3 * block_rows)
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
        assert np.array_equal(nearest_neighbours(rows, 10, threads, block_rows=block_rows), by_sorting(rows, 10))


def test_new_rows_find_their_copies():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 8)).astype(np.float32)
    with workers(2) as threads:
        found = nearest_among(rows[::5], rows, 3, threads)
        assert np.array_equal(found[:, 0], np.arange(0, 500, 5))
        assert nearest_among(rows[:0], rows, 3, threads).shape == (0, 3)


@pytest.mark.parametrize("leaves", [1_024, 8])
def test_cells_hold_everybody_and_find_most_neighbours(monkeypatch, leaves):
    monkeypatch.setattr(_neighbours, "_LEAVES", leaves)  # 8: two levels, as for a million items
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(6_000, 6)) + 3 * rng.normal(size=(6, 6))[np.arange(6_000) % 6]).astype(np.float32)
    with workers(2) as threads:
        exact = nearest_neighbours(rows, 10, threads)
        cells = cells_of(rows, threads, seed=0)
        assert np.array_equal(np.sort(np.concatenate(cells)), np.arange(6_000))
        assert max(map(len, cells)) <= 4 * _neighbours.CELL
        monkeypatch.setattr(_neighbours, "EXACT", 1_000)
        found = nearest_neighbours(rows, 10, threads)
    with workers(1) as threads:
        assert np.array_equal(nearest_neighbours(rows, 10, threads), found)
    shared = np.mean([len(set(a) & set(b)) for a, b in zip(exact.tolist(), found.tolist(), strict=True)]) / 10
    assert shared > 0.8
    assert not (found == np.arange(6_000)[:, None]).any()


def test_cells_of_one_point_many_times(monkeypatch):
    monkeypatch.setattr(_neighbours, "EXACT", 1_000)
    rows = np.zeros((3_000, 4), dtype=np.float32)
    rows[-5:] = 1
    with workers(1) as threads:
        cells = cells_of(rows, threads, seed=0)
        assert max(map(len, cells)) <= 4 * _neighbours.CELL
        found = nearest_neighbours(rows, 10, threads)
    assert ((found >= 0) & (found < 3_000)).all()
    assert all(len(set(row)) == 10 for row in found[::100].tolist())
    assert set(found[-1, :4].tolist()) == {2_995, 2_996, 2_997, 2_998}
