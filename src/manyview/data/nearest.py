"""The nearest rows: who is compared with whom, who is left out, and who comes first among equals.

Two searches. ``nearest_among`` goes by distance and is exact to the last tie; ``most_alike`` goes by inner product and
takes sparse rows. Both compare every pair, or only what ``within`` lists: queries, and the rows they look among. Each
caller decides from how many items on that is worth its misses, and by which groups: making groups is for methods.

Where a graphics processor works (``manyview.on("cuda")``), it proposes rows for the first search over all pairs, and
says how near all others can be at most; who is nearest is decided here, among the proposed rows, or among all where
that is not enough. So neighbours are the same with and without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, is_sparse
from ..blocks import Workers, row_blocks
from ..types import Mask, Places, Singles

__all__ = [
    "PROPOSER",
    "Proposals",
    "Within",
    "alike_among",
    "best_first",
    "largest",
    "most_alike",
    "nearest_among",
    "proposed_alike",
]

Numbers: TypeAlias = NDArray[np.int32]
Within: TypeAlias = Sequence[tuple[Any, Any]]
"""Row numbers of some queries, and of the rows among which they look (rising; None: all of them)."""


class Proposals(Protocol):
    """Rows that may be the nearest of a query, for as many as ``n_queries`` at once."""

    @property
    def n_queries(self) -> int: ...

    def __call__(self, queries: Singles) -> tuple[Numbers, NDArray[np.float64]]:
        """More than ``k`` different rows for each query, and what the squared distance of all others is not below."""


PROPOSER: ContextVar[Callable[[int, Singles, int], Proposals | None] | None] = ContextVar(
    "manyview_proposer", default=None
)
"""Makes proposals from the number of queries, the rows and ``k``, or None where that is not worth it; ``manyview.on``
sets it."""

_QUERIES, _CANDIDATES = 1_024, 8_192  # the tile of inner products, 32 MB


def largest(scores: NDArray[Any], k: int) -> Places:
    """Places of the ``k`` largest along the last axis, in no order; which of several equal ones is left open."""
    n = scores.shape[-1]
    return np.argpartition(scores, n - k, axis=-1)[..., n - k :]


def best_first(scores: NDArray[Any], k: int) -> tuple[Places, NDArray[Any]]:
    """Places and values of the ``k`` largest along the last axis, largest first, equal ones by their place."""
    best = largest(scores, min(k, scores.shape[-1]))
    values = np.take_along_axis(scores, best, axis=-1)
    order = np.lexsort((best, -values), axis=-1)
    return np.take_along_axis(best, order, axis=-1), np.take_along_axis(values, order, axis=-1)


class _Some:
    """The rows that some queries are compared with, picked out once for all of their blocks; None takes every row."""

    def __init__(self, rows: Matrix, among: Places | None) -> None:
        self._all, self.among = rows, among

    @property
    def size(self) -> int:
        return int(self._all.shape[0]) if self.among is None else self.among.size

    @cached_property
    def rows(self) -> Matrix:
        return self._all if self.among is None else self._all[self.among]

    def places(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Where each row stands among them, -1 where it does not."""
        if self.among is None:
            return numbers
        place = np.minimum(np.searchsorted(self.among, numbers), self.among.size - 1)
        return np.where(self.among[place] == numbers, place, -1)


