"""What the commands cost on a collection of 50,000 items with ready features: seconds and memory of each.

Two dense views and a third of the items tagged, twenty overlapping classes, generated. Every command is a process of
its own, as a person starts it; memory is its largest resident size, in which pages of files count that the system may
drop, "own" the largest that is no file's; CPU seconds are those of the process and its children.
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
from pathlib import Path

import numpy as np

from manyview import metrics

from .table import Table

N_ITEMS, QUICK, K, N_TAGS = 50_000, 2_000, 20, 60
FIGURES = ("seconds", "CPU s", "memory MB", "own MB")
WIDTHS = {"looks": 128, "colour": 64}


def tables(quick: bool) -> Iterator[Table]:
    n_items = QUICK if quick else N_ITEMS
    made = Table(f"{n_items:,} items, ready features: the commands", FIGURES)
    with tempfile.TemporaryDirectory() as folder:
        source, path = Path(folder) / "items.npz", Path(folder) / "items.manyview"
        y = generate(source, n_items)
        late = Path(folder) / "late.npz"
        generate(late, n_items // 50, seed=1)
        commands = {
            "init": ("init", source, "-o", path),
            "fit -k 20": ("fit", path, "-k", str(K)),
            "fit": ("fit", path),
            "show": ("show", path),
            "show --items": ("show", path, "--items", "--json"),
            "show --item": ("show", path, "--item", "7"),
            "report": ("report", path),
            f"add of {n_items // 50:,}": ("add", path, late),
            "edit rename": ("edit", path, "rename", "1", "first"),
            "edit merge": ("edit", path, "merge", "1", "2"),
            "edit split": ("edit", path, "split", "3"),
            "edit pin": ("edit", path, "pin", "4"),
            "history": ("history", path),
            "suggest": ("suggest", path, "-o", Path(folder) / "proposals.csv"),
            "suggest --open --tag": ("suggest", path, "--open", "--tag", "word7"),
            "accept of 10,000": ("accept", path, "--from", Path(folder) / "chosen.csv"),
            "reject --tag": ("reject", path, "--tag", "word7", "--min-probability", "0.05"),
            "eval --draws 1": ("eval", path, "--draws", "1"),
        }
        for name, arguments in commands.items():
            if name.startswith("accept"):
                lines = (Path(folder) / "proposals.csv").read_text(encoding="utf-8").splitlines(keepends=True)
                (Path(folder) / "chosen.csv").write_text("".join(lines[:10_001]), encoding="utf-8")
            cost, said = measured(arguments)
            made.add(name, [cost])
            if name == "show --items":
                labels = np.array([item["label"] for item in json.loads(said)["items"]])
                made.notes.append(
                    f"fit without -k: {np.unique(labels).size} clusters for {K} classes, "
                    f"NMI {metrics.normalized_mutual_info(y, labels):.3f}"
                )
    yield made


def generate(path: Path, n_items: int, seed: int = 0) -> np.ndarray:
    """Views around one centre per class, and three tags of the class for a third of the items."""
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n_items)
    arrays = {}
    for name, width in WIDTHS.items():
        centres = 0.5 * np.random.default_rng(width).standard_normal((K, width), dtype=np.float32)
        arrays[f"view_{name}"] = rng.standard_normal((n_items, width), dtype=np.float32) + centres[y]
    tagged = np.flatnonzero(rng.random(n_items) < 1 / 3)
    tags = np.zeros((n_items, N_TAGS), dtype=np.uint8)
    for number in range(3):
        tags[tagged, 3 * y[tagged] + number] = rng.random(tagged.size) < 0.7
    np.savez(path, **arrays, tags=tags, tag_names=[f"word{number}" for number in range(N_TAGS)])
    return y


def measured(arguments: tuple[object, ...]) -> tuple[dict[str, float], str]:
    """Run one command: what it cost, and what it said."""
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        command = [sys.executable, "-m", "manyview", *map(str, arguments)]
        process = subprocess.Popen(command, stdout=said)
        own, ended = [0.0], threading.Event()
        watcher = threading.Thread(target=_watch, args=(process.pid, own, ended))
        watcher.start()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        ended.set()
        watcher.join()
        assert os.waitstatus_to_exitcode(status) == 0, command
        said.seek(0)
        return {**costs(used, seconds), "own MB": own[0]}, said.read()


def costs(used: resource.struct_rusage, seconds: float) -> dict[str, float]:
    """What the system says a process took."""
    return {"seconds": seconds, "CPU s": used.ru_utime + used.ru_stime, "memory MB": used.ru_maxrss / 1024}


def own_memory(pid: int) -> float:
    """MB of a process that are no file's; 0 where it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / 1024


def _watch(pid: int, largest: list[float], ended: threading.Event) -> None:
    while not ended.wait(0.02):
        largest[0] = max(largest[0], own_memory(pid))
