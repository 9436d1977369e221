"""Votes of members and votes of neighbours as one operator that is never written out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers, row_blocks
from ...types import Floats, Places

__all__ = ["Memberships", "NeighbourGraph", "Space", "few_neighbours", "mixed_operator"]


@dataclass(frozen=True)
class Space:
    """Points in which members are found and neighbours are sought: one view, or all of them side by side.

    ``rows`` (len(items), d) float32 are the points of ``items``, numbers of those items that have the view.
    """

    name: str | None  # None: all views side by side
    key: int  # by which its random numbers are found
    rows: NDArray[np.float32]
    items: NDArray[np.int32]


def few_neighbours(n_neighbours: int, n_items: int, share: float = 0.25, fewest: int = 3) -> int:
    """So many neighbours, but of few items only a share: where each is near half of all, no groups show."""
    return min(n_neighbours, max(fewest, round(share * n_items)))


class Memberships:
    """C = H H', with H_il = w_j / sqrt(r_i c_l) where item i is in cluster l of member j.

    ``labels`` (n, m), -1 where a member leaves an item out; ``weights`` (m,). r_i adds up the weights of the members
    that place item i, c_l those of a cluster's items. Rows of C add up to 1 over items that are placed at all.
    """

    def __init__(self, labels: NDArray[Any], sizes: Places, weights: Floats, threads: Workers) -> None:
        self.labels, self.weights, self._threads = labels, weights, threads
        self.offsets = np.r_[0, np.cumsum(sizes)].astype(np.int64)
        self.n_clusters = int(self.offsets[-1])
        self._blocks = row_blocks(labels.shape[0], 16 * max(1, labels.shape[1]))
        self.masses = self._by_cluster(np.ones(labels.shape[0]))  # c_l
        votes = self._gather(np.ones(self.n_clusters))  # r_i
        self.item_factor = _inverse_root(votes)
        self._cluster_inverse = np.divide(1.0, self.masses, out=np.zeros_like(self.masses), where=self.masses > 0)

    def product(self, x: Floats) -> Floats:
        """C x."""
        return self.item_factor * self._gather(self._cluster_inverse * self._by_cluster(self.item_factor * x))

    def block_product(self, X: Floats) -> Floats:
        """C X for many vectors, (n, b)."""
        from ._kernels import add_rows_by_cluster, gather_tables

        def add(rows: slice) -> Floats:
            out = np.zeros((self.n_clusters, X.shape[1]))
            add_rows_by_cluster(
                self.labels[rows], self.offsets[:-1], self.weights, self.item_factor[rows, None] * X[rows], out
            )
            return out

        table = np.zeros((self.n_clusters, X.shape[1]))
        for part in self._threads.map(add, self._blocks):
            table += part
        table *= self._cluster_inverse[:, None]
        out = np.zeros_like(X)

        def gather(rows: slice) -> None:
            given = (self.labels[rows], self.offsets[:-1], self.weights, table, self.item_factor[rows])
            gather_tables(*given, out[rows])

        for _ in self._threads.map(gather, self._blocks):
            pass
        return out

    def cluster_table(self, vectors: Floats) -> Floats:
        """What a new item receives from each cluster it is in, per vector: H'U over sqrt(c_l)."""
        columns = [self._cluster_inverse * self._by_cluster(self.item_factor * x) for x in vectors.T]
        return np.column_stack(columns)

    def label_table(self, groups: Places, n_groups: int) -> Floats:
        """What ``cluster_table`` gives for the indicator of a partition; items of group -1 are in none."""
        from ._kernels import add_labels_by_cluster

        def block(rows: slice) -> Floats:
            out = np.zeros((self.n_clusters, n_groups))
            given = (self.labels[rows], self.offsets[:-1], self.weights, self.item_factor[rows], groups[rows])
            add_labels_by_cluster(*given, out)
            return out

        total = np.zeros((self.n_clusters, n_groups))
        for part in self._threads.map(block, self._blocks):
            total += part
        return self._cluster_inverse[:, None] * total

    def inside(self, table: Floats) -> Floats:
        """(Y'CY)_cc of the partition behind a ``label_table``."""
        return np.asarray((self.masses[:, None] * table**2).sum(axis=0))

    def add_label_totals(self, rows: slice, table: Floats, factor: float, out: Floats) -> None:
        """Add ``factor`` times (C Y) of some rows."""
        from ._kernels import gather_tables

        given = (self.labels[rows], self.offsets[:-1], self.weights, table, factor * self.item_factor[rows])
        gather_tables(*given, out)

    def _by_cluster(self, x: Floats) -> Floats:
        from ._kernels import add_by_cluster

        def block(rows: slice) -> Floats:
            out = np.zeros(self.n_clusters)
            add_by_cluster(self.labels[rows], self.offsets[:-1], self.weights, x[rows], out)
            return out

        return np.sum(list(self._threads.map(block, self._blocks)), axis=0)

    def _gather(self, y: Floats) -> Floats:
        from ._kernels import gather_clusters

        out = np.empty(self.labels.shape[0])

        def block(rows: slice) -> None:
            gather_clusters(self.labels[rows], self.offsets[:-1], self.weights, y, out[rows])

        for _ in self._threads.map(block, self._blocks):
            pass
        return out