def most_alike(
    queries: Matrix,
    rows: Matrix,
    k: int,
    threads: Workers,
    *,
    present: Mask | None = None,
    own: NDArray[Any] | None = None,
    within: Within | None = None,
    block_bytes: int | None = None,
) -> tuple[Numbers, NDArray[Any]]:
    """The ``k`` rows of largest inner product with each query, best first, and the products; both (n_queries, k).

    Rows that are not ``present`` are nobody's neighbour, nor is the row that ``own`` names for a query. Where there
    are fewer than ``k``, a product of -inf fills the rest. Takes O(n_queries x n_rows x d) time, and a block of
    products for each thread.
    """
    from ._nearest_kernels import keep_alike

    n_queries = queries.shape[0]
    ids = np.zeros((n_queries, k), dtype=np.int32)
    products = np.full((n_queries, k), -np.inf, dtype=np.result_type(queries, rows))

    everyone = np.ones(rows.shape[0], dtype=bool) if present is None else present

    def search(asking: Any, some: _Some) -> None:
        near = queries[asking] @ some.rows.T
        near = near.toarray() if is_sparse(near) else near
        best, values = ids[asking], products[asking]
        mine = np.full(asking.size, -1) if own is None else some.places(own[asking])
        keep_alike(near, everyone if some.among is None else everyone[some.among], mine, best, values)
        ids[asking] = best if some.among is None else some.among[best]
        products[asking] = values

    tasks: list[Any] = []
    for asking, among in [(np.arange(n_queries), None)] if within is None else within:
        some = _Some(rows, among)
        tasks += [(asking[b], some) for b in row_blocks(asking.size, 8.0 * some.size, block_bytes)]

    def run(which: slice) -> None:
        search(*tasks[which.start])
        tasks[which.start] = None  # with the last of its blocks the rows that were picked out can go

    for _ in threads.map(run, [slice(t, t + 1) for t in range(len(tasks))]):
        pass
    return ids, products


def alike_among(
    rows: Matrix, k: int, threads: Workers, present: Mask, watched: Places | None = None
) -> tuple[Numbers, NDArray[Any], NDArray[Any]]:
    """``most_alike`` of rows to each other, nobody being alike to itself, for half of the products.

    Strips of the upper half are read along their rows by threads, and down their columns here, in order. The products
    of every row with the ``watched`` ones (row numbers, rising) come third: (n_rows, n_watched).
    """
    from ._nearest_kernels import join_alike, keep_alike, keep_alike_below

    n_rows = rows.shape[0]
    ids = np.zeros((n_rows, k), dtype=np.int32)
    best = np.full((n_rows, k), -np.inf, dtype=rows.dtype)
    worst = np.full(n_rows, -np.inf, dtype=rows.dtype)
    watched = np.zeros(0, dtype=np.int64) if watched is None else watched
    seen = np.empty((n_rows, watched.size), dtype=rows.dtype)

    def strip(block: slice) -> tuple[slice, Any, Numbers, NDArray[Any]]:
        near = rows[block] @ rows[block.start :].T
        near = near.toarray() if is_sparse(near) else near
        found, products = np.zeros_like(ids[block]), np.full_like(best[block], -np.inf)
        keep_alike(near, present[block.start :], np.arange(near.shape[0]), found, products)
        return block, near, found, products

    for block, near, found, products in threads.map(strip, row_blocks(n_rows, rows.dtype.itemsize * float(n_rows))):
        join_alike(found + np.int32(block.start), products, ids[block], best[block])
        keep_alike_below(near, block.start, present, worst, ids, best)
        first, last = np.searchsorted(watched, [block.start, block.stop])
        seen[block, first:] = near[:, watched[first:] - block.start]
        seen[block.stop :, first:last] = near[watched[first:last] - block.start, near.shape[0] :].T
    return ids, best, seen


def nearest_among(
    queries: Singles,
    rows: Singles,
    k: int,
    threads: Workers,
    *,
    own: Numbers | None = None,
    within: Within | None = None,
    numbers: Numbers | None = None,
) -> Numbers:
    """The ``k`` rows nearest to each query, nearest first, ties by lowest row number: int32 (n_queries, k).

    The row that ``own`` names for a query is left out. There must be ``k`` others among those compared. ``numbers``
    are the rows' own where they stand in another order, by which they are named, left out and told apart in ties.
    """
    proposals = _proposals(queries, rows, k) if within is None else None
    return _nearest(queries, _Ground(rows, numbers), k, threads, own, within, proposals)


def proposed_alike(
    queries: Singles, rows: Singles, k: int, threads: Workers, *, own: Numbers | None = None
) -> tuple[Numbers, Singles] | None:
    """Of rows of length one, the ``k`` most alike to each query and their products; None where nobody proposes any.

    The nearest of such rows are the most alike, and those are found faster where a graphics processor works. Rows whose
    products differ in the last digit may come in another order than ``most_alike`` gives them.
    """
    proposals = _proposals(queries, rows, k)
    if proposals is None:
        return None
    ids = _nearest(queries, _Ground(rows), k, threads, own, None, proposals)
    products = np.empty(ids.shape, dtype=np.float32)

    def multiply(block: slice) -> None:
        products[block] = np.einsum("qd,qkd->qk", queries[block], rows[ids[block]])

    for _ in threads.map(multiply, row_blocks(ids.shape[0], 4.0 * k * rows.shape[1])):
        pass
    return ids, products


