"""Triton kernels of one EM step of PLSA over rows in CSR form. Symbols as in the processor's kernels."""

import triton
import triton.language as tl


@triton.jit
def row_step(
    indptr, words, values, inverse, theta, phi, limits, new, loglik, WRITE: tl.constexpr, K, WIDE: tl.constexpr,
    BN: tl.constexpr,
):  # fmt: skip
    """New shares of one row, where they are to be written, and its log-likelihood under the old values.

    indptr: int64 (n + 1,); words: int32, values: float (nnz,); inverse: (n,), one over the row's sum; theta, new: (n,
    K); phi: (F, K); limits: (2,), what keeps p from zero and below what shares count as zero; loglik: float64 (n,).
    WIDE is the power of two at or above K.
    """
    i = tl.program_id(0).to(tl.int64)
    begin, end = tl.load(indptr + i), tl.load(indptr + i + 1)
    topics = tl.arange(0, WIDE)
    held = topics < K
    t = tl.load(theta + i * K + topics, mask=held, other=0.0)
    share, tiny, flush = tl.load(inverse + i), tl.load(limits), tl.load(limits + 1)
    added = tl.zeros((WIDE,), theta.dtype.element_ty)
    likely = tl.zeros((BN,), tl.float64)
    for first in range(begin, end, BN):
        at = first + tl.arange(0, BN)
        here = at < end
        word = tl.load(words + at, mask=here, other=0).to(tl.int64)
        a = tl.load(values + at, mask=here, other=0.0).to(theta.dtype.element_ty) * share
        f = tl.load(phi + word[:, None] * K + topics[None, :], mask=here[:, None] & held[None, :], other=0.0)
        p = tl.sum(f * t[None, :], axis=1) + tiny
        if WRITE:
            added += tl.sum(f * (a / p)[:, None], axis=0)
        likely += tl.where(here, a * tl.log(p), 0.0).to(tl.float64)
    if WRITE:
        added *= t
        added = tl.where(added >= flush, added, 0.0)
        total = tl.sum(added, axis=0)
        tl.store(new + i * K + topics, tl.where(total > 0, added / tl.where(total > 0, total, 1.0), t), mask=held)
    tl.store(loglik + i, tl.sum(likely, axis=0))


@triton.jit
def word_step(items, values, theta, phi, limits, first, last, word, out, K, WIDE: tl.constexpr, BN: tl.constexpr):
    """The sum of weight r theta over some of the rows that hold a word.

    items: int32, values: (nnz,), rows that hold the words, word by word, and the words' shares of them times the
    rows' weights; word: int32, of each piece; out: (pieces, K), of theta's type.
    """
    piece = tl.program_id(0)
    begin, end, w = tl.load(first + piece), tl.load(last + piece), tl.load(word + piece).to(tl.int64)
    topics = tl.arange(0, WIDE)
    held = topics < K
    f = tl.load(phi + w * K + topics, mask=held, other=0.0)
    tiny = tl.load(limits)
    added = tl.zeros((WIDE,), theta.dtype.element_ty)
    for start in range(begin, end, BN):
        at = start + tl.arange(0, BN)
        here = at < end
        i = tl.load(items + at, mask=here, other=0).to(tl.int64)
        a = tl.load(values + at, mask=here, other=0.0)
        t = tl.load(theta + i[:, None] * K + topics[None, :], mask=here[:, None] & held[None, :], other=0.0)
        p = tl.sum(t * f[None, :], axis=1) + tiny
        added += tl.sum(t * (a / p)[:, None], axis=0)
    tl.store(out + piece.to(tl.int64) * K + topics, added, mask=held)
