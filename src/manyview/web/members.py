"""What the pages show of an item at a glance: its name, and a picture or the first words of its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..collection.items import as_text
from ..workflow.reading.index import Index

__all__ = ["member_facts", "shown"]


def member_facts(index: Index, numbers: Sequence[int]) -> dict[int, dict[str, Any]]:
    """What a small square of each item shows: ``models.Member`` by number, without those whose files are gone."""
    keys, openings = index.keys(numbers), index.openings(numbers)
    rows = index.rows_of(np.array(sorted(keys), dtype=np.int64))
    return {
        number: {"id": number, "key": shown(keys[number]), "has_thumb": there, "opening": openings.get(number)}
        for number, there in zip(index.ids[rows].tolist(), index.has_thumb[rows].tolist(), strict=True)
    }


def shown(key: bytes | str) -> str:
    """A name as JSON can carry it: bytes that are no letters become the sign for that."""
    text = key if isinstance(key, str) else as_text(key)
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
