"""What a collection holds, in one folder on disk."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import durable
from ..arrays import Matrix
from ..data.tags import TagTable
from ..data.views import Views
from ..errors import ParameterError, ReadOnly, StoreError, ViewError
from ..files import may_replace
from . import layout
from .arrivals import Content, contents, put_items
from .catalog import Catalog, damaged
from .decisions import Decisions
from .history import Entry, History
from .items import Items, NewItem
from .living import Living
from .maps import Maps
from .reading import Reading
from .runs import Run, Runs
from .safety.journal import Journal
from .safety.lock import ReaderLock, WriterLock
from .safety.restore import catch_up
from .safety.sweep import registered_files, remove_retired, sweep
from .segments import Segments
from .tagging import Tagging
from .thumbs import Thumbs
from .vocabulary import Vocabulary
from .whereabouts import Whereabouts
from .writes import Writes

__all__ = ["Store", "make_catalog"]

_PATIENCE = 600.0
"""Seconds a finished computation waits for another writer before it gives up what it found."""


class Store:
    """Items, tags, views, runs and history of one collection, in a folder; ``Collection`` adds what is done with them.

    Opened for reading it shows one state, the newest at the time; ``refresh`` moves on to what was written since.
    Opened for writing it holds the collection's lock until it is closed, and every change is on disk, whole, when its
    call returns.
    """

    def __init__(self, path: str | os.PathLike[str], *, write: bool = False, wait: float = 10.0) -> None:
        self.path = Path(path)
        self._writer: WriterLock | None = None
        self._reader: ReaderLock | None = None
        if not (self.path / layout.CATALOG).is_file():
            if (self.path / layout.ANSWERS).is_file():
                raise damaged(self.path, f"{layout.CATALOG} does not exist")
            if not self.path.exists():
                raise StoreError(f"{self.path} does not exist. Make it with `manyview init`, or Collection.create.")
            raise StoreError(
                f"{self.path} is not a manyview collection (it has no {layout.CATALOG}). Make one with `manyview init` "
                "or Collection.create."
            )
        self._start(write, wait)

    def _start(self, write: bool, wait: float) -> None:
        try:
            if write:
                Catalog.refuse_newer(self.path)
                self._writer = WriterLock(self.path / layout.LOCK)
                self._writer.acquire(wait)
            else:
                self._reader = ReaderLock(self.path / layout.READERS)
            self._catalog = Catalog(self.path, write=write)
        except BaseException:
            self._release()
            raise
        self.items = Items(self._catalog)
        self.tagging = Tagging(self._catalog)
        self.runs = Runs(self._catalog, self.tagging)
        self.living = Living(self._catalog)
        self.history = History(self._catalog)
        self.thumbs = Thumbs(self._catalog)
        self.vocabulary = Vocabulary(self._catalog)
        self.writes = Writes(self._catalog)
        self.whereabouts = Whereabouts(self._catalog)
        self.decisions = Decisions(self._catalog, self.history, self.tagging)
        self.segments = Segments(self._catalog)
        self.maps = Maps(self._catalog)
        self.reading = Reading(self._catalog)
        if write:
            try:
                self.journal = Journal(self.path / layout.JOURNAL)
                if self.path.stat().st_mode & 0o077:  # made by an older version, or opened up since
                    durable.make_private(self.path)
                for name in layout.FOLDERS:
                    durable.make_folder(self.path / name)
                sweep(self._catalog)
                catch_up(self._catalog)
            except BaseException:
                self.close()
                raise

    @classmethod
    def open(cls, path: str | os.PathLike[str], write: bool = False, *, wait: float = 10.0) -> Self:
        """Open a collection: for reading, or for writing with its lock, for which this waits up to ``wait`` seconds."""
        return cls(path, write=write, wait=wait)

    # --- what it holds ---

    @property
    def tags(self) -> TagTable:
        """The tags of the items: what files and tables say, and what people decided. One row per item, in order."""
        return self.tagging.table(self.items.ids)

    @property
    def hierarchy(self) -> list[tuple[str, ...]]:
        """Hierarchical keywords, each from the most general word, as files have them and as people arranged them."""
        return self.tagging.paths()

    @property
    def view_names(self) -> tuple[str, ...]:
        """The views that were added so far."""
        return self.segments.names()

    def views(self, names: Iterable[str] | None = None) -> Views:
        """The views, or those named, as one ``Views``: one row per item, in the order of ``items``.

        Matrices are memory-mapped where they can be. Items without a row lack the view, as its mask says. ``ids`` are
        the items' numbers.
        """
        chosen = (names,) if isinstance(names, str) else self.view_names if names is None else tuple(names)
        if not chosen:
            raise ViewError(f"{self.path} has no views yet. Compute some with `manyview features {self.path}`.")
        found = [self.segments.matrix(name) for name in chosen]
        mask = np.column_stack([held for _, held in found])
        return Views._trusted(chosen, tuple(matrix for matrix, _ in found), mask, self.items.ids)

    # --- adding ---

    def transaction(self) -> AbstractContextManager[None]:
        """A ``with`` block whose changes happen together or not at all."""
        return self._catalog.transaction()

    @contextmanager
    def unlocked(self) -> Iterator[None]:
        """A ``with`` block for long computations between reading and keeping: others may write meanwhile.

        The lock is given back and taken again at the end, after waiting for whoever has it. Files that were there stay,
        as for a reader. What was read before may have changed after; numbers of items and tags still mean the same.
        """
        if self._writer is None:
            yield
            return
        reader = ReaderLock(self.path / layout.READERS)
        self._catalog.write = False  # nothing is changed by accident while another may be writing
        self._writer.release()
        try:
            yield
        finally:
            try:
                self._writer.acquire(_PATIENCE)
                self._catalog.write = True
            finally:
                reader.release()

    def put_items(self, source_id: int, items: Sequence[NewItem]) -> list[int]:
        """Add items with their tags, or renew what is known of them; their numbers."""
        return put_items(self._catalog, self.tagging, source_id, items)

    def contents(self, source_id: int) -> dict[int, Content]:
        """What a source said of each of its items when it was last read, by number."""
        return contents(self._catalog, source_id)

    def add_view(
        self,
        name: str,
        version: str,
        rows: Matrix,
        ids: NDArray[np.int64] | None = None,
        *,
        columns: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> int:
        """Keep feature rows of a view, for all items or for those in ``ids`` (ascending); how many were kept.

        The first call makes the view. Later ones with the same version add rows as a new segment, and a row that was
        there gives way to the new one. Another version replaces the view. A dense row of NaN says that the item lacks
        the view. ``missing_rows`` tells which items still have no row.
        """
        return self.segments.add(name, version, self.items.ids if ids is None else ids, rows, columns, settings)

    def missing_rows(self, name: str, version: str) -> NDArray[np.int64]:
        """The items that this version of a view has no row for yet."""
        return self.segments.missing(name, version)

    def merge_view(self, name: str) -> None:
        """Put a view's segments together as one, so that it is memory-mapped as it lies."""
        self.segments.merge(name)
        remove_retired(self._catalog)

    def remove_view(self, name: str) -> None:
        """Take a view away."""
        self.segments.remove(name)
        remove_retired(self._catalog)

    def save_run(self, method: str, labels: Any, ids: NDArray[np.int64] | None = None, **details: Any) -> Run:
        """Keep one fit: its labels (one per item of ``ids``, or per item), and what is known of it.

        ``details``: ``settings``, ``views`` (name -> version), ``figures``, ``seconds``, ``confidence`` per item,
        ``model`` (an estimator of manyview), and per label ``identities`` (the cluster it continues; new ones where
        absent), ``names`` and ``profiles``. -1 is the label of items in no cluster.
        """
        return self.runs.save(method, self.items.ids if ids is None else ids, labels, **details)

    def decide(
        self,
        pairs: Iterable[tuple[int, str]],
        answer: bool,
        *,
        who: str | None = None,
        why: str | None = None,
    ) -> Entry:
        """Write down a person's yes or no to tags of items: pairs of item number and word. One entry of the history."""
        return self.decisions.put(pairs, answer, who=who, why=why)

    # --- copying ---

    def files(self) -> list[str]:
        """Every file that belongs to the state this shows, below its folder, but for the catalogue and the answers."""
        found = []
        for name in sorted(registered_files(self._catalog)):
            top = self.path / name
            parts = sorted(top.iterdir()) if top.is_dir() else [top]
            found += [part.relative_to(self.path).as_posix() for part in parts]
        return found

    def copy_catalog(self, folder: Path) -> int:
        """Write the catalogue of this very state into another folder; its size."""
        return self._catalog.copy(folder / layout.CATALOG)

    # --- opening and closing ---

    def refresh(self) -> None:
        """Show the newest state. A collection opened for writing shows it anyway."""
        if self._reader is not None:
            self._catalog.refresh()

    def check_writable(self, what: str) -> None:
        """Refuse where this was opened for reading; ``what`` is what was to be done."""
        if not self.is_writable:
            raise ReadOnly(f"{self.path} is open for reading; {what} needs Collection.open(path, write=True).")

    def check_output(self, path: str | os.PathLike[str], is_ours: Callable[[bytes], bool] | None = None) -> None:
        """Refuse to write a list or a page over what the collection was made of, or into its own folder.

        Nor over any other file, unless it is empty or ``is_ours`` knows its first bytes: an earlier list or page of the
        same kind. Whoever writes a folder looks into it himself.
        """
        full = Path(path).resolve()
        if full.is_relative_to(self.path.resolve()):
            raise ParameterError(
                f"{path} is inside the collection {self.path}; choose another place. Nothing was written."
            )
        if any(Path(one["path"]).resolve() == full for one in self.items.sources()) or self.items.at(full):
            raise ParameterError(
                f"{path} is a file that {self.path} was made of, and would be lost. Nothing was written; "
                "choose another name."
            )
        if is_ours is None:
            return
        durable.check_output_place(Path(path))
        if not may_replace(full, is_ours):
            raise ParameterError(
                f"{path} is there already, and is not an earlier list or page of this kind: it would be lost. "
                "Nothing was written; choose another name, or move that file away first."
            )

    @property
    def is_writable(self) -> bool:
        """Was it opened for writing?"""
        return self._catalog.write

    def close(self) -> None:
        """Let go of the files and of the lock. Closing twice is fine."""
        if journal := getattr(self, "journal", None):
            journal.finish()
        if catalog := getattr(self, "_catalog", None):
            catalog.close()
        self._release()

    def _release(self) -> None:
        for lock in (self._writer, self._reader):
            if lock is not None:
                lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        views = ", ".join(self.view_names) or "none"
        return f"{type(self).__name__}({str(self.path)!r}, {len(self.items)} items, views: {views})"


def make_catalog(folder: Path) -> None:
    """An empty catalogue in a folder that is new, empty, or left by a ``create`` that was stopped."""
    if folder.exists():
        if not folder.is_dir():
            raise StoreError(f"{folder} exists and is a file; nothing was written. Choose another name.")
        strange = sorted(set(os.listdir(folder)) - layout.NAMES)
        if strange:
            raise StoreError(
                f"{folder} exists and holds {strange[0]!r}, which is not part of a collection; nothing was written. "
                "Choose another name."
            )
    else:
        if not folder.parent.is_dir():
            raise StoreError(f"{folder.parent} does not exist; make it first, or choose another place.")
        durable.make_folder(folder)
    Catalog.refuse_newer(folder)
    lock = WriterLock(folder / layout.LOCK)
    lock.acquire(10.0)
    try:
        Catalog(folder, write=True).close()
    finally:
        lock.release()
