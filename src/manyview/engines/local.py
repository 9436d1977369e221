"""Engines of this process: one thread, or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..blocks import Workers
from ..data.source import RowSource
from .base import Combine, Plan, Task, add_up, gathered

__all__ = ["LocalEngine"]


class LocalEngine:
    """Threads that work on the leaves of all spans; one thread where ``threads`` has no more."""

    def __init__(self, threads: Workers) -> None:
        self.threads = threads

    def place(self, source: RowSource) -> RowSource:
        return source

    def map(
        self,
        task: Task,
        source: RowSource,
        plan: Plan,
        shared: Any,
        states: Sequence[Any] | None = None,
        combine: Combine = add_up,
    ) -> Iterator[tuple[Any, Any]]:
        leaves = [(number, leaf) for number, span in enumerate(plan.spans) for leaf in span.leaves]

        def work(place: tuple[int, slice]) -> tuple[Any, Any]:
            number, leaf = place
            span = plan.spans[number]
            state = None if states is None else states[number][leaf]
            return task(source.rows(span.start, span.stop), leaf, shared, state)

        results = self.threads.map(work, leaves)
        for span in plan.spans:
            yield gathered(results, len(span.leaves), combine)

    def keep(self, states: Sequence[Any]) -> list[Any]:
        return list(states)

    def read(self, state: Any) -> Any:
        return state
