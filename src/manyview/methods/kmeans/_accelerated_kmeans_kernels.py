"""Loops of the accelerated k-means: who must be looked at, which centre is nearest, what the centres gain and lose.

All lengths are in the units of the scaled view. A centre's number is int32. Bounds are float64 and rounded outwards: an
upper bound is never too small and a lower bound never too large, whatever the type of the data.
"""

import numpy as np

from ...kernel import kernel

_WIDER = 1.0 + 4e-16  # more than one rounding of a sum
_LESS = np.float32(1.0 - 3e-7)  # more than the roundings of a float32 between its writing and its use
_MORE = 1.0 + 2e-7


@kernel
def open_rows(labels, upper, own, lower, shift, other_shift, gate, rows, tighten):
    """Carry the bounds of every row over to the moved centres; list the rows whose label may have changed.

    A row keeps its label without a look where its old distance is below the gate of its centre (the paper's second
    bound), or its new one is below all others (Hamerly). Of the rows that remain, ``tighten`` marks those which an
    exact distance to their own centre may still save.

    IN  labels: int32 (n,), none below 0; shift: float64 (K,), at least how far each centre moved;
        other_shift: float64 (K,), the largest shift of any other centre; gate: float64 (K,), at most
        min_f |c_old - c_new_f| / 2 - shift / 2
    IN/OUT upper, own: float64 (n,), the distance to the own centre lies between own and upper; lower: float64 (n,), no
        other centre is nearer than that
    OUT rows: intp (n,); tighten: bool (n,), of the rows listed
    Returns how many rows are listed and how many would not have passed without the gate.
    """
    n_open = 0
    n_gated = 0
    for i in range(labels.shape[0]):
        a = labels[i]
        old = upper[i]
        new = (old + shift[a]) * _WIDER
        least = own[i] - shift[a] * _WIDER
        others = lower[i] / _WIDER - other_shift[a] * _WIDER
        upper[i] = new
        own[i] = least
        lower[i] = others
        if not new < others:
            if old < gate[a]:
                n_gated += 1
            else:
                rows[n_open] = i
                tighten[n_open] = least < max(others, gate[a])
                n_open += 1
    return n_open, n_gated


@kernel
def still_open(labels, upper, own, lower, gate, rows, tighten, squares, wider):
    """Put exact distances to the own centres in place, and keep only the rows that they did not save.

    IN  squares: float64 (m,), of the marked rows in order; wider: float64, above 1 by more than their rounding
    IN/OUT rows: intp (n,), shortened in place; upper, own
    Returns how many rows are left.
    """
    n_left = 0
    p = 0
    for q in range(tighten.shape[0]):
        i = rows[q]
        if tighten[q]:
            length = np.sqrt(squares[p])
            p += 1
            upper[i] = length * wider
            own[i] = length / wider
            if upper[i] < max(lower[i], gate[labels[i]]):
                continue
        rows[n_left] = i
        n_left += 1
    return n_left


@kernel
def nearest(products, half, best, second, label):
    """Smallest and second smallest of ``half[k] - products[k, i]`` for each i, and the first k of the smallest.

    The loop runs over items inside, so that it fills vector registers.

    IN  products: (K, m), half: (K,) of one float type
    OUT best, second: (m,) of that type; label: int32 (m,)
    """
    best[:] = np.inf
    second[:] = np.inf
    for k in range(products.shape[0]):
        p = products[k]
        h = half[k]
        number = np.int32(k)
        for i in range(p.shape[0]):
            value = h - p[i]
            b = best[i]
            s = second[i]
            less = value < b
            loser = b if less else value
            second[i] = loser if loser < s else s
            best[i] = value if less else b
            label[i] = number if less else label[i]


@kernel
def settle_certain(
    products, half, best, second, label, rows, norms, centre_squares, slack, wider, labels, upper, own, lower, doubts
):
    """Take over labels that no rounding error can have changed; list the centres between which others must choose.

    The squared distance to centre k lies between ``x^2 (1 - slack) + 2 (half[k] - product)`` and that plus
    ``2 slack (x^2 + c_k^2)``.

    IN  products, half, best, second, label: of ``nearest``, half = (1 - slack) c^2 / 2; rows: intp (m,), where their
        results belong; norms: float64 (n,), |x|; centre_squares: float64 (K,), c^2; slack, wider: float64
    OUT labels: int32 (n,); upper, own, lower: float64 (n,); doubts: intp (2, m * K), pairs of row and centre
    Returns how many pairs are in doubt.
    """
    n_doubts = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        square = norms[row] * norms[row]
        floor = (1.0 - slack) * square
        low = floor + 2.0 * best[i]
        high = low + 2.0 * slack * (square + centre_squares[label[i]])
        next_low = floor + 2.0 * second[i]
        labels[row] = label[i]
        upper[row] = np.sqrt(max(high, 0.0)) * wider
        own[row] = np.sqrt(max(low, 0.0)) / wider
        lower[row] = np.sqrt(max(next_low, 0.0)) / wider
        if not next_low > high:
            line = 0.5 * (high - floor)
            for k in range(products.shape[0]):
                if half[k] - products[k, i] <= line:
                    doubts[0, n_doubts] = row
                    doubts[1, n_doubts] = k
                    n_doubts += 1
            lower[row] = np.sqrt(max(high, 0.0)) / wider  # of the centres that are not listed
    return n_doubts


