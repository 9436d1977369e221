"""Help from somebody else's tagged collection: which words, of texts or pictures, go with which of its tags."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..collection.store import Store
from ..errors import ParameterError
from ..features.base import Extractor
from ..features.opening.decode import BadFile, Clip, DecodePool, Picture
from ..types import Progress
from .computed import learned_extractor
from .looking.here import each_row

__all__ = ["Annotations", "annotations_of", "common_view"]

_BATCH = 128
_FEWEST_ITEMS_OF_A_TAG = 2


@dataclass(frozen=True)
class Annotations:
    """How often each word comes with each tag of another collection."""

    counts: Any
    """CSR (n_tags, n_words)"""
    names: list[str]
    n_items: int
    n_bad: int


def common_view(collection: Store, other_path: str | os.PathLike[str]) -> str:
    """The view in which both collections can be counted: words of pictures where both have some, else of texts."""
    with Store.open(other_path) as other:
        kinds = [{item.kind for item in one.items} & {"picture", "video"} for one in (collection, other)]
        texts = [any(one.items.texts()) for one in (collection, other)]
    if all(kinds):
        return "visual_words"
    if all(texts):
        return "words"
    raise ParameterError(f"{collection.path} and {other_path} have neither pictures nor texts in common.")


def annotations_of(
    collection: Store,
    view: str,
    other_path: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Annotations:
    """Count the words of another collection's tagged items by tag, in the vocabulary of ``collection``'s view.

    The other collection is only read; its pictures are opened, a batch at a time, and nothing of them is kept.
    """
    from ..methods.topics.annotations import annotation_matrix

    one = learned_extractor(collection, view)
    with Store.open(other_path) as other:
        tags = other.tags
        kept = np.flatnonzero(np.asarray(tags.yes.sum(axis=0)).ravel() >= _FEWEST_ITEMS_OF_A_TAG)
        carried = tags.yes[:, kept].tocsr()
        rows = np.flatnonzero(np.diff(carried.indptr) > 0)
        if one.reads == "text":
            blocks = _texts(other, one, rows)
        else:
            blocks = _pictures(other, one, rows, n_jobs, progress)
        total, n_items, n_opened = None, 0, 0
        for wanted, used, words in blocks:
            n_opened += wanted
            n_items += len(used)
            if used:
                part = annotation_matrix(carried[np.array(used)].astype(np.float64), words)
                total = part if total is None else total + part
    if total is None or not total.nnz:
        raise ParameterError(
            f"{other_path} can teach nothing: none of its {'texts' if one.reads == 'text' else 'pictures'} has a tag "
            "that another item has too."
        )
    return Annotations(total, [tags.names[tag] for tag in kept], n_items, n_opened - n_items)


Block = tuple[int, list[int], Any]
"""How many items were wanted, the rows of those that could be used, and their words."""


def _texts(other: Store, one: Extractor, rows: Any) -> Iterator[Block]:
    texts = other.items.texts()
    used = [row for row in rows.tolist() if texts[row]]
    if used:
        yield len(used), used, one.extract([texts[row] for row in used])


def _pictures(
    other: Store, one: Extractor, rows: Any, n_jobs: int | None, progress: Progress | None
) -> Iterator[Block]:
    items = list(other.items)
    wanted = [row for row in rows.tolist() if items[row].kind in ("picture", "video") and items[row].path]
    with DecodePool(n_jobs) as pool:
        for start in range(0, len(wanted), _BATCH):
            if progress is not None:
                progress("looking at their files", start, len(wanted))
            batch = wanted[start : start + _BATCH]
            opened: list[Picture | Clip] = []
            used = []
            for row, (_, found) in zip(batch, pool.decode([str(items[row].path) for row in batch]), strict=True):
                if not isinstance(found, BadFile):
                    opened.append(found)
                    used.append(row)
            yield len(batch), used, each_row(one, opened, n_jobs) if used else None
    if progress is not None:
        progress("looking at their files", len(wanted), len(wanted))