def _proposals(queries: Singles, rows: Singles, k: int) -> Proposals | None:
    make = PROPOSER.get()
    return None if make is None else make(queries.shape[0], rows, k)


class _Ground:
    """The rows that are searched, their numbers and, where asked for, their squared lengths."""

    def __init__(self, rows: Singles, numbers: Numbers | None = None) -> None:
        self.rows = rows
        self.numbers = np.arange(rows.shape[0], dtype=np.int32) if numbers is None else numbers

    @cached_property
    def squares(self) -> Singles:
        return np.asarray(np.einsum("ij,ij->i", self.rows, self.rows))


def _nearest(
    queries: Singles,
    ground: _Ground,
    k: int,
    threads: Workers,
    own: Numbers | None,
    within: Within | None,
    proposals: Proposals | None,
) -> Numbers:
    ids = np.empty((queries.shape[0], k), dtype=np.int32)
    if within is None:
        n_together = _QUERIES if proposals is None else proposals.n_queries
        cuts = range(0, queries.shape[0], n_together)
        within = [(np.arange(s, min(s + n_together, queries.shape[0])), None) for s in cuts]

    def search(which: slice) -> None:
        for asking, among in within[which]:
            mine = np.full(asking.size, -1, dtype=np.int32) if own is None else own[asking]
            if proposals is None:
                ids[asking] = _by_distance(queries[asking], mine, ground, among, k)
            else:
                ids[asking] = _by_proposals(queries[asking], mine, ground, k, proposals)

    step = 16 if any(among is not None for _, among in within) else 1  # groups are small
    for _ in threads.map(search, [slice(t, t + step) for t in range(0, len(within), step)]):
        pass
    return ids


def _by_proposals(points: Singles, own: Numbers, ground: _Ground, k: int, proposals: Proposals) -> Numbers:
    """The nearest of the proposed rows; of all, for queries to which another row may be as near as these."""
    from ._nearest_kernels import keep_proposed

    proposed, others = proposals(points)
    ids, distances = _empty_lists(points.shape[0], k)
    keep_proposed(points, own, np.ascontiguousarray(ground.rows), proposed, ids, distances)
    is_open = ~(others > distances[:, -1])
    for start in range(0, np.count_nonzero(is_open), _QUERIES):
        part = np.flatnonzero(is_open)[start : start + _QUERIES]
        ids[part] = _by_distance(points[part], own[part], ground, None, k)
    return ids


def _empty_lists(n_queries: int, k: int) -> tuple[Numbers, Singles]:
    ids = np.full((n_queries, k), np.iinfo(np.int32).max, dtype=np.int32)
    return ids, np.full((n_queries, k), np.inf, dtype=np.float32)


def _by_distance(points: Singles, own: Numbers, ground: _Ground, among: Numbers | None, k: int) -> Numbers:
    """The nearest of all rows, or of those ``among`` which is looked, by their places."""
    from ._nearest_kernels import keep_nearest

    ids, distances = _empty_lists(points.shape[0], k)
    lengths = np.einsum("ij,ij->i", points, points)
    # A product of d terms is wrong by at most d/2 roundings of |a||b| <= (|a|^2 + |b|^2) / 2; we allow twice that.
    slack = np.float32((points.shape[1] + 16) * np.finfo(np.float32).eps)
    for start in range(0, ground.numbers.size if among is None else among.size, _CANDIDATES):
        some = slice(start, start + _CANDIDATES)
        places = some if among is None else among[some]
        block, squares = np.ascontiguousarray(ground.rows[places]), ground.squares[places]
        given = (points, lengths, own, block, squares, ground.numbers[places], points @ block.T, slack)
        keep_nearest(*given, ids, distances)
    return ids
