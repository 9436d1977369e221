"""Which engine works: ``with manyview.on(...)`` for all fits inside, else the threads of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..blocks import DEFAULT_JOBS, Workers, effective_n_jobs, workers
from ..durable import make_folder
from ..errors import ParameterError
from .base import Engine
from .cluster import DaskEngine, connect, is_client, refuse_open_lines
from .local import LocalEngine

__all__ = ["on", "working"]

_CHOSEN: ContextVar[Callable[[Workers], Engine]] = ContextVar("manyview_engine", default=LocalEngine)


@contextmanager
def on(where: Any = "threads", *, n_jobs: int | None = None, folder: Any = None) -> Iterator[None]:
    """Choose where the fits inside are computed. The answers are the same everywhere.

    Parameters
    ----------
    where : "threads", "serial", a Dask client or the address of a scheduler
        "threads" (what happens without ``on``) uses the cores of this machine, "serial" one of them. A
        ``distributed.Client``, or an address such as "tcp://127.0.0.1:8786", sends the work to the workers of a Dask
        cluster (``pip install 'manyview[dask]'``); addresses of other machines must be encrypted ("tls://...").
    n_jobs : None or int
        Threads of this process, for estimators that do not say themselves; None takes all cores.
    folder : path, for Dask only
        Where workers find what is in this process's memory, and leave the labels of their rows: on storage that all of
        them see under this path. A temporary folder by default, for workers on this machine.

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
        with _chosen(LocalEngine, 1 if where == "serial" else n_jobs):
            yield
        return
    if is_client(where) or (isinstance(where, str) and "://" in where):
        with _cluster(where, n_jobs, folder):
            yield
        return
    raise ParameterError(
        f"manyview.on takes 'threads', 'serial', a Dask client or the address of a scheduler; got {where!r}."
    )


@contextmanager
def _cluster(where: Any, n_jobs: int | None, folder: Any) -> Iterator[None]:
    """A Dask cluster, with a folder that its workers see."""
    client = connect(where) if isinstance(where, str) else where
    try:
        refuse_open_lines(client)
        with ExitStack() as stack:
            if folder is None:
                folder = stack.enter_context(TemporaryDirectory(prefix="manyview-", ignore_cleanup_errors=True))
            home = Path(folder).absolute()
            make_folder(home)
            stack.enter_context(client.as_current())  # for what Dask itself computes, as the look at chunks
            stack.enter_context(_chosen(lambda threads: DaskEngine(threads, client, home), n_jobs))
            yield
    finally:
        if client is not where:
            client.close()


@contextmanager
def _chosen(make: Callable[[Workers], Engine], n_jobs: int | None) -> Iterator[None]:
    engine, jobs = _CHOSEN.set(make), DEFAULT_JOBS.set(n_jobs)
    try:
        yield
    finally:
        DEFAULT_JOBS.reset(jobs)
        _CHOSEN.reset(engine)


@contextmanager
def working(n_jobs: int | None) -> Iterator[Engine]:
    """The engine for the time of one fit. An estimator's own ``n_jobs`` goes before that of ``on``."""
    with workers(n_jobs) as threads:
        yield _CHOSEN.get()(threads)
