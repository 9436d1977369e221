"""Loops of plain k-means: where it starts, and how far rows are spread."""

import numpy as np

from ....kernel import kernel

_ROUNDED = 1.001  # more than what single precision can hide of a squared distance


@kernel
def _apart(one, other):
    total = one[0] - one[0]
    for j in range(one.shape[0]):
        difference = one[j] - other[j]
        total += difference * difference
    return total


@kernel
def far_apart(rows, uniform, seeds):
    """k-means++: every next seed is drawn by its squared distance from those before, the best of some tries.

    A row whose seed is at least twice as far from a try as from the row cannot be nearer to the try: its distance is
    not computed.

    IN  rows: float (n, d); uniform: float64 (K - 1, tries) in [0, 1)
    IN/OUT seeds: intp (K,), of rows; the first is given
    """
    n_rows, n_tries = rows.shape[0], uniform.shape[1]
    nearest = np.empty(n_rows, dtype=rows.dtype)
    owner = np.zeros(n_rows, dtype=np.int32)
    edges = np.empty(n_rows)
    found = np.empty((n_tries, n_rows), dtype=rows.dtype)
    between = np.empty((n_tries, seeds.shape[0]), dtype=rows.dtype)
    tries = np.empty(n_tries, dtype=np.intp)
    for i in range(n_rows):
        nearest[i] = _apart(rows[i], rows[seeds[0]])
    for k in range(1, seeds.shape[0]):
        total = 0.0
        for i in range(n_rows):
            total += nearest[i]
            edges[i] = total
        best, most = 0, -1.0
        for t in range(n_tries):
            if total > 0:
                tries[t] = min(n_rows - 1, np.searchsorted(edges, uniform[k - 1, t] * total, side="right"))
            else:  # every row equals a seed
                tries[t] = min(n_rows - 1, int(uniform[k - 1, t] * n_rows))
            for s in range(k):
                between[t, s] = _apart(rows[tries[t]], rows[seeds[s]])
            gain = 0.0
            for i in range(n_rows):
                if between[t, owner[i]] < 4 * _ROUNDED * nearest[i]:
                    found[t, i] = _apart(rows[i], rows[tries[t]])
                    gain += max(nearest[i] - found[t, i], 0)
            if gain > most:
                best, most = t, gain
        seeds[k] = tries[best]
        for i in range(n_rows):
            if between[best, owner[i]] < 4 * _ROUNDED * nearest[i] and found[best, i] < nearest[i]:
                nearest[i] = found[best, i]
                owner[i] = k


@kernel
def mean_variance(rows):
    """The variance of a feature, the mean over all of them.

    IN  rows: float (n, d)
    """
    n_rows, width = rows.shape
    mean = np.zeros(width)
    for i in range(n_rows):
        for j in range(width):
            mean[j] += rows[i, j]
    for j in range(width):
        mean[j] /= n_rows
    total = 0.0
    for i in range(n_rows):
        for j in range(width):
            difference = rows[i, j] - mean[j]
            total += difference * difference
    return total / (n_rows * width)
