"""Which library holds this data, and how it becomes a NumPy array or a SciPy CSR matrix."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import ViewError

__all__ = [
    "Matrix",
    "NotNumbers",
    "as_matrix",
    "column_values",
    "compressed_fault",
    "frame_values",
    "holds_sparse",
    "is_dask",
    "is_frame",
    "is_sparse",
    "is_tensor",
    "makes_rows",
    "refuse_columns",
    "refuse_foreign",
    "refuse_malformed",
    "rows_of",
    "tensor_values",
    "to_csr",
]

# A dense view is an ndarray (or a memory map); a sparse one is a SciPy CSR matrix or array, which has no types.
Matrix: TypeAlias = Any

# Every method keeps some dense vectors of a view's width for each cluster. At this width one of them takes half a GB
# in float64 and eight clusters 4 GB; hashed words, the widest views there are, have 2^18 to 2^24 columns.
_WIDEST = 2**26
_COPIES = 2**16  # a dense array may show the values it holds this often (a sliding window does)

_NOT_YET = {
    "dask": "pass a Dask array (.to_dask_array(lengths=True)) to a method that runs on a cluster (see manyview.on), or "
    "call .compute() on it",
    "torch": "pass tensor.numpy()",
    "cupy": "pass array.get()",
    "jax": "pass numpy.asarray(array)",
    "jaxlib": "pass numpy.asarray(array)",
}


class NotNumbers(ViewError, TypeError):
    """A view holds things of the wrong type: scikit-learn's estimators answer that with a TypeError."""


def is_sparse(value: Any) -> bool:
    """Is this a SciPy sparse matrix or array? Answers without importing SciPy for anything else.

    So is what makes such rows when it is asked for some: it has a shape, dtype and nnz as they do.
    """
    return type(value).__module__.startswith("scipy.sparse") or makes_rows(value)


def makes_rows(value: Any) -> bool:
    """Does this make CSR rows when it is asked for some (``makes_csr``)? It says of which ``rows`` it makes them, and
    makes them of others after ``over(others)``.
    """
    return bool(getattr(type(value), "makes_csr", False))


def is_dask(value: Any) -> bool:
    """Is this a Dask array? Answers without importing Dask."""
    return type(value).__module__.startswith("dask.array") and hasattr(value, "to_delayed")


def is_frame(value: Any) -> bool:
    """Is this a pandas frame? Answers without importing pandas."""
    return type(value).__module__.split(".")[0] == "pandas" and type(value).__name__ == "DataFrame"


def is_tensor(value: Any) -> bool:
    """Is this a torch tensor? Answers without importing torch."""
    return type(value).__module__.split(".")[0] == "torch" and hasattr(value, "detach")


def tensor_values(name: str, tensor: Any) -> NDArray[Any]:
    """A torch tensor as an array: where it lies if that is this machine's memory, copied from a device otherwise."""
    try:
        values: NDArray[Any] = tensor.detach().cpu().numpy()
    except (TypeError, RuntimeError) as error:
        raise ViewError(
            f"view {name!r} is a torch tensor that cannot be read as an array: {error}. Pass tensor.float() where its "
            "type is one that NumPy lacks, and a scipy.sparse matrix instead of a sparse one."
        ) from error
    return values


def column_values(value: Any) -> Any:
    """What a column holds, as a list: a pandas series, an index, a categorical; all else as it is."""
    is_column = hasattr(value, "dtype") and hasattr(value, "__len__") and getattr(value, "ndim", 1) == 1
    return list(value) if is_column and not isinstance(value, np.ndarray) and not is_sparse(value) else value


def frame_values(name: str, frame: Any) -> Any:
    """The numbers of a pandas frame, NaN where it has none; sparse where every column is.

    A column that holds something else is an error that names it.
    """
    refuse_columns(name, frame)
    if frame.shape[1] and all(type(dtype).__name__ == "SparseDtype" for dtype in frame.dtypes):
        return frame.sparse.to_coo()
    small = frame.shape[1] > 0 and all(dtype == np.float32 for dtype in frame.dtypes)
    return frame.to_numpy(dtype=np.float32 if small else np.float64, na_value=np.nan)


def refuse_columns(name: str, frame: Any) -> None:
    """Refuse, by name, a column of a pandas frame that holds no numbers."""
    for number, dtype in enumerate(frame.dtypes):
        if dtype.kind in "fiub":
            continue
        if dtype.kind == "O":  # which may hold numbers all the same
            try:
                frame.iloc[:, number].to_numpy(dtype=np.float64, na_value=np.nan)
                continue
            except (TypeError, ValueError):
                pass
        raise NotNumbers(
            f"view {name!r}: column {frame.columns[number]!r} holds {dtype}, not numbers. Convert it with "
            "pandas.to_numeric or pandas.get_dummies first, or leave it out."
        )


