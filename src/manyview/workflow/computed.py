"""What a computation of views did and what there is to say about it; rows, and what their extractors learned, kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..collection.items import Problem
from ..collection.store import Store
from ..errors import StoreError
from ..features.base import Extractor, extractor

__all__ = ["Computed", "Note", "add_rows", "learned_extractor", "restore_learned"]


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


def learned_extractor(collection: Store, name: str) -> Extractor:
    """The extractor of a computed view, with what it learned there: it codes others' items in the same way."""
    one = extractor(name)
    if not restore_learned(collection, one):
        raise StoreError(
            f"{collection.path} has not kept what the view {name!r} learned. Compute it again: "
            f"`manyview features {collection.path} --view {name} --again`."
        )
    return one


def restore_learned(collection: Store, one: Extractor) -> bool:
    """Give an extractor back what it learned in this collection; False where nothing is kept."""
    if one.name not in collection.view_names or collection.segments.info(one.name).version != one.version:
        return False
    state = collection.segments.state(one.name)
    if state:
        one.restore(state)
    return bool(state)


def add_rows(collection: Store, one: Extractor, matrix: Any, ids: NDArray[np.int64], done: Computed) -> None:
    """Rows, and with the first of them what the extractor learned."""
    fresh = one.name not in collection.view_names or collection.segments.info(one.name).version != one.version
    model = getattr(one, "model", None)
    settings = None if model is None else {"model": str(model)}
    with collection.transaction():
        kept = collection.add_view(one.name, one.version, matrix, ids, columns=one.columns, settings=settings)
        if fresh and one.learns:
            collection.segments.put_state(one.name, one.state())
    done.rows[one.name] = done.rows.get(one.name, 0) + kept
