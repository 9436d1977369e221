"""The engine of a Dask cluster: one task for each span, on whichever worker is free.

Rows are read by the workers: from files under their own paths, or from the chunks of Dask arrays. What is in the
client's memory is written to the engine's folder first. States stay in that folder, one file for each span and pass,
under names that are never used twice; the client only hands on the names. So a worker may die at any moment: its tasks
run again elsewhere from the same files, and give the same bits.
"""

from __future__ import annotations

import ipaddress
import pickle
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from ..arrays import is_dask, is_sparse, makes_rows
from ..blocks import Workers, thread_limits
from ..data.source import RowSource, csr_of, file_part, pieces_of
from ..durable import forget, make_folder, write_array
from ..errors import MissingExtra, ParameterError, WorkerError
from .base import Combine, Kept, Plan, Span, Task, add_up, filed, run_span

__all__ = ["DaskEngine", "connect", "is_client", "refuse_open_lines"]

_ANSWER = 10.0  # seconds in which a scheduler answers
_LOOK = 5.0  # seconds between two looks at who is there
_ALONE = 120.0  # so long a fit waits for workers when the last has gone


class DaskEngine:
    """Runs the tasks of spans on the workers of a Dask cluster."""

    def __init__(self, threads: Workers, client: Any, folder: Path, checkpoints: Path | None = None) -> None:
        self.threads, self.client, self.folder, self.checkpoints = threads, client, folder, checkpoints
        self._where: dict[tuple[str, int], str] = {}  # which worker had a span last, and may have kept something

    def within(self, folder: Path) -> DaskEngine:
        return DaskEngine(self.threads, self.client, folder, self.checkpoints)

    def place(self, source: RowSource) -> RowSource:
        """The same rows, all in files or in chunks."""
        home = self.folder / f"rows-{source.key}"
        columns = {name: self._filed(home, column) for name, column in source.columns.items()}
        return RowSource(columns, source.key, source.row_bytes)

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
        told = pickle.dumps((task, source, shared, combine), protocol=pickle.HIGHEST_PROTOCOL)
        call = uuid.uuid4().hex
        futures = []
        for number, span in enumerate(plan.spans):
            state = None if states is None else states[number]
            futures.append(self._submit(f"manyview-{task.__name__}-{call}-{number}", told, source, span, state))
        try:
            for number, span in enumerate(plan.spans):
                partial, state, where = self._result(futures[number], source, span)
                futures[number] = None
                self._where[source.key, span.start] = where
                yield partial, state
        finally:
            for future in futures:
                if future is not None:
                    future.cancel()

    def _submit(self, key: str, told: bytes, source: RowSource, span: Span, state: Any) -> Any:
        chunked = {name: column for name, column in source.columns.items() if is_dask(column)}
        where = self._where.get((source.key, span.start))
        soft = {"workers": [where], "allow_other_workers": True} if where is not None else {}
        given = (told, span, state, str(self.folder))
        if not chunked:
            return self.client.submit(_work, *given, key=key, pure=False, **soft)
        from dask import delayed

        pieces = {name: pieces_of(column, span.start, span.stop) for name, column in chunked.items()}
        return self.client.compute(delayed(_work, pure=False)(*given, pieces, dask_key_name=key), **soft)

    def _result(self, future: Any, source: RowSource, span: Span) -> Any:
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        try:
            return self._waited(future)
        except KilledWorker as error:
            files = sorted({part.path for c in source.columns.values() if (part := _part_of(c)) is not None})
            listed = f" of {', '.join(files[:3])}" if files else ""
            raise WorkerError(
                f"rows {span.start} to {span.stop - 1}{listed} killed {error.args[2] + 1} workers, the last "
                f"{error.args[1].address}. Look at its log, most often for want of memory; what was finished is kept "
                f"in {self.folder}."
            ) from error
        except (CommClosedError, OSError, TimeoutError) as error:
            raise WorkerError(
                f"the Dask scheduler was lost ({error}). Start it again; what was finished is kept in {self.folder}."
            ) from error

    def _waited(self, future: Any) -> Any:
        """The result, unless all workers have gone for long: Dask would wait for new ones for ever."""
        n_empty = 0
        while True:
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                if future.done():
                    raise
                n_empty = 0 if self.client.scheduler_info(n_workers=-1)["workers"] else n_empty + 1
                if n_empty * _LOOK >= _ALONE:
                    raise WorkerError(
                        f"the Dask scheduler has had no workers for {_ALONE:.0f} s. Start some with `dask worker`; "
                        f"what was finished is kept in {self.folder}."
                    ) from None

    def keep(self, states: Sequence[Any]) -> list[Any]:
        return [s if isinstance(s, Kept) else filed(self.folder, np.asarray(s)) for s in states]

    def read(self, state: Any) -> Any:
        return state.read() if isinstance(state, Kept) else state

    def let_go(self, states: Sequence[Any]) -> None:
        for state in states:
            if isinstance(state, Kept):
                forget(Path(state.path))


def _part_of(column: Any) -> Any:
    column = column.rows if makes_rows(column) else column
    return None if is_dask(column) else file_part(column.data if is_sparse(column) else column)


def _work(told: bytes, span: Span, state: Any, folder: str, pieces: Any = None) -> tuple[Any, Any, str]:
    """What a worker does: open the rows of a span, run the task on every leaf, leave the new state in a file."""
    from distributed import get_worker

    task, source, shared, combine = pickle.loads(told)  # noqa: S301  Dask has already brought it as code to run
    rows = source.rows(span.start, span.stop, pieces)
    state = state.read() if isinstance(state, Kept) else state
    with thread_limits().limit(limits=1, user_api="blas"):
        partial, new = run_span(task, rows, span.leaves, shared, state, combine)
    return partial, None if new is None else filed(Path(folder), new), get_worker().address


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
    known = client.scheduler_info(n_workers=-1)
    _refuse_open(known["address"], "scheduler")
    if not known["workers"]:
        raise ParameterError(f"the Dask scheduler at {known['address']} has no workers. Start some with `dask worker`.")
    for address in known["workers"]:
        _refuse_open(address, "worker")


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