def holds_sparse(matrix: Matrix) -> bool:
    """Is this a sparse matrix, or a Dask array whose chunks are?"""
    return is_sparse(matrix._meta if is_dask(matrix) else matrix)


def as_matrix(name: str, value: Any) -> Matrix:
    """One view as a read-only float ndarray (no copy where it is one already) or a canonical CSR matrix.

    float32 and float64 stay; float16 becomes float32; integers and booleans become float64.
    """
    if is_frame(value):
        value = frame_values(name, value)
    if is_tensor(value):
        value = tensor_values(name, value)
    if is_sparse(value):
        return _as_csr(name, value)
    refuse_malformed(name, value)
    if isinstance(value, np.ma.MaskedArray):
        raise ViewError(
            f"view {name!r} is a masked array, whose mask would be lost. Fill the rows of items that lack the "
            "view with NaN, or pass mask= to Views."
        )
    return _as_dense(name, value)


def refuse_foreign(name: str, value: Any) -> None:
    """Say what to do with an array of a library that is not supported yet."""
    library = type(value).__module__.split(".")[0]
    if library in _NOT_YET:
        raise ViewError(
            f"view {name!r} is a {library} {type(value).__name__}; manyview takes NumPy arrays (memory-mapped "
            f"ones too) and SciPy sparse matrices so far. Instead, {_NOT_YET[library]}."
        )


def refuse_malformed(name: str, value: Any) -> None:
    """Refuse, by name, arrays nothing can be done with: foreign, absurdly large, or sparse with parts that do not fit.

    SciPy trusts the parts of a sparse matrix, and so do compiled loops: an index out of range reads or writes memory
    that belongs to something else. Costs one pass over the indices. What is no array at all passes.
    """
    refuse_foreign(name, value)
    if is_sparse(value):
        if not hasattr(value, "tocsr"):
            raise ViewError(f"view {name!r} is a {type(value).__name__}, which is no matrix of numbers.")
        if value.ndim != 2:
            raise ViewError(f"view {name!r} must be 2-D, one row per item, but has shape {value.shape}.")
        _check_claim(name, value.shape, _held(value.indptr) if value.format == "csr" else _held(value))
        fault = _sparse_fault(value)
        if fault:
            raise ViewError(
                f"view {name!r} is a malformed {value.format.upper()} matrix of shape {value.shape}: {fault}. Build it "
                "again from rows, columns and values (scipy.sparse.coo_array), which checks them."
            )
    elif isinstance(value, np.ndarray) and value.ndim == 2:
        _check_claim(name, value.shape, _held(value))
        if value.size > max(_WIDEST, _COPIES * _held(value)):
            raise ViewError(
                f"view {name!r} claims {value.shape[0]} x {value.shape[1]} values but holds {_held(value)}, shown over "
                "and over. Pass an array that holds its values."
            )


def _check_claim(name: str, shape: tuple[int, int], held: int) -> None:
    n_rows, n_columns = shape
    if n_columns > _WIDEST:
        raise ViewError(
            f"view {name!r} claims {n_columns} columns; at most {_WIDEST} can be worked with, since every cluster has "
            "a number for each. Leave out the columns that hold nothing, or hash them into fewer."
        )
    if n_rows > max(_WIDEST, held):
        raise ViewError(f"view {name!r} claims {n_rows} rows but holds {held} values, so nearly all rows are empty.")


