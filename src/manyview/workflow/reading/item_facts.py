"""All that the catalogue says about one item."""

from __future__ import annotations

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
    collection = index.collection
    text, fields = collection.reading.text_and_fields(item_id)
    return ItemFacts(
        item=collection.items.get(item_id),
        text=text,
        fields=fields,
        tags=list(collection.tagging.origins_of(item_id, index.tag_names)),
        refused=collection.decisions.refused(item_id),
        links=collection.living.linked_to(item_id),
    )
