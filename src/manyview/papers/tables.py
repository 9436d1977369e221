"""What a table of a paper is, as data: its rows, the protocol in words, the figures that were printed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from ..errors import ManyviewError
from ..types import Mask, Places
from .sources import Sources

__all__ = [
    "Absent",
    "Best",
    "Found",
    "Paper",
    "PeerFailed",
    "Printed",
    "Protocol",
    "Row",
    "Scale",
    "Study",
    "Table",
    "Task",
    "Trace",
    "printed",
]

Protocol = Literal["paper", "defaults"]


@dataclass(frozen=True)
class Scale:
    """How a table is run: by the paper's protocol or with our defaults, small, or with another number of seeds."""

    protocol: Protocol = "paper"
    quick: bool = False
    seeds: int | None = None

    def pick(self, full: Any, quick: Any) -> Any:
        """One of the two, by the size of the run."""
        return quick if self.quick else full

    @property
    def as_printed(self) -> bool:
        """Whether the paper's own settings are asked for."""
        return self.protocol == "paper"


@dataclass(frozen=True)
class Trace:
    """A curve of one run: values, and where they were taken (1, 2, ... where not said)."""

    values: Sequence[float]
    at: Sequence[float] | None = None
    x: str = "round"


class PeerFailed(ManyviewError):
    """Another package could not do what a row asks of it; the others go on."""


@dataclass(frozen=True)
class Found:
    """What one run of a row gave.

    labels : a cluster for each item, to be judged by the table's measures; or
    figures : the figures themselves
    judged : the items that count; all where None
    traces : curves of this run by name, such as the objective after each round
    failed : what another package could not do, whose figures are left out
    """

    labels: Places | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    judged: Mask | None = None
    traces: Mapping[str, Trace] = field(default_factory=dict)
    failed: Sequence[str] = ()


@dataclass(frozen=True)
class Row:
    """A line of a table, or a point of one of its curves.

    run : from a seed to what was found
    published : the name of the printed row it stands beside
    seeds : how many runs make sense, where fewer than the table's (a method without chance needs one)
    study, line, x : the curve it is a point of, which line of it, and where
    listed : whether a point of a curve is a line of the table as well
    shows : "confusion", "samples": what the page shows of its first runs
    """

    name: str
    run: Callable[[int], Found]
    published: str = ""
    seeds: int | None = None
    study: str = ""
    line: str = ""
    x: float | None = None
    shows: tuple[str, ...] = ()
    listed: bool = False

    @property
    def is_line(self) -> bool:
        """Whether it stands in the table, not only in a curve."""
        return self.listed or not self.study


@dataclass(frozen=True)
class Best:
    """A line taken from a curve: the point of the highest mean figure, chosen with the classes as the paper does.

    Only the paper's protocol has it: our defaults choose nothing with the classes.
    """

    name: str
    study: str
    figure: str
    published: str = ""
    line: str = ""


@dataclass(frozen=True)
class Study:
    """A curve: what is varied, what is drawn over it, and what it says; and ``level``, a row drawn level.

    of : the curve whose points it draws by other figures; its own where empty
    """

    name: str
    title: str
    x: str
    figures: tuple[str, ...]
    log: bool = False
    note: str = ""
    level: str = ""
    of: str = ""


@dataclass(frozen=True)
class Task:
    """What the rows of a table work on: the data in words, classes for judging, pictures for showing, and anything.

    figures : those of the table where they depend on the data (a figure for each class)
    """

    words: str
    y: Any = None
    class_names: Sequence[str] = ()
    picture: Callable[[int], Any] | None = None
    data: Any = None
    figures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """One table or figure of a paper on one collection.

    kind, number, on : "table", "5", "numerals": its name in the paper, and the collection it is run on here
    needs : names of collections and extras (``sources``) beside what ships with the package
    protocol : the words for each protocol
    seeds : runs by the paper's protocol, with our defaults, and in a quick run
    same_data : whether the printed figures are of the same data; differences are shown only then
    versus : what the printed figures are of
    neutral : figures of which none is the best
    network : from the data to a network of tags to draw
    also : other names under which it is asked for, such as ("figure 1",)
    compared : pairs of rows between which a t-test is made
    published : the name of the printed table; by default ``kind number``
    """

    kind: Literal["table", "figure"]
    number: str
    on: str
    title: str
    figures: tuple[str, ...]
    protocol: Mapping[str, str]
    load: Callable[[Sources, Scale], Task]
    rows: Callable[[Task, Scale], list[Row]]
    judge: Callable[[Task, Any, Mask | None], dict[str, float]]
    seeds: tuple[int, int, int]
    needs: tuple[str, ...] = ()
    same_data: bool = False
    versus: str = ""
    studies: tuple[Study, ...] = ()
    best: tuple[Best, ...] = ()
    compared: tuple[tuple[str, str], ...] = ()
    published: str = ""
    lower_is_better: frozenset[str] = frozenset()
    also: tuple[str, ...] = ()
    network: Callable[[Task], dict[str, Any]] | None = None
    neutral: frozenset[str] = frozenset({"clusters", "tag vigilance", "leaf"})

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number}"

    def n_seeds(self, scale: Scale) -> int:
        """How many runs each row gets."""
        by_paper, by_default, quick = self.seeds
        return scale.seeds or (quick if scale.quick else by_paper if scale.as_printed else by_default)


@dataclass(frozen=True)
class Absent:
    """A table or figure that cannot be run here, and why."""

    kind: Literal["table", "figure"]
    number: str
    title: str
    why: str

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number}"


@dataclass(frozen=True)
class Paper:
    """A paper with its tables and figures."""

    name: str
    title: str
    method: str
    tables: tuple[Table, ...]
    absent: tuple[Absent, ...] = ()


@dataclass(frozen=True)
class Printed:
    """A table as the paper prints it: where it stands, on which data, and row -> figure -> (mean, deviation)."""

    place: str
    data: str
    rows: Mapping[str, Mapping[str, tuple[float, float | None]]]


@cache
def printed(paper: str) -> tuple[str, dict[str, Printed]]:
    """The reference of a paper, and its printed tables by name."""
    stored = json.loads((files(__package__) / "published" / f"{paper}.json").read_text(encoding="utf-8"))
    return stored["reference"], {
        name: Printed(table["place"], table["data"], _rows(table)) for name, table in stored["tables"].items()
    }


def _rows(table: Mapping[str, Any]) -> dict[str, dict[str, tuple[float, float | None]]]:
    return {
        name: {
            figure: (value[0], value[1]) if isinstance(value, list) else (value, None)
            for figure, value in zip(table["figures"], values, strict=True)
            if value is not None
        }
        for name, values in table["rows"].items()
    }
