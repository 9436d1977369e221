"""Small real collections that ship with the package, each with its notice."""

from __future__ import annotations

import csv
import os
import zipfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from ..data.views import Views
from ..errors import StoreError

__all__ = ["Dataset", "load_handwritten", "unpack_emoji", "unpack_photographs"]


@dataclass(frozen=True)
class Dataset:
    """A collection with known classes: for examples and benchmarks, never for fitting."""

    views: Views
    y: NDArray[np.int64]
    class_names: tuple[str, ...]
    notice: str


@overload
def load_handwritten(*, return_X_y: Literal[False] = ...) -> Dataset: ...
@overload
def load_handwritten(*, return_X_y: Literal[True]) -> tuple[Views, NDArray[np.int64]]: ...
def load_handwritten(*, return_X_y: bool = False) -> Any:
    """The handwritten numerals: 2,000 digits in six views, ten classes (UCI Multiple Features, CC BY 4.0).

    >>> from manyview.datasets import load_handwritten
    >>> load_handwritten().views
    Views(2000 items: fou 76, fac 216, kar 64, pix 240, zer 47, mor 6)
    """
    folder = files(__package__) / "handwritten"
    with (folder / "numerals.npz").open("rb") as file, np.load(file, allow_pickle=False) as stored:
        views = Views({key[len("view_") :]: stored[key] for key in stored.files if key.startswith("view_")})
        y = stored["y"].astype(np.int64)
    if return_X_y:
        return views, y
    notice = (folder / "NOTICE.md").read_text(encoding="utf-8")
    return Dataset(views, y, tuple(str(digit) for digit in range(10)), notice)


def unpack_emoji(folder: str | os.PathLike[str]) -> list[dict[str, str]]:
    """Write the emoji pictures and their table into a folder; the rows of the table.

    1,849 small pictures with tags written by people (Noto Color Emoji, Unicode CLDR; ``NOTICE.md`` comes along). The
    table ``items.csv`` has the columns file (below ``images``), name, tags, tags_de, group and subgroup; the last two
    are for judging clusters. Files that are there already are left alone, if they are as
    long as they should be; a file of somebody else in their place is refused.
    """
    return _unpack("emoji", Path(folder), "items.csv")


def unpack_photographs(folder: str | os.PathLike[str]) -> list[dict[str, str]]:
    """Write the photographs and the table of their tags into a folder; the rows of the table.

    228 photographs by many people, in the public domain or under a Creative Commons licence (``NOTICE.md`` comes along
    and names each). The files are below ``photographs``; half of them carry keywords, the others none. The table
    ``tags.csv`` has the columns file, tags (of all, for judging what is proposed) and is_tagged (1 where the file says
    them itself). Files that are there already are left alone, if they are as long as they should be; a file of
    somebody else in their place is refused.
    """
    return _unpack("photographs", Path(folder), "tags.csv")


def _put(path: Path, content: bytes) -> None:
    """Write a file where none is, or only the beginning of the same one: a file of somebody else is not replaced."""
    if path.exists() and not content.startswith(path.read_bytes()):
        raise StoreError(
            f"{path} is there already, and is not what would be unpacked: it would be lost. Choose another folder, or "
            "move that file away first."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def _unpack(name: str, target: Path, table: str) -> list[dict[str, str]]:
    source = files(__package__) / name
    with (source / f"{name}.zip").open("rb") as file, zipfile.ZipFile(file) as packed:
        for entry in packed.infolist():
            path = target / entry.filename
            if not entry.is_dir() and (not path.exists() or path.stat().st_size != entry.file_size):
                _put(path, packed.read(entry))
    if not (target / "NOTICE.md").exists():
        _put(target / "NOTICE.md", (source / "NOTICE.md").read_bytes())
    with (target / table).open(encoding="utf-8", newline="") as rows:
        return list(csv.DictReader(rows))
