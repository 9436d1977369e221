"""What a reading of a source found."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field

from ..collection.items import Problem
from ..figures import counted
from ..files import PICTURES, RAW, VIDEOS, ending

__all__ = ["UNSUPPORTED", "Report"]

UNSUPPORTED = "unsupported"
"""Why a file of a kind that is not read is no item."""
_NOT_MISSED = frozenset("aae db dop ini lnk lrv nksc on1 pp3 thm url".split())
"""Endings of what systems and other programs keep for themselves: thumbnails, edits, databases."""
_NAMED = 8


@dataclass
class Report:
    """Counts of what was found, and every file that could not be used, with the reason."""

    source: str
    n_new: int = 0
    n_changed: int = 0
    n_gone: int = 0
    n_moved: int = 0
    """Items whose files are at another place now."""
    n_back: int = 0
    """Items that were gone and whose files are there again, at another place."""
    n_same: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    """Of the files that were read this time."""
    problems: list[Problem] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    """Of a table: what a column is (id, image, text, tags) -> its name."""
    other_columns: list[str] = field(default_factory=list)
    """Of a table: columns that are kept with the items and serve for nothing else."""

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
    def left_out_sentence(self) -> str:
        """The same in words; empty where there are none."""
        kinds = self.left_out.most_common()
        if not kinds:
            return ""
        named = ", ".join(f"{n} {kind or 'without an ending'}" for kind, n in kinds[:_NAMED])
        of_kinds = "of a kind that is" if len(kinds) == 1 else "of kinds that are"
        return (
            f"{counted(self.left_out.total(), 'file')} {of_kinds} not read: {named}"
            f"{', ...' if len(kinds) > _NAMED else ''}; `manyview show --problems` lists them"
        )

    def __str__(self) -> str:
        parts = [f"{self.n_new} new"]
        told = ((self.n_moved, "moved"), (self.n_back, "back"), (self.n_changed, "changed"), (self.n_gone, "gone"))
        parts += [f"{n} {word}" for n, word in told if n]
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
