"""The order in which weighted points merge when each merge raises the inertia least (Ward)."""

import numpy as np

from ...kernel import kernel


@kernel
def merge_chain(cost, mass, pairs, heights):
    """Merge all points into one, following chains of nearest neighbours; equal costs go to the lower number.

    The merge of i and j raises the inertia by ``w_i w_j / (w_i + w_j) |c_i - c_j|^2``; what a merged point then costs
    with another follows from the three old costs (Lance and Williams), with masses in place of counts. Each merge keeps
    the lower number of the two.

    IN  cost: float64 (m, m), symmetric, used up on the way; mass: float64 (m,), used up on the way
    OUT pairs: intp (m - 1, 2), in the order they are found; heights: float64 (m - 1,)
    """
    m = mass.shape[0]
    alive = np.ones(m, dtype=np.bool_)
    chain = np.empty(m, dtype=np.intp)
    length = 0
    found = 0
    start = 0
    while found < m - 1:
        if length == 0:
            while not alive[start]:
                start += 1
            chain[0] = start
            length = 1
        a = chain[length - 1]
        before = chain[length - 2] if length > 1 else -1
        b = before
        least = cost[a, b] if b >= 0 else np.inf
        row = cost[a]
        for k in range(m):
            if alive[k] and k != a and (row[k] < least or b < 0):
                least = row[k]
                b = k
        if b != before:
            chain[length] = b
            length += 1
            continue
        length -= 2
        i, j = min(a, b), max(a, b)
        pairs[found, 0], pairs[found, 1] = i, j
        heights[found] = least
        found += 1
        alive[j] = False
        for k in range(m):
            if alive[k] and k != i:
                total = mass[i] + mass[j] + mass[k]
                merged = 0.0
                if total > 0.0:
                    merged = (mass[i] + mass[k]) * cost[i, k] + (mass[j] + mass[k]) * cost[j, k] - mass[k] * least
                    merged = max(merged / total, 0.0)
                cost[i, k] = merged
                cost[k, i] = merged
        mass[i] += mass[j]
