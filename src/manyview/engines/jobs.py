"""Jobs that need nothing of each other: many at once where there are threads or workers, one by one on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from ..blocks import Workers
from ..data.source import Rows, RowSource
from .base import Engine, Plan, Span
from .device import DeviceEngine
from .local import LocalEngine

__all__ = ["alone", "each", "nearby"]

S = TypeVar("S")
T = TypeVar("T")

_WORTH = 2**28  # multiplications of a pass that one thread does while a device is told what to do, and given the rows


def alone() -> Engine:
    """The engine of one thread, for who works beside others."""
    return LocalEngine(Workers(1, None))


def nearby(engine: Engine, products: float) -> Engine:
    """The engine for rows in the memory of this process: a device where that is quicker, else threads.

    ``products`` is about how many multiplications one pass over the rows takes.
    """
    is_device = isinstance(engine, DeviceEngine) and products > _WORTH * engine.threads.n_threads
    return engine if is_device else LocalEngine(engine.threads)


def each(
    engine: Engine, job: Callable[[S, Any, Engine], T], jobs: Sequence[S], shared: Any, products: float
) -> Iterator[T]:
    """``job(one, shared, where)`` for each of the jobs, in order; ``where`` is the engine that the job may work with.

    ``job`` is a function at the top of a module, and what it is given can be pickled. ``products`` is about how many
    multiplications a job does in one pass over its rows: a device has one job after the other, where that is quicker
    than all threads at once.
    """
    if isinstance(nearby(engine, products), DeviceEngine):
        yield from (job(one, shared, engine) for one in jobs)
        return
    numbers = engine.place(RowSource({"number": np.arange(len(jobs))}))
    plan = Plan(tuple(Span(number, number + 1, (slice(0, 1),)) for number in range(len(jobs))))
    for made, _ in engine.map(_run, numbers, plan, (job, jobs, shared)):
        yield made


def _run(rows: Rows, leaf: slice, shared: Any, _: Any) -> tuple[Any, None]:
    job, jobs, told = shared
    return job(jobs[rows.start], told, alone()), None
