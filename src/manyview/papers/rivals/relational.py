"""Spectral clustering of several relations at once (SRC), as the GHF-ART paper compares with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...types import Floats, Places

__all__ = ["Relational", "spectral_relational"]


@dataclass(frozen=True)
class Relational:
    """labels : of the items; objective : what the shared space explains after each round, never falling."""

    labels: Places
    objective: Floats
    space: Floats


def spectral_relational(
    relations: Sequence[Any],
    n_clusters: int,
    *,
    weights: Sequence[float] | None = None,
    n_rounds: int = 50,
    tol: float = 1e-6,
    random_state: int = 0,
) -> Relational:
    """Cluster items by all their relations (items x features): collective factorisation with orthonormal factors.

    Minimises sum_p w_p ||R_p - C A_p C_p'||^2 over C'C = I, C_p'C_p = I. Given the others, A_p = C'R_p C_p; the best
    C_p spans R_p'C and the best C is the leading left singular vectors of all R_p C_p side by side, times root w_p.
    Every step is exact, so what is explained, sum_p w_p ||C'R_p C_p||^2, never falls. k-means on the rows of C gives
    the clusters.

    B. Long, Z. Zhang, X. Wu, P. Yu, "Spectral clustering for multi-type relational data", ICML 2006.
    """
    from ...methods.spectral import cluster_rows

    rng = np.random.default_rng(random_state)
    shares = np.ones(len(relations)) if weights is None else np.asarray(weights, dtype=np.float64)
    C = np.linalg.qr(rng.standard_normal((relations[0].shape[0], n_clusters)))[0]
    explained: list[float] = []
    for _ in range(n_rounds):
        parts = []
        for share, relation in zip(shares, relations, strict=True):
            features = np.linalg.qr(np.asarray(relation.T @ C))[0]
            parts.append(np.sqrt(share) * np.asarray(relation @ features))
        left, values, _ = np.linalg.svd(np.hstack(parts), full_matrices=False)
        C = left[:, :n_clusters]
        explained.append(float((values[:n_clusters] ** 2).sum()))
        if len(explained) > 1 and explained[-1] - explained[-2] <= tol * explained[-1]:
            break
    labels = cluster_rows(C, n_clusters, seed=random_state)[0]
    return Relational(labels.astype(np.intp), np.array(explained), C)
