"""Consensus clustering on the device: members, cells and neighbours are those of threads, and so are the labels."""

import numpy as np
import pytest
from scipy import sparse

import manyview
from manyview import ConsensusClustering, Views
from manyview.engines.device import DeviceEngine
from manyview.engines.jobs import nearby


@pytest.fixture
def size(device):
    """Items and members: few for Triton's interpreter."""
    return (6_000, 10) if device == "cuda" else (150, 1)


@pytest.fixture
def rounds_there(device, monkeypatch):
    """The device is asked for little work too; counts the rounds of k-means that it does."""
    from manyview.methods.kmeans.device import accelerated

    monkeypatch.setattr("manyview.engines.jobs._WORTH", 0)
    monkeypatch.setattr("manyview.gpu.neighbours._WORTH", 0)
    real, done = accelerated.round_leaf, []

    def counted(rows, shared, state):
        done.append(rows["weight"].size)
        return real(rows, shared, state)

    monkeypatch.setattr(accelerated, "round_leaf", counted)
    return done


def collection(kind, n_items, rng):
    which = rng.integers(5, size=n_items)
    looks = 2 * rng.normal(size=(5, 12))[which] + rng.normal(size=(n_items, 12))
    text = 2 * rng.normal(size=(5, 7))[which] + rng.normal(size=(n_items, 7))
    if kind == "missing":
        looks[: n_items // 6], text[-n_items // 5 :] = np.nan, np.nan
    if kind == "copies":  # ties everywhere
        looks, text = np.round(looks / 4), np.round(text / 4)
    if kind == "sparse":
        words = rng.dirichlet(np.full(40, 0.1), 5)
        return {"looks": looks, "words": sparse.csr_matrix([rng.multinomial(15, words[k]) for k in which])}
    return {"looks": looks, "text": text}


def same(threads, there):
    np.testing.assert_array_equal(there.labels_, threads.labels_)
    np.testing.assert_array_equal(there.member_labels_, threads.member_labels_)
    assert there.candidate_ == threads.candidate_
    np.testing.assert_array_equal(there.eigenvalues_, threads.eigenvalues_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["dense", "missing", "sparse", "copies"])
def test_labels_are_those_of_threads(rounds_there, size, seed, kind, dtype):
    n_items, n_members = size
    views = collection(kind, n_items, np.random.default_rng(seed))
    views = Views({name: matrix.astype(dtype) for name, matrix in views.items()})
    model = {"members": n_members, "random_state": seed}
    threads = ConsensusClustering(5, **model).fit(views)
    with manyview.on("cuda"):
        there = ConsensusClustering(5, **model).fit(views)
        np.testing.assert_array_equal(there.predict(views), threads.predict(views))
    assert len(rounds_there) > 3 * n_members  # members of all spaces
    same(threads, there)


def test_members_learned_on_samples_and_cells(rounds_there, size, seed, monkeypatch):
    """As above 20,000 and 8,000 items: the rest is placed there too."""
    n_items, n_members = size
    monkeypatch.setattr("manyview.methods.consensus._members._SAMPLED", n_items // 3)
    monkeypatch.setattr("manyview.methods.consensus._members._PER_CLUSTER", 1)
    monkeypatch.setattr("manyview.methods.consensus._vote.EXACT", n_items // 5)
    monkeypatch.setattr("manyview.methods.neighbours.EXACT", n_items // 5)
    monkeypatch.setattr("manyview.methods.neighbours.CELL", 32)
    views = collection("dense", n_items, np.random.default_rng(seed))
    model = {"members": n_members, "random_state": seed, "scale": "minmax"}
    threads = ConsensusClustering(4, **model).fit(views)
    with manyview.on("cuda"):
        there = ConsensusClustering(4, **model).fit(views)
    same(threads, there)
    assert {n_items, n_items // 3} <= set(rounds_there)


def test_landmarks_have_the_labels_of_threads(rounds_there, size, seed):
    n_items, n_members = size
    views = collection("missing", n_items, np.random.default_rng(seed))
    model = {"members": n_members, "random_state": seed, "landmarks": n_items // 2}
    threads = ConsensusClustering(4, **model).fit(views)
    with manyview.on("cuda"):
        there = ConsensusClustering(4, **model).fit(views)
    same(threads, there)


def test_a_little_work_is_the_threads(device):
    from manyview.engines.choice import working

    with manyview.on("cuda"), working(3) as engine:
        assert isinstance(engine, DeviceEngine)
        assert nearby(engine, 1e12) is engine and not isinstance(nearby(engine, 1e6), DeviceEngine)
        assert nearby(engine, 1e6).threads is engine.threads
