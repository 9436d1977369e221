"""The tags of a collection as one table, for other programs."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path

from .. import durable
from ..collection.store import Store
from ..errors import ParameterError
from ..ingest.rows import MARKS, NOTHING
from .cells import as_cell, list_of

__all__ = ["export_tags"]


def export_tags(collection: Store, form: str, output: str | os.PathLike[str] | None) -> int:
    """Write every item with its accepted and all of its tags to a CSV or JSON file; how many items there are.

    The file is there whole or not at all.
    """
    if output is None:
        raise ParameterError(f"a {form} file needs a name: -o FILE on the command line, output= in Python.")
    path = Path(output)
    collection.check_output(path, list_of(_COLUMNS))
    accepted, names = _accepted(collection), collection.tagging.vocabulary()
    rows = [
        (
            item.id,
            _plain(item.key),
            _plain(item.path or ""),
            accepted.get(item.id, []),
            collection.tagging.words_of(item.id, names),
        )
        for item in collection.items
    ]
    text = _json(rows) if form == "json" else _csv(rows)
    durable.write_output(path, text.encode("utf-8"))
    return len(rows)


def _accepted(collection: Store) -> dict[int, list[str]]:
    pairs = collection.decisions.accepted()
    names = collection.tagging.names({tag for _, tag in pairs})
    found: dict[int, list[str]] = {}
    for item, tag in pairs:
        found.setdefault(item, []).append(names[tag])
    return found


def _plain(name: str) -> str:
    """A file name as text; bytes that are no letters are shown as such."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


Row = tuple[int, str, str, list[str], list[str]]
_COLUMNS = ("id", "item", "path", "accepted", "tags")


def _json(rows: Iterable[Row]) -> str:
    items = [dict(zip(_COLUMNS, row, strict=True)) for row in rows]
    return json.dumps({"items": items}, ensure_ascii=False, indent=1) + "\n"


def _csv(rows: list[Row]) -> str:
    words = {word for row in rows for part in row[3:] for word in part}
    join = _listed if any(_is_unclear(word) for word in words) else MARKS[0].join
    written = io.StringIO(newline="")
    table = csv.writer(written)
    table.writerow(_COLUMNS)
    for number, item, path, *parts in rows:
        table.writerow((number, as_cell(item), as_cell(path), *map(join, parts)))
    return written.getvalue()


def _is_unclear(word: str) -> bool:
    """Would a word be read as several, as a list or as none, or taken for a formula?"""
    return any(mark in word for mark in MARKS) or word in NOTHING or word.startswith("[") or as_cell(word) != word


def _listed(words: list[str]) -> str:
    return json.dumps(words, ensure_ascii=False) if words else ""
