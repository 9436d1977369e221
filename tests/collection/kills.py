"""Kills the work of ``steps`` at random moments, again and again; run as a program by ``test_kills``.

Prints one JSON object: how often it was killed, and everything that was wrong afterwards.
"""

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from manyview.collection.safety import check

from . import steps


def start(path: Path, source: Path):
    """A child that does the work, and the pipe on which it says what is done."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    status = 1
    try:
        os.close(reading)
        steps.work(path, source, lambda name, n: os.write(writing, f"{name} {n}\n".encode()))
        status = 0
    finally:
        os._exit(status)


def finish(child: int, reading: int) -> tuple[int, list[tuple[str, int]]]:
    with os.fdopen(reading, "rb") as said:
        lines = [line.split() for line in said.read().decode().splitlines()]
    _, status = os.waitpid(child, 0)
    return status, [(name, int(n)) for name, n in lines]


def after_a_kill(path: Path, said: list[tuple[str, int]]) -> list[str]:
    """What is wrong with a collection whose writer was killed. Strays are not: the next writer sweeps them."""
    found = [sentence for sentence in check.problems(path) if "belongs to nothing" not in sentence]
    if not said and any("is unfinished: `manyview init` was interrupted" in sentence for sentence in found):
        return []  # killed while the catalogue was being made; nothing had been promised
    return found + [f"{name} {n} was acknowledged" for name, n in said if steps.count(path, name) < n]


def main() -> None:
    folder, source, n_kills, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    chance = random.Random(seed)  # noqa: S311  moments, not secrets
    wrong: list[str] = []
    started = time.monotonic()
    status, _ = finish(*start(folder / "whole.manyview", source))
    length = time.monotonic() - started
    assert status == 0, "the undisturbed work failed"
    expected = check.digest(folder / "whole.manyview")
    killed = round_ = 0
    while killed < n_kills:
        path = folder / f"{round_}.manyview"
        round_ += 1
        for attempt in range(1000):
            child, reading = start(path, source)
            if killed < n_kills and attempt < 4:  # then let it finish, and look at the end
                time.sleep(chance.uniform(0, length / 2))
                os.kill(child, signal.SIGKILL)
            status, said = finish(child, reading)
            if os.WIFSIGNALED(status):
                killed += 1
            elif status != 0:
                wrong.append(f"{path.name}: the work failed when done again")
                break
            if not (path / "catalog.sqlite").exists() or not (path / "catalog.sqlite").stat().st_size:
                continue  # killed before there was anything
            if status:
                wrong += [f"{path.name}: {sentence}" for sentence in after_a_kill(path, said)]
                continue
            found = check.digest(path)
            wrong += [
                f"{path.name}: {name} differs" for name in expected | found if expected.get(name) != found.get(name)
            ]
            wrong += [f"{path.name}: {p}" for p in check.problems(path)]
            break
    print(json.dumps({"killed": killed, "wrong": wrong[:20], "seconds": length}))


if __name__ == "__main__":
    main()
