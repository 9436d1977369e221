"""Begin with a collection: make it, finish a beginning that was stopped, or bring it up to date with its source."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..collection.layout import CATALOG
from ..ingest import Source
from ..types import Progress
from .collection import Collection

__all__ = ["start_collection"]


def start_collection(
    path: str | os.PathLike[str], source: Any, *, progress: Progress | None = None, **options: Any
) -> Collection:
    """Read a source into a collection, new or made of the same source before; it comes back open for writing.

    Doing it twice is doing it once: files that are new, changed or gone since are noticed, the rest stays as it is.
    Options are those of ``Collection.create``, which refuses a collection that was made of something else.
    """
    described = Source.of(source, **options)
    if _made_of(Path(path), described.path):
        collection = Collection.open(path, write=True)
        try:
            collection.read(described, progress=progress)
        except BaseException:
            collection.close()
            raise
        return collection
    return Collection.create(path, described, progress=progress)


def _made_of(path: Path, source: str) -> bool:
    """Is there a collection that has this source, read to the end?"""
    if not (path / CATALOG).is_file() or not (path / CATALOG).stat().st_size:
        return False
    with Collection.open(path, write=True) as collection:  # for writing: an older format is brought up first
        return any(entry["path"] == source and entry["complete"] for entry in collection.items.sources())
