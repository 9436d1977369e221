"""What a reading of a source found."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field

from ..collection.items import Problem
from ..figures import counted
from ..files import PICTURES, RAW, VIDEOS, ending

__all__ = ["ALONE", "UNSUPPORTED", "Report"]

UNSUPPORTED = "unsupported"
"""Why a file of a kind that is not read is no item."""
ALONE = "sidecar alone"
"""What there is to say of a sidecar whose picture was moved, renamed or deleted without it."""
_NOT_MISSED = frozenset("aae db dop ini lnk lrv nksc on1 pp3 thm url".split())
"""Endings of what systems and other programs keep for themselves: thumbnails, edits, databases."""
_NAMED = 8
_LISTED = "`manyview show --problems` lists them"


@dataclass
class Report:
    """Counts of what was found, and every file that could not be used, with the reason."""

    source: str
    n_new: int = 0
    n_changed: int = 0
    """Items whose file is another one now, and rows of a table that say something else."""
    n_gone: int = 0
    n_moved: int = 0
    """Items whose files are at another place now."""
    n_back: int = 0
    """Items that were gone and that are there again."""
    n_same: int = 0
    changed: set[int] = field(default_factory=set)
    """Of a table: the items whose rows say something else, or whose picture is another one."""
    formats: Counter[str] = field(default_factory=Counter)
    """Of the files that were read this time."""
    problems: list[Problem] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    """Of a table: what a column is (id, image, text, tags) -> its name."""
    other_columns: list[str] = field(default_factory=list)
    """Of a table: columns that are kept with the items and serve for nothing else."""
    number_columns: list[str] = field(default_factory=list)
    """Those of them that hold numbers."""
    by_place: str = ""
    """Of a table: the rows that are known by their place, in words; "" where all have an id or a file."""

    @property
    def notes(self) -> list[str]:
        """What its owner should know before the source is changed."""
        if not self.by_place:
            return []
        return [
            f"{self.by_place} are known by their place in the table: put new ones at the end, or name a column of ids "
            "with --id"
        ]

    @property
    def bad(self) -> list[Problem]:
        """The files that could not be used."""
        return [problem for problem in self.problems if problem.is_bad]

    @property
    def left_out(self) -> Counter[str]:
        """Files of kinds that are not read, by their endings; not those that are there for another file."""
        paths = [one.path for one in self.problems if one.reason == UNSUPPORTED and not one.is_bad]
        return Counter(ending(path) for path in paths if not _serves_another(path))

    @property
    def left_out_sentences(self) -> list[str]:
        """What of the source was not read, in words: files of other kinds, sidecars that belong to no file."""
        kinds, said = self.left_out.most_common(), []
        if kinds:
            named = ", ".join(f"{n} {kind or 'without an ending'}" for kind, n in kinds[:_NAMED])
            of_kinds = "of a kind that is" if len(kinds) == 1 else "of kinds that are"
            more = ", ..." if len(kinds) > _NAMED else ""
            said.append(f"{counted(self.left_out.total(), 'file')} {of_kinds} not read: {named}{more}; {_LISTED}")
        if n := sum(one.reason == ALONE for one in self.problems):
            alone = "stands without its picture and was" if n == 1 else "stand without their pictures and were"
            said.append(f"{counted(n, 'sidecar')} {alone} not read; {_LISTED}")
        return said

    @property
    def differences(self) -> list[str]:
        """What is other than the last time, but for what is new."""
        told = ((self.n_moved, "moved"), (self.n_back, "back"), (self.n_changed, "changed"), (self.n_gone, "gone"))
        return [f"{n} {word}" for n, word in told if n]

    def __str__(self) -> str:
        parts = [f"{self.n_new} new", *self.differences]
        parts += [f"{self.n_same} as before"] if self.n_same else []
        parts += [f"{len(self.bad)} could not be used"] if self.bad else []
        return f"{self.source}: {', '.join(parts)}"


def _serves_another(path: str) -> bool:
    """Is this a file of another program's own, or one of a Google Takeout, such as ``IMG_1.jpg(1).json``?"""
    name = os.path.basename(path).lower()
    if ending(name) != "json":
        return ending(name) in _NOT_MISSED
    parts = {part.partition("(")[0] for part in name.split(".")[1:-1]}
    return name == "metadata.json" or not parts.isdisjoint(PICTURES | VIDEOS | RAW)
