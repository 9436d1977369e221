"""Waiting for the workers of a Dask cluster: what is waited for, for how long, and what is said of the rest."""

import os
import signal
import time

import numpy as np
import pytest

import manyview
from manyview import Views
from manyview.data.source import source_of
from manyview.engines import base, cluster
from manyview.engines.choice import working
from manyview.errors import WorkerError

pytest.importorskip("distributed")
import dask
from distributed import Client, LocalCluster

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
N = 2000


@pytest.fixture
def views(tmp_path):
    np.save(tmp_path / "looks.npy", np.random.default_rng(0).normal(size=(N, 24)))
    return Views({"looks": np.load(tmp_path / "looks.npy", mmap_mode="r")})


def start(n_workers):
    nowhere = {"dashboard_address": "127.0.0.1:0", "worker_dashboard_address": "127.0.0.1:0"}
    return LocalCluster(n_workers=n_workers, threads_per_worker=1, silence_logs=50, **nowhere)


def spread(engine, task, views, shared):
    source = engine.place(source_of(views, np.ones(N)))
    return base.total(engine.map(task, source, base.cut(N, 1.0, 1000, 1.0), shared))


class Future:
    """Ends its wait some times before its result is there."""

    def __init__(self, n_early, result=7, status="pending", seconds=0.0):
        self.n_early, self._result, self.status, self.seconds = n_early, result, status, seconds

    def result(self, timeout):
        time.sleep(self.seconds)
        self.n_early -= 1
        if self.n_early >= 0:
            raise TimeoutError("not yet")
        return self._result


class Scheduler:
    def __init__(self, *workers):
        self.workers = dict.fromkeys(workers, 1)

    def nthreads(self):
        return self.workers


def engine_of(scheduler, tmp_path):
    return cluster.DaskEngine(None, scheduler, tmp_path)


@pytest.fixture
def no_pause(monkeypatch):
    monkeypatch.setattr(cluster, "_SOON", 0.0)


@pytest.mark.usefixtures("no_pause")
class TestWaited:
    def test_so_long_as_is_said_by_the_clock(self, tmp_path):
        """Dask ends its wait at once while a worker dies that has the result: a hundred looks are no time."""
        assert engine_of(Scheduler(), tmp_path).waited(Future(100)) == 7

    def test_no_longer(self, tmp_path, monkeypatch):
        monkeypatch.setattr(cluster, "_ALONE", 0.05)
        with pytest.raises(WorkerError, match="has had no workers for"):
            engine_of(Scheduler(), tmp_path).waited(Future(1000, seconds=0.01))

    def test_while_somebody_is_there_for_ever(self, tmp_path, monkeypatch):
        monkeypatch.setattr(cluster, "_ALONE", 0.0)
        assert engine_of(Scheduler("tcp://127.0.0.1:1"), tmp_path).waited(Future(50)) == 7

    def test_a_result_that_comes_as_the_wait_ends_is_taken(self, tmp_path):
        assert engine_of(Scheduler("tcp://127.0.0.1:1"), tmp_path).waited(Future(1, status="finished")) == 7

    def test_what_a_task_raised_is_no_end_of_the_wait(self, tmp_path):
        with pytest.raises(TimeoutError, match="not yet"):
            engine_of(Scheduler("tcp://127.0.0.1:1"), tmp_path).waited(Future(1, status="error"))


def _lost(rows, leaf, shared, state):
    if rows.start == shared:
        raise FileNotFoundError("no such file: looks.npy")
    return (1,), None


@pytest.mark.slow
def test_files_that_a_worker_does_not_see_are_named(views, tmp_path):
    with start(1) as here, Client(here) as client, manyview.on(client, folder=tmp_path / "w"):
        expected = (
            r"could not go on with rows 1000 to 1999 of .*looks.npy.*: no such file.*the same files under the same"
        )
        with working(1) as engine, pytest.raises(WorkerError, match=expected):
            spread(engine, _lost, views, 1000)


def _deadly(rows, leaf, shared, state):
    if rows.start == shared:
        os.kill(os.getpid(), signal.SIGKILL)
    return (1,), None


@pytest.mark.slow
def test_rows_that_kill_their_worker_are_named(views, tmp_path):
    few = dask.config.set({"distributed.scheduler.allowed-failures": 1})
    with few, start(2) as here, Client(here) as client, manyview.on(client, folder=tmp_path / "w"):
        expected = r"rows 1000 to 1999 of .*looks.npy.* killed 8 workers"
        with working(1) as engine, pytest.raises(WorkerError, match=expected):
            spread(engine, _deadly, views, 1000)
