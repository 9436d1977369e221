"""Regularised CCA as the formulas read, on dense float64: slow twins of CanonicalFusion."""

import numpy as np
from scipy.linalg import eigh


def centred(X):
    return X - X.mean(axis=0)


def ridge_of(X, rho):
    return rho * X.var(axis=0, ddof=1).mean()


def thin_svd_cca(V, S, rho, n_components):
    """P, Q and the correlations through thin singular value decompositions of both views."""
    ridges, parts = [ridge_of(X, rho) for X in (V, S)], []
    for X, ridge in zip((V, S), ridges, strict=True):
        U, a, Zt = np.linalg.svd(centred(X), full_matrices=False)
        kept = a > 1e-10 * a[0]
        d = np.sqrt(a[kept] ** 2 / (len(X) - 1) + ridge)
        parts.append((U[:, kept], a[kept], Zt[kept], d))
    (U, a, Zv, dv), (W, b, Zs, ds) = parts
    T = (a / dv)[:, None] * (U.T @ W) * (b / ds) / (len(V) - 1)
    left, values, right = np.linalg.svd(T, full_matrices=False)
    left, right = left[:, :n_components], right[:n_components].T
    return Zv.T @ (left / dv[:, None]), Zs.T @ (right / ds[:, None]), values[:n_components]


def maxvar(views, rho, n_components):
    """The generalised eigenvalue problem C w = t D w of all views stacked; t without the diagonal's 1."""
    stacked = np.hstack([centred(X) for X in views])
    C = stacked.T @ stacked / (len(stacked) - 1)
    D = np.zeros_like(C)
    start = 0
    for X in views:
        place = slice(start, start + X.shape[1])
        D[place, place] = C[place, place] + ridge_of(X, rho) * np.eye(X.shape[1])
        C[place, place] = 0
        start = place.stop
    values, vectors = eigh(C, D)
    order = np.argsort(-values)[:n_components]
    vectors = vectors[:, order] * np.sqrt(len(views))
    ends = np.cumsum([X.shape[1] for X in views])[:-1]
    return np.split(vectors, ends), values[order] / (len(views) - 1)