@kernel
def count_rows(old, new, weight, norms, mass, held, came, gone, touched, changed):
    """What clusters hold after some rows were labelled, and what came into them and went.

    IN  old, new: int32 (n,), old below 0 for none; weight, norms: float64 (n,)
    OUT mass, held: float64 (K,), weights and weighted lengths of the rows; came, gone: float64 (K,), weighted lengths
        of those that moved; touched: bool (K,), clusters that a row came into or left; changed: intp (n,), such rows
    Returns how many rows changed.
    """
    n_changed = 0
    for i in range(new.shape[0]):
        k, last = new[i], old[i]
        size = weight[i] * norms[i]
        mass[k] += weight[i]
        held[k] += size
        if k != last:
            changed[n_changed] = i
            n_changed += 1
            touched[k] = True
            came[k] += size
            if last >= 0:
                touched[last] = True
                gone[last] += size
    return n_changed


@kernel
def add_rows(X, rows, clusters, weight, sign, sums):
    """Add rows, each times its weight and the sign, to the sums of clusters.

    IN  X: (n, d) float; rows: intp (m,); clusters: int32 (m,); weight: float64 (n,); sign: float64
    OUT sums: float64 (K, d)
    """
    for p in range(rows.shape[0]):
        w = sign * weight[rows[p]]
        x = X[rows[p]]
        s = sums[clusters[p]]
        for j in range(x.shape[0]):
            s[j] += w * x[j]


@kernel
def measure_moves(sums, points, moved, scale, shift, across):
    """How far each centre moved, and the products of sums and points that the inertia is made of.

    IN  sums, points, moved: float64 (K, d); scale: (d,) float
    OUT shift: float64 (K,), scaled lengths; across: float64 (K,), scaled sums times scaled points
    """
    for k in range(sums.shape[0]):
        s = sums[k]
        old = points[k]
        new = moved[k]
        square = 0.0
        product = 0.0
        for j in range(s.shape[0]):
            way = (new[j] - old[j]) * scale[j]
            square += way * way
            product += (s[j] * scale[j]) * (old[j] * scale[j])
        shift[k] = np.sqrt(square)
        across[k] = product


@kernel
def fold_centres(points, scale, folded, norms):
    """Centres with the squared scaling multiplied in, in the type of the rows, and their scaled lengths.

    IN  points: float64 (K, d); scale: (d,) of the type of the rows
    OUT folded: (K, d) of that type; norms: float64 (K,)
    """
    scaled = np.empty(points.shape[1])  # stored, so that nobody squares the scale, which may be out of range
    for k in range(points.shape[0]):
        for j in range(scaled.shape[0]):
            scaled[j] = points[k, j] * scale[j]
        square = 0.0
        for j in range(scaled.shape[0]):
            square += scaled[j] * scaled[j]
        for j in range(scaled.shape[0]):
            folded[k, j] = scaled[j] * scale[j]
        norms[k] = np.sqrt(square)


@kernel
def csr_products(data, indices, indptr, rows, folded, room, out):
    """Inner products of CSR rows with every centre.

    IN  rows: intp (m,); folded: float64 (d, K)
    OUT room: float64 (K,); out: float64 (K, m)
    """
    for i in range(rows.shape[0]):
        room[:] = 0.0
        for q in range(indptr[rows[i]], indptr[rows[i] + 1]):
            x = data[q]
            f = folded[indices[q]]
            for k in range(f.shape[0]):
                room[k] += x * f[k]
        for k in range(room.shape[0]):
            out[k, i] = room[k]


@kernel
def csr_add_chosen(data, indices, indptr, rows, clusters, weight, sign, sums):
    """As ``add_rows``, for rows of a CSR matrix."""
    for p in range(rows.shape[0]):
        w = sign * weight[rows[p]]
        s = sums[clusters[p]]
        for q in range(indptr[rows[p]], indptr[rows[p] + 1]):
            s[indices[q]] += w * data[q]


@kernel
def keep_pair_bounds(products, half, rows, norms, slack, now, bounds, base):
    """Keep how near each centre can be to each row, from the products of this round.

    IN  products: (K, m), spoiled on the way; half: (K,); rows: intp (m,); norms: float64 (n,); slack: float64; now: the
        round's number
    OUT bounds: float32 (n, K); base: int32 (n,), the round they are from
    """
    floor = np.empty(rows.shape[0], dtype=products.dtype)
    for i in range(rows.shape[0]):
        # Rounded down by more than the type of the products can lose.
        floor[i] = (1.0 - 2.0 * slack) * norms[rows[i]] * norms[rows[i]]
        base[rows[i]] = now
    zero, two = products.dtype.type(0), products.dtype.type(2)
    for k in range(products.shape[0]):
        p = products[k]
        h = half[k]
        for i in range(p.shape[0]):
            square = floor[i] + two * (h - p[i])
            p[i] = np.sqrt(square if square > zero else zero)
    for start in range(0, rows.shape[0], 16):  # sixteen rows at a time, so that both sides stay in the cache
        stop = min(start + 16, rows.shape[0])
        for k in range(products.shape[0]):
            p = products[k]
            for i in range(start, stop):
                bounds[rows[i], k] = np.float32(p[i]) * _LESS


