"""What was done to a collection, by whom, and the way back.

An entry keeps every row it changed, as it was and as it became. Undoing puts the old rows back, if they still are as
the entry left them; where a later entry changed one of them, the refusal names that entry.
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ..errors import ParameterError, StoreError
from .catalog import Catalog, as_json

__all__ = ["Change", "Entry", "History", "now"]

_KEYS = {
    "clusters": ("id",),
    "placements": ("item_id",),
    "links": ("first_id", "second_id"),
    "decisions": ("item_id", "tag_id"),
}
"""The tables a person's edits live in, and their keys."""


def now() -> str:
    """The time, as it is kept: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Entry(NamedTuple):
    """One thing that was done."""

    id: int
    at: str
    who: str
    kind: str
    summary: str
    detail: dict[str, Any]
    undoes: int | None
    undone_by: int | None


class Change:
    """Changes rows and remembers how they were."""

    def __init__(self, catalog: Catalog, entry_id: int) -> None:
        self._catalog = catalog
        self.id = entry_id
        self._position = 0

    def put(self, table: str, **row: Any) -> None:
        """Insert a row, or set the given columns of the one with the same key."""
        before = self.row(table, **row)
        self._set(table, before, {**(before or {}), **row})

    def drop(self, table: str, **key: Any) -> None:
        """Take a row away; nothing happens where there is none."""
        before = self.row(table, **key)
        if before is not None:
            self._set(table, before, None)

    def row(self, table: str, **key: Any) -> dict[str, Any] | None:
        """The row as it is now, or None."""
        names = self._names(table)
        wanted = " AND ".join(f"{name} = ?" for name in _KEYS[table])
        found = self._catalog.row(
            f"SELECT {', '.join(names)} FROM {table} WHERE {wanted}",  # noqa: S608  names of the schema
            [key[name] for name in _KEYS[table]],
        )
        return None if found is None else dict(zip(names, found, strict=True))

    def _set(self, table: str, before: dict[str, Any] | None, after: dict[str, Any] | None) -> None:
        key = [(after or before or {})[name] for name in _KEYS[table]]
        if after is None:
            wanted = " AND ".join(f"{name} = ?" for name in _KEYS[table])
            self._catalog.run(f"DELETE FROM {table} WHERE {wanted}", key)  # noqa: S608  names of the schema
        elif before is None:
            marks = ", ".join("?" * len(after))
            self._catalog.run(
                f"INSERT INTO {table} ({', '.join(after)}) VALUES ({marks})",  # noqa: S608  names of the schema
                after.values(),
            )
            after = self.row(table, **dict(zip(_KEYS[table], key, strict=True)))  # with the defaults
        else:
            parts = ", ".join(f"{name} = ?" for name in after)
            wanted = " AND ".join(f"{name} = ?" for name in _KEYS[table])
            self._catalog.run(
                f"UPDATE {table} SET {parts} WHERE {wanted}",  # noqa: S608  names of the schema
                [*after.values(), *key],
            )
        self._catalog.run(
            "INSERT INTO changes (history_id, position, of_table, row_key, before, after) VALUES (?, ?, ?, ?, ?, ?)",
            (self.id, self._position, table, as_json(key), *(r if r is None else as_json(r) for r in (before, after))),
        )
        self._position += 1

    def _names(self, table: str) -> list[str]:
        if table not in _KEYS:
            raise ParameterError(f"changes of {table!r} are not kept; tables with history are {', '.join(_KEYS)}.")
        return [row[1] for row in self._catalog.rows(f"PRAGMA table_info({table})")]


class History:
    """Entries, oldest first: iterate, count, look one up, take one back."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def __len__(self) -> int:
        return int(self._catalog.value("SELECT count(*) FROM history"))

    def __iter__(self) -> Iterator[Entry]:
        return iter([_entry(row) for row in self._catalog.rows("SELECT * FROM history ORDER BY id")])

    def get(self, entry_id: int) -> Entry:
        """The entry of that number."""
        row = self._catalog.row("SELECT * FROM history WHERE id = ?", (int(entry_id),))
        if row is None:
            raise ParameterError(f"there is no entry {entry_id} in the history; it has {len(self)}.")
        return _entry(row)

    def last(self) -> Entry | None:
        """The newest entry that changed rows and is neither undone nor itself an undoing."""
        row = self._catalog.row(
            "SELECT * FROM history WHERE undone_by IS NULL AND undoes IS NULL AND id IN "
            "(SELECT history_id FROM changes) ORDER BY id DESC LIMIT 1"
        )
        return None if row is None else _entry(row)

    @contextmanager
    def record(
        self, kind: str, summary: str, *, who: str | None = None, detail: Mapping[str, Any] | None = None
    ) -> Iterator[Change]:
        """One entry: all that is changed through it happens together, and can be taken back together."""
        with self._catalog.transaction():
            yield Change(self._catalog, self._insert(kind, summary, who, detail, None))

    def _insert(
        self, kind: str, summary: str, who: str | None, detail: Mapping[str, Any] | None, undoes: int | None
    ) -> int:
        return self._catalog.run(
            "INSERT INTO history (at, who, kind, summary, detail, undoes) VALUES (?, ?, ?, ?, ?, ?)",
            (now(), who or _user(), kind, summary, as_json(dict(detail or {})), undoes),
        )

    def undo(self, entry_id: int, *, who: str | None = None) -> Entry:
        """Put back every row an entry changed, as an entry of its own. Undoing that one does it again."""
        entry = self.get(entry_id)
        if entry.undone_by is not None:
            raise StoreError(f"entry {entry_id} ({entry.summary}) was undone already, by entry {entry.undone_by}.")
        rows = self._catalog.rows(
            "SELECT of_table, row_key, before, after FROM changes WHERE history_id = ? ORDER BY position DESC",
            (entry.id,),
        )
        with self._catalog.transaction():
            new = self._insert("undo", f"undid {entry.id}: {entry.summary}", who, {}, entry.id)
            change = Change(self._catalog, new)
            for table, key, before, after in rows:
                names = dict(zip(_KEYS[table], json.loads(key), strict=True))
                current = change.row(table, **names)
                if (None if current is None else as_json(current)) != after:
                    raise StoreError(self._refusal(entry, table, key))
                change._set(table, current, None if before is None else json.loads(before))
            self._catalog.run("UPDATE history SET undone_by = ? WHERE id = ?", (new, entry.id))
            if entry.undoes is not None:  # doing again what had been undone
                self._catalog.run("UPDATE history SET undone_by = NULL WHERE id = ?", (entry.undoes,))
        return self.get(new)

    def _refusal(self, entry: Entry, table: str, key: str) -> str:
        later = self._catalog.row(
            "SELECT history.id, summary FROM changes JOIN history ON history.id = history_id WHERE of_table = ? AND "
            "row_key = ? AND history_id > ? AND undone_by IS NULL AND undoes IS NULL ORDER BY history.id DESC LIMIT 1",
            (table, key, entry.id),
        )
        why = (
            f"entry {later[0]} ({later[1]}) changed the same thing since; undo that first"
            if later
            else "it has changed"
        )
        return f"entry {entry.id} ({entry.summary}) cannot be undone: {why}. Nothing was changed."


def _entry(row: Any) -> Entry:
    number, at, who, kind, summary, detail, undoes, undone_by = row
    return Entry(number, at, who, kind, summary, json.loads(detail), undoes, undone_by)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container without a name for its user
        return "somebody"
