"""k-means on Dask arrays: ours and dask-ml's, each in an environment and a cluster of its own, in turn.

Run by itself, this file is one of the two: ``python beside_dask_ml.py ours|dask-ml FILE CENTRES ROUNDS``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

N_CLUSTERS, WIDTH, ROUNDS, REPEATS = 50, 64, 8, 3


def compare(n_items: int) -> dict[str, Any]:
    """The same array, centres and number of rounds; one worker with one thread."""
    import numpy as np

    from ..environments import HERE, NotInstalled, python_of

    rng = np.random.default_rng(0)
    centres = rng.standard_normal((N_CLUSTERS, WIDTH)).astype(np.float32)
    rows = rng.standard_normal((n_items, WIDTH), dtype=np.float32) + centres[rng.integers(N_CLUSTERS, size=n_items)]
    row: dict[str, Any] = {"items": n_items, "columns": WIDTH, "clusters": N_CLUSTERS, "rounds": ROUNDS}
    try:
        pythons = {"ours": python_of(HERE), "dask-ml": python_of("dask-ml")}
    except NotInstalled as reason:
        return row | {"dask-ml": str(reason)}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in pythons}
    with tempfile.TemporaryDirectory(prefix="manyview-scale-") as folder:
        np.save(f"{folder}/rows.npy", rows)
        np.save(f"{folder}/centres.npy", rows[rng.choice(n_items, N_CLUSTERS, replace=False)])
        for _ in range(REPEATS):
            for name, python in pythons.items():
                command = [python, __file__, name, f"{folder}/rows.npy", f"{folder}/centres.npy", str(ROUNDS)]
                told = subprocess.run(command, capture_output=True, text=True, check=False)
                if told.returncode:
                    raise SystemExit(told.stderr)
                found[name].append(json.loads(told.stdout.splitlines()[-1]))
    for name, runs in found.items():
        row |= {f"{name}, {what}": sorted(run[what] for run in runs)[REPEATS // 2] for what in ("wall s", "CPU s")}
    labels = {run["labels"] for runs in found.values() for run in runs}
    return row | {
        "times faster, wall": round(row["dask-ml, wall s"] / row["ours, wall s"], 2),
        "times faster, CPU": round(row["dask-ml, CPU s"] / row["ours, CPU s"], 2),
        "labels": "equal" if len(labels) == 1 else "differ",
    }


def one(name: str, rows: str, centres: str, n_rounds: int) -> dict[str, Any]:
    """One fit, after one on a few rows that does not count."""
    import dask.array as da
    import numpy as np
    import psutil
    from distributed import Client, LocalCluster, wait

    X, init = np.load(rows, mmap_mode="r"), np.load(centres)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50) as here,
        Client(here) as client,
    ):
        array = da.from_array(np.array(X), chunks=(-(-len(X) // 8), X.shape[1])).persist()
        wait(array)
        fit = ours(client, init) if name == "ours" else theirs(init)
        fit(array[:2000].persist(), 2)
        processes = [psutil.Process(), *(psutil.Process(worker.pid) for worker in here.workers.values())]

        def cpu() -> float:
            return float(sum(sum(process.cpu_times()[:2]) for process in processes))

        before, began = cpu(), time.perf_counter()
        labels = np.asarray(fit(array, n_rounds).compute())
        wall, spent = time.perf_counter() - began, cpu() - before
    import hashlib

    digest = hashlib.sha256(np.ascontiguousarray(labels, dtype=np.int64)).hexdigest()[:12]
    return {"wall s": round(wall, 3), "CPU s": round(spent, 3), "labels": digest}


def ours(client: Any, init: Any) -> Any:
    import manyview

    def fit(array: Any, n_rounds: int) -> Any:
        with manyview.on(client):
            model = manyview.AcceleratedKMeans(len(init), init=init, max_iter=n_rounds, tol=0.0)
            return model.fit(array).labels_

    return fit


def theirs(init: Any) -> Any:
    from dask_ml.cluster import KMeans

    def fit(array: Any, n_rounds: int) -> Any:
        return KMeans(len(init), init=init, max_iter=n_rounds, tol=0.0).fit(array).labels_

    return fit


if __name__ == "__main__":
    sys.path = [folder for folder in sys.path if Path(folder or ".").resolve() != Path(__file__).parent]
    print(json.dumps(one(*sys.argv[1:4], int(sys.argv[4]))))
