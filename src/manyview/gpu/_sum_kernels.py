"""Triton kernels that add up the rows of each cluster, in pieces of one cluster each, in float64 and a fixed order."""

import triton
import triton.language as tl


@triton.jit
def weighted_sums(
    X, order, counts, present, scale, F, eps, edges, first, last, cluster, lengths, sums, n, width, V,
    BR: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    """Smoothed lengths of differences, and the differences added up with weight 1 / (2 e), by piece and view.

    Rows are x, their centroid f: e = sqrt(|s (x - f)|^2 + eps^2), rounded to their type where it is a weight. X: (n,
    width); order: int32 (n,), rows sorted by cluster; counts: float64 (n,); present: uint8 (V, n); scale: float64
    (width,); F: (K, width) of X's type; eps: float64 (V,); edges: int32 (2, V), columns of each view; first, last,
    cluster: int32, of each piece; lengths: float (V, n); sums: float64 (pieces, width + 2 V), of differences, of
    weights and of lengths.
    """
    piece, v = tl.program_id(0), tl.program_id(1)
    columns = tl.multiple_of(tl.load(edges + v), 16) + tl.arange(0, BD)
    held = columns < tl.load(edges + V + v)
    begin, end, k = tl.load(first + piece), tl.load(last + piece), tl.load(cluster + piece).to(tl.int64)
    f = tl.load(F + k * width + columns, mask=held, other=0.0).to(tl.float64)
    by = tl.load(scale + columns, mask=held, other=0.0)
    smooth = tl.load(eps + v)
    added = tl.zeros((BD,), tl.float64)
    weighed = tl.zeros((BR,), tl.float64)
    total = tl.zeros((BR,), tl.float64)
    for start in range(begin, end, BR):
        here = start + tl.arange(0, BR)
        row = tl.load(order + here, mask=here < end, other=0).to(tl.int64)
        there = (here < end) & (tl.load(present + v * n + row, mask=here < end, other=0) != 0)
        x = tl.load(X + row[:, None] * width + columns[None, :], mask=there[:, None] & held[None, :], other=0.0)
        apart = tl.where(there[:, None], x.to(tl.float64) - f[None, :], 0.0)
        scaled = apart * by[None, :]
        length = tl.sqrt(tl.sum(scaled * scaled, axis=1) + smooth * smooth)
        rounded = length.to(lengths.dtype.element_ty)
        tl.store(lengths + v * n + row, tl.where(there, rounded, float("inf")), mask=here < end)
        count = tl.load(counts + row, mask=there, other=0.0)
        weight = tl.where(there, 0.5 * count / rounded.to(tl.float64), 0.0)
        added += tl.sum(apart * weight[:, None], axis=0)
        weighed += weight
        total += count * length
    here = sums + piece.to(tl.int64) * (width + 2 * V)
    tl.store(here + columns, added, mask=held)
    tl.store(here + width + v, tl.sum(weighed, axis=0))
    tl.store(here + width + V + v, tl.sum(total, axis=0))


@triton.jit
def plain_sums(X, order, counts, first, last, sums, mass, width, BR: tl.constexpr, BD: tl.constexpr):
    """Rows added up with their counts, piece by piece. Shapes as in ``weighted_sums``, mass (pieces,)."""
    piece = tl.program_id(0)
    columns = tl.program_id(1) * BD + tl.arange(0, BD)
    held = columns < width
    begin, end = tl.load(first + piece), tl.load(last + piece)
    added = tl.zeros((BD,), tl.float64)
    weighed = tl.zeros((BR,), tl.float64)
    for start in range(begin, end, BR):
        here = start + tl.arange(0, BR)
        row = tl.load(order + here, mask=here < end, other=0).to(tl.int64)
        x = tl.load(X + row[:, None] * width + columns[None, :], mask=(here < end)[:, None] & held[None, :], other=0.0)
        count = tl.load(counts + row, mask=here < end, other=0.0)
        added += tl.sum(x.to(tl.float64) * count[:, None], axis=0)
        weighed += count
    tl.store(sums + piece.to(tl.int64) * width + columns, added, mask=held)
    if tl.program_id(1) == 0:
        tl.store(mass + piece, tl.sum(weighed, axis=0))


@triton.jit
def fold_pieces(values, edges, out, width, BP: tl.constexpr, BD: tl.constexpr):
    """Sums over the pieces of one cluster. values: float (pieces, width); edges: int64 (K + 1,); out: float64 (K,
    width)."""
    k = tl.program_id(0)
    columns = tl.program_id(1) * BD + tl.arange(0, BD)
    held = columns < width
    begin, end = tl.load(edges + k), tl.load(edges + k + 1)
    added = tl.zeros((BP, BD), tl.float64)
    for start in range(begin, end, BP):
        piece = start + tl.arange(0, BP)
        inside = (piece < end)[:, None] & held[None, :]
        added += tl.load(values + piece[:, None] * width + columns[None, :], mask=inside, other=0.0).to(tl.float64)
    tl.store(out + k.to(tl.int64) * width + columns, tl.sum(added, axis=0), mask=held)
