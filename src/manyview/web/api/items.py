"""Items: lists found by a search, one of them in full, and counts to narrow a search down by."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Query
from numpy.typing import NDArray

from ...collection.runs import Run
from ...collection.tagging import word_key
from ...data.tags import match_key
from ...workflow.reading.index import Index
from ...workflow.reading.item_facts import ItemFacts, item_facts
from ...workflow.reading.search import Query as Search
from ...workflow.reading.search import Term, find_rows, matching, parse_query
from .. import models
from ..members import member_facts, shown
from ..reasons import Explains
from ..refusals import Absent
from .common import Here, Number, Offset, RunNumber, Text, Word, command
from .facets import facets_of
from .proposals import proposal_rows

router = APIRouter(prefix="/api", tags=["items"])

Sort = Literal["id", "name", "confidence", "typical", "date", "newest"]
Limit = Annotated[int, Query(ge=1, le=200)]


@router.get("/items")
async def list_items(
    here: Here,
    q: Text = "",
    cluster: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    tag: Word = None,
    run: RunNumber = None,
    sort: Annotated[Sort, Query()] = "id",
    offset: Offset = 0,
    limit: Limit = 100,
) -> models.ItemsPage:
    """Items that a search finds, a page at a time."""
    return await here.read(items_page, q, cluster, tag, run, sort, offset, limit)


@router.get("/items/{item}")
async def show_item(here: Here, item: Number, run: RunNumber = None, brief: bool = False) -> models.ItemPage:
    """One item: its tags, what is proposed for it, where it is and why, and what is like it; in brief, only itself."""
    return await here.read(item_page, item, run, None if brief else here.reasons, not brief)


@router.get("/facets")
async def list_facets(here: Here, q: Text = "", run: RunNumber = None) -> models.Facets:
    """What the items that a search finds have in common, with counts."""
    return await here.read(facets, q, run)


@router.get("/tags")
async def list_tags(here: Here, text: Text = "", limit: Limit = 50) -> models.TagsPage:
    """Tags that contain the letters typed so far, the most frequent first."""
    return await here.read(tags_page, text, limit)


def search_for(q: str, cluster: int | None = None, tag: str | None = None) -> Search:
    """The search that an address asks for."""
    extra = [Term("cluster", str(cluster))] if cluster is not None else []
    extra += [Term("tag", tag)] if tag else []
    found = parse_query(q)
    return Search((*found.terms, *(term for term in extra if term not in found.terms)))


def items_page(
    index: Index,
    q: str = "",
    cluster: int | None = None,
    tag: str | None = None,
    run_id: int | None = None,
    sort: Sort = "id",
    offset: int = 0,
    limit: int = 100,
) -> models.ItemsPage:
    """The answer to ``/api/items``."""
    run, query = index.run(run_id), search_for(q, cluster, tag)
    rows = find_rows(index, matching(index, query, run), run, sort)
    asked = ("show", "--items", *(("--search", str(query)) if query.terms else ()))
    return models.ItemsPage(
        total=int(rows.size),
        offset=offset,
        items=item_rows(index, run, rows[offset : offset + limit].tolist()),
        query=str(query),
        command=command(index, *asked, *(("--run", run_id) if run_id else ())),
    )


def item_rows(index: Index, run: Run | None, rows: list[int]) -> list[models.ItemRow]:
    """Short facts about the items of some rows."""
    places, sure, names = index.assignment(run), index.confidence(run), index.cluster_names(run)
    numbers = index.ids[rows].tolist()
    facts = member_facts(index, numbers)
    return [
        models.ItemRow(
            **facts[number],
            kind=str(index.kinds[row]),
            cluster=int(places[row]) if places[row] >= 0 else None,
            cluster_name=names.get(int(places[row])),
            confidence=None if sure[row] != sure[row] else float(sure[row]),
            n_tags=int(index.n_tags[row]),
        )
        for number, row in zip(numbers, rows, strict=True)
    ]


def facets(index: Index, q: str = "", run_id: int | None = None) -> models.Facets:
    """The answer to ``/api/facets``."""
    run = index.run(run_id)
    return facets_of(index, matching(index, parse_query(q), run), run)


def tags_page(index: Index, text: str = "", limit: int = 50) -> models.TagsPage:
    """The answer to ``/api/tags``."""
    wanted = word_key(text)
    found = [(name, count) for name, count in index.tag_counts() if wanted in match_key(name)]
    found.sort(key=lambda pair: not match_key(pair[0]).startswith(wanted))
    return models.TagsPage(
        total=len(found), tags=[models.TagCount(name=name, count=count) for name, count in found[:limit]]
    )


def item_page(
    index: Index,
    item: int,
    run_id: int | None = None,
    reasons: Explains | None = None,
    proposals: bool = True,
) -> models.ItemPage:
    """The answer to ``/api/items/{item}``; without ``reasons`` nothing is said about why and what is near."""
    run = index.run(run_id)
    if not index.is_here(np.array([item])).any():
        raise Absent(f"there is no item {item}.")
    row = index.row_of(item)
    facts: ItemFacts = item_facts(index, item)
    cluster = int(index.assignment(run)[row])
    sure = float(index.confidence(run)[row])
    beside = _beside(index, row, index.members(run).get(cluster))
    why, near, pending = (None, {}, False) if reasons is None or run is None else reasons.about(index, run, item)
    return models.ItemPage(
        id=item,
        key=shown(facts.item.key),
        kind=facts.item.kind,
        format=facts.item.format,
        width=facts.item.width,
        height=facts.item.height,
        text=facts.text,
        fields=facts.fields,
        has_thumb=bool(index.has_thumb[row]),
        has_file=facts.item.path is not None,
        duplicate_of=facts.item.duplicate_of,
        tags=[models.ItemTag(name=name, origin=origin) for name, origin in facts.tags],
        refused=facts.refused,
        proposals=proposal_rows(index, item=item) if proposals else [],
        cluster=cluster if cluster >= 0 else None,
        cluster_name=index.cluster_names(run).get(cluster),
        is_guess=cluster in index.guessed(run),
        confidence=None if sure != sure else sure,
        links=[models.ItemLink(item=other, together=together) for other, together in facts.links],
        why=why,
        why_pending=pending,
        neighbours=near,
        previous=beside[0],
        next=beside[1],
    )


def _beside(index: Index, row: int, members: NDArray[np.int64] | None) -> tuple[int | None, int | None]:
    """The items before and after one in its cluster; where it is in none, in the collection."""
    if members is None:
        members = np.arange(index.ids.size)
    place = int(np.searchsorted(members, row))
    before = int(index.ids[members[place - 1]]) if place else None
    return before, int(index.ids[members[place + 1]]) if place + 1 < members.size else None
