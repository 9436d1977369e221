"""A copy of a collection that is whole, taken while others go on writing: the backup we recommend."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from .. import durable
from ..collection.store import Store
from ..errors import StoreError
from ..types import Progress

__all__ = ["Copied", "copy_collection"]


@dataclass(frozen=True)
class Copied:
    """What was copied."""

    folder: Path
    n_items: int
    n_bytes: int


def copy_collection(
    path: str | os.PathLike[str], target: str | os.PathLike[str], *, progress: Progress | None = None
) -> Copied:
    """Copy one state of a collection, the newest when this begins, to a folder that is not there yet.

    Others may read and write meanwhile. The copy appears whole or not at all, with modes for its owner alone, and is a
    collection like any other; originals are not part of it. Reads and writes every file once.
    """
    folder = Path(target)
    if folder.exists():
        raise StoreError(f"{folder} exists already; nothing was written. Choose another name.")
    if folder.resolve().is_relative_to(Path(path).resolve()):
        raise StoreError(f"{folder} is inside {path}, which would then hold its own copy; choose another place.")
    if not folder.absolute().parent.is_dir():
        raise StoreError(f"{folder.parent} does not exist; make it first, or choose another place.")
    made = folder.with_name(f".{folder.name[:100]}.{secrets.token_hex(4)}{durable.TEMPORARY}")
    with Store.open(path) as collection:  # the files of this state stay as long as it is open
        try:
            durable.make_folder(made)
            n_bytes = _copy(collection, made, progress)
            Store.open(made, write=True).close()  # proves that it opens, and writes its own file of answers
            durable.disk.rename(made, folder)
            durable.sync_folders([folder.absolute().parent])
        except BaseException:
            if made.exists():
                shutil.rmtree(made, ignore_errors=True)
            raise
        return Copied(folder, len(collection.items), n_bytes)


def _copy(collection: Store, made: Path, progress: Progress | None) -> int:
    n_bytes = collection.copy_catalog(made)
    files = collection.files()
    for done, name in enumerate(files):
        if progress is not None:
            progress("copying", done, len(files))
        source, target = collection.path / name, made / name
        for parent in reversed(target.relative_to(made).parents):
            durable.make_folder(made / parent)
        with durable.store_errors(target), source.open("rb") as file:
            durable.write_file(target, _pieces(file))
        n_bytes += source.stat().st_size
    if progress is not None:
        progress("copying", len(files), len(files))
    return n_bytes


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    while piece := file.read(2**20):
        yield piece
