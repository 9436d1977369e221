"""What a person wants done with clusters and tags, and what came of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .base import Id, Request, Response, Word


class NewTag(Request):
    items: Annotated[list[Id], Field(min_length=1, max_length=500_000)]
    tag: Word
    answer: bool


class Rename(Request):
    name: Annotated[str, Field(max_length=500)]


class Pin(Request):
    pinned: bool


class Split(Request):
    n: Annotated[int, Field(ge=2, le=100)] = 2


class ToLevel(Request):
    to: Literal["coarser", "finer"]


class Merge(Request):
    clusters: Annotated[list[Id], Field(min_length=2, max_length=10_000)]
    into: Id | None = None


class Move(Request):
    items: Annotated[list[Id], Field(min_length=1, max_length=500_000)]
    cluster: Id | None = None
    """None: a new cluster."""
    name: Annotated[str, Field(max_length=500)] | None = None


class Link(Request):
    first: Id
    second: Id
    together: bool | None
    """None takes the link away."""


class Undo(Request):
    entry: Id | None = None


class Nothing(Request):
    """No settings."""


class Done(Response):
    entry: int
    kind: str
    summary: str
    clusters: list[int]
    undoes: int | None
    n_open: int
