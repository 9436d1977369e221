"""The assignment step of robust multi-view k-means, for one tile of items.

BLAS gives inner products of scaled rows and centroids with a rounding error that is bounded by
``slack * |x| * |f|``. Each kernel adds up the cost of every cluster together with that bound, and ``choose``
names a cluster only where the bound allows no other; the rest is decided from differences.
"""

import numpy as np

from ..kernel import kernel


@kernel
def add_literal_cost(products, centroid_norms, norms, weight, slack, cost, doubt):
    """Add ``weight * (|f|^2 - 2 x.f)``: equation (13) less a term that is the same for every cluster.

    IN  products: (n, K) float, x.f; centroid_norms: float64 (K,), |f|; norms: float64 (n,), |x|;
        weight: float64 (n,), omega * D, 0 where the view is missing; slack: float64
    OUT cost: float64 (n, K) added to; doubt: float64 (n,) added to, twice the error bound
    """
    largest = centroid_norms.max()
    squares = centroid_norms * centroid_norms
    for i in range(products.shape[0]):
        w = weight[i]
        if w > 0.0:
            p = products[i]
            c = cost[i]
            for k in range(p.shape[0]):
                c[k] += w * (squares[k] - 2.0 * p[k])
            doubt[i] += 4.0 * w * slack * largest * (norms[i] + largest)


@kernel
def add_exact_cost(products, centroid_norms, norms, weight, slack, cost, doubt):
    """Add ``weight * |x - f|``, rounded down as far as the error bound allows.

    Arguments as in ``add_literal_cost``, with weight = omega; doubt grows by the widest rounding of a row.
    """
    for i in range(products.shape[0]):
        w = weight[i]
        if w > 0.0:
            p = products[i]
            c = cost[i]
            widest = 0.0
            for k in range(p.shape[0]):
                f = centroid_norms[k]
                square = norms[i] * norms[i] + f * f - 2.0 * p[k]
                error = slack * (norms[i] + f) * (norms[i] + f)
                low = np.sqrt(max(square - error, 0.0))
                c[k] += w * low
                widest = max(widest, np.sqrt(max(square + error, 0.0)) - low)
            doubt[i] += w * widest


@kernel
def choose(cost, doubt, labels, rows, centroids):
    """Label each row with its cheapest cluster; list every pair that may still be the cheapest.

    IN  cost: float64 (n, K); doubt: float64 (n,)
    OUT labels: intp (n,); rows, centroids: intp (n * K,), the undecided pairs in order
    Returns how many pairs are undecided; rows with one possible cluster add none.
    """
    undecided = 0
    for i in range(cost.shape[0]):
        c = cost[i]
        best = 0
        for k in range(1, c.shape[0]):
            if c[k] < c[best]:
                best = k
        labels[i] = best
        line = c[best] + doubt[i]
        possible = 0
        for k in range(c.shape[0]):
            if c[k] <= line:
                possible += 1
        if possible > 1:
            for k in range(c.shape[0]):
                if c[k] <= line:
                    rows[undecided] = i
                    centroids[undecided] = k
                    undecided += 1
    return undecided


@kernel
def settle(rows, centroids, pair_cost, labels):
    """Give each undecided row the cheapest of its pairs, the lowest cluster on ties.

    IN  rows, centroids: intp (m,), rows ascending; pair_cost: float64 (m,)
    OUT labels: intp (n,)
    """
    previous = -1
    lowest = 0.0
    for p in range(rows.shape[0]):
        if rows[p] != previous or pair_cost[p] < lowest:
            previous = rows[p]
            lowest = pair_cost[p]
            labels[rows[p]] = centroids[p]
