"""What was written into files outside the collection: batches, the state of every item, and what is still to do."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import durable
from ..data.tags import match_key
from ..files import FileFacts
from .catalog import Catalog, as_json, rows_in
from .history import now
from .items import as_bytes, as_text
from .tagging import Tagging
from .vocabulary import HOLDERS

__all__ = ["Batch", "Write", "Writes", "remove_temporary", "temporary"]

_SOURCES = {"xmp": "sidecar", "embedded": "file"}
"""Where words that were written to a target are found again."""


class Batch(NamedTuple):
    """Files that are written together."""

    id: int
    target: str
    token: str
    """Part of the names of its temporary files: nobody can have put one there before."""
    history_id: int | None
    """Its entry in the history; None while it is under way."""


class Write(NamedTuple):
    """One file of a batch."""

    number: int
    path: str
    items: tuple[int, ...]
    state: str
    """planned (may have happened when the program was stopped), written, undone."""
    before: str | None
    """Hash of the file as it was; None: there was none."""
    after: str
    kept: str | None
    """Where it is kept as it was."""
    edit: tuple[tuple[str, ...], ...]
    """What was put in and taken out."""


def temporary(batch: Batch, number: int, path: str) -> Path:
    """Where a file is written before it takes its place.

    Hidden, so that no scan takes it for a picture; plain, whatever the file itself is called; with the ending that says
    what it is.
    """
    ending = os.path.splitext(path)[1].lower() if batch.target == "embedded" else durable.TEMPORARY
    return Path(os.path.dirname(path), f".manyview-{batch.token}-{number}{ending}")


def remove_temporary(path: Path) -> None:
    """What was to take the place of a file, and what exiftool may have left beside it."""
    for name in (path.name, f"{path.name}_exiftool_tmp"):
        durable.remove(path.with_name(name))


class Writes:
    """The tables of write-back."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    # --- what there is to do ---

    def accepted(self) -> list[tuple[int, int]]:
        """Items that have a file, and tags a person said yes to."""
        return self._catalog.rows(
            "SELECT item_id, tag_id FROM decisions JOIN items ON items.id = item_id WHERE answer = 1 "
            "AND state = 'here' AND path IS NOT NULL ORDER BY item_id, tag_id"
        )

    def n_accepted_without_file(self) -> int:
        """Tags a person said yes to for items that have no file, such as rows of a table: they go into tables alone."""
        ((count,),) = self._catalog.rows(
            "SELECT count(*) FROM decisions JOIN items ON items.id = item_id WHERE answer = 1 "
            "AND state = 'here' AND path IS NULL"
        )
        return int(count)

    def has_files(self) -> bool:
        """Does any item have a file?"""
        return bool(self._catalog.rows("SELECT 1 FROM items WHERE state = 'here' AND path IS NOT NULL LIMIT 1"))

    def refused(self) -> list[tuple[int, int]]:
        """Items that have a file, and tags a person said no to."""
        return self._catalog.rows(
            "SELECT item_id, tag_id FROM decisions JOIN items ON items.id = item_id WHERE answer = 0 "
            "AND state = 'here' AND path IS NOT NULL ORDER BY item_id, tag_id"
        )

    def removals(self, target: str) -> list[tuple[int, int]]:
        """Items, and tags that have to go from their files."""
        return self._catalog.rows(
            "SELECT item_id, tag_id FROM removals JOIN items ON items.id = item_id WHERE target = ? "
            "AND state = 'here' AND path IS NOT NULL ORDER BY item_id, tag_id",
            (target,),
        )

    def standing(self, target: str) -> set[tuple[int, int]]:
        """Items and tags that stood in their files when those were last read or written."""
        return set(self._catalog.rows("SELECT item_id, tag_id FROM item_tags WHERE source = ?", (_SOURCES[target],)))

    def places(self, ids: Iterable[int]) -> dict[int, tuple[str, str, str, str]]:
        """Item -> root of its source, path below it, sidecars as they were read, kind of the source."""
        sql = (
            "SELECT items.id, root, items.path, beside, sources.kind FROM items JOIN sources ON sources.id = source_id "
            "WHERE items.path IS NOT NULL AND items.id IN"
        )
        rows = sorted(rows_in(self._catalog.rows, sql, sorted(map(int, ids))))
        return {row[0]: (as_text(row[1]), as_text(row[2]), row[3], row[4]) for row in rows}

    def holders(self, tags: Iterable[int]) -> list[tuple[int, int]]:
        """Items that have a file, and those of these tags that count for them."""
        return self._of_tags(f"SELECT item_id, ?1 FROM ({HOLDERS})", tags)  # noqa: S608  a constant

    def spelled(self, target: str, tags: Iterable[int]) -> list[tuple[int, int, str]]:
        """Item, tag and the word itself, as sidecars or files say these tags."""
        return self._of_tags(
            "SELECT item_id, tag_id, coalesce(spelling, tags.name) FROM item_tags JOIN tags ON tags.id = tag_id "  # noqa: S608
            f"AND tag_id = ?1 AND source = '{_SOURCES[target]}'",
            tags,
        )

    def _of_tags(self, select: str, tags: Iterable[int]) -> list[Any]:
        sql = f"{select} JOIN items ON items.id = item_id WHERE state = 'here' AND path IS NOT NULL"
        return [row for tag in sorted(set(tags)) for row in self._catalog.rows(sql, (tag,))]

    def paths_said(self, target: str) -> list[tuple[int, tuple[str, ...]]]:
        """Items that have a file, and the hierarchical keywords in their sidecars, or in the files."""
        rows = self._catalog.rows(
            "SELECT item_id, parts FROM item_paths JOIN tag_paths ON tag_paths.id = path_id JOIN items ON "
            "items.id = item_id WHERE state = 'here' AND path IS NOT NULL AND source = ?",
            (_SOURCES[target],),
        )
        return [(item, tuple(json.loads(parts))) for item, parts in rows]

    # --- batches ---

    def open_batch(self) -> Batch | None:
        """The batch that was begun and not ended."""
        row = self._catalog.row("SELECT id, target, token, history_id FROM batches WHERE history_id IS NULL")
        return None if row is None else Batch(*row)

    def begin(self, target: str) -> Batch:
        """A new batch."""
        token = secrets.token_hex(8)
        number = self._catalog.run("INSERT INTO batches (target, token) VALUES (?, ?)", (target, token))
        return Batch(number, target, token, None)

    def batch_of(self, history_id: int) -> Batch | None:
        """The batch of an entry of the history."""
        row = self._catalog.row("SELECT id, target, token, history_id FROM batches WHERE history_id = ?", (history_id,))
        return None if row is None else Batch(*row)

    def end(self, batch: Batch, history_id: int) -> None:
        """A batch is done, with its entry in the history."""
        self._catalog.run("UPDATE batches SET history_id = ? WHERE id = ?", (history_id, batch.id))

    def drop(self, batch: Batch) -> None:
        """A batch that has written nothing."""
        self._catalog.run("DELETE FROM batches WHERE id = ?", (batch.id,))

    def files(self, batch: Batch, *states: str) -> list[Write]:
        """The files of a batch, in the order of writing."""
        marks = ", ".join("?" * len(states))
        rows = self._catalog.rows(
            "SELECT number, path, items, state, before, after, kept, edit FROM writes "  # noqa: S608  only marks
            f"WHERE batch_id = ? AND state IN ({marks}) ORDER BY number",
            (batch.id, *states),
        )
        return [
            Write(number, as_text(path), tuple(json.loads(items)), state, before, after, kept, _edit(edit))
            for number, path, items, state, before, after, kept, edit in rows
        ]

    def next_number(self, batch: Batch) -> int:
        sql = "SELECT coalesce(max(number), 0) + 1 FROM writes WHERE batch_id = ?"
        return int(self._catalog.value(sql, (batch.id,)))

    def plan(self, batch: Batch, files: Sequence[Write]) -> None:
        """Say what is about to be written, so that it is known should the program stop."""
        self._catalog.run_many(
            "INSERT INTO writes (batch_id, number, path, items, state, before, after, kept, edit) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((batch.id, f.number, as_bytes(f.path), as_json(f.items), *f[3:7], as_json(f.edit)) for f in files),
        )

    def set_state(self, batch: Batch, files: Iterable[Write], state: str) -> None:
        self._catalog.run_many(
            "UPDATE writes SET state = ? WHERE batch_id = ? AND number = ?",
            ((state, batch.id, f.number) for f in files),
        )

    def set_after(self, batch: Batch, number: int, after: str) -> None:
        """What a file will be, known only now."""
        self._catalog.run("UPDATE writes SET after = ? WHERE batch_id = ? AND number = ?", (after, batch.id, number))

    def forget(self, batch: Batch, files: Iterable[Write]) -> None:
        """These were not written after all."""
        self._catalog.run_many(
            "DELETE FROM writes WHERE batch_id = ? AND number = ?", ((batch.id, f.number) for f in files)
        )

    def undone_before(self, batch: Batch) -> dict[str, list[tuple[tuple[str, ...], ...]]]:
        """File -> edits by earlier batches that were taken back after this batch had been written."""
        rows = self._catalog.rows(
            "SELECT path, edit FROM writes JOIN batches ON batches.id = batch_id "
            "JOIN history ON history.id = history_id WHERE state = 'undone' AND history_id < ?1 AND undone_by > ?1",
            (batch.history_id,),
        )
        found: dict[str, list[tuple[tuple[str, ...], ...]]] = {}
        for path, edit in rows:
            found.setdefault(as_text(path), []).append(_edit(edit))
        return found

    def accepted_and_written(self, history_id: int) -> tuple[int, str, str] | None:
        """Of what an entry has accepted, a tag that stands in a file by our hand: item, word, and word for matching."""
        row: tuple[int, str, str] | None = self._catalog.row(
            "SELECT item_id, name, folded FROM changes JOIN written_tags ON item_id = json_extract(row_key, '$[0]') "
            "AND tag_id = json_extract(row_key, '$[1]') JOIN tags ON tags.id = tag_id "
            "WHERE history_id = ? AND of_table = 'decisions' AND json_extract(after, '$.answer') = 1 LIMIT 1",
            (history_id,),
        )
        return row

    def later_batch(self, item: int, folded: str, after: int) -> int | None:
        """The entry of a batch that came later and has put a word into a file of an item, and still stands."""
        rows = self._catalog.rows(
            "SELECT history_id, items, edit FROM writes JOIN batches ON batches.id = batch_id "
            "WHERE writes.state = 'written' AND history_id > ? ORDER BY history_id DESC",
            (after,),
        )
        for history_id, items, edit in rows:
            if item in json.loads(items) and folded in {match_key(word) for word in _edit(edit)[0]}:
                return int(history_id)
        return None

    # --- items ---

    def states(self) -> dict[int, tuple[str, str | None]]:
        """Item -> pending, written or failed, and why it failed."""
        rows = self._catalog.rows("SELECT item_id, state, reason FROM write_back")
        return {item: (state, reason) for item, state, reason in rows}

    def set_items(self, items: Iterable[int], state: str, reason: str | None = None) -> None:
        self._catalog.run_many(
            "INSERT INTO write_back (item_id, state, reason, at) VALUES (?, ?, ?, ?) ON CONFLICT (item_id) DO UPDATE "
            "SET state = excluded.state, reason = excluded.reason, at = excluded.at",
            ((int(item), state, reason, now()) for item in items),
        )

    def written(self, target: str, pairs: Iterable[tuple[int, int]]) -> None:
        """These tags stand in files now, by our hand."""
        self._catalog.run_many(
            "INSERT OR IGNORE INTO written_tags VALUES (?, ?, ?)", ((*pair, target) for pair in pairs)
        )

    def unwritten(self, target: str, pairs: Iterable[tuple[int, int]]) -> None:
        self._catalog.run_many(
            "DELETE FROM written_tags WHERE item_id = ? AND tag_id = ? AND target = ?",
            ((*pair, target) for pair in pairs),
        )

    def removed(self, target: str, pairs: Iterable[tuple[int, int]]) -> None:
        """These tags have gone from files, as a person wished."""
        wanted = list(pairs)
        self._catalog.run_many(
            "DELETE FROM removals WHERE item_id = ? AND tag_id = ? AND target = ?", ((*pair, target) for pair in wanted)
        )
        self.unwritten(target, wanted)

    def unremoved(self, target: str, pairs: Iterable[tuple[int, int]]) -> None:
        """These tags are back; where the person still says no, they have to go again."""
        self._catalog.run_many(
            "INSERT OR IGNORE INTO removals SELECT item_id, tag_id, ? FROM decisions WHERE item_id = ? AND tag_id = ? "
            "AND answer = 0",
            ((target, *pair) for pair in pairs),
        )

    def set_facts(self, item: int, facts: FileFacts) -> None:
        """An item's file was written by us: it is another file, and the same picture."""
        self._catalog.run(
            "UPDATE items SET size = ?, mtime_ns = ?, device = ?, inode = ? WHERE id = ?", (*facts, int(item))
        )

    def renew(
        self,
        tagging: Tagging,
        source: str,
        said: Iterable[tuple[int, Sequence[str], Sequence[Sequence[str]], str | None]],
    ) -> None:
        """What the sidecars (or files) of items say now: item, words, paths, and the sidecars' own description."""
        with self._catalog.transaction():
            for item, words, paths, beside in said:
                for table in ("item_tags", "item_paths"):
                    sql = f"DELETE FROM {table} WHERE item_id = ? AND source = ?"  # noqa: S608  one of two names
                    self._catalog.run(sql, (item, source))
                self._catalog.run_many(
                    "INSERT OR IGNORE INTO item_tags (item_id, tag_id, source, spelling) VALUES (?, ?, ?, ?)",
                    [tagging._tag_row(item, source, word) for word in words],
                )
                self._catalog.run_many(
                    "INSERT OR IGNORE INTO item_paths (item_id, path_id, source) VALUES (?, ?, ?)",
                    [tagging._path_row(item, source, path) for path in paths],
                )
                if beside is not None:
                    self._catalog.run("UPDATE items SET beside = ? WHERE id = ?", (beside, item))


def _edit(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, json.loads(text)))
