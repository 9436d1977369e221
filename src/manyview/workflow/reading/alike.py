"""More like these: items that are like some others by all views together, as ``like:3,5`` in a search asks for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...collection.runs import Run
from ...data.parameters import Number
from ...describe.alike import BlindPairs, likeness_to
from ...describe.likeness import Compared, compare_views
from ...errors import ParameterError
from ...types import Floats, Mask, Places
from ..clusters.state import State
from ..run_views import TAGS, fit_views
from .index import Index

__all__ = [
    "HARDLY",
    "LEAST",
    "STOPS",
    "Alike",
    "Asked",
    "alike_to",
    "check_asked",
    "most_alike_first",
    "read_asked",
    "say_alike",
]

LEAST = 0.99
"""How much alike is enough where nobody says: more than 99 % of the pairs of items picked blindly."""
STOPS = (0.9999, 0.9998, 0.9997, 0.9995, 0.999, 0.998, 0.997, 0.995, 0.99, 0.98, 0.97, 0.95, 0.9)
"""From "almost the same" to "somewhat alike": the stops of the gallery's slider."""
HARDLY = 0.5
"""Below this, two items are less alike than most that were picked blindly."""
_ASKED = re.compile(r"([0-9]{1,15}(?:,[0-9]{1,15})*)(?:,([0-9]{1,3}(?:\.[0-9]{0,6})?)%)?")


@dataclass(frozen=True)
class Asked:
    """Items, and how much like them others have to be."""

    items: tuple[int, ...]
    least: float = LEAST

    def __str__(self) -> str:
        """As a search writes it: ``3,5``, or ``3,5,99.9%``."""
        share = "" if self.least == LEAST else f",{100 * self.least:.6f}".rstrip("0").rstrip(".") + "%"
        return ",".join(map(str, self.items)) + share


def read_asked(text: str) -> Asked:
    """What ``like:`` is given, or what is wrong with it.

    >>> read_asked("3,5,99.9%")
    Asked(items=(3, 5), least=0.999)
    """
    found = _ASKED.fullmatch(text)
    if found is None or float(found[2] or 0) > 100:
        raise ParameterError(
            "like takes numbers of items, and how much alike at least, such as like:3,5 or like:3,5,99.9%; "
            f"got {text!r}."
        )
    return Asked(tuple(map(int, found[1].split(","))), LEAST if found[2] is None else round(float(found[2]) / 100, 8))


def check_asked(items: Iterable[int], least: float) -> Asked:
    """What a program asks for, or what is wrong with it."""
    numbers = tuple(items)
    if not numbers:
        raise ParameterError("more like what? Give the number of at least one item.")
    for one in numbers:
        Number(integer=True, low=0).check("each of items", one)
    Number(low=0.0, high=1.0).check("least", least)
    return Asked(tuple(map(int, numbers)), round(float(least), 8))


@dataclass(frozen=True)
class Alike:
    """Every item of an index beside some that were asked for."""

    likeness: Floats
    """NaN where no view says anything of both sides, and for those that were asked for."""
    share: Floats
    """Of the pairs of items picked blindly, those that are less alike than that."""

    def at_least(self, least: float) -> Mask:
        with np.errstate(invalid="ignore"):
            return np.asarray(self.share >= least - 1e-9)


def most_alike_first(others: Alike, rows: Places) -> Places:
    """Rows in the order in which they are alike; equal ones, and those of which nothing is known, as they come."""
    return rows[np.argsort(-np.nan_to_num(others.likeness[rows], nan=-np.inf), kind="stable")]


def say_alike(n: int, n_asked: int, least: float) -> str:
    """What was found, in a sentence that says what the share means."""
    if not n_asked:
        return "These items are no longer here."
    these = "this one" if n_asked == 1 else f"these {n_asked:,}"
    pairs = f"{100 * least:.4f}".rstrip("0").rstrip(".") + " % of the pairs picked blindly are like each other."
    if not n:
        return f"Nothing here is more like {these} than {pairs}"
    return f"{n:,} {'item is' if n == 1 else 'items are'} more like {these} than {pairs}"


def alike_to(index: Index, items: Sequence[int], run: Run | None) -> Alike:
    """How much alike everybody is to some items, by the views of a run and their weights.

    Before the first fit, or where those views are gone, by the views a fit would use, each with the same say. The first
    question takes two passes over the views, every later one a pass; the last few answers are kept.
    """
    of = _made_of(run)
    key = (run and run.id, tuple(sorted(set(items))))
    return index.part("alike", of, lambda: _compare(index, key[1], run), key)


def _made_of(run: Run | None) -> str:
    """Parts of the collection that comparisons depend on."""
    return "items runs" if run is not None and run.views and TAGS not in run.views else "items runs tags decisions"


def _compare(index: Index, items: Sequence[int], run: Run | None) -> Alike:
    def learn() -> tuple[Compared, BlindPairs]:
        compared = _compared(index, run)
        return compared, BlindPairs(compared)

    compared, pairs = index.part("compared", _made_of(run), learn, run and run.id)
    asked = np.flatnonzero(index.mask_of(np.array(items, dtype=np.int64)))
    likeness = likeness_to(compared, asked)
    likeness[asked] = np.nan
    return Alike(likeness, pairs.share(likeness))


def _compared(index: Index, run: Run | None) -> Compared:
    collection = index.collection
    state = None if run is None else State(collection, run)
    if state is not None and state.views is not None:
        return compare_views(state.views, state.weights)
    return compare_views(fit_views(collection, None, "consensus", index.tag_table)[0])
