"""Features that somebody has computed already: ``.npy``, ``.npz`` and ``.mat`` files as items and views."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ..arrays import as_matrix, compressed_fault
from ..blocks import row_blocks
from ..collection.items import NewItem
from ..collection.segment_files import room_for
from ..data.tags import match_key
from ..errors import StoreError, ViewError
from ..files import BadFile, open_regular
from ..types import Progress
from .keywords import MOST, tidy
from .report import Report
from .source import Source

if TYPE_CHECKING:
    from ..collection.store import Store

__all__ = ["Features", "open_features", "open_npy", "read_features"]

_RATIO = 500
_BOMB = 64 * 2**20
_LARGEST = 64 * 2**30
_IN_MEMORY = 32 * 2**20
_PIECE = 4 * 2**20
_BATCH = 10_000
_LABELS = ("y", "Y", "gt", "gnd", "labels", "label", "truth", "truelabel")
_IDS = ("ids", "id", "doc_id")
_PIECES = ("_data", "_indices", "_indptr", "_shape")


class TagRows:
    """The tags of each row: columns of a matrix, and their words."""

    def __init__(self, matrix: Any, words: Mapping[int, str]) -> None:
        self._indices, self._indptr = matrix.indices, matrix.indptr
        self._words = words
        tidied = {column: tidy([word], [], []).tags for column, word in words.items()}
        self._tidied = {column: tags[0] for column, tags in tidied.items() if tags}
        keys = {match_key(word) for word in self._tidied.values()}
        self._all_differ = len(keys) == len(self._tidied) == len(words) <= MOST

    def __len__(self) -> int:
        return int(self._indptr.size) - 1

    def __getitem__(self, row: int) -> list[str]:
        columns = self._indices[self._indptr[row] : self._indptr[row + 1]].tolist()
        if self._all_differ:  # then tidying one row at a time finds nothing more to do
            return [self._tidied[column] for column in columns]
        return tidy([self._words[column] for column in columns], [], []).tags


@dataclass
class Features:
    """What a file of features holds."""

    views: dict[str, Any] = field(default_factory=dict)
    tags: TagRows | None = None
    ids: list[str] | None = None
    fields: dict[str, list[Any]] = field(default_factory=dict)


def read_features(collection: Store, source_id: int, source: Source, progress: Progress | None = None) -> Report:
    """Make one item for each row of a file of features, and keep its matrices as views.

    Items are made and written some thousands at a time, all in one transaction.
    """
    found = open_features(source.path)
    if not found.views:
        raise StoreError(f"{source.path} holds no 2-D array of numbers, so there is nothing to group.")
    n_items = _common_rows(source.path, found)
    if found.ids and len(set(found.ids)) < n_items:
        twice = Counter(found.ids).most_common(1)[0][0]
        raise StoreError(f"{source.path}: the id {twice!r} appears twice; every item needs its own.")
    before = collection.items.numbers_of(source_id)
    here = collection.items.numbers_of(source_id, "here")
    numbers = np.empty(n_items, dtype=np.int64)
    with collection.transaction():
        for start in range(0, n_items, _BATCH):
            rows = range(start, min(start + _BATCH, n_items))
            numbers[start : rows.stop] = collection.put_items(source_id, [_item(found, row) for row in rows])
            if progress is not None:
                progress("reading", rows.stop, n_items)
        gone = np.setdiff1d(before, numbers)
        collection.items.gone(gone.tolist())
        order = np.argsort(numbers)
        in_order = np.array_equal(order, np.arange(n_items))
        for name, matrix in found.views.items():
            collection.segments.add(name, "file", numbers[order], matrix if in_order else matrix[order])
        collection.items.finish_source(source_id)
    n_new = n_items - int(np.isin(numbers, before).sum())
    n_gone = int(np.isin(gone, here).sum())
    n_same = int(np.isin(numbers, here).sum())
    formats = Counter({"row": n_items})
    n_back = n_items - n_new - n_same
    return Report(source.path, n_new=n_new, n_gone=n_gone, n_back=n_back, n_same=n_same, formats=formats)


def _item(found: Features, row: int) -> NewItem:
    return NewItem(
        key=found.ids[row] if found.ids else str(row),
        kind="row",
        fields={name: values[row] for name, values in found.fields.items()} or None,
        tags={"table": found.tags[row]} if found.tags is not None else {},
    )


def _common_rows(path: str, found: Features) -> int:
    counts = {f"view {name!r}": int(matrix.shape[0]) for name, matrix in found.views.items()}
    counts |= {"tags": len(found.tags)} if found.tags is not None else {}
    counts |= {"ids": len(found.ids)} if found.ids is not None else {}
    counts |= {repr(name): len(values) for name, values in found.fields.items()}
    usual = Counter(counts.values()).most_common(1)[0][0]
    for name, count in counts.items():
        if count != usual:
            listing = ", ".join(f"{part} {rows}" for part, rows in counts.items())
            raise ViewError(f"{path}: {name} has {count} rows where others have {usual}. Rows: {listing}.")
    return usual


def open_features(path: str) -> Features:
    """Views, tags, ids and classes in a file of features. Nothing in the file can run code."""
    ending = os.path.splitext(path)[1].lower()
    stem = os.path.splitext(os.path.basename(path))[0]
    if ending == ".npy":
        return Features({stem: open_npy(path)})
    if ending == ".npz":
        return _sort_out(path, stem, _open_npz(path))
    return _sort_out(path, stem, _open_mat(path))


# --- .npy and .npz ---


def open_npy(path: str) -> NDArray[Any]:
    """A 2-D array of numbers in a ``.npy`` file, memory-mapped; the header is checked against the file's size."""
    with _naming(path), open_regular(path) as (file, facts):
        shape, fortran, dtype = _npy_header(file)
        offset = file.tell()
        _check_size(shape, dtype, facts.size - offset)
        if len(shape) != 2:
            raise BadFile("bad features", f"it holds an array of shape {shape}; one row per item is needed.")
        if 0 in shape:
            raise BadFile("bad features", f"it holds an array of shape {shape}, which has no values.")
        mapped: NDArray[Any] = np.memmap(file, dtype, "r", offset, shape, "F" if fortran else "C")
        return mapped


