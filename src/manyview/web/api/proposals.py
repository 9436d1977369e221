"""Proposed tags: what waits for an answer, and the answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query

from ...collection.history import Entry
from ...errors import ManyviewError
from ...types import Ints
from ...workflow.collection import Collection
from ...workflow.proposing.asking import ENOUGH_ANSWERS, SURE_ENOUGH, WORTH_ASKING, how_sure, is_trusted
from ...workflow.reading.index import Index
from .. import models
from ..members import member_facts
from .common import Here, Offset, Word, command
from .edits import take_back

router = APIRouter(prefix="/api", tags=["proposals"])

By = Literal["item", "tag"]
Pairs = list[tuple[int, str]]
Outcome = tuple[Entry | None, list[models.Answered], list[models.Answered]]
_ANSWERED = "nothing to do: answered already"
SAMPLE = 2 * ENOUGH_ANSWERS
"""Random proposals that are offered: some may be skipped."""
TELLING = 0.3
"""Proposals at least so likely tell how complete the tags are."""
Limit = Annotated[int, Query(ge=1, le=200)]
Probability = Annotated[float, Query(ge=0, le=1)]


@router.get("/proposals")
async def list_proposals(
    here: Here,
    by: Annotated[By, Query()] = "item",
    tag: Word = None,
    item: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    cluster: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    everything: Annotated[bool, Query(alias="all")] = False,
    offset: Offset = 0,
    limit: Limit = 50,
) -> models.ProposalsPage:
    """Proposals nobody has answered that are worth asking, or all; and how many each tag has."""
    return await here.read(proposals_page, by, tag, item, offset, limit, cluster, everything)


@router.get("/proposals/items")
async def list_items_with_proposals(
    here: Here,
    cluster: Annotated[int | None, Query(ge=1, le=2**53)] = None,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> models.ItemProposalsPage:
    """Items with proposals that are worth asking, each with all that is proposed for it."""
    return await here.read(items_with_proposals, cluster, offset, limit)


@router.get("/proposals/sample")
async def sample_proposals(here: Here) -> models.ProposalsPage:
    """Random proposals whose answers tell how complete the tags are."""
    return await here.read(sample)


@router.get("/proposals/line")
async def show_line(here: Here, probability: Probability, tag: Word = None) -> models.Line:
    """How many proposals lie above a probability, and how many of those are expected to be right."""
    return await here.read(line_answer, probability, tag)


@router.post("/decisions")
async def decide(here: Here, asked: models.NewDecisions) -> models.Decided:
    """Answer proposals. A pair that was answered elsewhere comes back under ``already`` and stays as it is."""
    entry, fresh, before = await here.write(decide_pairs, _pairs(asked), asked.answer, force=asked.force)
    return models.Decided(
        entry=None if entry is None else entry.id,
        summary=_ANSWERED if entry is None else entry.summary,
        n_open=await here.read(lambda index: index.n_open),
        done=fresh,
        already=before,
    )


@router.post("/decisions/steps")
async def take_steps(here: Here, asked: models.NewSteps) -> models.StepsDone:
    """Answer proposals and take answers back, one after another, each an entry of its own.

    The same steps sent twice, as after a reload that did not wait, leave the same answers.
    """
    steps = await here.write(lambda collection: [_step(collection, step) for step in asked.steps])
    return models.StepsDone(steps=steps, n_open=await here.read(lambda index: index.n_open))


@router.post("/decisions/line")
async def decide_line(here: Here, asked: models.NewLine) -> models.LineDecided:
    """Accept every proposal from a probability on."""
    entry = await here.write(accept_line, asked)
    return models.LineDecided(
        entry=None if entry is None else entry.id,
        summary="nothing lies above that line" if entry is None else entry.summary,
        n=0 if entry is None else int(entry.detail.get("pairs", 0)),
        n_open=await here.read(lambda index: index.n_open),
    )


def proposals_page(
    index: Index,
    by: By = "item",
    tag: str | None = None,
    item: int | None = None,
    offset: int = 0,
    limit: int = 50,
    cluster: int | None = None,
    everything: bool = False,
) -> models.ProposalsPage:
    """The answer to ``/api/proposals``. By tag and without one, the tag with the most right ones to expect is first."""
    least = None if everything else WORTH_ASKING
    waiting = index.open_by_tag(0.0 if everything else WORTH_ASKING)
    if cluster is not None and tag is None and item is None:
        rows = index.members(index.run()).get(cluster, np.zeros(0, dtype=np.int64))
        pairs = index.open_among(index.ids[rows], least, offset, limit)
        worth, less = (int(np.isin(found[0], rows).sum()) for found in (index.worth_pairs, index.open_pairs))
        found = _named(index, pairs)
    else:
        if by == "tag" and tag is None and item is None and waiting:
            tag = waiting[0][0]
        worth, less = (_total(index, pairs, tag, item) for pairs in (index.worth_pairs, index.open_pairs))
        found = proposal_rows(index, tag=tag, item=item, min_probability=least, offset=offset, top=limit)
    options = [part for name, value in (("--tag", tag), ("--item", item)) if value for part in (name, str(value))]
    return _page(index, found, less if everything else worth, less - worth, offset, tag, options, waiting)


def _page(
    index: Index,
    found: list[models.Proposal],
    total: int,
    n_less_likely: int,
    offset: int,
    tag: str | None,
    options: list[str],
    waiting: list[tuple[str, int, float]],
) -> models.ProposalsPage:
    return models.ProposalsPage(
        total=total,
        n_less_likely=n_less_likely,
        sure_enough=SURE_ENOUGH,
        offset=offset,
        tag=tag,
        proposals=found,
        tags=[models.OpenTag(name=name, n_open=n, expected=total) for name, n, total in waiting],
        command=command(index, "suggest", *options),
    )


def _named(index: Index, pairs: list[tuple[int, int]]) -> list[models.Proposal]:
    """Proposals by item and number of the tag, in full."""
    found = {
        (one.item, one.tag): one for item in {item for item, _ in pairs} for one in proposal_rows(index, item=item)
    }
    names = index.tag_names
    return [found[item, names[tag]] for item, tag in pairs if (item, names[tag]) in found]


def _total(index: Index, pairs: tuple[Ints, Ints], tag: str | None, item: int | None) -> int:
    rows, tags = pairs
    mask = np.ones(rows.size, dtype=bool)
    if tag is not None:
        mask &= tags == (index.tag_number(tag) or -1)
    if item is not None:
        mask &= rows == index.row_of(item)
    return int(mask.sum())


def items_with_proposals(
    index: Index, cluster: int | None = None, offset: int = 0, limit: int = 10
) -> models.ItemProposalsPage:
    """The answer to ``/api/proposals/items``."""
    newest = index.collection.runs.newest("suggest")
    if newest is None:
        return models.ItemProposalsPage(total=0, offset=offset, items=[])
    rows = np.unique(index.worth_pairs[0])
    chosen = None
    if cluster is not None:
        rows = np.intersect1d(rows, index.members(index.run()).get(cluster, np.zeros(0, dtype=np.int64)))
        chosen = index.ids[rows].tolist()
    numbers = index.collection.runs.rows.by_item(newest.id, chosen, WORTH_ASKING, offset, limit)
    facts = member_facts(index, numbers)
    return models.ItemProposalsPage(
        total=int(rows.size),
        offset=offset,
        items=[
            models.ItemProposals(
                item=models.Member(**facts[number]),
                tags=index.words_of(index.row_of(number)),
                proposals=proposal_rows(index, item=number),
            )
            for number in numbers
        ],
    )


def sample(index: Index) -> models.ProposalsPage:
    """The answer to ``/api/proposals/sample``: the same ones again for as long as the proposals are the same."""
    newest = index.collection.runs.newest("suggest")
    if newest is None:
        return _page(index, [], 0, 0, 0, None, [], [])
    likely = index.collection.runs.rows.promised(newest.id, least=TELLING)
    order = np.random.default_rng(newest.id).permutation(len(likely))[:SAMPLE]
    found = _named(index, [likely[n][:2] for n in order])
    return _page(index, found, len(found), 0, 0, None, [], [])


def proposal_rows(index: Index, **wanted: Any) -> list[models.Proposal]:
    """Open proposals in full; what is wanted is said as ``open_proposals`` takes it."""
    from ...workflow.proposing.suggest import open_proposals

    newest = index.collection.runs.newest("suggest")
    if newest is None:
        return []
    found = open_proposals(index.collection, carriers=index.carriers, **wanted)
    shown = {one.item_id for one in found} | {item for one in found for item in (one.reason or {}).get("like", ())}
    facts = member_facts(index, sorted(shown))
    return [
        models.Proposal(
            item=one.item_id,
            key=facts[one.item_id]["key"],
            tag=one.tag,
            score=one.score,
            probability=one.probability,
            is_worth_asking=(one.probability or 0.0) >= WORTH_ASKING,
            is_trusted=is_trusted(one, newest),
            sure=how_sure(one, newest),
            reason=_reason(one.reason, facts),
            sentence=(one.reason or {}).get("sentence", ""),
            has_thumb=facts[one.item_id]["has_thumb"],
            opening=facts[one.item_id]["opening"],
        )
        for one in found
    ]


def _reason(told: dict[str, Any] | None, facts: dict[int, dict[str, Any]]) -> models.ProposalReason:
    why = told or {}
    return models.ProposalReason(
        likeness=why.get("likeness", ""),
        like=[models.Member(**facts[item]) for item in why.get("like", ()) if item in facts],
        goes_with=list(why.get("goes_with", ())),
        n_with=why.get("n_with", 0),
        n_all=why.get("n_all", 0),
        against=list(why.get("against", ())),
        like_first=why.get("like_first", True),
    )


def line_answer(index: Index, probability: float, tag: str | None = None) -> models.Line:
    """The answer to ``/api/proposals/line``."""
    from ...workflow.proposing.suggest import line

    if not index.open_pairs[0].size:
        return models.Line(n=0, expected_precision=None)
    found = line(index.collection, probability, tag=tag)
    return models.Line(n=found.n, expected_precision=found.expected_precision if found.n else None)


def _pairs(asked: models.NewDecisions | models.Step) -> Pairs:
    return list(dict.fromkeys((pair.item, pair.tag) for pair in asked.pairs))


def decide_pairs(collection: Collection, pairs: Pairs, answer: bool, *, force: bool = False) -> Outcome:
    """Write answers down, but for pairs that have one already: the entry, what it answered, what was answered."""
    from ...workflow.proposing.decide import accept, reject

    with collection.transaction():
        before = {} if force else _answered(collection, pairs)
        fresh = [pair for pair in pairs if pair not in before]
        entry = (accept if answer else reject)(collection, fresh) if fresh else None
    made = None if entry is None else entry.id
    done = [models.Answered(item=item, tag=tag, answer=answer, entry=made) for item, tag in fresh]
    return entry, done, list(before.values())


def _answered(collection: Collection, pairs: Pairs) -> dict[tuple[int, str], models.Answered]:
    """What a person has said about these pairs, and by which entry."""
    index = Index(collection)
    return {
        (item, tag): models.Answered(item=item, tag=tag, answer=answer, entry=index.answered_by(item, tag))
        for (item, tag), answer in index.answers(pairs).items()
    }


def _step(collection: Collection, step: models.Step) -> models.StepDone:
    outcome: Outcome
    try:
        if step.answer is None:
            outcome = _take_back(collection, step), [], []
        else:
            outcome = decide_pairs(collection, _pairs(step), step.answer)
    except ManyviewError as error:
        return models.StepDone(entry=None, summary="", done=[], already=[], error=str(error))
    entry, done, already = outcome
    number, summary = (None, _ANSWERED) if entry is None else (entry.id, entry.summary)
    return models.StepDone(entry=number, summary=summary, done=done, already=already, error=None)


def _take_back(collection: Collection, step: models.Step) -> Entry | None:
    """Undo an entry; None where that was done already."""
    number = step.entry
    if number is None:
        number = next((one.entry for one in _answered(collection, _pairs(step)).values()), None)
    if number is None or collection.history.get(number).undone_by is not None:
        return None
    return take_back(collection, number)


def accept_line(collection: Collection, asked: models.NewLine) -> Entry | None:
    """Accept what lies above a line; None where nothing does."""
    from ...workflow.proposing.decide import accept
    from ...workflow.proposing.suggest import line

    with collection.transaction():
        if not line(collection, asked.probability, tag=asked.tag).n:
            return None
        return accept(collection, min_probability=asked.probability, tag=asked.tag)
