"""A forest as plain arrays: grown tree by tree on threads, used to send items to leaves and to list leaf mates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers, row_blocks

__all__ = ["Forest", "Mates", "Shares", "grow_clustering_forest", "grow_forest", "layer_arrays"]

Codes = NDArray[Any]
MAX_LEAF = 2000  # larger leaves would make millions of pairs; they are halved, or cut where nothing tells items apart
_DRAWN = 200_000_000  # values of made-up items drawn in all, about
_NODE = ("feature", "cut", "child", "absent", "size")


@dataclass(frozen=True)
class Forest:
    """The nodes of all trees, one after the other; ``_tag_forest_kernels.grow_tree`` says what each array holds."""

    feature: NDArray[np.int32]
    cut: NDArray[np.int32]
    child: NDArray[np.int32]
    absent: NDArray[np.int8]
    size: NDArray[np.int32]
    tree_start: NDArray[np.int64]
    leaf_start: NDArray[np.int64]

    @property
    def n_trees(self) -> int:
        return self.tree_start.size - 1

    @classmethod
    def join(cls, forests: list[Forest]) -> Forest:
        """The trees of several forests as one."""
        nodes: dict[str, Any] = {name: np.concatenate([getattr(forest, name) for forest in forests]) for name in _NODE}
        starts: dict[str, Any] = {}
        for name in ("tree_start", "leaf_start"):
            counts = np.concatenate([np.diff(getattr(forest, name)) for forest in forests])
            starts[name] = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return cls(**nodes, **starts)

    def state(self) -> dict[str, NDArray[Any]]:
        """The arrays by name, as they are kept in a model."""
        return dict(vars(self))

    def leaves_of(self, codes: Codes, missing: int, threads: Workers) -> NDArray[np.int32]:
        """The leaf of every item in every tree, ``n_items x n_trees``."""
        from ._kernels import route

        leaves = np.empty((codes.shape[1], self.n_trees), dtype=np.int32)
        nodes = [getattr(self, name) for name in _NODE]

        def block(rows: slice) -> None:
            route(np.ascontiguousarray(codes[:, rows]), *nodes, self.tree_start, missing, leaves[rows])

        for _ in threads.map(block, row_blocks(codes.shape[1], codes.shape[0] + 4 * self.n_trees, 2**20)):
            pass
        return leaves

    def shares_of(self, codes: Codes, missing: int) -> Shares:
        """The leaves that items reach with their shares; several per tree where features are missing."""
        from ._kernels import route_shares

        nodes = [getattr(self, name) for name in _NODE]
        return Shares(
            *route_shares(np.ascontiguousarray(codes), *nodes, self.tree_start, self.leaf_start[:-1], missing)
        )


@dataclass(frozen=True)
class Shares:
    """Which leaves (numbered over all trees) items reach, with what share: CSR-like rows."""

    ptr: NDArray[np.int64]
    leaf: NDArray[np.int64]
    share: NDArray[np.float32]

    @classmethod
    def of_training(cls, leaves: NDArray[np.int32], leaf_start: NDArray[np.int64]) -> Shares:
        """Training items reach one leaf per tree; none where they take no part."""
        n_items, n_trees = leaves.shape
        held = leaves[:, :1] >= 0 if n_trees else np.zeros((n_items, 1), dtype=bool)
        ptr = np.concatenate([[0], np.cumsum(np.where(held.ravel(), n_trees, 0))]).astype(np.int64)
        leaf = (leaves + leaf_start[None, :-1])[held.ravel()].ravel().astype(np.int64)
        return cls(ptr, leaf, np.ones(leaf.size, dtype=np.float32))


class Mates:
    """Who shares a leaf with whom among the training items: the members of every leaf, 4 bytes per item and tree."""

    def __init__(self, leaves: NDArray[np.int32], leaf_start: NDArray[np.int64], threads: Workers) -> None:
        from ._leaf_kernels import list_mates

        n_trees = leaves.shape[1]
        n_present = int((leaves[:, 0] >= 0).sum()) if n_trees else 0  # who takes part in one tree takes part in all
        self.leaves, self.leaf_start, self.max_mates = leaves, leaf_start, MAX_LEAF
        self.mates = np.empty(n_trees * n_present, dtype=np.int32)
        self.first = np.empty(int(leaf_start[-1]) + 1, dtype=np.int64)
        self.first[-1] = self.mates.size

        def block(trees: slice) -> None:
            columns = np.ascontiguousarray(leaves[:, trees].T)
            for t, column in enumerate(columns, trees.start):
                begin = t * n_present
                mates, first = self.mates[begin : begin + n_present], self.first[leaf_start[t] : leaf_start[t + 1]]
                list_mates(column, begin, mates, first)

        for _ in threads.map(block, row_blocks(n_trees, 8 * leaves.shape[0], 2**21)):
            pass

    def _room(self, blocks: list[slice]) -> NDArray[np.int64]:
        """Where the row of each item may begin among all entries of the affinity, so that it never meets the next."""
        n_items, sizes = self.leaves.shape[0], np.minimum(np.diff(self.first), self.max_mates)
        most = np.zeros(n_items + 1, dtype=np.int64)
        for rows in blocks:
            leaves = self.leaves[rows]
            mates = np.where(leaves >= 0, sizes[leaves + self.leaf_start[:-1]], 0).sum(axis=1)
            most[rows.start + 1 : rows.stop + 1] = np.minimum(mates, n_items)
        return np.cumsum(most)

    def affinity(self, threads: Workers) -> Any:
        """A = Z Z' / n_trees as CSR float32, with the diagonal (10)."""
        from scipy.sparse import csr_matrix

        from ._leaf_kernels import affinity_rows

        n_items = self.leaves.shape[0]
        blocks = row_blocks(n_items, 1, 1000)
        room = self._room(blocks)  # pages that stay empty are never given by the system
        indices, values = np.empty(room[-1], dtype=np.int32), np.empty(room[-1], dtype=np.float32)
        lengths = np.zeros(n_items, dtype=np.int64)

        def block(rows: slice) -> tuple[int, int]:
            begin, end = int(room[rows.start]), int(room[rows.stop])
            return begin, affinity_rows(*self._of(rows), lengths[rows], indices[begin:end], values[begin:end])

        used = 0
        for begin, count in threads.map(block, blocks):
            for array in (indices, values):
                array[used : used + count] = array[begin : begin + count]
            used += count
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        return csr_matrix((values[:used], indices[:used], ptr), shape=(n_items, n_items))

    def _of(self, rows: slice) -> tuple[Any, ...]:
        """What the kernels are told of some training items and their mates."""
        n_items = self.leaves.shape[0]
        return self.leaves[rows], self.leaf_start, rows.start, n_items, self.first, self.mates, self.max_mates

    def nearest(self, n_neighbors: int, threads: Workers) -> Any:
        """The largest affinities of each item to others, as CSR float32 rows, largest first."""
        from ._leaf_kernels import nearest_rows

        n_items, n_trees = self.leaves.shape
        k = max(1, min(n_neighbors, n_items - 1))

        def block(rows: slice) -> tuple[Any, Any]:
            neighbors = np.empty((rows.stop - rows.start, k), dtype=np.int32)
            counts = np.empty((rows.stop - rows.start, k), dtype=np.uint16)
            nearest_rows(*self._of(rows), neighbors, counts)
            return neighbors, counts

        parts = list(threads.map(block, row_blocks(n_items, 1, 1000)))
        neighbors, counts = (np.concatenate([part[which] for part in parts]) for which in (0, 1))
        return _rows_to_csr(neighbors, counts / np.float32(max(1, n_trees)), n_items)

    def nearest_to(self, shares: Shares, n_neighbors: int) -> Any:
        """The largest affinities of new items to training items, as CSR float32 rows, largest first."""
        from ._leaf_kernels import new_rows

        n_items, n_trees = self.leaves.shape
        k = max(1, min(n_neighbors, n_items))
        neighbors = np.empty((shares.ptr.size - 1, k), dtype=np.int32)
        weight = np.empty(neighbors.shape, dtype=np.float32)
        reached = shares.ptr, shares.leaf, shares.share
        new_rows(*reached, n_items, self.first, self.mates, self.max_mates, neighbors, weight)
        return _rows_to_csr(neighbors, weight / np.float32(n_trees), n_items)


