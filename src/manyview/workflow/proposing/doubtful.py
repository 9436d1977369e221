"""Recorded tags that do not seem to belong: found with the proposals, asked like them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..reading.index import Index
from .asking import WORTH_ASKING
from .why_proposed import Carriers

__all__ = ["Doubt", "doubtful_tags", "found_doubts"]

_KEPT = 500
"""Doubtful tags that a run keeps."""
_TOO_FEW = 3
"""Of so few items nothing is said."""


class Doubt(NamedTuple):
    """A tag that is on record, and may be a mistake."""

    item_id: int
    tag: str
    doubt: float
    """How likely it does not belong: an order, and no promise."""
    reason: str


def found_doubts(completer: Any, numbers: Sequence[int | None], ids: Any) -> list[list[Any]]:
    """What a completer doubts, as a run keeps it: item, number of the tag, how likely it does not belong."""
    found = completer.doubtful(top=_KEPT)
    doubts = zip(found.items.tolist(), found.columns.tolist(), (1.0 - found.probabilities).tolist(), strict=True)
    return [
        [int(ids[row]), numbers[column], round(doubt, 4)]
        for row, column, doubt in doubts
        if doubt >= WORTH_ASKING and numbers[column] is not None
    ]


def doubtful_tags(index: Index, top: int | None = None) -> list[Doubt]:
    """The doubtful tags that files or tables still say and no person has spoken of, the most doubtful first."""
    kept = index.collection.runs.get(kind="suggest").figures.get("doubtful", [])
    open_ones = index.collection.decisions.only_said([(item, tag) for item, tag, _ in kept])
    chosen = [one for one in kept if (one[0], one[1]) in open_ones][:top]
    names = index.tag_names
    return [
        Doubt(item, names[tag], doubt, _reason(item, names[tag], index.words_of(index.row_of(item)), index.carriers))
        for item, tag, doubt in chosen
    ]


def _reason(item: int, tag: str, words: Sequence[str], carriers: Carriers) -> str:
    """The tag of the item that the doubtful one goes with least."""
    having = carriers(tag)
    others = having[having != item]
    seldom = []
    for word in words:
        beside = carriers(word)
        beside = beside[beside != item]
        if word != tag and beside.size >= _TOO_FEW:
            n_with = int(np.isin(beside, others, assume_unique=True).sum())
            seldom.append((n_with / beside.size, n_with, int(beside.size), word))
    if not others.size:
        return f"{tag}: no other item carries it."
    if not seldom or min(seldom)[0] > 0.5:
        carry = "other item that carries" if others.size == 1 else f"{others.size} other items that carry"
        return f"{tag}: unlike the {carry} it."
    _, n_with, n_all, word = min(seldom)
    return f"{tag}: seldom goes with {word} (on {n_with} of {n_all} other items with it)."
