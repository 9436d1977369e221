"""What every answer and every request is made of."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Id = Annotated[int, Field(ge=1, le=2**53)]
Word = Annotated[str, Field(min_length=1, max_length=1000)]


class Response(BaseModel):
    """An answer."""


class Request(BaseModel):
    """The body of a request; a field nobody knows is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class TagCount(Response):
    """A word, and how many have it."""

    name: str
    count: int


class Problem(Response):
    """What went wrong, in a sentence."""

    error: str
    hint: str | None = None
