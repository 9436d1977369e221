"""The rows of all views, wherever they are: in memory, in files, or in the chunks of Dask arrays.

A ``RowSource`` holds columns: matrices and vectors with one row per item. ``source.rows(start, stop)`` opens a part of
them. A source pickles as the paths of its files (memory-mapped arrays are never read for that), so it can be sent to
other processes; columns in memory go along as they are, and the chunks of a Dask array are sent by whoever runs the
task.

``Rows`` are some consecutive rows, ready to be read. ``rows.kept`` survives from one call to the next in the same
process and may be lost at any time: what is kept there must be computable again, to the last bit, from the rows.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, holds_sparse, is_dask, is_sparse, makes_rows
from ..errors import ViewError
from .chunks import held_chunks

__all__ = ["FilePart", "Pieces", "RowSource", "Rows", "csr_of", "file_part", "source_of", "stack", "view_column"]

_MOST_OPEN = 512  # spans whose kept results a process remembers; the oldest go first
_LOOKED_AT = 512  # values of a file at each of three places, to see whether it is still the one that was mapped


class Rows:
    """Consecutive rows of all columns, from ``start`` on."""

    def __init__(self, start: int, columns: Mapping[str, Any], kept: dict[Any, Any]) -> None:
        self.start = start
        self.columns = dict(columns)
        self.kept = kept
        self.made: dict[Any, Any] = {}
        """What was made of these columns and may refer to them; gone with them."""

    def __getitem__(self, name: str) -> Any:
        column = self.columns[name]
        if isinstance(column, Pieces):
            column = self.columns[name] = column.whole()
        return column

    def some(self, name: str, rows: slice) -> Any:
        """Some rows of one column: of chunks no more is copied than must be."""
        return self.columns[name][rows]

    def part(self, rows: slice) -> Rows:
        """Some of these rows, with nothing kept."""
        return Rows(self.start + rows.start, {name: column[rows] for name, column in self.columns.items()}, {})

    def alone(self, leaf: slice) -> tuple[Rows, slice]:
        """The rows of a leaf by themselves, with what is kept for them, and where the leaf is among them: all."""
        found = self.part(leaf)
        found.kept = self.kept.setdefault(("leaf", leaf.start, leaf.stop), {})
        return found, slice(0, leaf.stop - leaf.start)

    def in_place(self, leaf: slice) -> tuple[Rows, slice]:
        """A leaf, and rows that are read where they lie: its own alone where all would have to be put together."""
        in_pieces = any(isinstance(column, Pieces) for column in self.columns.values())
        return self.alone(leaf) if in_pieces else (self, leaf)

    def taken(self, which: NDArray[np.intp]) -> Rows:
        """Chosen rows, in order, with nothing kept."""
        return Rows(0, {name: self[name][which] for name in self.columns}, {})


class Pieces:
    """Consecutive rows of one matrix in several parts, which are put together where somebody asks for it."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts
        self._edges = np.cumsum([0, *(part.shape[0] for part in parts)])
        self._whole: Matrix | None = None
        self._turn = Lock()  # threads that ask at once get one copy

    def whole(self) -> Matrix:
        with self._turn:
            if self._whole is None:
                self._whole = stack(self.parts)
            return self._whole

    def __getitem__(self, rows: slice) -> Matrix:
        """Rows from a start to a stop: where they lie if that is in one part."""
        first = int(np.searchsorted(self._edges, rows.start, side="right")) - 1
        found: list[Any] = []
        while first < len(self.parts) and (self._edges[first] < rows.stop or not found):
            low = int(self._edges[first])
            found.append(self.parts[first][max(0, rows.start - low) : rows.stop - low])
            first += 1
        return stack(found)


def view_column(name: str) -> str:
    """The name of a view's column in a source."""
    return f"view {name}"


def source_of(views: Any, weight: NDArray[np.float64]) -> RowSource:
    """The rows of a ``Views``: its matrices, its "mask", and the "weight" of each item."""
    columns = {view_column(name): matrix for name, matrix in views.items()}
    sizes = {}
    for name, matrix in views.items():
        held, size = views.values_per_row(name), matrix.dtype.itemsize
        sizes[view_column(name)] = 12 * held + 16 if holds_sparse(matrix) else held * size
    return RowSource(columns | {"mask": views.mask, "weight": weight}, row_bytes=sizes)


class FilePart(NamedTuple):
    """Where an array lies in a file, in C order."""

    path: str
    dtype: str
    offset: int
    shape: tuple[int, ...]
    size: int  # of the file, and when it was last changed: another one is not taken for it
    changed: int

    def open(self) -> NDArray[Any]:
        try:
            status = Path(self.path).stat()
        except OSError as error:
            raise ViewError(
                f"{self.path} cannot be opened here ({error.strerror}). Every worker must see the files of the views "
                "under the same path: put them on storage that all of them share."
            ) from error
        if (status.st_size, status.st_mtime_ns) != (self.size, self.changed):
            raise ViewError(f"{self.path} is not the file it was when the work began. Start again with the new one.")
        if 0 in self.shape:
            return np.empty(self.shape, dtype=self.dtype)
        return np.memmap(self.path, self.dtype, "r", self.offset, self.shape)


