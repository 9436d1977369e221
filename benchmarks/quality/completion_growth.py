"""What TagCompleter costs as collections grow: CPU seconds of one thread and memory, by items, columns and tags.

Generated items of fifty kinds with one dense view, and about five tags each from a vocabulary whose frequencies fall as
Zipf says: half of an item's tags are drawn from the words of its kind, half from all. Every size is a process of its
own that has fitted a small collection before. Memory is the largest anonymous memory above what was held when ``fit``
began: neither the view nor the libraries are in it, the rows of length one that the fit makes of the view are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..worker import memory
from .table import Table

KINDS, PER_ITEM = 50, 5
BY_ITEMS = ((10_000, 128, 500), (30_000, 128, 500), (50_000, 128, 500), (100_000, 128, 500))
BY_TAGS = ((10_000, 128, 2_000), (10_000, 128, 5_000), (10_000, 128, 20_000))
WIDE = ((10_000, 1_280, 500), (30_000, 1_280, 500))
TOGETHER = ((100_000, 128, 20_000),)
QUICK = ((1_000, 32, 50), (1_000, 32, 200))
FIGURES = ("fit", "propose", "MB", "kept MB")


def tables(quick: bool) -> Iterator[Table]:
    groups = {"by items": BY_ITEMS, "by tags": BY_TAGS, "of a wide view": WIDE, "of many of both": TOGETHER}
    groups = {"all": QUICK} if quick else groups
    for name, sizes in groups.items():
        table = Table(f"TagCompleter, {name}: CPU s of fit and propose(5), memory", FIGURES)
        for n_items, width, n_tags in sizes:
            table.add(f"{n_items:,} items x {width:,}, {n_tags:,} tags", [measured(n_items, width, n_tags)])
        table.notes.append("MB: the largest anonymous memory above that before fit; kept MB: what is left of it.")
        yield table


def measured(n_items: int, width: int, n_tags: int, module: str = "completion_growth") -> dict[str, float]:
    """The figures of one size, from a process of its own."""
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    command = [sys.executable, "-m", f"benchmarks.quality.{module}", str(n_items), str(width), str(n_tags)]
    done = subprocess.run(command, env={**os.environ, **one}, stdout=subprocess.PIPE, check=True, text=True)
    print(*command[3:], done.stdout.strip(), file=sys.stderr, flush=True)
    return {key: float(value) for key, value in json.loads(done.stdout).items()}


@contextmanager
def watched() -> Iterator[dict[str, float]]:
    """Fills in "MB", the largest anonymous memory meanwhile above that before, and "kept MB", what is left of it."""
    before = memory()["RssAnon"]
    largest, done, figures = [before], threading.Event(), {}

    def watch() -> None:
        while not done.wait(0.01):
            largest.append(max(largest.pop(), memory()["RssAnon"]))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield figures
    finally:
        done.set()
        watcher.join()
    kept = memory()["RssAnon"]
    figures.update({"MB": (max(*largest, kept) - before) / 2**20, "kept MB": (kept - before) / 2**20})


def generate(n_items: int, width: int, n_tags: int, seed: int = 0) -> tuple[np.ndarray, Any]:
    """One dense view, and tags as CSR."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(seed)
    kind = rng.integers(KINDS, size=n_items)
    looks = rng.standard_normal((n_items, width), dtype=np.float32)
    looks += rng.standard_normal((KINDS, width), dtype=np.float32)[kind]
    edges = np.cumsum(1.0 / np.arange(1, n_tags + 1))
    edges /= edges[-1]
    words = np.stack([rng.permutation(n_tags) for _ in range(KINDS)])  # the words of each kind, most frequent first
    row = np.repeat(np.arange(n_items), rng.poisson(PER_ITEM, n_items))
    drawn = np.minimum(np.searchsorted(edges, rng.random(row.size)), n_tags - 1)
    own = rng.random(row.size) < 0.5
    column = np.where(own, words[kind[row], drawn], drawn)
    tags = csr_matrix((np.ones(row.size, dtype=np.float32), (row, column)), shape=(n_items, n_tags))
    tags.data[:] = 1.0
    return looks, tags


def main() -> None:
    """One size: JSON on one line."""
    from manyview import TagCompleter, TagTable

    n_items, width, n_tags = map(int, sys.argv[1:4])
    looks, tags = generate(500, 16, 40)
    TagCompleter(n_jobs=1).fit({"looks": looks}, tags).propose(top=5)
    looks, tags = generate(n_items, width, n_tags)
    views, table = {"looks": looks}, TagTable.from_matrix(tags, [f"word{i}" for i in range(n_tags)])
    with watched() as figures:
        started = time.process_time()
        model = TagCompleter(n_jobs=1).fit(views, table)
        fitted = time.process_time()
        n_proposed = len(model.propose(top=5))
        figures.update({"fit": fitted - started, "propose": time.process_time() - fitted})
    assert n_proposed == 5 * n_items
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
