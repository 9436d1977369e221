"""``python -m tests.cli.stop_each_step [N]``: Ctrl-C in the middle of every step of `manyview fit`, on N made items.

One child is forked for each step, so that none pays for a start of Python. Prints one JSON object: for each step the
seconds of the processor and of the clock from the signal to the end of the process, and what was wrong: another code
than 130, a run that was kept in part, a lock that is still held.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from manyview import Collection, steps
from manyview.cli.main import app
from manyview.cli.stopping import INTERRUPTED
from manyview.collection.safety import check

SHORT = 0.002
"""Seconds; a step that takes less may be over before the signal is heard."""
WORDS = ("beach", "forest", "street", "kitchen", "harbour", "mountain")


def make(folder: Path, n_items: int) -> Path:
    """Items of six groups in two views, a third of them with the word of their group."""
    rng = np.random.default_rng(0)
    groups = np.arange(n_items) % len(WORDS)
    centres = rng.normal(size=(len(WORDS), 40)) * 2
    views = {f"view_{name}": (centres[groups] + rng.normal(size=(n_items, 40))).astype(np.float32) for name in "ab"}
    tags = (groups[:, None] == np.arange(len(WORDS))) & (rng.random((n_items, 1)) < 1 / 3)
    np.savez(folder / "items.npz", **views, tags=tags.astype(np.uint8), tag_names=list(WORDS))
    path = folder / "items.manyview"
    Collection.create(path, folder / "items.npz").close()
    return path


def fit(path: Path) -> int:
    """The command, in this process; its exit status."""
    try:
        app(["fit", str(path), "--jobs", "1", "--json"])
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def durations(path: Path) -> dict[str, float]:
    """What each step of a fit takes, by the clock; whatever is compiled at the first time has been."""
    found: dict[str, float] = {}
    end = steps.Work.end

    def ended(work: steps.Work) -> float:
        name, took = work.name, end(work)
        found[name] = took
        return took

    steps.Work.end = ended  # type: ignore[method-assign]
    for n in range(2):
        copy = path.with_name(f"try{n}.manyview")
        shutil.copytree(path, copy)
        fit(copy)
    steps.Work.end = end  # type: ignore[method-assign]
    return found


def stop_in(step: str, after: float, path: Path) -> dict[str, object] | None:
    """A fit that gets a Ctrl-C so many seconds after a step has begun; None where the step was over by then."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        begin, end, told_once = steps.Work.begin, steps.Work.end, threading.Lock()

        def interrupt() -> None:
            time.sleep(after)
            if told_once.acquire(blocking=False):
                os.write(writing, f"{time.process_time()} {time.monotonic()}".encode())
                os.kill(os.getpid(), signal.SIGINT)

        def begun(work: steps.Work, name: str, of: float) -> None:
            begin(work, name, of)
            if name == step:
                threading.Thread(target=interrupt, daemon=True).start()

        def ended(work: steps.Work) -> float:
            if work.name == step and after > SHORT and told_once.acquire(blocking=False):
                os.write(writing, b"late")
                os._exit(0)
            return end(work)

        steps.Work.begin = begun  # type: ignore[method-assign]
        steps.Work.end = ended  # type: ignore[method-assign]
        code = 1
        try:
            code = fit(path)
        except KeyboardInterrupt:  # just after the command
            code = INTERRUPTED
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read().split()
    _, status, used = os.wait4(child, 0)
    over = time.monotonic()
    if told == [b"late"]:
        return None
    if not told:
        return {"wrong": [f"{step}: it never began"]}
    used_then, then = map(float, told)
    wrong = []
    if os.waitstatus_to_exitcode(status) != INTERRUPTED:
        wrong.append(f"{step}: it ended with {os.waitstatus_to_exitcode(status)}")
    with Collection.open(path, write=True) as found:  # a lock that is still held would refuse this
        n_runs = len(found.runs)
    is_whole = not check.problems(path)
    if n_runs or not is_whole:
        wrong.append(f"{step}: {n_runs} runs were kept, the collection is {'whole' if is_whole else 'damaged'}")
    return {"cpu": used.ru_utime + used.ru_stime - used_then, "clock": over - then, "wrong": wrong}


def main(n_items: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = make(Path(folder), n_items)
        out = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the command talks
        found = {}
        for number, (step, took) in enumerate(durations(path).items()):
            copy, stopped = path.with_name(f"{number}.manyview"), None
            while stopped is None:  # again where the machine had more to do while it was measured
                took /= 2
                shutil.rmtree(copy, ignore_errors=True)
                shutil.copytree(path, copy)
                stopped = stop_in(step, took, copy)
            found[step] = stopped
        os.dup2(out, 1)
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
