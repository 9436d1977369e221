"""Workers and clients that are killed at random moments: every fit ends with the bits of one that nobody disturbed."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing import forkserver
from pathlib import Path

import numpy as np
import pytest

import manyview
from manyview import PLSA, CanonicalFusion, blocks
from manyview.engines import base, checkpoint
from manyview.engines.local import LocalEngine
from manyview.methods.canonical import _moments
from manyview.methods.kmeans import _accelerated_rounds, _robust_rounds

from .test_checkpoint import MODELS, data

pytest.importorskip("distributed")
import dask
from distributed import Client, LocalCluster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning"),
]
ROOT = Path(__file__).parents[2]
N_WORKERS = 3
N_ITEMS = 6000

METHODS = {
    **MODELS,
    "topics": lambda: PLSA(6, n_init=2, max_iter=25, tol=0.0, random_state=0),
    "canonical": lambda: CanonicalFusion(5),
}


KINDS = list(METHODS) if "MANYVIEW_WORKER_KILLS" in os.environ else ["robust", "topics"]  # the torture tries all


def rows_for(kind):
    """What a method is fitted on."""
    if kind != "topics":
        return data(N_ITEMS)
    rng = np.random.default_rng(2)
    words = rng.dirichlet(np.full(300, 0.1), 6)
    return np.array([rng.multinomial(25, words[i % 6]) for i in range(N_ITEMS)]).astype(np.float32)


def found(model):
    """All that a fit has found, as arrays."""
    if isinstance(model, CanonicalFusion):
        return {"correlations": model.correlations_, **model.projections_}
    if isinstance(model, PLSA):
        names = ("labels_", "item_topics_", "topic_features_", "log_likelihood_")
        return {name: np.asarray(getattr(model, name)) for name in names}
    return {"labels": model.labels_, "objective": model.objective_, **model.cluster_centers_}


def same(one, two):
    assert one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)


def work_in_small_pieces():
    """Many spans, though there is little to do, and a point after every round."""
    base.SPAN_SECONDS, checkpoint.EVERY = 4e-5, 0.0
    blocks.BLOCK_BYTES = _moments._BLOCK_BYTES = 2**16
    _robust_rounds.MOST_ROWS = _accelerated_rounds.MOST_ROWS = 400


@pytest.fixture(scope="module", autouse=True)
def small_pieces():
    held = {
        base: ("SPAN_SECONDS",),
        checkpoint: ("EVERY",),
        blocks: ("BLOCK_BYTES",),
        _moments: ("_BLOCK_BYTES",),
        _robust_rounds: ("MOST_ROWS",),
        _accelerated_rounds: ("MOST_ROWS",),
    }
    with pytest.MonkeyPatch.context() as patch:
        for module, names in held.items():
            for name in names:
                patch.setattr(module, name, getattr(module, name))  # put back at the end
        work_in_small_pieces()
        yield


def undisturbed_fit(kind):
    """What a fit finds that nobody disturbs, in many spans."""
    n_spans, run = [], LocalEngine.map

    def counted(engine, task, source, plan, *more):
        n_spans.append(len(plan.spans))
        return run(engine, task, source, plan, *more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEngine, "map", counted)
        model = METHODS[kind]().fit(rows_for(kind))
    assert max(n_spans) > 2 * N_WORKERS
    return found(model)


@pytest.fixture(scope="module")
def quick_starts():
    """New workers are forks of a process that has imported everything: a tenth of the time, and no other difference."""
    multiprocessing.set_forkserver_preload(
        ["distributed", "manyview.methods.kmeans.hierarchical_kmeans", "manyview.methods.topics.plsa", "sklearn"]
    )
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        forkserver.ensure_running()
        yield


@pytest.fixture(scope="module")
def cluster(quick_starts):
    with LocalCluster(
        n_workers=N_WORKERS,
        threads_per_worker=1,
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as here:
        yield here


class Killer(threading.Thread):
    """Kills random workers at random moments, so many, whenever all are there."""

    def __init__(self, cluster, rng, most):
        super().__init__(daemon=True)
        self.cluster, self.rng, self.most = cluster, rng, most
        self.n_kills, self._over = 0, threading.Event()

    def run(self):
        while self.n_kills < self.most and not self._over.wait(self.rng.uniform(0.05, 1.0)):
            known, nannies = self.cluster.scheduler.workers, list(self.cluster.workers.values())
            if len(nannies) < N_WORKERS:
                self.cluster.scale(N_WORKERS)  # a nanny whose worker dies while it starts gives up
            alive = [n.pid for n in nannies if n.status.name == "running" and n.worker_address in known]
            if len(alive) == N_WORKERS and all(alive):  # a nanny may lose its worker between two looks
                os.kill(int(self.rng.choice(alive)), signal.SIGKILL)
                self.n_kills += 1

    def stop(self):
        self._over.set()
        self.join()


@pytest.mark.parametrize("kind", KINDS)
def test_workers_die_at_random_moments(kind, cluster, tmp_path, record_property):
    """MANYVIEW_WORKER_KILLS: how many workers are killed, for each method."""
    wanted = int(os.environ.get("MANYVIEW_WORKER_KILLS", "1"))
    views = rows_for(kind)
    undisturbed, rng = undisturbed_fit(kind), np.random.default_rng(0)
    n_kills, n_fits = 0, 0
    with Client(cluster) as client, manyview.on(client, folder=tmp_path / "work"):
        while n_kills < wanted:
            killer = Killer(cluster, rng, wanted - n_kills)
            killer.start()
            try:
                same(found(METHODS[kind]().fit(views)), undisturbed)
            finally:
                killer.stop()
            n_kills, n_fits = n_kills + killer.n_kills, n_fits + 1
    record_property("count", n_kills)
    record_property(f"workers of {kind}", f"{n_kills} in {n_fits} fits")


PROGRAM = """
import sys, numpy as np, manyview
sys.path.insert(0, sys.argv[1])
from tests.engines.test_kills import METHODS, found, rows_for, work_in_small_pieces
work_in_small_pieces()
if __name__ == "__main__":
    views = rows_for(sys.argv[4])
    with manyview.on(sys.argv[2], folder=sys.argv[3]):
        print("ready", flush=True)
        model = METHODS[sys.argv[4]]().fit(views)
    np.savez(sys.argv[5], **found(model))
