"""What stands between the routes and the collection: readers that each see one state, and one writer at a time."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from ..errors import ReadOnly
from ..workflow.collection import Collection
from ..workflow.reading.index import Index
from ..workflow.reading.parts import Parts
from .jobs import Jobs
from .media import Previews
from .reasons import Reasons

__all__ = ["Gallery"]

Answer = TypeVar("Answer")

_READERS = 6
_WAIT = 5.0
"""Seconds that a change waits for another process to finish writing."""


class Gallery:
    """One collection, as the server sees it.

    ``read`` runs a function on one state of the collection, ``write`` on the collection open for writing; each in a
    thread of its own kind, so that looking never waits for changing, and changes come one after another.
    """

    def __init__(self, path: Path, *, wait: float = _WAIT) -> None:
        self.path = path
        self.can_write = os.access(path, os.W_OK)
        self.parts = Parts()
        self._wait = wait
        self._mine = threading.local()
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="gallery-reader")
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="gallery-writer")
        self.reasons = Reasons(path)
        self.previews = Previews()
        self.jobs = Jobs(path)

    async def read(self, answer: Callable[..., Answer], *args: Any, **options: Any) -> Answer:
        """``answer(index, ...)``, where the index is the newest state, the same for the whole call."""
        call = functools.partial(self._read, answer, *args, **options)
        return await asyncio.get_running_loop().run_in_executor(self._readers, call)

    def _read(self, answer: Callable[..., Answer], *args: Any, **options: Any) -> Answer:
        return answer(self.index(), *args, **options)

    def index(self) -> Index:
        """The newest state, for the thread that asks; it stays as it is until that thread asks again."""
        collection: Collection | None = getattr(self._mine, "collection", None)
        if collection is None:
            collection = self._mine.collection = Collection.open(self.path)
        else:
            collection.refresh()
        return Index(collection, self.parts)

    async def warm(self) -> None:
        """Open the collection for every reader and read what first questions need, so that no question waits."""
        for open_one in self._each_reader(self.index):
            await asyncio.wrap_future(open_one)
        await self.read(lambda index: (index.confidence(index.run()), index.kinds))

    def _each_reader(self, call: Callable[[], Any]) -> list[Future[Any]]:
        """Run something once in every reader's thread."""
        together = threading.Barrier(_READERS)

        def mine() -> None:
            together.wait(60)  # so that each thread takes one of these calls
            call()

        return [self._readers.submit(mine) for _ in range(_READERS)]

    async def write(self, change: Callable[..., Answer], *args: Any, **options: Any) -> Answer:
        """``change(collection, ...)`` with the collection open for writing; changes come one after another."""
        call = functools.partial(self._write, change, *args, **options)
        return await asyncio.get_running_loop().run_in_executor(self._writer, call)

    def _write(self, change: Callable[..., Answer], *args: Any, **options: Any) -> Answer:
        if not self.can_write:
            raise ReadOnly(f"you have no write access to {self.path}; the gallery is read-only.")
        with Collection.open(self.path, write=True, wait=self._wait) as collection:
            return change(collection, *args, **options)

    def close(self) -> None:
        """Close every reader's collection in its own thread, and let go of the threads."""
        self.jobs.close()
        self.previews.close()
        self._each_reader(self._close_mine)
        for pool in (self._writer, self._readers):
            pool.shutdown(wait=True)

    def _close_mine(self) -> None:
        if collection := getattr(self._mine, "collection", None):
            collection.close()
