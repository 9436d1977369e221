"""Compiled loops of the search for the nearest rows."""

from __future__ import annotations

import numpy as np

from ..kernel import kernel

_HALVINGS = 24  # at most: values that are equal are not told apart by more


@kernel
def keep_near(query, row, item, found, close):
    """Put an item into a query's list of nearest items if it belongs there, by (distance, index).

    IN   query float32 (d,), row float32 (d,): the points; item: the row's index
    OUT  found int32 (k,), close float32 (k,): indices and squared distances, rising

    The one place where a distance is computed: every search finds the same bits.
    """
    total = np.float32(0)
    for f in range(row.shape[0]):
        difference = query[f] - row[f]
        total += difference * difference
    k = close.shape[0]
    place = k
    while place > 0 and (total < close[place - 1] or (total == close[place - 1] and item < found[place - 1])):
        place -= 1
    if place < k:
        for s in range(k - 1, place, -1):
            close[s], found[s] = close[s - 1], found[s - 1]
        close[place], found[place] = total, item


@kernel
def keep_proposed(queries, own, rows, proposed, ids, distances):
    """Each query's list of nearest items among those that were proposed for it.

    IN   queries float32 (q, d), rows float32 (n, d): the points; own int32 (q,): an index that is passed over (-1:
         none); proposed int32 (q, m): indices of rows
    OUT  ids int32 (q, k), distances float32 (q, k): as in ``keep_nearest``
    """
    for i in range(queries.shape[0]):
        for s in range(proposed.shape[1]):
            item = proposed[i, s]
            if item != own[i]:
                keep_near(queries[i], rows[item], item, ids[i], distances[i])


@kernel
def kth_at_most(values, k):
    """A bound that at least k of the values do not exceed, and few more; inf where that many are not finite.

    Halves the range between 0 and the largest of the first k finite values, which compares all of them at once.
    """
    high, n_seen = np.float32(-np.inf), 0
    for j in range(values.shape[0]):
        if values[j] < np.inf:
            high = max(high, values[j])
            n_seen += 1
            if n_seen == k:
                break
    if n_seen < k:
        return np.float32(np.inf)
    low, half = np.float32(0), np.float32(0.5)
    for _ in range(_HALVINGS):
        middle, count = half * (low + high), np.int32(0)
        for j in range(values.shape[0]):
            count += np.int32(values[j] <= middle)
        if count < k:
            low = middle
        else:
            high = middle
            if count <= k + 1 + k // 4:
                break
    return high


@kernel
def keep_nearest(queries, query_squares, own, rows, squares, index, products, slack, ids, distances):
    """Merge a block of candidates into each query's list of nearest items, kept by (distance, index).

    IN   queries float32 (q, d), rows float32 (c, d): the points; query_squares, squares: their squared lengths;
         own int32 (q,): the query's own index, which is passed over (-1: none); index int32 (c,): the candidates';
         products float32 (q, c): inner products by BLAS, good to ``slack`` times the sum of squared lengths
    OUT  ids int32 (q, k), distances float32 (q, k): squared distances, rising

    Products only decide which distances are computed again, coordinate by coordinate: of about k candidates, those
    that may be nearer than the k-th nearest is at most. So neither the list nor the order of equals depends on how
    queries and candidates were cut into blocks.
    """
    k, two = ids.shape[1], np.float32(2)
    most = np.empty(rows.shape[0], dtype=np.float32)
    for i in range(queries.shape[0]):
        query, near, found, close = queries[i], products[i], ids[i], distances[i]
        length, me = query_squares[i], own[i]
        for j in range(most.shape[0]):
            both = length + squares[j]
            most[j] = both - two * near[j] + slack * both if index[j] != me else np.float32(np.inf)
        limit = min(close[k - 1], kth_at_most(most, k))
        for j in range(most.shape[0]):
            if most[j] - two * slack * (length + squares[j]) > limit or index[j] == me:
                continue
            keep_near(query, rows[j], index[j], found, close)


@kernel
def keep_largest(key, item, keys, items, n_kept):
    """Put an item into a list of the largest keys, falling, if it belongs there; returns the list's new length.

    keys: floats (k,); items: int32 (k,). Of equal keys the first to come stays ahead.
    """
    k = keys.shape[0]
    if n_kept == k:
        if key <= keys[k - 1]:
            return n_kept
        at = k - 1
    else:
        at = n_kept
        n_kept += 1
    while at > 0 and keys[at - 1] < key:
        keys[at], items[at] = keys[at - 1], items[at - 1]
        at -= 1
    keys[at], items[at] = key, item
    return n_kept


@kernel
def keep_alike(products, present, own, ids, best):
    """The candidates of largest product with each query, largest first, equal ones by their place.

    IN   products (q, c); present bool (c,): the candidates that count; own (q,): the query's own place, which is passed
         over (-1: none)
    OUT  ids int32 (q, k): places of the candidates; best (q, k): their products; left as they are where there are fewer
    """
    for i in range(products.shape[0]):
        near, found, keys, n_kept = products[i], ids[i], best[i], np.int64(0)
        for j in range(near.shape[0]):
            if n_kept == keys.shape[0] and near[j] <= keys[n_kept - 1]:
                continue
            if present[j] and j != own[i]:
                n_kept = keep_largest(near[j], j, keys, found, n_kept)


@kernel
def join_alike(more, products, ids, best):
    """Add candidates to lists of the largest products, falling, equal ones behind those that are there.

    IN   more int32 (q, k), products (q, k): a list of further candidates for each query, falling; -inf ends it
    OUT  ids int32 (q, k), best (q, k): the lists, filled up with -inf
    """
    k = best.shape[1]
    for i in range(more.shape[0]):
        keys, found, n_kept = best[i], ids[i], np.int64(0)
        while n_kept < k and keys[n_kept] > -np.inf:
            n_kept += 1
        for r in range(k):
            if products[i, r] == -np.inf:
                break
            n_kept = keep_largest(products[i, r], np.int64(more[i, r]), keys, found, n_kept)


@kernel
def keep_alike_below(products, first, present, worst, ids, best):
    """A strip of the products of all rows with each other, read down its columns: its rows are candidates.

    IN   products (b, c): of rows first, first + 1, ... with all rows from first on; the square on the diagonal is
         passed over; present bool (n,): the rows that count as candidates
    OUT  worst (n,): the last of each list; ids int32 (n, k), best (n, k): the lists, as in ``join_alike``
    """
    b, k = products.shape[0], best.shape[1]
    for r in range(b):
        if not present[first + r]:
            continue
        near = products[r]
        for j in range(b, near.shape[0]):
            if near[j] <= worst[first + j]:
                continue
            keys, n_kept = best[first + j], k
            while n_kept > 0 and keys[n_kept - 1] == -np.inf:
                n_kept -= 1
            keep_largest(near[j], first + r, keys, ids[first + j], n_kept)
            worst[first + j] = keys[k - 1]
