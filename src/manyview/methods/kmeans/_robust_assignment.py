"""The assignment step of robust multi-view k-means, a block of items at a time. Symbols as in ``_robust_rounds``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers, row_blocks
from ...types import Floats, Places
from . import _robust_kmeans_kernels as kernels
from ._scaled_views import Centroids, ScaledView

__all__ = ["Field", "Spare", "assign_block", "assign_items", "blocks", "make_field"]

T = TypeVar("T")

BLOCK_BYTES = 32 * 2**20
MOST_ROWS = 4096  # so many are summed in the type of the data before float64 takes over


def blocks(views: Sequence[ScaledView], n_clusters: int) -> list[slice]:
    """Blocks large enough that adding up their sums costs little, small against memory."""
    row_bytes = sum(view.row_bytes + 8 * n_clusters for view in views)
    return row_blocks(views[0].present.size, max(row_bytes, BLOCK_BYTES / MOST_ROWS), BLOCK_BYTES)


class Spare(Generic[T]):
    """A pool of block buffers: touching new pages costs more than the arithmetic."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._free: list[T] = []  # threads may append and pop as they like

    def take(self) -> T:
        try:
            return self._free.pop()
        except IndexError:
            return self._make()

    def give(self, one: T) -> None:
        self._free.append(one)


class _Desk:
    """Room to assign the rows of one block."""

    def __init__(self, n_views: int, n_rows: int, n_clusters: int, dtype: np.dtype[np.floating]) -> None:
        self.n_views, self.n_clusters = n_views, n_clusters
        self._products = np.empty(n_views * n_rows * n_clusters, dtype=dtype)
        self._pairs = np.empty(2 * n_rows * n_clusters, dtype=np.intp)

    def products(self, n_rows: int) -> NDArray[np.floating]:
        """(n_views, n, K)"""
        whole = self._products[: self.n_views * n_rows * self.n_clusters]
        return whole.reshape(self.n_views, n_rows, self.n_clusters)

    def pairs(self, n_rows: int) -> Places:
        """(2, n K), an item and a cluster that are still open"""
        return self._pairs[: 2 * n_rows * self.n_clusters].reshape(2, -1)


@dataclass(frozen=True)
class Field:
    """The centroids of all views, prepared once for a pass over the blocks, and room for these to work in."""

    centroids: Sequence[Centroids]
    norms: Floats  # (n_views, K)
    squares: NDArray[np.floating]  # (n_views, K), in the type of the products
    slack: Floats  # (n_views,), relative error of an inner product
    desks: Spare[_Desk]


def make_field(views: Sequence[ScaledView], points: Sequence[Floats]) -> Field:
    """Round points to the types of the views and prepare a pass."""
    centroids = [view.centroids(F) for view, F in zip(views, points, strict=True)]
    dtype = np.result_type(*(c.folded.dtype for c in centroids))
    norms = np.array([c.norms for c in centroids])
    slack = np.array([view.slack for view in views]) + 4 * len(views) * float(np.finfo(dtype).eps)
    n_views, K = norms.shape
    n_rows = max(rows.stop - rows.start for rows in blocks(views, K))
    return Field(centroids, norms, (norms**2).astype(dtype), slack, Spare(lambda: _Desk(n_views, n_rows, K, dtype)))


def assign_block(
    views: Sequence[ScaledView], rows: slice, field: Field, weight: Floats, rule: str
) -> tuple[Places, Floats]:
    """The cheapest cluster for each row, given each view's weight for each row (0 where it is missing).

    With the squared distances to it in each view, as far as inner products tell them; -1 for the others.
    """
    desk = field.desks.take()
    n_rows = rows.stop - rows.start
    products, pairs = desk.products(n_rows), desk.pairs(n_rows)
    norms = np.empty((len(views), n_rows))
    for v, view in enumerate(views):
        view.products(rows, field.centroids[v], products[v])
        norms[v] = view.norms(rows)
    labels, squares = np.empty(n_rows, dtype=np.intp), np.empty((len(views), n_rows))
    if rule == "literal":
        cost, largest = np.empty(desk.n_clusters, dtype=products.dtype), field.norms.max(axis=1)
        known = (norms, field.squares, largest, weight, field.slack)
        n_open = kernels.choose_literal(products, *known, cost, labels, *pairs)
    else:
        cost = np.empty(desk.n_clusters)
        n_open = kernels.choose_exact(products, norms, field.norms, weight, field.slack, cost, labels, *pairs)
    if n_open:
        which, cluster = pairs[:, :n_open]
        pair_cost = np.zeros(n_open)
        for v, view in enumerate(views):
            apart = view.pair_squared_distances(rows, which, cluster, field.centroids[v])
            pair_cost += weight[v, which] * (apart if rule == "literal" else np.sqrt(apart))
        kernels.settle(which, cluster, pair_cost, labels)
    kernels.own_squares(products, norms, field.norms, labels, squares)
    field.desks.give(desk)
    return labels, squares


def assign_items(
    views: Sequence[ScaledView],
    points: Sequence[Floats],
    weights: Floats,
    workers: Workers,
    distances: bool = False,
) -> tuple[Places, Floats]:
    """Label items by the smallest ``sum_v weights_v |x^v - f_k^v|``; with their distances per view if asked."""
    field = make_field(views, points)

    def block(rows: slice) -> tuple[Places, Floats]:
        weight = np.array([w * view.present[rows] for w, view in zip(weights, views, strict=True)])
        labels, _ = assign_block(views, rows, field, weight, "exact")
        if not distances:
            return labels, np.empty((len(views), 0))
        each = np.arange(labels.size)
        squares = [view.pair_squared_distances(rows, each, labels, field.centroids[v]) for v, view in enumerate(views)]
        return labels, np.sqrt(squares)

    parts = list(workers.map(block, blocks(views, field.norms.shape[1])))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts], axis=1)
