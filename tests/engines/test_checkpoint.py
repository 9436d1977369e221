"""A fit that was stopped goes on from its last round, and ends with the bits of one that nobody stopped."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import manyview
from manyview import AcceleratedKMeans, HierarchicalKMeans, RobustMultiviewKMeans
from manyview.engines import base, checkpoint
from manyview.methods.kmeans import _accelerated_rounds, _robust_rounds


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Several spans and leaves, and a point after every round."""
    for rounds in (_robust_rounds, _accelerated_rounds):
        monkeypatch.setattr(rounds, "MOST_ROWS", 200)
    monkeypatch.setattr(base, "SPAN_SECONDS", 0.001)
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)


def data(n=1500):
    rng = np.random.default_rng(0)
    truth = rng.integers(6, size=n)
    return {
        "looks": (rng.normal(size=(6, 24))[truth] + 2 * rng.normal(size=(n, 24))).astype(np.float32),
        "text": rng.normal(size=(6, 9))[truth] + 2 * rng.normal(size=(n, 9)),
    }


MODELS = {
    "robust": lambda **more: RobustMultiviewKMeans(
        6, view_scale="minmax", n_init=3, random_state=0, max_iter=12, **more
    ),
    "kmeans": lambda **more: AcceleratedKMeans(9, n_init=2, random_state=0, max_iter=12, **more),
    "tree": lambda **more: HierarchicalKMeans(6, n_starts=3, start_iter=4, random_state=0, max_iter=8, **more),
}


class Stop(Exception):
    pass


def same(one, two):
    assert np.array_equal(one.labels_, two.labels_) and np.array_equal(one.objective_, two.objective_)
    assert all(np.array_equal(one.cluster_centers_[name], two.cluster_centers_[name]) for name in one.view_names_)


@pytest.mark.parametrize("kind", MODELS)
def test_stopped_after_any_round_it_goes_on_to_the_same_end(kind, monkeypatch, tmp_path):
    views, make = data(), MODELS[kind]
    undisturbed = make().fit(views)
    rounds = _robust_rounds if kind == "robust" else _accelerated_rounds
    run_task, n_stops, n_calls = rounds.round_leaf, 0, 0
    allowed = 0

    def stopping(*given):
        nonlocal n_calls
        n_calls += 1
        if n_calls > allowed:
            raise Stop
        return run_task(*given)

    stopping.__name__ = run_task.__name__
    monkeypatch.setattr(rounds, "round_leaf", stopping)
    with manyview.on("serial", folder=tmp_path / "kept"):
        while True:
            allowed, n_calls = 23 + 5 * (n_stops % 3), 0  # in the middle of a round, mostly
            try:
                model = make().fit(views)
                break
            except Stop:
                n_stops += 1
                assert n_stops < 60, "it does not get on"
    assert n_stops > 2
    same(model, undisturbed)
    assert list((tmp_path / "kept").iterdir()) == []


def test_points_belong_to_one_fit_alone(monkeypatch, tmp_path):
    """Other data, other settings: another fit. Threads change nothing."""
    views, make = data(), MODELS["kmeans"]
    print_of = checkpoint.fingerprint
    seen = []
    monkeypatch.setattr(checkpoint, "fingerprint", lambda *given: seen.append(print_of(*given)) or seen[-1])
    changed = {name: matrix.copy() for name, matrix in views.items()}
    changed["text"][77, 3] += 1e-9
    np.save(tmp_path / "looks.npy", views["looks"])
    filed = {**views, "looks": np.load(tmp_path / "looks.npy", mmap_mode="r")}
    with manyview.on("serial", folder=tmp_path / "kept"):
        for model, X in (
            (make(), views),
            (make(n_jobs=2, verbose=0), views),
            (make(), changed),
            (make(tol=1e-3), views),
            (make(empty_clusters="farthest"), views),
            (make(), filed),
            (make(), filed),
            (make(init="random"), filed),
        ):
            model.fit(X)
        AcceleratedKMeans(3, random_state=np.random.default_rng(0), max_iter=2).fit(views)  # nobody can repeat this one
    assert seen[0] == seen[1] and seen[5] == seen[6] and len(set(seen)) == 6 and len(seen) == 8


def test_without_a_folder_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    MODELS["robust"]().fit(data())
    assert list(tmp_path.iterdir()) == []


PROGRAM = """
import sys, numpy as np, manyview
from manyview.engines import base, checkpoint
from manyview.methods.kmeans import _accelerated_rounds, _robust_rounds
base.SPAN_SECONDS, checkpoint.EVERY = 0.001, 0.0
_accelerated_rounds.MOST_ROWS = _robust_rounds.MOST_ROWS = 200
sys.path.insert(0, sys.argv[1])
from tests.engines.test_checkpoint import MODELS, data
views = data(6000)
with manyview.on("serial", folder=sys.argv[2]):
    print("ready", flush=True)
    model = MODELS[sys.argv[3]]().fit(views)
np.savez(sys.argv[4], labels=model.labels_, objective=model.objective_)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["robust", "kmeans"])
def test_kill_at_random_moments(kind, tmp_path, record_property):
    """MANYVIEW_CLIENT_KILLS: how often the process that fits is killed, for each method."""
    wanted = int(os.environ.get("MANYVIEW_CLIENT_KILLS", "1"))
    undisturbed, rng = MODELS[kind]().fit(data(6000)), np.random.default_rng(0)
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    n_kills, n_fits = 0, 0
    while n_kills < wanted or n_fits == 0:
        out = tmp_path / f"{n_fits}.npz"
        command = [sys.executable, "-c", PROGRAM, root, str(tmp_path / "kept"), kind, str(out)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            try:
                process.wait(timeout=rng.uniform(0.05, 1.5) if n_kills < wanted else 300)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                n_kills += 1
        if out.exists():
            with np.load(out) as found:
                assert np.array_equal(found["labels"], undisturbed.labels_)
                assert np.array_equal(found["objective"], undisturbed.objective_)
            n_fits += 1
        time.sleep(0.05)
    record_property("count", n_kills)