class NeighbourGraph:
    """W = sum over spaces of weight (A + A') / 2, with A_ij = 1/k where j is one of the k nearest of i.

    Kept as each space's lists of partners, 8 k bytes per item and space, because its weights repeat.
    """

    def __init__(
        self,
        n_items: int,
        spaces: Sequence[Space],
        neighbours: Sequence[NDArray[np.int32]],
        weights: Sequence[float],
        threads: Workers,
    ) -> None:
        self.n_items, self._threads = n_items, threads
        self.neighbours = [space.items[found] for space, found in zip(spaces, neighbours, strict=True)]
        self.items = [space.items for space in spaces]
        self.factors = [weight / (2 * named.shape[1]) for weight, named in zip(weights, self.neighbours, strict=True)]
        self._lists = [_partners(n_items, i, named) for i, named in zip(self.items, self.neighbours, strict=True)]
        self.degrees = np.zeros(n_items)
        for factor, (starts, _) in zip(self.factors, self._lists, strict=True):
            self.degrees += factor * np.diff(starts)
        self.item_factor = _inverse_root(self.degrees)
        self._blocks = row_blocks(n_items, 8 * (1 + sum(2 * named.shape[1] for named in self.neighbours)))

    def product(self, x: Floats) -> Floats:
        """S x, with S_ij = W_ij / sqrt(d_i d_j)."""
        return self.item_factor * self.plain_product(self.item_factor * x)

    def block_product(self, X: Floats) -> Floats:
        """S X for many vectors, (n, b)."""
        from ._kernels import add_partner_rows

        X = self.item_factor[:, None] * X
        out = np.zeros_like(X)

        def block(rows: slice) -> None:
            for factor, (starts, partners) in zip(self.factors, self._lists, strict=True):
                add_partner_rows(starts[rows.start : rows.stop + 1], partners, factor, X, out[rows])
            out[rows] *= self.item_factor[rows, None]

        for _ in self._threads.map(block, self._blocks):
            pass
        return out

    def plain_product(self, x: Floats) -> Floats:
        """W x."""
        from ._kernels import add_partners

        out = np.zeros(self.n_items)

        def block(rows: slice) -> None:
            for factor, (starts, partners) in zip(self.factors, self._lists, strict=True):
                add_partners(starts[rows.start : rows.stop + 1], partners, factor, x, out[rows])

        for _ in self._threads.map(block, self._blocks):
            pass
        return out

    def part(self, items: Places) -> Any:
        """W among some of the items (rising numbers), as a CSR matrix in their order."""
        from scipy.sparse import csr_matrix

        place = np.full(self.n_items, -1, dtype=np.int32)
        place[items] = np.arange(items.size, dtype=np.int32)
        rows, columns, weights = [], [], []
        for factor, (starts, partners) in zip(self.factors, self._lists, strict=True):
            lengths = starts[items + 1] - starts[items]
            edges = np.r_[0, np.cumsum(lengths)]
            found = place[partners[np.arange(edges[-1]) + np.repeat(starts[items] - edges[:-1], lengths)]]
            rows.append(np.repeat(np.arange(items.size, dtype=np.int32), lengths)[found >= 0])
            columns.append(found[found >= 0])
            weights.append(np.full(columns[-1].size, factor))
        cells = np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))
        return csr_matrix(cells, shape=(items.size, items.size))  # whoever is named twice is added up

    def between(self, labels: Places, n_clusters: int) -> Floats:
        """Y'WY: the weight between any two clusters, (n_clusters, n_clusters); inside a cluster every pair twice."""
        found = np.zeros(n_clusters * n_clusters)
        for factor, items, named in zip(self.factors, self.items, self.neighbours, strict=True):
            for rows in row_blocks(items.size, 24 * named.shape[1]):
                cells = labels[items[rows], None] * n_clusters + labels[named[rows]]
                found += factor * np.bincount(cells.ravel(), minlength=found.size)
        table = found.reshape(n_clusters, n_clusters)
        return table + table.T

    def inside(self, groups: Places, n_groups: int) -> Floats:
        """(Y'SY)_cc of a partition; items of group -1 are in none."""
        from ._kernels import add_inside

        def block(rows: slice) -> Floats:
            out = np.zeros(n_groups)
            for factor, (starts, partners) in zip(self.factors, self._lists, strict=True):
                given = (starts[rows.start : rows.stop + 1], partners, factor, self.item_factor, groups, rows.start)
                add_inside(*given, out)
            return out

        return np.asarray(sum(self._threads.map(block, self._blocks), np.zeros(n_groups)))

    def add_label_totals(self, rows: slice, groups: Places, factor: float, out: Floats) -> None:
        """Add ``factor`` times (S Y) of some rows."""
        from ._kernels import add_partner_labels

        for weight, (starts, partners) in zip(self.factors, self._lists, strict=True):
            given = (starts[rows.start : rows.stop + 1], partners, factor * weight, self.item_factor, groups)
            add_partner_labels(*given, rows.start, out)

    def shares(self, labels: Places) -> list[float]:
        """For each space the share of its neighbour pairs that share a cluster."""
        return [self._inside(labels, s) / max(1, self.neighbours[s].size) for s in range(len(self.items))]

    def modularity(self, labels: Places) -> float:
        """Weight inside clusters, above what items of the same degrees would have by chance."""
        total = float(self.degrees.sum())
        if total == 0:
            return 0.0
        inside = sum(2 * factor * self._inside(labels, s) for s, factor in enumerate(self.factors))
        held = np.bincount(labels, weights=self.degrees) / total
        return float(inside / total - held @ held)

    def _inside(self, labels: Places, space: int) -> int:
        items, named = self.items[space], self.neighbours[space]
        blocks = row_blocks(items.size, 16 * named.shape[1])
        return sum(int((labels[named[rows]] == labels[items[rows], None]).sum()) for rows in blocks)


