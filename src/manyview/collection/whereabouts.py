"""Where the files of items are: an item is its content, and goes on when its file is found elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..files import FileFacts, hash_of_file
from .catalog import Catalog, rows_in
from .items import as_bytes, as_text

__all__ = ["Lost", "Move", "Whereabouts", "aside"]

_OF_FOLDERS = (
    "SELECT items.id, source_id, root, items.path, key, size, mtime_ns, device, inode, items.content, state "
    "FROM items JOIN sources ON sources.id = source_id WHERE sources.kind = 'folder'"
)


class Lost(NamedTuple):
    """An item whose file is not, or not any more, where it was."""

    id: int
    source_id: int
    path: str
    """Where its file was, in full."""
    facts: FileFacts | None
    content: bytes | None
    """SHA-256 of its bytes, where they were read by a version that keeps it."""
    is_gone: bool
    """Was it known before that it is gone?"""


class Move(NamedTuple):
    """An item whose file was found at another place."""

    id: int
    key: str
    """Its path below the root of the source it is in now."""
    facts: FileFacts
    old: str
    new: str
    """In full."""
    is_back: bool
    """It was gone for a while."""


class Whereabouts:
    """Moves of files and of whole sources, and what tells a file from every other one."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def elsewhere(self, source_id: int, sizes: Iterable[int]) -> list[Lost]:
        """Items of other folders whose files have one of these sizes and are not there now."""
        wanted = sorted(set(sizes))
        sql = f"{_OF_FOLDERS} AND items.path IS NOT NULL AND size IN"
        rows = list(rows_in(self._catalog.rows, sql, wanted))
        if wanted:  # those whose places others have taken are gone in any case
            rows += self._catalog.rows(f"{_OF_FOLDERS} AND items.path IS NULL AND state = 'gone' AND size IS NOT NULL")
        found = []
        for number, source, root, path, key, *facts, content, state in rows:
            full = as_text(os.path.join(root, path or key.partition(b"\0")[0]))
            if source != source_id and (path is None or not os.path.lexists(full)):
                found.append(Lost(number, source, full, FileFacts(*facts), content, state == "gone"))
        return found

    def move(self, source_id: int, moves: Sequence[Move]) -> None:
        """Put items where their files are now. Who stood there and was not found anywhere is gone."""
        catalog = self._catalog
        with catalog.transaction():
            # First out of each other's way: files may have changed places.
            catalog.run_many("UPDATE items SET key = ? WHERE id = ?", ((aside(b"", one.id), one.id) for one in moves))
            for one in moves:
                self.step_aside(self._at(source_id, as_bytes(one.key)))
            catalog.run_many(
                "UPDATE items SET source_id = ?, key = ?, path = ?, size = ?, mtime_ns = ?, device = ?, inode = ?, "
                "state = iif(state = 'gone', 'here', state) WHERE id = ?",
                ((source_id, as_bytes(one.key), as_bytes(one.key), *one.facts, one.id) for one in moves),
            )
            catalog.run_many(
                "UPDATE OR REPLACE problems SET source_id = ?, path = ? WHERE item_id = ?",
                ((source_id, as_bytes(one.key), one.id) for one in moves),
            )
            self._move_written(moves)

    def put_facts(self, facts: Iterable[tuple[int, FileFacts]]) -> None:
        """The same files on another disk, or a copy of it: device and inode are others."""
        self._catalog.run_many(
            "UPDATE items SET device = ?, inode = ? WHERE id = ?", ((f.device, f.inode, item) for item, f in facts)
        )

    def step_aside(self, items: Iterable[int]) -> None:
        """Other files have taken the places of these items, which are gone; they are known again by their content."""
        for item in items:
            key = self._catalog.value("SELECT key FROM items WHERE id = ?", (item,))
            self._catalog.run(
                "UPDATE items SET key = ?, path = NULL, state = 'gone' WHERE id = ?", (aside(key, item), item)
            )

    def _at(self, source_id: int, key: bytes) -> list[int]:
        rows = self._catalog.rows("SELECT id FROM items WHERE source_id = ? AND key = ?", (source_id, key))
        return [number for (number,) in rows]

    def _move_written(self, moves: Sequence[Move]) -> None:
        """Files that manyview wrote for these items, and that went with them, can still be taken back."""
        places: dict[bytes, bytes] = {}
        for one in moves:
            stems = os.path.splitext(one.old)[0], os.path.splitext(one.new)[0]
            ways = [(one.old, one.new), *((f"{a}.xmp", f"{b}.xmp") for a, b in ((one.old, one.new), stems))]
            places |= {as_bytes(old): as_bytes(new) for old, new in ways if os.path.lexists(new)}
        sql = "SELECT batch_id, number, path, after FROM writes WHERE path IN"
        written = list(rows_in(self._catalog.rows, sql, list(places)))
        self._catalog.run_many(
            "UPDATE writes SET path = ? WHERE batch_id = ? AND number = ?",
            [
                (places[path], batch, number)
                for batch, number, path, after in written
                if not _has_stayed(path, places[path], after)
            ],
        )

    def take_over(self, old: int, new: int) -> int:
        """A new item turns out to be one that was thought gone: the old one goes on in its place. Its source."""
        catalog = self._catalog
        row = catalog.row(
            "SELECT source_id, key, path, size, mtime_ns, device, inode, beside, format, text, content, width, height "
            "FROM items WHERE id = ?",
            (new,),
        )
        with catalog.transaction():
            self.step_aside([new])
            catalog.run(
                "UPDATE items SET source_id = ?, key = ?, path = ?, size = ?, mtime_ns = ?, device = ?, inode = ?, "
                "beside = ?, format = ?, text = ?, content = ?, width = ?, height = ?, state = 'here' WHERE id = ?",
                (*row, old),
            )
            for table in ("item_tags", "item_paths"):
                catalog.run(f"DELETE FROM {table} WHERE item_id = ?", (old,))  # noqa: S608  one of these
                catalog.run(f"UPDATE {table} SET item_id = ? WHERE item_id = ?", (old, new))  # noqa: S608
            catalog.run("UPDATE OR IGNORE thumbs SET item_id = ? WHERE item_id = ?", (old, new))
            catalog.run("DELETE FROM thumbs WHERE item_id = ?", (new,))
            catalog.run("UPDATE problems SET item_id = ? WHERE item_id = ?", (old, new))
            catalog.run("UPDATE items SET duplicate_of = ? WHERE duplicate_of = ?", (old, new))
            catalog.run("UPDATE items SET fingerprint = NULL, signature = NULL WHERE id = ?", (new,))
        return int(row[0])

    def unrecognised(self) -> list[tuple[int, int]]:
        """Pairs of an item whose file is gone and a new one that shows the same picture in a file of the same size.

        For items that were read before contents were kept. A new one is an item about which nobody, and no run, has
        said anything.
        """
        rows = self._catalog.rows(
            "SELECT gone.id, here.id, gone.state, root, gone.path FROM items AS gone JOIN items AS here "
            "ON here.size = gone.size AND here.fingerprint = gone.fingerprint "
            "AND here.signature = gone.signature AND here.state = 'here' "
            "AND here.id > gone.id JOIN sources ON sources.id = gone.source_id "
            "WHERE gone.state <> 'bad' AND gone.content IS NULL AND gone.fingerprint IS NOT NULL "
            "AND NOT EXISTS (SELECT 1 FROM labels WHERE item_id = here.id) "
            "AND NOT EXISTS (SELECT 1 FROM decisions WHERE item_id = here.id) "
            "AND NOT EXISTS (SELECT 1 FROM placements WHERE item_id = here.id) "
            "AND NOT EXISTS (SELECT 1 FROM links WHERE here.id IN (first_id, second_id)) ORDER BY gone.id, here.id"
        )
        pairs: dict[int, int] = {}
        taken = set()
        for old, new, state, root, path in rows:
            is_there = state == "here" and os.path.lexists(os.path.join(root, path or b""))
            if old not in pairs and new not in taken and not is_there:
                pairs[old] = new
                taken.add(new)
        return list(pairs.items())

    # --- contents ---

    def unread(self) -> list[tuple[int, str, FileFacts]]:
        """Items of folders whose files were never read as a whole: number, path, and what the file was like."""
        rows = self._catalog.rows(
            "SELECT items.id, root, items.path, size, mtime_ns, device, inode FROM items JOIN sources ON "
            "sources.id = source_id WHERE items.content IS NULL AND items.path IS NOT NULL AND state = 'here' "
            "AND sources.kind = 'folder' ORDER BY items.id"
        )
        return [(number, as_text(os.path.join(root, path)), FileFacts(*facts)) for number, root, path, *facts in rows]

    def put_contents(self, contents: Iterable[tuple[int, bytes]]) -> None:
        """Write down the SHA-256 of items' files."""
        self._catalog.run_many("UPDATE items SET content = ? WHERE id = ?", ((c, int(item)) for item, c in contents))

    def content(self, item_id: int) -> bytes | None:
        """The SHA-256 of an item's file when it was last read, where it was kept."""
        row = self._catalog.row("SELECT content FROM items WHERE id = ?", (int(item_id),))
        return None if row is None else row[0]

    def n_copies(self) -> int:
        """Files that are byte for byte the same as an earlier one."""
        found: int = self._catalog.value(
            "SELECT count(content) - count(DISTINCT content) FROM items WHERE state = 'here'"
        )
        return found

    # --- sources ---

    def replace_source(self, old: str, path: str, root: str) -> None:
        """A source has another path from now on; its items are looked for there."""
        with self._catalog.transaction():
            self._catalog.run(
                "UPDATE sources SET path = ?, root = ?, complete = 0 WHERE path = ?",
                tuple(map(as_bytes, (path, root, old))),
            )
            self._catalog.note_sources()

    def put_source_content(self, source_id: int, content: bytes) -> None:
        """Write down the SHA-256 of a table or a file of features."""
        self._catalog.run("UPDATE sources SET content = ? WHERE id = ?", (content, source_id))

    def moved_table(self, kind: str, content: bytes) -> str | None:
        """The path of a table or file of features that had this content and is not there any more."""
        rows = self._catalog.rows("SELECT path FROM sources WHERE kind = ? AND content = ?", (kind, content))
        return next((as_text(path) for (path,) in rows if not os.path.lexists(path)), None)

    def adopt(self, source_id: int) -> None:
        """Folders that are not there, and all of whose files were found elsewhere, are no sources any more.

        What is gone of them goes to this source: should it come back, it is known again.
        """
        rows = self._catalog.rows(
            "SELECT id, root FROM sources WHERE kind = 'folder' AND id <> ? AND NOT EXISTS "
            "(SELECT 1 FROM items WHERE source_id = sources.id AND state <> 'gone')",
            (source_id,),
        )
        for number, root in rows:
            if os.path.isdir(root):
                continue
            with self._catalog.transaction():
                left: list[Any] = self._catalog.rows("SELECT id, key FROM items WHERE source_id = ?", (number,))
                self._catalog.run_many(
                    "UPDATE items SET source_id = ?, key = ?, path = NULL WHERE id = ?",
                    ((source_id, aside(key, item), item) for item, key in left),
                )
                self._catalog.run("DELETE FROM problems WHERE source_id = ?", (number,))
                self._catalog.run("DELETE FROM sources WHERE id = ?", (number,))
                self._catalog.note_sources()


def aside(key: bytes, item: int) -> bytes:
    """A key that no file can have, for an item whose place another one has taken."""
    return key.partition(b"\0")[0] + b"\0" + str(item).encode()


def _has_stayed(old: bytes, new: bytes, after: str) -> bool:
    """Is a file that was written still where it was, though there is another one at the new place of its item?"""
    if not os.path.lexists(old):
        return False
    held = [hash_of_file(place) for place in (old, new)]
    return held[0] == after != held[1]
