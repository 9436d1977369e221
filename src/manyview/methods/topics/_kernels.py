"""Loops of the EM steps of PLSA, over the non-zeros of rows in CSR form or over whole dense rows.

Symbols, here and in ``_plsa_em``: theta = P(topic given row), phi = P(word given topic), kept word by word so that
the topics of one word lie side by side, a = counts of a row divided by their sum, p = sum_k theta_k phi_k the
probability of a word in a row, r = a / p, G = sum over rows of weight * r * theta. ``tiny`` keeps p away from zero.
theta and phi may be float32: everything is computed in float64 and rounded once, where a share is written down.
"""

import numpy as np

from ...kernel import kernel

LANES = 8
"""Up to so many topics are held in registers; arrays are then padded to this width with zeros."""


@kernel
def _log_sum(x, p, p_bits, mantissa, mantissa_bits):
    """Sum of x log p, vectorised: the library's log takes one number at a time and would be half of all work.

    p = 2^e m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1) / (m + 1), |s| < 0.172, as a series up
    to s^19: the next term is below 1e-17. Needs p normal (not below 2e-308) and positive.

    IN  x: (m,); p: float64 (at least m,); p_bits: p seen as int64
    OUT mantissa: float64 (at least m,), mantissa_bits: the same seen as int64; both scratch
    """
    for q in range(x.shape[0]):
        mantissa_bits[q] = (p_bits[q] & 0xFFFFFFFFFFFFF) | 0x3FE0000000000000
    total = 0.0
    for q in range(x.shape[0]):
        m = mantissa[q]
        e = (p_bits[q] >> 52) - 1022
        low = m < 0.7071067811865476
        m = m + m if low else m
        e = e - 1 if low else e
        s = (m - 1.0) / (m + 1.0)
        z = s * s
        series = 1 / 11 + z * (1 / 13 + z * (1 / 15 + z * (1 / 17 + z * (1 / 19))))
        series = 1.0 + z * (1 / 3 + z * (1 / 5 + z * (1 / 7 + z * (1 / 9 + z * series))))
        total += x[q] * (2.0 * s * series + e * 0.6931471805599453)
    return total


@kernel
def _settle(old, new, flush):
    """Multiply by the old theta, let vanishing entries be zero, make the sum one; keep the old row if nothing is left.

    Products of two entries of at least ``flush`` are normal numbers: subnormal ones are a hundred times slower.
    """
    for k in range(new.shape[0]):
        value = new[k] * old[k]
        new[k] = value if value >= flush else 0 * value
    total = 0.0
    for k in range(new.shape[0]):
        total += new[k]
    if total > 0.0:
        inverse = 1.0 / total
        for k in range(new.shape[0]):
            new[k] *= inverse
    else:
        for k in range(new.shape[0]):
            new[k] = old[k]


@kernel
def _row_in_lanes(x, words, inverse, weight, t, phi, G, tiny, p, new):
    """p of each word of one row, the sums of r phi (OUT new) and of weight r theta (added to G), for eight topics.

    Local names instead of arrays tell the compiler that nothing overlaps, so that sums stay in registers; plain
    loops of so few rounds take nearly twice as long.

    IN  x, words: (m,); t: float64 (8,); phi: (F, 8)      OUT p: float64 (at least m,); new, G: float64 (.., 8)
    """
    t0, t1, t2, t3, t4, t5, t6, t7 = t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7]
    zero = t0 - t0
    n0, n1, n2, n3, n4, n5, n6, n7 = zero, zero, zero, zero, zero, zero, zero, zero
    w0, w1, w2, w3 = weight * t0, weight * t1, weight * t2, weight * t3
    w4, w5, w6, w7 = weight * t4, weight * t5, weight * t6, weight * t7
    for q in range(x.shape[0]):
        j = words[q]
        f, g = phi[j], G[j]
        f0, f1, f2, f3, f4, f5, f6, f7 = f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7]
        even, odd = (f0 * t0 + f4 * t4) + (f2 * t2 + f6 * t6), (f1 * t1 + f5 * t5) + (f3 * t3 + f7 * t7)
        probability = tiny + (even + odd)
        p[q] = probability
        a = x[q] * inverse / probability
        n0 += a * f0
        n1 += a * f1
        n2 += a * f2
        n3 += a * f3
        n4 += a * f4
        n5 += a * f5
        n6 += a * f6
        n7 += a * f7
        g0, g1, g2, g3 = g[0] + a * w0, g[1] + a * w1, g[2] + a * w2, g[3] + a * w3
        g4, g5, g6, g7 = g[4] + a * w4, g[5] + a * w5, g[6] + a * w6, g[7] + a * w7
        g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7] = g0, g1, g2, g3, g4, g5, g6, g7
    new[0], new[1], new[2], new[3], new[4], new[5], new[6], new[7] = n0, n1, n2, n3, n4, n5, n6, n7


