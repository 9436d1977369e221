"""Which files a collection should have, which it has, and the removal of the rest."""

from __future__ import annotations

from pathlib import Path

from ... import durable
from ...errors import StoreError
from .. import layout
from ..catalog import Catalog
from ..segment_files import segment_files
from ..segments import Segments
from ..writes import Writes, remove_temporary, temporary
from .lock import no_readers

__all__ = ["present_files", "registered_files", "remove_retired", "retired_files", "sweep"]


def registered_files(catalog: Catalog) -> set[str]:
    """Every file and run folder the catalogue names, relative to the collection."""
    segments = Segments(catalog)
    names = {f"{layout.THUMBS}/{row[0]}" for row in catalog.rows("SELECT name FROM packs")}
    names |= {f"{layout.RUNS}/{row[0]}" for row in catalog.rows("SELECT model FROM runs WHERE model IS NOT NULL")}
    undo = catalog.rows("SELECT DISTINCT batch_id, kept FROM writes WHERE kept IS NOT NULL AND state <> 'undone'")
    names |= {f"{layout.UNDO}/{batch}/{name}" for batch, name in undo}
    for name in segments.names():
        info = segments.info(name)
        for (segment,) in catalog.rows("SELECT name FROM segments WHERE view_id = ?", (info.id,)):
            names |= {path.relative_to(catalog.root).as_posix() for path in segment_files(catalog.root, info, segment)}
    return names


def present_files(root: Path) -> set[str]:
    """Every file of views, thumbnails and undo, and every run folder, that stands there."""
    found = set()
    nested = (*_folders(root / layout.VIEWS), *_folders(root / layout.UNDO))
    for folder in (root / layout.THUMBS, root / layout.RUNS, *nested):
        if folder.is_dir():
            found |= {entry.relative_to(root).as_posix() for entry in folder.iterdir()}
    return found


def retired_files(catalog: Catalog) -> set[str]:
    """Files of older states that somebody may still read."""
    return {row[0] for row in catalog.rows("SELECT path FROM retired")}


def sweep(catalog: Catalog) -> None:
    """Remove what an interrupted write left behind, and old files that nobody reads any more."""
    for name in sorted(present_files(catalog.root) - registered_files(catalog) - retired_files(catalog)):
        _remove(catalog.root / name)
    remove_retired(catalog)
    _remove_temporaries(catalog)
    for folder in (*_folders(catalog.root / layout.VIEWS), *_folders(catalog.root / layout.UNDO)):
        if not any(folder.iterdir()):
            durable.remove_tree(folder)


def _remove_temporaries(catalog: Catalog) -> None:
    """What a writing of tags that was stopped left beside somebody's files."""
    writes = Writes(catalog)
    batch = writes.open_batch()
    if batch is None:
        return
    for file in writes.files(batch, "planned"):
        try:
            remove_temporary(temporary(batch, file.number, file.path))
        except StoreError:  # a disk that is away, or may not be written now
            pass


def remove_retired(catalog: Catalog) -> None:
    """Remove files of older states, unless somebody is reading just now."""
    if no_readers(catalog.root / layout.READERS) and (names := retired_files(catalog)):
        for name in sorted(names):
            _remove(catalog.root / name)
        catalog.run("DELETE FROM retired")


def _folders(folder: Path) -> list[Path]:
    return [entry for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        durable.remove_tree(path)
    else:
        durable.remove(path)
