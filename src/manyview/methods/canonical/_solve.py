"""Directions along which several views agree most, from their covariances.

With ``B_v B_v' = C_vv + rho_v I`` the whitened cross-covariances are ``T_ij = B_i^-1 C_ij B_j^-T``. Two views: the
singular vectors of ``T_12``. More views (MAXVAR, the generalisation of Kettenring and Carroll): the leading
eigenvectors of the block matrix with the identity on the diagonal and ``T_ij`` beside it, whose eigenvalues for two
views are 1 plus and minus the correlations. One view is taken together with itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import Floats

__all__ = ["Solution", "solve"]

Covariance = Callable[[int, int], Floats]

_WORTHLESS = 1e-7  # a correlation below this share of the largest cannot be told from rounding
_SMALL = 300  # up to this width all singular vectors are as quick as some


@dataclass(frozen=True)
class Solution:
    """``directions[v]`` (width, R), ``correlations`` (R,), descending, and ``couplings`` (R, V, V).

    ``couplings[r]`` holds the regularised covariances of the views' r-th coordinates with each other.
    """

    directions: list[Floats]
    correlations: Floats
    couplings: Floats


def solve(
    covariance: Covariance, variances: list[float], regularization: float, n_components: int, precision: float
) -> Solution:
    """The ``n_components`` most correlated directions, fewer where there are no more.

    ``variances`` are the mean variances of the views' features, which the ridges are multiples of; ``precision`` is
    that of the data.
    """
    ridges = [regularization * variance for variance in variances]
    own = [covariance(v, v) for v in range(len(ridges))]
    if len(ridges) == 2:
        directions, values = _pair(own, covariance(0, 1), ridges, n_components, precision)
        couplings = np.ones((values.size, 2, 2))
        couplings[:, 0, 1] = couplings[:, 1, 0] = values
    else:
        whiten, unwhiten = zip(*map(_whitener, own, ridges, [precision] * len(own)), strict=True)

        def cross(i: int, j: int) -> Floats:
            return np.asarray(whiten[j](whiten[i](covariance(i, j)).T).T)

        if len(ridges) == 1:
            values, vectors = _leading_eigenvectors(cross(0, 0), n_components)
            kept = _worth(values)
            parts, values = [vectors[:, kept]], values[kept]
            couplings = np.ones((values.size, 1, 1))
        else:
            parts, values, couplings = _maxvar(cross, len(ridges), n_components)
        directions = [back(part) for back, part in zip(unwhiten, parts, strict=True)]
    return Solution(_same_signs(directions, np.sqrt(variances)), np.minimum(values, 1.0), couplings)


def _pair(
    own: list[Floats], across: Floats, ridges: list[float], count: int, precision: float
) -> tuple[list[Floats], Floats]:
    """Directions and correlations of two views.

    From single-precision data the directions are found in single precision. Within the space they span, the best ones
    are then found in double: an error in the directions counts squared in the correlations, which so lose nothing.
    """
    single = precision > np.finfo(np.float64).eps and _is_wide(min(across.shape), count)
    kind = np.float32 if single else np.float64
    coarse: list[Any] = [one.astype(kind) for one in (*own, across)]
    whiten, unwhiten = zip(*map(_whitener, coarse[:2], ridges, [precision] * 2), strict=True)
    matrix = whiten[1](whiten[0](coarse[2]).T).T
    left, values, right = _leading_singular_vectors(matrix, count)
    kept = _worth(values)
    parts = [np.asarray(back(part[:, kept]), np.float64) for back, part in zip(unwhiten, (left, right), strict=True)]
    if not single:
        return parts, values[kept]
    within = [part.T @ (one @ part) for part, one in zip(parts, own, strict=True)]
    for gram, part, ridge in zip(within, parts, ridges, strict=True):
        gram += ridge * (part.T @ part)
    small, values = _pair(within, parts[0].T @ (across @ parts[1]), [0.0, 0.0], count, np.finfo(np.float64).eps)
    return [part @ turn for part, turn in zip(parts, small, strict=True)], values


def _whitener(
    covariance: Floats, ridge: float, precision: float
) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
    """``B^-1 A`` and ``B^-T A`` for ``B B' = covariance + ridge I``; directions without variance drop out."""
    from scipy.linalg import cholesky, eigh, get_blas_funcs

    width = covariance.shape[0]
    if ridge > 2 * precision * float(np.trace(covariance)):  # beyond what rounding may have made negative
        factor = covariance.copy()
        factor.flat[:: width + 1] += ridge
        factor = cholesky(factor.T, lower=True, overwrite_a=True, check_finite=False)  # symmetric: either order will do
        solve = get_blas_funcs("trsm", (factor,))

        def whiten(matrix: Floats, turned: bool = False) -> Floats:
            if matrix.flags.c_contiguous:  # the same from the right, in place of a copy in the other order
                return np.asarray(solve(1.0, factor, matrix.T, side=1, lower=1, trans_a=not turned).T)
            return np.asarray(solve(1.0, factor, matrix, lower=1, trans_a=turned))

        return whiten, lambda matrix: whiten(matrix, turned=True)
    values, vectors = eigh(covariance, check_finite=False)
    kept = values > np.sqrt(width) * precision * max(values[-1], np.finfo(np.float64).tiny)
    roots = vectors[:, kept] / np.sqrt(values[kept] + ridge)
    return lambda matrix: roots.T @ matrix, lambda matrix: roots @ matrix