def _rows_to_csr(columns: NDArray[np.int32], values: NDArray[Any], n_columns: int) -> Any:
    from scipy.sparse import csr_matrix

    held = columns >= 0
    ptr = np.concatenate([[0], np.cumsum(held.sum(axis=1))])
    return csr_matrix((values[held], columns[held], ptr), shape=(columns.shape[0], n_columns))


def layer_arrays(layers: list[Any]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """The CSR rows of all layers one after the other: pointers ``n_layers x (n_items + 1)``, tags, values."""
    ends = np.cumsum([0, *(layer.nnz for layer in layers)])
    ptr = np.array([layer.indptr.astype(np.int64) + end for layer, end in zip(layers, ends, strict=False)])
    tag = np.concatenate([layer.indices.astype(np.int32) for layer in layers])
    value = np.concatenate([layer.data.astype(np.float32) for layer in layers])
    return np.ascontiguousarray(ptr), tag, value


def grow_forest(
    codes: Codes,
    layers: list[Any],
    items: NDArray[np.int32],
    quota: NDArray[np.int64],
    view_start: NDArray[np.int64],
    *,
    seeds: list[int],
    min_leaf: int,
    min_split: int,
    missing: int,
    n_kept: int,
    threads: Workers,
    report: Callable[[], None],
) -> tuple[Forest, NDArray[np.int32], float]:
    """Grow a tree from each seed: (forest, leaves of the first ``n_kept`` items, share left mixed).

    The last is the share of item places, over all trees, in leaves of more than ten times ``min_leaf`` whose tags still
    vary: no feature tried told them apart.
    """
    from ._kernels import grow_tree

    ptr, tag, value = layer_arrays(layers)
    n_tags, n_trees = layers[0].shape[1], len(seeds)
    leaves = np.empty((n_kept, n_trees), dtype=np.int32)

    def tree(which: slice) -> tuple[Any, ...]:
        try:
            *nodes, leaf, mixed = grow_tree(
                codes, ptr, tag, value, items.copy(), quota, view_start, n_tags, min_leaf, min_split, MAX_LEAF, missing,
                np.uint64(seeds[which.start]),
            )  # fmt: skip
        except SystemError as error:  # a Ctrl-C in the middle, which numba wraps when it hands arrays over
            stopped: BaseException | None = error
            while isinstance(stopped, SystemError):
                stopped = stopped.__cause__ or stopped.__context__
            raise stopped or error from None
        leaves[:, which.start] = leaf[:n_kept]
        sizes = np.bincount(leaf[leaf >= 0], minlength=mixed.size)
        lost = int(sizes[mixed & (sizes > 10 * min_leaf)].sum())
        return nodes, mixed.size, lost

    parts: dict[str, list[Any]] = {name: [] for name in _NODE}
    n_leaves, n_nodes, lost = [0], [0], 0
    for nodes, count, few in threads.map(tree, [slice(t, t + 1) for t in range(n_trees)]):
        for name, array in zip(_NODE, nodes, strict=True):
            parts[name].append(array)
        n_nodes.append(nodes[0].size)
        n_leaves.append(count)
        lost += few
        report()
    forest = Forest(
        **{name: np.concatenate(parts.pop(name)) for name in _NODE},  # one by one, so that never two of all are held
        tree_start=np.cumsum(n_nodes).astype(np.int64),
        leaf_start=np.cumsum(n_leaves).astype(np.int64),
    )
    return forest, leaves, lost / max(1, items.size * n_trees)


def grow_clustering_forest(
    codes: Codes, items: NDArray[np.int32], *args: Any, seeds: list[int], **settings: Any
) -> tuple[Forest, NDArray[np.int32], float]:
    """As ``grow_forest``, without tags: real items beside as many made-up ones, whose features are drawn apart.

    Telling the two apart finds where real items crowd. Made-up items are drawn with replacement (a permutation would
    leave every single feature alike in both, and no tree could begin), anew for each tree as long as that is cheap, at
    least five times. Doubles the memory of the codes.
    """
    from scipy.sparse import csr_matrix

    n_items = codes.shape[1]
    both = np.empty((codes.shape[0], n_items + items.size), dtype=codes.dtype)
    both[:, :n_items] = codes
    real = np.zeros((both.shape[1], 1), dtype=np.float32)
    real[:n_items] = 1.0
    every = np.concatenate([items, np.arange(n_items, both.shape[1], dtype=np.int32)])
    n_draws = min(len(seeds), max(5, _DRAWN // codes.size))
    found = []
    for some in np.array_split(np.array(seeds, dtype=np.uint64), n_draws):
        rng = np.random.default_rng(some)
        for feature in range(codes.shape[0]):
            both[feature, n_items:] = codes[feature, rng.choice(items, items.size)]
        part = grow_forest(both, [csr_matrix(real)], every, *args, seeds=some.tolist(), **settings)
        found.append(part)
    forests, leaves, _ = zip(*found, strict=True)
    return Forest.join(list(forests)), np.hstack(leaves), 0.0
