"""What an engine is, and how the rows of a problem are cut for it.

Interface
---------
A method hands an engine *tasks*. A task is a function at the top of a module, so that it can be sent by name::

    task(rows: Rows, leaf: slice, shared, state) -> (partial, state)

- ``rows`` are the open rows of one *span* (``data.source.Rows``): ``rows["view looks"]`` is a matrix, ``rows.start``
  the number of its first item. ``rows.kept`` is a dict for results that are dear and may be lost at any time (norms,
  residuals, bounds).
- ``leaf`` is a slice of these rows, counted from the beginning of the span: what one thread works on at a time.
- ``shared`` is one object per call of ``map``, sent once to every worker (centroids, weights).
- ``state`` is what the items of the leaf carry from one call to the next: an array whose first axis is the rows, or
  None.
- ``partial`` is whatever ``combine(total, partial) -> total`` can add up; ``add_up`` adds tuples of arrays in place.

A task is pure: the same arguments give the same bits, wherever and however often it runs. It may write its new state
over the old one and return that very array: then nobody holds two copies. ``engine.map(task, source,
plan, shared, states)`` yields ``(partial, state)`` for each span, in order. The order of all sums is one fixed tree, a
function of the number of rows and of the plan alone: the leaves of a span are added in order, then the spans are, by
``total``. So every engine gives the same answer. States come back as the engine keeps them (an array, or a file's
name): hand them on to the next ``map``, and read them with ``engine.read``.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers, row_blocks
from ..data.source import Rows, RowSource
from ..durable import make_folder, write_array

__all__ = [
    "Combine",
    "Engine",
    "Kept",
    "Plan",
    "Span",
    "Task",
    "add_in_double",
    "add_up",
    "cut",
    "filed",
    "run_leaf",
    "run_span",
    "total",
]

SPAN_SECONDS = 1.0
"""How much work of one core a span holds, about: what it costs to send a task must be small against it."""

IN_PLACE = object()
"""Stands for a state that was written over the one before."""

Task = Callable[[Rows, slice, Any, Any], tuple[Any, Any]]
Combine = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Span:
    """Consecutive rows that are worked on in one place, and their leaves, counted from its first row."""

    start: int
    stop: int
    leaves: tuple[slice, ...]


@dataclass(frozen=True)
class Plan:
    """All rows, cut into spans."""

    spans: tuple[Span, ...]

    @property
    def n_rows(self) -> int:
        return self.spans[-1].stop if self.spans else 0


def cut(n_rows: int, bytes_per_row: float, leaf_bytes: int, seconds_per_row: float) -> Plan:
    """Leaves of at most so many bytes, and spans of as many leaves as take about a second.

    Depends on the data alone, never on who does the work.
    """
    leaves = row_blocks(n_rows, bytes_per_row, leaf_bytes)
    size = leaves[0].stop if leaves else 1
    at_once = max(1, round(SPAN_SECONDS / max(1e-12, seconds_per_row * size)))
    spans = []
    for first in range(0, len(leaves), at_once):
        group = leaves[first : first + at_once]
        start = group[0].start
        inside = tuple(slice(leaf.start - start, leaf.stop - start) for leaf in group)
        spans.append(Span(start, group[-1].stop, inside))
    return Plan(tuple(spans))


@dataclass(frozen=True)
class Kept:
    """A state in a file."""

    path: str

    def read(self) -> Any:
        return np.load(self.path)


def filed(folder: Path, state: NDArray[Any]) -> Kept:
    """Keep a state in a file of its own, under a name that is never used twice."""
    home = folder / "states"
    make_folder(home)
    path = home / f"{uuid.uuid4().hex}.npy"
    write_array(path, state)
    return Kept(str(path))


class Engine(Protocol):
    """Runs tasks over the spans of a source."""

    threads: Workers
    """For what is done in this process."""
    checkpoints: Path | None
    """Where fits keep what they need to go on; None where nothing is kept."""

    def within(self, folder: Path) -> Engine:
        """The same engine, which puts its files into this folder."""

    def place(self, source: RowSource) -> RowSource:
        """The source as the engine's workers can open it."""

    def room(self) -> Path:
        """A folder that all workers see, for files that go when the work is over."""

    def map(
        self,
        task: Task,
        source: RowSource,
        plan: Plan,
        shared: Any,
        states: Sequence[Any] | None = None,
        combine: Combine = ...,
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the partial result and the new state of every span, in order."""

    def keep(self, states: Sequence[Any]) -> list[Any]:
        """First states, one array per span, as this engine keeps them."""

    def read(self, state: Any) -> Any:
        """A kept state as an array."""

    def let_go(self, states: Sequence[Any]) -> None:
        """These states will not be asked for again."""

    def close(self) -> None:
        """The work is over: what only this engine needs may go."""


def add_up(total: tuple[Any, ...], part: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tuples added up place by place, arrays in place; None stays None."""
    added = []
    for one, other in zip(total, part, strict=True):
        if one is not None:
            one += other
        added.append(one)
    return tuple(added)


def add_in_double(total: tuple[Any, ...], part: tuple[Any, ...]) -> tuple[Any, ...]:
    """As ``add_up``, in float64 whatever the type of the arrays."""
    return add_up(tuple(one.astype(np.float64, copy=False) for one in total), part)


def run_leaf(task: Task, rows: Rows, leaf: slice, shared: Any, state: Any) -> tuple[Any, Any]:
    """One leaf of a span whose state is given; ``IN_PLACE`` for a new state that lies where the old one did."""
    before = None if state is None else state[leaf]
    partial, new = task(rows, leaf, shared, before)
    return partial, IN_PLACE if new is not None and new is before else new


def run_span(
    task: Task, rows: Rows, leaves: Sequence[slice], shared: Any, state: Any, combine: Combine
) -> tuple[Any, Any]:
    """All leaves of one span, one after another."""
    results = (run_leaf(task, rows, leaf, shared, state) for leaf in leaves)
    return gathered(results, leaves, combine, state)


def gathered(
    results: Iterator[tuple[Any, Any]], leaves: Sequence[slice], combine: Combine, before: Any
) -> tuple[Any, Any]:
    """The results of a span's leaves as one: partials added up in order, states put together."""
    whole, first = next(results)
    joined = before if first is IN_PLACE else first
    if isinstance(first, np.ndarray) and len(leaves) > 1:
        joined = np.empty((leaves[-1].stop, *first.shape[1:]), dtype=first.dtype)
        joined[leaves[0]] = first
    for leaf in leaves[1:]:
        part, state = next(results)
        whole = combine(whole, part)
        if isinstance(state, np.ndarray):
            joined[leaf] = state
    return whole, joined


def total(results: Iterator[tuple[Any, Any]], combine: Combine = add_up) -> tuple[Any, list[Any]]:
    """The sum over all spans, in order, and the states."""
    whole, state = next(results)
    states = [state]
    for part, state in results:
        whole = combine(whole, part)
        states.append(state)
    return whole, states
