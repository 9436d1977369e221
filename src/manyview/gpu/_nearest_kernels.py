"""Triton kernels that compare rows with centres. No matrix of rows by centres is ever written.

A number is held as two halves, ``high + low / 2048``, both float16, after division by a power of two (``unit``): 22
bits.
"""

import triton
import triton.language as tl


@triton.jit
def _keep_two(best, second, label, values, first, BK: tl.constexpr):
    """The smallest value so far, its place, and the second smallest, after one more tile of values."""
    least, place = tl.min(values, axis=1, return_indices=True)
    others = tl.where(tl.arange(0, BK)[None, :] == place[:, None], float("inf"), values)
    second = tl.minimum(tl.maximum(best, least), tl.minimum(second, tl.min(others, axis=1)))
    label = tl.where(least < best, (place + first).to(tl.int32), label)
    return tl.minimum(best, least), second, label


@triton.jit
def nearest(
    HIGH, LOW, C_HIGH, C_LOW, squares, labels, gaps, back, n, K,
    D: tl.constexpr, BM: tl.constexpr, BK: tl.constexpr, HALVES: tl.constexpr,
):  # fmt: skip
    """Nearest centre of each row, and how much farther the second nearest is, by |c|^2 - 2 x.c.

    HIGH, LOW: float16 (n, D), D a power of two; C_HIGH, C_LOW: float16 (K, D); squares: float32 (K,); labels: int32
    (n,); gaps: float32 (n,); back: twice the product of the units. The low halves are read where HALVES.
    """
    rows = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    columns = tl.arange(0, D)
    inside = rows < n
    places = rows[:, None] * D + columns[None, :]
    high = tl.load(HIGH + places, mask=inside[:, None], other=0.0)
    if HALVES:
        low = tl.load(LOW + places, mask=inside[:, None], other=0.0)
    best = tl.full((BM,), float("inf"), tl.float32)
    second = tl.full((BM,), float("inf"), tl.float32)
    label = tl.zeros((BM,), tl.int32)
    for first in range(0, K, BK):
        centres = first + tl.arange(0, BK)
        there = (centres < K)[None, :]
        where = centres[None, :] * D + columns[:, None]
        c_high = tl.load(C_HIGH + where, mask=there, other=0.0)
        if HALVES:
            c_low = tl.load(C_LOW + where, mask=there, other=0.0)
            product = tl.dot(low, c_high)
            product = tl.dot(high, c_low, product) * (1.0 / 2048)
            product = tl.dot(high, c_high, product)
        else:
            product = tl.dot(high, c_high)
        values = tl.load(squares + centres, mask=centres < K, other=float("inf"))[None, :] - back * product
        best, second, label = _keep_two(best, second, label, values, first, BK)
    tl.store(labels + rows, label, mask=inside)
    tl.store(gaps + rows, second - best, mask=inside)


@triton.jit
def cheapest(
    X, factors, C_HIGH, C_LOW, back, edges, squares, weights, whole, lost, doubts, labels, is_open, n, K, width, V,
    BM: tl.constexpr, BD: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Cheapest cluster of each row over several views side by side, and whether rounding may hide a cheaper one.

    Costs are sum_v w_v (|f|^2 - 2 x.f). X: float (n, width), multiplied by factors, float32 (width,), before it
    becomes halves; C_HIGH, C_LOW: float16 (K, width); back: float32 (V,), what products are to be multiplied with;
    edges: int32 (2, V), first column of each view and the one after its last, multiples of 16; squares: float32 (K,
    V); weights: float64 (V, n), 0 where a view is missing; whole, lost: float32 (V, n), lengths of rows and of what
    their high halves leave out; doubts: float32 (3, V), as ``halves.doubt`` gives them; labels: int32 (n,); is_open:
    bool (n,).
    """
    rows = tl.program_id(0).to(tl.int64) * BM + tl.arange(0, BM)
    inside = rows < n
    best = tl.full((BM,), float("inf"), tl.float32)
    second = tl.full((BM,), float("inf"), tl.float32)
    label = tl.zeros((BM,), tl.int32)
    doubt = tl.zeros((BM,), tl.float32)
    for first in range(0, K, BK):
        centres = first + tl.arange(0, BK)
        there = centres < K
        cost = tl.where(there[None, :], tl.zeros((BM, BK), tl.float32), float("inf"))
        for v in range(0, V):
            begin, stop = tl.load(edges + v), tl.load(edges + V + v)
            product = tl.zeros((BM, BK), tl.float32)
            small = tl.zeros((BM, BK), tl.float32)
            for column in range(begin, stop, BD):
                columns = tl.multiple_of(column, 16) + tl.arange(0, BD)
                held = columns < stop
                x = tl.load(
                    X + rows[:, None] * width + columns[None, :], mask=inside[:, None] & held[None, :], other=0.0
                )
                x = x.to(tl.float32) * tl.load(factors + columns, mask=held, other=0.0)[None, :]
                where = centres[None, :] * width + columns[:, None]
                c_high = tl.load(C_HIGH + where, mask=there[None, :] & held[:, None], other=0.0)
                c_low = tl.load(C_LOW + where, mask=there[None, :] & held[:, None], other=0.0)
                high = x.to(tl.float16)
                low = ((x - high.to(tl.float32)) * 2048.0).to(tl.float16)
                small = tl.dot(low, c_high, small)
                small = tl.dot(high, c_low, small)
                product = tl.dot(high, c_high, product)
            product = (product + small * (1.0 / 2048)) * tl.load(back + v)
            square = tl.load(squares + centres * V + v, mask=there, other=0.0)
            weight = tl.load(weights + v * n + rows, mask=inside, other=0.0).to(tl.float32)
            cost += weight[:, None] * tl.where(weight[:, None] > 0, square[None, :] - product, 0.0)
            if first == 0:
                by_length = tl.load(doubts + v) * tl.load(whole + v * n + rows, mask=inside, other=0.0)
                by_loss = tl.load(doubts + V + v) * tl.load(lost + v * n + rows, mask=inside, other=0.0)
                doubt += weight * (by_length + by_loss + tl.load(doubts + 2 * V + v))
        best, second, label = _keep_two(best, second, label, cost, first, BK)
    tl.store(labels + rows, label, mask=inside)
    tl.store(is_open + rows, (second - best > doubt) == 0, mask=inside)  # also where numbers are out of range
