"""One search for tags, words and what pictures show."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Query

from ...collection.runs import Run
from ...workflow.reading.alike import STOPS, alike_to, read_asked
from ...workflow.reading.content import find_all, found_mask
from ...workflow.reading.index import Index
from ...workflow.reading.search import Query as Search
from ...workflow.reading.search import matching, parse_query
from .. import models
from ..members import member_facts
from .common import Here, Offset, RunNumber, Text, command
from .facets import facets_of
from .items import Limit, item_rows

router = APIRouter(prefix="/api/search", tags=["search"])

_MOST_SHOWN = 60
"""Of the items that others have to be like."""
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
            models.FoundItem(**row.model_dump(), how=hit.how, score=None if hit.score is None else round(hit.score, 6))
            for row, hit in zip(rows, shown, strict=True)
        ],
        query=answer.query,
        command=command(index, *asked, *(("--more",) if more else ()), *(("--run", run_id) if run_id else ())),
        seen=answer.seen,
        sentence=answer.sentence,
        n_more=0 if more else len(answer.more),
        like=_like(index, answer.query, run),
    )


def _like(index: Index, q: str, run: Run | None) -> models.Like | None:
    """What a search wants others to be like, and how many are, at each stop."""
    query = parse_query(q)
    term = next((one for one in query.terms if one.kind == "like" and not one.negated), None)
    if term is None:
        return None
    asked, rest = read_asked(term.value), Search(tuple(one for one in query.terms if one is not term))
    rows, others = matching(index, rest, run), alike_to(index, asked.items, run)
    here = index.ids[index.mask_of(np.array(asked.items, dtype=np.int64))].tolist()
    facts = member_facts(index, here[:_MOST_SHOWN])
    return models.Like(
        items=[models.Member(**facts[item]) for item in asked.items if item in facts],
        n_items=len(here),
        least=asked.least,
        stops=[models.LikeStop(least=stop, n=int((rows & others.at_least(stop)).sum())) for stop in STOPS],
    )


def search_facets(index: Index, q: str = "", run_id: int | None = None, more: bool = False) -> models.Facets:
    """The answer to ``/api/search/facets``."""
    run = index.run(run_id)
    return facets_of(index, found_mask(index, q, run, more=more), run)