def _npy_header(file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"version {version} of the format is not read")
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(file)
    except Exception as error:  # NumPy's reader tokenizes the header as Python: it may raise anything
        raise BadFile("bad features", f"its header is damaged ({str(error)[:80]}).") from error
    if dtype.hasobject:
        raise BadFile("bad features", "it holds Python objects, which could run code; save plain numbers.")
    if any(length < 0 for length in shape):
        raise BadFile("bad features", f"its header gives the shape {shape}; a length cannot be negative.")
    return tuple(int(length) for length in shape), fortran, dtype


def _check_size(shape: tuple[int, ...], dtype: np.dtype[Any], held: int) -> int:
    promised = dtype.itemsize
    for length in shape:
        promised *= length
    if promised != held:
        raise BadFile("bad features", f"it promises {promised} bytes of numbers but holds {held}.")
    return promised


def _open_npz(path: str) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    with _naming(path), open_regular(path) as (file, _):
        try:
            with zipfile.ZipFile(file) as archive:
                for entry in archive.infolist():
                    if entry.filename.endswith(".npy") and not entry.is_dir():
                        arrays[entry.filename[:-4]] = _read_member(archive, entry)
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
            raise BadFile("bad features", f"it cannot be unpacked ({str(error)[:80]}).") from error
    return arrays


