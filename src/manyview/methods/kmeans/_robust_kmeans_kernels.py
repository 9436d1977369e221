"""The assignment step of robust multi-view k-means, for one block of items.

Inner products of scaled rows and centroids come with a rounding error that is bounded by ``slack * |x| * |f|``.
The cost of every cluster is added up view by view together with that bound; a cluster is named where the bound allows
no other, and the pairs of item and cluster that are still open are listed; those are decided from differences.
"""

import numpy as np

from ...kernel import kernel


@kernel
def add_literal(products, squares, largest, norms, weight, slack, cost, doubt):
    """Add what one view costs in every cluster, ``weight (|f|^2 - 2 x.f)``: equation (13) less what all share.

    IN  products: (n, K), x.f, and squares: (K,), |f|^2, of one float type; largest: float64, the largest |f|;
        norms: float64 (n,), |x|; weight: float64 (n,), omega * D, 0 where the view is missing; slack: float64
    OUT cost: (n, K) of the type of products; doubt: float64 (n,), twice the error bound of a cost; both added to
    """
    for i in range(products.shape[0]):
        if weight[i] > 0.0:  # else the row may hold NaN
            w = cost.dtype.type(weight[i])
            p = products[i]
            c = cost[i]
            for k in range(p.shape[0]):
                c[k] += w * (squares[k] - 2 * p[k])
            doubt[i] += weight[i] * 4.0 * slack * largest * (norms[i] + largest)


@kernel
def add_exact(products, norms, centroid_norms, weight, slack, cost, doubt):
    """Add what one view costs in every cluster, ``weight |x - f|``, rounded down as far as its error allows.

    IN  products: (n, K) float; norms: float64 (n,), |x|; centroid_norms: float64 (K,), |f|; weight: float64 (n,),
        omega, 0 where the view is missing; slack: float64
    OUT as in ``add_literal``, cost: float64 (n, K)
    """
    for i in range(products.shape[0]):
        w = weight[i]
        if w > 0.0:
            p = products[i]
            c = cost[i]
            x = norms[i]
            widest = 0.0
            for k in range(p.shape[0]):
                f = centroid_norms[k]
                square = x * x + f * f - 2.0 * p[k]
                error = slack * (x + f) * (x + f)
                low = np.sqrt(max(square - error, 0.0))
                c[k] += w * low
                widest = max(widest, np.sqrt(max(square + error, 0.0)) - low)
            doubt[i] += w * widest


@kernel
def cheapest(cost, doubt, labels, rows, clusters):
    """Label each row with its cheapest cluster, or list the clusters that may be as cheap where it is not alone.

    Counts what is within doubt rather than branch on every cost: nobody can guess which is the lowest yet.

    IN  cost: float (n, K); doubt: float64 (n,)
    OUT labels: intp (n,); rows, clusters: intp (n * K,), the open pairs
    Returns how many pairs are open.
    """
    n_open = np.int64(0)
    for i in range(cost.shape[0]):
        c = cost[i]
        lowest = c[0]
        for k in range(1, c.shape[0]):
            lowest = min(lowest, c[k])
        line = lowest + doubt[i]
        found = np.int32(0)
        total = np.int32(0)  # of the numbers of those found: of one, its own
        for k in range(c.shape[0]):
            is_here = np.int32(c[k] <= line)
            found += is_here
            total += is_here * np.int32(k)
        labels[i] = total
        if found != 1:
            labels[i] = 0
            for k in range(c.shape[0]):
                if c[k] <= line:
                    rows[n_open] = i
                    clusters[n_open] = k
                    n_open += 1
    return n_open


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
