"""Unit rows and kernel features: the formulas, missing rows, constant and silent views."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview import Views
from manyview.blocks import workers
from manyview.completion.items import fit_items
from manyview.completion.view_space import fit_kernel, open_view

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(60, 5)) * [1, 10, 0.1, 1, 1] + 3


def space_of(matrix, present=None, n_landmarks=1000):
    present = np.ones(matrix.shape[0], dtype=bool) if present is None else present
    rng = np.random.default_rng(0)
    with workers(1) as threads:
        return fit_kernel(open_view("x", matrix, present, n_landmarks, rng, threads), None, rng, threads)


def test_dense_rows_are_standardised():
    expected = (DENSE - DENSE.mean(axis=0)) / DENSE.std(axis=0)
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert space_of(DENSE).units == pytest.approx(expected, abs=1e-4)
    assert space_of(DENSE * 1e-9).units == pytest.approx(expected, abs=1e-4)  # units of measurement do not matter


def test_sparse_rows_are_tf_idf():
    counts = np.array([[2.0, 0, 1], [0, 1, 0], [0, 0, 0], [1, 0, 0]])
    idf = np.log(5 / (np.array([2, 1, 1]) + 1)) + 1
    expected = np.log1p(counts) * idf
    expected[[0, 1, 3]] /= np.linalg.norm(expected[[0, 1, 3]], axis=1, keepdims=True)
    space = space_of(csr_matrix(counts))
    assert space.units.toarray() == pytest.approx(expected, abs=1e-6)
    assert space.has.tolist() == [True, True, False, True]
    assert not space.features(space.units)[2].any()


def test_features_give_the_kernel_back():
    space = space_of(DENSE)
    cosine = space.units @ space.units.T
    kernel = np.exp(-np.maximum(0, 2 - 2 * cosine) / space.width)
    features = space.features(space.units) + space.centre
    assert features @ features.T == pytest.approx(kernel, abs=2e-3)  # directions below 1e-4 are dropped
    assert space.features(space.units).mean(axis=0) == pytest.approx(0, abs=1e-5)
    assert space.width == pytest.approx(2 * np.median(2 - 2 * cosine), rel=1e-3)


def test_missing_rows_are_no_evidence_and_do_not_count():
    present = np.arange(60) < 40
    gappy = DENSE.copy()
    gappy[40:] = np.nan
    space, whole = space_of(gappy, present), space_of(DENSE[:40])
    assert not space.units[40:].any() and not space.features(space.units)[40:].any()
    assert space.units[:40] == pytest.approx(whole.units)
    assert space.features(space.units)[:40] == pytest.approx(whole.features(whole.units), abs=1e-4)


@pytest.mark.parametrize("matrix", [np.full((9, 3), 0.1), csr_matrix((9, 3)), np.full((9, 3), np.nan)])
def test_a_view_that_says_nothing(matrix):
    present = np.full(9, not np.isnan(matrix).any() if isinstance(matrix, np.ndarray) else True)
    space = space_of(matrix, present)
    assert not space.has.any() and space.features(space.units).shape == (9, 0)


def test_huge_tiny_and_new_values():
    for factor in (1e30, 1e-30):
        assert np.isfinite(space_of((DENSE * factor).astype(np.float32)).units).all()
    usual = space_of(DENSE).units
    for factor, offset in ((1e160, 0), (1e280, 0), (1e-160, 0), (1e-290, 0), (1, 1e8), (1e160, 1e8)):
        assert space_of((DENSE + offset) * factor).units == pytest.approx(usual, abs=1e-5)
    space = space_of(DENSE, n_landmarks=20)
    assert space.new_units(DENSE[:4], np.ones(4, dtype=bool)) == pytest.approx(space.units[:4])
    assert space.features(space.units).shape[1] <= 20


@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_cosines_at_hand_give_the_same_kernel(form):
    present = np.arange(60) != 7
    views = Views({"x": form(np.where(present[:, None], DENSE, 0.0))}, mask=present[:, None])
    with workers(1) as threads:
        items = fit_items(views, 60, 20, 5, np.random.default_rng(0), threads, lambda text: None)
    space, alone = items.spaces[0], space_of(views["x"], present, n_landmarks=20)
    assert np.array_equal(space.landmarks, alone.landmarks) and space.width == pytest.approx(alone.width, rel=1e-5)
    everyone = np.arange(60)
    assert items.features(everyone) == pytest.approx(items.forgetting().features(everyone), abs=1e-4)
    assert items.features(everyone) == pytest.approx(alone.features(alone.units), abs=1e-3)
    assert not items.features(everyone)[7].any()
