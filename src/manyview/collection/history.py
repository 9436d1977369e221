"""What was done to a collection, by whom, and the way back.

An entry keeps every row it changed, as it was and as it became. Undoing puts the old rows back, if they still are as
the entry left them; where a later entry changed one of them, the refusal names that entry.
"""

from __future__ import annotations

import getpass
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, NamedTuple

from ..errors import Conflict, ParameterError
from .catalog import Catalog, as_json

__all__ = ["Change", "Entry", "History", "now"]

_KEYS = {
    "clusters": ("id",),
    "placements": ("item_id",),
    "links": ("first_id", "second_id"),
    "pinned_items": ("item_id",),
    "decisions": ("item_id", "tag_id"),
    "tag_care": ("tag_id",),
}
"""The tables a person's edits live in, and their keys."""
_BY_COLUMN = frozenset({"clusters", "tag_care"})
"""Tables in which undoing an entry puts back the columns it changed, and leaves the others."""
_AT_ONCE = 400
"""Rows looked up by one statement."""
_LEVEL_STANDS = (
    "(kind = 'level' AND json_extract(detail, '$.run') = (SELECT max(id) FROM runs WHERE kind = 'fit') AND "
    "json_extract(detail, '$.before') IN (SELECT id FROM runs) AND NOT EXISTS "
    "(SELECT 1 FROM history AS later WHERE later.id > history.id AND later.kind = 'add'))"
)
"""The level that was gone to is the one that counts, the run it was cut from is there, and nothing was added since."""
_HAS_EFFECT = f"(id IN (SELECT history_id FROM changes) OR id IN (SELECT history_id FROM batches) OR {_LEVEL_STANDS})"  # noqa: S608
"""Rows changed, files written, or another level gone to."""

