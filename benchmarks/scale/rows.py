"""Rows that lie in files: a pass of RMKMC and of k-means, beside scikit-learn's MiniBatchKMeans, and what they hold.

``python -m benchmarks.scale.rows CONTENDER FOLDER N`` is one contender in a process of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

N_CLUSTERS, WIDTHS, PASSES = 100, {"looks": 64, "text": 32}, 3
CONTENDERS = ("RobustMultiviewKMeans", "AcceleratedKMeans", "MiniBatchKMeans.partial_fit")
_BLOCK = 100_000


def growth(sizes: list[int]) -> list[dict[str, Any]]:
    """Every contender at every size; the first rows of the same files."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="manyview-scale-") as folder:
        make(Path(folder), max(sizes))
        for n_items in sizes:
            for name in CONTENDERS:
                command = [sys.executable, "-m", "benchmarks.scale.rows", name, folder, str(n_items)]
                told = subprocess.run(command, capture_output=True, text=True, check=False)
                if told.returncode:
                    raise SystemExit(told.stderr)
                rows.append(json.loads(told.stdout.splitlines()[-1]))
                print(rows[-1], flush=True)
    return rows


def make(folder: Path, n_items: int) -> None:
    """Groups that overlap, written block by block."""
    rng = np.random.default_rng(0)
    centres = {name: rng.standard_normal((N_CLUSTERS, width), dtype=np.float32) for name, width in WIDTHS.items()}
    files = {
        name: np.lib.format.open_memmap(folder / f"{name}.npy", "w+", np.float32, (n_items, width))
        for name, width in WIDTHS.items()
    }
    for start in range(0, n_items, _BLOCK):
        stop = min(n_items, start + _BLOCK)
        group = rng.integers(N_CLUSTERS, size=stop - start)
        for name, width in WIDTHS.items():
            part = rng.standard_normal((stop - start, width), dtype=np.float32)
            files[name][start:stop] = part + centres[name][group]


def one(name: str, folder: str, n_items: int) -> dict[str, Any]:
    """Passes over the rows: CPU seconds of each, of the whole, and the most anonymous memory beyond the start."""
    views = {view: np.load(Path(folder) / f"{view}.npy", mmap_mode="r")[:n_items] for view in WIDTHS}
    run = {"RobustMultiviewKMeans": robust, "AcceleratedKMeans": kmeans}.get(name, minibatch)
    few = {view: rows[:2000] for view, rows in views.items()}
    run(few)  # imports, compilation
    with Watch() as memory:
        began, wall = time.process_time(), time.perf_counter()
        passes = run(views)
        whole, wall = time.process_time() - began, time.perf_counter() - wall
    return {
        "method": name,
        "items": n_items,
        "columns": sum(WIDTHS.values()),
        "clusters": N_CLUSTERS,
        "CPU s a pass": [round(seconds, 3) for seconds in passes],
        "us an item and pass": round(1e6 * float(np.median(passes)) / n_items, 3),
        "CPU s in all": round(whole, 2),
        "wall s in all": round(wall, 2),
        "anonymous MiB": round(memory.most / 2**20),
    }


class Watch:
    """The most anonymous memory of this process beyond what it had, looked at every 20 ms."""

    def __enter__(self) -> Watch:
        self.most, self._first, self._over = 0, anonymous(), threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def _look(self) -> None:
        while not self._over.wait(0.02):
            self.most = max(self.most, anonymous() - self._first)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def anonymous() -> int:
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    return 0


def timed(passes: list[float], work: Callable[..., Any]) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return work(*given, **named)
        finally:
            passes.append(time.process_time() - began)

    return call


def robust(views: dict[str, Any]) -> list[float]:
    from manyview import RobustMultiviewKMeans
    from manyview.methods.kmeans import _robust_rounds

    passes: list[float] = []
    real = _robust_rounds._next_round
    _robust_rounds._next_round = timed(passes, real)
    given = {"view_scale": None, "n_init": 1, "init": "random", "random_state": 0, "tol": 0.0, "n_jobs": 1}
    RobustMultiviewKMeans(N_CLUSTERS, max_iter=PASSES, **given).fit(views)
    _robust_rounds._next_round = real
    return passes


def kmeans(views: dict[str, Any]) -> list[float]:
    from manyview import AcceleratedKMeans
    from manyview.methods.kmeans import _accelerated_rounds

    passes: list[float] = []
    real = _accelerated_rounds._Run.round
    _accelerated_rounds._Run.round = timed(passes, real)
    AcceleratedKMeans(N_CLUSTERS, init="random", random_state=0, max_iter=PASSES, tol=0.0, n_jobs=1).fit(views)
    _accelerated_rounds._Run.round = real
    return passes[:PASSES]


def minibatch(views: dict[str, Any]) -> list[float]:
    from sklearn.cluster import MiniBatchKMeans

    model, n_items = MiniBatchKMeans(N_CLUSTERS, init="random", n_init=1, random_state=0), len(views["looks"])

    def one_pass() -> None:
        for start in range(0, n_items, 10_000):
            model.partial_fit(np.hstack([rows[start : start + 10_000] for rows in views.values()]))

    passes: list[float] = []
    timed(passes, one_pass)()
    return passes


if __name__ == "__main__":
    print(json.dumps(one(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
