"""What the gallery's server says and takes, field by field; the pages' types are made from these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Id = Annotated[int, Field(ge=1, le=2**53)]
Word = Annotated[str, Field(min_length=1, max_length=1000)]


class Response(BaseModel):
    """An answer."""


class Request(BaseModel):
    """The body of a request; a field nobody knows is refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(Response):
    """What went wrong, in a sentence."""

    error: str
    hint: str | None = None


# --- the collection and its runs ---


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


# --- clusters ---


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
    size: int
    cohesion: float | None
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


# --- items ---


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
    confidence: float | None
    links: list[ItemLink]
    why: Why | None
    why_pending: bool
    """The reasons are being worked out; ask again in a moment."""
    neighbours: dict[str, list[Neighbour]]
    previous: int | None
    next: int | None


class ItemLink(Response):
    item: int
    together: bool


class TagCount(Response):
    name: str
    count: int


class ClusterCount(Response):
    id: int
    name: str
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


# --- proposals ---


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


class AuditPlan(Response):
    share: float
    n: int
    """Proposals in the batch; 0: none is likely enough."""
    answers: int
    tags: int
    reached: float
    is_worth_it: bool


class AuditQuestion(Response):
    item: int
    key: str
    tag: str
    has_thumb: bool
    opening: str | None


class AuditState(Response):
    id: int
    share: float
    tag: str | None
    verdict: Literal["asking", "proved", "given up"]
    attempt: int
    n: int
    asked: int
    right: int
    progress: float
    n_rest: int
    """What would be accepted unseen."""
    question: AuditQuestion | None
    following: list[AuditQuestion]
    """What may be asked next, so that pictures are there when it is."""


class AuditPage(Response):
    plan: AuditPlan | None
    """What one would take and bring, where none is under way."""
    audit: AuditState | None
    """The one that is not over."""


class NewAudit(Request):
    share: Annotated[float, Field(ge=0.5, le=0.99)]
    tag: Word | None = None


class AuditAnswer(Request):
    item: Id
    tag: Word
    answer: bool


class AuditAccepted(Response):
    entry: int
    summary: str
    n: int
    n_open: int


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

    pairs: Annotated[list[Pair], Field(max_length=100_000)] = []
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


# --- edits ---


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
    n_open: int


class HistoryPage(Response):
    total: int
    offset: int
    entries: list[Entry]


# --- comparing and the map ---


class ComparedCluster(Response):
    id: int
    name: str
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


ItemPage.model_rebuild()