Key = tuple[Any, ...]


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
    """Changes rows and remembers how they were. Many rows of one table at once take a few statements, not many."""

    def __init__(self, catalog: Catalog, entry_id: int) -> None:
        self._catalog = catalog
        self.id = entry_id
        self._position = 0

    def put(self, table: str, **row: Any) -> None:
        """Insert a row, or set the given columns of the one with the same key."""
        self.put_many(table, [row])

    def put_many(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """The same for many rows, which all give the same columns; of two with one key the last counts."""
        given = {tuple(row[name] for name in self._key(table)): row for row in rows}
        before = self.rows(table, given)
        self._write(table, [(key, before.get(key), {**before.get(key, {}), **row}) for key, row in given.items()])

    def drop(self, table: str, **key: Any) -> None:
        """Take a row away; nothing happens where there is none."""
        wanted = tuple(key[name] for name in self._key(table))
        before = self.rows(table, [wanted])
        self._write(table, [(wanted, row, None) for row in before.values()])

    def row(self, table: str, **key: Any) -> dict[str, Any] | None:
        """The row as it is now, or None."""
        wanted = tuple(key[name] for name in self._key(table))
        return self.rows(table, [wanted]).get(wanted)

    def rows(self, table: str, keys: Iterable[Key]) -> dict[Key, dict[str, Any]]:
        """The rows of these keys as they are now; those that are not there are left out."""
        names, key = self._names(table), self._key(table)
        columns = ", ".join(f"{table}.{name}" for name in names)
        same = " AND ".join(f"{table}.{name} = wanted.k{n}" for n, name in enumerate(key))
        wanted, found = list(keys), []
        for start in range(0, len(wanted), _AT_ONCE):
            part = wanted[start : start + _AT_ONCE]
            marks = ", ".join([f"({', '.join('?' * len(key))})"] * len(part))
            numbered = ", ".join(f"k{n}" for n in range(len(key)))
            sql = (
                f"WITH wanted ({numbered}) AS (VALUES {marks}) "  # noqa: S608  names of the schema
                f"SELECT {columns} FROM wanted CROSS JOIN {table} ON {same}"
            )
            found += self._catalog.rows(sql, [value for one in part for value in one])
        made = [dict(zip(names, row, strict=True)) for row in found]
        return {tuple(row[name] for name in key): row for row in made}

    def restore(self, steps: Iterable[tuple[str, Key, dict[str, Any] | None, dict[str, Any] | None]]) -> None:
        """Make rows of any tables, which are as the third of each step says, what the fourth says, in this order."""
        for table, part in groupby(steps, key=lambda step: step[0]):
            self._write(table, [step[1:] for step in part])

    def _write(self, table: str, steps: Sequence[tuple[Key, dict[str, Any] | None, dict[str, Any] | None]]) -> None:
        wanted = " AND ".join(f"{name} = ?" for name in self._key(table))
        for (is_there, columns), group in groupby(steps, key=lambda step: (step[1] is not None, tuple(step[2] or ()))):
            part = list(group)
            if not columns:
                sql = f"DELETE FROM {table} WHERE {wanted}"  # noqa: S608  names of the schema
                values = [key for key, _, _ in part]
            elif is_there:
                parts = ", ".join(f"{name} = ?" for name in columns)
                sql = f"UPDATE {table} SET {parts} WHERE {wanted}"  # noqa: S608  names of the schema
                values = [(*(after or {}).values(), *key) for key, _, after in part]
            else:
                marks = ", ".join("?" * len(columns))
                sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608  names of the schema
                values = [tuple((after or {}).values()) for _, _, after in part]
            self._catalog.run_many(sql, values)
        now_there = self.rows(table, [key for key, _, _ in steps])  # with the defaults
        self._catalog.run_many(
            "INSERT INTO changes (history_id, position, of_table, row_key, before, after) VALUES (?, ?, ?, ?, ?, ?)",
            (
                (self.id, self._position + n, table, as_json(list(key)), _text(before), _text(now_there.get(key)))
                for n, (key, before, _) in enumerate(steps)
            ),
        )
        self._position += len(steps)

    @staticmethod
    def _key(table: str) -> tuple[str, ...]:
        if table not in _KEYS:
            raise ParameterError(f"changes of {table!r} are not kept; tables with history are {', '.join(_KEYS)}.")
        return _KEYS[table]

    def _names(self, table: str) -> list[str]:
        return [row[1] for row in self._catalog.rows(f"PRAGMA table_info({table})")]


def _text(row: dict[str, Any] | None) -> str | None:
    return None if row is None else as_json(row)


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

    def newest(self, n: int, offset: int = 0) -> list[Entry]:
        """Some entries, the newest first."""
        return [
            _entry(row)
            for row in self._catalog.rows("SELECT * FROM history ORDER BY id DESC LIMIT ? OFFSET ?", (n, offset))
        ]

    def newest_effect(self) -> Entry | None:
        """The last entry that can be taken back and was not, or None."""
        row = self._catalog.row(
            f"SELECT * FROM history WHERE undone_by IS NULL AND undoes IS NULL AND {_HAS_EFFECT} "  # noqa: S608
            "ORDER BY id DESC LIMIT 1"
        )
        return None if row is None else _entry(row)

    def newest_of(self, kind: str) -> Entry | None:
        """The last entry of its kind that was not taken back, or None."""
        row = self._catalog.row(
            "SELECT * FROM history WHERE kind = ? AND undone_by IS NULL ORDER BY id DESC LIMIT 1", (kind,)
        )
        return None if row is None else _entry(row)

    def had_effect(self, entry_id: int) -> bool:
        """Has an entry changed rows or files?"""
        return entry_id in self.with_effect([entry_id])

    def with_effect(self, entry_ids: Sequence[int]) -> set[int]:
        """Those entries that have changed rows or files; the others have nothing that could be taken back."""
        sql = f"SELECT id FROM history WHERE id IN (SELECT value FROM json_each(?)) AND {_HAS_EFFECT}"  # noqa: S608  a constant
        return {row[0] for row in self._catalog.rows(sql, (as_json(list(entry_ids)),))}

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
        number = self._catalog.run(
            "INSERT INTO history (at, who, kind, summary, detail, undoes) VALUES (?, ?, ?, ?, ?, ?)",
            (now(), who or _user(), kind, *map(_as_utf8, (summary, as_json(dict(detail or {})))), undoes),
        )
        self._catalog.note_entry(number)
        return number

    def undo(self, entry_id: int, *, who: str | None = None) -> Entry:
        """Put back every row an entry changed, as an entry of its own. Undoing that one does it again."""
        entry = self.get(entry_id)
        self._refuse_undone(entry)
        if entry.kind == "apply":
            raise Conflict(f"entry {entry_id} ({entry.summary}) wrote files; take it back with Collection.undo.")
        rows = self._catalog.rows(
            "SELECT of_table, row_key, before, after FROM changes WHERE history_id = ? ORDER BY position DESC",
            (entry.id,),
        )
        with self._catalog.transaction():
            new = self._insert("undo", f"undid {entry.id}: {entry.summary}", who, {}, entry.id)
            change = Change(self._catalog, new)
            keys: dict[str, list[Key]] = {}
            for table, key, _, _ in rows:
                keys.setdefault(table, []).append(tuple(json.loads(key)))
            now_there = {table: change.rows(table, wanted) for table, wanted in keys.items()}
            back: dict[tuple[str, Key], dict[str, Any] | None] = {}
            for table, text, before, after in rows:
                key = tuple(json.loads(text))
                current = back.get((table, key), now_there[table].get(key))
                was, left = (None if part is None else json.loads(part) for part in (before, after))
                if table in _BY_COLUMN and current and was and left:
                    # A name and a pin are two things, though they stand in one row.
                    touched = [name for name in left if was.get(name) != left[name]]
                    is_same = all(current.get(name) == left[name] for name in touched)
                    was = {**current, **{name: was.get(name) for name in touched}}
                else:
                    is_same = _is_as_left(current, after)
                if not is_same:
                    raise Conflict(self._refusal(entry, table, text))
                back[table, key] = was
            change.restore((table, key, now_there[table].get(key), row) for (table, key), row in back.items())
            self._catalog.run("UPDATE history SET undone_by = ? WHERE id = ?", (new, entry.id))
            if entry.undoes is not None:  # doing again what had been undone
                self._catalog.run("UPDATE history SET undone_by = NULL WHERE id = ?", (entry.undoes,))
        return self.get(new)

    def mark_undone(self, entry: Entry, *, who: str | None = None, detail: Mapping[str, Any] | None = None) -> Entry:
        """Write down that an entry whose effects lie outside the tables was taken back."""
        with self._catalog.transaction():
            self._refuse_undone(entry)
            new = self._insert("undo", f"undid {entry.id}: {entry.summary}", who, detail, entry.id)
            self._catalog.run("UPDATE history SET undone_by = ? WHERE id = ?", (new, entry.id))
        return self.get(new)

    @staticmethod
    def _refuse_undone(entry: Entry) -> None:
        if entry.undone_by is not None:
            raise Conflict(f"entry {entry.id} ({entry.summary}) was undone already, by entry {entry.undone_by}.")

    def _refusal(self, entry: Entry, table: str, key: str) -> str:
        later = self._catalog.row(
            "SELECT history.id, summary FROM changes JOIN history ON history.id = history_id WHERE of_table = ? AND "
            "row_key = ? AND history_id > ? AND undone_by IS NULL ORDER BY history.id DESC LIMIT 1",
            (table, key, entry.id),
        )
        why = (
            f"entry {later[0]} ({later[1]}) changed the same thing since; undo that first"
            if later
            else "it has changed"
        )
        return f"entry {entry.id} ({entry.summary}) cannot be undone: {why}. Nothing was changed."


def _is_as_left(current: dict[str, Any] | None, after: str | None) -> bool:
    """Is a row as an entry left it? Columns that came with a later format say nothing about that."""
    if current is None or after is None:
        return current is None and after is None
    return all(current.get(name) == value for name, value in json.loads(after).items())


def _entry(row: Any) -> Entry:
    number, at, who, kind, summary, detail, undoes, undone_by = row
    return Entry(number, at, who, kind, summary, json.loads(detail), undoes, undone_by)


def _as_utf8(text: str) -> str:
    """Text that can be kept: the bytes of a name that is not UTF-8 become visible."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a container without a name for its user
        return "somebody"