def _is_wide(width: int, count: int) -> bool:
    """Is it quicker to find so many directions of a matrix than all?"""
    return width > _SMALL and 3 * count <= width


def _leading_eigenvectors(matrix: Floats, count: int) -> tuple[Floats, Floats]:
    """Of a symmetric matrix, the largest first."""
    from scipy.linalg import eigh

    width = matrix.shape[0]
    some = [width - count, width - 1] if _is_wide(width, count) else None
    values, vectors = eigh(matrix, subset_by_index=some, check_finite=False)
    return values[::-1][:count], vectors[:, ::-1][:, :count]


def _leading_singular_vectors(matrix: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """Of a rectangular matrix, the largest first."""
    if matrix.shape[0] < matrix.shape[1]:
        right, values, left = _leading_singular_vectors(np.ascontiguousarray(matrix.T), count)
        return left, values, right
    width = matrix.shape[1]
    if not _is_wide(width, count):
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        return left[:, :count], values[:count], right[:count].T
    squares, vectors = _leading_eigenvectors(matrix.T @ matrix, count)
    values = np.sqrt(np.maximum(squares, 0.0))
    image = matrix @ vectors
    return image / np.where(values > 0, values, 1.0), values, vectors


def _worth(values: Floats) -> NDArray[np.bool_]:
    return values > _WORTHLESS * max(float(values.max(initial=0.0)), 1e-300)


def _maxvar(cross: Covariance, n_views: int, n_components: int) -> tuple[list[Floats], Floats, Floats]:
    blocks = {(i, j): cross(i, j) for i in range(n_views) for j in range(i + 1, n_views)}
    widths = [blocks[0, 1].shape[0], *(blocks[0, j].shape[1] for j in range(1, n_views))]
    ends = np.cumsum([0, *widths])
    places = [slice(ends[v], ends[v + 1]) for v in range(n_views)]
    matrix = np.zeros((int(ends[-1]), int(ends[-1])))
    for (i, j), block in blocks.items():
        matrix[places[i], places[j]] = block
        matrix[places[j], places[i]] = block.T
    # At most total minus largest width of the eigenvalues are positive: for two views, the smaller width.
    values, vectors = _leading_eigenvectors(matrix, min(n_components, sum(widths) - max(widths)))
    kept = _worth(values)
    values, vectors = values[kept], vectors[:, kept] * np.sqrt(n_views)
    parts = [vectors[place] for place in places]
    couplings = np.empty((values.size, n_views, n_views))
    for i in range(n_views):
        couplings[:, i, i] = (parts[i] ** 2).sum(axis=0)
        for j in range(i + 1, n_views):
            couplings[:, i, j] = couplings[:, j, i] = (parts[i] * (blocks[i, j] @ parts[j])).sum(axis=0)
    return parts, values / (n_views - 1), couplings


def _same_signs(directions: list[Floats], units: Floats) -> list[Floats]:
    """One sign per component for all views together, so that results repeat: the largest entry is positive."""
    stacked = np.vstack([part * unit for part, unit in zip(directions, units, strict=True)])
    if not stacked.size:
        return directions
    signs = np.sign(stacked[np.abs(stacked).argmax(axis=0), np.arange(stacked.shape[1])])
    return [part * np.where(signs == 0, 1.0, signs) for part in directions]
