"""Many proposals accepted with a guarantee."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .base import Id, Request, Response, Word


class AuditPlan(Response):
    share: float
    n: int
    """Proposals in the batch; 0: none is likely enough."""
    answers: int
    tags: int
    reached: float
    is_worth_it: bool


class AuditQuestion(Response):
    item: int
    key: str
    tag: str
    has_thumb: bool
    opening: str | None


class AuditState(Response):
    id: int
    share: float
    tag: str | None
    verdict: Literal["asking", "proved", "given up"]
    attempt: int
    n: int
    asked: int
    right: int
    progress: float
    n_rest: int
    """What would be accepted unseen."""
    question: AuditQuestion | None
    following: list[AuditQuestion]
    """What may be asked next, so that pictures are there when it is."""


class AuditPage(Response):
    plan: AuditPlan | None
    """What one would take and bring, where none is under way."""
    audit: AuditState | None
    """The one that is not over."""


class NewAudit(Request):
    share: Annotated[float, Field(ge=0.5, le=0.99)]
    tag: Word | None = None


class AuditAnswer(Request):
    item: Id
    tag: Word
    answer: bool


class AuditAccepted(Response):
    entry: int
    summary: str
    n: int
    n_open: int
