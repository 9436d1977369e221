"""The collection, its runs, the work under way and the history."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from .base import Request, Response


class CollectionFacts(Response):
    id: str
    """The same for as long as the folder stays where it is; empty in an exported site."""
    name: str
    n_items: int
    n_tagged: int
    n_tags: int
    views: list[str]


class RunFacts(Response):
    id: int
    kind: Literal["fit", "suggest"]
    method: str
    settings: dict[str, Any]
    figures: dict[str, Any]
    views: list[str]
    n_clusters: int | None
    made_at: str
    seconds: float


class Job(Response):
    id: int
    kind: Literal["fit", "suggest", "add", "map", "apply"]
    settings: dict[str, Any]
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    stage: str
    done: int
    of: int
    seconds: float
    left: float | None
    log: list[str]
    result: dict[str, Any] | None
    error: str | None


class Entry(Response):
    """One thing that was done, as the history keeps it."""

    id: int
    at: str
    who: str
    kind: str
    summary: str
    clusters: list[int]
    undoes: int | None
    undone_by: int | None
    can_undo: bool
    """Has it changed anything that is not taken back yet? A fit or an addition has nothing to take back."""


class Trust(Response):
    """May the probabilities of items that have tags be shown as numbers?"""

    is_known: bool
    n_answers: int
    enough: int


class State(Response):
    collection: CollectionFacts
    run: RunFacts | None
    n_open: int
    """Proposals that are worth asking."""
    n_less_likely: int
    trust: Trust
    n_problems: int
    version: str
    """Changes with every change of the collection."""
    jobs: list[Job]
    can_write: bool
    last: Entry | None
    """What an undo without a number would take back."""


class RunsPage(Response):
    runs: list[RunFacts]


class Deleted(Response):
    deleted: int


class MethodFacts(Response):
    name: str
    says: str
    takes_k: bool
    needs_annotations: bool


class MethodsPage(Response):
    methods: list[MethodFacts]
    views: list[str]


class Estimate(Response):
    seconds: float
    memory: float
    sentence: str


class JobSettings(Request):
    method: Annotated[str, Field(max_length=40)] | None = None
    k: Annotated[int, Field(ge=1, le=100_000)] | None = None
    views: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=100)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**31)] | None = None
    top: Annotated[int, Field(ge=1, le=1000)] | None = None
    to: Literal["xmp", "embedded"] | None = None
    """apply: where tags are written."""


class NewJob(Request):
    kind: Literal["fit", "suggest", "add", "map", "apply"]
    settings: JobSettings = JobSettings()


class FileProblem(Response):
    path: str
    reason: str
    sentence: str
    is_bad: bool


class ProblemsPage(Response):
    total: int
    problems: list[FileProblem]


class HistoryPage(Response):
    total: int
    offset: int
    entries: list[Entry]
