"""Clusters: the rows of the first page, and one of them in full."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query
from numpy.typing import NDArray

from ...collection.runs import Run
from ...collection.tagging import word_key
from ...data.tags import match_key
from ...workflow.clusters.levels import neighbouring_levels
from ...workflow.clusters.living import LiveCluster
from ...workflow.reading.index import Index
from ...workflow.reading.typical import best_clusters, scores, typical_rows
from .. import models
from ..members import member_facts
from ..refusals import Absent
from .common import Here, Number, RunNumber, Text, Word, command, run_facts
from .facets import year_counts

router = APIRouter(prefix="/api/clusters", tags=["clusters"])

Sort = Literal["best", "size", "name", "cohesion", "proposals"]
_TYPICAL = 12


@router.get("")
async def list_clusters(
    here: Here,
    run: RunNumber = None,
    sort: Annotated[Sort, Query()] = "best",
    text: Text = "",
    tag: Word = None,
    pinned: bool | None = None,
) -> models.ClustersPage:
    """The clusters of a run, the newest when none is named."""
    return await here.read(clusters_page, run, sort, text, tag, pinned)


@router.get("/{cluster}")
async def show_cluster(here: Here, cluster: Number, run: RunNumber = None) -> models.ClusterPage:
    """One cluster with its profile."""
    return await here.read(cluster_page, cluster, run)


def clusters_page(
    index: Index,
    run_id: int | None = None,
    sort: Sort = "best",
    text: str = "",
    tag: str | None = None,
    pinned: bool | None = None,
) -> models.ClustersPage:
    """The answer to ``/api/clusters``."""
    run = index.run(run_id)
    rows = [row for row in _rows(index, run) if _wanted(row, text, tag, pinned)]
    if sort == "name":
        rows.sort(key=lambda row: match_key(row.name))
    elif sort == "size":
        rows.sort(key=lambda row: (-row.size, row.id))
    elif sort == "cohesion":
        rows.sort(key=lambda row: -1.0 if row.cohesion is None else row.cohesion, reverse=True)
    elif sort == "proposals":
        rows.sort(key=lambda row: -row.n_open)
    coarser, finer = levels_beside(index, run)
    return models.ClustersPage(
        run=run_facts(run),
        coarser=coarser,
        finer=finer,
        clusters=rows,
        n_items=int(index.ids.size),
        n_unplaced=int((index.assignment(run) < 0).sum()),
        years=year_counts(index),
        command=command(index, "show", "--run", run.id) if run else command(index, "fit"),
    )


def levels_beside(index: Index, run: Run | None) -> tuple[int | None, int | None]:
    """The next coarser and finer number of clusters, for the newest run; None where there is none."""
    return neighbouring_levels(run) if run is not None and run == index.run() else (None, None)


def _wanted(row: models.ClusterRow, text: str, tag: str | None, pinned: bool | None) -> bool:
    words = match_key(" ".join([row.name, *(share.name for share in row.tags)]))
    return (
        all(word in words for word in match_key(text).split())
        and (tag is None or word_key(tag) in [match_key(share.name) for share in row.tags])
        and (pinned is None or row.is_pinned == pinned)
    )


def _rows(index: Index, run: Run | None) -> list[models.ClusterRow]:
    if run is None:
        return []
    return index.part("cluster_rows", "items tags decisions runs edits", lambda: _made_rows(index, run), run.id)


def _made_rows(index: Index, run: Run) -> list[models.ClusterRow]:
    clusters = best_clusters(index, run)
    n_open, typical, found = _open_by_cluster(index, run), _typical(index, run, clusters), scores(index, run)
    return [_row(one, typical[one.id], n_open.get(one.id, 0), found.get(one.id, 0.0)) for one in clusters]


def _row(one: LiveCluster, typical: list[models.Member], n_open: int, score: float) -> models.ClusterRow:
    return models.ClusterRow(
        id=one.id,
        name=one.name or f"cluster {one.id}",
        is_guess=one.is_guess,
        words=[] if one.is_named else list(one.profile.get("name", {}).get("words", ())),
        size=one.size,
        cohesion=one.profile.get("cohesion"),
        score=round(score, 6),
        tags=[share(found) for found in one.profile.get("over", [])],
        typical=typical,
        n_open=n_open,
        is_pinned=one.is_pinned,
    )


def _typical(index: Index, run: Run | None, clusters: list[LiveCluster]) -> dict[int, list[models.Member]]:
    """Some members of each cluster."""
    chosen = {one.id: _first_members(index, run, one) for one in clusters}
    facts = member_facts(index, [int(number) for rows in chosen.values() for number in index.ids[rows]])
    return {
        cluster: [models.Member(**facts[number]) for number in index.ids[rows].tolist()]
        for cluster, rows in chosen.items()
    }


def _first_members(index: Index, run: Run | None, one: LiveCluster) -> NDArray[np.int64]:
    """Rows of typical members first, then of others; those with a picture before those without."""
    rows = typical_rows(index, index.members(run).get(one.id, np.zeros(0, dtype=np.int64)), run, [one])
    return np.concatenate([rows[index.has_thumb[rows]], rows[~index.has_thumb[rows]]])[:_TYPICAL]


def _open_by_cluster(index: Index, run: Run | None) -> dict[int, int]:
    waiting = index.open_by_row()
    rows = np.flatnonzero(waiting)
    places = index.assignment(run)[rows]
    numbers, inverse = np.unique(places, return_inverse=True)
    sums = np.bincount(inverse, weights=waiting[rows], minlength=numbers.size)
    return {int(number): int(total) for number, total in zip(numbers, sums, strict=True)}


def share(found: dict[str, Any]) -> models.TagShare:
    """A tag of a profile as the pages know it."""
    lift = found.get("lift")
    return models.TagShare(
        name=found["tag"],
        count=found["count"],
        share=found["share"],
        share_elsewhere=found["share_elsewhere"],
        lift=lift if lift is not None and np.isfinite(lift) else None,
    )


def cluster_page(index: Index, cluster: int, run_id: int | None = None) -> models.ClusterPage:
    """The answer to ``/api/clusters/{cluster}``."""
    run = index.run(run_id)
    clusters = best_clusters(index, run)
    place = next((n for n, one in enumerate(clusters) if one.id == cluster), None)
    if run is None or place is None:
        raise Absent(f"there is no cluster {cluster} in this run.")
    one = clusters[place]
    facts = run_facts(run)
    assert facts is not None  # noqa: S101  the run is there
    score = scores(index, run).get(one.id, 0.0)
    row = _row(one, _typical(index, run, [one])[one.id], _open_by_cluster(index, run).get(one.id, 0), score)
    return models.ClusterPage(
        **row.model_dump(),
        run=facts,
        profile=_profile(index, run, one),
        previous=clusters[place - 1].id if place else None,
        next=clusters[place + 1].id if place + 1 < len(clusters) else None,
    )


def _profile(index: Index, run: Run, one: LiveCluster) -> models.Profile:
    found, names, guessed = one.profile, index.cluster_names(run), index.guessed(run)
    places = index.assignment(run)

    def inside(items: list[int]) -> list[int]:
        rows = index.rows_of(np.array(items, dtype=np.int64))
        return [int(number) for number in index.ids[rows[places[rows] == one.id]]]

    borderline = [
        models.Borderline(
            item=edge["item"],
            other_cluster=edge["other"],
            other_name=names.get(edge["other"], ""),
            margin=edge["margin"],
        )
        for edge in found.get("borderline", [])
        if edge["other"] in names and inside([edge["item"]])
    ]
    return models.Profile(
        n_tagged=found.get("n_tagged", 0),
        tags=[share(tag) for tag in found.get("over", [])],
        absent=[share(tag) for tag in found.get("under", [])],
        views=[
            models.ViewShare(name=view["view"], share=view["contribution"], cohesion=view["cohesion"])
            for view in found.get("views", [])
        ],
        exemplars=inside(list(found.get("exemplars", []))),
        borderline=borderline,
        near=[
            models.NearCluster(
                id=other["label"],
                name=names[other["label"]],
                is_guess=other["label"] in guessed,
                closeness=other["likeness"],
            )
            for other in found.get("nearest", [])
            if other["label"] in names
        ],
    )
