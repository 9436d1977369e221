"""One contender in a process of its own: ``python -m benchmarks.worker``, run by the harness.

It reads one JSON object per line and answers with one per line. The first line says what to run; each later
one asks for one repetition. The peers' environments run this file too, so it needs numpy and nothing of ours.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import importlib.metadata
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from .environments import plain

WARM_UP_ROWS = 2000
PACKAGES = "manyview numpy scipy scikit-learn numba faiss-cpu mvlearn imml artlib enstop cca-zoo".split()
Fit = Callable[[int | None, int], dict[str, Any]]


def main() -> None:
    # Peers print. What they print goes to stderr, and the answers keep stdout to themselves.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    try:
        work = json.loads(sys.stdin.readline())
        suite = importlib.import_module(f"benchmarks.{work['suite']}")
        function = getattr(suite, work["function"])
        if work["task"] == "data":
            function(Path(work["folder"]), **work["settings"])
            _answer(answers, {"ready": True})
            return
        _serve(answers, function, work)
    except Exception as error:
        _answer(answers, {"error": plain(f"{type(error).__name__}: {error}")[:300]})


def _serve(answers: TextIO, make: Callable[..., Fit], work: dict[str, Any]) -> None:
    views, labels = load(Path(work["folder"]), work["memory_map"])
    # Compile, import and fill caches on a few rows, so that neither time nor memory of that is counted.
    make([view[:WARM_UP_ROWS] for view in views], work["threads"], **work["settings"])(2, 0)
    fit = make(views, work["threads"], **work["settings"])
    _answer(answers, {"ready": True, "versions": _versions(), "blas": _blas()})
    for line in sys.stdin:
        turn = json.loads(line)
        if len(turn["iterations"]) == 2:
            fit(turn["iterations"][0], turn["seed"])  # so that neither of the two has to wait for fresh pages
        _return_free_memory()
        before = memory()
        _forget_peak()
        fits = [_timed(fit, iterations, turn["seed"], labels) for iterations in turn["iterations"]]
        _answer(answers, {"fits": fits, "before": before, "peak": memory().get("VmHWM")})


def _timed(fit: Fit, iterations: int | None, seed: int, truth: np.ndarray | None) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = fit(iterations, seed)
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    found = result.pop("labels", None)
    if truth is not None and found is not None:
        result["acc"] = accuracy(truth, np.asarray(found))
    return {"seconds": seconds, "cpu_seconds": cpu_seconds, **result}


def load(folder: Path, memory_map: bool) -> tuple[list[np.ndarray], np.ndarray | None]:
    """The views of a data folder, in order, and the classes where there are any."""
    mode = "r" if memory_map else None
    count = len(list(folder.glob("view*.npy")))
    views = [np.load(folder / f"view{number}.npy", mmap_mode=mode) for number in range(count)]
    truth = folder / "y.npy"
    return views, np.load(truth) if truth.exists() else None


def accuracy(truth: np.ndarray, found: np.ndarray) -> float:
    """Share of items in the right cluster under the best one-to-one naming of clusters."""
    from scipy.optimize import linear_sum_assignment

    table = np.zeros((int(truth.max()) + 1, int(found.max()) + 1))
    np.add.at(table, (truth, found), 1)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / truth.size)


def memory(pid: int | str = "self") -> dict[str, int]:
    """Peak, present and anonymous memory of a process, in bytes; empty where there is no /proc."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return {}
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return {key: int(fields[key].split()[0]) * 1024 for key in ("VmHWM", "VmRSS", "RssAnon") if key in fields}


def _forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass  # the peak is then that of the whole life of the process: too high, never too low


def _return_free_memory() -> None:
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError):
        pass  # not glibc


def _versions() -> dict[str, str]:
    installed = {dist.metadata["Name"]: dist.version for dist in importlib.metadata.distributions()}
    return {name: installed[name] for name in PACKAGES if name in installed}


def _blas() -> list[dict[str, Any]]:
    """The BLAS libraries in this process: which kernels they chose for the processor, and their threads."""
    try:
        from threadpoolctl import threadpool_info
    except ImportError:
        return []
    wanted = ("internal_api", "version", "architecture", "num_threads")
    return [{key: found.get(key) for key in wanted} for found in threadpool_info() if found["user_api"] == "blas"]


def _answer(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


if __name__ == "__main__":
    main()
