"""What a round on a Dask cluster costs beyond the work of its tasks, in CPU seconds: client, scheduler and workers.

The work is what ``run_span`` takes on the workers, by the clock of its own thread. All else that the three kinds of
process spend while rounds run is overhead. A cluster that has nothing to do spends something too, by the wall clock:
on a machine that others use, where a second of work takes ten, that is most of it, so it is measured and told apart.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import psutil
from distributed import Client, LocalCluster

import manyview
from manyview import AcceleratedKMeans, RobustMultiviewKMeans
from manyview.methods.kmeans import _accelerated_rounds, _robust_rounds

N_CLUSTERS = 1000
ROUNDS = 2
WIDTHS = {"looks": 64, "text": 32}


def measure(n_items: int = 660_000) -> list[dict[str, Any]]:
    """A row for each method; two workers with one thread each, about as many spans."""
    with tempfile.TemporaryDirectory(prefix="manyview-scale-") as folder:
        views = made(Path(folder), n_items)
        with cluster(2) as here, Client(here) as client, manyview.on(client):
            client.run(watch)
            rows = []
            for name, make, given in (
                ("RobustMultiviewKMeans", robust, views),
                ("AcceleratedKMeans", kmeans, {"looks": views["looks"]}),
            ):
                rows.append(overhead(here, client, name, make, given))
                print(rows[-1], flush=True)
            return rows


def made(folder: Path, n_items: int) -> dict[str, Any]:
    """Groups that overlap, in files."""
    rng = np.random.default_rng(0)
    group = rng.integers(N_CLUSTERS, size=n_items)
    views = {}
    for name, width in WIDTHS.items():
        rows = rng.standard_normal((n_items, width), dtype=np.float32)
        rows += rng.standard_normal((N_CLUSTERS, width), dtype=np.float32)[group]
        np.save(folder / f"{name}.npy", rows)
        views[name] = np.load(folder / f"{name}.npy", mmap_mode="r")
    return views


def cluster(n_workers: int) -> Any:
    return LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50)


def robust(n_rounds: int) -> Any:
    given = {"view_scale": None, "n_init": 1, "init": "random", "random_state": 0, "tol": 0.0, "n_jobs": 1}
    return RobustMultiviewKMeans(N_CLUSTERS, max_iter=n_rounds, **given)


def kmeans(n_rounds: int) -> Any:
    return AcceleratedKMeans(N_CLUSTERS, init="random", random_state=0, max_iter=n_rounds, tol=0.0, n_jobs=1)


def watch() -> None:
    """Let a worker note what the spans of rounds take."""
    from manyview.engines import cluster as engine

    real = engine.run_span
    engine.noted = []

    def timed(task: Any, *given: Any) -> Any:
        began = time.thread_time()
        found = real(task, *given)
        if task.__name__ == "round_leaf":
            engine.noted.append(time.thread_time() - began)
        return found

    engine.run_span = timed


def take_notes() -> list[float]:
    from manyview.engines import cluster as engine

    noted, engine.noted = engine.noted, []
    return noted


def overhead(here: Any, client: Any, name: str, make: Any, views: Any) -> dict[str, Any]:
    """One fit, looked at between its rounds; the first does not count."""
    make(1).fit({view: rows[: 2 * N_CLUSTERS] for view, rows in views.items()})  # workers import, kernels are loaded
    workers = [psutil.Process(worker.pid) for worker in here.workers.values()]
    seen: list[Seen] = []
    home, round_name = ROUND_OF[name]
    real = getattr(home, round_name)

    def watched(*given: Any, **named: Any) -> Any:
        client.run(take_notes)
        before, began = (cpu([psutil.Process()]), cpu(workers)), time.perf_counter()
        found = real(*given, **named)
        wall, after = time.perf_counter() - began, (cpu([psutil.Process()]), cpu(workers))
        noted = [seconds for one in client.run(take_notes).values() for seconds in one]
        seen.append(Seen(after[0] - before[0], after[1] - before[1], sum(noted), len(noted), wall))
        return found

    setattr(home, round_name, watched)
    try:
        make(1 + ROUNDS).fit(views)
    finally:
        setattr(home, round_name, real)
    client_cpu, workers_cpu, work, n_tasks, wall = (sum(column) for column in zip(*seen[1 : 1 + ROUNDS], strict=True))
    idle = at_rest([psutil.Process(), *workers])
    beyond = client_cpu + workers_cpu - work
    return {
        "method": name,
        "items": int(next(iter(views.values())).shape[0]),
        "columns": sum(matrix.shape[1] for matrix in views.values()),
        "clusters": N_CLUSTERS,
        "tasks a round": n_tasks / ROUNDS,
        "work of a task, CPU s": round(work / n_tasks, 3),
        "client and scheduler, CPU s a task": round(client_cpu / n_tasks, 4),
        "workers beyond the work, CPU s a task": round((workers_cpu - work) / n_tasks, 4),
        "wall s a round": round(wall / ROUNDS, 2),
        "the same cluster at rest, CPU s a wall s": round(idle, 4),
        "overhead": round(beyond / work, 4),
        "overhead beyond a cluster at rest": round((beyond - idle * wall) / work, 4),
    }


def at_rest(processes: Sequence[Any], seconds: float = 10.0) -> float:
    """What client, scheduler and workers spend in a second in which nothing is asked of them."""
    before, began = cpu(processes), time.perf_counter()
    time.sleep(seconds)
    return (cpu(processes) - before) / (time.perf_counter() - began)


class Seen(NamedTuple):
    """A round: CPU seconds of the client, of the workers and of their work, tasks, and wall seconds."""

    client: float
    workers: float
    work: float
    n_tasks: int
    wall: float


ROUND_OF = {
    "RobustMultiviewKMeans": (_robust_rounds, "_next_round"),
    "AcceleratedKMeans": (_accelerated_rounds._Run, "round"),
}


def cpu(processes: Sequence[Any]) -> float:
    return float(sum(sum(process.cpu_times()[:2]) for process in processes))
