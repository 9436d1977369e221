"""What is read of a whole collection at once, for looking: columns of every item, and pairs of item and tag."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..types import Ints
from .catalog import Catalog, rows_in
from .items import as_text
from .sorted_numbers import read_numbers, read_pairs

__all__ = ["CopyRow", "ItemFile", "Reading"]


class ItemFile(NamedTuple):
    """The file of an item as it was when it was last read."""

    path: bytes
    """Below the root."""
    root: bytes
    size: int
    device: int
    inode: int
    kind: str
    format: str | None


COPY = "a copy of another"
"""Why a tag was given that says so."""


class CopyRow(NamedTuple):
    """An item that repeats another, or is repeated."""

    id: int
    key: str
    width: int | None
    height: int | None
    size: int | None
    content: bytes | None
    """SHA-256 of its file, where it was read."""
    duplicate_of: int | None
    """The item whose picture it repeats."""
    n_tags: int
    n_facts: int
    """Sidecars, a date that is not the file's own, camera, lens, position."""
    is_marked: bool
    """Was it given a tag as a copy of another?"""


class Reading:
    """Answers about many items of one state."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def versions(self) -> dict[str, int]:
        """Part of the collection -> how often it has changed."""
        return dict(self._catalog.rows("SELECT part, n FROM versions"))

    # --- items ---

    def kinds(self) -> list[str]:
        """Picture, video, document or row, of each item in order."""
        return [row[0] for row in self._catalog.rows("SELECT kind FROM items WHERE state = 'here' ORDER BY id")]

    def names(self) -> list[str]:
        """What the owner calls each item, in order."""
        rows = self._catalog.rows("SELECT key FROM items WHERE state = 'here' ORDER BY id")
        return [as_text(row[0]) for row in rows]

    def keys(self, ids: Sequence[int]) -> dict[int, bytes]:
        """What the owner calls some items, as it is on disk."""
        return dict(rows_in(self._catalog.rows, "SELECT id, key FROM items WHERE id IN", ids))

    def openings(self, ids: Sequence[int], length: int) -> dict[int, str]:
        """The first letters of some items' texts, of those that have one."""
        sql = f"SELECT id, substr(text, 1, {int(length)}) FROM items WHERE text IS NOT NULL AND id IN"  # noqa: S608
        return dict(rows_in(self._catalog.rows, sql, ids))

    def texts(self, length: int) -> dict[int, str]:
        """The first letters of the texts of all items that have one."""
        sql = "SELECT id, substr(text, 1, ?) FROM items WHERE state = 'here' AND text <> ''"
        return dict(self._catalog.rows(sql, (length,)))

    def text_and_fields(self, item_id: int) -> tuple[str | None, dict[str, Any]]:
        """The text of one item, and the other columns of its table."""
        text, fields = self._catalog.row("SELECT text, fields FROM items WHERE id = ?", (item_id,)) or (None, None)
        return text or None, json.loads(fields) if fields else {}

    def field(self, name: str) -> list[Any]:
        """One column of a table, or one fact of files, of each item in order; None where it has none."""
        path = f'$."{name}"'
        rows = self._catalog.rows("SELECT json_extract(fields, ?) FROM items WHERE state = 'here' ORDER BY id", (path,))
        return [row[0] for row in rows]

    def file(self, item_id: int) -> ItemFile | None:
        """The file of an item that is there; None where it has none."""
        row = self._catalog.row(
            "SELECT items.path, root, size, device, inode, items.kind, format FROM items JOIN sources ON "
            "sources.id = source_id WHERE items.id = ? AND state = 'here'",
            (item_id,),
        )
        return None if row is None or row[0] is None or row[2] is None else ItemFile(*row)

    def with_thumb(self) -> Ints:
        """Items that have a thumbnail."""
        return self._numbers("SELECT item_id AS n FROM thumbs")

    def copies(self) -> list[CopyRow]:
        """Items that are there and have the same content as others, or show the same picture."""
        facts = " + ".join(f"(json_extract(fields, '$.{name}') IS NOT NULL)" for name in ("camera", "lens", "latitude"))
        rows = self._catalog.rows(
            "SELECT id, key, width, height, size, content, duplicate_of, (SELECT count(*) FROM ("  # noqa: S608
            "SELECT tag_id FROM said_tags WHERE item_id = items.id AND tag_id NOT IN (SELECT tag_id FROM decisions "
            "WHERE item_id = items.id AND answer = 0) UNION SELECT tag_id FROM decisions WHERE item_id = items.id AND "
            f"answer = 1)), (beside <> '') + coalesce({facts}, 0) + coalesce(json_extract(fields, "
            "'$.taken_from') IN ('file', 'sidecar'), 0), EXISTS (SELECT 1 FROM decisions WHERE item_id = items.id AND "
            f"answer = 1 AND why = '{COPY}') FROM items WHERE state = 'here' AND (duplicate_of IS NOT NULL "
            "OR id IN (SELECT duplicate_of FROM items WHERE state = 'here') OR content IN (SELECT content FROM items "
            "WHERE state = 'here' AND content IS NOT NULL GROUP BY content HAVING count(*) > 1)) ORDER BY id"
        )
        return [CopyRow(row[0], as_text(row[1]), *row[2:]) for row in rows]

    def n_problems(self) -> int:
        """Files that could not be used, or only in part."""
        return int(self._catalog.value("SELECT count(*) FROM problems"))

    def holding(self, letters: str, *, texts: bool) -> Ints:
        """Items whose names, or texts too, hold these very letters; every name and text is looked through."""
        more = " OR instr(text, ?1)" if texts else ""
        return self._numbers(f"SELECT id AS n FROM items WHERE instr(CAST(key AS TEXT), ?1){more}", letters)  # noqa: S608

    def with_words(self, words: str, *, texts: bool) -> Ints:
        """Items whose names, or texts too, hold these words one after the other, by the index of words."""
        quoted = words.replace('"', '""').replace("\0", " ")
        asked = f'{{{"name text" if texts else "name"}}} : "{quoted}" *'
        return self._numbers("SELECT rowid AS n FROM item_words WHERE item_words MATCH ?", asked)

    def pairs_proposed(self, run_id: int, least: float | None = None) -> Ints:
        """Item and tag of what a run proposed, answered or not, but for tags that are not proposed any more; of at
        least a probability, where one is given."""
        where = "run_id = ? AND tag_id NOT IN silent_tags"
        if least is None:
            return read_pairs(self._catalog, "proposals", where, [run_id])
        return read_pairs(self._catalog, "proposals", f"{where} AND probability >= ?", [run_id, least])

    def _numbers(self, sql: str, *values: Any) -> Ints:
        return read_numbers(self._catalog, sql, values)
