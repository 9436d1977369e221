"""Sources that only count: the tags of neighbours, companions and clusters, and how frequent a tag is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats, Singles
from .batch import Batch

__all__ = [
    "Clusters",
    "Companions",
    "Frequency",
    "ModelScores",
    "Neighbours",
    "fit_clusters",
    "fit_companions",
    "prior_of",
]


def prior_of(counts: Floats, n_items: int) -> Floats:
    """(items with the tag + 0.5) / (items + 1)."""
    return np.asarray((counts + 0.5) / (n_items + 1.0))


@dataclass(frozen=True)
class Frequency:
    """The prior (U): the share of items that carry a tag."""

    prior: Floats

    def scores(self, batch: Batch) -> Singles:
        """The same for every item."""
        return np.broadcast_to(self.prior.astype(np.float32), (batch.tags.shape[0], self.prior.size))


@dataclass(frozen=True)
class Neighbours:
    """The tags of the most similar items (K), averaged over the views an item has; the prior where it has none."""

    tags: Any
    prior: Floats

    def scores(self, batch: Batch) -> Singles:
        """Weighted share of the neighbours that carry a tag."""
        found = (batch.nearest @ self.tags).toarray().astype(np.float32)
        found[np.diff(batch.nearest.indptr) == 0] = self.prior
        return found


@dataclass(frozen=True)
class Companions:
    """Plain co-occurrence: the sum over the item's tags j of the share of items with j that carry the tag as well."""

    share: Any
    prior: Floats

    def scores(self, batch: Batch) -> Singles:
        """Frequency for items without tags."""
        found = (batch.tags @ self.share).toarray().astype(np.float32)
        found[batch.is_cold] = self.prior
        return found


def fit_companions(together: Any, counts: Floats, n_items: int) -> Companions:
    """From how many items carry both of two tags (CSR), and each tag."""
    from scipy.sparse import csr_matrix

    pairs = together.tocoo()
    apart = pairs.row != pairs.col
    row, column = pairs.row[apart], pairs.col[apart]
    share = csr_matrix((pairs.data[apart] / counts[row], (row, column)), shape=together.shape)
    return Companions(share, prior_of(counts, n_items))


@dataclass(frozen=True)
class Clusters:
    """The share of an item's cluster that carries a tag, the item itself left out (GC in the HML-RF paper)."""

    counts: Any
    sizes: Floats
    prior: Floats

    def scores(self, batch: Batch) -> Singles:
        """The prior for items without a cluster, or alone in theirs."""
        label = np.where(batch.labels >= 0, batch.labels, 0)
        with_tag, size = self.counts[label].toarray().astype(np.float64), self.sizes[label].copy()
        if batch.rows is not None:
            with_tag -= batch.tags.toarray()
            size -= 1.0
        nobody = (size <= 0) | (batch.labels < 0)
        found = with_tag / np.where(nobody, 1.0, size)[:, None]
        found[nobody] = self.prior
        return found.astype(np.float32)


def fit_clusters(tags: Any, labels: NDArray[np.int64], prior: Floats) -> Clusters:
    """Count tags per cluster; items labelled -1 belong to none."""
    from scipy.sparse import csr_matrix

    inside = np.flatnonzero(labels >= 0)
    n_clusters = int(labels.max(initial=0)) + 1
    member = csr_matrix((np.ones(inside.size), (labels[inside], inside)), shape=(n_clusters, labels.size))
    return Clusters((member @ tags).tocsr(), np.bincount(labels[inside], minlength=n_clusters).astype(float), prior)


@dataclass(frozen=True)
class ModelScores:
    """What a fitted forest says, by one of its own algorithms."""

    def scores(self, batch: Batch) -> Singles:
        """The scores that came with the batch."""
        return batch.model_scores
