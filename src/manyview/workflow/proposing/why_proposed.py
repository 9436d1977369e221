"""Why a tag is proposed, as a person would say it: what the item is like, and which of its tags it goes with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...types import Ints

__all__ = ["Carriers", "Reason", "reason_of", "sentence"]

_SHOWN = 3
_TOGETHER = 2
"""Tags of the item that are named."""
_SMALLEST = 0.05
"""Shares of the evidence below this are not told."""
_FIRST_TAG = "looks"
"""Evidence of a word for pictures nobody has tagged: others that show the same."""
_READ = ("words", "text")
"""Views that come from what is written."""

Carriers = Callable[[str], Ints]
"""A tag -> the numbers of the items that have it, ascending."""


class Reason(NamedTuple):
    """What speaks for a proposal."""

    likeness: str
    """"looks like", "reads like" or "is like"; "shows it" of a first tag; "" where nothing is alike."""
    like: tuple[int, ...]
    """Items that are alike and have the tag, at most three."""
    goes_with: tuple[str, ...]
    """Tags of the item that the proposed one goes with, at most two."""
    n_with: int
    """Of the other items that have all of these, so many have the proposed tag."""
    n_all: int
    against: tuple[str, ...]
    """Tags of the item that speak against it."""
    like_first: bool = True
    """Does the likeness say more than the tags?"""


def reason_of(tag: str, item: int, evidence: Sequence[Sequence[Any]], carriers: Carriers, kind: str = "row") -> Reason:
    """What to tell of evidence as it is kept: kind, name, share and similar items of each part.

    ``kind`` is what the item is: picture, video, document or row.
    """
    if evidence and evidence[0][0] == _FIRST_TAG:
        return Reason("shows it", tuple(evidence[0][3])[:_SHOWN], (), 0, 0, ())
    told = [part for part in evidence if part[2] >= _SMALLEST]
    alike = [part for part in told if part[0] != "tag" and part[3]]
    like = tuple(dict.fromkeys(one for part in alike for one in part[3]))[:_SHOWN]
    words = [part[1] for part in told if part[0] == "tag"]
    goes_with, n_with, n_all = _together(tag, item, words[:_TOGETHER], carriers)
    of_tags = max((part[2] for part in told if part[0] == "tag"), default=0.0)
    return Reason(
        likeness=_likeness([part[1] for part in alike], kind) if like else "",
        like=like,
        goes_with=goes_with,
        n_with=n_with,
        n_all=n_all,
        against=tuple(part[1] for part in evidence if part[0] == "tag" and part[2] < 0),
        like_first=max((part[2] for part in alike), default=0.0) >= of_tags,
    )


def _likeness(views: Sequence[str], kind: str) -> str:
    if kind == "document" or views[0] in _READ:
        return "reads like"
    return "looks like" if kind in ("picture", "video") else "is like"


def _together(tag: str, item: int, words: Sequence[str], carriers: Carriers) -> tuple[tuple[str, ...], int, int]:
    """The tags that are named, how many other items have all of them, and how many of those the proposed one too."""
    having = carriers(tag)
    for n in range(len(words), 0, -1):
        both = carriers(words[0])
        for word in words[1:n]:
            both = np.intersect1d(both, carriers(word), assume_unique=True)
        both = both[both != item]
        n_with = int(np.isin(both, having, assume_unique=True).sum())
        if n_with:
            return tuple(words[:n]), n_with, int(both.size)
    return tuple(words[:1]), 0, 0


def sentence(tag: str, reason: Reason, names: Mapping[int, str]) -> str:
    """The reason in words; ``names`` of the items that are alike stand for their pictures."""
    parts = []
    if reason.likeness == "shows it":
        as_do = f", as {'does' if len(reason.like) == 1 else 'do'} " if reason.like else ""
        parts.append(f"seems to show it{as_do}{_listed([names[one] for one in reason.like]) if reason.like else ''}")
    elif reason.like:
        alike = _listed([names[one] for one in reason.like])
        parts.append(f"{reason.likeness} {alike}, which {'carries' if len(reason.like) == 1 else 'carry'} it")
    if reason.goes_with:
        counted = f" (on {reason.n_with} of {reason.n_all} items with {_it(reason.goes_with)})" if reason.n_all else ""
        parts.append(f"goes with {_listed(reason.goes_with)}{counted}")
    if not reason.like_first:
        parts.reverse()
    if not parts:
        parts.append("a frequent tag here")
    if reason.against:
        parts.append(f"{_listed(reason.against)} {'speaks' if len(reason.against) == 1 else 'speak'} against it")
    return f"{tag}: {'; '.join(parts)}."


def _listed(words: Sequence[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _it(words: Sequence[str]) -> str:
    return "both" if len(words) == 2 else "it"
