"""HOG3D: against a literal version, numbers worked out by hand, and what must not change it."""

from itertools import product

import numpy as np
import pytest

from manyview.errors import ParameterError, ViewError
from manyview.features.clips.hog3d import DIRECTIONS, hog3d


def burst(seed=0, shape=(6, 24, 20)):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def literal(volume, width):
    """One patch after another, one cell, one block, one pixel at a time."""
    volume = volume.astype(np.float64)
    in_time, down, across = np.gradient(volume)
    patches = []
    for t0, y0, x0 in product(*(range(0, n - need + 1, step) for n, need, step in starts(volume.shape, width))):
        histogram, strengths = np.zeros((3, 4, 4, 20)), []
        for cell in np.ndindex(3, 4, 4):
            for block in np.ndindex(2, 2, 2):
                t = t0 + 2 * cell[0] + block[0]
                half = width // 2
                y, x = (at + width * c + half * b for at, c, b in zip((y0, x0), cell[1:], block[1:], strict=True))
                mean = np.zeros(3)
                for i, j in np.ndindex(half, half):
                    mean += [part[t, y + i, x + j] / half**2 for part in (across, down, in_time)]
                length = np.sqrt((mean**2).sum())
                strengths.append(length)
                if length:
                    votes = np.array([max(0.0, mean @ d / length - np.sqrt(5) / 3) for d in DIRECTIONS.astype(float)])
                    histogram[cell] += length * votes / np.sqrt((votes**2).sum())
        row = histogram.ravel()
        if 2 * np.mean(strengths) < 1.0:
            patches.append(np.zeros(row.size))
            continue
        row = np.minimum(row / np.sqrt((row**2).sum()), 0.25)
        patches.append(512 * row / np.sqrt((row**2).sum()))
    return np.array(patches)


def starts(shape, width):
    return ((shape[0], 6, 4), (shape[1], 4 * width, 2 * width), (shape[2], 4 * width, 2 * width))


@pytest.mark.parametrize(("shape", "width"), [((6, 24, 20), 4), ((10, 13, 9), 2)])
def test_equals_the_literal_version(shape, width):
    frames = burst(shape=shape)
    expected = literal(frames, width)
    found, positions = hog3d(frames, cell_widths=[width])
    assert len(expected) > 1 and found.shape == expected.shape == (len(positions), 960)
    assert np.abs(found - expected).max() <= 0.51  # rounded to bytes


def test_the_directions_are_those_of_an_icosahedron():
    np.testing.assert_allclose(np.linalg.norm(DIRECTIONS, axis=1), 1, rtol=1e-6)
    cosines = np.sort((DIRECTIONS @ DIRECTIONS.T).astype(float), axis=1)
    # each face has itself, three neighbours, and one that lies opposite
    np.testing.assert_allclose(cosines[:, -4:], [[np.sqrt(5) / 3] * 3 + [1]] * 20, atol=1e-6)
    np.testing.assert_allclose(cosines[:, 0], -1, atol=1e-6)


def test_a_ramp_by_hand():
    """Grey levels that rise by (1, 1, 1) across, down and in time lie on one direction in every cell of 48."""
    t, y, x = np.mgrid[:6, :16, :16]
    found, positions = hog3d(4 * (t + y + x), cell_widths=[4])
    on_it = np.flatnonzero((DIRECTIONS > 0).all(axis=1))
    assert on_it.size == 1 and found.shape == (1, 960)
    cells = found.reshape(48, 20)
    assert (cells[:, on_it[0]] == np.rint(512 / np.sqrt(48))).all() and cells.sum() == 48 * np.rint(512 / np.sqrt(48))
    np.testing.assert_allclose(positions, [[0.5, 0.5]])


def test_a_direction_between_three_votes_for_all_of_them():
    """Straight across lies between two directions: each has half of the square of the length."""
    _, _, x = np.mgrid[:6, :16, :16]
    cells = hog3d(8 * x, cell_widths=[4])[0].reshape(48, 20)
    near = np.sort(DIRECTIONS[:, 0])[-2:]
    used = np.flatnonzero(cells[0])
    np.testing.assert_allclose(np.sort(DIRECTIONS[used, 0]), near)
    assert (cells[:, used] == np.rint(512 / np.sqrt(96))).all()


def test_brightness_and_contrast_do_not_count():
    frames = burst()
    first = hog3d(frames)[0]
    for other in (0.5 * frames, frames + 40.0, 0.25 * frames + 100):
        assert np.abs(hog3d(other)[0].astype(int) - first).max() <= 1  # float32
    assert first.any(axis=1).all()


def test_nothing_moves_and_nothing_is_there():
    assert not hog3d(np.full((6, 32, 32), 77, np.uint8))[0].any()
    still = hog3d(np.repeat(burst(shape=(1, 32, 32)), 6, axis=0))[0].reshape(-1, 3, 16, 20)
    assert still.any() and (still == still[:, :1]).all()  # the same at all times
    mirrored = [int(np.argmin(np.abs(DIRECTIONS - d * [1, 1, -1]).sum(axis=1))) for d in DIRECTIONS]
    np.testing.assert_array_equal(still, still[..., mirrored])  # neither before nor after


@pytest.mark.parametrize(("axis", "sign"), [(0, (1, 1, -1)), (1, (1, -1, 1)), (2, (-1, 1, 1))])
def test_played_backwards_or_mirrored(axis, sign):
    """Time reversed swaps early and late cells, and turns the directions round in time; likewise in space."""
    frames = burst(shape=(6, 16, 16))
    cells = hog3d(frames, cell_widths=[4])[0].reshape(3, 4, 4, 20)
    other = hog3d(np.flip(frames, axis), cell_widths=[4])[0].reshape(3, 4, 4, 20)
    turned = [int(np.argmin(np.abs(DIRECTIONS - d * np.array(sign)).sum(axis=1))) for d in DIRECTIONS]
    assert np.abs(np.flip(other, axis)[..., turned].astype(int) - cells).max() <= 1


def test_length_is_one():
    lengths = np.linalg.norm(hog3d(burst())[0] / 512, axis=1)
    np.testing.assert_allclose(lengths, 1, atol=0.01)


def test_grid_and_too_small_clips():
    found, positions = hog3d(burst(shape=(6, 64, 64)))
    assert found.shape == (7 * 7 + 3 * 3, 960) and ((positions > 0) & (positions < 1)).all()
    np.testing.assert_allclose(positions[[0, 1, 7]] * 64, [[8, 8], [16, 8], [8, 16]], rtol=1e-6)
    for shape in [(5, 64, 64), (1, 64, 64), (6, 15, 64), (6, 64, 1), (0, 8, 8)]:
        assert hog3d(np.zeros(shape, np.uint8))[0].shape == (0, 960)


def test_errors_say_what_to_do():
    with pytest.raises(ViewError, match=r"\(n_frames, height, width\), got \(8, 8\)"):
        hog3d(np.zeros((8, 8)))
    for widths in ((), (3,), (4, 2.5), (0,)):
        with pytest.raises(ParameterError, match="even integers of at least 2"):
            hog3d(burst(), cell_widths=widths)