@kernel
def visit_by_pair_bounds(
    X,
    folded,
    half,
    norms,
    squares,
    slack,
    wider,
    most,
    drift,
    bounds,
    base,
    rows,
    room,
    near,
    labels,
    upper,
    own,
    lower,
):
    """Look only at those centres that can be nearer than the own one (Elkan), and at none where they are too many.

    IN  X: (n, d), folded: (K, d), half: (K,) of one float type; norms: float64 (n,); squares: float64 (K,), of the
        centres; slack, wider: float64; most: how many centres are few; drift: float32 (rounds, K), at least how far a
        centre has come since each round
    IN/OUT bounds: float32 (n, K) of round base: int32 (n,), below 0 where there are none; rows: intp (m,), shortened in
        place to those that must be compared with all centres; labels, upper, own, lower
    OUT room: of the type of X (K,); near: intp (K,)
    Returns how many rows are left, how many had bounds, how many of these were settled, and distances computed.
    """
    n_left = 0
    n_tried = 0
    n_settled = 0
    n_distances = 0
    for q in range(rows.shape[0]):
        row = rows[q]
        if base[row] < 0:
            rows[n_left] = row
            n_left += 1
            continue
        n_tried += 1
        x = X[row]
        a = labels[row]
        b = bounds[row]
        come = drift[base[row]]
        line = np.float32(upper[row] * _MORE)
        if _count_near(b, come, line) == (b[a] - come[a] <= line):
            lower[row] = line  # nothing but the own centre is near: no need to look at x
            n_settled += 1
            continue
        square = norms[row] * norms[row]
        floor = (1.0 - slack) * square
        best = floor + 2.0 * (half[a] - _product(x, folded[a]))
        high = best + 2.0 * slack * (square + squares[a])
        n_distances += 1
        line = np.float32(np.sqrt(max(high, 0.0)) * _MORE)
        if _count_near(b, come, line) > most:
            rows[n_left] = row
            n_left += 1
            continue
        n_near = 0
        others = np.float32(np.inf)
        for k in range(b.shape[0]):
            bound = b[k] - come[k]
            if bound > line:
                others = min(others, bound) if k != a else others
            elif k != a:
                near[n_near] = k
                n_near += 1
        _products(x, folded, near[:n_near], room)
        n_distances += n_near
        b[a] = np.float32(np.sqrt(max(best, 0.0)) + come[a]) * _LESS
        first = a
        second = np.inf
        for p in range(n_near):
            k = near[p]
            low = floor + 2.0 * (half[k] - room[p])
            b[k] = np.float32(np.sqrt(max(low, 0.0)) + come[k]) * _LESS
            if low < best:
                second = best
                best = low
                first = k
                high = low + 2.0 * slack * (square + squares[k])
            else:
                second = min(second, low)
        if second > high:
            labels[row] = first
            upper[row] = np.sqrt(max(high, 0.0)) * wider
            own[row] = np.sqrt(max(best, 0.0)) / wider
            lower[row] = min(np.sqrt(max(second, 0.0)) / wider, others)
            n_settled += 1
        else:
            rows[n_left] = row
            n_left += 1
    return n_left, n_tried, n_settled, n_distances


@kernel
def _count_near(b, come, line):
    n_near = 0
    for k in range(b.shape[0]):
        n_near += b[k] - come[k] <= line
    return n_near


@kernel
def _product(x, f):
    total = x.dtype.type(0)
    for j in range(x.shape[0]):
        total += x[j] * f[j]
    return total


@kernel
def _products(x, folded, near, out):
    """Products with some centres, four at a time: that reads x less often."""
    whole = near.shape[0] // 4 * 4
    for p in range(0, whole, 4):
        f0 = folded[near[p]]
        f1 = folded[near[p + 1]]
        f2 = folded[near[p + 2]]
        f3 = folded[near[p + 3]]
        t0 = x.dtype.type(0)
        t1 = x.dtype.type(0)
        t2 = x.dtype.type(0)
        t3 = x.dtype.type(0)
        for j in range(x.shape[0]):
            t0 += x[j] * f0[j]
            t1 += x[j] * f1[j]
            t2 += x[j] * f2[j]
            t3 += x[j] * f3[j]
        out[p] = t0
        out[p + 1] = t1
        out[p + 2] = t2
        out[p + 3] = t3
    for p in range(whole, near.shape[0]):
        out[p] = _product(x, folded[near[p]])
