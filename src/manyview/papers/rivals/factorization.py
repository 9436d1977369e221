"""NMF of several relations at once, alone and with items a person has named, as the GHF-ART paper compares with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...types import Floats, Places

__all__ = ["Factors", "factorize"]

_TINY = 1e-12


@dataclass(frozen=True)
class Factors:
    """labels : the factor that says most of each item; objective : after each round, never rising."""

    labels: Places
    objective: Floats
    items: Floats


def factorize(
    relations: Sequence[Any],
    n_clusters: int,
    *,
    weights: Sequence[float] | None = None,
    named: Any = None,
    n_rounds: int = 50,
    random_state: int = 0,
) -> Factors:
    """Factors of items that explain all their relations (items x features, nothing below 0) together.

    Minimises sum_p w_p ||R_p - G S_p F_p'||^2 over G, S_p, F_p >= 0: G says which items belong to which of
    ``n_clusters`` clusters, F_p the same of the features of relation p, S_p how the two go together. The updates are
    Lee and Seung's for each factor with the others fixed, so the objective never rises. A label is the cluster k with
    the largest G_ik ||B_k||, B_k being row k of all S_p F_p'.

    named : a cluster for each item a person has named, -1 for the others. The rows of these in G are held at their
        cluster. The published SS-NMF learns a metric from pairs instead, and weights of the relations with it.

    Y. Chen, L. Wang, M. Dong, "Non-negative matrix factorization for semisupervised heterogeneous data coclustering",
    IEEE TKDE 22(10), 2010.
    """
    rng = np.random.default_rng(random_state)
    shares = np.ones(len(relations)) if weights is None else np.asarray(weights, dtype=np.float64)
    n_items = relations[0].shape[0]
    G = rng.random((n_items, n_clusters)) + _TINY
    held = np.flatnonzero(np.asarray(named) >= 0) if named is not None else np.zeros(0, dtype=np.intp)
    if held.size:
        G[held] = np.eye(n_clusters)[np.asarray(named)[held]] * (n_clusters / 2)
    kept = G[held].copy()
    F = [rng.random((relation.shape[1], n_clusters)) + _TINY for relation in relations]
    S = [rng.random((n_clusters, n_clusters)) + _TINY for _ in relations]
    size = [_squared(relation) for relation in relations]
    objective = []
    for _ in range(n_rounds):
        above, below = np.zeros_like(G), np.zeros((n_clusters, n_clusters))
        for p, relation in enumerate(relations):
            F[p] *= (relation.T @ (G @ S[p])) / (F[p] @ (S[p].T @ (G.T @ G) @ S[p]) + _TINY)
            RF = relation @ F[p]
            S[p] *= (G.T @ RF) / ((G.T @ G) @ S[p] @ (F[p].T @ F[p]) + _TINY)
            above += shares[p] * (RF @ S[p].T)
            below += shares[p] * (S[p] @ (F[p].T @ F[p]) @ S[p].T)
        G *= above / (G @ below + _TINY)
        G[held] = kept
        objective.append(
            sum(
                w * _error(R, s, G, S[p], F[p]) for p, (w, R, s) in enumerate(zip(shares, relations, size, strict=True))
            )
        )
    strength = np.sqrt(sum(w * np.diag(s @ (f.T @ f) @ s.T) for w, s, f in zip(shares, S, F, strict=True)))
    return Factors((G * strength).argmax(axis=1).astype(np.intp), np.array(objective), G)


def _squared(relation: Any) -> float:
    return float(relation.multiply(relation).sum() if hasattr(relation, "multiply") else (relation**2).sum())


def _error(relation: Any, size: float, G: Floats, S: Floats, F: Floats) -> float:
    """||R - G S F'||^2 without making the product."""
    return float(size - 2 * np.sum(G * ((relation @ F) @ S.T)) + np.sum((G.T @ G) * (S @ (F.T @ F) @ S.T)))
