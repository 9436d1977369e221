"""What the gallery says and takes about first tags and about search by what is seen."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .base import Id, Request, Response, Word
from .clusters import Member
from .items import ItemRow, ItemsPage


class FirstQuestion(Response):
    """A cluster without tags, and what its members might be tagged with."""

    cluster: int
    name: str
    is_guess: bool
    size: int
    word: str | None
    """None: nothing is clear enough; a person has to say it."""
    hint: list[str]


class FirstQuestionsPage(Response):
    total: int
    questions: list[FirstQuestion]


class Candidate(Member):
    probability: float | None
    """How likely the word is right, where the pictures say it."""


class TagQuestion(FirstQuestion):
    """The same with the members, to be ticked: "these 34: elephant?"."""

    items: list[Candidate]
    """Those that likely show it, the surest first."""
    doubtful: list[Candidate]
    """To be ticked by hand."""
    unshown: list[int]
    """Further ones that likely show it, too many to look at."""
    n_doubtful: int
    """All doubtful ones, also those that are not listed."""


class NameAndTag(Request):
    """A name for a cluster, a tag for members of it, or both."""

    name: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    tag: Word | None = None
    items: Annotated[list[Id], Field(min_length=1, max_length=500_000)] | None = None
    """Who gets the tag; None: the members that are not doubtful."""


class FoundItem(ItemRow):
    how: Literal["tag", "words", "looks", "alike"]
    """By the very tag; by words of its name, tags or text; by what it seems to show; by being like some items."""
    score: float | None
    """How well the picture fits what was asked, or the share of blind pairs that are less alike; else None."""


class LikeStop(Response):
    least: float
    n: int
    """Items that are at least that much alike."""


class Like(Response):
    items: list[Member]
    """What the others have to be like, some of it where there is much."""
    n_items: int
    least: float
    """How much: the share of pairs of items picked blindly that are less alike."""
    stops: list[LikeStop]
    """From almost the same to somewhat alike."""


class SearchPage(ItemsPage):
    items: list[FoundItem]  # type: ignore[assignment]  # the same with how each was found
    seen: Literal["plain", "weak", "none"] | None
    """Does anything here show that? None where pictures were not asked."""
    sentence: str
    n_more: int
    """Pictures that fit less, and are listed only where they are asked for."""
    like: Like | None = None
    """Where the search asks for more like some items."""
    vocabulary: int | None = None
    """In an exported site: how many words its pictures can be asked for; free sentences only where it is served."""
