"""What is in a collection's folder: file names, and the formats of the catalogue, oldest first.

::

    holiday.manyview/
    ├── catalog.sqlite     every table of formats/
    ├── views/<view>/      feature segments: <segment>.npy, or .data.npy, .indices.npy and .indptr.npy
    ├── thumbs/            packs of thumbnails, many in one file
    ├── runs/<run>/        fitted models: manifest.json and .npy
    ├── undo/<batch>/      sidecars as they were before manyview wrote to them
    ├── answers.jsonl      every answer of a person a second time, one line of JSON each
    ├── set-aside/<time>/  what `manyview doctor --repair` has replaced
    ├── work/<fit>/        what a fit that is running, or was stopped, has found so far
    ├── journal            names of the files being read just now
    └── lock, readers      who writes, who reads

A file that the catalogue does not name does not exist. Paths and keys are bytes, for names that are not UTF-8.
"""

from __future__ import annotations

import re
from pathlib import Path

from .formats import format_1, format_2, format_3, format_4, format_5

__all__ = ["APPLICATION", "CATALOG", "FORMAT", "MIGRATIONS", "NAMES", "view_folder"]

CATALOG = "catalog.sqlite"
VIEWS = "views"
THUMBS = "thumbs"
RUNS = "runs"
UNDO = "undo"
ANSWERS = "answers.jsonl"
ASIDE = "set-aside"
JOURNAL = "journal"
WORK = "work"
LOCK = "lock"
READERS = "readers"
FOLDERS = (VIEWS, THUMBS, RUNS, UNDO)
NAMES = frozenset(
    {
        CATALOG,
        f"{CATALOG}-wal",
        f"{CATALOG}-shm",
        f"{CATALOG}-journal",
        ANSWERS,
        ASIDE,
        JOURNAL,
        WORK,
        LOCK,
        READERS,
        *FOLDERS,
    }
)
"""Everything that may stand in the folder."""

APPLICATION = 0x6D766577
"""SQLite's application_id, so that the catalogue is known for ours: "mvew"."""

MIGRATIONS = (format_1.SCHEMA, format_2.SCHEMA, format_3.SCHEMA, format_4.SCHEMA, format_5.SCHEMA)
"""MIGRATIONS[n] turns format n into format n + 1. Append only: what was released is never edited."""

FORMAT = len(MIGRATIONS)
"""The format this version writes, kept as SQLite's user_version."""

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,59}")


def view_folder(root: Path, view_id: int, name: str) -> Path:
    """The folder of a view: its name, where that is a plain one on every file system, else its number."""
    plain = _PLAIN.fullmatch(name) and not name.endswith(".")
    return root / VIEWS / (name if plain else f"view-{view_id}")
