"""The state of everything, runs, the jobs that make them, and comparing two of them."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Query, Request

from ...workflow.collection import Collection
from ...workflow.methods_table import METHODS
from ...workflow.proposing.asking import ENOUGH_ANSWERS, is_known
from ...workflow.reading.index import Index
from .. import models
from ..gallery import Gallery
from ..members import shown
from .common import Here, Number, Offset, Word, command, entry_facts, run_facts
from .items import item_rows

router = APIRouter(prefix="/api", tags=["runs"])

Kind = Literal["fit", "suggest", "add", "map"]
_MOVERS = 500


@router.get("/state")
async def show_state(here: Here, request: Request) -> models.State:
    """What the collection holds, what is going on, and a version that moves when anything changes."""
    # A browser that does not say who asks (over plain HTTP to another machine) could not change anything.
    return await here.read(state, here, "sec-fetch-site" in request.headers)


@router.get("/runs")
async def list_runs(here: Here) -> models.RunsPage:
    """Every run, newest first."""
    return await here.read(runs_page)


@router.post("/runs/{run}/delete")
async def delete_run(here: Here, run: Number, asked: models.Nothing) -> models.Deleted:
    """Forget a run; names, moves and decisions stay."""
    return await here.write(forget_run, run)


@router.get("/methods")
async def list_methods(here: Here) -> models.MethodsPage:
    """What a fit can use."""
    return await here.read(methods_page)


@router.get("/problems")
async def list_problems(here: Here) -> models.ProblemsPage:
    """Files that could not be used, or only in part."""
    return await here.read(problems_page)


@router.get("/compare")
async def compare(
    here: Here,
    first: Annotated[int, Query(ge=1, le=2**53)],
    second: Annotated[int, Query(ge=1, le=2**53)],
) -> models.ComparePage:
    """Two runs item by item."""
    return await here.read(compare_page, first, second)


@router.get("/compare/movers")
async def list_movers(
    here: Here,
    first: Annotated[int, Query(ge=1, le=2**53)],
    second: Annotated[int, Query(ge=1, le=2**53)],
    source: Annotated[str | None, Query(alias="from", pattern="^(none|[0-9]{1,15})$")] = None,
    target: Annotated[str | None, Query(alias="to", pattern="^(none|[0-9]{1,15})$")] = None,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> models.ItemsPage:
    """Items of one cluster of the first run that are in another of the second; ``none`` is no cluster."""
    return await here.read(movers_page, first, second, source, target, offset, limit)


@router.get("/jobs/estimate")
async def estimate(
    here: Here,
    kind: Annotated[Kind, Query()] = "fit",
    method: Word = None,
) -> models.Estimate:
    """How long a job would take here, about."""
    return await here.read(estimate_job, kind, method)


@router.post("/jobs")
async def start_job(here: Here, asked: models.NewJob) -> models.Job:
    """Start a fit, proposals, an update or a map, in a process of its own."""
    return here.jobs.start(asked)


@router.post("/jobs/{job}/cancel")
async def cancel_job(here: Here, job: Number, asked: models.Nothing) -> models.Job:
    """Stop a job; what it has done so far is kept."""
    return here.jobs.cancel(job)


def state(index: Index, here: Gallery | None = None, can_ask: bool = False) -> models.State:
    """The answer to ``/api/state``."""
    collection, last = index.collection, index.collection.history.last()
    return models.State(
        collection=models.CollectionFacts(
            id="" if here is None else _identity(here.path),
            name=collection.path.stem,
            n_items=int(index.ids.size),
            n_tagged=int((index.n_tags > 0).sum()),
            n_tags=index.n_different_tags,
            views=list(collection.view_names),
        ),
        run=run_facts(index.run()),
        n_open=index.n_open,
        n_less_likely=index.n_less_likely,
        trust=_trust(index),
        n_problems=index.n_problems,
        version=index.version,
        jobs=[] if here is None else here.jobs.all(),
        can_write=can_ask and here is not None and here.can_write,
        last=None if last is None else entry_facts(index.collection.history, [last])[0],
    )


def _trust(index: Index) -> models.Trust:
    newest = index.collection.runs.newest("suggest")
    n_answers = index.part("n_answers", "decisions", lambda: len(index.collection.decisions.reviewed()))
    return models.Trust(is_known=is_known(newest), n_answers=n_answers, enough=ENOUGH_ANSWERS)


def _identity(path: Path) -> str:
    """What a page keeps for this collection is not for another one that is served at the same address later."""
    place = f"{os.path.realpath(path)} {path.stat().st_ino}"
    return sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def runs_page(index: Index) -> models.RunsPage:
    """The answer to ``/api/runs``."""
    facts = [run_facts(run) for run in index.collection.runs]
    return models.RunsPage(runs=[fact for fact in reversed(facts) if fact is not None])


def forget_run(collection: Collection, run: int) -> models.Deleted:
    """The answer to a POST to ``/api/runs/{run}/delete``."""
    collection.runs.remove(run)
    return models.Deleted(deleted=run)


def methods_page(index: Index) -> models.MethodsPage:
    """The answer to ``/api/methods``."""
    return models.MethodsPage(
        methods=[
            models.MethodFacts(
                name=row.name,
                says=row.sentence,
                takes_k=row.takes_k,
                needs_annotations="annotations" in row.needs,
            )
            for row in METHODS.values()
        ],
        views=[*index.collection.view_names, "tags"],
    )


def problems_page(index: Index) -> models.ProblemsPage:
    """The answer to ``/api/problems``."""
    found = index.collection.items.problems()
    return models.ProblemsPage(
        total=len(found),
        problems=[
            models.FileProblem(path=shown(one.path), reason=one.reason, sentence=shown(one.sentence), is_bad=one.is_bad)
            for one in found[:1000]
        ],
    )


def compare_page(index: Index, first: int, second: int, n_movers: int | None = _MOVERS) -> models.ComparePage:
    """The answer to ``/api/compare``."""
    from ...workflow.clusters.compare import compare_runs

    found = compare_runs(index.collection, first, second)
    flows = [
        models.Flow(first=one.first, second=one.second, size=one.shared, is_matched=True)
        for one in found.matched
        if one.shared
    ]
    flows += [
        models.Flow(first=_or_none(source), second=_or_none(target), size=size, is_matched=False)
        for source, target, size in found.flows
    ]
    movers = list(found.movers.items())[:n_movers]
    keys = index.keys([item for item, _ in movers])
    runs = [facts for facts in map(run_facts, found.runs) if facts is not None]
    return models.ComparePage(
        runs=runs,
        n_items=found.n_items,
        agreement=models.Agreement(ari=found.ari, nmi=found.nmi, same=found.same),
        first=[
            _compared(one.first, one.first_name, one.first_size, found.guesses[0])
            for one in found.matched
            if one.first is not None
        ],
        second=[
            _compared(one.second, one.second_name, one.second_size, found.guesses[1])
            for one in found.matched
            if one.second is not None
        ],
        flows=flows,
        movers=[
            models.Mover(item=item, key=shown(keys[item]), first=_or_none(source), second=_or_none(target))
            for item, (source, target) in movers
        ],
        n_movers=len(found.movers),
        command=command(index, "compare", first, second),
    )


def _compared(number: int, name: str | None, size: int, guesses: frozenset[int]) -> models.ComparedCluster:
    return models.ComparedCluster(id=number, name=name or f"cluster {number}", is_guess=number in guesses, size=size)


def movers_page(
    index: Index,
    first: int,
    second: int,
    source: str | None = None,
    target: str | None = None,
    offset: int = 0,
    limit: int = 100,
) -> models.ItemsPage:
    """The answer to ``/api/compare/movers``: also the items of a band between two clusters that correspond."""
    runs = [index.run(number) for number in (first, second)]
    mask = np.ones(index.ids.size, dtype=bool)
    for run, wanted in zip(runs, (source, target), strict=True):
        if wanted is not None:
            places = index.labelled(run)
            mask &= places < 0 if wanted == "none" else places == int(wanted)
    if source is None and target is None:
        mask &= index.labelled(runs[0]) != index.labelled(runs[1])
    rows = np.flatnonzero(mask)
    return models.ItemsPage(
        total=int(rows.size),
        offset=offset,
        items=item_rows(index, runs[1], rows[offset : offset + limit].tolist()),
        query="",
        command=command(index, "compare", first, second),
    )


def _or_none(cluster: int) -> int | None:
    return cluster if cluster >= 0 else None


def estimate_job(index: Index, kind: Kind, method: str | None = None) -> models.Estimate:
    """The answer to ``/api/jobs/estimate``."""
    from ...workflow.reading.estimate import estimate_work

    found = estimate_work(index.collection, kind, method)
    return models.Estimate(seconds=found.seconds, memory=found.memory, sentence=found.sentence)
