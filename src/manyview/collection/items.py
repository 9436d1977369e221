"""Items of a collection: what they are called, where their files lie, and which of them could not be used."""

from __future__ import annotations

import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, StoreError
from ..files import FileFacts
from .catalog import Catalog, as_json
from .sorted_numbers import among, distinct, read_numbers

__all__ = ["Fingerprint", "Item", "Items", "Known", "NewItem", "Problem", "as_bytes", "as_text"]


def as_bytes(name: str) -> bytes:
    """A name as the file system spells it, also where it is not UTF-8."""
    return name.encode("utf-8", "surrogateescape")


def as_text(name: bytes) -> str:
    """The string Python uses for such a name; ``as_bytes`` gives the same bytes back."""
    return name.decode("utf-8", "surrogateescape")


class Item(NamedTuple):
    """One picture, clip, document or row of a table."""

    id: int
    key: str
    """What its owner calls it: the path below the folder, or the id of the table's row."""
    kind: str
    path: str | None
    """Where its file is, or None."""
    format: str | None
    width: int | None
    height: int | None
    size: int | None
    duplicate_of: int | None
    """The item it repeats, or None."""


class Fingerprint(NamedTuple):
    """What tells whether two pictures look the same."""

    item_id: int
    hash: int
    """Perceptual, 64 bits."""
    signature: bytes
    """The picture at a few pixels."""


class Problem(NamedTuple):
    """A file that could not be used (``is_bad``), or something in it that was left out, and why."""

    path: str
    reason: str
    """A class, for machines: truncated, unreadable, outside, unsupported, ..."""
    sentence: str
    is_bad: bool = True
    stage: str = "ingest"


class Known(NamedTuple):
    """What the catalogue holds of an item of a source."""

    id: int
    facts: FileFacts | None
    beside: str
    state: str
    content: bytes | None
    has_fields: bool
    """Was read by a version that knows how pictures were taken."""


