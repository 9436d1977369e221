"""Clusters, one by one and all together."""

from __future__ import annotations

from .base import Response, TagCount
from .runs import RunFacts


class TagShare(Response):
    name: str
    count: int
    share: float
    share_elsewhere: float
    lift: float | None


class Member(Response):
    id: int
    key: str
    has_thumb: bool
    opening: str | None
    """The first words of its text, where there is no picture."""


class ClusterRow(Response):
    id: int
    name: str
    is_guess: bool
    """Is the name only guessed from what the pictures show? Then it ends with a question mark."""
    words: list[str]
    """What a generated name is made of."""
    size: int
    cohesion: float | None
    score: float
    """How much it is worth looking at: the order "best first"."""
    tags: list[TagShare]
    typical: list[Member]
    n_open: int
    is_pinned: bool


class ClustersPage(Response):
    run: RunFacts | None
    coarser: int | None
    """Clusters at the next level up; None where there is none, or the run is not the newest."""
    finer: int | None
    clusters: list[ClusterRow]
    n_items: int
    n_unplaced: int
    years: list[TagCount]
    """In which years the items were taken, the first one first."""
    command: str


class ViewShare(Response):
    name: str
    share: float
    cohesion: float | None


class Borderline(Response):
    item: int
    other_cluster: int | None
    other_name: str
    margin: float


class NearCluster(Response):
    id: int
    name: str
    is_guess: bool
    closeness: float


class Profile(Response):
    n_tagged: int
    tags: list[TagShare]
    absent: list[TagShare]
    views: list[ViewShare]
    exemplars: list[int]
    borderline: list[Borderline]
    near: list[NearCluster]


class ClusterPage(ClusterRow):
    run: RunFacts
    profile: Profile
    previous: int | None
    next: int | None
