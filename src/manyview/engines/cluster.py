"""The engine of a Dask cluster: one task for each span, on whichever worker is free.

Rows are read by the workers: from files under their own paths, or from the chunks of Dask arrays. What is in the
client's memory is written to the engine's folder first. States stay in that folder, one file for each span and pass,
under names that are never used twice; the client only hands on the names. So a worker may die at any moment: its tasks
run again elsewhere from the same files, and give the same bits.
"""

from __future__ import annotations

import ipaddress
import pickle
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ..arrays import is_dask, is_sparse, makes_rows
from ..blocks import Workers, thread_limits
from ..data.source import RowSource, csr_of, file_part
from ..durable import clear_tree, forget, make_folder, write_array, write_file
from ..errors import MissingExtra, ParameterError, WorkerError
from .base import Combine, Kept, Plan, Span, Task, add_up, filed, run_span

__all__ = ["DaskEngine", "connect", "is_client", "refuse_open_lines"]

_ANSWER = 10.0  # seconds in which a scheduler answers
_LOOK = 5.0  # seconds between two looks at who is there
_SOON = 0.2  # and between two where Dask gives up its own wait
_ALONE = 120.0  # so long a fit waits for workers when the last has gone
_LIVES = 4  # how often so many workers as Dask lets a task kill may die over a span
_MOST_SENT = 20  # how often a span is sent at most that workers die before they begin with
_IN_A_TASK = 100_000  # bytes that are sent with every task; more goes through the folder


class DaskEngine:
    """Runs the tasks of spans on the workers of a Dask cluster."""

    def __init__(self, threads: Workers, client: Any, folder: Path, checkpoints: Path | None = None) -> None:
        self.threads, self.client, self.folder, self.checkpoints = threads, client, folder, checkpoints
        self._where: dict[tuple[str, int], str] = {}

    def within(self, folder: Path) -> DaskEngine:
        return DaskEngine(self.threads, self.client, folder, self.checkpoints)

    def where(self, source: RowSource, span: Span) -> str | None:
        """The worker that had a span last, and may have kept something."""
        return self._where.get((source.key, span.start))

    def remember_place(self, source: RowSource, span: Span, where: str) -> None:
        self._where[source.key, span.start] = where

    def forget_place(self, source: RowSource, span: Span) -> None:
        self._where.pop((source.key, span.start), None)

    @property
    def what_is_kept(self) -> str:
        """The end of a sentence about an error."""
        return "" if self.checkpoints is None else f"; the same fit again goes on from what is kept in {self.folder}"

    def close(self) -> None:
        """Take away the files of this engine; of a fit that was stopped, what it needs to go on stays."""
        if self.folder.is_dir():
            clear_tree(self.folder)

    def place(self, source: RowSource) -> RowSource:
        """The same rows, all in files or in chunks."""
        home = self.room() / f"rows-{source.key}"
        columns = {name: self._filed(home, column) for name, column in source.columns.items()}
        return RowSource(columns, source.key, source.row_bytes)

    def room(self) -> Path:
        make_folder(self.folder)
        return self.folder

    def _filed(self, home: Path, column: Any) -> Any:
        if is_dask(column):
            return column
        if makes_rows(column):
            return column.over(self._filed(home, column.rows))
        if is_sparse(column):
            data, indices, indptr = (self._filed(home, part) for part in (column.data, column.indices, column.indptr))
            return csr_of(data, indices, indptr, column.shape)
        if file_part(column) is not None or column.size == 0:
            return column
        make_folder(home)
        path = home / f"{uuid.uuid4().hex}.npy"
        write_array(path, column)
        return np.load(path, mmap_mode="r")

    def map(
        self,
        task: Task,
        source: RowSource,
        plan: Plan,
        shared: Any,
        states: Sequence[Any] | None = None,
        combine: Combine = add_up,
    ) -> Iterator[tuple[Any, Any]]:
        make_folder(self.folder)
        call = f"{task.__name__}-{uuid.uuid4().hex}"
        told: bytes | Path = pickle.dumps((task, source, shared, combine), protocol=pickle.HIGHEST_PROTOCOL)
        if isinstance(told, bytes) and len(told) > _IN_A_TASK:
            path = self.folder / f"told-{call}"
            write_file(path, [told], lasts=False)
            told = path
        at_work = _Pass(self, call, told, source, plan.spans, states)
        try:
            at_work.submit(range(len(plan.spans)))
            for number in range(len(plan.spans)):
                yield at_work.result(number)
        finally:
            at_work.end()

    def waited(self, future: Any) -> Any:
        """The result, unless all workers have gone for long: Dask would wait for new ones for ever."""
        alone_since = None
        while True:
            start = time.monotonic()
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                if future.status == "error":  # the task's own, not ours
                    raise
            now = time.monotonic()
            is_alone = not workers_of(self.client)
            alone_since = (alone_since or now) if is_alone else None
            if alone_since is not None and now - alone_since >= _ALONE:
                raise WorkerError(
                    f"the Dask scheduler has had no workers for {_ALONE:.0f} s. Start some with `dask worker`"
                    f"{self.what_is_kept}."
                )
            time.sleep(max(0.0, start + _SOON - now))  # a result on a worker that dies ends the wait at once

    def keep(self, states: Sequence[Any]) -> list[Any]:
        make_folder(self.folder)
        return [s if isinstance(s, Kept) else filed(self.folder, np.asarray(s)) for s in states]

    def read(self, state: Any) -> Any:
        return state.read() if isinstance(state, Kept) else state

    def let_go(self, states: Sequence[Any]) -> None:
        for state in states:
            if isinstance(state, Kept):
                forget(Path(state.path))


