"""Compiled loops over the leaves of a finished TagForest: who shares a leaf with whom, and which tags are there."""

import numpy as np

from ...data._nearest_kernels import keep_largest
from ...kernel import kernel

_GOLDEN, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


@kernel
def list_mates(leaves, begin, mates, first):
    """Write down the members of each leaf of one tree, one leaf after the other, ascending.

    leaves: int32 (n,), -1 for items that take no part; begin: where the tree begins in the lists of all trees. OUT
    mates: int32 (n_present,), members; first: int64 (n_leaves,), where each leaf begins in the lists of all trees.
    """
    n_leaves = first.shape[0]
    stop = np.zeros(n_leaves + 1, dtype=np.int64)
    for s in range(leaves.shape[0]):
        stop[leaves[s] + 1] += 1
    stop[0] = 0
    for k in range(n_leaves):
        first[k] = begin + stop[k]
        stop[k + 1] += stop[k]
    for s in range(leaves.shape[0]):
        k = leaves[s]
        if k >= 0:
            mates[stop[k]] = s
            stop[k] += 1


@kernel
def piece_of_leaf(leaf, item, first, mates, max_mates):
    """Where the mates of an item in a leaf (numbered over all trees) begin and end.

    Leaves of more than max_mates items are cut into pieces of about equal size, so that none is large. An item meets
    the piece it is in; a new one (-1) the first.
    """
    begin, size = first[leaf], first[leaf + 1] - first[leaf]
    if size <= max_mates:
        return begin, begin + size
    pieces, piece = -(-size // max_mates), 0
    while piece < pieces - 1 and mates[begin + (piece + 1) * size // pieces - 1] < item:
        piece += 1
    return begin + piece * size // pieces, begin + (piece + 1) * size // pieces


@kernel
def count_mates(leaves, leaf_start, item, first, mates, max_mates, count, touched):
    """Count in how many trees each item shares the leaf of one item; returns how many items there are.

    leaves: int32 (n_trees,), those of the item, -1 where it takes no part; leaf_start: int64 (n_trees + 1,), first leaf
    of each tree. OUT count: uint16 (n,), to be left clean by the caller; touched: int32 (n + 1,), the items counted,
    the item itself among them.
    """
    n_touched = 0
    for t in range(leaves.shape[0]):
        if leaves[t] < 0:
            continue
        begin, end = piece_of_leaf(leaf_start[t] + leaves[t], item, first, mates, max_mates)
        for at in range(begin, end):
            mate = mates[at]
            touched[n_touched] = mate
            n_touched += 1 if count[mate] == 0 else 0
            count[mate] += 1
    return n_touched


@kernel
def affinity_rows(leaves, leaf_start, begin, n, first, mates, max_mates, lengths, indices, values):
    """Rows of the affinity, of items begin, begin + 1, ... of n; the item itself is among its mates.

    leaves: int32 (n_rows, n_trees). OUT lengths: int64 (n_rows,), entries per row; indices: int32, values: float32,
    shares of trees, one row after the other. Returns the number of entries.
    """
    count, touched = np.zeros(n, dtype=np.uint16), np.empty(n + 1, dtype=np.int32)
    used, unit = 0, np.float32(leaves.shape[1])
    for row in range(leaves.shape[0]):
        started = used
        mine = leaves[row]
        for at in range(count_mates(mine, leaf_start, begin + row, first, mates, max_mates, count, touched)):
            j = touched[at]
            indices[used], values[used] = j, count[j] / unit
            count[j] = 0
            used += 1
        lengths[row] = used - started
    return used


@kernel
def nearest_rows(leaves, leaf_start, begin, n, first, mates, max_mates, neighbors, counts):
    """The other items that share most leaves with each item, most first.

    As ``affinity_rows``. OUT neighbors: int32 (n_rows, k), -1 where there are fewer; counts: uint16. Equal counts are
    settled by a hash of the pair: taking the first items would make hubs of them.
    """
    count, touched = np.zeros(n, dtype=np.uint16), np.empty(n + 1, dtype=np.int32)
    keys = np.empty(neighbors.shape[1])
    for row in range(leaves.shape[0]):
        item = begin + row
        n_touched = count_mates(leaves[row], leaf_start, item, first, mates, max_mates, count, touched)
        best, n_kept = neighbors[row], np.int64(0)
        for at in range(n_touched):
            j = touched[at]
            if j == item:
                continue
            if n_kept < keys.shape[0] or count[j] >= np.int64(keys[n_kept - 1]):
                low, high = np.uint64(min(item, j)), np.uint64(max(item, j))
                mixed = (low * _GOLDEN + high) * _MIX
                # count before the point, 32 bits of hash behind it
                n_kept = keep_largest(
                    count[j] + (mixed >> np.uint64(32)) / 4294967296.0, np.int64(j), keys, best, n_kept
                )
        for r in range(keys.shape[0]):
            counts[row, r] = count[best[r]] if r < n_kept else 0
            best[r] = best[r] if r < n_kept else -1
        for at in range(n_touched):
            count[touched[at]] = 0


@kernel
def new_rows(ptr, leaf, share, n, first, mates, max_mates, neighbors, weight):
    """The training items, of n, that share most leaves with each new item, most first.

    ptr, leaf, share: leaves reached, from ``route_shares``. OUT neighbors: int32 (n_new, k), -1 where there are fewer;
    weight: float32, summed shares.
    """
    total, touched = np.zeros(n), np.empty(n, dtype=np.int32)
    keys = np.empty(neighbors.shape[1])
    for row in range(ptr.shape[0] - 1):
        n_touched = 0
        for e in range(ptr[row], ptr[row + 1]):
            begin, end = piece_of_leaf(leaf[e], np.int64(-1), first, mates, max_mates)
            for at in range(begin, end):
                mate = mates[at]
                if total[mate] == 0.0:
                    touched[n_touched] = mate
                    n_touched += 1
                total[mate] += share[e]
        best, n_kept = neighbors[row], np.int64(0)
        for at in range(n_touched):
            n_kept = keep_largest(total[touched[at]], np.int64(touched[at]), keys, best, n_kept)
        for r in range(keys.shape[0]):
            weight[row, r] = keys[r] if r < n_kept else 0.0
            best[r] = best[r] if r < n_kept else -1
        for at in range(n_touched):
            total[touched[at]] = 0.0


@kernel
def leaf_votes(ptr, leaf, share, first, mates, max_mates, itself, tag_ptr, tag, frequency, positive, negative):
    """What the leaves of each item say about every tag, the item itself left out.

    As ``new_rows``; itself: int64 (n_rows,), the item's number in training, -1 for a new one; tag_ptr, tag: CSR of the
    training tags. OUT, float32 (n_rows, n_tags): frequency, mean share of mates with the tag (NaN where an item has no
    mates at all); positive and negative, summed shares of trees whose mates all have the tag, or none of them.
    """
    n_tags = frequency.shape[1]
    count, touched = np.zeros(n_tags, dtype=np.int32), np.empty(n_tags, dtype=np.int32)
    for row in range(ptr.shape[0] - 1):
        mean, yes, seen = np.zeros(n_tags), np.zeros(n_tags), np.zeros(n_tags)
        trees = 0.0
        for e in range(ptr[row], ptr[row + 1]):
            begin, end = piece_of_leaf(leaf[e], np.int64(-1), first, mates, max_mates)
            n_mates, n_touched = 0, 0
            for at in range(begin, end):
                mate = mates[at]
                if mate == itself[row]:
                    continue
                n_mates += 1
                for k in range(tag_ptr[mate], tag_ptr[mate + 1]):
                    if count[tag[k]] == 0:
                        touched[n_touched] = tag[k]
                        n_touched += 1
                    count[tag[k]] += 1
            if n_mates == 0:
                continue
            trees += share[e]
            for k in range(n_touched):
                i = touched[k]
                mean[i] += share[e] * count[i] / n_mates
                seen[i] += share[e]
                if count[i] == n_mates:
                    yes[i] += share[e]
                count[i] = 0
        for i in range(n_tags):
            frequency[row, i] = mean[i] / trees if trees > 0.0 else np.nan
            positive[row, i], negative[row, i] = yes[i], max(0.0, trees - seen[i])
