"""Two hundred emoji as a collection with everything the gallery shows, and a server for it."""

from __future__ import annotations

import csv
import ctypes
import os
import pty
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from manyview.datasets import unpack_emoji
from manyview.workflow.fit import fit_collection
from manyview.workflow.proposing.suggest import suggest_tags
from manyview.workflow.start import start_collection

N_ITEMS = 200
N_CLUSTERS = 10
KEPT = 0.65
"""Share of the tags that the collection knows; the rest can be proposed."""


def make_demo(folder: Path, *, n_items: int = N_ITEMS, fitted: bool = True) -> Path:
    """Fitted twice, with proposals; each fit has its map."""
    rows = unpack_emoji(folder / "emoji")
    draw = random.Random(1)  # noqa: S311  not a secret
    chosen = sorted(draw.sample(range(len(rows)), n_items))
    table = folder / "items.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["file", "name", "tags"])
        for row in (rows[number] for number in chosen):
            tags = [tag for tag in row["tags"].split(";") if draw.random() < KEPT]
            writer.writerow([row["file"], row["name"], ";".join(tags)])
    path = folder / "emoji.manyview"
    columns = {"id": "name", "image": "file", "tags": "tags", "root": folder / "emoji" / "images"}
    with start_collection(path, table, **columns) as collection:
        if fitted:
            fit_collection(collection, "rmkmc", N_CLUSTERS)
            fit_collection(collection, "consensus", N_CLUSTERS)
            suggest_tags(collection)
    return path


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Server:
    """``manyview serve`` at a terminal of its own; it ends with the tests, also where those are killed."""

    def __init__(self, collection: Path) -> None:
        self.collection = collection
        self.start()

    def start(self, port: int = 0) -> None:
        command = [sys.executable, "-m", "manyview", "serve", str(self.collection), "--no-browser", "--port", str(port)]
        self._terminal, its_end = pty.openpty()
        calm = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command,
            stdin=its_end,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **calm},
            preexec_fn=_end_with_parent,
        )
        os.close(its_end)
        self.base = self._address().split("?", 1)[0]

    def _address(self) -> str:
        """The next address it prints."""
        said = ""
        until = time.monotonic() + 60
        while not (found := re.search(r"http://\S+token=\w+", said)):
            line = self.process.stdout.readline()
            if not line or time.monotonic() > until:
                raise AssertionError(f"the gallery did not start: {said}")
            said += line
        return found.group(0)

    def new_url(self) -> str:
        """An address for one more browser, as Enter in the terminal prints it."""
        os.write(self._terminal, b"\n")
        return self._address()

    @property
    def port(self) -> int:
        return int(self.base.rstrip("/").rsplit(":", 1)[1])

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        finally:
            self.process.stdout.close()
            os.close(self._terminal)
