"""What the gallery's server says and takes, field by field; the pages' types are made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Id = Annotated[int, Field(ge=1, le=2**53)]
Word = Annotated[str, Field(min_length=1, max_length=1000)]


class Said(BaseModel):
    """An answer."""


class Asked(BaseModel):
    """The body of a request; a field nobody knows is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(Said):
    """What went wrong, in a sentence."""

    error: str
    hint: str | None = None


# --- the collection and its runs ---


class CollectionFacts(Said):
    id: str
    """The same for as long as the folder stays where it is; empty in an exported site."""
    name: str
    n_items: int
    n_tagged: int
    n_tags: int
    views: list[str]


class RunFacts(Said):
    id: int
    kind: Literal["fit", "suggest"]
    method: str
    settings: dict[str, Any]
    figures: dict[str, Any]
    views: list[str]
    n_clusters: int | None
    made_at: str
    seconds: float


class Job(Said):
    id: int
    kind: Literal["fit", "suggest", "add", "map"]
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


class Entry(Said):
    """One thing that was done, as the history keeps it."""

    id: int
    at: str
    who: str
    kind: str
    summary: str
    clusters: list[int]
    undoes: int | None
    undone_by: int | None


class State(Said):
    collection: CollectionFacts
    run: RunFacts | None
    n_open: int
    n_problems: int
    version: str
    """Changes with every change of the collection."""
    jobs: list[Job]
    can_write: bool
    last: Entry | None
    """What an undo without a number would take back."""


class RunsPage(Said):
    runs: list[RunFacts]


class Deleted(Said):
    deleted: int


class MethodFacts(Said):
    name: str
    says: str
    takes_k: bool
    needs_annotations: bool


class MethodsPage(Said):
    methods: list[MethodFacts]
    views: list[str]


class Estimate(Said):
    seconds: float
    memory: float
    sentence: str


class JobSettings(Asked):
    method: Annotated[str, Field(max_length=40)] | None = None
    k: Annotated[int, Field(ge=1, le=100_000)] | None = None
    views: Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(max_length=100)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**31)] | None = None
    top: Annotated[int, Field(ge=1, le=1000)] | None = None


class NewJob(Asked):
    kind: Literal["fit", "suggest", "add", "map"]
    settings: JobSettings = JobSettings()


class FileProblem(Said):
    path: str
    reason: str
    sentence: str
    is_bad: bool


class ProblemsPage(Said):
    total: int
    problems: list[FileProblem]


# --- clusters ---


class TagShare(Said):
    name: str
    count: int
    share: float
    share_elsewhere: float
    lift: float | None


class Member(Said):
    id: int
    key: str
    has_thumb: bool
    opening: str | None
    """The first words of its text, where there is no picture."""


class ClusterRow(Said):
    id: int
    name: str
    size: int
    cohesion: float | None
    tags: list[TagShare]
    typical: list[Member]
    n_open: int
    is_pinned: bool


class ClustersPage(Said):
    run: RunFacts | None
    coarser: int | None
    """Clusters at the next level up; None where there is none, or the run is not the newest."""
    finer: int | None
    clusters: list[ClusterRow]
    n_items: int
    n_unplaced: int
    command: str


class ViewShare(Said):
    name: str
    share: float
    cohesion: float | None


class Borderline(Said):
    item: int
    other_cluster: int | None
    other_name: str
    margin: float


class NearCluster(Said):
    id: int
    name: str
    closeness: float


class Profile(Said):
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


# --- items ---


class ItemRow(Member):
    kind: str
    cluster: int | None
    cluster_name: str | None
    confidence: float | None
    n_tags: int


class ItemsPage(Said):
    total: int
    offset: int
    items: list[ItemRow]
    query: str
    """The search as it was understood."""
    command: str


class ItemTag(Said):
    name: str
    origin: Literal["file", "sidecar", "table", "person"]


class Proposal(Said):
    item: int
    key: str
    tag: str
    score: float
    probability: float | None
    reason: Any
    sentence: str
    has_thumb: bool
    opening: str | None


class ViewPull(Said):
    name: str
    own: float | None
    runner_up: float | None


class Why(Said):
    sentence: str
    views: list[ViewPull]
    runner_up: NearCluster | None
    margin: float | None


class Neighbour(Member):
    closeness: float


class ItemPage(Said):
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
    confidence: float | None
    links: list[ItemLink]
    why: Why | None
    why_pending: bool
    """The reasons are being worked out; ask again in a moment."""
    neighbours: dict[str, list[Neighbour]]
    previous: int | None
    next: int | None


