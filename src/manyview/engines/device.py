"""The engine of a graphics processor: tasks that have a form for it run there, the others on threads of this process.

A task says with ``device_form`` which module has its form: a function of the same name, ``form(rows, shared, state) ->
(partial, state)``, over all rows of a *group*, as many as the device can hold, with a tensor for the state; and
``suits(source, shared)`` beside it, whether the task can be done so. ``device_bytes(source, shared)``, where there is
one, says how much room all rows take there; else it is what they take here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..blocks import Workers
from ..data.source import RowSource
from .base import Combine, Plan, Task, add_up
from .local import LocalEngine

__all__ = ["DeviceEngine", "device_form"]

T = TypeVar("T", bound=Callable[..., Any])
Edges = list[tuple[int, int]]
_FORMS: dict[Any, str] = {}


def device_form(module: str) -> Callable[[T], T]:
    """Name the module with the form of a task for the device."""

    def mark(task: T) -> T:
        _FORMS[task] = module
        return task

    return mark


class DeviceEngine(LocalEngine):
    """Rows stay on the device if all fit; else they go there group after group, every time."""

    def __init__(self, threads: Workers, checkpoints: Path | None = None, memory: int | None = None) -> None:
        super().__init__(threads, checkpoints)
        self._memory = memory
        self._groups: dict[str, Edges] = {}

    def map(
        self,
        task: Task,
        source: RowSource,
        plan: Plan,
        shared: Any,
        states: Sequence[Any] | None = None,
        combine: Combine = add_up,
    ) -> Iterator[tuple[Any, Any]]:
        module = importlib.import_module(_FORMS[task]) if task in _FORMS else None
        if module is None or source.is_remote or not module.suits(source, shared):
            spans = [(span.start, span.stop) for span in plan.spans]
            given = self._cut(states, spans)
            read = None if given is None else [self.read(state) for state in given]
            yield from super().map(task, source, plan, shared, read, combine)
            return
        form, groups = getattr(module, task.__name__), self._groups_of(source, module, shared)
        given = self._cut(states, groups)
        for number, (start, stop) in enumerate(groups):
            partial, state = form(source.rows(start, stop), shared, None if given is None else given[number])
            if len(groups) > 1:
                source.close(start, stop)
                state = None if state is None else self.read(state)
            yield partial, state

    def read(self, state: Any) -> Any:
        return state if isinstance(state, np.ndarray) else state.cpu().numpy()

    def _cut(self, states: Sequence[Any] | None, edges: Edges) -> Sequence[Any] | None:
        """States of other rows than these, as states of these."""
        if states is None or [len(state) for state in states] == [stop - start for start, stop in edges]:
            return states
        whole = np.concatenate([self.read(state) for state in states])
        return [whole[start:stop] for start, stop in edges]

    def _groups_of(self, source: RowSource, module: Any, shared: Any) -> Edges:
        """All rows in as few groups as the memory of the device allows."""
        if source.key not in self._groups:
            from ..gpu.device import room

            memory = room(self._memory)
            count = getattr(module, "device_bytes", _bytes_here)
            n_bytes = count(source, shared)
            n_groups = max(1, -(-n_bytes // max(1, memory)))
            rows = max(1, -(-source.n_rows // n_groups))
            starts = range(0, source.n_rows, rows)
            self._groups[source.key] = [(start, min(start + rows, source.n_rows)) for start in starts]
        return self._groups[source.key]


def _bytes_here(source: RowSource, shared: Any) -> int:
    return sum(int(getattr(column, "nbytes", 0)) for column in source.columns.values())