@dataclass(frozen=True)
class NewItem:
    """An item on its way into the catalogue."""

    key: str
    kind: str
    path: str | None = None
    """Relative to the root of its source."""
    facts: FileFacts | None = None
    beside: str = ""
    """Its sidecars as they were read, in words that change when one of them does."""
    content: bytes | None = None
    """SHA-256 of its file; None: not read as a whole yet."""
    format: str | None = None
    text: str | None = None
    """None leaves what is there."""
    fields: Mapping[str, Any] | None = None
    """The other columns of a table; of a file when, where and with what it was taken."""
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Where the words come from ("file", "sidecar", "table") -> words."""
    paths: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    """The same for hierarchical keywords."""


_SELECT = (
    "SELECT items.id, key, items.kind, items.path, root, format, width, height, size, duplicate_of FROM items "
    "JOIN sources ON sources.id = source_id"
)


class Items:
    """The items that are there, in the order in which they came: iterate, count, look one up.

    Files that are gone or could not be used are not among them; ``problems`` names those.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def __len__(self) -> int:
        return int(self._catalog.value("SELECT count(*) FROM items WHERE state = 'here'"))

    def __iter__(self) -> Iterator[Item]:
        return iter(self._items(f"{_SELECT} WHERE state = 'here' ORDER BY items.id"))

    def _items(self, sql: str, values: Iterable[Any] = ()) -> list[Item]:
        return [
            Item(number, as_text(key).partition("\0")[0], kind, _full(root, path), *rest)
            for number, key, kind, path, root, *rest in self._catalog.rows(sql, values)
        ]

    @property
    def ids(self) -> NDArray[np.int64]:
        """The numbers of the items, ascending: the order of every matrix and table of the collection."""
        return distinct(read_numbers(self._catalog, "SELECT id AS n FROM items WHERE state = 'here'"))

    def get(self, item_id: int) -> Item:
        """The item of that number."""
        found = self._items(f"{_SELECT} WHERE items.id = ?", (int(item_id),))
        if not found:
            raise ParameterError(f"there is no item {item_id}.")
        return found[0]

    def find(self, key: str) -> Item:
        """The item its owner calls ``key``; the path of its file is understood too."""
        found = self._items(f"{_SELECT} WHERE key = ? AND state = 'here'", (as_bytes(key),))
        if not found:
            found = self._items(f"{_SELECT} WHERE items.path = ? AND state = 'here'", (as_bytes(key),))
        if len(found) == 1:
            return found[0]
        if found:
            raise ParameterError(f"{key!r} is in {len(found)} sources; name it by number, such as {found[0].id}.")
        raise ParameterError(f"there is no item {key!r}; `manyview show NAME.manyview --items` lists them.")

    def named(self, name: str) -> Item:
        """The item a person names: by what its owner calls it, else by number, path or file name."""
        try:
            return self.find(name)
        except ParameterError:
            if name.isascii() and name.isdigit():
                return self.get(int(name))
            found = self.at(name) or self._ending(f"/{name}")
            if len(found) == 1:
                return found[0]
            if not found:
                raise
        which = ", ".join(repr(one.key) for one in found[:3])
        raise ParameterError(
            f"{name!r} may be any of {len(found)} items: {which}{', ...' * (len(found) > 3)}. Say which."
        )

    def at(self, path: str | os.PathLike[str]) -> list[Item]:
        """The items whose file is at this path, which may be relative to the folder one is in."""
        full, found = os.path.abspath(path), []
        for source in self.sources():
            place = os.path.relpath(full, source["root"])
            found += self._items(
                f"{_SELECT} WHERE source_id = ? AND items.path IN (?, ?) AND state = 'here'",
                (source["id"], as_bytes(place), as_bytes(full)),
            )
        return found

    def _ending(self, end: str) -> list[Item]:
        """The items whose names end so."""
        wanted = as_bytes(end)
        return self._items(
            f"{_SELECT} WHERE substr(key, -?) = ? AND state = 'here' ORDER BY items.id", (len(wanted), wanted)
        )

    def texts(self, ids: Iterable[int] | None = None) -> list[str | None]:
        """The text of each item, None where it has none."""
        return [row[0] or None for row in self._column("text", ids)]

    def written(self) -> list[str]:
        """The texts that there are, of the items that have one."""
        rows = self._catalog.rows("SELECT text FROM items WHERE state = 'here' AND text <> '' ORDER BY id")
        return [row[0] for row in rows]

    def fields(self, ids: Iterable[int] | None = None) -> list[dict[str, Any]]:
        """The other columns of the table each item came from."""
        return [json.loads(row[0]) if row[0] else {} for row in self._column("fields", ids)]

    def _column(self, name: str, ids: Iterable[int] | None) -> list[Any]:
        rows = self._catalog.rows(f"SELECT id, {name} FROM items WHERE state = 'here' ORDER BY id")  # noqa: S608
        if ids is None:
            return [row[1:] for row in rows]
        found = {row[0]: row[1:] for row in rows}
        return [found[int(item)] for item in ids]

    def facts(self, item_id: int) -> FileFacts | None:
        """Size, time, device and inode of an item's file when it was last read."""
        row = self._catalog.row("SELECT size, mtime_ns, device, inode FROM items WHERE id = ?", (int(item_id),))
        return None if row is None or row[0] is None else FileFacts(*row)

    # --- duplicates ---

    def fingerprints(self) -> list[Fingerprint]:
        """What decoding found to tell pictures apart, of the items that have it."""
        rows = self._catalog.rows(
            "SELECT id, fingerprint, signature FROM items WHERE state = 'here' AND fingerprint IS NOT NULL ORDER BY id"
        )
        return [Fingerprint(item, hash_ % 2**64, signature or b"") for item, hash_, signature in rows]

    def set_duplicates(self, duplicate_of: Mapping[int, int]) -> None:
        """Say which items repeat which; all others repeat none."""
        with self._catalog.transaction():
            self._catalog.run("UPDATE items SET duplicate_of = NULL WHERE duplicate_of IS NOT NULL")
            self._catalog.run_many(
                "UPDATE items SET duplicate_of = ? WHERE id = ?",
                ((int(first), int(item)) for item, first in duplicate_of.items()),
            )

    def fold(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows of the items that repeat nothing, and for every item its place among those.

        ``X[rows]`` is the collection without repetitions; ``labels[places]`` brings its labels back to every item.
        """
        ids = self.ids
        pairs = read_numbers(
            self._catalog,
            "SELECT id || ',' || duplicate_of AS n FROM items WHERE state = 'here' AND duplicate_of IS NOT NULL",
        ).reshape(-1, 2)
        pairs = pairs[among(pairs[:, 1], ids)]
        leads = ids.copy()
        leads[np.searchsorted(ids, pairs[:, 0])] = pairs[:, 1]
        rows = np.flatnonzero(leads == ids)
        return rows, np.searchsorted(ids[rows], leads)

    # --- what went wrong ---

    def problems(self) -> list[Problem]:
        """Every file that could not be used, and every note about one that was used in part."""
        rows = self._catalog.rows(
            "SELECT path, reason, sentence, is_bad, stage FROM problems "
            "ORDER BY source_id, rtrim(path, '0123456789'), length(path), path, id"  # row 9 of a table before row 10
        )
        return [
            Problem(as_text(path), reason, sentence, bool(bad), stage) for path, reason, sentence, bad, stage in rows
        ]

    def refuse(self, item_id: int, reason: str, sentence: str, stage: str = "decode") -> None:
        """Take an item out of the collection because its file cannot be used, and say why."""
        with self._catalog.transaction():
            self._catalog.run("UPDATE items SET state = 'bad' WHERE id = ?", (int(item_id),))
            self._catalog.run(
                "INSERT OR REPLACE INTO problems (source_id, path, item_id, stage, reason, sentence, is_bad) "
                "SELECT source_id, coalesce(path, key), id, ?, ?, ?, 1 FROM items WHERE id = ?",
                (stage, reason, sentence, int(item_id)),
            )

    def retry(self, reasons: Iterable[str]) -> None:
        """Take back into the collection what was refused for one of these reasons, to be tried once more."""
        wanted = tuple(reasons)
        marks = ", ".join("?" * len(wanted))
        with self._catalog.transaction():
            sql = f"SELECT item_id FROM problems WHERE stage = 'decode' AND reason IN ({marks})"  # noqa: S608  only marks
            refused = self._catalog.rows(sql, wanted)
            self._catalog.run_many("UPDATE items SET state = 'here' WHERE id = ? AND state = 'bad'", refused)
            self._catalog.run_many("DELETE FROM problems WHERE item_id = ? AND stage = 'decode'", refused)

    def describe(self, pictures: Iterable[tuple[Fingerprint, int, int]]) -> None:
        """Write down what decoding found: a picture's fingerprint, width and height."""
        self._catalog.run_many(
            "UPDATE items SET width = ?, height = ?, fingerprint = ?, signature = ? WHERE id = ?",
            (
                (width, height, _signed(found.hash), found.signature, int(found.item_id))
                for found, width, height in pictures
            ),
        )

    # --- where items come from ---

    def source(self, kind: str, path: str, root: str, settings: Mapping[str, Any]) -> int:
        """The number of a source, new or known; a known one takes the new settings."""
        with self._catalog.transaction():
            self._catalog.run(
                "INSERT INTO sources (kind, path, root, settings) VALUES (?, ?, ?, ?) ON CONFLICT (path) DO UPDATE "
                "SET kind = excluded.kind, root = excluded.root, settings = excluded.settings, complete = 0",
                (kind, as_bytes(path), as_bytes(root), as_json(dict(settings))),
            )
            self._catalog.note_sources()
            return int(self._catalog.value("SELECT id FROM sources WHERE path = ?", (as_bytes(path),)))

    def finish_source(self, source_id: int) -> None:
        """Everything of this source has been read."""
        self._catalog.run("UPDATE sources SET complete = 1 WHERE id = ?", (source_id,))

    def sources(self) -> list[dict[str, Any]]:
        """Every source: its number, kind, path, root, settings, and whether it was read to the end."""
        rows = self._catalog.rows("SELECT id, kind, path, root, settings, complete FROM sources ORDER BY id")
        return [
            {
                "id": number,
                "kind": kind,
                "path": as_text(path),
                "root": as_text(root),
                "settings": json.loads(settings),
                "complete": bool(complete),
            }
            for number, kind, path, root, settings, complete in rows
        ]

    def known(self, source_id: int) -> dict[str, Known]:
        """What the catalogue holds of a source, by key."""
        rows = self._catalog.rows(
            "SELECT key, id, size, mtime_ns, device, inode, beside, state, content, fields IS NOT NULL FROM items "
            "WHERE source_id = ?",
            (source_id,),
        )
        return {
            as_text(key): Known(
                number, None if facts[0] is None else FileFacts(*facts), beside, state, content, bool(has_fields)
            )
            for key, number, *facts, beside, state, content, has_fields in rows
        }

    def numbers_of(self, source_id: int, state: str | None = None) -> NDArray[np.int64]:
        """The numbers of all items of a source, ascending; only of those in a state."""
        sql = "SELECT id AS n FROM items WHERE source_id = ? AND state = coalesce(?, state)"
        return distinct(read_numbers(self._catalog, sql, (source_id, state)))

    def formats(self) -> dict[str, dict[str, int]]:
        """How many items there are of each kind and format (the kind, where it has none)."""
        rows = self._catalog.rows(
            "SELECT kind, coalesce(format, kind), count(*) FROM items WHERE state = 'here' "
            "GROUP BY 1, 2 ORDER BY min(id)"
        )
        found: dict[str, dict[str, int]] = {}
        for kind, name, count in rows:
            found.setdefault(kind, {})[name] = count
        return found

    def forget_file(self, ids: Iterable[int]) -> None:
        """What was computed from the pixels of these items no longer holds: their files have changed."""
        numbers = [(int(item),) for item in ids]
        with self._catalog.transaction():
            self._catalog.run_many(
                "UPDATE items SET fingerprint = NULL, signature = NULL, width = NULL, height = NULL, "
                "duplicate_of = NULL, text = iif(kind = 'document' AND path IS NOT NULL, NULL, text) WHERE id = ?",
                numbers,
            )
            self._catalog.run_many("DELETE FROM thumbs WHERE item_id = ?", numbers)
            self._catalog.run_many("DELETE FROM problems WHERE item_id = ?", numbers)

    def gone(self, ids: Iterable[int]) -> None:
        """The files of these items are no longer there. What people said of them is kept, should they come back."""
        self._catalog.run_many("UPDATE items SET state = 'gone' WHERE id = ?", ((int(item),) for item in ids))

    def put_problems(
        self, source_id: int, problems: Iterable[Problem], *, replace: bool = False, except_for: Container[str] = ()
    ) -> None:
        """Write problems down; ``replace`` forgets first what ingest said of this source, but for some paths."""
        with self._catalog.transaction():
            if replace:
                said = "FROM problems WHERE source_id = ? AND stage = 'ingest'"
                old = self._catalog.rows(f"SELECT id, path {said}", (source_id,))
                self._catalog.run_many(
                    "DELETE FROM problems WHERE id = ?",
                    ((number,) for number, path in old if as_text(path) not in except_for),
                )
            self._catalog.run_many(
                "INSERT OR REPLACE INTO problems (source_id, path, stage, reason, sentence, is_bad) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (
                        source_id,
                        as_bytes(problem.path),
                        problem.stage,
                        problem.reason,
                        problem.sentence,
                        int(problem.is_bad),
                    )
                    for problem in problems
                ),
            )


def _full(root: bytes, path: bytes | None) -> str | None:
    return None if path is None else as_text(os.path.join(root, path))


def _signed(number: int) -> int:
    if not 0 <= number < 2**64:
        raise StoreError(f"a perceptual hash has 64 bits, got {number}.")
    return number - 2**64 if number >= 2**63 else number
