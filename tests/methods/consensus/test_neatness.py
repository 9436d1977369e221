"""How neatly items fall into parts: by hand, by its limits, and what must not change it."""

import numpy as np
import pytest

from manyview.methods.consensus import _neatness as module
from manyview.methods.consensus import number
from manyview.methods.consensus._neatness import neatness


def indicators(sizes):
    """What the leading eigenvectors of separate parts are: one for each part, and nothing elsewhere."""
    part = np.repeat(np.arange(len(sizes)), sizes)
    return np.eye(len(sizes))[part] / np.sqrt(sizes)[part][:, None], part


def turned(vectors, seed=0):
    rng = np.random.default_rng(seed)
    return vectors @ np.linalg.qr(rng.normal(size=(vectors.shape[1],) * 2))[0]


def test_even_parts_are_perfectly_neat_however_their_vectors_are_turned():
    vectors, _ = indicators([12, 12, 12, 12])
    for seed in range(3):
        assert neatness(turned(vectors, seed), np.array([4]), 0) == pytest.approx([1.0])


def test_uneven_parts_by_hand():
    """Two items in three quarters and one quarter: shares 1, entropy of (3/4, 1/4) over that of halves."""
    vectors, _ = indicators([30, 10])
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25)) / np.log(2)
    assert neatness(turned(vectors), np.array([2]), 0) == pytest.approx([(1 + entropy) / 2])


def test_items_between_two_parts_by_hand():
    """Ten items at each end and two in the middle, whose squares are halved."""
    rows = np.vstack([np.tile([1.0, 0.0], (10, 1)), np.tile([0.0, 1.0], (10, 1)), np.tile([0.6, 0.6 - 1e-9], (2, 1))])
    share = (20 + 2 * 0.5) / 22
    entropy = -(12 / 22 * np.log(12 / 22) + 10 / 22 * np.log(10 / 22)) / np.log(2)
    assert neatness(rows, np.array([2]), 0) == pytest.approx([(share + entropy) / 2], abs=1e-6)


def test_the_order_of_items_changes_nothing():
    vectors = np.linalg.qr(np.random.default_rng(1).normal(size=(90, 12)))[0]
    numbers = np.arange(2, 13)
    found = neatness(vectors, numbers, 0)
    mixed = np.random.default_rng(2).permutation(90)
    np.testing.assert_allclose(neatness(vectors[mixed], numbers, 0), found, atol=1e-12)
    assert (found < 0.95).all() and (found > 0.3).all()


def test_rows_of_nothing_and_empty_parts_are_no_trouble():
    vectors, _ = indicators([8, 8, 8])
    vectors = np.vstack([vectors, np.zeros((3, 3))])
    assert np.isfinite(neatness(vectors, np.array([2, 3]), 0)).all()
    same = np.zeros((20, 2))
    same[:, 0] = 1
    assert 0 <= neatness(same, np.array([2]), 0)[0] <= 1


def test_many_numbers_are_interpolated_and_many_items_drawn(monkeypatch):
    vectors = turned(indicators([6] * 50)[0])
    numbers = np.arange(3, 51)
    looked_at = module._some(numbers)
    assert looked_at[0] == 3 and looked_at[-1] == 50 and set(range(3, 31)) <= set(looked_at.tolist())
    assert looked_at.size < numbers.size
    found = neatness(vectors, numbers, 0)
    monkeypatch.setattr(module, "_ALL", 50)
    every = neatness(vectors, numbers, 0)
    where = np.isin(numbers, looked_at)
    np.testing.assert_allclose(found[where], every[where])
    assert np.abs(found - every).max() < 0.05
    monkeypatch.setattr(module, "_MOST_ITEMS", 150)
    assert np.abs(neatness(vectors, numbers, 0) - every).max() < 0.1


def test_an_earlier_edition_had_none():
    plain = number._too_few(2).to_dict()
    del plain["neatness"], plain["region"]
    assert number.ClusterNumbers.from_dict(plain).neatness.size == 0
