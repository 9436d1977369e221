"""Items: lists of them, one alone, and what they can be narrowed by."""

from __future__ import annotations

from typing import Any, Literal

from .base import Response, TagCount
from .clusters import Member, NearCluster
from .proposals import Proposal


class ItemRow(Member):
    kind: str
    cluster: int | None
    cluster_name: str | None
    confidence: float | None
    n_tags: int


class ItemsPage(Response):
    total: int
    offset: int
    items: list[ItemRow]
    query: str
    """The search as it was understood."""
    command: str


class ItemTag(Response):
    name: str
    origin: Literal["file", "sidecar", "table", "person"]


class ViewPull(Response):
    name: str
    own: float | None
    runner_up: float | None


class Why(Response):
    sentence: str
    views: list[ViewPull]
    runner_up: NearCluster | None
    margin: float | None


class Neighbour(Member):
    closeness: float


class ItemLink(Response):
    item: int
    together: bool


class ItemPage(Response):
    id: int
    key: str
    kind: str
    format: str | None
    width: int | None
    height: int | None
    text: str | None
    fields: dict[str, Any]
    has_thumb: bool
    has_file: bool
    duplicate_of: int | None
    tags: list[ItemTag]
    refused: list[str]
    """Tags a person said no to."""
    proposals: list[Proposal]
    cluster: int | None
    cluster_name: str | None
    is_guess: bool
    """Is the name of its cluster only guessed?"""
    confidence: float | None
    links: list[ItemLink]
    why: Why | None
    why_pending: bool
    """The reasons are being worked out; ask again in a moment."""
    neighbours: dict[str, list[Neighbour]]
    previous: int | None
    next: int | None


class ClusterCount(Response):
    id: int
    name: str
    is_guess: bool
    count: int


class TagPlace(Response):
    name: str
    depth: int
    """0 at the top."""
    count: int
    """Items with it or with a tag below it."""


class Facets(Response):
    total: int
    tags: list[TagCount]
    tree: list[TagPlace]
    """Tags that stand above or below others, from the top."""
    years: list[TagCount]
    cameras: list[TagCount]
    clusters: list[ClusterCount]
    kinds: list[TagCount]
    untagged: int
    low_confidence: int
    unplaced: int


class TagsPage(Response):
    total: int
    tags: list[TagCount]
