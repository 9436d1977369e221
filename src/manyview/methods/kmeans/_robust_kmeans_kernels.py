"""The assignment step of robust multi-view k-means, for one block of items.

Inner products of scaled rows and centroids come with a rounding error that is bounded by ``slack * |x| * |f|``.
Each kernel adds up the cost of every cluster together with that bound, names a cluster where the bound allows no
other, and lists the pairs of item and cluster that are still open; those are decided from differences.
"""

import numpy as np

from ...kernel import kernel


@kernel
def choose_literal(products, norms, squares, largest, weight, slack, cost, labels, rows, clusters):
    """Label each row by the smallest ``sum_v weight (|f|^2 - 2 x.f)``: equation (13) less what all clusters share.

    IN  products: (n_views, n, K), x.f, and squares: (n_views, K), |f|^2, of one float type; norms: float64
        (n_views, n), |x|; largest: float64 (n_views,), the largest |f|; weight: float64 (n_views, n), omega * D, 0
        where a view is missing; slack: float64 (n_views,)
    OUT cost: (K,) of the type of products, room for one row; labels: intp (n,); rows, clusters: intp (n * K,), the
        open pairs
    Returns how many pairs are open.
    """
    n_open = np.int64(0)
    for i in range(products.shape[1]):
        cost[:] = 0
        doubt = 0.0  # twice the error bound of a cost
        for v in range(products.shape[0]):
            if weight[v, i] > 0.0:  # else the row may hold NaN
                w = cost.dtype.type(weight[v, i])
                p = products[v, i]
                q = squares[v]
                for k in range(p.shape[0]):
                    cost[k] += w * (q[k] - 2 * p[k])
                doubt += weight[v, i] * 4.0 * slack[v] * largest[v] * (norms[v, i] + largest[v])
        n_open += _possible(cost, doubt, i, n_open, labels, rows, clusters)
    return n_open


@kernel
def choose_exact(products, norms, centroid_norms, weight, slack, cost, labels, rows, clusters):
    """Label each row by the smallest ``sum_v weight |x - f|``, each term rounded down as far as its error allows.

    IN  products: (n_views, n, K) float; norms: float64 (n_views, n), |x|; centroid_norms: float64 (n_views, K), |f|;
        weight: float64 (n_views, n), omega, 0 where a view is missing; slack: float64 (n_views,)
    OUT as in ``choose_literal``, cost: float64 (K,)
    """
    n_open = np.int64(0)
    for i in range(products.shape[1]):
        cost[:] = 0
        doubt = 0.0
        for v in range(products.shape[0]):
            w = weight[v, i]
            if w > 0.0:
                p = products[v, i]
                x = norms[v, i]
                widest = 0.0
                for k in range(p.shape[0]):
                    f = centroid_norms[v, k]
                    square = x * x + f * f - 2.0 * p[k]
                    error = slack[v] * (x + f) * (x + f)
                    low = np.sqrt(max(square - error, 0.0))
                    cost[k] += w * low
                    widest = max(widest, np.sqrt(max(square + error, 0.0)) - low)
                doubt += w * widest
        n_open += _possible(cost, doubt, i, n_open, labels, rows, clusters)
    return n_open


@kernel
def _possible(cost, doubt, i, n_open, labels, rows, clusters):
    """Label row i with its cheapest cluster and list the clusters that may be as cheap; none where it is alone."""
    best = 0
    lowest = cost[0]
    second = cost.dtype.type(np.inf)
    for k in range(1, cost.shape[0]):
        if cost[k] < second:
            if cost[k] < lowest:
                best = k
                second = lowest
                lowest = cost[k]
            else:
                second = cost[k]
    labels[i] = best
    line = lowest + doubt
    found = 0
    if second <= line:
        for k in range(cost.shape[0]):
            if cost[k] <= line:
                rows[n_open + found] = i
                clusters[n_open + found] = k
                found += 1
    return found


@kernel
def settle(rows, clusters, pair_cost, labels):
    """Give each open row the cheapest of its pairs, the lowest cluster on ties.

    IN  rows, clusters: intp (m,), rows ascending; pair_cost: float64 (m,)
    OUT labels: intp (n,)
    """
    previous = -1
    lowest = 0.0
    for p in range(rows.shape[0]):
        if rows[p] != previous or pair_cost[p] < lowest:
            previous = rows[p]
            lowest = pair_cost[p]
            labels[rows[p]] = clusters[p]
