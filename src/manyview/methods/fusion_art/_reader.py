"""How data come to the field of FusionART: which view is which channel, and blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, is_sparse
from ...blocks import row_blocks
from ...data.views import Views
from ...types import Floats
from ._state import Block, Field

__all__ = ["Channels", "Reader"]


BLOCK_BYTES = 2**20
BLOCK_ROWS = 512


@dataclass(frozen=True)
class Channels:
    """Which view is which channel: content first, then tags, each kind in the order of the views."""

    views: tuple[int, ...]
    names: tuple[str, ...]
    widths: tuple[int, ...]
    n_content: int

    @classmethod
    def of(cls, kinds: dict[str, str], widths: dict[str, int]) -> Channels:
        names = tuple(kinds)
        content = [v for v, name in enumerate(names) if kinds[name] == "content"]
        views = (*content, *(v for v in range(len(names)) if v not in content))
        ordered = tuple(names[v] for v in views)
        return cls(views, ordered, tuple(widths[name] for name in ordered), len(content))

    @property
    def n_channels(self) -> int:
        return len(self.views)

    @property
    def content_at(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.widths[: self.n_content])]).astype(np.int64)

    @property
    def tags_at(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.widths[self.n_content :])]).astype(np.int64)

    def in_view_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values per channel, along the last axis, in the order of the views."""
        out = np.empty_like(values)
        out[..., list(self.views)] = values
        return out

    def in_channel_order(self, values: Any) -> Floats:
        return np.asarray(values, dtype=np.float64)[list(self.views)]


class Reader:
    """Cuts a ``Views`` into blocks: content of all channels side by side, tags as lists of numbers."""

    def __init__(self, views: Views, channels: Channels) -> None:
        self.channels = channels
        matrices = [views.values()[v] for v in channels.views]
        self.content = matrices[: channels.n_content]
        self.tags = [_without_zeros(matrix) for matrix in matrices[channels.n_content :]]
        self.has = views.mask[:, list(channels.views)]
        self.n_items = views.n_items
        self.row_bytes = 4.0 * float(channels.content_at[-1]) + 64

    @property
    def most_tags(self) -> int:
        """The largest number of tags that one item has in one channel."""
        return max((_most(matrix) for matrix in self.tags), default=0)

    def blocks(self, block_bytes: int = BLOCK_BYTES) -> list[slice]:
        return row_blocks(self.n_items, max(self.row_bytes, block_bytes / BLOCK_ROWS), block_bytes)

    def block(self, rows: Any, field: Field, keep_raw: bool = False, into: NDArray[Any] | None = None) -> Block:
        """Some rows (a slice or integers), ready for the loops of a field.

        Raw values are kept if asked for and any of them lies outside the field's bounds, which then must widen.
        ``into`` is a float32 array with enough rows that may be written over.
        """
        from ._kernels import scale_rows

        has = np.ascontiguousarray(self.has[rows])
        n_rows, at = has.shape[0], self.channels.content_at
        coded = np.empty((n_rows, int(at[-1])), dtype=np.float32) if into is None else into[:n_rows]
        numbers = np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows
        outside = 0
        for k, matrix in enumerate(self.content):
            taken, cut = numbers, slice(int(at[k]), int(at[k + 1]))
            if is_sparse(matrix) or not matrix.flags.c_contiguous:
                matrix, taken = _dense_rows(matrix, rows), np.arange(n_rows)
            here = np.ascontiguousarray(has[:, k])
            outside += scale_rows(
                matrix, taken, here, field.low[cut], field.high[cut], field.stretch[cut], coded, cut.start
            )
        raw = np.empty((n_rows if keep_raw and outside else 0, int(at[-1])))
        if raw.size:
            for k, matrix in enumerate(self.content):
                raw[:, at[k] : at[k + 1]] = _dense_rows(matrix, rows)
        starts = np.zeros((n_rows, len(self.tags)), dtype=np.int64)
        lengths = np.zeros_like(starts)
        ids: list[NDArray[Any]] = []
        offset = 0
        for t, matrix in enumerate(self.tags):
            found, lengths[:, t] = _tags_of(matrix, numbers, int(self.channels.tags_at[t]))
            starts[:, t] = offset + np.cumsum(lengths[:, t]) - lengths[:, t]
            offset += found.size
            ids.append(found)
        joined = np.concatenate(ids) if ids else np.empty(0)
        return Block(coded, raw, has, starts, lengths, joined.astype(np.int64, copy=False))


def _dense_rows(matrix: Matrix, rows: Any) -> NDArray[Any]:
    part = matrix[rows]
    part = part.toarray() if is_sparse(part) else np.ascontiguousarray(part)
    part.flags.writeable = False  # as all views are: loops are compiled for each kind of array
    return part


def _tags_of(matrix: Matrix, rows: NDArray[np.intp], first: int) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Tag numbers of some rows, one row after another, counted from ``first``, and how many each row has."""
    if not is_sparse(matrix):
        part = np.nan_to_num(matrix[rows])
        at, found = np.nonzero(part)
        return found + first, np.bincount(at, minlength=part.shape[0])
    from ._kernels import gather_tags

    lengths = matrix.indptr[rows + 1] - matrix.indptr[rows]
    found = np.empty(int(lengths.sum()), dtype=np.int64)
    gather_tags(matrix.indices, matrix.indptr, rows, first, found)
    return found, lengths


def _without_zeros(matrix: Matrix) -> Matrix:
    if is_sparse(matrix) and (matrix.data == 0).any():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def _most(matrix: Matrix) -> int:
    if is_sparse(matrix):
        return int(np.diff(matrix.indptr).max(initial=0))
    return int(matrix.shape[1])
