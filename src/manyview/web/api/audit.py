"""Accept many, surely: random ones of a batch are asked, and the rest is accepted once enough were right."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from ...workflow.proposing import audit as audits
from ...workflow.reading.index import Index
from .. import models
from ..members import member_facts
from .common import Here, Number, Word

router = APIRouter(prefix="/api/audit", tags=["proposals"])

Share = Annotated[float, Query(ge=0.5, le=0.99)]


@router.get("")
async def show_audit(here: Here, share: Share = 0.8, tag: Word = None) -> models.AuditPage:
    """The audit that is not over; where there is none, what one of this share would take and bring."""
    return await here.read(audit_page, share, tag)


@router.post("")
async def start(here: Here, asked: models.NewAudit) -> models.AuditState:
    """Begin an audit, or go on with the one of this share that is not over."""
    found = await here.write(audits.start_audit, asked.share, tag=asked.tag)
    return await here.read(audit_state, found)


@router.post("/{audit}/answer")
async def answer(here: Here, audit: Number, asked: models.AuditAnswer) -> models.AuditState:
    """Answer what was asked; it is kept like any other answer."""
    question = audits.Question(asked.item, asked.tag)
    found = await here.write(audits.answer_question, audit, question, asked.answer)
    return await here.read(audit_state, found)


@router.post("/{audit}/back")
async def back(here: Here, audit: Number, asked: models.Nothing) -> models.AuditState:
    """Take the last answer back."""
    found = await here.write(audits.take_back, audit)
    return await here.read(audit_state, found)


@router.post("/{audit}/accept")
async def accept(here: Here, audit: Number, asked: models.Nothing) -> models.AuditAccepted:
    """Accept the rest of a batch that was proved."""
    entry = await here.write(audits.accept_rest, audit)
    n_open = await here.read(lambda index: index.n_open)
    return models.AuditAccepted(entry=entry.id, summary=entry.summary, n=int(entry.detail["pairs"]), n_open=n_open)


def audit_page(index: Index, share: float, tag: str | None) -> models.AuditPage:
    """The answer to ``/api/audit``."""
    if index.collection.runs.newest("suggest") is None:
        return models.AuditPage(plan=None, audit=None)
    running = audits.go_on(index.collection)
    if running is not None:
        return models.AuditPage(plan=None, audit=audit_state(index, running))
    told = index.part(
        "audit_plan",
        "items tags decisions runs",
        lambda: audits.plan_audit(index.collection, share, tag=tag),
        share,
        tag,
    )
    plan = models.AuditPlan(share=share, **told._asdict(), is_worth_it=told.is_worth_it)
    return models.AuditPage(plan=plan, audit=None)


def audit_state(index: Index, found: audits.Audit) -> models.AuditState:
    """An audit as the pages know it."""
    asked = [*((found.question,) if found.question else ()), *found.following]
    facts = member_facts(index, sorted({one.item_id for one in asked}))
    told = [_question(one, facts[one.item_id]) for one in asked if one.item_id in facts]
    return models.AuditState(
        id=found.id,
        share=found.share,
        tag=found.tag,
        verdict=found.now.verdict,
        attempt=found.now.attempt,
        n=found.now.n,
        asked=found.now.asked,
        right=found.now.right,
        progress=found.now.progress,
        n_rest=found.n_rest,
        question=told[0] if told else None,
        following=told[1:],
    )


def _question(one: audits.Question, facts: dict[str, Any]) -> models.AuditQuestion:
    return models.AuditQuestion(
        item=one.item_id, tag=one.tag, **{name: facts[name] for name in ("key", "has_thumb", "opening")}
    )