class ItemLink(Said):
    item: int
    together: bool


class TagCount(Said):
    name: str
    count: int


class ClusterCount(Said):
    id: int
    name: str
    count: int


class Facets(Said):
    total: int
    tags: list[TagCount]
    clusters: list[ClusterCount]
    kinds: list[TagCount]
    untagged: int
    low_confidence: int
    unplaced: int


class TagsPage(Said):
    total: int
    tags: list[TagCount]


# --- proposals ---


class OpenTag(Said):
    name: str
    n_open: int


class ProposalsPage(Said):
    total: int
    offset: int
    tag: str | None
    """The tag these are of, where they are of one."""
    proposals: list[Proposal]
    tags: list[OpenTag]
    command: str


class Line(Said):
    n: int
    expected_precision: float | None


class Pair(Asked):
    item: Id
    tag: Word


class NewDecisions(Asked):
    pairs: Annotated[list[Pair], Field(min_length=1, max_length=100_000)]
    answer: bool
    force: bool = False
    """Also where a person has answered already."""


class Answered(Said):
    item: int
    tag: str
    answer: bool
    entry: int | None
    """Of the history, which gave this answer."""


class Decided(Said):
    entry: int | None
    summary: str
    n_open: int
    done: list[Answered]
    already: list[Answered]


class Step(Asked):
    """An answer; or, with None, the wish to take back an entry: the named one, or else the one that answered these."""

    pairs: Annotated[list[Pair], Field(max_length=100_000)] = []
    answer: bool | None
    entry: Id | None = None


class NewSteps(Asked):
    steps: Annotated[list[Step], Field(min_length=1, max_length=1000)]


class StepDone(Said):
    entry: int | None
    """Of the history; None where there was nothing to do."""
    summary: str
    done: list[Answered]
    already: list[Answered]
    error: str | None
    """Why this step was refused; the others are not."""


class StepsDone(Said):
    steps: list[StepDone]
    n_open: int


class NewLine(Asked):
    probability: Annotated[float, Field(ge=0, le=1)]
    tag: Word | None = None


class LineDecided(Said):
    entry: int | None
    summary: str
    n: int
    n_open: int


# --- edits ---


class NewTag(Asked):
    items: Annotated[list[Id], Field(min_length=1, max_length=500_000)]
    tag: Word
    answer: bool


class Rename(Asked):
    name: Annotated[str, Field(max_length=500)]


class Pin(Asked):
    pinned: bool


class Split(Asked):
    n: Annotated[int, Field(ge=2, le=100)] = 2


class ToLevel(Asked):
    to: Literal["coarser", "finer"]


class Merge(Asked):
    clusters: Annotated[list[Id], Field(min_length=2, max_length=10_000)]
    into: Id | None = None


class Move(Asked):
    items: Annotated[list[Id], Field(min_length=1, max_length=500_000)]
    cluster: Id | None = None
    """None: a new cluster."""
    name: Annotated[str, Field(max_length=500)] | None = None


class Link(Asked):
    first: Id
    second: Id
    together: bool | None
    """None takes the link away."""


class Undo(Asked):
    entry: Id | None = None


class Nothing(Asked):
    """No settings."""


class Done(Said):
    entry: int
    kind: str
    summary: str
    clusters: list[int]
    n_open: int


class HistoryPage(Said):
    total: int
    offset: int
    entries: list[Entry]


# --- comparing and the map ---


class ComparedCluster(Said):
    id: int
    name: str
    size: int


class Flow(Said):
    first: int | None
    second: int | None
    size: int
    is_matched: bool
    """Do the two clusters correspond to each other?"""


class Mover(Said):
    item: int
    key: str
    first: int | None
    second: int | None


class Agreement(Said):
    ari: float
    nmi: float
    same: float
    """Share of the items that are in corresponding clusters."""


class ComparePage(Said):
    runs: list[RunFacts]
    n_items: int
    agreement: Agreement
    first: list[ComparedCluster]
    second: list[ComparedCluster]
    flows: list[Flow]
    movers: list[Mover]
    n_movers: int
    command: str


class MapName(Said):
    id: int
    name: str
    size: int
    x: float
    y: float


class MapPage(Said):
    state: Literal["ready", "absent"]
    run: int | None
    n: int
    n_missing: int
    """Items that came after the map was made, or that no view describes."""
    made_at: str | None
    clusters: list[MapName]


ItemPage.model_rebuild()
