"""Make the catalogue of a collection anew, from its sources and from what people said."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import durable
from ..collection import layout
from ..collection.catalog import Catalog
from ..collection.safety.answers import read_lines
from ..collection.safety.check import damage_of
from ..collection.safety.lock import WriterLock
from ..collection.safety.restore import Restored, restore, salvage
from ..collection.store import Store
from ..errors import ManyviewError, StoreError
from ..figures import counted
from ..ingest.source import read_source
from ..types import Progress
from .sources import known_source

__all__ = ["Repaired", "damage_of", "repair"]


@dataclass
class Repaired:
    """What was done."""

    why: str
    """What was wrong with the catalogue; "" where nothing was, and nothing was done."""
    aside: str = ""
    """Where the damaged one is now."""
    restored: Restored = field(default_factory=Restored)
    read: list[str] = field(default_factory=list)
    """What was found in each source."""
    unread: list[str] = field(default_factory=list)
    """Sources that could not be read."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def sentences(self) -> list[str]:
        """What there is to say, one line each."""
        if not self.why:
            return ["the catalogue is whole; there is nothing to repair"]
        found = self.restored
        lines = [
            f"the catalogue was damaged: {self.why}",
            f"it is set aside in {self.aside}, with the kept versions of files that `apply` had written",
            f"brought back: {counted(found.n_decisions, 'answer')} about tags, "
            f"{counted(found.n_named, 'name')} of clusters, {counted(found.n_placed, 'place')} of items, "
            f"{counted(found.n_links, 'link')}, {counted(found.n_entries, 'entry', 'entries')} of the history",
            *(f"read again: {line}" for line in self.read),
            *(f"not read: {line}" for line in self.unread),
            *(f"not brought back: {line}" for line in found.left_out),
            "not brought back: views, runs, proposals and maps (manyview fit and suggest compute them again), and the "
            "way back from files that were written",
        ]
        if not found.sources:
            lines.append("no source is known any more: add it with `manyview add`, and the answers find their items")
        return lines


def repair(path: str | os.PathLike[str], *, progress: Progress | None = None) -> Repaired:
    """Look a catalogue over; where it is damaged, set it aside and make a new one. What is whole is left alone.

    Everything people said comes back from the file of answers, with the numbers it had. The sources are read again;
    one that is away can be read later. Stopped at any moment, the same call does it again.
    """
    folder = Path(path)
    if not folder.is_dir() or not ({layout.CATALOG, layout.ANSWERS} & set(os.listdir(folder))):
        raise StoreError(f"{folder} is not a manyview collection: it has neither a catalogue nor answers.")
    Catalog.refuse_newer(folder)
    _settle(folder)
    lock = WriterLock(folder / layout.LOCK)
    lock.acquire(10.0)
    try:
        done = Repaired(damage_of(folder))
        if not done.why:
            return done
        _make_anew(folder, done)
    finally:
        lock.release()
    with Store.open(folder, write=True) as collection:
        for entry in collection.items.sources():
            try:
                done.read.append(str(read_source(collection, known_source(entry), progress=progress)))
            except ManyviewError as error:
                done.unread.append(str(error))
    return done


def _settle(folder: Path) -> None:
    """Let catalogue and answers agree first, where the catalogue lets itself be opened: a crash is not damage."""
    try:
        Store.open(folder, write=True).close()
    except (ManyviewError, sqlite3.Error, ValueError):
        pass


def _make_anew(folder: Path, done: Repaired) -> None:
    """The new catalogue is whole before it takes the place of the old one, which is kept."""
    top = folder / layout.ASIDE
    older = sorted(top.glob(f"*/{layout.CATALOG}"), reverse=True)
    lines = read_lines(folder / layout.ANSWERS)
    last = max((int(line["entry"]["id"]) for line in lines if "entry" in line), default=0)
    broken = next((file for file in (folder / layout.CATALOG, *older) if file.is_file() and file.stat().st_size), None)
    if broken is not None:
        saved = list(salvage(broken, last))
        has_sources = any(line.get("sources") for line in lines)
        lines += [line for line in saved if "entry" in line or (not has_sources and line["sources"])]
    target = top / datetime.now(UTC).strftime("%Y-%m-%d %H-%M-%S.%f")
    for part in (top, target, target / "new"):
        durable.make_folder(part)
    catalog = Catalog(target / "new", write=True)
    try:
        done.restored = restore(catalog, lines)
    finally:
        catalog.close()
    for name in (layout.CATALOG, f"{layout.CATALOG}-wal", f"{layout.CATALOG}-shm", f"{layout.CATALOG}-journal"):
        if (folder / name).exists():
            durable.disk.rename(folder / name, target / name)
    if (folder / layout.UNDO).exists():
        durable.disk.rename(folder / layout.UNDO, target / layout.UNDO)
    durable.disk.rename(target / "new" / layout.CATALOG, folder / layout.CATALOG)
    durable.sync_folders([folder, target])
    durable.remove_tree(target / "new")
    done.aside = str(target)
