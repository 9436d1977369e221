"""LocalityCoding: LLC codes pooled over a spatial pyramid."""

import numpy as np
import pytest

import manyview
from manyview import LocalityCoding
from manyview.errors import ParameterError, ViewError
from manyview.features.locality_coding import local_codes, pooled

from .test_coding import stripes


def literal_codes(descriptor, words, k, beta):
    """One descriptor at a time, as the formula reads."""
    nearest = np.argsort(((words - descriptor) ** 2).sum(axis=1), kind="stable")[:k]
    Z = words[nearest] - descriptor
    G = Z @ Z.T
    G = G + beta * np.trace(G) * np.eye(k)
    u = np.linalg.solve(G, np.ones(k))
    full = np.zeros(len(words))
    full[nearest] = u / u.sum()
    return full


def test_codes_by_hand():
    words = np.array([[0.0], [1.0], [3.0]])
    found, codes = local_codes(np.array([[0.25]]), words, 2, 1e-4)
    assert found.tolist() == [[0, 1]]
    np.testing.assert_allclose(codes, [[0.74996875, 0.25003125]], atol=1e-8)
    _, at_word = local_codes(np.array([[1.0]]), words, 2, 1e-4)
    np.testing.assert_allclose(at_word, [[0, 1]], atol=2e-4)
    _, all_alike = local_codes(np.array([[2.0]]), np.array([[2.0], [2.0], [2.0]]), 3, 1e-4)
    np.testing.assert_allclose(all_alike, [[1 / 3, 1 / 3, 1 / 3]])


def test_codes_equal_the_formula(seed):
    rng = np.random.default_rng(seed)
    words, descriptors = rng.normal(size=(30, 16)), rng.normal(size=(500, 16))
    for k in (1, 5, 30):
        found, codes = local_codes(descriptors, words, k, 1e-4)
        np.testing.assert_allclose(codes.sum(axis=1), 1.0)
        full = np.zeros((500, 30))
        np.put_along_axis(full, found, codes, axis=1)
        expected = np.array([literal_codes(s, words, k, 1e-4) for s in descriptors])
        np.testing.assert_allclose(full, expected, atol=1e-8)


def test_pyramid_by_hand():
    row = pooled(np.array([[2]]), np.array([[1.0]]), np.array([[0.9, 0.1]]), [1, 2, 4], 5)
    assert row.shape == (21 * 5,) and row.dtype == np.float32
    cells = row.reshape(21, 5)
    assert np.flatnonzero(cells.any(axis=1)).tolist() == [
        0,
        1 + 1,
        5 + 3,
    ]  # whole, upper right, first line and last column
    np.testing.assert_allclose(cells[[0, 2, 8], 2], 1 / np.sqrt(3), rtol=1e-6)


def test_pooling_takes_the_largest_and_never_less_than_zero(seed):
    rng = np.random.default_rng(seed)
    words, codes = rng.integers(6, size=(40, 3)), rng.normal(size=(40, 3))
    positions = rng.random((40, 2))
    expected = np.zeros((1 + 9, 6))
    for word_row, code_row, (x, y) in zip(words, codes, positions, strict=True):
        for word, code in zip(word_row, code_row, strict=True):
            for cell in (0, 1 + 3 * int(y * 3) + int(x * 3)):
                expected[cell, word] = max(expected[cell, word], code)
    found = pooled(words, codes, positions, [1, 3], 6)
    np.testing.assert_allclose(found, (expected / np.linalg.norm(expected)).ravel(), rtol=1e-5)
    nothing = pooled(np.empty((0, 3), dtype=int), np.empty((0, 3)), np.empty((0, 2)), [1], 6)
    assert not nothing.any()


def test_pictures_and_descriptors(seed, tmp_path):
    pictures, kinds = stripes(seed)
    model = LocalityCoding(20, random_state=seed, n_jobs=1).fit(pictures)
    rows = model.transform(pictures)
    assert rows.shape == (12, 21 * 20) and rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, rtol=1e-5)
    nearest = (rows @ rows.T - 2 * np.eye(12)).argmax(axis=1)
    np.testing.assert_array_equal(kinds[nearest], kinds)
    described = [model._describe(picture) for picture in pictures]
    np.testing.assert_array_equal(model.transform(described), rows)
    again = LocalityCoding(20, random_state=seed, n_jobs=2).fit(described)
    np.testing.assert_array_equal(again.transform(pictures), rows)
    streamed = model.stream(iter(pictures))
    np.testing.assert_array_equal(next(streamed), rows[0])
    back = manyview.load(manyview.save(model, tmp_path / "coding"))
    np.testing.assert_array_equal(back.transform(pictures[:2]), rows[:2])
    assert model.transform([]).shape == (0, 420)
    names = model.get_feature_names_out()
    assert names.size == 420 and names[-1] == "level4_cell15_word19"


def test_errors_say_what_to_do():
    described = [(np.random.default_rng(0).random((40, 3)), np.full((40, 2), 0.5))]
    with pytest.raises(ParameterError, match="n_neighbors must be at most n_words"):
        LocalityCoding(4, n_neighbors=5).fit(described)
    with pytest.raises(ParameterError, match="pyramid must be an integer at least 1"):
        LocalityCoding(6, pyramid=(1, 0)).fit(described)
    with pytest.raises(ViewError, match="positions from 0 to below 1"):
        LocalityCoding(6).fit([(described[0][0], np.full((40, 2), 1.0))])
    with pytest.raises(ViewError, match="must come as a pair"):
        LocalityCoding(6).fit([(described[0][0], np.full((39, 2), 0.5))])
    with pytest.raises(ViewError, match="of 3 and of 4 numbers"):
        LocalityCoding(6).fit([*described, (np.ones((2, 4)), np.full((2, 2), 0.5))])
    model = LocalityCoding(6, random_state=0).fit(described)
    with pytest.raises(ViewError, match="learned from 3"):
        model.transform([(np.ones((2, 4)), np.full((2, 2), 0.5))])
    with pytest.raises(ViewError, match="no pictures"):
        LocalityCoding(6).fit([])
