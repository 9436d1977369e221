"""Kills (-9) a program that writes tags into the files themselves, and takes it back; run by ``test_write_kills``.

After every kill each picture shows what it showed, with its mode and what other programs left in it; the check finds
nothing wrong, only work that is not finished; and the same call again finishes it. In the end all files are, byte for
byte and with their times, what they were. Prints one JSON object: how many were killed, and everything that was wrong.
"""

from __future__ import annotations

import json
import os
import random
import signal
import stat
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from manyview import Collection
from manyview.collection.safety import check
from manyview.collection.safety.unfinished import unfinished
from manyview.ingest.keywords import read_keywords
from tests.writeback import fake_exiftool

N_ITEMS = 6
FOREIGN = b"\xff\xed\x00\x16" + b"Another tool 1\0was here"[:20]
COMMENT = b"somebody's note"


def make(folder: Path) -> Path:
    """Pictures of several modes, with a comment and a segment of another program."""
    source = folder / "pictures"
    source.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for n in range(N_ITEMS):
        path = source / f"{n}.jpg"
        Image.fromarray(rng.integers(0, 255, (40, 60, 3), dtype=np.uint8)).save(path, comment=COMMENT)
        content = path.read_bytes()
        path.write_bytes(content[:2] + FOREIGN + content[2:])
        path.chmod(0o640 if n % 2 else 0o604)
        os.utime(path, ns=(10**18 + n, 10**18 + n))
    with Collection.create(folder / "c.manyview", source) as collection:
        collection.decide([(n, f"tag {n}") for n in collection.items.ids.tolist()], True)
    return source


def look(source: Path) -> dict[str, Any]:
    """What has to stay whatever is written: the picture, the mode, and what others left."""
    found = {}
    for path in sorted(source.glob("[0-9]*.jpg")):
        content = path.read_bytes()
        with Image.open(path) as image:
            pixels = np.asarray(image.convert("RGB")).tobytes()
            comment = image.info.get("comment")
        found[path.name] = (pixels, stat.S_IMODE(path.stat().st_mode), comment, FOREIGN in content)
    return found


def tags(source: Path) -> list[list[str]]:
    found = []
    for path in sorted(source.glob("[0-9]*.jpg")):
        with path.open("rb") as file:
            found.append(read_keywords(file, "jpeg").tags)
    return found


def write(collection: Collection) -> None:
    collection.apply("embedded", who="me")


def take_back(collection: Collection) -> None:
    entries = [one for one in collection.history if one.kind == "apply" and one.undone_by is None]
    if entries:
        collection.undo(entries[-1].id, who="me")


def killed(path: Path, act: Any, after: float | None) -> bool:
    """Do it in a child, and kill that with its tools after so many seconds; was it killed?"""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setpgid(0, 0)
            with Collection.open(path, write=True) as collection:
                act(collection)
            code = 0
        finally:
            os._exit(code)
    if after is not None:
        time.sleep(after)
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if status and not os.WIFSIGNALED(status):
        raise AssertionError(f"ended with {status}")
    return os.WIFSIGNALED(status)


def main() -> None:
    folder, n_kills = Path(sys.argv[1]), int(sys.argv[2])
    chance = random.Random(0)  # noqa: S311  moments, not secrets
    fake_exiftool.put(folder)
    source, path = make(folder), folder / "c.manyview"
    expected = look(source)
    originals = {one.name: (one.read_bytes(), one.stat().st_mtime_ns) for one in sorted(source.iterdir())}
    wrong: list[str] = []
    n_killed = rounds = n_unfinished = 0
    lengths = []
    for act in (write, take_back):  # once undisturbed, to know how long it takes
        began = time.monotonic()
        killed(path, act, None)
        lengths.append(time.monotonic() - began)
    while n_killed < n_kills:
        rounds += 1
        for act, length in zip((write, take_back), lengths, strict=True):
            for attempt in range(4):
                where = f"round {rounds}, {act.__name__}, attempt {attempt}"
                was_killed = killed(path, act, chance.uniform(0, length) if attempt < 3 else None)
                n_killed += was_killed
                if look(source) != expected:
                    wrong.append(f"{where}: a picture, its mode or others' fields are not what they were")
                wrong += [f"{where}: {one}" for one in check.problems(path) if "belongs to nothing" not in one]
                n_unfinished += bool(unfinished(path))
                if not was_killed:
                    break
            if unfinished(path):
                wrong.append(f"{where}: {unfinished(path)}")
            wanted = [[f"tag {n + 1}"] if act is write else [] for n in range(N_ITEMS)]
            if tags(source) != wanted:
                wrong.append(f"{where}: the files hold {tags(source)}")
        found = {one.name: (one.read_bytes(), one.stat().st_mtime_ns) for one in sorted(source.iterdir())}
        if found != originals:
            differing = [name for name in originals | found if originals.get(name) != found.get(name)]
            wrong.append(f"round {rounds}: {differing} are not what they were")
            break
    print(json.dumps({"killed": n_killed, "unfinished": n_unfinished, "wrong": wrong[:20]}))


if __name__ == "__main__":
    main()
