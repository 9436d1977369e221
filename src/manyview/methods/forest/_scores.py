"""How likely each tag is for each item, seen from a finished forest: the paper's three ways, and leaf frequency."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...types import Places
from ._trees import Mates, Shares

__all__ = ["affinity_scores", "cluster_scores", "leaf_scores", "prior_scores"]

Scores = NDArray[np.float32]


def leaf_scores(shares: Shares, itself: Places, mates: Mates, yes: Any, votes: bool) -> Scores:
    """Mean frequency of each tag among leaf mates, the item left out; NaN rows where an item has no mates.

    With ``votes`` (11): the share of trees whose mates all have the tag, among those where all or none have it; where
    no tree is so sure, the mean frequency. ``itself`` gives the items' numbers in training, -1 for new ones.
    """
    from ._leaf_kernels import leaf_votes

    frequency, positive, negative = (np.empty((itself.size, yes.shape[1]), dtype=np.float32) for _ in range(3))
    leaf_votes(
        shares.ptr,
        shares.leaf,
        shares.share,
        mates.first,
        mates.mates,
        mates.max_mates,
        itself.astype(np.int64),
        yes.indptr.astype(np.int64),
        yes.indices.astype(np.int32),
        frequency,
        positive,
        negative,
    )
    if not votes:
        return frequency
    voters = positive + negative
    return np.divide(positive, voters, out=frequency, where=voters > 0)


def cluster_scores(labels: Places, itself: Places, training_labels: Places, yes: Any) -> Scores:
    """Frequency of each tag in the item's cluster, the item left out (12); NaN where nobody else is in the cluster."""
    from scipy.sparse import csr_matrix

    n_clusters = int(training_labels.max(initial=-1)) + 1
    held = np.flatnonzero(training_labels >= 0)
    member = csr_matrix(
        (np.ones(held.size), (training_labels[held], held)), shape=(n_clusters, training_labels.size), dtype=np.float64
    )
    counts = (member @ yes.astype(np.float64)).toarray()
    sizes = np.bincount(training_labels[held], minlength=n_clusters)
    known = labels >= 0
    scores = np.full((labels.size, yes.shape[1]), np.nan, dtype=np.float32)
    own = (itself >= 0) & known
    found, others = counts[labels[known]], sizes[labels[known]].astype(np.float64)
    found[own[known]] -= yes[itself[own]].toarray()
    others -= own[known]
    scores[known] = np.divide(found, others[:, None], out=np.full(found.shape, np.nan), where=others[:, None] > 0)
    return scores


def affinity_scores(nearest: Any, n_neighbors: int, yes: Any) -> Scores:
    """Summed affinity of the nearest items that have a tag, over ``n_neighbors`` (13); NaN where there are none."""
    scores = np.asarray((nearest @ yes).toarray(), dtype=np.float32) / np.float32(n_neighbors)
    scores[nearest.getnnz(axis=1) == 0] = np.nan
    return scores


def prior_scores(itself: Places, yes: Any) -> Scores:
    """Frequency of each tag in the collection, the item left out."""
    counts = np.asarray(yes.sum(axis=0), dtype=np.float64).ravel()
    scores = np.tile(counts, (itself.size, 1))
    own = itself >= 0
    scores[own] -= yes[itself[own]].toarray()
    return (scores / np.maximum(1.0, yes.shape[0] - own)[:, None]).astype(np.float32)