def _read_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Any:
    if entry.file_size > _BOMB and entry.file_size > _RATIO * max(1, entry.compress_size):
        raise BadFile("bomb", f"{entry.filename} unpacks to {entry.file_size >> 20} MB, which it cannot really hold.")
    if entry.file_size > _LARGEST:
        raise BadFile(
            "too large",
            f"{entry.filename} has {entry.file_size >> 30} GB; arrays of up to {_LARGEST >> 30} GB are read.",
        )
    with archive.open(entry) as member:
        start = member.tell()
        shape, fortran, dtype = _npy_header(member)  # type: ignore[arg-type]
        size = _check_size(shape, dtype, entry.file_size - (member.tell() - start))
        content = _read_all(member, size, entry.filename)
    return content.view(dtype).reshape(shape, order="F" if fortran else "C")


def _read_all(member: Any, size: int, name: str) -> NDArray[np.uint8]:
    """So many bytes of an archive's member; many of them in a file without a name, which is mapped."""
    content = room_for((1, size), np.dtype(np.uint8), _IN_MEMORY).reshape(-1)
    filled = 0
    while filled < size:
        part = member.read(min(_PIECE, size - filled))
        if not part:
            raise BadFile("bad features", f"{name} ends unexpectedly.")
        content[filled : filled + len(part)] = np.frombuffer(part, np.uint8)
        filled += len(part)
    return content


# --- .mat ---


def _open_mat(path: str) -> dict[str, Any]:
    with _naming(path), open_regular(path) as (file, _):
        head = file.read(128)
        if head.startswith((b"\x89HDF\r\n\x1a\n", b"MATLAB 7.3")):
            raise BadFile("unsupported", "it is a MATLAB 7.3 file; save it with '-v7', or as .npz.")
        file.seek(0)
        from scipy.io import loadmat

        try:
            content = loadmat(file, chars_as_strings=True, mat_dtype=False)
        except MemoryError as error:
            raise BadFile("too large", "it asks for more memory than there is.") from error
        except Exception as error:  # strangers' bytes make this reader raise almost anything
            raise BadFile("bad features", f"it cannot be read as a MATLAB file ({type(error).__name__}).") from error
    arrays: dict[str, Any] = {}
    for name, value in content.items():
        if name.startswith("__"):
            continue
        if isinstance(value, np.ndarray) and value.dtype == object:  # a cell array: several views, or words
            cells = value.ravel().tolist()
            matrices = [cell for cell in cells if getattr(cell, "ndim", 0) == 2 and _is_numeric(cell)]
            if len(matrices) == len(cells):
                arrays |= {f"{name}{number}": cell for number, cell in enumerate(cells, 1)}
        else:
            arrays[name] = value
    return _rows_first(arrays)


def _rows_first(arrays: dict[str, Any]) -> dict[str, Any]:
    """Matrices that hold one item per column are turned; the length of the classes, or the usual one, decides."""
    matrices = {name: value for name, value in arrays.items() if _is_matrix(value)}
    labels = [max(arrays[name].shape) for name in _LABELS if name in arrays and getattr(arrays[name], "ndim", 0) == 2]
    sides = Counter(side for value in matrices.values() for side in set(value.shape))
    n_items = labels[0] if labels else max(sides, key=lambda side: (sides[side], side), default=0)
    return {
        name: value.T if name in matrices and value.shape[0] != n_items == value.shape[1] else value
        for name, value in arrays.items()
    }


# --- what the arrays mean ---


