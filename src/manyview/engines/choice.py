"""Which engine works: ``with manyview.on(...)`` for all fits inside, else the threads of this process."""

from __future__ import annotations

import re
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..blocks import DEFAULT_JOBS, Workers, effective_n_jobs, workers
from ..data.nearest import PROPOSER
from ..durable import make_folder
from ..errors import ParameterError
from .base import Engine
from .cluster import DaskEngine, connect, is_client, refuse_open_lines
from .local import LocalEngine

__all__ = ["cluster_client", "keeping_rounds", "on", "working"]

_CHOSEN: ContextVar[Callable[[Workers], Engine]] = ContextVar("manyview_engine", default=LocalEngine)
_KEEPING: ContextVar[Path | None] = ContextVar("manyview_rounds", default=None)


@contextmanager
def on(where: Any = "threads", *, n_jobs: int | None = None, folder: Any = None, memory: Any = None) -> Iterator[None]:
    """Choose where the fits inside are computed. The answers are the same everywhere.

    Parameters
    ----------
    where : "threads", "serial", "cuda", a Dask client or the address of a scheduler
        "threads" (what happens without ``on``) uses the cores of this machine, "serial" one of them. A
        ``distributed.Client``, or an address such as "tcp://127.0.0.1:8786", sends the work to the workers of a Dask
        cluster (``pip install 'manyview[dask]'``); addresses of other machines must be encrypted ("tls://...").
        "cuda" works on a graphics processor, with what has a form for it (``pip install 'manyview[gpu]'``); the rest,
        and all of it where there is none, on the threads of this machine, which a warning says.
    n_jobs : None or int
        Threads of this process, for estimators that do not say themselves; None takes all cores.
    folder : path
        Where long fits of the k-means family and of topic models keep what they need to go on: the same fit after a
        crash goes on from its last rounds, with the same result, and cleans up when it ends. Workers of a cluster find
        here what is in this process's memory, and leave the labels or shares of their rows: it must be on storage that
        all of them see under this path. Without it nothing is kept, and a cluster uses a temporary folder, for workers
        on this machine.
    memory : None, int or str, for "cuda" only
        Bytes of the device that rows may take ("60 GiB"); None takes 60 % of what is free. What does not fit goes there
        in groups, every round anew.

    Examples
    --------
    >>> import numpy as np
    >>> import manyview
    >>> model = manyview.AcceleratedKMeans(init=[[0.0], [4.0]], n_clusters=2)
    >>> with manyview.on("serial"):
    ...     model.fit_predict(np.array([[0.0], [0.1], [5.0]])).tolist()
    [0, 0, 1]
    """
    effective_n_jobs(n_jobs)  # refuses what is no number of threads
    if isinstance(where, str) and where in ("serial", "threads"):
        home = None if folder is None else Path(folder).absolute()
        with _chosen(lambda threads: LocalEngine(threads, home), 1 if where == "serial" else n_jobs):
            yield
        return
    if isinstance(where, str) and where == "cuda":
        engine, proposer = _device(memory, None if folder is None else Path(folder).absolute())
        with _chosen(engine, n_jobs, proposer):
            yield
        return
    if is_client(where) or (isinstance(where, str) and "://" in where):
        with _cluster(where, n_jobs, folder):
            yield
        return
    raise ParameterError(
        f"manyview.on takes 'threads', 'serial', 'cuda', a Dask client or the address of a scheduler; got {where!r}."
    )


def _device(memory: Any, home: Path | None) -> tuple[Callable[[Workers], Engine], Callable[..., Any] | None]:
    """What makes engines for the graphics processor, and what proposes neighbours there; threads and nothing where
    there is none, and says so."""
    from ..gpu.device import why_not
    from ..gpu.neighbours import propose_among
    from .device import DeviceEngine

    limit = None if memory is None else _bytes(memory)
    reason = why_not()
    if reason is not None:
        warnings.warn(f"no graphics processor can be used, so threads do the work: {reason}.", stacklevel=4)
        return lambda threads: LocalEngine(threads, home), None
    return lambda threads: DeviceEngine(threads, home, limit), partial(propose_among, memory=limit)


def _bytes(memory: Any) -> int:
    """A number of bytes, from a number or from words such as "60 GiB"."""
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)(i?)b?\s*", str(memory).lower())
    try:
        number = float(found[1]) if found else 0.0
    except ValueError:
        number = 0.0
    if not found or number <= 0:
        raise ParameterError(f"memory must be a number of bytes or words such as '60 GiB'; got {memory!r}.")
    return int(number * (1024 if found[3] else 1000) ** " kmgt".index(found[2] or " "))


@contextmanager
def cluster_client(where: Any) -> Iterator[Any]:
    """A Dask client, given or for the address of a scheduler, once it is known that nobody listens to the line."""
    client = connect(where) if isinstance(where, str) else where
    try:
        refuse_open_lines(client)
        yield client
    finally:
        if client is not where:
            client.close()


@contextmanager
def _cluster(where: Any, n_jobs: int | None, folder: Any) -> Iterator[None]:
    """A Dask cluster, with a folder that its workers see."""
    with ExitStack() as stack:
        client = stack.enter_context(cluster_client(where))
        lasting = None if folder is None else Path(folder).absolute()
        home = lasting or Path(stack.enter_context(TemporaryDirectory(prefix="manyview-", ignore_cleanup_errors=True)))
        make_folder(home)

        def engine(threads: Workers) -> DaskEngine:
            return DaskEngine(threads, client, home / f"work-{uuid.uuid4().hex}", lasting)

        stack.enter_context(client.as_current())  # for what Dask itself computes, as the look at chunks
        stack.enter_context(_chosen(engine, n_jobs))
        yield


@contextmanager
def _chosen(
    make: Callable[[Workers], Engine], n_jobs: int | None, proposer: Callable[..., Any] | None = None
) -> Iterator[None]:
    engine, jobs, proposes = _CHOSEN.set(make), DEFAULT_JOBS.set(n_jobs), PROPOSER.set(proposer)
    try:
        yield
    finally:
        PROPOSER.reset(proposes)
        DEFAULT_JOBS.reset(jobs)
        _CHOSEN.reset(engine)


@contextmanager
def keeping_rounds(folder: Path | None) -> Iterator[None]:
    """Long fits inside that are done in this process keep their rounds here, unless ``on`` has given a folder."""
    before = _KEEPING.set(folder)
    try:
        yield
    finally:
        _KEEPING.reset(before)


@contextmanager
def working(n_jobs: int | None) -> Iterator[Engine]:
    """The engine for the time of one fit. An estimator's own ``n_jobs`` goes before that of ``on``."""
    with workers(n_jobs) as threads:
        engine = _CHOSEN.get()(threads)
        if isinstance(engine, LocalEngine) and engine.checkpoints is None:
            engine.checkpoints = _KEEPING.get()
        try:
            yield engine
        finally:
            engine.close()
