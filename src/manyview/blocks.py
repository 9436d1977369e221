"""Cut rows into blocks, and run a function over them on one or several threads.

Every iterative method of manyview has the form *state, block of rows -> partial result*. Blocks are cut by
size, never by the number of workers, and partial results are taken in block order, so the answer does not
depend on how many threads did the work.
"""

from __future__ import annotations

import numbers
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from .errors import ParameterError

__all__ = ["BLOCK_BYTES", "DEFAULT_JOBS", "Workers", "effective_n_jobs", "row_blocks", "thread_limits", "workers"]

S = TypeVar("S")
T = TypeVar("T")

DEFAULT_JOBS: ContextVar[int | None] = ContextVar("manyview_n_jobs", default=None)
"""What ``n_jobs=None`` means: ``manyview.on`` sets it."""

BLOCK_BYTES = 16 * 2**20
"""How much input one block holds. Large against a partial result, small against memory."""


def row_blocks(n_rows: int, bytes_per_row: float, block_bytes: int | None = None) -> list[slice]:
    """Cut ``n_rows`` rows into consecutive slices of at most ``block_bytes`` each (at least one row).

    All have the same number of rows, but for the last, which has fewer by less than there are slices.
    """
    size = BLOCK_BYTES if block_bytes is None else block_bytes
    most = max(1, int(size // max(1.0, bytes_per_row)))
    rows = -(-n_rows // max(1, -(-n_rows // most)))
    return [slice(start, min(start + rows, n_rows)) for start in range(0, n_rows, max(1, rows))]


def effective_n_jobs(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` means on this machine.

    ``None`` takes what ``manyview.on`` says, else every core this process may use (at most ``OMP_NUM_THREADS`` where
    that is set, as joblib's workers set it); -1 takes every core, -2 all but one.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    n_jobs = DEFAULT_JOBS.get() if n_jobs is None else n_jobs
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if not _is_whole(n_jobs) or n_jobs == 0:
        raise ParameterError(
            f"n_jobs must be None, a positive integer, or a negative one counting back from all cores; got {n_jobs!r}."
        )
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def _is_whole(value: Any) -> bool:
    return type(value) is not bool and isinstance(value, numbers.Real) and float(value).is_integer()


class Workers:
    """Threads that apply a function to blocks and hand back results in block order."""

    def __init__(self, n_threads: int, pool: ThreadPoolExecutor | None) -> None:
        self.n_threads = n_threads
        self._pool = pool

    def map(self, function: Callable[[S], T], blocks: Sequence[S]) -> Iterator[T]:
        """Yield ``function(block)`` for each block, in order; at most two per thread are held at once."""
        if self._pool is None or len(blocks) == 1:  # handing one block to another thread only costs
            yield from map(function, blocks)
            return
        waiting: deque[Future[T]] = deque()
        try:
            for block in blocks:
                waiting.append(self._pool.submit(function, block))
                if len(waiting) >= 2 * self.n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


@cache
def thread_limits() -> Any:
    """The thread pools of BLAS and OpenMP in this process, looked for once: that reads its whole memory map."""
    import scipy.linalg  # noqa: F401  brings a BLAS of its own
    import sklearn.base  # noqa: F401  and this one OpenMP
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def workers(n_jobs: int | None) -> Iterator[Workers]:
    """Threads for the time of one fit. BLAS stays on one thread inside, so that blocks share the cores."""
    n_threads = effective_n_jobs(n_jobs)
    with thread_limits().limit(limits=1, user_api="blas"):
        if n_threads == 1:
            yield Workers(1, None)
            return
        with ThreadPoolExecutor(n_threads, thread_name_prefix="manyview") as pool:
            try:
                yield Workers(n_threads, pool)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
