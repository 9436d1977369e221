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


@kernel
def add_partner_rows(starts, partners, factor, X, out):
    """``add_partners`` for many vectors at once: X (N, b), out (n, b). One look at a partner serves all of them."""
    for i in range(out.shape[0]):
        mine = out[i]
        for j in range(starts[i], starts[i + 1]):
            there = X[partners[j]]
            for c in range(there.shape[0]):
                mine[c] += factor * there[c]


@kernel
def add_rows_by_cluster(labels, offsets, weights, X, out):
    """``add_by_cluster`` for many vectors at once: X (n, b), out (clusters of all members, b)."""
    for i in range(labels.shape[0]):
        row, mine = labels[i], X[i]
        for j in range(row.shape[0]):
            if row[j] >= 0:
                there, weight = out[offsets[j] + row[j]], weights[j]
                for c in range(mine.shape[0]):
                    there[c] += weight * mine[c]


@kernel
def add_labels_by_cluster(labels, offsets, weights, x, groups, out):
    """out[cluster of item i in member j, group of i] += weight of j times x[i]; items of group -1 add nothing.

    Shapes as in ``add_by_cluster``; groups intp (n,), out float64 (clusters of all members, groups).
    """
    for i in range(labels.shape[0]):
        row, value, group = labels[i], x[i], groups[i]
        if group >= 0:
            for j in range(row.shape[0]):
                if row[j] >= 0:
                    out[offsets[j] + row[j], group] += weights[j] * value


@kernel
def gather_tables(labels, offsets, weights, table, x, out):
    """out[i] += x[i] times the sum over members j of weight of j times the row of i's cluster in j.

    Shapes as in ``add_by_cluster``; table float64 (clusters of all members, groups), out float64 (n, groups).
    """
    for i in range(labels.shape[0]):
        row, mine, value = labels[i], out[i], x[i]
        for j in range(row.shape[0]):
            if row[j] >= 0:
                factor, there = value * weights[j], table[offsets[j] + row[j]]
                for c in range(there.shape[0]):
                    mine[c] += factor * there[c]


@kernel
def add_partner_labels(starts, partners, factor, x, groups, first, out):
    """out[i, group of p] += factor times x[i] x[p] over the partners p of i; those of group -1 add nothing.

    IN   starts int64 (n + 1,) of a block of items whose first is ``first``; partners int32; factor float64
         x float64 (N,), groups intp (N,) of all items
    OUT  out float64 (n, groups)
    """
    for i in range(out.shape[0]):
        mine, value = out[i], factor * x[first + i]
        for j in range(starts[i], starts[i + 1]):
            partner = partners[j]
            if groups[partner] >= 0:
                mine[groups[partner]] += value * x[partner]


@kernel
def add_inside(starts, partners, factor, x, groups, first, out):
    """out[group of i] += factor times x[i] x[p] over the partners p of i in the same group. As ``add_partner_labels``.

    out float64 (groups,)
    """
    for i in range(starts.shape[0] - 1):
        group = groups[first + i]
        if group >= 0:
            total = 0.0
            for j in range(starts[i], starts[i + 1]):
                partner = partners[j]
                if groups[partner] == group:
                    total += x[partner]
            out[group] += factor * x[first + i] * total


@kernel
def nearest_cluster(totals, sizes, inside, out):
    """The cluster that gains most by an item: the largest 2 totals[i, c] / sizes[c] - inside[c] / sizes[c]^2.

    totals float64 (n, K), sizes float64 (K,): an empty cluster takes nobody; inside float64 (K,); out intp (n,)
    """
    for i in range(totals.shape[0]):
        best, where = -1e300, 0
        for c in range(sizes.shape[0]):
            if sizes[c] > 0:
                value = (2.0 * totals[i, c] - inside[c] / sizes[c]) / sizes[c]
                if value > best:
                    best, where = value, c
        out[i] = where
