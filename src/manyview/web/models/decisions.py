"""A person's answers to proposals: one, many, and those of a line."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .base import Id, Request, Response, Word


class Pair(Request):
    item: Id
    tag: Word


class NewDecisions(Request):
    pairs: Annotated[list[Pair], Field(min_length=1, max_length=100_000)]
    answer: bool
    force: bool = False
    """Also where a person has answered already."""


class Answered(Response):
    item: int
    tag: str
    answer: bool
    entry: int | None
    """Of the history, which gave this answer."""


class Decided(Response):
    entry: int | None
    summary: str
    n_open: int
    done: list[Answered]
    already: list[Answered]


class Step(Request):
    """An answer; or, with None, the wish to take back an entry: the named one, or else the one that answered these."""

    pairs: list[Pair] = Field(default=[], max_length=100_000)
    answer: bool | None
    entry: Id | None = None


class NewSteps(Request):
    steps: Annotated[list[Step], Field(min_length=1, max_length=1000)]


class StepDone(Response):
    entry: int | None
    """Of the history; None where there was nothing to do."""
    summary: str
    done: list[Answered]
    already: list[Answered]
    error: str | None
    """Why this step was refused; the others are not."""


class StepsDone(Response):
    steps: list[StepDone]
    n_open: int


class NewLine(Request):
    probability: Annotated[float, Field(ge=0, le=1)]
    tag: Word | None = None


class LineDecided(Response):
    entry: int | None
    summary: str
    n: int
    n_open: int
