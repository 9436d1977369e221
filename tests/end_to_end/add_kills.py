"""Kills (-9) `manyview add` and `edit` at random moments; run as a program by ``test_add_kills``.

Each round takes a collection that was fitted and edited, lets its folder change, and gives `add` again and again until
it ends. The end must be that of an undisturbed run, with the same report; nothing a person said may be lost.

Prints one JSON object: how many were killed, and everything that was wrong.
"""

import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import time
import traceback
from pathlib import Path

from manyview import Collection
from manyview.cli.main import app
from manyview.collection.safety import check
from manyview.ingest import folder as folder_reading
from manyview.workflow import compute
from manyview.workflow.add import add_items
from manyview.workflow.clusters import edits
from manyview.workflow.fit import fit_collection
from tests.workflow.test_add import change, copy, picture

from .kills import gone_soon

folder_reading._BATCH = compute._BATCH = 3  # many small batches: more moments to die in
_PARTS = ("labels", "clusters", "adjustments", "started", "placements", "pinned", "links", "items", "view edges")
"""What an addition may change, and what a person said. Models, thumbnails and other views are compared elsewhere."""


def given(arguments: list[str]) -> int:
    """A child that runs one command."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setpgid(0, 0)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        app(arguments)
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def prepare(folder: Path) -> Path:
    """Sixteen pictures of two kinds, fitted, with a person's words on them."""
    (folder / "photos").mkdir(parents=True)
    for number in range(16):
        picture(folder / "photos" / f"{number:02d}.png", number, blue=number >= 8)
    with Collection.create(folder / "c.manyview", folder / "photos") as collection:
        fit_collection(collection, n_clusters=2, views=["color_moments", "edges"], n_jobs=1)
        edits.rename(collection, 1, "first")
        edits.pin(collection, 2)
        edits.link(collection, 5, 6, False)
    with sqlite3.connect(folder / "c.manyview" / "catalog.sqlite") as catalog:
        catalog.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    catalog.close()
    return folder


def state(path: Path) -> tuple[dict[str, str], dict[str, int]]:
    with Collection.open(path) as collection:
        ids, clusters = collection.runs.assignment()
        keys = {item.id: item.key for item in collection.items}
        last = list(collection.history)[-1]
    where = {keys[item]: cluster for item, cluster in zip(ids.tolist(), clusters.tolist(), strict=True)}
    found = check.digest(path)
    return {**{name: found[name] for name in _PARTS if name != "items"}, "said": last.summary}, where


def main() -> None:
    folder, n_kills, chance = Path(sys.argv[1]), int(sys.argv[2]), random.Random(int(sys.argv[3]))  # noqa: S311
    first = prepare(folder / "first")
    (folder / "whole").mkdir()
    path, photos = copy(first, folder / "whole")
    change(photos)
    with Collection.open(path, write=True) as collection:
        started = time.monotonic()
        add_items(collection, n_jobs=1)
        length = time.monotonic() - started
    expected, wrong, killed, rounds = state(path), [], 0, 0
    while killed < n_kills:
        rounds += 1
        (folder / f"{rounds}").mkdir()
        path, photos = copy(first, folder / f"{rounds}")
        change(photos)
        for attempt in range(20):
            child = given(["--debug", "add", str(path), "--jobs", "1"])
            if killed < n_kills and attempt < 4:
                time.sleep(chance.uniform(0, 1.2 * length))
                os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            if not gone_soon(child):
                wrong.append(f"{rounds}: processes were left behind")
            wrong += [f"{rounds}: {p}" for p in check.problems(path) if "belongs to nothing" not in p]
            if os.WIFSIGNALED(status):
                killed += 1
            elif os.WEXITSTATUS(status) == 0:
                break
            else:
                wrong.append(f"{rounds}: add ended with {os.WEXITSTATUS(status)}")
        found = state(path)
        # Killed after it was written down and before it could say so, it has nothing left to do: that is fine.
        wrong += [f"{rounds}: {name} differs" for name in expected[0] if found[0][name] != expected[0][name]]
        wrong += [f"{rounds}: items are elsewhere"] if found[1] != expected[1] else []
        shutil.rmtree(folder / f"{rounds}")
    print(json.dumps({"killed": killed, "rounds": rounds, "wrong": wrong[:20]}))


if __name__ == "__main__":
    main()
