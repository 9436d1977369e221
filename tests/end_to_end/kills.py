"""Stops `manyview init`, `features` and `fit` at random moments; run as a program by ``test_stops``.

Every command runs in a forked child, so that a kill costs no new start of Python. With "kill", children are killed
(-9) and the same command is given again until it ends; nothing that was there may be lost, and the end must be that of
an undisturbed run. With "interrupt" they get a Ctrl-C: they must end by themselves, soon, with code 130, and leave no
process behind. "both" takes turns.

Prints one JSON object: how many were stopped, and everything that was wrong.
"""

import json
import os
import random
import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from manyview import Collection
from manyview.cli import features, fit, init
from manyview.cli.main import app
from manyview.collection.safety import check
from manyview.errors import StoreError
from manyview.features.embedding import load_onnxruntime
from manyview.ingest import folder as folder_reading
from manyview.workflow import compute
from manyview.workflow import fit as fit_workflow
from manyview.workflow.reading.inventory import take_inventory
from manyview.workflow.start import start_collection

load_onnxruntime()  # before the forks, as all of the above
folder_reading._BATCH = compute._BATCH = 3  # many small batches: more moments to die in
_SOON = 30.0  # seconds; what is left behind stays
COMMANDS = ("init", "features", "fit")


def arguments(name: str, path: Path, source: Path) -> list[str]:
    more = {"init": [str(source), "-o", str(path)], "features": [str(path), "--view", "embedding", "--view", "edges"]}
    return [name, *more.get(name, [str(path), "-k", "2", "--jobs", "1"])]


def start(name: str, path: Path, source: Path) -> tuple[int, int]:
    """A child that runs one command, and the pipe on which it says how many files are done for good."""
    reading, writing = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # a Ctrl-C is for the command, not for what leads to it
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        os.close(writing)
        os.read(reading, 1)  # the command begins
        return child, reading
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setpgid(0, 0)
        os.close(reading)

        def told(what: str, done: int, total: int) -> None:
            if what == "looking at files":
                os.write(writing, f"{done}\n".encode())

        @contextmanager
        def progress():
            yield told

        for part in (init, features, fit):
            part.progress = progress
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        command = arguments(name, path, source)
        os.write(writing, b"\n")
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
            app(command)
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    except SystemExit as ended:
        code = ended.code or 0
    except KeyboardInterrupt:  # just before or after the command: Python's own way out
        code = 130
    finally:
        os._exit(code)


def finish(child: int, reading: int) -> tuple[int, int]:
    """How the child ended, and how many files it said were done."""
    with os.fdopen(reading, "rb") as said:  # the decoding children do not hold this pipe
        done = [int(line) for line in said.read().decode().splitlines()]
    _, status = os.waitpid(child, 0)
    return status, max(done, default=0)


def held(path: Path) -> dict[str, int]:
    """How much of everything is there."""
    if not (path / "catalog.sqlite").exists() or not (path / "catalog.sqlite").stat().st_size:
        return {}
    try:
        opened = Collection.open(path)
    except StoreError as error:
        if "is unfinished: `manyview init` was interrupted" not in str(
            error
        ):  # killed before the first table was there
            raise
        return {}
    with opened as collection:
        rows = {name: int(collection.segments.matrix(name)[1].sum()) for name in collection.view_names}
        looked = len(collection.items.fingerprints()) + sum(p.stage == "decode" for p in collection.items.problems())
        known = int(collection._catalog.value("SELECT count(*) FROM items"))
        return {"items": known, "runs": len(collection.runs), "looked": looked, **rows}


def left_behind(group: int) -> list[int]:
    """Processes of a child that has ended."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if folder.name.isdigit() and int(words[2]) == group and words[0] != "Z":
            found.append(int(folder.name))
    return found


def gone_soon(group: int) -> bool:
    """Are all processes of a group gone, at once or a moment later?"""
    until = time.monotonic() + _SOON
    while left_behind(group):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def warm_up(folder: Path) -> None:
    """Import and compile before the forks, on one thread: a fork copies no others."""
    np.savez(folder / "warm.npz", looks=np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32))
    with start_collection(folder / "warm.manyview", folder / "warm.npz") as collection:
        take_inventory(collection)
        fit_workflow.fit_collection(collection, n_clusters=2, n_jobs=1)


class Stops:
    """Runs all commands over and over, until enough of them were stopped."""

    def __init__(self, folder: Path, source: Path, way: str, n_stops: int, seed: int) -> None:
        self.folder, self.source, self.way, self.left = folder, source, way, n_stops
        self.chance = random.Random(seed)  # noqa: S311  moments, not secrets
        self.wrong: list[str] = []
        self.slowest = 0.0
        self.stopped = 0
        self.length = {}
        for name in COMMANDS:
            child = start(name, folder / "whole.manyview", source)
            started = time.monotonic()
            status, _ = finish(*child)
            self.length[name] = time.monotonic() - started
            assert os.WEXITSTATUS(status) in (0, 3), f"{name}: {status}"
        self.expected = check.digest(folder / "whole.manyview")

    def round(self, number: int) -> None:
        path = self.folder / f"{number}.manyview"
        for name in COMMANDS:
            for attempt in range(100):
                may_stop = self.left > 0 and attempt < 3 and self.chance.random() < 0.6
                if self.once(name, path, may_stop):
                    break
        found = check.digest(path)
        self.wrong += [f"{number}: {k} differs" for k in self.expected | found if self.expected.get(k) != found.get(k)]
        self.wrong += [f"{number}: {sentence}" for sentence in check.problems(path)]

    def once(self, name: str, path: Path, may_stop: bool) -> bool:
        """Give one command; did it do its work?"""
        before = held(path)
        child, reading = start(name, path, self.source)
        asked = 0.0
        if may_stop:
            time.sleep(self.chance.uniform(0, self.length[name]))
            asked = time.monotonic()
            kill = self.way == "kill" or (self.way == "both" and self.stopped % 2 == 0)
            os.kill(child, signal.SIGKILL if kill else signal.SIGINT)
        status, looked = finish(child, reading)
        code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        stopped = code in (-signal.SIGKILL, 130)
        if stopped:
            self.left -= 1
            self.stopped += 1
            self.slowest = max(self.slowest, time.monotonic() - asked)
        elif code not in (0, 3):
            self.wrong.append(f"{path.name}: {name} ended with {code}")
        if not gone_soon(child):
            self.wrong.append(f"{path.name}: {name} left processes behind")
        after = held(path)
        if after or not stopped:
            strange = [p for p in check.problems(path) if "belongs to nothing" not in p]
            self.wrong += [f"{path.name}: after {name}: {sentence}" for sentence in strange]
        lost = [f"{key} {n} -> {after.get(key, 0)}" for key, n in before.items() if after.get(key, 0) < n]
        if name != "init" and after.get("looked", 0) < looked and not before.get("looked"):
            lost.append(f"{looked} files were said to be done, {after.get('looked', 0)} are")
        self.wrong += [f"{path.name}: {name} lost {sentence}" for sentence in lost]
        return not stopped or (name == "fit" and after.get("runs", 0) > before.get("runs", 0))


def main() -> None:
    folder, source, way, n_stops, seed = Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:6]
    warm_up(folder)
    stops = Stops(folder, source, way, int(n_stops), int(seed))
    number = 0
    while stops.left > 0:
        stops.round(number)
        number += 1
    print(json.dumps({"stopped": stops.stopped, "wrong": stops.wrong[:20], "slowest": stops.slowest}))


if __name__ == "__main__":
    main()
