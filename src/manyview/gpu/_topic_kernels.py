"""Triton kernels of one EM step of PLSA over rows in CSR form. Symbols as in the processor's kernels.

Shares and topics may be float32; sums, probabilities and what is made of them are float64, rounded once.
"""

import triton
import triton.language as tl


@triton.jit
def _one_over(p, kind: tl.constexpr):
    """1 / p of float64 numbers; those that float32 can hold (``kind``) by its quick answer and two Newton steps."""
    if kind == tl.float32:
        found = (1.0 / p.to(tl.float32)).to(tl.float64)
        found = found * (2.0 - p * found)
        found = found * (2.0 - p * found)
    else:
        found = 1.0 / p
    return found


@triton.jit
def row_step(
    indptr, words, values, inverse, theta, phi, limits, new, loglik, WRITE: tl.constexpr, K, WIDE: tl.constexpr,
    BN: tl.constexpr,
):  # fmt: skip
    """New shares of one row, where they are to be written, and its log-likelihood under the old values.

    indptr: int64 (n + 1,); words: int32, values: float (nnz,); inverse: float64 (n,), one over the row's sum; theta,
    new: (n, K); phi: (F, K); limits: float64 (2,), what keeps p from zero and below what shares count as zero; loglik:
    float64 (n,). WIDE is the power of two at or above K.
    """
    kind = theta.dtype.element_ty
    i = tl.program_id(0).to(tl.int64)
    begin, end = tl.load(indptr + i), tl.load(indptr + i + 1)
    topics = tl.arange(0, WIDE)
    held = topics < K
    old = tl.load(theta + i * K + topics, mask=held, other=0.0)
    t = old.to(tl.float64)
    share, tiny, flush = tl.load(inverse + i), tl.load(limits), tl.load(limits + 1)
    added = tl.zeros((BN, WIDE), tl.float64)
    likely = tl.zeros((BN,), tl.float64)
    for first in range(begin, end, BN):
        at = first + tl.arange(0, BN)
        here = at < end
        word = tl.load(words + at, mask=here, other=0).to(tl.int64)
        a = tl.load(values + at, mask=here, other=0.0).to(tl.float64) * share
        f = tl.load(phi + word[:, None] * K + topics[None, :], mask=here[:, None] & held[None, :], other=0.0)
        f = f.to(tl.float64)
        p = tl.sum(f * t[None, :], axis=1) + tiny
        if WRITE:
            added += f * (a * _one_over(p, kind))[:, None]
        likely += tl.where(here, a * tl.log(p.to(kind)).to(tl.float64), 0.0)
    if WRITE:
        found = tl.sum(added, axis=0) * t
        found = tl.where(found >= flush, found, 0.0)
        total = tl.sum(found, axis=0)
        found = (found / tl.where(total > 0, total, 1.0)).to(kind)
        tl.store(new + i * K + topics, tl.where(total > 0, found, old), mask=held)
    tl.store(loglik + i, tl.sum(likely, axis=0))


@triton.jit
def word_step(items, values, theta, phi, limits, first, last, word, out, K, WIDE: tl.constexpr, BN: tl.constexpr):
    """The sum of weight r theta over some of the rows that hold a word.

    items: int32, values: float64 (nnz,), rows that hold the words, word by word, and the words' shares of them times
    the rows' weights; word: int32, of each piece; out: float64 (pieces, K).
    """
    kind = theta.dtype.element_ty
    piece = tl.program_id(0)
    begin, end, w = tl.load(first + piece), tl.load(last + piece), tl.load(word + piece).to(tl.int64)
    topics = tl.arange(0, WIDE)
    held = topics < K
    f = tl.load(phi + w * K + topics, mask=held, other=0.0).to(tl.float64)
    tiny = tl.load(limits)
    added = tl.zeros((WIDE,), tl.float64)
    for start in range(begin, end, BN):
        at = start + tl.arange(0, BN)
        here = at < end
        i = tl.load(items + at, mask=here, other=0).to(tl.int64)
        a = tl.load(values + at, mask=here, other=0.0)
        t = tl.load(theta + i[:, None] * K + topics[None, :], mask=here[:, None] & held[None, :], other=0.0)
        t = t.to(tl.float64)
        p = tl.sum(t * f[None, :], axis=1) + tiny
        added += tl.sum(t * (a * _one_over(p, kind))[:, None], axis=0)
    tl.store(out + piece.to(tl.int64) * K + topics, added, mask=held)
