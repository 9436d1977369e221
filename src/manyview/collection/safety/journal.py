"""Which files are being read just now, so that even a crash is charged to its file.

A name is appended before its file is opened, and again when it has been read. After a death the names that were
opened and not closed are the suspects. An innocent file may be among them (somebody pulled the plug), so a suspect is
tried again, and when the program has died over it three times with nothing else achieved in between, a child reads it
alone: where that dies too, the file is given up.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from ...durable import PRIVATE_FILE, store_errors

__all__ = ["DEATHS", "Journal"]

DEATHS = 3
"""How often the program may die over a file before the file is left out."""


class Journal:
    """Files, one line each, in a file that outlives the process.

    A file is a name and, where given, a stamp that changes when the file does: another stamp is another chance.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: int | None = None
        self._open: dict[tuple[str, str], None] = {}
        self.deaths = self._read()
        """Suspects of earlier runs: name and stamp -> how often the program died over it."""

    def _read(self) -> dict[tuple[str, str], int]:
        deaths: dict[tuple[str, str], int] = {}
        opened: dict[tuple[str, str], None] = {}
        try:
            lines = self._path.read_bytes().splitlines()
        except FileNotFoundError:
            return {}
        for line in lines:
            try:
                mark, name, stamp, *count = json.loads(line)
                if mark == "died":
                    deaths[name, stamp] = int(count[0])
                elif mark == "open":
                    opened[name, stamp] = None
                elif mark == "done":
                    opened.pop((name, stamp), None)
            except (ValueError, TypeError, IndexError):  # the line during which the program died
                continue
        suspects = {file: deaths.get(file, 0) + 1 for file in opened}
        return {**{file: count for file, count in deaths.items() if count >= DEATHS}, **suspects}

    def start(self) -> None:
        """Begin anew, with the suspects of earlier runs."""
        with store_errors(self._path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC
            self._handle = os.open(self._path, flags, PRIVATE_FILE)
        self._append(("died", *file, count) for file, count in self.deaths.items())

    def opening(self, name: str, stamp: str = "") -> None:
        """To be called before a file is opened."""
        self._open[name, stamp] = None
        self._append([("open", name, stamp)])

    def done(self, name: str, stamp: str = "") -> None:
        """The file was read, or refused; either way the program is alive."""
        self._open.pop((name, stamp), None)
        self._append([("done", name, stamp)])

    def progress(self) -> None:
        """Something was written down for good: deaths before it prove nothing. The file starts anew and stays small."""
        if self._handle is None:
            return
        given_up = {file: count for file, count in self.deaths.items() if count >= DEATHS}
        with store_errors(self._path):
            os.ftruncate(self._handle, 0)
        self._append(("died", *file, count) for file, count in given_up.items())
        self._append(("open", *file) for file in self._open)

    def given_up(self, name: str, stamp: str = "") -> bool:
        """Did the program die over this file too often?"""
        return self.deaths.get((name, stamp), 0) >= DEATHS

    def acquit(self, name: str, stamp: str = "") -> None:
        """The file was read by another program, which lived: whatever ended ours was not the file."""
        self.deaths.pop((name, stamp), None)

    def finish(self) -> None:
        """The work has ended in order."""
        if self._handle is not None:
            self._open.clear()
            self.progress()
            os.close(self._handle)
            self._handle = None

    def _append(self, lines: Iterable[tuple[str | int, ...]]) -> None:
        if self._handle is None:
            self.start()
        text = "".join(json.dumps(line) + "\n" for line in lines).encode("ascii")
        with store_errors(self._path):
            # One write, no sync: a name has to survive the death of the program, not of the machine.
            os.write(self._handle or 0, text)
