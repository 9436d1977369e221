"""Say again, in a new catalogue, what people said in an old one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...data.tags import match_key
from ..catalog import Catalog, Rows, as_json, open_read_only
from ..history import now
from ..items import as_bytes
from ..whereabouts import aside
from .answers import TAG_COLUMNS, Answers, entry_line, sources_line

__all__ = ["Restored", "catch_up", "disagreement", "restore", "salvage"]

_TABLES = {
    "decisions": ("item_id", "tag_id"),
    "placements": ("item_id",),
    "pinned_items": ("item_id",),
    "links": ("first_id", "second_id"),
    "clusters": ("id",),
    "tag_care": ("tag_id",),
}
"""What people say is in these tables; the columns that name a row."""


@dataclass
class Restored:
    """What was brought back, and what could not be."""

    n_entries: int = 0
    n_decisions: int = 0
    n_named: int = 0
    n_placed: int = 0
    n_links: int = 0
    sources: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Entries that could not be said again, with the reason."""


def restore(catalog: Catalog, lines: Iterable[Mapping[str, Any]]) -> Restored:
    """Write what the lines of a file of answers say into an empty catalogue, with the same numbers for everything."""
    known = list(lines)
    done = Restored()
    with catalog.transaction():
        done.sources = _put_sources(catalog, known)
        _put_items(catalog, known, {source["id"]: source["kind"] for source in done.sources})
        tags = _put_tags(catalog, known)
        _put_clusters(catalog, known)
        for line in known:
            if "entry" in line:
                _say_again(catalog, _with_tags(line, tags), done)
        _put_run(catalog, known)
    counts = {
        "n_decisions": "SELECT count(*) FROM decisions",
        "n_named": "SELECT count(*) FROM clusters WHERE name IS NOT NULL",
        "n_placed": "SELECT (SELECT count(*) FROM placements) + (SELECT count(*) FROM pinned_items)",
        "n_links": "SELECT count(*) FROM links",
    }
    for name, sql in counts.items():
        setattr(done, name, catalog.value(sql))
    return done


def catch_up(catalog: Catalog) -> None:
    """Make a catalogue that was opened for writing, and the file of answers, say the same.

    Answers that were acknowledged and that the catalogue does not know are said again: an older one was put back, or a
    disk forgot what it had promised to keep.
    """
    answers = Answers(catalog)
    if lines := answers.catch_up():
        with catalog.transaction():
            tags = _put_tags(catalog, lines)
            _put_clusters(catalog, lines)
            for line in lines:
                _say_again(catalog, _with_tags(line, tags), Restored())
    catalog.answers = answers


