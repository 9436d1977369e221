"""The map: where every item of a run lies on a plane."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query, Response

from ...workflow.reading.index import Index
from ...workflow.reading.map_layout import MapLayout, read_map
from .. import models
from .clusters import levels_beside
from .common import Here, RunNumber, Word

router = APIRouter(prefix="/api/map", tags=["map"])

_BYTES: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}


@router.get("")
async def show_map(here: Here, run: RunNumber = None) -> models.MapPage:
    """Is there a map of this run, how large is it, and where do the clusters' names go?"""
    return await here.read(map_page, run)


@router.get("/points", response_class=Response, responses=_BYTES)
async def list_points(here: Here, run: RunNumber = None) -> Response:
    """Every point: int32 n, then int32 ids[n], float32 x[n], float32 y[n], int32 cluster[n] (-1: none)."""
    return _octets(await here.read(map_points, run))


@router.get("/column", response_class=Response, responses=_BYTES)
async def list_column(
    here: Here,
    by: Annotated[Literal["cluster", "tag"], Query()] = "cluster",
    tag: Word = None,
    of: RunNumber = None,
    run: RunNumber = None,
) -> Response:
    """Another colour for the same points, int32 [n]: clusters of run ``of``, or 1 where the item has the tag."""
    return _octets(await here.read(map_column, by, tag, of, run))


def _octets(content: bytes) -> Response:
    return Response(content, media_type="application/octet-stream")


def _layout(index: Index, run_id: int | None) -> MapLayout | None:
    run = index.run(run_id)
    return None if run is None else read_map(index, run)


def map_page(index: Index, run_id: int | None = None) -> models.MapPage:
    """The answer to ``/api/map``."""
    run, layout = index.run(run_id), _layout(index, run_id)
    if run is None or layout is None:
        return models.MapPage(
            state="absent",
            run=None if run is None else run.id,
            n=0,
            n_missing=int(index.ids.size),
            made_at=None,
            clusters=[],
        )
    places = index.assignment(run)[layout.rows]
    names = []
    for one in index.clusters(run):
        mine = layout.places[places == one.id]
        if mine.size:
            x, y = np.median(mine, axis=0).tolist()
            name = one.name or f"cluster {one.id}"
            names.append(models.MapName(id=one.id, name=name, is_guess=one.is_guess, size=one.size, x=x, y=y))
    coarser, finer = levels_beside(index, run)
    return models.MapPage(
        state="ready",
        run=run.id,
        n=int(layout.rows.size),
        n_missing=int(index.ids.size - layout.rows.size),
        made_at=layout.made_at,
        clusters=names,
        coarser=coarser,
        finer=finer,
    )


def map_points(index: Index, run_id: int | None = None) -> bytes:
    """The answer to ``/api/map/points``."""
    layout = _layout(index, run_id)
    if layout is None:
        return np.zeros(1, dtype="<i4").tobytes()
    clusters = index.assignment(index.run(run_id))[layout.rows]
    return b"".join(
        (
            np.array([layout.rows.size], dtype="<i4").tobytes(),
            index.ids[layout.rows].astype("<i4").tobytes(),
            layout.places.astype("<f4").T.tobytes(),
            clusters.astype("<i4").tobytes(),
        )
    )


def map_column(
    index: Index,
    by: Literal["cluster", "tag"] = "cluster",
    tag: str | None = None,
    of: int | None = None,
    run_id: int | None = None,
) -> bytes:
    """The answer to ``/api/map/column``."""
    layout = _layout(index, run_id)
    if layout is None:
        return b""
    if by == "cluster":
        return index.assignment(index.run(of))[layout.rows].astype("<i4").tobytes()
    has = np.zeros(index.ids.size, dtype="<i4")
    number = index.tag_number(tag or "")
    rows, tags = index.known
    has[rows[tags == number] if number is not None else []] = 1
    return has[layout.rows].tobytes()
