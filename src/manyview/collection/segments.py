"""Feature rows on disk: segments that are written once, memory-mapped, and never changed.

A segment holds rows of one view for some items. Adding items adds segments; ``merge`` writes one new segment in place
of many, so that the view can be mapped as it lies. Nothing counts before the catalogue names it.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import durable
from ..arrays import Matrix, as_matrix, compressed_fault, is_sparse
from ..blocks import row_blocks
from ..data.checks import missing_rows
from ..errors import StoreError, ViewError
from . import layout
from .catalog import Catalog, as_json
from .segment_files import (
    PARTS,
    Segment,
    ViewInfo,
    put_state,
    read_state,
    room_for,
    same_rows,
    segment_files,
    write_segment,
)
from .sorted_numbers import among, distinct, read_numbers

__all__ = ["GIVEN", "Segments"]

GIVEN = ("file", "table")
"""Versions of views that came with the source; all others were computed."""


class Segments:
    """The views of a collection, as files."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def names(self) -> tuple[str, ...]:
        """The views there are, in the order in which they came."""
        return tuple(row[0] for row in self._catalog.rows("SELECT name FROM views ORDER BY id"))

    def info(self, name: str) -> ViewInfo:
        """What is known of a view."""
        row = self._catalog.row(
            "SELECT id, name, version, is_sparse, dtype, n_columns, columns, settings FROM views WHERE name = ?",
            (name,),
        )
        if row is None:
            there = ", ".join(map(repr, self.names())) or "none"
            raise ViewError(f"{self._catalog.root} has no view {name!r}; it has {there}.")
        number, name, version, sparse, dtype, width, columns, settings = row
        return ViewInfo(
            number,
            name,
            version,
            bool(sparse),
            np.dtype(dtype),
            width,
            None if columns is None else tuple(json.loads(columns)),
            json.loads(settings),
        )

    # --- writing ---

    def add(
        self,
        name: str,
        version: str,
        ids: NDArray[np.int64],
        rows: Matrix,
        columns: Sequence[str] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> int:
        """Write rows for some items and register them; how many were written.

        A dense row of nothing but NaN says that its item lacks the view, and is not stored. Another version than the
        one that is there takes its place, with all its rows. What is there already is left as it is.
        """
        matrix = as_matrix(name, rows)
        ids = np.asarray(ids, dtype=np.int64)
        if ids.shape != (matrix.shape[0],):
            raise ViewError(
                f"view {name!r} has {matrix.shape[0]} rows for {ids.size} items; it needs one row per item."
            )
        if (np.diff(ids) <= 0).any():
            raise ViewError(f"view {name!r}: items must come in ascending order, each once.")
        missing = missing_rows(name, matrix)
        if matrix.shape[1] == 0:
            raise ViewError(f"view {name!r} has no columns.")
        token = secrets.token_hex(8)
        kept = ids[~missing]
        if kept.size == ids.size and self._holds(name, version, ids, matrix):
            return int(kept.size)
        with self._catalog.transaction():
            info = self._declare(name, version, is_sparse(matrix), matrix.dtype, matrix.shape[1], columns, settings)
            self._catalog.run_many(
                "INSERT OR IGNORE INTO lacking_rows (view_id, item_id) VALUES (?, ?)",
                ((info.id, item) for item in ids[missing].tolist()),
            )
            if kept.size:
                folder = layout.view_folder(self._catalog.root, info.id, name)
                durable.make_folder(folder)
                write_segment(folder, token, matrix, missing)
                n_values = int(matrix.nnz) if info.is_sparse else int(kept.size) * matrix.shape[1]
                self._drop(info, kept)
                self._register(info.id, token, kept, n_values)
        return int(kept.size)

    def _holds(self, name: str, version: str, ids: NDArray[np.int64], matrix: Matrix) -> bool:
        """Is the view one segment with these very rows? A damaged one is not, and is written again."""
        if name not in self.names() or (info := self.info(name)).version != version:
            return False
        if (info.is_sparse, info.dtype, info.n_columns) != (is_sparse(matrix), matrix.dtype, matrix.shape[1]):
            return False
        segments = self._segments(info)
        if len(segments) != 1 or not np.array_equal(segments[0].items, ids):
            return False
        try:
            stored = self._csr(info, segments[0]) if info.is_sparse else self._open(info, segments[0], "")
        except StoreError:
            return False
        return same_rows(stored, matrix)

    def _register(self, view_id: int, token: str, items: NDArray[np.int64], n_values: int) -> None:
        self._catalog.run(
            "INSERT INTO segments (view_id, name, n_rows, n_values, items) VALUES (?, ?, ?, ?, ?)",
            (view_id, token, items.size, n_values, items.astype("<i8").tobytes()),
        )

    def _declare(
        self,
        name: str,
        version: str,
        sparse: bool,
        dtype: np.dtype[Any],
        n_columns: int,
        columns: Sequence[str] | None,
        settings: Mapping[str, Any] | None,
    ) -> ViewInfo:
        if columns is not None and len(columns) != n_columns:
            raise ViewError(f"view {name!r} has {n_columns} columns but {len(columns)} names for them.")
        if name in self.names():
            info = self.info(name)
            if info.version != version:
                self.remove(name)
            elif (info.is_sparse, info.dtype, info.n_columns) != (sparse, dtype, n_columns):
                raise ViewError(
                    f"view {name!r} holds {_form(info.is_sparse, info.dtype, info.n_columns)}, but the new rows are "
                    f"{_form(sparse, dtype, n_columns)}. Give the view another version to replace it."
                )
            else:
                return info
        self._catalog.run(
            "INSERT INTO views (name, version, is_sparse, dtype, n_columns, columns, settings) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                name,
                version,
                int(sparse),
                dtype.str,
                n_columns,
                None if columns is None else as_json(list(columns)),
                as_json(dict(settings or {})),
            ),
        )
        return self.info(name)

    def remove(self, name: str) -> None:
        """Take a view away; its files go once nobody reads them."""
        info = self.info(name)
        with self._catalog.transaction():
            self._retire(info, self._segments(info))
            self._catalog.run("DELETE FROM view_state WHERE view_id = ?", (info.id,))
            self._catalog.run("DELETE FROM lacking_rows WHERE view_id = ?", (info.id,))
            self._catalog.run("DELETE FROM views WHERE id = ?", (info.id,))

    def _retire(self, info: ViewInfo, segments: Iterable[Segment]) -> None:
        for segment in segments:
            for path in segment_files(self._catalog.root, info, segment.name):
                relative = path.relative_to(self._catalog.root).as_posix()
                self._catalog.run("INSERT OR REPLACE INTO retired (path) VALUES (?)", (relative,))
            self._catalog.run("DELETE FROM dropped_rows WHERE segment_id = ?", (segment.id,))
            self._catalog.run("DELETE FROM segments WHERE id = ?", (segment.id,))

    def drop_rows(self, ids: Iterable[int]) -> None:
        """The rows of these items no longer count, in any view: their files have changed."""
        items = distinct(np.fromiter(ids, dtype=np.int64))
        with self._catalog.transaction():
            for name in self.names():
                self._drop(self.info(name), items)

    def _drop(self, info: ViewInfo, items: NDArray[np.int64]) -> None:
        """Rows of these items, ascending, no longer count; a segment of which none is left goes."""
        lacking = read_numbers(self._catalog, "SELECT item_id AS n FROM lacking_rows WHERE view_id = ?", (info.id,))
        self._catalog.run_many(
            "DELETE FROM lacking_rows WHERE view_id = ? AND item_id = ?",
            ((info.id, item) for item in lacking[among(lacking, items)].tolist()),
        )
        for segment in self._segments(info):
            held = segment.items >= 0
            hit = held & among(segment.items, items)
            if hit.any() and np.array_equal(hit, held):
                self._retire(info, [segment])
            elif hit.any():
                self._catalog.run_many(
                    "INSERT OR IGNORE INTO dropped_rows (segment_id, item_id) VALUES (?, ?)",
                    ((segment.id, item) for item in segment.items[hit].tolist()),
                )

    def merge(self, name: str) -> None:
        """Make one segment of all, so that the view is mapped as it lies. Nothing happens where it is one already."""
        info = self.info(name)
        segments = self._segments(info)
        items = self._ids_here()
        held = np.isin(items, np.concatenate([segment.items for segment in segments] or [items[:0]]))
        if not held.any() or (len(segments) == 1 and np.array_equal(segments[0].items, items[held])):
            return
        kept = items[held]
        token = secrets.token_hex(8)
        folder = layout.view_folder(self._catalog.root, info.id, name)
        durable.make_folder(folder)
        with self._catalog.transaction():
            if info.is_sparse:
                matrix = self._stack_sparse(info, segments, kept)
                write_segment(folder, token, matrix, np.zeros(kept.size, dtype=bool))
                n_values = int(matrix.nnz)
            else:
                rows = self._dense(info, segments, kept)
                durable.write_array(folder / f"{token}.npy", rows)
                n_values = int(rows.size)
            self._retire(info, segments)
            self._register(info.id, token, kept, n_values)

    def put_state(self, name: str, state: Mapping[str, Any]) -> None:
        """Keep what an extractor learned: arrays, and whatever JSON can hold."""
        put_state(self._catalog, self.info(name).id, state)

    def state(self, name: str) -> dict[str, Any]:
        """What ``put_state`` kept."""
        return read_state(self._catalog, self.info(name).id)

    # --- reading ---

    def missing(self, name: str, version: str) -> NDArray[np.int64]:
        """The items that have no row of this version yet: what is left to compute."""
        items = self._ids_here()
        if name not in self.names() or (info := self.info(name)).version != version:
            return items
        lacking = self._catalog.rows("SELECT item_id FROM lacking_rows WHERE view_id = ?", (info.id,))
        looked_at = [np.array([row[0] for row in lacking], dtype=np.int64)]
        looked_at += [segment.items for segment in self._segments(info)]
        return np.setdiff1d(items, np.concatenate(looked_at))

    def matrix(self, name: str) -> tuple[Matrix, NDArray[np.bool_]]:
        """All rows of a view in the order of the items, and which items have one.

        One segment that holds every item is mapped as it lies. Otherwise rows are gathered, in memory or, where that
        would take more than 256 MB, in a temporary file that vanishes with the matrix; an item without a row gets NaN
        (dense) or an empty row (sparse).
        """
        info = self.info(name)
        segments = self._segments(info)
        items = self._ids_here()
        if info.is_sparse:
            matrix = self._stack_sparse(info, segments, items)
        elif len(segments) == 1 and np.array_equal(segments[0].items, items):
            matrix = self._open(info, segments[0], "")
        else:
            matrix = self._dense(info, segments, items)
        held = np.concatenate([segment.items for segment in segments] or [items[:0]])
        return matrix, np.isin(items, held)

    def _ids_here(self) -> NDArray[np.int64]:
        return distinct(read_numbers(self._catalog, "SELECT id AS n FROM items WHERE state = 'here'"))

    def mark(self, name: str) -> bytes:
        """Bytes that are others when any row of a view is."""
        held = self._segments(self.info(name))
        return b"".join(segment.name.encode() + segment.items.tobytes() for segment in held)

    def _segments(self, info: ViewInfo) -> list[Segment]:
        rows = self._catalog.rows(
            "SELECT id, name, n_values, items FROM segments WHERE view_id = ? ORDER BY id", (info.id,)
        )
        dropped: dict[int, list[int]] = {}
        for segment_id, item in self._catalog.rows("SELECT segment_id, item_id FROM dropped_rows"):
            dropped.setdefault(segment_id, []).append(item)
        found = []
        for number, name, n_values, held in rows:
            items = _unpack(held)
            if number in dropped:
                items[np.isin(items, dropped[number])] = -1
            found.append(Segment(number, name, n_values, items))
        return found

    def _dense(self, info: ViewInfo, segments: list[Segment], items: NDArray[np.int64]) -> NDArray[Any]:
        matrix = room_for((items.size, info.n_columns), info.dtype)
        matrix[:] = np.nan
        for segment in segments:
            rows = self._open(info, segment, "")
            here = np.isin(segment.items, items)
            places = np.searchsorted(items, segment.items)
            for block in row_blocks(segment.items.size, info.n_columns * info.dtype.itemsize):
                taken = here[block]
                matrix[places[block][taken]] = rows[block][taken]
        matrix.flags.writeable = False
        return matrix

    def _stack_sparse(self, info: ViewInfo, segments: list[Segment], items: NDArray[np.int64]) -> Any:
        from scipy.sparse import csr_matrix, vstack

        parts = [self._csr(info, segment) for segment in segments]
        if len(parts) == 1 and np.array_equal(segments[0].items, items):
            return parts[0]
        parts.append(csr_matrix((1, info.n_columns), dtype=info.dtype))  # the row of items that have none
        stacked = vstack(parts, format="csr", dtype=info.dtype)
        held = np.concatenate([segment.items for segment in segments] or [items[:0]])
        places = np.full(items.size, stacked.shape[0] - 1)
        here = np.isin(held, items)
        places[np.searchsorted(items, held[here])] = np.flatnonzero(here)
        return stacked[places]

    def _csr(self, info: ViewInfo, segment: Segment) -> Any:
        from scipy.sparse import csr_matrix

        data, indices, indptr = (self._open(info, segment, part) for part in PARTS)
        fault = compressed_fault(data, indices, indptr, (segment.items.size, info.n_columns))
        if not fault:
            matrix = csr_matrix((segment.items.size, info.n_columns), dtype=info.dtype)
            alike = np.result_type(indices, indptr)
            matrix.data, matrix.indices, matrix.indptr = data, np.asarray(indices, alike), np.asarray(indptr, alike)
            if matrix.has_canonical_format:
                return matrix
            fault = "the columns of a row are not in order"
        raise StoreError(
            f"segment {segment.name} of view {info.name!r} in {self._catalog.root} is damaged: {fault}. "
            f"{self._remedy(info)}"
        )

    def _open(self, info: ViewInfo, segment: Segment, part: str) -> NDArray[Any]:
        """Map one file, after checking that it holds exactly what was registered."""
        folder = layout.view_folder(self._catalog.root, info.id, info.name)
        path = folder / f"{segment.name}{'.' * bool(part)}{part}.npy"
        shape: tuple[int, ...] = {
            "": (segment.items.size, info.n_columns),
            "indptr": (segment.items.size + 1,),
        }.get(part, (segment.n_values,))
        try:
            array: NDArray[Any]
            if not all(shape):  # an empty file cannot be mapped
                array = np.load(path, allow_pickle=False)
            else:
                array = np.lib.format.open_memmap(path, mode="r")
        except Exception as error:  # NumPy's reader tokenizes the header as Python: it may raise anything
            raise StoreError(f"{path} cannot be read: {str(error)[:200]}. {self._remedy(info)}") from error
        dtype = {"": info.dtype, "data": info.dtype}.get(part)
        if array.shape != shape or (dtype is not None and array.dtype != dtype) or not array.flags.c_contiguous:
            raise StoreError(
                f"{path} holds {array.dtype} {array.shape}, but {shape} was registered. {self._remedy(info)}"
            )
        return array

    def _remedy(self, info: ViewInfo) -> str:
        """The command that makes rows again that cannot be read."""
        root = quote(str(self._catalog.root))
        if info.version not in GIVEN:
            return f"`manyview features {root} --view {quote(info.name)}` computes it again."
        row = self._catalog.row("SELECT path FROM sources WHERE kind <> 'folder' ORDER BY id")
        source = "SOURCE" if row is None else quote(os.fsdecode(row[0]))
        return f"It came with the source: `manyview init {source} -o {root}`, with its options, reads it again."


def _unpack(held: bytes) -> NDArray[np.int64]:
    return np.frombuffer(held, dtype="<i8").astype(np.int64)


def _form(sparse: bool, dtype: np.dtype[Any], n_columns: int) -> str:
    return f"{'sparse' if sparse else 'dense'} {dtype} rows of {n_columns} columns"
