"""The words of the collection: all tags with their use, which may be one, and a person's care for them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from ...collection.history import Entry
from ...workflow.collection import Collection
from ...workflow.reading.index import Index
from ...workflow.vocabulary.care import care_for
from ...workflow.vocabulary.listing import kin_of_tags, list_tags
from .. import models
from .common import Here, Text, command, done

router = APIRouter(prefix="/api", tags=["tags"])

Order = Literal["count", "name", "last"]


@router.get("/vocabulary")
async def list_vocabulary(
    here: Here,
    text: Text = "",
    order: Annotated[Order, Query()] = "count",
    meaning: bool = False,
    limit: Annotated[int, Query(ge=1, le=5000)] = 500,
) -> models.VocabularyPage:
    """Every tag with how often and when it was used, and those that may be one."""
    return await here.read(vocabulary_page, text, order, meaning, limit)


@router.post("/vocabulary/preview")
async def preview_care(here: Here, asked: models.TagAction) -> models.TagPreview:
    """What a change of tags would come to; nothing is changed."""
    return await here.read(preview_page, asked)


@router.post("/vocabulary")
async def care(here: Here, asked: models.TagAction) -> models.Done:
    """Rename, merge, alias, retire, silence, restore or place a tag."""
    return await done(here, await here.write(_care, asked))


def _care(collection: Collection, asked: models.TagAction) -> Entry:
    entry = care_for(collection, asked.action, *asked.words, into=asked.into).entry
    assert entry is not None  # noqa: S101  it was no trial
    return entry


def preview_page(index: Index, asked: models.TagAction) -> models.TagPreview:
    """The answer to ``/api/vocabulary/preview``."""
    found = care_for(index.collection, asked.action, *asked.words, into=asked.into, dry_run=True)
    return models.TagPreview(sentence=found.sentence, n_items=found.n_items, n_files=found.n_files)


def vocabulary_page(
    index: Index, text: str = "", order: Order = "count", meaning: bool = False, limit: int = 500
) -> models.VocabularyPage:
    """The answer to ``/api/vocabulary``."""
    lines = list_tags(index.collection, order, text)
    kin = index.part(
        "kin", "items tags decisions", lambda: kin_of_tags(index.collection, meaning=meaning), bool(meaning)
    )
    return models.VocabularyPage(
        total=len(lines),
        tags=[
            models.TagLine(**{**line._asdict(), "path": list(line.path), "aliases": list(line.aliases)})
            for line in lines[:limit]
        ],
        kin=[
            models.TagKin(kind=one.kind, tags=list(one.tags), counts=list(one.counts), sentence=one.sentence)
            for one in kin[:limit]
        ],
        command=command(index, "tags", *(("--order", order) if order != "count" else ())),
    )