def file_part(array: NDArray[Any]) -> FilePart | None:
    """Where a memory-mapped array, or a part of one, lies in its file; None for other arrays.

    Nor is it in a file where what was written to it stays in memory (mode "c"), or where the file has gone since, or
    another has taken its place.
    """
    root: Any = array
    while isinstance(root, np.ndarray) and isinstance(root.base, np.ndarray):
        root = root.base
    if not isinstance(root, np.memmap) or root.filename is None or root.mode == "c" or not array.flags.c_contiguous:
        return None
    apart = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    path = Path(root.filename).absolute()
    try:
        status = path.stat()
    except OSError:
        return None
    part = FilePart(
        str(path), array.dtype.str, int(root.offset) + apart, array.shape, status.st_size, status.st_mtime_ns
    )
    return part if _is_there(array, part) else None


def _is_there(array: NDArray[Any], part: FilePart) -> bool:
    """Does the file hold what is mapped? Its ends and its middle tell: nobody says which file a mapping is of."""
    try:
        found = part.open()
    except (ViewError, ValueError):  # a shorter one has not even the room
        return False
    mapped, stored = array.reshape(-1), found.reshape(-1)
    places = (slice(start, start + _LOOKED_AT) for start in (0, array.size // 2, max(0, array.size - _LOOKED_AT)))
    return all(mapped[place].tobytes() == stored[place].tobytes() for place in places)


class RowSource:
    """Named columns of ``n_rows`` rows each: dense arrays, CSR matrices or Dask arrays."""

    def __init__(
        self, columns: Mapping[str, Any], key: str | None = None, row_bytes: Mapping[str, float] | None = None
    ) -> None:
        self.columns = dict(columns)
        self.row_bytes = dict(row_bytes or {})  # of views, on average
        self.n_rows = int(next(iter(self.columns.values())).shape[0])
        self.key = uuid.uuid4().hex if key is None else key
        self._open: dict[tuple[int, int], Rows] = {}
        self._kept: OrderedDict[tuple[int, int], dict[Any, Any]] = OrderedDict()
        self._chunks: dict[bool, dict[str, tuple[NDArray[np.intp], Any]]] = {}

    @property
    def is_remote(self) -> bool:
        """Are some columns in chunks that this process does not hold?"""
        return any(is_dask(column) or column is None for column in self.columns.values())

    def rows(self, start: int, stop: int, pieces: Mapping[str, Sequence[Any]] | None = None) -> Rows:
        """Open the rows from start to stop; ``pieces`` are those of the columns whose chunks came with the task."""
        place = (start, stop)
        if place in self._open:
            return self._open[place]
        columns = {
            name: _between(column, start, stop) for name, column in self.columns.items() if not _is_chunked(column)
        }
        for name, parts in (pieces or {}).items():
            columns[name] = Pieces([_aligned(chunk[first:last]) for chunk, first, last in parts])
        rows = Rows(start, columns, self._kept.setdefault(place, {}))
        self._kept.move_to_end(place)
        while len(self._kept) > _MOST_OPEN:
            self._kept.popitem(last=False)
        if not pieces:  # chunks belong to Dask, and are not to be held
            self._open[place] = rows
        return rows

    @cached_property
    def is_held(self) -> bool:
        """Are all chunks of the Dask arrays held by a cluster? Their futures cost less than delayed ones."""
        return all(held_chunks(column) is not None for column in self.columns.values() if is_dask(column))

    def pieces(self, start: int, stop: int, futures: bool = False) -> dict[str, list[Any]]:
        """Where the rows from start to stop of the Dask arrays are: each chunk that holds some, and which.

        Chunks are delayed, or the futures of those that are held.
        """
        if futures not in self._chunks:  # asking Dask for them costs more than a task
            self._chunks[futures] = {
                name: (
                    np.concatenate([[0], np.cumsum(column.chunks[0])]).astype(np.intp),
                    held_chunks(column) if futures else column.to_delayed().ravel(),
                )
                for name, column in self.columns.items()
                if is_dask(column)
            }
        return {name: _pieces(*known, start, stop) for name, known in self._chunks[futures].items()}

    def take(self, items: NDArray[np.intp], names: Sequence[str] | None = None) -> Rows:
        """Chosen rows, in order, in memory; of all columns where none are named."""
        columns = {}
        for name in self.columns if names is None else names:
            taken = self.columns[name][items]
            columns[name] = taken.compute() if is_dask(taken) else taken
        return Rows(0, columns, {})

    def close(self, start: int, stop: int) -> None:
        """Let go of some open rows and what was made of them; what was kept stays."""
        self._open.pop((start, stop), None)

    def forget(self) -> None:
        """Let go of all that was kept, as a process that has just started."""
        self._open.clear()
        self._kept.clear()

    def __reduce__(self) -> Any:
        return _opened, (self.key, {name: _described(column) for name, column in self.columns.items()})


class _SparseFiles(NamedTuple):
    """A CSR matrix: three arrays, in files or not."""

    data: Any
    indices: Any
    indptr: Any
    shape: tuple[int, int]


def _is_chunked(column: Any) -> bool:
    return column is None or is_dask(column)


def _between(column: Any, start: int, stop: int) -> Any:
    """Consecutive rows of a column, not copied; those of a file as a plain array, which is sooner cut."""
    if (start, stop) == (0, column.shape[0]):
        return np.asarray(column) if isinstance(column, np.ndarray) else column
    if makes_rows(column):
        return column.over(_between(column.rows, start, stop))
    if is_sparse(column):
        first, last = int(column.indptr[start]), int(column.indptr[stop])
        indptr = column.indptr[start : stop + 1] - column.indptr[start]
        return csr_of(column.data[first:last], column.indices[first:last], indptr, (stop - start, column.shape[1]))
    return np.asarray(column[start:stop])


class _MadeRows(NamedTuple):
    """Rows that are made of others when they are asked for."""

    maker: Any
    rows: Any


def _described(column: Any) -> Any:
    """A column as it is sent: by path where it lies in a file, and not at all where it is in chunks."""
    if _is_chunked(column):
        return None
    if makes_rows(column):
        return _MadeRows(column.over(None), _described(column.rows))
    if is_sparse(column):
        data, indices, indptr = (file_part(part) or part for part in (column.data, column.indices, column.indptr))
        return _SparseFiles(data, indices, indptr, column.shape)
    return file_part(column) or column


_SOURCES: OrderedDict[str, RowSource] = OrderedDict()
_MOST_SOURCES = 4


def _opened(key: str, described: Mapping[str, Any]) -> RowSource:
    """The source as this process knows it, so that what was kept is there again; opened where it is new."""
    if key not in _SOURCES:
        columns = {name: _open_column(column) for name, column in described.items()}
        n_rows = next((column.shape[0] for column in columns.values() if column is not None), 0)
        source = RowSource.__new__(RowSource)
        source.columns, source.n_rows, source.key, source.row_bytes = columns, n_rows, key, {}
        source._open, source._kept, source._chunks = {}, OrderedDict(), {}
        _SOURCES[key] = source
    _SOURCES.move_to_end(key)
    while len(_SOURCES) > _MOST_SOURCES:
        _SOURCES.popitem(last=False)
    return _SOURCES[key]


def _open_column(column: Any) -> Any:
    if isinstance(column, FilePart):
        return column.open()
    if isinstance(column, _MadeRows):
        return column.maker.over(_open_column(column.rows))
    if isinstance(column, _SparseFiles):
        data, indices, indptr = (part.open() if isinstance(part, FilePart) else part for part in column[:3])
        return csr_of(data, indices, indptr, column.shape)
    return column


def csr_of(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> Any:
    """A CSR matrix of parts that were checked before: the constructor would look at all of them."""
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def _pieces(edges: NDArray[np.intp], chunks: Sequence[Any], start: int, stop: int) -> list[Any]:
    """Chunks, and which of their rows: whoever has them cuts them, since a task of Dask's own would cost more."""
    first, last = np.searchsorted(edges, start, side="right") - 1, np.searchsorted(edges, stop, side="left")
    found = []
    for number in range(first, last):
        low, high = int(edges[number]), int(edges[number + 1])
        inside = slice(max(start, low) - low, min(stop, high) - low)
        if inside.start < inside.stop:
            found.append((chunks[number], inside.start, inside.stop))
    return found


def _aligned(matrix: Matrix) -> Matrix:
    """The same where its numbers lie as they do in memory of one's own: those that came from another worker begin at
    any byte, and products of such arrays are rounded otherwise.
    """
    if is_sparse(matrix):
        held = (matrix.data, matrix.indices, matrix.indptr)
        data, indices, indptr = (np.require(part, requirements="A") for part in held)
        return csr_of(data, indices, indptr, matrix.shape)
    return np.require(matrix, requirements="A")


def stack(parts: Sequence[Any]) -> Matrix:
    """Pieces of consecutive rows as one matrix, in the layout that kernels are compiled for."""
    if is_sparse(parts[0]):
        from scipy.sparse import csr_matrix, vstack

        return csr_matrix(parts[0] if len(parts) == 1 else vstack(parts, format="csr"))
    return np.ascontiguousarray(parts[0] if len(parts) == 1 else np.concatenate(parts))
