"""Recorded tags that do not seem to belong; they are answered like proposals."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from ...workflow.proposing.doubtful import doubtful_tags
from ...workflow.reading.index import Index
from .. import models
from ..members import member_facts
from .common import Here

router = APIRouter(prefix="/api", tags=["proposals"])


@router.get("/doubtful")
async def list_doubtful(here: Here, limit: Annotated[int, Query(ge=1, le=500)] = 60) -> models.DoubtfulPage:
    """Recorded tags that are probably wrong, the most doubtful first."""
    return await here.read(doubtful_page, limit)


def doubtful_page(index: Index, limit: int = 60) -> models.DoubtfulPage:
    """The answer to ``/api/doubtful``."""
    if index.collection.runs.newest("suggest") is None:
        return models.DoubtfulPage(total=0, tags=[])
    found = doubtful_tags(index)
    facts = member_facts(index, sorted({one.item_id for one in found[:limit]}))
    return models.DoubtfulPage(
        total=len(found),
        tags=[
            models.DoubtfulTag(
                item=one.item_id,
                tag=one.tag,
                doubt=one.doubt,
                sentence=one.reason,
                tags=[word for word in index.words_of(index.row_of(one.item_id)) if word != one.tag],
                **{name: facts[one.item_id][name] for name in ("key", "has_thumb", "opening")},
            )
            for one in found[:limit]
        ],
    )
