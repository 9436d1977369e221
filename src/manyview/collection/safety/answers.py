"""The second place for people's words: every answer as a line of JSON in a plain file beside the catalogue.

A line is written, and synced, before the catalogue commits what it says: whatever was acknowledged is in both. It holds
all that is needed to say the same again in a catalogue that was made anew: the entry of the history, the rows it
changed, and the names and contents of the items, tags and clusters that these speak of. ``workflow.repair`` does so.

A line is an ``entry`` of the history, or the ``sources`` that the items come from; ``done`` says that the entries
before it were committed, and ``void`` that those after the one it names, right before it, never were.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ... import durable
from .. import layout
from ..catalog import Rows, rows_in
from ..items import as_text
from ..living import Living, Standing

__all__ = ["TAG_COLUMNS", "Answers", "acknowledged", "entry_line", "read_lines", "sources_line"]

_MEMBERS = 1000
"""Items of a cluster by which it is known again."""
TAG_COLUMNS = ("tag_id", "alias_of", "parent_id")
"""Columns that hold the number of a tag, in whatever table."""
_TAIL = 2**16


class Answers:
    """Writes the file of a catalogue that is open for writing."""

    def __init__(self, catalog: Any) -> None:
        self._catalog = catalog
        self._path: Path = catalog.root / layout.ANSWERS
        self._entries: list[int] = []
        self._has_sources = False
        self._length: int | None = None
        self._standing: Standing | None = None

    def note(self, entry_id: int) -> None:
        """An entry of the history was made in the transaction that is open."""
        self._entries.append(entry_id)
        self._standing = None

    def note_standing(self, standing: Standing) -> None:
        """Where every item is after the last entry, from somebody who knows: it need not be worked out again."""
        self._standing = standing

    def note_sources(self) -> None:
        """A source was added or changed in it."""
        self._has_sources = True

    def write(self) -> None:
        """To be called right before the commit."""
        if not self._entries and not self._has_sources:
            return
        before = self._last(below=min(self._entries, default=None))
        lines = [sources_line(self._catalog.rows, before)] if self._has_sources else []
        lines += self._lines(self._entries, before)
        if lines:
            self._length = self._size()
            durable.append(self._path, _encode(lines))

    def end(self, committed: bool) -> None:
        """To be called after the commit, or when there was none: a line that says what did not happen is taken away."""
        if not committed and self._length is not None:
            durable.cut(self._path, self._length)
        elif committed and self._length is not None and self._entries:
            durable.jot(self._path, _encode([{"done": self._entries[-1], "last": self._last()}]))
        self._entries, self._has_sources, self._length, self._standing = [], False, None, None

    def catch_up(self) -> list[dict[str, Any]]:
        """Write down what the catalogue says and the file does not, all of it where there is no file yet.

        What comes back is the other way round: lines of entries that had been committed, and are not in the catalogue.
        Those of a transaction that the program died in before the commit are void.
        """
        last = self._last()
        found = _last_line(self._path)
        if found is None:
            sources = sources_line(self._catalog.rows, last)
            if last or sources["sources"]:
                durable.write_file(self._path, [_encode([sources, *self._lines(self._after(0), 0)])])
                self.end(committed=True)
            return []
        said = int(found.get("last", 0))
        if said < last:
            durable.append(self._path, _encode(self._lines(self._after(said), said)))
            self.end(committed=True)
        if said <= last:
            return []
        lines = [line for line in _lines_of(self._path) if line["last"] > last]
        done = max((int(line["done"]) for line in lines if "done" in line), default=last)
        entries = [line for line in lines if "entry" in line]
        if any(line["last"] > done for line in entries):
            durable.append(self._path, _encode([{"void": done, "last": done}]))
        known = [line for line in entries if line["last"] <= done]
        return known if known and known[0]["before"] == last else []

    def _lines(self, entries: Iterable[int], before: int) -> list[dict[str, Any]]:
        lines = (entry_line(self._catalog.rows, number, before, self._members) for number in entries)
        return [line for line in lines if line is not None]

    def _after(self, entry: int) -> list[int]:
        """The entries with changes that came later."""
        sql = "SELECT DISTINCT history_id FROM changes WHERE history_id > ? ORDER BY 1"
        return [number for (number,) in self._catalog.rows(sql, (entry,))]

    def _last(self, below: int | None = None) -> int:
        """The newest entry with changes, or the newest before that one."""
        if below is None:
            return int(self._catalog.value("SELECT max(history_id) FROM changes") or 0)
        return int(self._catalog.value("SELECT max(history_id) FROM changes WHERE history_id < ?", (below,)) or 0)

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except FileNotFoundError:
            return 0

    def _members(self, clusters: set[int]) -> dict[str, list[int]]:
        """Some of the items of each cluster, spread evenly over all."""
        run = self._catalog.value("SELECT max(id) FROM runs WHERE kind = 'fit'")
        if run is None or not clusters:
            return {}
        if self._standing is None or self._standing.run_id != run:
            self._standing = Living(self._catalog).standing(run)
        standing = self._standing
        found = {}
        for cluster in sorted(clusters):
            members = standing.ids[standing.own == cluster]
            chosen = np.unique(np.linspace(0, members.size - 1, min(members.size, _MEMBERS)).astype(int))
            if members.size:
                found[str(cluster)] = members[chosen].tolist()
        return found


# --- lines ---


def sources_line(rows: Rows, last: int) -> dict[str, Any]:
    """Where the items come from."""
    found = rows("SELECT id, kind, path, root, settings FROM sources ORDER BY id")
    return {
        "sources": [
            {"id": n, "kind": kind, "path": as_text(path), "root": as_text(root), "settings": json.loads(settings)}
            for n, kind, path, root, settings in found
        ],
        "last": last,
    }


def entry_line(
    rows: Rows, number: int, before: int, members: Callable[[set[int]], dict[str, list[int]]] | None
) -> dict[str, Any] | None:
    """An entry of the history with all that it says and means; None where it changed no row."""
    changes = rows(
        "SELECT of_table, row_key, before, after FROM changes WHERE history_id = ? ORDER BY position", (number,)
    )
    if not changes:
        return None
    entry = rows("SELECT id, at, who, kind, summary, detail, undoes FROM history WHERE id = ?", (number,))[0]
    names = ("id", "at", "who", "kind", "summary", "detail", "undoes")
    steps = [[table, *(None if part is None else json.loads(part) for part in parts)] for table, *parts in changes]
    items, tags, clusters = _spoken_of(steps)
    of_clusters = {} if members is None else members(clusters)
    items |= {item for part in of_clusters.values() for item in part}
    return {
        "entry": {**dict(zip(names, entry, strict=True)), "detail": json.loads(entry[5])},
        "changes": steps,
        "items": _items(rows, items),
        "tags": {str(n): name for n, name in rows_in(rows, "SELECT id, name FROM tags WHERE id IN", sorted(tags))},
        "clusters": of_clusters,
        "before": before,
        "last": number,
    }


def _spoken_of(steps: Iterable[list[Any]]) -> tuple[set[int], set[int], set[int]]:
    """Items, tags and clusters that some rows name."""
    columns = {"item_id": 0, "first_id": 0, "second_id": 0, **dict.fromkeys(TAG_COLUMNS, 1)}
    columns |= {"cluster_id": 2, "merged_into": 2}
    found: tuple[set[int], set[int], set[int]] = (set(), set(), set())
    for table, key, *states in steps:
        for row in filter(None, states):
            for name, value in row.items():
                if name in columns and value is not None:
                    found[columns[name]].add(int(value))
        if table == "clusters":
            found[2].add(int(key[0]))
    return found


def _items(rows: Rows, items: Iterable[int]) -> dict[str, list[Any]]:
    """Item -> its source, its key, its kind, the size and the content of its file."""
    has_content = "content" in {row[1] for row in rows("PRAGMA table_info(items)")}  # not in a catalogue of format 2
    sql = f"SELECT id, source_id, key, kind, size, {'content' if has_content else 'NULL'} FROM items WHERE id IN"  # noqa: S608
    return {
        str(number): [source, as_text(key), kind, size, None if content is None else content.hex()]
        for number, source, key, kind, size, content in rows_in(rows, sql, sorted(items))
    }


def _encode(lines: Iterable[dict[str, Any]]) -> bytes:
    """One line each, in ASCII: names that are not UTF-8 come back as they were."""
    return b"".join(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n" for line in lines)


def _last_line(path: Path) -> dict[str, Any] | None:
    """The last whole line, None where there is none; what a crash left of another one behind it is cut off."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return None
    with durable.store_errors(path, "read"), path.open("rb") as file:
        length, tail = 0, b""
        while length < size and tail.count(b"\n") < 2:
            length = min(size, max(_TAIL, 2 * length))
            file.seek(size - length)
            tail = file.read(length)
    whole, _, torn = tail.rpartition(b"\n")
    if torn:
        durable.cut(path, size - len(torn))
    return _parsed(whole.rpartition(b"\n")[2])


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def read_lines(path: Path) -> list[dict[str, Any]]:
    """What was said, in order, and where the items come from. Damaged lines are passed over."""
    return [line for line in _lines_of(path) if "entry" in line or "sources" in line]


def acknowledged(path: Path, last: int) -> list[dict[str, Any]]:
    """The same without what the program may have died over: entries after ``last``, the newest of the catalogue, that
    were never said to be committed."""
    lines = _lines_of(path)
    done = max((int(line["done"]) for line in lines if "done" in line), default=0)
    return [line for line in lines if "sources" in line or ("entry" in line and line["last"] <= max(done, last))]


def _lines_of(path: Path) -> list[dict[str, Any]]:
    """All lines but those that are void."""
    lines: list[dict[str, Any]] = []
    if not path.is_file():
        return lines
    with durable.store_errors(path, "read"), path.open("rb") as file:
        for line in map(_parsed, file):
            if line is not None and "void" in line:
                while lines and "entry" in lines[-1] and int(lines[-1]["last"]) > int(line["void"]):
                    lines.pop()
            elif line is not None:
                lines.append(line)
    return lines