"""


@pytest.mark.parametrize("kind", [kind for kind in ("robust", "kmeans", "topics") if kind in KINDS])
def test_the_client_dies_at_random_moments(kind, cluster, tmp_path, record_property):
    """MANYVIEW_CLIENT_KILLS: how often the process that fits is killed, for each method; the cluster stays."""
    wanted = int(os.environ.get("MANYVIEW_CLIENT_KILLS", "1"))
    undisturbed, rng = undisturbed_fit(kind), np.random.default_rng(1)
    given = [ROOT, cluster.scheduler_address, tmp_path / "kept", kind]

    def points():
        return list((tmp_path / "kept").rglob("*.point"))

    n_kills, n_went_on, is_whole = 0, 0, False
    for attempt in range(10 * wanted + 20):
        if n_kills >= wanted and n_went_on and is_whole:
            break
        out = tmp_path / f"{attempt}.npz"
        n_went_on += bool(points())
        is_doomed = n_kills < wanted or not n_went_on
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *map(str, given), str(out)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout.readline() == "ready\n"
            while process.poll() is None and not points():
                time.sleep(0.01)
            try:
                process.wait(timeout=rng.uniform(0.0, 0.5) if is_doomed else 300)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                n_kills += 1
        is_whole = out.exists()
        if is_whole:
            with np.load(out) as archive:
                same(dict(archive), undisturbed)
    assert not any(path.is_file() for path in (tmp_path / "kept").rglob("*"))
    assert n_kills >= wanted and n_went_on > 0 and is_whole
    record_property("count", n_kills)
    record_property(f"clients of {kind}", f"{n_kills}, {n_went_on} went on from a point")