@kernel
def csr_step_in_lanes(data, indices, indptr, inverse, weight, theta, phi, tiny, flush, new_theta, G, loglik):
    """As ``csr_step`` for at most eight topics. theta, phi, G: (.., 8), zero beyond the last topic."""
    longest = 0
    for i in range(theta.shape[0]):
        longest = max(longest, indptr[i + 1] - indptr[i])
    p, mantissa = np.empty(longest), np.empty(longest)
    p_bits, mantissa_bits = p.view(np.int64), mantissa.view(np.int64)
    t, new = np.empty(theta.shape[1]), np.empty(theta.shape[1])
    for i in range(theta.shape[0]):
        x, words = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        for k in range(t.shape[0]):
            t[k] = theta[i, k]
        _row_in_lanes(x, words, inverse[i], weight[i], t, phi, G, tiny, p, new)
        loglik[i] = inverse[i] * _log_sum(x, p, p_bits, mantissa, mantissa_bits)
        _settle(t, new, flush)
        for k in range(t.shape[0]):
            new_theta[i, k] = new[k]


@kernel
def csr_step(data, indices, indptr, inverse, weight, theta, phi, tiny, flush, new_theta, G, loglik):
    """One EM step of some rows: their new theta, their share of G, and their log-likelihood under the old values.

    IN  data, indices, indptr: the rows in CSR form; inverse: (n,) one over the row's sum, 0 for an empty row;
        weight: (n,) of the row in G, both float64; theta: (n, K); phi: (F, K)
    OUT new_theta: (n, K); G: float64 (F, K), added to; loglik: float64 (n,), sum of a log p
    """
    longest = 0
    for i in range(theta.shape[0]):
        longest = max(longest, indptr[i + 1] - indptr[i])
    p, mantissa = np.empty(longest), np.empty(longest)
    p_bits, mantissa_bits = p.view(np.int64), mantissa.view(np.int64)
    t, new = np.empty(theta.shape[1]), np.empty(theta.shape[1])
    for i in range(theta.shape[0]):
        x, words = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        w = weight[i]
        for k in range(t.shape[0]):
            t[k], new[k] = theta[i, k], 0.0
        for q in range(x.shape[0]):
            f, g = phi[words[q]], G[words[q]]
            probability = tiny
            for k in range(t.shape[0]):
                probability += t[k] * f[k]
            p[q] = probability
            r = x[q] * inverse[i] / probability
            wr = w * r
            for k in range(t.shape[0]):
                new[k] += r * f[k]
                g[k] += wr * t[k]
        loglik[i] = inverse[i] * _log_sum(x, p, p_bits, mantissa, mantissa_bits)
        _settle(t, new, flush)
        for k in range(t.shape[0]):
            new_theta[i, k] = new[k]


@kernel
def dense_ratios(X, inverse, P, tiny, loglik):
    """Turn p into r = a / p for whole rows, and take the log-likelihood on the way.

    IN  X: (n, F) counts; inverse: (n,)      OUT P: float64 (n, F), p before and r after; loglik: float64 (n,)
    """
    p, mantissa = np.empty(X.shape[1]), np.empty(X.shape[1])
    p_bits, mantissa_bits = p.view(np.int64), mantissa.view(np.int64)
    for i in range(X.shape[0]):
        x, row = X[i], P[i]
        for j in range(row.shape[0]):
            p[j] = row[j] + tiny
        loglik[i] = inverse[i] * _log_sum(x, p, p_bits, mantissa, mantissa_bits)
        for j in range(row.shape[0]):
            row[j] = x[j] * inverse[i] / p[j]


@kernel
def settle_rows(theta, sums, flush):
    """``_settle`` for many rows. IN theta: (n, K)   OUT sums: (n, K), sum of r phi before, the new theta after"""
    for i in range(theta.shape[0]):
        _settle(theta[i], sums[i], flush)


@kernel
def csr_fold_in(data, indices, indptr, known, phi, tiny, flush, max_iter, tol, theta, loglik):
    """Topic shares of rows under fixed topics, from equal shares, until no share moves by more than ``tol``.

    Words that no topic knows are left out and the rest counts as the whole row; a row without a known word keeps
    equal shares and the log-likelihood NaN.

    IN  known: bool (F,), some topic has the word; phi: (F, K)
    OUT theta: (n, K); loglik: float64 (n,), at the last but one step: a lower bound of the value at theta
    """
    n_topics = theta.shape[1]
    new = np.empty(n_topics, theta.dtype)
    for i in range(theta.shape[0]):
        x, words = data[indptr[i] : indptr[i + 1]], indices[indptr[i] : indptr[i + 1]]
        t = theta[i]
        for k in range(n_topics):
            t[k] = 1.0 / n_topics
        total = 0.0
        for q in range(x.shape[0]):
            if known[words[q]]:
                total += x[q]
        loglik[i] = np.nan
        if total <= 0.0:
            continue
        for _ in range(max_iter):
            value = 0.0
            for k in range(n_topics):
                new[k] = 0
            for q in range(x.shape[0]):
                if not known[words[q]]:
                    continue
                f = phi[words[q]]
                p = tiny
                for k in range(t.shape[0]):
                    p += t[k] * f[k]
                a = x[q] / total
                value += a * np.log(p)
                r = a / p
                for k in range(t.shape[0]):
                    new[k] += r * f[k]
            _settle(t, new, flush)
            moved = 0.0
            for k in range(n_topics):
                moved = max(moved, abs(new[k] - t[k]))
                t[k] = new[k]
            loglik[i] = value
            if moved <= tol:
                break
