"""What is kept of a view: the files of its segments, how they are written, and what its extractor learned."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import durable
from ..arrays import Matrix, is_sparse
from ..blocks import row_blocks
from ..errors import ViewError
from . import layout
from .catalog import Catalog, as_json

__all__ = [
    "PARTS",
    "Segment",
    "ViewInfo",
    "put_state",
    "read_state",
    "room_for",
    "same_rows",
    "segment_files",
    "write_segment",
]

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


def room_for(shape: tuple[int, int], dtype: np.dtype[Any], in_memory: int | None = None) -> NDArray[Any]:
    """Memory for rows, or a file without a name where they would fill it."""
    size = shape[0] * shape[1] * dtype.itemsize
    if size <= (_IN_MEMORY if in_memory is None else in_memory):
        return np.empty(shape, dtype=dtype)
    with tempfile.TemporaryFile(prefix="manyview-") as file:  # unlinked: the map alone keeps it
        file.truncate(size)
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


def same_rows(first: Matrix, second: Matrix) -> bool:
    """Do two matrices hold the same numbers? Read in blocks."""
    if first.shape != second.shape or first.dtype != second.dtype or is_sparse(first) != is_sparse(second):
        return False
    if is_sparse(first):
        return all(np.array_equal(getattr(first, part), getattr(second, part)) for part in PARTS)
    blocks = row_blocks(first.shape[0], first.shape[1] * first.itemsize)
    return all(np.array_equal(first[block], second[block]) for block in blocks)


# --- what an extractor learned: arrays as .npy bytes, everything else as JSON ---


def put_state(catalog: Catalog, view_id: int, state: Mapping[str, Any]) -> None:
    """Keep the state of a view's extractor in place of an earlier one."""
    with catalog.transaction():
        catalog.run("DELETE FROM view_state WHERE view_id = ?", (view_id,))
        for key, value in state.items():
            is_array = isinstance(value, np.ndarray)
            held = _as_npy(key, value) if is_array else as_json(value).encode()
            catalog.run("INSERT INTO view_state VALUES (?, ?, ?, ?)", (view_id, key, int(is_array), held))


def read_state(catalog: Catalog, view_id: int) -> dict[str, Any]:
    """What ``put_state`` kept."""
    rows = catalog.rows("SELECT name, is_array, value FROM view_state WHERE view_id = ? ORDER BY name", (view_id,))
    return {
        key: np.lib.format.read_array(io.BytesIO(held), allow_pickle=False) if is_array else json.loads(held)
        for key, is_array, held in rows
    }


def _as_npy(key: str, value: Any) -> bytes:
    array = np.ascontiguousarray(value)
    if array.dtype.hasobject:
        raise ViewError(f"{key!r} is an array of Python objects, which is not kept; turn words into a list.")
    return durable.npy_header(array.shape, array.dtype) + array.tobytes()
