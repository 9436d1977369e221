"""One search for tags, words and what pictures show."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Query

from ...types import Mask
from ...workflow.reading.content import find_all
from ...workflow.reading.index import Index
from .. import models
from .common import Here, Offset, RunNumber, Text, command
from .items import Limit, facets_of, item_rows

router = APIRouter(prefix="/api/search", tags=["search"])

Order = Literal["best", "id", "name", "confidence", "typical", "date", "newest"]


@router.get("")
async def search(
    here: Here,
    q: Text = "",
    run: RunNumber = None,
    sort: Annotated[Order, Query()] = "best",
    more: bool = False,
    offset: Offset = 0,
    limit: Limit = 100,
) -> models.SearchPage:
    """Items by tags, words and what their pictures show, a page at a time; with ``more``, also what fits less."""
    return await here.read(search_page, q, run, sort, more, offset, limit)


@router.get("/facets")
async def list_facets_of_search(here: Here, q: Text = "", run: RunNumber = None, more: bool = False) -> models.Facets:
    """What the items of such a search have in common, with counts."""
    return await here.read(search_facets, q, run, more)


def search_page(
    index: Index,
    q: str = "",
    run_id: int | None = None,
    sort: Order = "best",
    more: bool = False,
    offset: int = 0,
    limit: int = 100,
) -> models.SearchPage:
    """The answer to ``/api/search``."""
    run = index.run(run_id)
    hits, answer = find_all(index, q, run, sort, more=more)
    shown = hits[offset : offset + limit]
    rows = item_rows(index, run, index.rows_of(np.array([hit.item for hit in shown], dtype=np.int64)).tolist())
    asked = ("show", "--items", *(("--search", answer.query) if answer.query else ()))
    return models.SearchPage(
        total=len(hits),
        offset=offset,
        items=[
            models.FoundItem(**row.model_dump(), how=hit.how, score=None if hit.score is None else round(hit.score, 4))
            for row, hit in zip(rows, shown, strict=True)
        ],
        query=answer.query,
        command=command(index, *asked, *(("--more",) if more else ()), *(("--run", run_id) if run_id else ())),
        seen=answer.seen,
        sentence=answer.sentence,
        n_more=0 if more else len(answer.more),
    )


def search_facets(index: Index, q: str = "", run_id: int | None = None, more: bool = False) -> models.Facets:
    """The answer to ``/api/search/facets``."""
    run = index.run(run_id)
    hits, _ = find_all(index, q, run, more=more)
    mask: Mask = index.mask_of(np.array(sorted(hit.item for hit in hits), dtype=np.int64))
    return facets_of(index, mask, run)
