"""Proposed tags and tags in doubt: the review."""

from __future__ import annotations

from .base import Response
from .clusters import Member


class ProposalReason(Response):
    likeness: str
    """How it is like the items of ``like``: "looks like", "reads like", "is like"; "shows it" of a first tag."""
    like: list[Member]
    """Items that are alike and have the tag; of a first tag, others that seem to show it."""
    goes_with: list[str]
    """Tags of the item that the proposed one goes with: of ``n_all`` others with all of them ``n_with`` have it."""
    n_with: int
    n_all: int
    against: list[str]
    like_first: bool


class Proposal(Response):
    item: int
    key: str
    tag: str
    score: float
    probability: float | None
    is_worth_asking: bool
    is_trusted: bool
    """May the probability be shown as a number?"""
    sure: str
    """How likely, for people: a percentage where it can be trusted, else a word."""
    reason: ProposalReason
    sentence: str
    has_thumb: bool
    opening: str | None


class OpenTag(Response):
    name: str
    n_open: int
    expected: float
    """How many of them should be right."""


class ProposalsPage(Response):
    total: int
    n_less_likely: int
    """Open ones that are less likely than what is worth asking, and are listed only where all are asked for."""
    sure_enough: float
    """Expected precision from which accepting many at once is the first choice."""
    offset: int
    tag: str | None
    """The tag these are of, where they are of one."""
    proposals: list[Proposal]
    tags: list[OpenTag]
    command: str


class ItemProposals(Response):
    item: Member
    tags: list[str]
    proposals: list[Proposal]
    """All that are open, likely ones first."""


class ItemProposalsPage(Response):
    total: int
    """Items with a proposal that is worth asking."""
    offset: int
    items: list[ItemProposals]


class Line(Response):
    n: int
    expected_precision: float | None


class DoubtfulTag(Response):
    item: int
    key: str
    tag: str
    doubt: float
    """How likely it does not belong: an order, and no promise."""
    sentence: str
    has_thumb: bool
    opening: str | None
    tags: list[str]
    """The other tags of the item."""


class DoubtfulPage(Response):
    total: int
    tags: list[DoubtfulTag]
