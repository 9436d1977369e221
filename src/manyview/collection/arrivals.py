"""Items on their way into the catalogue, with their tags: what is new goes in at once, what is as before stays.

SQLite opens a savepoint for each row that a trigger follows, and its table of words then writes itself out: five times
the work of the rows. So from some hundred new items on, the triggers of new rows are taken away and put back inside the
same transaction, and what they do is done for all rows in one statement. Nobody else ever sees the catalogue without
them: a transaction that does not last has not taken them away.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from .catalog import Catalog, as_json, rows_in
from .items import NewItem, as_bytes
from .tagging import Tagging

__all__ = ["Content", "contents", "put_items"]

_MANY = 500
_COLUMNS = "kind, path, size, mtime_ns, device, inode, beside, content, format, text, fields"
_TEXT = 9  # the place of the text among them
_TRIGGERS = ("items_insert_words", "items_insert_counts", "item_tags_insert_counts", "item_tags_close")
"""Those that follow new rows of items and their tags. No proposal is about an item that is new."""


class Content(NamedTuple):
    """What a source said of an item when it was last read."""

    text: str | None
    fields: str | None
    tags: str | None
    is_here: bool


def contents(catalog: Catalog, source_id: int) -> dict[int, Content]:
    """What a source said of each of its items, those that are gone too: to be compared with what it says later."""
    rows = catalog.rows(
        "SELECT id, text, fields, (SELECT group_concat(tag_id || ':' || coalesce(spelling, ''), char(10)) FROM "
        "(SELECT tag_id, spelling FROM item_tags WHERE item_id = items.id ORDER BY tag_id, source)), state = 'here' "
        "FROM items WHERE source_id = ?",
        (source_id,),
    )
    return {item: Content(text or None, fields, tags, bool(here)) for item, text, fields, tags, here in rows}


def put_items(catalog: Catalog, tagging: Tagging, source_id: int, items: Sequence[NewItem]) -> list[int]:
    """Add items, or renew what is known of those that are there under the same key. Their numbers, in order."""
    with catalog.transaction():
        named = {as_bytes(item.key): item for item in items}
        known = _known(catalog, source_id, list(named))
        new = {key: item for key, item in named.items() if key not in known}
        first = int(catalog.value("SELECT coalesce(max(id), 0) FROM items")) + 1
        numbers = dict(zip(new, range(first, first + len(new)), strict=True))
        with _all_at_once(catalog, first) if len(new) >= _MANY else _one_by_one():
            catalog.run_many(
                f"INSERT INTO items (id, source_id, key, {_COLUMNS}) VALUES (?, ?, ?{', ?' * 11})",  # noqa: S608  names above
                ((numbers[key], source_id, key, *_row(item)) for key, item in new.items()),
            )
            _put_words(tagging, {numbers[key]: item for key, item in new.items()})
        _renew(catalog, {key: (known[key], named[key]) for key in known})
        _put_words(tagging, {known[key][0]: named[key] for key in known})
        numbers |= {key: row[0] for key, row in known.items()}
    return [numbers[as_bytes(item.key)] for item in items]


def _row(item: NewItem) -> tuple[Any, ...]:
    return (
        item.kind,
        None if item.path is None else as_bytes(item.path),
        *(item.facts or (None,) * 4),
        item.beside,
        item.content,
        item.format,
        item.text,
        None if item.fields is None else as_json(dict(item.fields)),
    )


def _known(catalog: Catalog, source_id: int, keys: Sequence[bytes]) -> dict[bytes, tuple[Any, ...]]:
    """Key -> number, state and columns, of the items that are there."""
    sql = f"SELECT key, id, state, {_COLUMNS} FROM items WHERE source_id = ? AND key IN"  # noqa: S608  names above
    return {key: tuple(rest) for key, *rest in rows_in(catalog.rows, sql, keys, (source_id,))}


def _renew(catalog: Catalog, items: Mapping[bytes, tuple[tuple[Any, ...], NewItem]]) -> None:
    """Write what is other than it was. An item that says nothing of its text keeps the one it has."""
    changed = []
    for (number, state, *before), item in items.values():
        now = list(_row(item))
        if now[_TEXT] is None:
            now[_TEXT] = before[_TEXT]
        if state != "here" or now != before:
            changed.append((*now, number))
    names = ", ".join(f"{name} = ?" for name in _COLUMNS.split(", "))
    catalog.run_many(f"UPDATE items SET {names}, state = 'here' WHERE id = ?", changed)  # noqa: S608  names above


def _put_words(tagging: Tagging, items: Mapping[int, NewItem]) -> None:
    tagging.put({number: item.tags for number, item in items.items()})
    tagging.put_paths({number: item.paths for number, item in items.items()})


@contextmanager
def _all_at_once(catalog: Catalog, first: int) -> Iterator[None]:
    """Inside, new items (from the number ``first`` on) and their tags are written without triggers."""
    marks = ", ".join("?" * len(_TRIGGERS))
    found = catalog.rows(f"SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name IN ({marks})", _TRIGGERS)  # noqa: S608
    for name, _ in found:
        catalog.run(f"DROP TRIGGER {name}")
    try:
        yield
        catalog.run(
            "INSERT INTO item_words (rowid, name, text) SELECT id, CAST(key AS TEXT), text FROM items WHERE id >= ?",
            (first,),
        )
        catalog.run("UPDATE versions SET n = n + 1 WHERE part IN ('items', 'tags')")
    except BaseException:  # a caller may catch this inside a transaction that lasts
        with suppress(Exception):
            _make_again(catalog, found)
        raise
    _make_again(catalog, found)


def _make_again(catalog: Catalog, triggers: Sequence[tuple[str, str]]) -> None:
    for _, sql in triggers:
        catalog.run(sql)


@contextmanager
def _one_by_one() -> Iterator[None]:
    yield
