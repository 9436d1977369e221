"""Compiled loops of the search for the nearest rows."""

from __future__ import annotations

from ..kernel import kernel


@kernel
def keep_nearest(queries, query_squares, own, rows, squares, index, products, slack, ids, distances):
    """Merge a block of candidates into each query's list of nearest items, kept by (distance, index).

    IN   queries float32 (q, d), rows float32 (c, d): the points; query_squares, squares: their squared lengths;
         own int32 (q,): the query's own index, which is passed over (-1: none); index int32 (c,): the candidates';
         products float32 (q, c): inner products by BLAS, good to ``slack`` times the sum of squared lengths
    OUT  ids int32 (q, k), distances float32 (q, k): squared distances, rising

    Products only decide which distances are computed again, coordinate by coordinate. So neither the list nor the
    order of equals depends on how queries and candidates were cut into blocks.
    """
    k = ids.shape[1]
    for i in range(queries.shape[0]):
        query, near, found, close = queries[i], products[i], ids[i], distances[i]
        length, me = query_squares[i], own[i]
        for j in range(rows.shape[0]):
            both = length + squares[j]
            if both - 2 * near[j] > close[k - 1] + slack * both or index[j] == me:
                continue
            row = rows[j]
            total = query[0] * 0
            for f in range(row.shape[0]):
                difference = query[f] - row[f]
                total += difference * difference
            place = k
            while place > 0 and (
                total < close[place - 1] or (total == close[place - 1] and index[j] < found[place - 1])
            ):
                place -= 1
            if place < k:
                for s in range(k - 1, place, -1):
                    close[s], found[s] = close[s - 1], found[s - 1]
                close[place], found[place] = total, index[j]
