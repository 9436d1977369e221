"""Self-taught clustering (STC): the rival of aPLSA that learns from other items, too, but not from their tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...types import Floats, Places

__all__ = ["SelfTaught", "self_taught"]

_TINY = 1e-300


@dataclass(frozen=True)
class SelfTaught:
    """labels : of the items; word_labels : of the shared words; objective : after each round, never rising."""

    labels: Places
    other_labels: Places
    word_labels: Places
    objective: Floats


def self_taught(
    items: Any,
    others: Any,
    n_clusters: int,
    *,
    n_other: int | None = None,
    n_words: int = 32,
    tradeoff: float = 1.0,
    n_rounds: int = 30,
    n_starts: int = 5,
    random_state: int = 0,
) -> SelfTaught:
    """Cluster items, other items and the words both are made of, so that as little information as can be is lost.

    Minimises I(X; Z) - I(X~; Z~) + tradeoff (I(Y; Z) - I(Y~; Z~)): X the items, Y the others, Z their words, the tilde
    the clusters of each; the clusters of words are shared, which is how the others help. Given the rest, an item goes
    to the cluster x~ with the largest sum over z~ of p(z~|x) log p(z~|x~), a word to the z~ with the largest
    sum over x~ of p(x~, z) log p(x~|z~), plus tradeoff times the same of Y. Neither step raises the objective.

    The paper of the method leaves the number of word clusters to the reader; 32 is ours, and so are five starts.

    W. Dai, Q. Yang, G.-R. Xue, Y. Yu, "Self-taught clustering", ICML 2008.
    """
    p, q = (_joint(matrix) for matrix in (items, others))
    rng = np.random.default_rng(random_state)
    sizes = (n_clusters, n_other or n_clusters, min(n_words, p.shape[1]))
    runs = [_one_start(p, q, sizes, tradeoff, n_rounds, rng) for _ in range(n_starts)]
    return min(runs, key=lambda run: run.objective[-1])


def _joint(matrix: Any) -> Floats:
    table = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)
    return table / table.sum()


def _one_start(
    p: Floats, q: Floats, sizes: tuple[int, int, int], tradeoff: float, n_rounds: int, rng: np.random.Generator
) -> SelfTaught:
    x, y, z = (_spread(n, size, rng) for n, size in zip((p.shape[0], q.shape[0], p.shape[1]), sizes, strict=True))
    objective = [_loss(p, x, z, sizes[0], sizes[2]) + tradeoff * _loss(q, y, z, sizes[1], sizes[2])]
    for _ in range(n_rounds):
        x, y = _moved(p, x, z, sizes[0], sizes[2]), _moved(q, y, z, sizes[1], sizes[2])
        z = _words_moved(p, q, x, y, z, sizes, tradeoff)
        objective.append(_loss(p, x, z, sizes[0], sizes[2]) + tradeoff * _loss(q, y, z, sizes[1], sizes[2]))
        if objective[-2] - objective[-1] <= 1e-9:
            break
    return SelfTaught(x, y, z, np.array(objective))


def _spread(n: int, size: int, rng: np.random.Generator) -> Places:
    """Clusters of even sizes, by chance."""
    return rng.permutation(np.arange(n) % size).astype(np.intp)


def _summed(table: Floats, labels: Places, size: int) -> Floats:
    """Rows of a table added by label."""
    out = np.zeros((size, table.shape[1]))
    np.add.at(out, labels, table)
    return out


def _moved(p: Floats, x: Places, z: Places, n_x: int, n_z: int) -> Places:
    over = _summed(p.T, z, n_z).T  # p(x, z~)
    clusters = _summed(over, x, n_x)
    shares = clusters / np.maximum(clusters.sum(axis=1, keepdims=True), _TINY)
    return _kept_full(x, over @ np.log(np.maximum(shares, _TINY)).T)


def _words_moved(
    p: Floats, q: Floats, x: Places, y: Places, z: Places, sizes: tuple[int, int, int], tradeoff: float
) -> Places:
    score = np.zeros((p.shape[1], sizes[2]))
    for table, labels, size, weight in ((p, x, sizes[0], 1.0), (q, y, sizes[1], tradeoff)):
        over = _summed(table, labels, size)  # p(x~, z)
        clusters = _summed(over.T, z, sizes[2]).T  # p(x~, z~)
        shares = clusters / np.maximum(clusters.sum(axis=0, keepdims=True), _TINY)
        score += weight * (over.T @ np.log(np.maximum(shares, _TINY)))
    return _kept_full(z, score)


def _kept_full(before: Places, score: Floats) -> Places:
    """The best cluster of each; from a cluster that all would leave, the one who gains least stays."""
    best = score.argmax(axis=1).astype(np.intp)
    gain = score.max(axis=1) - score[np.arange(score.shape[0]), before]
    best[gain <= 1e-15] = before[gain <= 1e-15]  # who is as well off stays
    for empty in np.setdiff1d(before, best):
        members = np.flatnonzero(before == empty)
        best[members[gain[members].argmin()]] = empty
    return best


def _loss(p: Floats, x: Places, z: Places, n_x: int, n_z: int) -> float:
    return _information(p) - _information(_summed(_summed(p, x, n_x).T, z, n_z).T)


def _information(p: Floats) -> float:
    """Mutual information of a joint distribution, nats."""
    independent = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    held = p > 0
    return float(np.sum(p[held] * np.log(p[held] / independent[held])))