def _put_sources(catalog: Catalog, lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    sources: list[dict[str, Any]] = next((line["sources"] for line in reversed(lines) if "sources" in line), [])
    catalog.run_many(
        "INSERT INTO sources (id, kind, path, root, settings) VALUES (?, ?, ?, ?, ?)",
        (
            (one["id"], one["kind"], as_bytes(one["path"]), as_bytes(one["root"]), as_json(one["settings"]))
            for one in sources
        ),
    )
    return [dict(one) for one in sources]


def _put_items(catalog: Catalog, lines: Sequence[Mapping[str, Any]], sources: Mapping[int, str]) -> None:
    """Items that somebody said something of, where they were last. The reading of the sources finds them there, or by
    their content; what it does not find is gone."""
    found = {int(item): row for line in lines for item, row in line.get("items", {}).items()}
    if not sources:
        return
    places: dict[tuple[int, bytes], int] = {}
    for item, (source, key, *_) in found.items():
        if source in sources:
            places[source, as_bytes(key)] = item  # of two that had a name, the one spoken of last has it now
    rows = []
    for item, (source, key, kind, size, content) in found.items():
        name = as_bytes(key)
        is_there = places.get((source, name)) == item and b"\0" not in name
        rows.append(
            (
                item,
                source if source in sources else min(sources),
                name if is_there else aside(name, item),
                kind,
                name if is_there and sources[source] == "folder" else None,
                size,
                None if content is None else bytes.fromhex(content),
                "here" if is_there else "gone",
            )
        )
    catalog.run_many(
        "INSERT INTO items (id, source_id, key, kind, path, size, content, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
    )


def _put_tags(catalog: Catalog, lines: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The words, folded, and the number of each: its own, unless another word came to it first."""
    numbers: dict[str, int] = {folded: number for number, folded in catalog.rows("SELECT id, folded FROM tags")}
    taken = set(numbers.values())
    named = [(int(tag), name) for line in lines for tag, name in line.get("tags", {}).items()]
    free = max([*taken, *(tag for tag, _ in named)], default=0)
    for tag, name in named:
        if match_key(name) not in numbers:
            if tag in taken:
                free += 1
                tag = free
            taken.add(tag)
            numbers[match_key(name)] = tag
            catalog.run("INSERT INTO tags (id, name, folded) VALUES (?, ?, ?)", (tag, name, match_key(name)))
    return numbers


def _with_tags(line: Mapping[str, Any], numbers: Mapping[str, int]) -> Mapping[str, Any]:
    """An entry in which tags have the numbers they have now."""
    now = {int(tag): numbers[match_key(name)] for tag, name in line.get("tags", {}).items()}
    if all(tag == number for tag, number in now.items()):
        return line
    changes = []
    for table, key, *states in line["changes"]:
        if table in ("decisions", "tag_care"):
            key = [*key[:-1], now.get(key[-1], key[-1])]
            states = [
                row and {**row, **{c: now.get(row[c], row[c]) for c in TAG_COLUMNS if c in row}} for row in states
            ]
        changes.append([table, key, *states])
    return {**line, "changes": changes}


def _put_clusters(catalog: Catalog, lines: Sequence[Mapping[str, Any]]) -> None:
    """Every cluster that is spoken of, without a word about it yet."""
    numbers = {int(cluster) for line in lines for cluster in line.get("clusters", {})}
    for line in lines:
        for table, key, *states in line.get("changes", ()):
            if table == "clusters":
                numbers.add(int(key[0]))
            for row in filter(None, states):
                numbers |= {int(row[name]) for name in ("cluster_id", "merged_into") if row.get(name) is not None}
    catalog.run_many("INSERT OR IGNORE INTO clusters (id) VALUES (?)", ((number,) for number in sorted(numbers)))


def _say_again(catalog: Catalog, line: Mapping[str, Any], done: Restored) -> None:
    """One entry of the history, with its rows."""
    entry = line["entry"]
    values = (entry["at"], entry["who"], entry["kind"], entry["summary"], as_json(entry["detail"]))
    sql = "INSERT INTO history (id, at, who, kind, summary, detail) VALUES (?, ?, ?, ?, ?, ?)"
    is_new = catalog.value("SELECT 1 FROM history WHERE id = ?", (entry["id"],)) is None
    # A number that was given twice: an older catalogue had been put back, and what was said after that counts.
    number = catalog.run(sql, (entry["id"] if is_new else None, *values))
    for position, (table, key, before, after) in enumerate(line["changes"]):
        try:
            _put_row(catalog, table, key, after)
        except sqlite3.IntegrityError:
            done.left_out.append(f"entry {entry['id']} ({entry['summary']}): {table} {key}")
            continue
        texts = (None if row is None else as_json(row) for row in (before, after))
        catalog.run(
            "INSERT INTO changes (history_id, position, of_table, row_key, before, after) VALUES (?, ?, ?, ?, ?, ?)",
            (number, position, table, as_json(key), *texts),
        )
    undone = entry.get("undoes")
    if undone is not None and catalog.value("SELECT 1 FROM history WHERE id = ?", (undone,)):
        catalog.run("UPDATE history SET undoes = ? WHERE id = ?", (undone, number))
        catalog.run("UPDATE history SET undone_by = ? WHERE id = ?", (number, undone))
        again = catalog.value("SELECT undoes FROM history WHERE id = ?", (undone,))
        if again is not None:  # what had been undone is done again
            catalog.run("UPDATE history SET undone_by = NULL WHERE id = ?", (again,))
    done.n_entries += 1


def _put_row(catalog: Catalog, table: str, key: Sequence[Any], row: Mapping[str, Any] | None) -> None:
    columns = _TABLES[table]
    if row is None:
        same = " AND ".join(f"{name} = ?" for name in columns)
        catalog.run(f"DELETE FROM {table} WHERE {same}", key)  # noqa: S608  names of the schema
        return
    there = {name for _, name, *_ in catalog.rows(f"PRAGMA table_info({table})")}
    kept = {name: value for name, value in row.items() if name in there}
    marks = ", ".join("?" * len(kept))
    changed = ", ".join(f"{name} = excluded.{name}" for name in kept)
    catalog.run(
        f"INSERT INTO {table} ({', '.join(kept)}) VALUES ({marks}) "  # noqa: S608  names of the schema
        f"ON CONFLICT ({', '.join(columns)}) DO UPDATE SET {changed}",
        kept.values(),
    )


def _put_run(catalog: Catalog, lines: Sequence[Mapping[str, Any]]) -> None:
    """A run that holds what is known of the members of clusters, so that the next fit finds them again."""
    members: dict[int, int] = {}
    for line in lines:
        for cluster, items in line.get("clusters", {}).items():
            members.update(dict.fromkeys(items, int(cluster)))
    there = {row[0] for row in catalog.rows("SELECT id FROM items")}
    members = {item: cluster for item, cluster in members.items() if item in there}
    if not members:
        return
    run = catalog.run(
        "INSERT INTO runs (kind, method, settings, views, figures, made_at, seconds) VALUES "
        "('fit', 'repaired', '{}', '{}', '{}', ?, 0)",
        (now(),),
    )
    label = {cluster: n for n, cluster in enumerate(sorted(set(members.values())))}
    catalog.run_many(
        "INSERT INTO run_clusters (run_id, label, cluster_id) VALUES (?, ?, ?)",
        ((run, n, cluster) for cluster, n in label.items()),
    )
    catalog.run_many(
        "INSERT INTO labels (run_id, item_id, label) VALUES (?, ?, ?)",
        ((run, item, label[cluster]) for item, cluster in sorted(members.items())),
    )


def disagreement(rows: Rows, lines: Iterable[Mapping[str, Any]]) -> str:
    """Where a catalogue does not say what people said, in a few words; "" where it does.

    A flipped bit in a row is no damage to SQLite; the second place knows better.
    """
    said: dict[str, dict[tuple[Any, ...], Mapping[str, Any] | None]] = {table: {} for table in _TABLES}
    folded = {name: number for number, name in rows("SELECT id, folded FROM tags")}
    for line in lines:
        words = {match_key(name) for name in line.get("tags", {}).values()}
        if lost := words - folded.keys():
            return f"the tag {min(lost)!r} is not there"
        line = _with_tags(line, folded)
        for table, key, _, after in line.get("changes", ()):
            said[table][tuple(key)] = after
    for table, expected in said.items():
        names = [row[1] for row in rows(f"PRAGMA table_info({table})")]
        found = {}
        if not names:  # it came with a later format
            continue
        for values in rows(f"SELECT * FROM {table}"):  # noqa: S608  one of ours
            row = dict(zip(names, values, strict=True))
            found[tuple(row[name] for name in _TABLES[table])] = row
        for key, after in expected.items():
            now_there = found.get(key)
            if (now_there is None) != (after is None):
                return f"{table} {key} is {'not ' if now_there is None else ''}there"
            if now_there and after and any(now_there[n] != value for n, value in after.items() if n in now_there):
                return f"{table} {key} is not as it was said"
    return ""


def salvage(path: Path, after: int) -> Iterator[dict[str, Any]]:
    """What can still be read of a damaged catalogue: its sources, and the entries after one, until it breaks off."""
    if not path.is_file():
        return
    try:
        connection = open_read_only(path)
    except sqlite3.Error:
        return

    def rows(sql: str, values: Iterable[Any] = ()) -> list[Any]:
        return connection.execute(sql, tuple(values)).fetchall()

    try:
        yield sources_line(rows, after)
        for (number,) in rows("SELECT DISTINCT history_id FROM changes WHERE history_id > ? ORDER BY 1", (after,)):
            line = entry_line(rows, number, after, None)
            if line is not None:
                yield line
    except (sqlite3.Error, ValueError, TypeError, IndexError, AttributeError, OverflowError):
        return
    finally:
        connection.close()
