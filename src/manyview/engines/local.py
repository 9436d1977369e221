"""Engines of this process: one thread, or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..blocks import Workers
from ..data.source import Rows, RowSource
from .base import Combine, Kept, Plan, Task, add_up, gathered, run_leaf

__all__ = ["LocalEngine"]


class LocalEngine:
    """Threads that work on the leaves of all spans; one thread where ``threads`` has no more."""

    def __init__(self, threads: Workers, checkpoints: Path | None = None) -> None:
        self.threads, self.checkpoints = threads, checkpoints
        self._room: TemporaryDirectory[str] | None = None

    def within(self, folder: Path) -> LocalEngine:
        return self

    def place(self, source: RowSource) -> RowSource:
        return source

    def room(self) -> Path:
        if self._room is None:
            self._room = TemporaryDirectory(prefix="manyview-", ignore_cleanup_errors=True)
        return Path(self._room.name)

    def map(
        self,
        task: Task,
        source: RowSource,
        plan: Plan,
        shared: Any,
        states: Sequence[Any] | None = None,
        combine: Combine = add_up,
    ) -> Iterator[tuple[Any, Any]]:
        if source.is_remote:
            yield from self._map_chunks(task, source, plan, shared, states, combine)
            return
        leaves = [(number, leaf) for number, span in enumerate(plan.spans) for leaf in span.leaves]

        def work(place: tuple[int, slice]) -> tuple[Any, Any]:
            number, leaf = place
            span = plan.spans[number]
            state = None if states is None else states[number]
            return run_leaf(task, source.rows(span.start, span.stop), leaf, shared, state)

        results = self.threads.map(work, leaves)
        for number, span in enumerate(plan.spans):
            yield gathered(results, span.leaves, combine, None if states is None else states[number])

    def _map_chunks(
        self, task: Task, source: RowSource, plan: Plan, shared: Any, states: Sequence[Any] | None, combine: Combine
    ) -> Iterator[tuple[Any, Any]]:
        """Rows of Dask arrays without a cluster: one span in memory at a time."""
        import dask

        for number, span in enumerate(plan.spans):
            (found,) = dask.compute(source.pieces(span.start, span.stop))
            rows = source.rows(span.start, span.stop, found)
            state = None if states is None else states[number]

            def work(leaf: slice, rows: Rows = rows, state: Any = state) -> tuple[Any, Any]:
                return run_leaf(task, rows, leaf, shared, state)

            yield gathered(self.threads.map(work, span.leaves), span.leaves, combine, state)

    def close(self) -> None:
        if self._room is not None:
            self._room.cleanup()
            self._room = None

    def let_go(self, states: Sequence[Any]) -> None:
        pass

    def keep(self, states: Sequence[Any]) -> list[Any]:
        return [state.read() if isinstance(state, Kept) else state for state in states]

    def read(self, state: Any) -> Any:
        return state
