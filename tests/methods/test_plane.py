"""Points on a plane: near stays near, the seed decides, and a layout goes on from an earlier one."""

import numpy as np
import pytest

from manyview.blocks import workers
from manyview.methods import plane
from manyview.methods._plane_kernels import move_points
from manyview.methods.plane import align, lay_out_points, principal_plane


def groups(n, n_groups=4, width=8, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % n_groups
    return (6.0 * np.eye(width)[labels] + rng.normal(size=(n, width))).astype(np.float32), labels


def laid(points, n_jobs=1, **options):
    with workers(n_jobs) as threads:
        return lay_out_points(points, threads, **options)


def kept(points, places, k=10):
    """Share of the nearest points that are among the nearest on the plane."""

    def nearest(rows):
        apart = np.linalg.norm(rows[:, None] - rows, axis=2)
        np.fill_diagonal(apart, np.inf)
        return np.argsort(apart, axis=1)[:, :k]

    pairs = zip(nearest(points).tolist(), nearest(places).tolist(), strict=True)
    return np.mean([len(set(a) & set(b)) / k for a, b in pairs])


def test_what_is_near_stays_near_better_than_on_the_plane_through_it():
    points, labels = groups(240)
    places = laid(points)
    assert kept(points, places) > 1.3 * kept(points, principal_plane(points))
    near = np.linalg.norm(places[:, None] - places, axis=2)
    np.fill_diagonal(near, np.inf)
    assert (labels[near.argmin(axis=1)] == labels).mean() > 0.99


def test_the_seed_decides_and_threads_do_not():
    points, _ = groups(120)
    assert np.array_equal(laid(points, seed=3), laid(points, seed=3, n_jobs=2))
    assert not np.array_equal(laid(points, seed=3), laid(points, seed=4))


def test_few_points_lie_on_the_plane_through_them():
    points, _ = groups(plane.FEWEST - 1)
    assert np.array_equal(laid(points), principal_plane(points))
    start = np.arange(2.0 * len(points)).reshape(-1, 2)
    assert np.array_equal(laid(points, start=start), start)


@pytest.mark.parametrize("points", [np.zeros((40, 3)), np.ones((40, 1)), np.arange(40.0)[:, None], np.eye(40)])
def test_odd_points(points):
    places = laid(points.astype(np.float32))
    assert np.isfinite(places).all() and places.shape == (40, 2)


def test_a_settled_layout_moves_little():
    points, _ = groups(240)
    first = laid(points)
    rng = np.random.default_rng(1)
    changed = (points + 0.2 * rng.normal(size=points.shape)).astype(np.float32)
    again = align(laid(changed, start=first, settled=True, seed=1), np.arange(240), first)
    anew = align(laid(changed, seed=1), np.arange(240), first)
    radius = np.median(np.linalg.norm(first - np.median(first, axis=0), axis=1))
    moved, moved_anew = (np.median(np.linalg.norm(there - first, axis=1)) / radius for there in (again, anew))
    assert moved < 0.25 and moved < 0.5 * moved_anew
    assert kept(changed, again) > 0.9 * kept(changed, anew)


def test_aligned_by_turning_mirroring_shifting_and_scaling():
    rng = np.random.default_rng(0)
    there = rng.normal(size=(30, 2)).astype(np.float32)
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])  # a mirror
    found = align((5.0 * there @ turn + [7.0, -2.0]).astype(np.float32), np.arange(10, 20), there[10:20])
    assert np.allclose(found, there, atol=1e-4)
    one_place = align(there, np.array([0, 0]), np.zeros((2, 2), dtype=np.float32))
    assert np.isfinite(one_place).all()


def test_rounds_are_told_and_can_be_stopped():
    points, _ = groups(60)
    told = []
    laid(points, on_round=lambda done, total: told.append((done, total)))
    assert told == [(done, plane.ROUNDS) for done in range(plane.ROUNDS + 1)]

    def stop(done, total):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        laid(points, on_round=stop)


def test_a_round_by_hand():
    """The law of the kernel, written out in whole numbers and float64."""
    rng = np.random.default_rng(2)
    places = rng.normal(size=(9, 2)).astype(np.float32)
    heads, tails = rng.integers(9, size=(2, 30)).astype(np.int32)
    heads[heads == tails] = (tails[heads == tails] + 1) % 9
    weights = rng.uniform(0.2, 1.0, size=30).astype(np.float32)
    expected, owed, draw = places.astype(np.float64), np.zeros(30), 88_172_645_463_325_252
    due, draws = np.zeros(30, dtype=np.float32), np.array([draw], dtype=np.uint64)
    for step in (0.5, 0.25):
        move_points(places, heads, tails, weights, due, np.float32(step), 3, draws)
        for t in range(30):
            owed[t] += weights[t]
            if owed[t] < 1:
                continue
            owed[t] -= 1
            i, j = heads[t], tails[t]
            apart = expected[i] - expected[j]
            pull = 2 * apart / (1 + apart @ apart)
            expected[i] -= step * pull
            expected[j] += step * pull
            for _ in range(3):
                for shift in (13, -7, 17):
                    draw ^= (draw << shift if shift > 0 else draw >> -shift) % 2**64
                other = ((draw >> 32) * 9) >> 32
                if other != i:
                    apart = expected[i] - expected[other]
                    square = apart @ apart
                    expected[i] += step * np.clip(2 * apart / ((1e-3 + square) * (1 + square)), -4, 4)
    assert np.allclose(places, expected, atol=1e-3)
    assert int(draws[0]) == draw