def mixed_operator(alpha: float, graph: NeighbourGraph, memberships: Memberships) -> Any:
    """T = alpha S + (1 - alpha) C."""
    from scipy.sparse.linalg import LinearOperator

    def product(x: Floats) -> Floats:
        x = np.ascontiguousarray(x, dtype=np.float64).ravel()
        out = np.zeros(graph.n_items)
        if alpha > 0:
            out += alpha * graph.product(x)
        if alpha < 1:
            out += (1.0 - alpha) * memberships.product(x)
        return out

    def block_product(X: Floats) -> Floats:
        X = np.ascontiguousarray(X, dtype=np.float64)
        out = graph.block_product(X) if alpha > 0 else np.zeros_like(X)
        out *= alpha
        if alpha < 1:
            more = memberships.block_product(X)
            more *= 1.0 - alpha
            out += more
        return out

    shape = (graph.n_items, graph.n_items)
    return LinearOperator(shape, matvec=product, matmat=block_product, dtype=np.float64)


def _partners(
    n_items: int, items: NDArray[np.int32], named: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    from ._kernels import both_directions

    lengths = np.bincount(named.ravel(), minlength=n_items)
    lengths[items] += named.shape[1]
    starts = np.r_[0, np.cumsum(lengths)].astype(np.int64)
    partners = np.empty(int(starts[-1]), dtype=np.int32)
    both_directions(items, named, starts, np.zeros(n_items, dtype=np.int64), partners)
    return starts, partners


def _inverse_root(values: Floats) -> Floats:
    return np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
