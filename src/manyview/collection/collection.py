"""A collection: everything about a person's items in one folder on disk."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix
from ..data.tags import TagTable
from ..data.views import Views
from ..errors import ParameterError, StoreError, ViewError
from . import durable, layout
from .catalog import Catalog, damaged
from .decisions import Decisions
from .history import Entry, History
from .items import Items, NewItem
from .journal import Journal
from .living import Living
from .lock import ReaderLock, WriterLock
from .restore import catch_up
from .runs import Run, Runs
from .segments import Segments
from .sweep import registered_files, remove_retired, sweep
from .tagging import Tagging
from .thumbs import Thumbs
from .whereabouts import Whereabouts
from .writes import Writes

if TYPE_CHECKING:
    from ..ingest.report import Progress, Report
    from ..workflow.add import Added
    from ..workflow.write_back import Applied

__all__ = ["Collection"]

_PATIENCE = 600.0
"""Seconds a finished computation waits for another writer before it gives up what it found."""


class Collection:
    """Items, tags, views, runs and history of one collection, in a folder.

    Make one with ``Collection.create(path, source)``, open one with ``Collection.open(path)``. Opened for reading it
    shows one state, the newest at the time; ``refresh`` moves on to what was written since. Opened for writing it
    holds the collection's lock until it is closed, and every change is on disk, whole, when its call returns. Use it
    in a ``with`` block, or call ``close``.

    Memory: matrices are mapped from disk where a view lies in one segment (``merge_view``); the item list and the
    tags cost about 300 bytes an item.

    >>> import numpy as np, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> np.savez(f"{folder.name}/six.npz", looks=np.arange(12.0).reshape(6, 2))
    >>> with Collection.create(f"{folder.name}/six.manyview", f"{folder.name}/six.npz") as six:
    ...     len(six.items), six.views()
    (6, Views(6 items: looks 2))
    >>> folder.cleanup()
    """

    def __init__(self, path: str | os.PathLike[str], *, write: bool = False, wait: float = 10.0) -> None:
        self.path = Path(path)
        self._writer: WriterLock | None = None
        self._reader: ReaderLock | None = None
        if not (self.path / layout.CATALOG).is_file():
            if (self.path / layout.ANSWERS).is_file():
                raise damaged(self.path, f"{layout.CATALOG} is not there")
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
        self.runs = Runs(self._catalog)
        self.living = Living(self._catalog)
        self.history = History(self._catalog)
        self.thumbs = Thumbs(self._catalog)
        self.tagging = Tagging(self._catalog)
        self.writes = Writes(self._catalog)
        self.whereabouts = Whereabouts(self._catalog)
        self.decisions = Decisions(self._catalog, self.history, self.tagging)
        self.segments = Segments(self._catalog)
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
    def create(
        cls, path: str | os.PathLike[str], source: Any, *, progress: Progress | None = None, **options: Any
    ) -> Collection:
        """Make a collection from a folder, a table or feature files, and read its items.

        ``options`` say which column of a table is what: ``id``, ``image``, ``text``, ``tags``, with ``tag_sep`` between
        tags; ``root``, the folder image paths start from; ``views``, name -> columns of numbers; ``features``, name ->
        .npy file. ``progress`` is called with the number of files done, the number in all, and the last name.

        If an earlier ``create`` of the same source was stopped, this one goes on where it ended. The collection comes
        back open for writing; ``last_report`` says what was found.
        """
        from ..ingest import Source

        described = Source.of(source, **options)  # a wrong source or option is refused before anything is made
        folder = Path(path)
        _make_catalog(folder)
        collection = cls(folder, write=True)
        try:
            known = collection.items.sources()
            if any(entry["path"] != described.path or entry["complete"] for entry in known):
                raise StoreError(
                    f"{folder} holds a collection already, made of {known[0]['path']}. Choose another name, or add to "
                    "it: Collection.open(path, write=True).read(source)."
                )
            collection.read(described, progress=progress)
        except BaseException:
            collection.close()
            raise
        return collection

    @classmethod
    def open(cls, path: str | os.PathLike[str], write: bool = False, *, wait: float = 10.0) -> Collection:
        """Open a collection: for reading, or for writing with its lock, for which this waits up to ``wait`` seconds."""
        return cls(path, write=write, wait=wait)

    last_report: Report | None = None
    """What the last ``read`` found."""

    def read(self, source: Any, *, progress: Progress | None = None, **options: Any) -> Report:
        """Read a source, new or known: what is new, changed or gone since is noticed. Options as in ``create``."""
        from ..ingest import read_source

        self.last_report = read_source(self, source, progress=progress, **options)
        return self.last_report

    # --- what it holds ---

    @property
    def tags(self) -> TagTable:
        """The tags of the items: what files and tables say, and what people decided. One row per item, in order."""
        return self.tagging.table(self.items.ids)

    @property
    def hierarchy(self) -> list[tuple[str, ...]]:
        """Hierarchical keywords found in files, each from the most general word; they add no tag."""
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
        with self._catalog.transaction():
            numbers = self.items.put(source_id, items)
            self.tagging.put({number: item.tags for number, item in zip(numbers, items, strict=True)})
            self.tagging.put_paths({number: item.paths for number, item in zip(numbers, items, strict=True)})
        return numbers

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

    def fit(self, method: str | None = None, n_clusters: int | None = None, **options: Any) -> Run:
        """Group the items, name the groups, and keep the result as a run, which comes back.

        ``method`` is one of those of ``manyview fit``: "consensus" where none is named; the number of clusters is found
        where none is given. ``options``: ``views``, ``annotations``, ``seed``, ``n_jobs``, as there. Needs a collection
        that is open for writing; default views that are missing are computed first.
        """
        from ..workflow.fit import fit_collection

        if not self.is_writable:
            raise StoreError(f"{self.path} is open for reading; a fit needs Collection.open(path, write=True).")
        return fit_collection(self, method, n_clusters, **options).run

    def add(self, source: Any = None, **options: Any) -> Added:
        """Put what is new in a source, or in all that are known, into the clusters that are there, without a refit.

        ``options`` are those of ``create``, and ``n_jobs``. What came back says where everything went: ``sentence``,
        ``changes``. Stopped at any moment, the same call finishes it.
        """
        from ..workflow.add import add_items

        return add_items(self, source, **options)

    def edit(self, action: str, *what: Any, **options: Any) -> Entry:
        """A person's word on clusters, kept across refits; one entry of the history, which ``undo`` takes back.

        ``action`` and what it takes: "rename" (cluster, name), "merge" (clusters, ``into``), "split" (cluster, n),
        "move" (items, cluster or None for a new one, ``name``), "pin" (cluster, True or False), "link" (item, item,
        together: True, False, or None for neither).
        """
        from ..workflow import edits

        known = ("rename", "merge", "split", "move", "pin", "link")
        if action not in known:
            raise ParameterError(f"there is no edit {action!r}; there are {', '.join(known)}.")
        done: Entry = getattr(edits, action)(self, *what, **options)
        return done

    def suggest(self, **options: Any) -> Run:
        """Propose the tags that items lack and keep them as a run, which comes back; ``runs.proposals()`` lists them.

        ``options``: ``top`` (proposals per item), ``completeness``, ``seed``, ``n_jobs``, as for ``manyview suggest``.
        Needs a collection that is open for writing; default views that are missing are computed first.
        """
        from ..workflow.suggest import suggest_tags

        if not self.is_writable:
            raise StoreError(f"{self.path} is open for reading; proposals need Collection.open(path, write=True).")
        return suggest_tags(self, **options).run

    def accept(self, pairs: Iterable[tuple[int, str]] | None = None, **options: Any) -> Entry:
        """Say yes to proposals: pairs of item number and word, or those that ``min_score``, ``tag`` or ``item`` choose.

        ``who`` and ``why`` are kept. One entry of the history, undone as a whole.
        """
        from ..workflow.decide import accept

        return accept(self, pairs, **options)

    def reject(self, pairs: Iterable[tuple[int, str]] | None = None, **options: Any) -> Entry:
        """Say no to proposals, for good: as ``accept``."""
        from ..workflow.decide import reject

        return reject(self, pairs, **options)

    def apply(self, to: str = "xmp", **options: Any) -> Applied:
        """Write accepted tags to sidecars ("xmp"), a table ("csv", "json") or the files ("embedded").

        ``options``: ``dry_run``, ``naming`` ("full" or "stem"), ``output`` for tables, as in ``manyview apply``. What
        was written, and what could not be, comes back; ``undo`` takes it back.
        """
        from ..workflow.write_back import apply_tags

        return apply_tags(self, to, **options)

    def undo(self, entry: int | Entry | None = None, *, who: str | None = None) -> Entry:
        """Take back an entry of the history, of any kind; the last one where none is named."""
        from ..workflow.undo import undo

        return undo(self, entry, who=who)

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

    def __enter__(self) -> Collection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Collection({str(self.path)!r}, {len(self.items)} items, views: {', '.join(self.view_names) or 'none'})"


def _make_catalog(folder: Path) -> None:
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
