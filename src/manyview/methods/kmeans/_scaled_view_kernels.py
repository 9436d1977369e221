"""Loops over the rows of one scaled view, dense or CSR.

Rows and centroids are in the units of the data; ``scale`` multiplies each feature inside a distance. Distances are
taken as differences, never by expanding the square: close to a centroid the expansion cancels. Rows an item lacks are
skipped (``present``). Differences, squares and sums are float64 whatever the data are, and each row by itself: no
result depends on which rows come together.
"""

import numpy as np

from ...kernel import kernel
from .._fetch_kernels import call_in

_AHEAD = 4  # rows from now that are called in from memory


@kernel
def row_norms(X, present, scale, out):
    """Length of each scaled row; 0 where missing.

    IN  X: (n, d), scale: (d,) of one float type; present: bool (n,)
    OUT out: float64 (n,)
    """
    for i in range(X.shape[0]):
        call_in(X, i + _AHEAD)
        total = 0.0
        if present[i]:
            x = X[i]
            for j in range(x.shape[0]):
                value = x[j] * scale[j]
                total += value * value
        out[i] = np.sqrt(total)


@kernel
def pair_squared_distances(X, present, scale, rows, centroids, F, out):
    """Squared distances of chosen pairs: row ``rows[p]`` to centroid ``centroids[p]``.

    IN  X, present, scale: as in ``row_norms``; rows, centroids: intp (m,); F: (K, d) of the type of X
    OUT out: float64 (m,); 0 where the row is missing or the centroid's number is below 0
    """
    for p in range(rows.shape[0]):
        out[p] = 0.0
        if present[rows[p]] and centroids[p] >= 0:
            out[p] = _squared_distance(X[rows[p]], F[centroids[p]], scale)


@kernel
def _squared_distance(x, f, scale):
    total = 0.0
    for j in range(x.shape[0]):
        difference = (np.float64(x[j]) - np.float64(f[j])) * np.float64(scale[j])
        total += difference * difference
    return total


@kernel
def lengths_and_sums(X, present, scale, labels, item_weight, F, eps, lengths, sums, mass):
    """Smoothed distance e of each row to its centroid, and the differences added up with weight 1 / (2 e), e rounded.

    Row after row. Adding differences instead of rows keeps the digits that matter: the next centroid is the last one
    plus sums / mass.

    IN  X, present, scale: as in ``row_norms``; labels: intp (n,), below 0 for none; item_weight: float64 (n,);
        F: (K, d) of the type of X; eps: float64
    OUT lengths: float (n,), rounded once to its type, infinite where missing;
        sums: float64 (K, d) and mass: float64 (K,), added to
    Returns the weighted sum of the lengths before rounding.
    """
    total = 0.0
    d = X.shape[1]
    wide = np.empty(d)  # widening a number costs as much as multiplying it
    for j in range(d):
        wide[j] = scale[j]
    for i in range(X.shape[0]):
        call_in(X, i + _AHEAD)
        k = labels[i]
        lengths[i] = np.inf
        if present[i] and k >= 0:
            x = X[i]
            f = F[k]
            s = sums[k]
            square = 0.0
            for j in range(d):
                apart = (np.float64(x[j]) - np.float64(f[j])) * wide[j]
                square += apart * apart
            length = np.sqrt(square + eps * eps)
            lengths[i] = length
            w = 0.5 * item_weight[i] / np.float64(lengths[i])
            for j in range(d):
                s[j] += w * (np.float64(x[j]) - np.float64(f[j]))
            mass[k] += w
            total += item_weight[i] * length
    return total


@kernel
def add_differences(X, present, labels, weight, F, sums, mass):
    """Add each row's difference from its centroid, times its weight, to the sum of its cluster.

    IN  X: (n, d) float; present: bool (n,); labels: intp (n,); weight: float64 (n,); F: (K, d) float
    OUT sums: (K, d) float; mass: float64 (K,), both added to
    """
    for i in range(X.shape[0]):
        call_in(X, i + _AHEAD)
        k = labels[i]
        if present[i] and k >= 0:
            w = weight[i]
            x = X[i]
            f = F[k]
            s = sums[k]
            for j in range(x.shape[0]):
                s[j] += w * (x[j] - f[j])
            mass[k] += w


@kernel
def csr_row_norms(data, indices, indptr, scale, out):
    """Length of each scaled row of a CSR matrix. OUT out: float64 (n,)"""
    for i in range(out.shape[0]):
        total = 0.0
        for q in range(indptr[i], indptr[i + 1]):
            value = data[q] * scale[indices[q]]
            total += value * value
        out[i] = np.sqrt(total)


@kernel
def csr_pair_squared_distances(data, indices, indptr, present, rows, centroids, scale, F, F_squares, out):
    """As ``pair_squared_distances``, one pass over the non-zeros of a row; over all columns near zero.

    F_squares: float64 (K,), squared lengths of the scaled centroids
    """
    for p in range(rows.shape[0]):
        k = centroids[p]
        out[p] = 0.0
        if k >= 0 and present[rows[p]]:
            start, stop = indptr[rows[p]], indptr[rows[p] + 1]
            out[p] = _csr_squared_distance(data[start:stop], indices[start:stop], scale, F[k], F_squares[k])


@kernel
def _csr_squared_distance(x, index, scale, f, f_square):
    total = f_square
    size = f_square
    for q in range(x.shape[0]):
        j = index[q]
        square = x[q] * scale[j] * scale[j]
        total += square * (x[q] - 2.0 * f[j])
        size += square * x[q]
    if total > 1e-7 * size:
        return total
    # The terms cancelled: take the difference column by column.
    total = 0.0
    q = 0
    for j in range(f.shape[0]):
        value = 0.0
        if q < x.shape[0] and index[q] == j:
            value = np.float64(x[q])
            q += 1
        difference = (value - f[j]) * scale[j]
        total += difference * difference
    return total


@kernel
def csr_add_rows(data, indices, indptr, start, present, labels, weight, sums, mass):
    """Add CSR rows ``start, start + 1, ...``, each times its weight, to the sums of their clusters."""
    for i in range(labels.shape[0]):
        k = labels[i]
        if present[i] and k >= 0:
            w = weight[i]
            s = sums[k]
            for q in range(indptr[start + i], indptr[start + i + 1]):
                s[indices[q]] += w * data[q]
            mass[k] += w


@kernel
def column_range(X, present, weight, low, high, total):
    """Smallest, largest and weighted sum of each column, over the rows that count.

    IN  X: (n, d) float; present: bool (n,); weight: float64 (n,)
    OUT low, high, total: float64 (d,), carried on from what they hold
    """
    for i in range(X.shape[0]):
        call_in(X, i + _AHEAD)
        w = weight[i]
        if present[i] and w > 0.0:
            x = X[i]
            for j in range(x.shape[0]):
                value = np.float64(x[j])
                low[j] = min(low[j], value)
                high[j] = max(high[j], value)
                total[j] += w * value


@kernel
def csr_column_range(data, indices, indptr, start, present, weight, low, high, total, stored):
    """The same over the stored entries of CSR rows ``start, start + 1, ...``; ``stored`` counts entries."""
    for i in range(present.shape[0]):
        w = weight[i]
        if present[i] and w > 0.0:
            for q in range(indptr[start + i], indptr[start + i + 1]):
                j = indices[q]
                value = np.float64(data[q])
                low[j] = min(low[j], value)
                high[j] = max(high[j], value)
                total[j] += w * value
                stored[j] += 1
