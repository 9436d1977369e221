"""A fit of a collection that was stopped goes on from what it had found, and keeps the run that nobody disturbed."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from manyview import Collection, RobustMultiviewKMeans
from manyview.collection.safety.check import problems
from manyview.collection.safety.unfinished import unfinished
from manyview.engines import base, checkpoint
from manyview.methods import n_clusters as numbers
from manyview.methods.kmeans import _robust_rounds
from manyview.workflow import fit as fitting

from ..tagged import make_collection


class Stop(Exception):
    pass


@pytest.fixture(autouse=True)
def keep_all(monkeypatch):
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)


def kept_in(collection):
    home = collection.path / "work"
    return sorted(path.name for path in home.rglob("*") if path.is_file()) if home.exists() else []


def run_of(collection, run):
    ids, labels = collection.runs.labels(run.id)
    told = {name: value for name, value in run.figures.items() if name != "levels"}
    return ids.tolist(), labels.tolist(), json.dumps(told, sort_keys=True), run.settings


def stop_in_rounds(patch, allowed):
    """Let so many rounds through."""
    task, n_calls = _robust_rounds.round_leaf, 0

    def stopping(*given):
        nonlocal n_calls
        n_calls += 1
        if n_calls > allowed:
            raise Stop
        return task(*given)

    stopping.__name__ = task.__name__
    patch.setattr(_robust_rounds, "round_leaf", stopping)


def test_rounds_number_and_model_are_gone_on_from(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    with make_collection(tmp_path / "other", n_items=120) as other:
        undisturbed = run_of(other, other.fit("rmkmc", n_jobs=1))
    with make_collection(tmp_path, n_items=120) as collection:
        with monkeypatch.context() as patch, pytest.raises(Stop):
            stop_in_rounds(patch, 7)
            collection.fit("rmkmc", n_jobs=1)
        assert "number.json" in kept_in(collection) and any(name.endswith(".point") for name in kept_in(collection))
        assert not problems(collection.path)
        (told,) = unfinished(collection.path)
        assert "a fit was stopped" in told and "fit" in told and "-m rmkmc" in told
        monkeypatch.setattr(numbers, "suggest_n_clusters", lambda *_, **__: pytest.fail("the number was found before"))
        with monkeypatch.context() as patch, pytest.raises(Stop):
            patch.setattr(fitting, "draw_map", lambda *_, **__: (_ for _ in ()).throw(Stop))
            collection.fit("rmkmc", n_jobs=1)
        assert "model.json" in kept_in(collection) and len(collection.runs) == 0
        monkeypatch.setattr(RobustMultiviewKMeans, "fit", lambda *_, **__: pytest.fail("it was fitted before"))
        run = collection.fit("rmkmc", n_jobs=1)
        assert run_of(collection, run) == undisturbed
        assert not (collection.path / "work").exists() and unfinished(collection.path) == []
        assert "work" not in str(collection.files())


def test_what_goes_on_is_told_whole(tmp_path, monkeypatch):
    home = tmp_path / "my pictures"
    home.mkdir()
    with make_collection(home, n_items=120) as collection:
        with monkeypatch.context() as patch, pytest.raises(Stop):
            stop_in_rounds(patch, 5)
            collection.fit("rmkmc", 4, views=["looks", "tags"], seed=3, fresh=True, n_jobs=1)
        (told,) = unfinished(collection.path)
    command = told.split("`")[1]
    wanted = f"manyview fit {collection.path} -m rmkmc --seed 3 -k 4 --view looks --view tags --fresh"
    assert " ".join(shlex.split(command)) == wanted and f"'{collection.path}'" in command


def test_a_changed_collection_never_goes_on_from_old_rounds(tmp_path, monkeypatch):
    with make_collection(tmp_path, n_items=120) as collection:

        def stopped(seed=0):
            with monkeypatch.context() as patch, pytest.raises(Stop):
                stop_in_rounds(patch, 5)
                collection.fit("rmkmc", 4, seed=seed, n_jobs=1)
            return {path.name for path in (collection.path / "work").iterdir() if path.is_dir()}

        first = stopped()
        assert len(first) == 1 and stopped() == first
        other = stopped(seed=1)
        assert len(other) == 1 and other != first  # what nobody can go on from is gone
        again = stopped()
        assert again == first
        collection.accept([(1, "sea")])
        assert stopped().isdisjoint(first)


PROGRAM = """
import sys, time
from manyview import Collection
from manyview.engines import base, checkpoint
from manyview.methods.kmeans import _robust_rounds
checkpoint.EVERY = 0.0
_robust_rounds.MOST_ROWS, base.SPAN_SECONDS = 50, 1e-4
with Collection.open(sys.argv[1], write=True) as collection:
    print("ready", flush=True)
    collection.fit("rmkmc", 4, n_jobs=1)
"""


@pytest.mark.slow
def test_kills_at_random_moments(tmp_path, record_property, monkeypatch):
    """MANYVIEW_FIT_KILLS: how often a process that fits a collection is killed."""
    wanted = int(os.environ.get("MANYVIEW_FIT_KILLS", "2"))
    monkeypatch.setattr(_robust_rounds, "MOST_ROWS", 50)
    monkeypatch.setattr(base, "SPAN_SECONDS", 1e-4)
    (tmp_path / "other").mkdir()
    with make_collection(tmp_path / "other", n_items=600) as other:
        undisturbed = run_of(other, other.fit("rmkmc", 4, n_jobs=1))
    with make_collection(tmp_path, n_items=600) as collection:
        path = collection.path
    shutil.copytree(path, tmp_path / "unfitted")
    rng, n_kills, n_went_on = np.random.default_rng(0), 0, 0
    for _ in range(10 * wanted + 20):
        n_went_on += any(path.rglob("*.point")) or any(path.rglob("model.json"))
        is_doomed = n_kills < wanted or not n_went_on
        with subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            while process.poll() is None and not any(path.rglob("*.point")):
                time.sleep(0.01)
            try:
                process.wait(timeout=rng.uniform(0.0, 0.5) if is_doomed else 300)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                n_kills += 1
        assert not problems(path)
        with Collection.open(path) as collection:
            is_whole = len(collection.runs) > 0
        if is_whole and n_kills:
            break
        if is_whole:  # we were not there in time to kill it
            shutil.rmtree(path)
            shutil.copytree(tmp_path / "unfitted", path)
    assert n_kills >= 1 and n_went_on
    with Collection.open(path) as collection:
        assert run_of(collection, collection.runs.newest()) == undisturbed
    assert not Path(path / "work").exists() and unfinished(path) == []
    record_property("count", n_kills)
    record_property("fits of a collection", f"{n_kills} kills, {n_went_on} went on")
