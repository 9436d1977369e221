"""Neighbours that the device proposes: those of threads, to the last tie, and all others as far away as it says."""

import numpy as np
import pytest

import manyview
from manyview.blocks import workers
from manyview.data import nearest
from manyview.data.nearest import nearest_among

KINDS = ["normal", "grid", "copies", "far", "tiny", "huge", "one huge"]


def points(kind, rng, n=700, d=19):
    rows = rng.normal(size=(n, d))
    if kind == "grid":  # ties everywhere
        rows = rng.integers(0, 3, size=(n, d))
    elif kind == "copies":
        rows = np.repeat(rows[: n // 35], 35, axis=0)
    elif kind == "far":  # where products lose digits
        rows = rows + 1_000
    elif kind == "tiny":  # squares below the range of float32
        rows = rows * 1e-22
    elif kind == "huge":  # and above
        rows = rows * 1e19
    elif kind == "one huge":
        rows[3] *= 1e25
    return rows.astype(np.float32)


@pytest.fixture
def always(device, monkeypatch):
    """The device is asked for few rows too."""
    monkeypatch.setattr("manyview.gpu.neighbours._WORTH", 0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # what is out of range, here and there
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 15])  # 15: too few rows for groups of 32
def test_neighbours_are_those_of_threads(always, kind, k, seed, monkeypatch):
    monkeypatch.setattr("manyview.gpu.neighbours._QUERIES", 128)
    rng = np.random.default_rng(seed)
    rows, new = points(kind, rng, 2_400 if k == 1 else 700), points(kind, rng, 300)
    own = np.arange(len(rows), dtype=np.int32)
    with workers(2) as threads:
        expected = [nearest_among(rows, rows, k, threads, own=own), nearest_among(new, rows, k, threads)]
        with manyview.on("cuda"):
            found = [nearest_among(rows, rows, k, threads, own=own), nearest_among(new, rows, k, threads)]
    for there, here in zip(found, expected, strict=True):
        np.testing.assert_array_equal(there, here)


@pytest.mark.parametrize("kind", ["normal", "grid", "copies", "far", "tiny"])
def test_all_others_are_as_far_as_it_is_said(always, kind, seed):
    from manyview.data._nearest_kernels import keep_proposed
    from manyview.gpu.neighbours import propose_among

    rng = np.random.default_rng(seed)
    rows, new = points(kind, rng), points(kind, rng, 60)
    proposed, bound = propose_among(60, rows, 4)(new)
    assert proposed.dtype == np.int32 and all(np.unique(row).size == 4 + 1 + 16 for row in proposed)
    for query, those, least in zip(new, proposed, bound, strict=True):
        others = np.setdiff1d(np.arange(len(rows)), those).astype(np.int32)
        found, distance = np.full((1, 1), len(rows), np.int32), np.full((1, 1), np.inf, np.float32)
        keep_proposed(query[None], np.full(1, -1, np.int32), rows, others[None], found, distance)
        assert distance[0, 0] >= least
        if kind == "normal":  # and it is said no more carefully than rounding asks for
            farthest = ((rows[those].astype("f8") - query) ** 2).sum(axis=1).max()
            assert farthest * (1 - 1e-4) < least <= farthest


def test_what_is_proposed_is_enough_where_nothing_is_tied(always, seed, monkeypatch):
    rows = points("normal", np.random.default_rng(seed), 900)
    with workers(1) as threads:
        expected = nearest_among(rows, rows, 5, threads, own=np.arange(900, dtype=np.int32))
        monkeypatch.setattr(nearest, "_by_distance", None)  # nobody may look among all
        with manyview.on("cuda"):
            found = nearest_among(rows, rows, 5, threads, own=np.arange(900, dtype=np.int32))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n_groups", [1, 8, 32])
def test_the_smallest_by_groups(device, seed, n_groups):
    import torch

    from manyview.gpu.neighbours import smallest

    rng = np.random.default_rng(seed)
    for values in (rng.normal(size=(50, 640)), rng.integers(0, 9, size=(50, 640))):
        found, places = smallest(torch.tensor(values, dtype=torch.float32, device=device), 11, n_groups)
        found, places = found.cpu().numpy(), places.cpu().numpy()
        np.testing.assert_array_equal(np.sort(found, axis=1), np.sort(values.astype("f4"), axis=1)[:, :11])
        np.testing.assert_array_equal(np.take_along_axis(values.astype("f4"), places, axis=1), found)
        assert all(np.unique(row).size == 11 for row in places)


def test_rows_without_room_and_small_searches_are_the_threads_work(device, monkeypatch):
    from manyview.gpu.neighbours import propose_among

    rows = np.zeros((700, 4), np.float32)
    assert propose_among(700, rows, 5) is None
    monkeypatch.setattr("manyview.gpu.neighbours._WORTH", 0)
    assert propose_among(700, rows, 5, memory=20_000) is None and propose_among(700, rows, 400) is None
    assert propose_among(700, rows, 5, memory=200_000).n_queries < 20
    with manyview.on("cuda"), manyview.on("threads"):
        assert nearest.PROPOSER.get() is None


def test_a_consensus_has_the_labels_of_threads(always, seed):
    rng = np.random.default_rng(seed)
    which = rng.integers(4, size=500)
    views = [3 * rng.normal(size=(4, d))[which] + rng.normal(size=(500, d)) for d in (6, 4)]
    views[0][:60] = np.nan
    threads = manyview.ConsensusClustering(4, random_state=seed).fit(views)
    with manyview.on("cuda"):
        there = manyview.ConsensusClustering(4, random_state=seed).fit(views)
        np.testing.assert_array_equal(there.predict(views), threads.predict(views))
    np.testing.assert_array_equal(there.labels_, threads.labels_)


def test_tags_are_proposed_as_by_threads(always, seed):
    rng = np.random.default_rng(seed)
    which = rng.integers(4, size=500)
    looks = 3 * rng.normal(size=(4, 9))[which] + rng.normal(size=(500, 9))
    looks[:40] = np.nan
    tags = (rng.random((500, 12)) < 0.1 + 0.6 * (np.arange(12) // 3 == which[:, None])).astype(float)
    threads = manyview.TagCompleter().fit({"looks": looks}, tags)
    with manyview.on("cuda"):
        there = manyview.TagCompleter().fit({"looks": looks}, tags)
    np.testing.assert_allclose(there.tag_probabilities(), threads.tag_probabilities(), atol=1e-5)