def _sort_out(path: str, stem: str, arrays: dict[str, Any]) -> Features:
    """Views, tags and classes by the names of the arrays.

    ``view_<name>`` is a view (its pieces end with _data, _indices, _indptr and _shape where it is sparse), and if there
    are none every 2-D array is; tags likewise, with tag_names; ``y`` and ``class_names`` become a column "label".
    """
    with _naming(path):
        if {"data", "indices", "indptr", "shape"} <= arrays.keys():  # as scipy.sparse.save_npz writes
            return Features({stem: _csr(arrays, stem, ("data", "indices", "indptr", "shape"))})
        found = Features()
        arrays = dict(arrays)
        for base in [name[:-5] for name in arrays if name.endswith("_data")]:
            if all(base + piece in arrays for piece in _PIECES):
                arrays[base] = _csr(arrays, base, tuple(base + piece for piece in _PIECES))
                for piece in _PIECES:
                    del arrays[base + piece]
        tags = arrays.pop("tags", None)
        if tags is not None and _is_matrix(tags):
            found.tags = _tag_rows(tags, arrays.pop("tag_names", None))
        named = {name[5:]: value for name, value in arrays.items() if name.startswith("view_") and _is_matrix(value)}
        classes = next(
            (name for name in _LABELS if name in arrays and arrays[name].size == max(arrays[name].shape, default=0)),
            None,
        )
        views = named or {
            name: value
            for name, value in arrays.items()
            if _is_matrix(value) and min(value.shape) > 0 and name != classes
        }
        found.views = {name: _matrix(name, value) for name, value in views.items()}
        if classes is not None and _is_numeric(arrays[classes]):
            names = arrays.get("class_names")
            found.fields["label"] = _class_words(arrays[classes].ravel(), names)
        ids = next((arrays[name] for name in _IDS if name in arrays and arrays[name].ndim == 1), None)
        if ids is not None:
            found.ids = [str(value) for value in ids.tolist()]
        return found


def _csr(arrays: Mapping[str, Any], base: str, names: tuple[str, ...]) -> Any:
    from scipy.sparse import csr_matrix

    data, indices, indptr, shape = (arrays[name] for name in names)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or not _is_numeric(data):
        fault: str | None = f"{data.dtype} values, and a shape of {shape.size} {shape.dtype} numbers"
    else:
        fault = compressed_fault(data, indices, indptr, (int(shape[0]), int(shape[1])))
    if fault:
        raise BadFile("bad features", f"the pieces of the sparse matrix {base!r} do not fit ({fault}).")
    kind = data.dtype if data.dtype.kind == "f" else np.dtype(np.float32)
    matrix = csr_matrix((data.astype(kind), indices, indptr), shape=(int(shape[0]), int(shape[1])))
    return _matrix(base, matrix)


def _matrix(name: str, value: Any) -> Any:
    """A matrix of the file, checked as every view is, so that it is refused here and not when it is first used."""
    try:
        return as_matrix(name, value)
    except ViewError as error:
        raise BadFile("bad features", str(error)) from error


def _tag_rows(tags: Any, names: Any) -> TagRows:
    from scipy.sparse import csr_matrix, vstack

    blocks = [slice(None)]
    if isinstance(tags, np.ndarray) and tags.ndim == 2:  # as numbers a table of bytes would be eight times as large
        blocks = list(row_blocks(tags.shape[0], 8.0 * tags.shape[1])) or blocks
    matrix = vstack([csr_matrix(_matrix("tags", tags[block])) for block in blocks], format="csr")
    n_tags = matrix.shape[1]
    if names is not None and (names.ndim != 1 or len(names) != n_tags):
        raise BadFile("bad features", f"it has {n_tags} tags but {names.size} names for them.")
    used = np.unique(matrix.indices).tolist()
    return TagRows(matrix, {column: f"tag{column}" if names is None else str(names[column]) for column in used})


def _class_words(classes: Any, names: Any) -> list[Any]:
    numbers = [int(value) if float(value).is_integer() else float(value) for value in classes.tolist()]
    if names is not None and names.ndim == 1 and all(isinstance(n, int) and 0 <= n < len(names) for n in numbers):
        return [str(names[number]) for number in numbers]
    return numbers


def _is_numeric(value: Any) -> bool:
    return getattr(value, "dtype", np.dtype(object)).kind in "fiub"


def _is_matrix(value: Any) -> bool:
    return getattr(value, "ndim", 0) == 2 and _is_numeric(value)


class _naming:
    """Errors inside name the file."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, BadFile):
            raise StoreError(f"{self._path} cannot be used: {error.sentence}") from error