class _Pass:
    """The tasks of one pass over all spans that are not done."""

    def __init__(
        self,
        engine: DaskEngine,
        call: str,
        told: bytes | Path,
        source: RowSource,
        spans: Sequence[Span],
        states: Sequence[Any] | None,
    ) -> None:
        self.engine, self.call, self.told, self.source, self.spans = engine, call, told, source, spans
        self.states = [None] * len(spans) if states is None else states
        self._futures: dict[int, Any] = {}
        self._sent = dict.fromkeys(range(len(spans)), 0)

    def submit(self, numbers: Iterable[int]) -> None:
        """Send tasks: one graph for all of those that belong to one worker, since a graph costs what ten tasks do."""
        by_worker: dict[str | None, list[int]] = {}
        for number in numbers:
            by_worker.setdefault(self.engine.where(self.source, self.spans[number]), []).append(number)
        for where, here in by_worker.items():
            soft = {} if where is None else {"workers": [where], "allow_other_workers": True}
            keys = [f"manyview-{self.call}-{number}-{self._sent[number]}" for number in here]
            marks = [str(self._mark(number)) for number in here]
            given = {"call": self.call, "told": self.told, "folder": str(self.engine.folder)}
            spans, states = [self.spans[number] for number in here], [self.states[number] for number in here]
            pieces = [self.source.pieces(span.start, span.stop, self.source.is_held) for span in spans]
            if self.source.is_remote and not self.source.is_held:
                from dask import delayed

                work = delayed(_work, pure=False)
                tasks = [
                    work(*one, **given, dask_key_name=key)
                    for *one, key in zip(spans, states, pieces, marks, keys, strict=True)
                ]
                futures = self.engine.client.compute(tasks, **soft)
            else:
                futures = self.engine.client.map(
                    _work, spans, states, pieces, marks, key=keys, pure=False, **given, **soft
                )
            self._futures |= zip(here, futures, strict=True)

    def result(self, number: int) -> tuple[Any, Any]:
        """The partial result and the state of one span.

        Dask blames every task that a dead worker was to run, and gives one up after some deaths. It is sent again
        unless the workers died while they ran it, four times as many as Dask allows: by chance some may.
        """
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        span = self.spans[number]
        while True:
            future = self._futures.pop(number)
            try:
                partial, state, where = self.engine.waited(future)
            except KilledWorker as error:
                self._sent[number] += 1
                n_killed = _size(self._mark(number))
                if n_killed < _LIVES * (error.args[2] + 1) and self._sent[number] < _MOST_SENT:
                    self.engine.forget_place(self.source, span)
                    self.submit([number])
                    continue
                rows = self._rows(span)
                what = (
                    f"{rows} killed {n_killed} workers" if n_killed else f"workers died before they began with {rows}"
                )
                raise WorkerError(
                    f"{what}, the last {error.args[1].address}. Look at its log, most often for want of memory"
                    f"{self.engine.what_is_kept}."
                ) from error
            except (CommClosedError, OSError) as error:
                if future.status == "error":
                    raise WorkerError(
                        f"a worker could not go on with {self._rows(span)}: {error}. All machines must see the same "
                        f"files under the same paths, and have room in them{self.engine.what_is_kept}."
                    ) from error
                raise WorkerError(
                    f"the Dask scheduler was lost ({error}). Start it again{self.engine.what_is_kept}."
                ) from error
            self.engine.remember_place(self.source, span, where)
            return partial, state

    def _rows(self, span: Span) -> str:
        return f"rows {span.start} to {span.stop - 1}{_files_of(self.source)}"

    def _mark(self, number: int) -> Path:
        """A file with one byte for each worker that has begun with a span and not come to its end."""
        return self.engine.folder / f"begun-{self.call}-{number}"

    def end(self) -> None:
        for future in self._futures.values():
            future.cancel()
        for number, n_sent in self._sent.items():
            if n_sent:
                forget(self._mark(number))
        if isinstance(self.told, Path):
            forget(self.told)


