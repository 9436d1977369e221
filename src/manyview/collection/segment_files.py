"""The files of a view's segments: what they are called, how they are written, and room to gather their rows in."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import durable
from ..arrays import Matrix, is_sparse
from ..blocks import row_blocks
from . import layout

__all__ = ["PARTS", "Segment", "ViewInfo", "room_for", "segment_files", "write_segment"]

PARTS = ("data", "indices", "indptr")
_IN_MEMORY = 256 * 2**20


@dataclass(frozen=True)
class ViewInfo:
    """What the catalogue says of a view."""

    id: int
    name: str
    version: str
    is_sparse: bool
    dtype: np.dtype[Any]
    n_columns: int
    columns: tuple[str, ...] | None
    settings: dict[str, Any]


@dataclass(frozen=True)
class Segment:
    """Rows of a view that lie in one file, or three where it is sparse."""

    id: int
    name: str
    n_values: int
    items: NDArray[np.int64]
    """Item of each row; -1 where the row no longer counts."""


def segment_files(root: Path, info: ViewInfo, name: str) -> list[Path]:
    """The files of a segment."""
    folder = layout.view_folder(root, info.id, info.name)
    return [folder / f"{name}.{part}.npy" for part in PARTS] if info.is_sparse else [folder / f"{name}.npy"]


def write_segment(folder: Path, token: str, matrix: Matrix, missing: NDArray[np.bool_]) -> None:
    """Write rows that are there, and see that they reach the disk."""
    if is_sparse(matrix):
        for part in PARTS:
            durable.write_array(folder / f"{token}.{part}.npy", getattr(matrix, part))
        return
    kept = ~missing
    header = durable.npy_header((int(kept.sum()), matrix.shape[1]), matrix.dtype)
    blocks = row_blocks(matrix.shape[0], matrix.shape[1] * matrix.itemsize)

    def pieces() -> Iterator[bytes | memoryview]:
        yield header
        for block in blocks:
            part = np.ascontiguousarray(matrix[block][kept[block]])
            yield durable.as_raw(part)

    durable.write_file(folder / f"{token}.npy", pieces())


def room_for(shape: tuple[int, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Memory for rows, or a file without a name where they would fill it."""
    size = shape[0] * shape[1] * dtype.itemsize
    if size <= _IN_MEMORY:
        return np.empty(shape, dtype=dtype)
    with tempfile.TemporaryFile(prefix="manyview-") as file:  # unlinked: the map alone keeps it
        file.truncate(size)
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)
