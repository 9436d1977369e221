"""A collection of a million items with ready features: init, fit, suggest, and the gallery's first questions.

The data are those of ``large_collection``, twenty times as many. Each command is a process of its own; of the gallery,
how long the server took until it answered and what the first screen asks, CPU seconds and memory since its start.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from manyview import metrics
from manyview.web.server import Serving

from .large_collection import FIGURES, K, costs, generate, measured, own_memory
from .table import Table

N_ITEMS, QUICK = 1_000_000, 3_000
FIRST_SCREEN = ("/", "/api/state", "/api/clusters", "/api/proposals?limit=50")


def tables(quick: bool) -> Iterator[Table]:
    n_items = QUICK if quick else N_ITEMS
    made = Table(f"{n_items:,} items, ready features: the commands", FIGURES)
    with tempfile.TemporaryDirectory() as folder:
        source, path = Path(folder) / "items.npz", Path(folder) / "items.manyview"
        with ProcessPoolExecutor(1) as apart:  # a process that was large once would count for each one it starts
            y = apart.submit(generate, source, n_items).result()
        commands = {
            "init": ("init", source, "-o", path),
            "init again": ("init", source, "-o", path),
            "estimate": ("estimate", path),
            "fit -k 20": ("fit", path, "-k", str(K)),
            "show": ("show", path),
            "suggest": ("suggest", path),
        }
        for name, arguments in commands.items():
            made.add(name, [measured(arguments)[0]])
            print(name, json.dumps(made.rows[-1], default=str), flush=True)
        labels = np.array(
            [one["label"] for one in json.loads(measured(("show", path, "--items", "--json"))[1])["items"]]
        )
        made.notes.append(f"fit -k {K}: NMI {metrics.normalized_mutual_info(y, labels):.3f}")
        for name, cost in _served(path).items():
            made.add(name, [cost])
    yield made


def _served(path: Path) -> dict[str, dict[str, float]]:
    """What ``serve`` costs, as a process of its own; see ``_serve``."""
    command = [sys.executable, "-m", "benchmarks.quality.million", str(path)]
    found: dict[str, dict[str, float]] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


def _serve(path: Path) -> dict[str, dict[str, float]]:
    """The gallery's server from its start to its first answers."""
    from ..gallery.__main__ import Browser

    started, ready, found = time.perf_counter(), threading.Event(), {}
    serving = Serving(path, port=0)
    thread = threading.Thread(target=serving.run, args=(ready.set,))
    thread.start()
    try:
        ready.wait()
        found["serve, until it answers"] = _used(time.perf_counter() - started)
        asking = Browser(serving)
        for asked in FIRST_SCREEN:
            found[f"serve: {asked}"] = _used(asking.ask(asked)[1])
    finally:
        serving.stop()
        thread.join()
    return found


def _used(seconds: float) -> dict[str, float]:
    return {**costs(resource.getrusage(resource.RUSAGE_SELF), seconds), "own MB": own_memory(os.getpid())}


if __name__ == "__main__":
    print(json.dumps(_serve(Path(sys.argv[1]))))