def _files_of(source: RowSource) -> str:
    held = [column.rows if makes_rows(column) else column for column in source.columns.values() if not is_dask(column)]
    parts = [file_part(column.data if is_sparse(column) else column) for column in held]
    files = sorted({part.path for part in parts if part is not None})
    return f" of {', '.join(files[:3])}" if files else ""


_TOLD: dict[str, Any] = {}  # what this worker was told in the last passes: read once, used by all tasks
_MOST_TOLD = 2


def _what_was_told(call: str, told: bytes | Path) -> Any:
    found = _TOLD.get(call)
    if found is None:
        content = told if isinstance(told, bytes) else told.read_bytes()
        found = _TOLD[call] = pickle.loads(content)  # noqa: S301  Dask has already brought it as code to run
        for old in list(_TOLD)[:-_MOST_TOLD]:
            _TOLD.pop(old, None)
    return found


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _work(
    span: Span, state: Any, pieces: Any, mark: str, *, call: str, told: bytes | Path, folder: str
) -> tuple[Any, Any, str]:
    """What a worker does: open the rows of a span, run the task on every leaf, leave the new state in a file."""
    from distributed import get_worker

    with open(mark, "ab") as begun:
        begun.write(b".")
    try:
        task, source, shared, combine = _what_was_told(call, told)
        rows = source.rows(span.start, span.stop, pieces)
        state = state.read() if isinstance(state, Kept) else state
        with thread_limits().limit(limits=1, user_api="blas"):
            partial, new = run_span(task, rows, span.leaves, shared, state, combine)
        return partial, None if new is None else filed(Path(folder), new), get_worker().address
    finally:  # but not where the worker is killed
        forget(Path(mark))


def is_client(value: Any) -> bool:
    """Is this a Dask client? Answers without importing Dask."""
    return any(kind.__module__.startswith("distributed.") and kind.__name__ == "Client" for kind in type(value).__mro__)


def connect(address: str) -> Any:
    """A client for a scheduler's address."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtra("working on a cluster needs the 'dask' extra:  pip install \"manyview[dask]\"") from error
    _refuse_open(address, "scheduler")
    try:
        return Client(address, set_as_default=False, timeout=_ANSWER)
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        raise ParameterError(
            f"no Dask scheduler answers at {address}: {error}. Start one with `dask scheduler` and workers with "
            "`dask worker`, or pass a distributed.Client."
        ) from error


def refuse_open_lines(client: Any) -> None:
    """Refuse clusters whose tasks and rows would cross a network unencrypted."""
    if client.asynchronous:
        raise ParameterError("manyview.on needs a Dask client that waits (asynchronous=False).")
    scheduler = client.scheduler_info()["address"]
    _refuse_open(scheduler, "scheduler")
    workers = workers_of(client)
    if not workers:
        raise ParameterError(f"the Dask scheduler at {scheduler} has no workers. Start some with `dask worker`.")
    for address in workers:
        _refuse_open(address, "worker")


def workers_of(client: Any) -> list[str]:
    """The addresses of all workers.

    Not from `scheduler_info`: that is a cache, which the client itself overwrites every two seconds with totals alone,
    so that for a moment there seem to be no workers.
    """
    return list(client.nthreads())


def _refuse_open(address: str, what: str) -> None:
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.scheme in ("tls", "inproc"):
        return
    try:
        is_here = ipaddress.ip_address(parts.hostname or "").is_loopback
    except ValueError:
        is_here = parts.hostname == "localhost"
    if not is_here:
        raise ParameterError(
            f"the Dask {what} at {address} is on another machine, and the line to it is not encrypted: whoever can "
            "reach it can run programs there. Start the cluster with TLS (distributed.Security) and use its tls:// "
            "address."
        )
