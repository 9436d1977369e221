"""A tree of clusters above and below those of a fit, so that any number of them is one cut.

Coarser clusters come of merging, finer ones of splitting; neither looks at the views again. The tree is a plain dict of
arrays, so that it can be saved with a model: ``leaves`` (n_items,) the finest cluster of each item, -1 for none;
``joins`` (m, 2) which two nodes become one, finest first, leaves being the first nodes and join r making the r-th
after them; ``anchors`` (n_leaves,) the label that the fit gave to each leaf.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers
from ...data.nearest import nearest_among
from ...errors import ParameterError
from ...types import Floats, Places, Singles
from ..spectral import leading_eigenpairs, spectral_rows
from ._graph import NeighbourGraph

__all__ = [
    "cut_levels",
    "grow_levels",
    "leaves_of_new",
    "level_nodes",
    "level_range",
    "nodes_of_level",
    "place_in_level",
    "single_level",
]

Levels = dict[str, Any]

_FINEST = 3
"""Leaves for each cluster of the fit."""
_COARSEST = 2
_SMALLEST = 3
"""Items on each side of a split."""
_VECTORS = 4
_ROUNDS = 30
_SAME = 1e-9
"""Numbers nearer to each other than that are the same but for rounding."""
_LIGHT = 1e-6
"""The say of points beside links, so that they only break ties."""
_DENSE = 400
"""Items up to which all eigenvectors are found at once."""


def grow_levels(graph: NeighbourGraph, rows: Singles, labels: Places, kinds: Places) -> Levels:
    """The tree of a clustering, from the links that a graph of neighbours has inside clusters and between them.

    rows : (n, d), the points of the items; they decide where clusters have no links at all
    labels : (n,), from 0, each in use
    kinds : (n,), the same for equal items, which stay together
    """
    n_clusters = int(labels.max()) + 1
    parts, splits = _split(graph, labels, kinds, _FINEST * n_clusters)
    made_from = {child: parent for parent, children in splits for child in children}
    ends = [node for node in range(len(parts)) if node not in {parent for parent, _ in splits}]
    root: dict[int, int] = {}
    for node in range(len(parts)):  # a parent comes before its children
        root[node] = root[made_from[node]] if node in made_from else node
    ends.sort(key=lambda node: (root[node], node))
    number = {node: leaf for leaf, node in enumerate(ends)}
    leaves = np.empty(labels.size, dtype=np.int32)
    for node in ends:
        leaves[parts[node]] = number[node]
    joins: list[tuple[int, int]] = []
    for parent, (first, second) in reversed(splits):
        number[parent] = len(ends) + len(joins)
        joins.append((number[first], number[second]))
    sizes = np.bincount(labels, minlength=n_clusters)
    nodes = [number[label] for label in range(n_clusters)]
    for a, b in average_links(graph.between(labels, n_clusters), _products(rows, labels, n_clusters), sizes):
        joins.append((nodes[a], nodes[b]))
        nodes[a] = len(ends) + len(joins) - 1
    anchors = np.array([root[node] for node in ends], dtype=np.int32)
    return {"leaves": leaves, "joins": np.array(joins, dtype=np.int32).reshape(-1, 2), "anchors": anchors}


def single_level(labels: Places) -> Levels:
    """A tree without levels, of clusters that nothing is known about but their items."""
    anchors = np.arange(int(labels.max(initial=-1)) + 1, dtype=np.int32)
    return {"leaves": labels.astype(np.int32), "joins": np.empty((0, 2), dtype=np.int32), "anchors": anchors}


def level_range(levels: Levels) -> tuple[int, int]:
    """The smallest and the largest number of clusters that can be had."""
    n_leaves = levels["anchors"].size
    return n_leaves - len(levels["joins"]), n_leaves


def level_nodes(levels: Levels, n_clusters: int) -> Places:
    """(n_leaves,): in which of so many clusters each leaf is.

    Numbers follow the labels of the fit: a merged cluster stands where the first of its parts stood, the parts of a
    split one stand side by side. With as many clusters as the fit had, they are its labels.
    """
    _, first, numbers = np.unique(_joined(levels, n_clusters), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers]  # leaves stand in the order of their anchors


def nodes_of_level(levels: Levels, n_clusters: int) -> Places:
    """(n_clusters,): the node that each of the clusters at a level is."""
    found, first = np.unique(_joined(levels, n_clusters), return_index=True)
    return found[np.argsort(first)]


def _joined(levels: Levels, n_clusters: int) -> Places:
    """(n_leaves,): the node that each leaf is part of at a level."""
    low, high = level_range(levels)
    if not low <= n_clusters <= high:
        raise ParameterError(f"the levels go from {low} to {high} clusters, got {n_clusters}. Fit again for others.")
    node = np.arange(high)
    for number, (a, b) in enumerate(levels["joins"][: high - n_clusters], start=high):
        node[(node == a) | (node == b)] = number
    return node


def cut_levels(levels: Levels, n_clusters: int) -> Places:
    """(n_items,): the clusters at one level, -1 for items in none."""
    node = np.r_[level_nodes(levels, n_clusters), -1]  # a leaf of -1 finds the last
    return node[levels["leaves"]].astype(np.intp)


def place_in_level(
    levels: Levels, state: dict[str, Any], labels: Places, rows: Singles, n_clusters: int, threads: Workers
) -> Places:
    """Clusters at a level of new items whose ``labels`` in the fit, and points, are known; for models of the first
    edition, whose new items have no finest cluster yet.

    Where a cluster is split there, an item goes where its finest cluster does, so that levels are nested for it too.
    """
    node, anchors = level_nodes(levels, n_clusters), levels["anchors"]
    parts = [np.unique(node[anchors == label]) for label in range(int(anchors.max()) + 1)]
    found = np.array([part[0] for part in parts])[labels]
    torn = np.flatnonzero(np.array([part.size > 1 for part in parts])[labels])
    if torn.size:
        count = min(state["n_neighbours"], state["rows"].shape[0])
        near = nearest_among(rows[torn], state["rows"], count, threads)
        found[torn] = node[leaves_of_new(levels, state, labels[torn], near)]
    return found


def leaves_of_new(levels: Levels, state: dict[str, Any], labels: Places, near: NDArray[np.int32]) -> NDArray[np.int32]:
    """(n,): the finest clusters of new items with these labels: that of most of their nearest fitted items in it.

    ``near`` (n, k) are fitted items. On ties, and where none of them is in the item's cluster, the larger part.
    """
    anchors = levels["anchors"]
    sizes = np.bincount(state["leaves"], minlength=anchors.size) / (state["leaves"].size + 1.0)
    order = np.lexsort((-sizes, anchors))
    largest = order[np.searchsorted(anchors[order], np.arange(int(anchors.max()) + 1))]
    found, most = largest[labels].astype(np.int32), np.zeros(labels.size)
    leaves = state["leaves"][near]
    for leaf in leaves.T:
        votes = np.where(anchors[leaf] == labels, (leaves == leaf[:, None]).sum(axis=1) + sizes[leaf], 0.0)
        better = votes > most
        found[better], most[better] = leaf[better], votes[better]
    return found


def average_links(weights: Floats, products: Floats, sizes: Places) -> list[tuple[int, int]]:
    """Which clusters are merged, down to two: always the pair with the largest mean weight between two of their items.

    ``weights`` (k, k) between clusters, ``sizes`` (k,). Where no weight tells clusters apart, the ``products`` of their
    items' points do, which are added up in the same way. A pair (a, b) has a < b, and goes on as a. O(k^2) operations
    and a search of k for each merge.
    """
    sizes = sizes.astype(np.float64)
    pairs, apart = np.outer(sizes, sizes), ~np.eye(sizes.size, dtype=bool)
    typical = float(np.abs(products / pairs).max(initial=0.0))
    heaviest = float((weights / pairs).max(initial=0.0, where=apart)) or 1.0
    weights = weights + products * (_LIGHT * heaviest / typical if typical else 0.0)
    alive = np.ones(sizes.size, dtype=bool)
    links = weights / pairs
    np.fill_diagonal(links, -np.inf)
    best = links.argmax(axis=1)
    merges = []
    for _ in range(sizes.size - _COARSEST):
        first = int(np.argmax(np.where(alive, links[np.arange(sizes.size), best], -np.inf)))
        a, b = sorted((first, int(best[first])))
        merges.append((a, b))
        weights[a] += weights[b]
        weights[:, a] += weights[:, b]
        sizes[a] += sizes[b]
        alive[b] = False
        row = np.where(alive, weights[a] / (sizes[a] * sizes), -np.inf)
        row[a] = -np.inf
        links[a], links[:, a], links[b], links[:, b] = row, row, -np.inf, -np.inf
        for one in np.flatnonzero(alive & np.isin(best, (a, b)) | (np.arange(sizes.size) == a)):
            best[one] = links[one].argmax()
        closer = alive & (row > links[np.arange(sizes.size), best])
        best[closer] = a
    return merges


def _products(rows: Singles, labels: Places, n_clusters: int) -> Floats:
    """(k, k): the inner products of all points of two clusters, added up."""
    from scipy.sparse import csr_matrix

    member = csr_matrix((np.ones(labels.size), (labels, np.arange(labels.size))), shape=(n_clusters, labels.size))
    totals = np.asarray(member @ rows, dtype=np.float64)
    return np.asarray(totals @ totals.T)


def _split(
    graph: NeighbourGraph, labels: Places, kinds: Places, n_wanted: int
) -> tuple[list[Places], list[tuple[int, tuple[int, int]]]]:
    """Every part there ever was (the clusters come first), and which was split into which, in that order.

    Split is where the mean weight inside (of D^-1/2 W D^-1/2, per item) gains most by it.
    """
    order = np.argsort(labels, kind="stable")
    parts = np.split(order, np.searchsorted(labels[order], np.arange(1, int(labels.max()) + 1)))
    splits: list[tuple[int, tuple[int, int]]] = []
    waiting: list[tuple[float, int, NDArray[np.bool_]]] = []

    def consider(node: int) -> None:
        found = _halves(graph, parts[node], kinds)
        if found is not None:
            heapq.heappush(waiting, (-found[0], node, found[1]))

    for node in range(len(parts)):
        consider(node)
    while waiting and len(parts) - len(splits) < n_wanted:
        _, node, is_first = heapq.heappop(waiting)
        children = len(parts), len(parts) + 1
        parts += [parts[node][is_first], parts[node][~is_first]]
        splits.append((node, children))
        for child in children:
            consider(child)
    return parts, splits


def _halves(graph: NeighbourGraph, items: Places, kinds: Places) -> tuple[float, NDArray[np.bool_]] | None:
    """The best split of some items: what it gains, and who is on the side of the first; None where there is none."""
    from scipy.sparse import diags_array

    numbers = np.unique(kinds[items], return_inverse=True)[1]
    if items.size < 2 * _SMALLEST or numbers.max() == 0:
        return None
    factor = graph.item_factor[items]
    inside = graph.part(items)
    if items.size <= _DENSE:  # as ``leading_eigenpairs`` does, without its checks: there may be thousands of these
        inside = factor[:, None] * inside.toarray() * factor
        found = np.linalg.eigh(inside)
        values, vectors = found[0][: -_VECTORS - 1 : -1], found[1][:, : -_VECTORS - 1 : -1]
    else:
        inside = diags_array(factor) @ inside @ diags_array(factor)
        values, vectors = leading_eigenpairs(inside, _VECTORS, seed=0, n_needed=2)
    rows = spectral_rows(values, vectors, power=1.0)
    if numbers.max() + 1 < items.size:
        totals = np.column_stack([np.bincount(numbers, weights=column) for column in rows.T])
        rows = (totals / np.bincount(numbers)[:, None])[numbers]
    side = _two_means(rows)
    if side is None:
        return None
    side = side if side[0] else ~side
    whole = float(inside.sum()) / items.size
    halves = [float(inside[which][:, which].sum()) / which.size for which in map(np.flatnonzero, (side, ~side))]
    return sum(halves) - whole, side


def _two_means(rows: Floats) -> NDArray[np.bool_] | None:
    """Which rows are in the first of two clusters: k-means from the best two clusters of every column by itself.

    The start that ends with the smallest spread; a start ends before one side has fewer than three rows. None where no
    column can be cut with three rows on each side.
    """
    best, least = None, np.inf
    for column in rows.T:
        side, after = None, _two_means_of_numbers(column)
        for _ in range(_ROUNDS):
            if min(after.sum(), (~after).sum()) < _SMALLEST or (side is not None and (after == side).all()):
                break
            side = after
            first, second = rows[side].mean(axis=0), rows[~side].mean(axis=0)
            after = rows @ (first - second) > (first @ first - second @ second) / 2
        if side is None:
            continue
        spread = sum(float(((part - part.mean(axis=0)) ** 2).sum()) for part in (rows[side], rows[~side]))
        if spread < least * (1.0 - 1e-9):
            best, least = side, spread
    return best


def _two_means_of_numbers(column: Floats) -> NDArray[np.bool_]:
    """Which numbers are above the cut that leaves the smallest spread, three or more on each side; no one: none is.

    The median would do for many numbers; of nine in three groups it goes through the middle one.
    """
    values = np.sort(column)
    sizes = np.arange(1, column.size)
    sums = np.cumsum(values)[:-1]
    between = sums**2 / sizes + (values.sum() - sums) ** 2 / (column.size - sizes)  # the larger, the smaller the spread
    may = np.minimum(sizes, column.size - sizes) >= _SMALLEST
    may &= np.diff(values) > _SAME
    if not may.any():
        return np.zeros(column.size, dtype=bool)
    cut = int(np.argmax(np.where(may, between, -1.0)))
    return column > values[cut]
