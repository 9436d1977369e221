"""What the routes share: the gallery, the numbers in addresses, and how runs and entries are told."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request

from ...collection.history import Entry as HistoryEntry
from ...collection.history import History
from ...collection.runs import Run
from ...workflow.reading.index import Index
from .. import models
from ..gallery import Gallery

__all__ = ["Here", "Number", "Offset", "RunNumber", "command", "done", "entry_facts", "run_facts"]


_LONG = ("tag_names", "state", "doubtful", "number", "levels", "nodes")
"""Figures of a run that are for the program only."""


async def _gallery(request: Request) -> Gallery:  # plain functions are sent to a thread of their own
    found: Gallery = request.app.state.gallery
    return found


Here = Annotated[Gallery, Depends(_gallery)]
Number = Annotated[int, Path(ge=1, le=2**53)]
RunNumber = Annotated[int | None, Query(ge=1, le=2**53)]
Offset = Annotated[int, Query(ge=0, le=2**40)]
Text = Annotated[str, Query(max_length=8000)]
Word = Annotated[str | None, Query(max_length=1000)]


def run_facts(run: Run | None) -> models.RunFacts | None:
    """A run as the pages know it."""
    if run is None:
        return None
    return models.RunFacts(
        id=run.id,
        kind="fit" if run.kind == "fit" else "suggest",
        method=run.method,
        settings=run.settings,
        figures={name: value for name, value in run.figures.items() if name not in _LONG},
        views=list(run.views),
        n_clusters=run.figures.get("n_clusters"),
        made_at=run.made_at,
        seconds=run.seconds,
    )


def entry_facts(history: History, entries: Sequence[HistoryEntry]) -> list[models.Entry]:
    """Entries of the history as the pages know them."""
    takeable = history.with_effect([one.id for one in entries if one.undoes is None and one.undone_by is None])
    return [_entry_facts(one, one.id in takeable) for one in entries]


def _clusters(entry: HistoryEntry) -> list[int]:
    return [int(number) for number in entry.detail.get("clusters", [])]


def _entry_facts(entry: HistoryEntry, can_undo: bool) -> models.Entry:
    return models.Entry(
        id=entry.id,
        at=entry.at,
        who=entry.who,
        kind=entry.kind,
        summary=entry.summary,
        clusters=_clusters(entry),
        undoes=entry.undoes,
        undone_by=entry.undone_by,
        can_undo=can_undo,
    )


async def done(here: Gallery, entry: HistoryEntry) -> models.Done:
    """The answer to a change: what was written into the history, and how many proposals wait now."""
    return models.Done(
        entry=entry.id,
        kind=entry.kind,
        summary=entry.summary,
        clusters=_clusters(entry),
        undoes=entry.undoes,
        n_open=await here.read(lambda index: index.n_open),
    )


def command(index: Index, *words: Any) -> str:
    """The command line that gives the same; the first word comes before the collection's name."""
    verb, *rest = [str(word) for word in words if word is not None]
    return shlex.join(["manyview", verb, index.called, *rest])
