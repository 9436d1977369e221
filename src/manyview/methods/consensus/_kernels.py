"""Compiled loops of the consensus: products with memberships and with neighbour lists."""

from __future__ import annotations

from ...kernel import kernel


@kernel
def add_by_cluster(labels, offsets, weights, x, out):
    """out[cluster of item i in member j] += weight of j times x[i].

    labels int (n, m), -1 where a member leaves the item out; offsets int64 (m,): where a member's clusters start in
    out; weights float64 (m,), x float64 (n,), out float64 (clusters of all members,).
    """
    for i in range(labels.shape[0]):
        row, value = labels[i], x[i]
        for j in range(row.shape[0]):
            if row[j] >= 0:
                out[offsets[j] + row[j]] += weights[j] * value


@kernel
def gather_clusters(labels, offsets, weights, y, out):
    """out[i] = sum over members j of weight of j times y[cluster of i in j]. Shapes as in ``add_by_cluster``."""
    for i in range(labels.shape[0]):
        row, total = labels[i], 0.0
        for j in range(row.shape[0]):
            if row[j] >= 0:
                total += weights[j] * y[offsets[j] + row[j]]
        out[i] = total


@kernel
def both_directions(items, neighbours, starts, filled, partners):
    """Write each item's neighbours and those items that named it, side by side.

    IN   items int32 (n,), neighbours int32 (n, k): who named whom; starts int64 (N + 1,): where each list begins
    OUT  filled int64 (N,): zeros before; partners int32 (2 n k,)
    """
    for i in range(items.shape[0]):
        me, named = items[i], neighbours[i]
        for j in range(named.shape[0]):
            other = named[j]
            partners[starts[me] + filled[me]] = other
            filled[me] += 1
            partners[starts[other] + filled[other]] = me
            filled[other] += 1


@kernel
def add_partners(starts, partners, factor, x, out):
    """out[i] += factor times the sum of x over the partners of i. starts int64 (n + 1,) of a block of items."""
    for i in range(out.shape[0]):
        total = 0.0
        mine = partners[starts[i] : starts[i + 1]]
        for j in range(mine.shape[0]):
            total += x[mine[j]]
        out[i] += factor * total
