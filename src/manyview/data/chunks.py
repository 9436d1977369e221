"""Views that are Dask arrays: chunks along the rows, dense or CSR, which nobody holds all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, as_matrix, holds_sparse, is_sparse
from ..errors import ViewError
from .checks import missing_rows

__all__ = ["as_chunks", "cut_like", "held_chunks", "look_at_chunks"]


def as_chunks(name: str, array: Any) -> Any:
    """A Dask array whose chunks are whole rows, each as ``as_matrix`` gives it; nothing is computed."""
    if array.ndim != 2:
        raise ViewError(f"view {name!r} must be 2-D, one row per item, but has shape {array.shape}.")
    if any(np.isnan(size) for sizes in array.chunks for size in sizes):
        raise ViewError(
            f"view {name!r} is a Dask array whose chunks do not know their length. Call .compute_chunk_sizes() on it, "
            "or make it with .to_dask_array(lengths=True)."
        )
    if len(array.chunks[1]) > 1:
        if holds_sparse(array):
            raise ViewError(f"view {name!r} is cut along its columns; sparse chunks must hold whole rows.")
        array = array.rechunk({1: -1})
    meta = as_matrix(name, array._meta)
    whole = array.map_blocks(_whole_chunk, name, is_sparse(meta), meta.dtype, dtype=meta.dtype, meta=meta)
    # Chunks that a cluster holds are looked through once, not in every pass: what is the same takes no room twice.
    return whole.persist() if held_chunks(array) is not None and array.dtype == meta.dtype else whole


def held_chunks(array: Any) -> list[Any] | None:
    """The futures of an array's row chunks where a cluster holds them; None where it knows how to make them."""
    if not all(type(part).__module__.startswith("distributed.") for part in array.dask.values()):
        return None
    return [array.dask.get(key) for (key, *_) in array.__dask_keys__()]


def cut_like(views: Any, labels: NDArray[Any]) -> Any:
    """Labels as a Dask array with the chunks of the first view that is one; as they are where none is."""
    if not views.in_chunks:
        return labels
    import dask.array as da

    return da.from_array(labels, chunks=(views[views.in_chunks[0]].chunks[0],))


def _whole_chunk(chunk: Any, name: str, sparse: bool, kind_of_number: Any) -> Matrix:
    """A chunk as the array says it is, also where it came with other numbers: all rows are of one type."""
    if is_sparse(chunk) != sparse:
        kind, meta = ("sparse", "scipy.sparse.csr_matrix((0, 0))") if not sparse else ("dense", "numpy.empty((0, 0))")
        raise ViewError(
            f"view {name!r} has chunks that are {kind}, but the Dask array says otherwise. Make it with meta={meta}."
        )
    matrix = as_matrix(name, chunk)
    return matrix if matrix.dtype == kind_of_number else as_matrix(name, matrix.astype(kind_of_number))


def look_at_chunks(
    name: str, array: Any, ignore: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.bool_], float | None]:
    """Which rows are missing, and for CSR chunks how many values a row holds; a bad chunk is named.

    Reads all chunks once, wherever Dask computes.
    """
    import dask

    edges = np.concatenate([[0], np.cumsum(array.chunks[0])]).astype(int)
    chunks = array.to_delayed().ravel()
    look = dask.delayed(_look, pure=False)
    looks = [
        look(name, chunk, None if ignore is None else ignore[low:high], (int(high - low), array.shape[1]))
        for chunk, low, high in zip(chunks, edges[:-1], edges[1:], strict=True)
    ]
    try:
        found = dask.compute(*looks)
    except Exception as error:
        number, why = _first_bad(looks, error)
        rows = f"rows {edges[number]} to {edges[number + 1] - 1}"
        raise ViewError(f"view {name!r}: chunk {number} ({rows}) cannot be used: {why}") from error
    missing = np.concatenate([part for part, _ in found]) if found else np.zeros(0, dtype=bool)
    held = sum(count for _, count in found) / max(1, array.shape[0]) if holds_sparse(array) else None
    return missing, held


def _look(
    name: str, chunk: Matrix, ignore: NDArray[np.bool_] | None, shape: tuple[int, int]
) -> tuple[NDArray[np.bool_], int]:
    if chunk.shape != shape:
        raise ViewError(
            f"it holds {chunk.shape[0]} x {chunk.shape[1]} values, but the Dask array says {shape[0]} x {shape[1]}. "
            "Make it with the right chunks=, or with shape= of da.from_delayed."
        )
    return missing_rows(name, chunk, ignore), int(chunk.nnz) if is_sparse(chunk) else 0


def _first_bad(looks: list[Any], error: Exception) -> tuple[int, str]:
    """Which of the chunks it was."""
    for number, look in enumerate(looks):
        try:
            look.compute()
        except Exception as again:
            return number, f"{type(again).__name__}: {again}" if not isinstance(again, ViewError) else str(again)
    raise error
