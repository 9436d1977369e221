"""What a person changes: names of clusters, where items are, tags; and the way back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from ...collection.history import Entry
from ...workflow.clusters.levels import Step
from ...workflow.collection import Collection
from ...workflow.reading.index import Index
from .. import models
from .common import Here, Number, Offset, done, entry_facts

router = APIRouter(prefix="/api", tags=["edits"])


async def _edit(here: Here, verb: str, *args: Any, **options: Any) -> models.Done:
    from ...workflow.clusters import edits

    return await done(here, await here.write(getattr(edits, verb), *args, **options))


@router.post("/clusters/merge")
async def merge(here: Here, asked: models.Merge) -> models.Done:
    """Make several clusters one."""
    return await _edit(here, "merge", asked.clusters, into=asked.into)


@router.post("/clusters/level")
async def level(here: Here, asked: models.ToLevel) -> models.Done:
    """Go to the next coarser or finer level of the newest run."""
    return await done(here, await here.write(_to_level, asked.to))


def _to_level(collection: Collection, to: Step) -> Entry:
    from ...workflow.clusters.levels import keep_level

    keep_level(collection, to)
    return collection.history.newest(1)[0]  # the lock is ours: nobody came between


@router.post("/clusters/{cluster}/rename")
async def rename(here: Here, cluster: Number, asked: models.Rename) -> models.Done:
    """Give a cluster a name; an empty one gives it back the name the run found."""
    return await _edit(here, "rename", cluster, asked.name)


@router.post("/clusters/{cluster}/pin")
async def pin(here: Here, cluster: Number, asked: models.Pin) -> models.Done:
    """Keep a cluster as it is through refits, or let it go."""
    return await _edit(here, "pin", cluster, asked.pinned)


@router.post("/clusters/{cluster}/split")
async def split(here: Here, cluster: Number, asked: models.Split) -> models.Done:
    """Cut a cluster into parts."""
    return await _edit(here, "split", cluster, asked.n)


@router.post("/items/move")
async def move(here: Here, asked: models.Move) -> models.Done:
    """Put items into a cluster, or into a new one."""
    return await _edit(here, "move", asked.items, asked.cluster, name=asked.name)


@router.post("/links")
async def link(here: Here, asked: models.Link) -> models.Done:
    """Say that two items belong together, or apart, or take that back."""
    return await _edit(here, "link", asked.first, asked.second, asked.together)


@router.post("/tags")
async def tag(here: Here, asked: models.NewTag) -> models.Done:
    """Put a tag on items, or take it off."""
    from ...workflow.proposing.decide import add_tag, remove_tag

    return await done(here, await here.write(add_tag if asked.answer else remove_tag, asked.items, asked.tag))


@router.post("/undo")
async def undo(here: Here, asked: models.Undo) -> models.Done:
    """Take back an entry of the history, the last when none is named."""
    return await done(here, await here.write(take_back, asked.entry))


@router.get("/history")
async def list_history(
    here: Here, offset: Offset = 0, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> models.HistoryPage:
    """What was done, newest first."""
    return await here.read(history_page, offset, limit)


def take_back(collection: Collection, entry: int | None) -> Entry:
    """Undo an entry, or the last one."""
    from ...workflow.undo import undo as undo_entry

    return undo_entry(collection, entry)


def history_page(index: Index, offset: int = 0, limit: int = 50) -> models.HistoryPage:
    """The answer to ``/api/history``."""
    history = index.collection.history
    entries = entry_facts(history, history.newest(limit, offset))
    return models.HistoryPage(total=len(history), offset=offset, entries=entries)