def _held(value: Any) -> int:
    """How many values there is memory for, whatever the shape says."""
    if not isinstance(value, np.ndarray):
        data = getattr(value, "data", ())
        return int(data.size) if isinstance(data, np.ndarray) else len(value) if hasattr(value, "__len__") else 0
    low, high = np.lib.array_utils.byte_bounds(value)
    return min(value.size, (high - low) // max(1, value.itemsize))


def _sparse_fault(value: Any) -> str | None:
    """What keeps a 2-D SciPy matrix of any format from being converted safely; None if nothing does."""
    n_rows, n_columns = value.shape
    if value.format == "csr":
        return compressed_fault(value.data, value.indices, value.indptr, (n_rows, n_columns))
    if value.format == "csc":
        return compressed_fault(value.data, value.indices, value.indptr, (n_columns, n_rows))
    if value.format == "coo":
        for index, length, what in ((value.row, n_rows, "rows"), (value.col, n_columns, "columns")):
            fault = _index_fault(index, length, what)
            if fault or len(index) != value.data.size:
                return fault or f"it has {value.data.size} values but {len(index)} numbers of {what}"
    if value.format == "bsr":
        if getattr(value.data, "ndim", 0) != 3 or 0 in value.data.shape[1:]:
            return "its data are not a row of blocks"
        height, width = value.data.shape[1:]
        if n_rows % height or n_columns % width:
            return f"blocks of {height} x {width} do not fill it"
        return compressed_fault(
            value.data[:, 0, 0], value.indices, value.indptr, (n_rows // height, n_columns // width)
        )
    if value.format == "dia":
        fault = _index_fault(value.offsets, None, "offsets")
        if fault or value.data.ndim != 2 or len(value.offsets) != len(value.data):
            return fault or "it needs one row of data for each diagonal"
    if value.format == "lil":
        for row, (columns, values) in enumerate(zip(value.rows, value.data, strict=False)):
            if len(columns) != len(values) or not all(
                isinstance(column, (int, np.integer)) and 0 <= column < n_columns for column in columns
            ):
                return f"the columns of row {row} do not fit"
        if not len(value.rows) == len(value.data) == n_rows:
            return f"it holds {len(value.rows)} rows"
    return None


def compressed_fault(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> str | None:
    """What is wrong with the three parts of a CSR matrix (of a CSC one, for the shape turned round); None if nothing.

    More than SciPy's ``check_format``, which takes an ``indptr`` that rises and comes back to 0, and changes what it
    looks at.
    """
    n_rows, n_columns = shape
    fault = _index_fault(indptr, None, "indptr")
    if fault:
        return fault
    if len(indptr) != n_rows + 1:
        return f"indptr has {len(indptr)} entries where {n_rows + 1} are needed"
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any():
        return "indptr does not rise from 0"
    if not isinstance(data, np.ndarray) or data.ndim != 1:
        return "its data are not a 1-D array"
    if np.ndim(indices) != 1 or len(indices) != data.size or int(indptr[-1]) > data.size:
        return f"indptr promises {indptr[-1]} entries, but it has {data.size} values and {np.size(indices)} indices"
    return _index_fault(indices[: int(indptr[-1])], n_columns, "indices")


def _index_fault(index: Any, length: int | None, what: str) -> str | None:
    if not isinstance(index, np.ndarray) or index.ndim != 1 or index.dtype.kind not in "iu":
        return f"{what} are not a 1-D array of integers"
    if length is not None and index.size and (index.min() < 0 or index.max() >= length):
        wrong = int(index.min()) if index.min() < 0 else int(index.max())
        return f"{what} go from 0 to {length - 1}, but {wrong} is among them"
    return None


def _as_dense(name: str, value: Any) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ViewError(f"view {name!r} must be a 2-D table of numbers, but its rows differ in length.") from error
    if array.ndim == 0:
        raise ViewError(
            f"view {name!r} must be a 2-D table of numbers, one row per item; got {type(value).__name__}. Views are "
            "given as a dict from name to matrix, as a list of matrices, or as one matrix."
        )
    if array.ndim != 2:
        raise ViewError(
            f"view {name!r} must be 2-D, one row per item, but has shape {array.shape}. "
            + ("Reshape a single feature with .reshape(-1, 1)." if array.ndim == 1 else "Flatten each item to a row.")
        )
    array = _as_float(name, array).view()
    array.flags.writeable = False
    return array


def _as_csr(name: str, value: Any) -> Any:
    matrix = to_csr(name, value)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def to_csr(name: str, value: Any) -> Any:
    """A sparse matrix of any format as CSR of native floats, in whatever order it is; shares arrays where it can."""
    refuse_malformed(name, value)
    try:
        if value.format != "lil" and not value.dtype.isnative:
            value = value.astype(value.dtype.newbyteorder("="))
        matrix = value.tocsr()
        # A new object around the same arrays: whatever the old one believes about order and doubles is found out again.
        return type(matrix)((_as_float(name, matrix.data), matrix.indices, matrix.indptr), shape=matrix.shape)
    except (TypeError, ValueError, AttributeError, KeyError, IndexError) as error:
        if isinstance(error, ViewError):
            raise
        raise ViewError(f"view {name!r} is a malformed sparse matrix: {error}.") from error


def _as_float(name: str, array: NDArray[Any]) -> NDArray[Any]:
    kind = array.dtype.kind
    if kind == "c":
        raise ViewError(
            f"Complex data not supported: view {name!r} holds complex numbers; pass real ones (for example their "
            "absolute value)."
        )
    if kind not in "fiubO":
        how = (
            "times into numbers, for example the days since the first"
            if kind in "mM"
            else ("words into a matrix first, for example with scikit-learn's CountVectorizer")
        )
        raise ViewError(f"view {name!r} holds {array.dtype}, not numbers. Turn {how}.")
    if kind == "f" and array.dtype.itemsize in (4, 8) and array.dtype.isnative and array.flags.aligned:
        return array
    target = np.float32 if kind == "f" and array.dtype.itemsize <= 4 else np.float64
    try:
        return array.astype(target)
    except (TypeError, ValueError) as error:
        raise NotNumbers(f"view {name!r} holds something that is not a number: {error}.") from error


def rows_of(matrix: Matrix, rows: Any) -> Matrix:
    """Some rows of a dense or sparse matrix, or of the chunks of a Dask array; a slice of a dense one is not copied."""
    taken = matrix[rows]
    if isinstance(taken, np.ndarray):
        taken.flags.writeable = False
    return taken
