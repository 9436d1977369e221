"""Neighbours of all items: cells lose few and never blow up."""

import numpy as np
import pytest

from manyview.blocks import workers
from manyview.engines.local import LocalEngine
from manyview.methods import neighbours as _neighbours
from manyview.methods.neighbours import cells_of, nearest_neighbours


def test_four_numbers_on_a_line():
    rows = np.array([[0], [1], [3], [7]], dtype=np.float32)
    with workers(1) as threads:
        assert nearest_neighbours(rows, 1, threads).ravel().tolist() == [1, 0, 1, 2]


@pytest.mark.parametrize("leaves", [1_024, 8])
def test_cells_hold_everybody_and_find_most_neighbours(monkeypatch, leaves):
    monkeypatch.setattr(_neighbours, "_LEAVES", leaves)  # 8: two levels, as for a million items
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(6_000, 6)) + 3 * rng.normal(size=(6, 6))[np.arange(6_000) % 6]).astype(np.float32)
    with workers(2) as threads:
        exact = nearest_neighbours(rows, 10, threads)
        cells = cells_of(rows, LocalEngine(threads), seed=0)
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
        cells = cells_of(rows, LocalEngine(threads), seed=0)
        assert max(map(len, cells)) <= 4 * _neighbours.CELL
        found = nearest_neighbours(rows, 10, threads)
    assert ((found >= 0) & (found < 3_000)).all()
    assert all(len(set(row)) == 10 for row in found[::100].tolist())
    assert set(found[-1, :4].tolist()) == {2_995, 2_996, 2_997, 2_998}
