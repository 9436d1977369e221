"""What a computation of views did, and what there is to say about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..collection.items import Problem

__all__ = ["Computed", "Note"]


class Note(NamedTuple):
    """Something to be said about a view."""

    kind: str
    """kept: it came with the source; lacking: there is nothing to make it of; model gone: it is as it was; model
    changed; few pictures: too few for a pair of models; pair fails: it says nothing of texts; healed."""
    view: str
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass
class Computed:
    """What ``compute_views`` did."""

    rows: dict[str, int] = field(default_factory=dict)
    """View -> rows that were new."""
    bad: list[Problem] = field(default_factory=list)
    """Files that could not be used, with the reason."""
    notes: list[Note] = field(default_factory=list)
    n_duplicates: int = 0
    n_recognised: int = 0
    """New items that turned out to be old ones whose files had moved."""
    seconds: float = 0.0
