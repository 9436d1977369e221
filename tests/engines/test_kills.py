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
from manyview.engines import base, checkpoint

from .test_checkpoint import MODELS, data, same

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


@pytest.fixture(scope="module", autouse=True)
def short_spans():
    """Many spans, though there is little to do, and a point after every round."""
    before = base.SPAN_SECONDS, checkpoint.EVERY
    base.SPAN_SECONDS, checkpoint.EVERY = 0.004, 0.0
    yield
    base.SPAN_SECONDS, checkpoint.EVERY = before


@pytest.fixture(scope="module")
def quick_starts():
    """New workers are forks of a process that has imported everything: a tenth of the time, and no other difference."""
    multiprocessing.set_forkserver_preload(["distributed", "manyview.methods.kmeans.hierarchical_kmeans", "sklearn"])
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
    """Kills a random worker at a random moment, whenever all are there."""

    def __init__(self, cluster, rng):
        super().__init__(daemon=True)
        self.cluster, self.rng = cluster, rng
        self.n_kills, self._over = 0, threading.Event()

    def run(self):
        while not self._over.wait(self.rng.uniform(0.05, 1.0)):
            known, nannies = self.cluster.scheduler.workers, list(self.cluster.workers.values())
            if len(nannies) < N_WORKERS:
                self.cluster.scale(N_WORKERS)  # a nanny whose worker dies while it starts gives up
            alive = [n.pid for n in nannies if n.status.name == "running" and n.worker_address in known]
            if len(alive) == N_WORKERS:
                os.kill(int(self.rng.choice(alive)), signal.SIGKILL)
                self.n_kills += 1

    def stop(self):
        self._over.set()
        self.join()


@pytest.mark.parametrize("kind", MODELS)
def test_workers_die_at_random_moments(kind, cluster, tmp_path, record_property):
    """MANYVIEW_WORKER_KILLS: how many workers are killed, for each method."""
    wanted = int(os.environ.get("MANYVIEW_WORKER_KILLS", "1"))
    views = data(N_ITEMS)
    undisturbed, rng = MODELS[kind]().fit(views), np.random.default_rng(0)
    n_kills, n_fits = 0, 0
    with Client(cluster) as client, manyview.on(client, folder=tmp_path / "work"):
        while n_kills < wanted:
            killer = Killer(cluster, rng)
            killer.start()
            try:
                same(MODELS[kind]().fit(views), undisturbed)
            finally:
                killer.stop()
            n_kills += killer.n_kills
            n_fits += 1
    record_property("count", n_kills)
    record_property(f"workers of {kind}", f"{n_kills} in {n_fits} fits")


PROGRAM = """
import sys, numpy as np, manyview
from manyview.engines import base, checkpoint
sys.path.insert(0, sys.argv[1])
from tests.engines.test_checkpoint import MODELS, data
base.SPAN_SECONDS, checkpoint.EVERY = 0.004, 0.0
if __name__ == "__main__":
    views = data(int(sys.argv[2]))
    with manyview.on(sys.argv[3], folder=sys.argv[4]):
        print("ready", flush=True)
        model = MODELS[sys.argv[5]]().fit(views)
    np.savez(sys.argv[6], labels=model.labels_, objective=model.objective_)
"""


@pytest.mark.parametrize("kind", ["robust", "kmeans"])
def test_the_client_dies_at_random_moments(kind, cluster, tmp_path, record_property):
    """MANYVIEW_CLIENT_KILLS: how often the process that fits is killed, for each method; the cluster stays."""
    wanted = int(os.environ.get("MANYVIEW_CLIENT_KILLS", "1"))
    undisturbed, rng = MODELS[kind]().fit(data(N_ITEMS)), np.random.default_rng(1)
    given = [ROOT, N_ITEMS, cluster.scheduler_address, tmp_path / "kept", kind]

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
            with np.load(out) as found:
                assert np.array_equal(found["labels"], undisturbed.labels_)
                assert np.array_equal(found["objective"], undisturbed.objective_)
    assert not any(path.is_file() for path in (tmp_path / "kept").rglob("*"))
    assert n_kills >= wanted and n_went_on > 0 and is_whole
    record_property("count", n_kills)
    record_property(f"clients of {kind}", f"{n_kills}, {n_went_on} went on from a point")
