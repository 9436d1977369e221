"""Views of Dask arrays as files, written by those who hold the chunks: for what reads rows in any order, or often."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays import holds_sparse
from ..blocks import BLOCK_BYTES
from ..data.source import Rows, csr_of, source_of, view_column
from ..data.views import Views
from ..durable import as_raw, private
from .base import Engine, cut, total

__all__ = ["views_in_files"]

_SECONDS_PER_BYTE = 1e-9  # to load, send and write it, about


def views_in_files(views: Views, engine: Engine) -> Views:
    """The same views, Dask arrays memory-mapped from files that go with the engine; others as they are."""
    if not views.in_chunks:
        return views
    source = engine.place(source_of(views, np.ones(views.n_items)))
    row_bytes = sum(source.row_bytes[view_column(name)] for name in views.in_chunks)
    plan = cut(views.n_items, row_bytes, BLOCK_BYTES, _SECONDS_PER_BYTE * row_bytes)
    sparse = tuple(view_column(name) for name in views.in_chunks if holds_sparse(views[name]))
    (held,), _ = total(engine.map(_count_leaf, source, plan, sparse, None, _behind), _behind)
    starts = [span.start for span in plan.spans]
    targets: dict[str, _Dense | _Sparse] = {}
    for name in views.in_chunks:
        column, matrix = view_column(name), views[name]
        if column in sparse:
            counts = np.array([part[column] for part in held], dtype=np.int64)
            targets[column] = _new_sparse(engine.room(), matrix, starts, counts)
        else:
            targets[column] = _new_dense(engine.room(), matrix.shape, matrix.dtype)
    for _ in engine.map(_write_leaf, source, plan, targets):
        pass
    opened = {name: targets[view_column(name)].open() for name in views.in_chunks}
    matrices = tuple(opened.get(name, matrix) for name, matrix in views.items())
    return Views._trusted(views.names, matrices, views.mask, views.ids)


class _Dense(NamedTuple):
    """A file for an array in C order."""

    path: str
    shape: tuple[int, ...]
    dtype: str

    def put(self, rows: Rows, leaf: slice, matrix: Any) -> None:
        self.put_at(rows.start + leaf.start, matrix[leaf])

    def put_at(self, start: int, values: Any) -> None:
        row = np.dtype(self.dtype).itemsize * int(np.prod(self.shape[1:], dtype=np.int64))
        content = as_raw(np.ascontiguousarray(values, dtype=self.dtype))
        handle = os.open(self.path, os.O_WRONLY)
        try:
            done = 0
            while done < content.nbytes:
                done += os.pwrite(handle, content[done:], start * row + done)
        finally:
            os.close(handle)

    def open(self) -> Any:
        if 0 in self.shape:
            return np.empty(self.shape, dtype=self.dtype)
        return np.memmap(self.path, self.dtype, "r", 0, self.shape)


class _Sparse(NamedTuple):
    """Files for the parts of a CSR matrix, and where the values of each span begin."""

    data: _Dense
    indices: _Dense
    indptr: _Dense
    shape: tuple[int, int]
    offsets: dict[int, int]

    def put(self, rows: Rows, leaf: slice, matrix: Any) -> None:
        first, last = int(matrix.indptr[leaf.start]), int(matrix.indptr[leaf.stop])
        offset = self.offsets[rows.start]
        self.data.put_at(offset + first, matrix.data[first:last])
        self.indices.put_at(offset + first, matrix.indices[first:last])
        ends = matrix.indptr[leaf.start + 1 : leaf.stop + 1].astype(np.int64) + offset
        self.indptr.put_at(rows.start + leaf.start + 1, ends)

    def open(self) -> Any:
        return csr_of(self.data.open(), self.indices.open(), self.indptr.open(), self.shape)


def _new_dense(folder: Path, shape: tuple[int, ...], dtype: Any) -> _Dense:
    path = folder / f"{uuid.uuid4().hex}.rows"
    made = _Dense(str(path), tuple(int(n) for n in shape), np.dtype(dtype).str)
    with open(path, "wb", opener=private) as file:
        file.truncate(int(np.prod(made.shape, dtype=np.int64)) * np.dtype(dtype).itemsize)
    return made


def _new_sparse(folder: Path, matrix: Any, starts: list[int], counts: Any) -> _Sparse:
    ends, shape = np.cumsum(counts), (int(matrix.shape[0]), int(matrix.shape[1]))
    whole = int(ends[-1])
    index = np.int32 if max(whole, *shape) < 2**31 else np.int64
    data, indices = _new_dense(folder, (whole,), matrix.dtype), _new_dense(folder, (whole,), index)
    indptr = _new_dense(folder, (shape[0] + 1,), index)
    return _Sparse(data, indices, indptr, shape, dict(zip(starts, (ends - counts).tolist(), strict=True)))


def _behind(whole: tuple[list[Any]], part: tuple[list[Any]]) -> tuple[list[Any]]:
    return (whole[0] + part[0],)


def _count_leaf(rows: Rows, leaf: slice, columns: tuple[str, ...], _: Any) -> tuple[tuple[list[Any]], None]:
    """How many values the CSR matrices of a span hold, said once for each span."""
    if leaf.start:
        return ([],), None
    return ([{column: int(rows[column].nnz) for column in columns}],), None


def _write_leaf(rows: Rows, leaf: slice, targets: dict[str, _Dense | _Sparse], _: Any) -> tuple[tuple[()], None]:
    """Put rows where they belong. Done twice, it writes the same bytes."""
    for column, target in targets.items():
        target.put(rows, leaf, rows[column])
    return (), None
