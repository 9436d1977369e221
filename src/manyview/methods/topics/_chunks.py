"""Counts in the chunks of Dask arrays: joined, looked at and brought into the form that suits them, chunk by chunk."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...arrays import Matrix, holds_sparse, is_dask, is_sparse
from ...blocks import BLOCK_BYTES
from ...data.source import Rows, RowSource, stack
from ...data.views import Views
from ...engines.base import Engine, cut
from ...types import Floats, Mask
from ._counts import check_sums, join_parts, refuse_negative

__all__ = ["join_chunks", "suited_chunks"]

_NS_PER_NUMBER = 4.0  # to look at it


def join_chunks(views: Views) -> Any:
    """All views side by side as one Dask array; rows an item lacks are empty. Nothing is computed."""
    if views.n_views == 1 and views.mask.all():
        return views.values()[0]
    import dask.array as da
    from dask import delayed

    rows = next(matrix for matrix in views.values() if is_dask(matrix)).chunks[0]
    edges = np.concatenate([[0], np.cumsum(rows)]).astype(int).tolist()
    metas = [matrix._meta if is_dask(matrix) else matrix for matrix in views.values()]
    empty = _join([[(meta, 0, 0)] for meta in metas], views.mask[:0])
    chunked = RowSource({name: matrix for name, matrix in views.items() if is_dask(matrix)})
    join, chunks, width = delayed(_join, pure=True), [], sum(views.n_features.values())
    for low, high in pairwise(edges):
        pieces = chunked.pieces(low, high)
        parts = [
            pieces[name] if is_dask(matrix) else [(matrix[low:high], 0, high - low)] for name, matrix in views.items()
        ]
        made = join(parts, views.mask[low:high])
        chunks.append(da.from_delayed(made, (high - low, width), dtype=empty.dtype, meta=empty))
    return da.concatenate(chunks)


def _join(parts: list[list[tuple[Matrix, int, int]]], mask: Mask) -> Matrix:
    """Views side by side, each from the chunks that hold its rows and from which row to which these go."""
    return join_parts([stack([chunk[first:last] for chunk, first, last in pieces]) for pieces in parts], mask)


class _Look(NamedTuple):
    n_filled: int
    negative: int  # the first row with a count below zero, -1 where there is none

    def merged(self, other: _Look) -> _Look:
        return _Look(self.n_filled + other.n_filled, self.negative if self.negative >= 0 else other.negative)


def look_leaf(rows: Rows, leaf: slice, shared: Any, _: Any) -> tuple[_Look, Floats]:
    """How many counts there are, whether some are negative, and the sums of rows."""
    part = rows["counts"][leaf]
    values = part.data if is_sparse(part) else part
    negative = -1
    if values.size and values.min() < 0:
        below = part < 0
        negative = int(np.flatnonzero(np.asarray(below.sum(axis=1)).ravel())[0]) + rows.start + leaf.start
    n_filled = int(part.nnz) if is_sparse(part) else int(np.count_nonzero(part))
    return _Look(n_filled, negative), np.asarray(part.sum(axis=1, dtype=np.float64), dtype=np.float64).ravel()


def suited_chunks(
    array: Any, per_row: float, dense_above: float, what: str, who: str, engine: Engine
) -> tuple[Any, Floats, float]:
    """As ``suited``, of a Dask array: its chunks in the better form, the sums of its rows, and the numbers in a row."""
    n_rows, n_words = array.shape
    source = RowSource({"counts": array})
    plan = cut(n_rows, 12.0 * per_row, BLOCK_BYTES, 1e-9 * _NS_PER_NUMBER * per_row)
    sums, look = np.empty(n_rows), _Look(0, -1)
    for span, (part, state) in zip(
        plan.spans, engine.map(look_leaf, source, plan, None, None, _Look.merged), strict=True
    ):
        look = look.merged(part)
        sums[span.start : span.stop] = engine.read(state)
        engine.let_go([state])
    if look.negative >= 0:
        refuse_negative(what, look.negative, who)
    check_sums(sums, what, array.dtype)
    if look.n_filled > dense_above * max(1, n_rows * n_words):
        return _in_form(array, False), sums, float(n_words)
    return _in_form(array, True), sums, look.n_filled / max(1, n_rows)


def _in_form(array: Any, sparse: bool) -> Any:
    if holds_sparse(array) == sparse:
        return array
    return array.map_blocks(_chunk_in_form, sparse, dtype=array.dtype, meta=_chunk_in_form(array._meta, sparse))


def _chunk_in_form(chunk: Matrix, sparse: bool) -> Matrix:
    from scipy.sparse import csr_matrix

    return csr_matrix(chunk) if sparse else chunk.toarray()
