"""Which library holds this data, and how it becomes a NumPy array or a SciPy CSR matrix."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import ViewError

__all__ = ["Matrix", "as_matrix", "is_sparse", "refuse_foreign", "rows_of"]

# A dense view is an ndarray (or a memory map); a sparse one is a SciPy CSR matrix or array, which has no types.
Matrix: TypeAlias = Any

_NOT_YET = {
    "dask": "call .compute() on it, or write it to .npy files and pass those memory-mapped",
    "torch": "pass tensor.detach().cpu().numpy()",
    "cupy": "pass array.get()",
    "jax": "pass numpy.asarray(array)",
    "jaxlib": "pass numpy.asarray(array)",
}


def is_sparse(value: Any) -> bool:
    """Is this a SciPy sparse matrix or array? Answers without importing SciPy for anything else."""
    return type(value).__module__.startswith("scipy.sparse")


def as_matrix(name: str, value: Any) -> Matrix:
    """One view as a read-only float ndarray (no copy where it is one already) or a canonical CSR matrix.

    float32 and float64 stay; float16 becomes float32; integers and booleans become float64.
    """
    refuse_foreign(name, value)
    if isinstance(value, np.ma.MaskedArray):
        raise ViewError(
            f"view {name!r} is a masked array, whose mask would be lost. Fill the rows of items that lack the "
            "view with NaN, or pass mask= to Views."
        )
    return _as_csr(name, value) if is_sparse(value) else _as_dense(name, value)


def refuse_foreign(name: str, value: Any) -> None:
    """Say what to do with an array of a library that is not supported yet."""
    library = type(value).__module__.split(".")[0]
    if library in _NOT_YET:
        raise ViewError(
            f"view {name!r} is a {library} {type(value).__name__}; manyview takes NumPy arrays (memory-mapped "
            f"ones too) and SciPy sparse matrices so far. Instead, {_NOT_YET[library]}."
        )


def _as_dense(name: str, value: Any) -> NDArray[Any]:
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ViewError(f"view {name!r} must be a 2-D table of numbers, but its rows differ in length.") from error
    if array.ndim != 2:
        raise ViewError(
            f"view {name!r} must be 2-D, one row per item, but has shape {array.shape}. "
            + ("Reshape a single feature with .reshape(-1, 1)." if array.ndim == 1 else "Flatten each item to a row.")
        )
    array = _as_float(name, array).view()
    array.flags.writeable = False
    return array


def _as_csr(name: str, value: Any) -> Any:
    if value.ndim != 2:
        raise ViewError(f"view {name!r} must be 2-D, one row per item, but has shape {value.shape}.")
    matrix = value.tocsr()
    data = _as_float(name, matrix.data)
    if data is not matrix.data:
        matrix = matrix.astype(data.dtype)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def _as_float(name: str, array: NDArray[Any]) -> NDArray[Any]:
    kind = array.dtype.kind
    if kind == "c":
        raise ViewError(f"view {name!r} holds complex numbers; pass real ones (for example their absolute value).")
    if kind not in "fiubO":
        raise ViewError(
            f"view {name!r} holds {array.dtype}, not numbers. Turn words into a matrix first, for example with "
            "scikit-learn's CountVectorizer."
        )
    if kind == "f" and array.dtype.itemsize in (4, 8) and array.dtype.isnative:
        return array
    target = np.float32 if kind == "f" and array.dtype.itemsize <= 4 else np.float64
    try:
        return array.astype(target)
    except (TypeError, ValueError) as error:
        raise ViewError(f"view {name!r} holds something that is not a number: {error}.") from error


def rows_of(matrix: Matrix, rows: Any) -> Matrix:
    """Some rows of a dense or sparse matrix; a slice of a dense one is not copied."""
    taken = matrix[rows]
    if not is_sparse(taken):
        taken.flags.writeable = False
    return taken
