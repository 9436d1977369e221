"""Two runs compared, and the map."""

from __future__ import annotations

from typing import Literal

from .base import Response
from .runs import RunFacts


class ComparedCluster(Response):
    id: int
    name: str
    is_guess: bool
    size: int


class Flow(Response):
    first: int | None
    second: int | None
    size: int
    is_matched: bool
    """Do the two clusters correspond to each other?"""


class Mover(Response):
    item: int
    key: str
    first: int | None
    second: int | None


class Agreement(Response):
    ari: float
    nmi: float
    same: float
    """Share of the items that are in corresponding clusters."""


class ComparePage(Response):
    runs: list[RunFacts]
    n_items: int
    agreement: Agreement
    first: list[ComparedCluster]
    second: list[ComparedCluster]
    flows: list[Flow]
    movers: list[Mover]
    n_movers: int
    command: str


class MapName(Response):
    id: int
    name: str
    is_guess: bool
    size: int
    x: float
    y: float


class MapPage(Response):
    state: Literal["ready", "absent"]
    run: int | None
    n: int
    n_missing: int
    """Items that came after the map was made, or that no view describes."""
    made_at: str | None
    clusters: list[MapName]
    coarser: int | None = None
    """Clusters at the next coarser level of the newest run; None where there is none."""
    finer: int | None = None
