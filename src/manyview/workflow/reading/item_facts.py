"""All that the catalogue says about one item."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from ...collection.items import Item
from .index import Index

__all__ = ["ItemFacts", "item_facts"]


@dataclass(frozen=True)
class ItemFacts:
    """An item, its text and fields, its tags and where each comes from, and what a person said about it."""

    item: Item
    text: str | None
    fields: dict[str, Any]
    tags: list[tuple[str, Any]]
    """Word and origin: "person" where only a person says so, else "file", "sidecar" or "table"."""
    refused: list[str]
    """Tags a person said no to."""
    links: list[tuple[int, bool]]
    """Items it shall be together with, or apart from."""


def item_facts(index: Index, item_id: int) -> ItemFacts:
    """Look up one item."""
    catalog = index.collection._catalog
    text, fields = catalog.row("SELECT text, fields FROM items WHERE id = ?", (item_id,)) or (None, None)
    said = catalog.rows(
        "SELECT coalesce(spelling, name), source, tag_id FROM item_tags JOIN tags ON tags.id = tag_id "
        "WHERE item_id = ? ORDER BY tag_id, source",
        (item_id,),
    )
    answers = catalog.rows(
        "SELECT tag_id, answer, name FROM decisions JOIN tags ON tags.id = tag_id WHERE item_id = ? ORDER BY tag_id",
        (item_id,),
    )
    no = {tag for tag, answer, _ in answers if not answer}
    tags: dict[int, tuple[str, str]] = {}
    for name, source, tag in said:
        if tag not in no:
            tags.setdefault(tag, (name, source))
    for tag, answer, name in answers:
        if answer:
            tags.setdefault(tag, (name, "person"))
    links = catalog.rows(
        "SELECT iif(first_id = ?1, second_id, first_id), together FROM links WHERE first_id = ?1 OR second_id = ?1",
        (item_id,),
    )
    return ItemFacts(
        item=index.collection.items.get(item_id),
        text=text or None,
        fields=json.loads(fields) if fields else {},
        tags=list(tags.values()),
        refused=[name for _, answer, name in answers if not answer],
        links=[(int(other), bool(together)) for other, together in links],
    )
