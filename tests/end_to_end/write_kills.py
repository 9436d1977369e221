"""Kills (-9) a program that accepts tags, writes them and takes it back; run as a program by ``test_write_kills``.

Every step runs in a forked child that says so when it is done. After a kill, nothing that was said may be lost, every
sidecar is whole, and the same step again goes on. The end has to be that of an undisturbed run.

Prints one JSON object: how many were killed, and everything that was wrong.
"""

import hashlib
import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from manyview import Collection
from manyview.collection.safety import check
from manyview.writeback import apply as write_back
from manyview.writeback import file_batches
from manyview.writeback.document import Refused
from manyview.writeback.editor import read_words
from tests.collection.samples import png
from tests.writeback.documents import PROGRAMS, other_program

write_back.GROUP = file_batches.GROUP = 3  # many small groups: more moments to die in
N_ITEMS = 24


def make(folder: Path) -> None:
    """Pictures with sidecars of other programs, every third without one."""
    source = folder / "pictures"
    source.mkdir(parents=True)
    for n in range(N_ITEMS):
        (source / f"{n:02}.png").write_bytes(png(n))
        if n % 3:
            content, _ = other_program(list(PROGRAMS)[n % 4], n)
            (source / (f"{n:02}.xmp" if n % 2 else f"{n:02}.png.xmp")).write_bytes(content)
    Collection.create(folder / "c.manyview", source).close()


def decide(collection: Collection, word: str, answer: bool, wanted: int) -> None:
    """One entry of the history, unless it is there."""
    if len(collection.history) < wanted:
        ids = collection.items.ids.tolist()
        collection.decide([(n, word) for n in ids if n % 5 != wanted % 5], answer, who="me")


def take_back(collection: Collection, which: int) -> None:
    """Undo the n-th batch, unless it is undone."""
    entry = [one for one in collection.history if one.kind == "apply"][which]
    if entry.undone_by is None:
        collection.undo(entry.id, who="me")


STEPS = (
    lambda c: decide(c, "first", True, 1),
    lambda c: c.apply(who="me"),
    lambda c: decide(c, "second", True, 3),
    lambda c: decide(c, "first", False, 4),
    lambda c: c.apply(who="me"),
    lambda c: take_back(c, 1),
    lambda c: c.apply(who="me"),
    lambda c: take_back(c, 0),
    lambda c: take_back(c, 2),
)


def start(folder: Path, step: int) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    code = 1
    try:
        os.close(reading)
        with Collection.open(folder / "c.manyview", write=True) as collection:
            STEPS[step](collection)
            os.write(writing, b"done")
        code = 0
    finally:
        os._exit(code)


def finish(child: int, reading: int) -> tuple[int, bool]:
    with os.fdopen(reading, "rb") as said:
        is_done = said.read() == b"done"
    _, status = os.waitpid(child, 0)
    return status, is_done


def state(folder: Path) -> dict[str, str]:
    """Everything that should be the same: not when it happened, nor the times of sidecars that items hold."""
    found = {key: value for key, value in check.digest(folder / "c.manyview").items() if key != "items"}
    for path in sorted((folder / "pictures").iterdir()):
        found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def facts(folder: Path) -> tuple[int, int]:
    """What may only grow: entries of the history, and files that were written or taken back."""
    with Collection.open(folder / "c.manyview") as collection:
        return len(collection.history), len([one for one in collection.history if one.undone_by])


def main() -> None:
    folder, n_kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)  # noqa: S311  moments, not secrets
    fresh, work = folder / "fresh", folder / "work"
    make(work)  # the catalogue holds whole paths: every round happens in the same place
    shutil.copytree(work, fresh)
    originals = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in (work / "pictures").glob("*.png")}
    expected, lengths = [], []
    for step in range(len(STEPS)):
        began = time.monotonic()
        status, _ = finish(*start(work, step))
        lengths.append(time.monotonic() - began)
        assert status == 0, f"step {step}: {status}"
        expected.append(state(work))
    wrong: list[str] = []
    n_killed = number = 0
    while n_killed < n_kills:
        number += 1
        shutil.rmtree(work)
        shutil.copytree(fresh, work)
        for step in range(len(STEPS)):
            for attempt in range(5):
                where = f"round {number}, step {step}"
                before = facts(work)
                child, reading = start(work, step)
                if attempt < 4 and chance.random() < 0.7:
                    time.sleep(chance.uniform(0, lengths[step]))
                    os.kill(child, signal.SIGKILL)
                status, is_done = finish(child, reading)
                killed = os.WIFSIGNALED(status)
                n_killed += killed
                if not killed and status:
                    wrong.append(f"{where}: ended with {status}")
                after = facts(work)
                if after < before:
                    wrong.append(f"{where}: the history was {before}, is {after}")
                wrong += [f"{where}: {s}" for s in check.problems(work / "c.manyview") if "belongs to nothing" not in s]
                wrong += damaged(work, originals, where)
                if is_done:
                    found = state(work)
                    differing = [k for k in expected[step] | found if expected[step].get(k) != found.get(k)]
                    wrong += [f"{where}: {key} differs" for key in differing if not key.startswith(".")]
                if not killed:
                    break
    print(json.dumps({"killed": n_killed, "rounds": number, "wrong": wrong[:20]}))


def damaged(work: Path, originals: dict[str, str], where: str) -> list[str]:
    """Originals that are not what they were, and sidecars that are not whole."""
    now = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in (work / "pictures").glob("*.png")}
    found = [f"{where}: an original is not what it was"] if now != originals else []
    for path in (work / "pictures").glob("*.xmp"):
        try:
            read_words(path.read_bytes())
        except Refused as error:
            found.append(f"{where}: {path.name}: {error}")
    return found


if __name__ == "__main__":
    main()
