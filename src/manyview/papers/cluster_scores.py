"""Tags completed by any clustering, as HML-RF's GC does."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..data.tags import TagTable
from ..types import Singles

__all__ = ["ClusterScores"]


class ClusterScores(BaseEstimator):
    """Equation (12): a tag is as likely as the share of the other members of the item's cluster that carry it."""

    def __init__(self, data: Any = None, cluster: Any = None, seed: int = 0) -> None:
        self.data, self.cluster, self.seed = data, cluster, seed

    def fit(self, X: Any, tags: TagTable) -> ClusterScores:
        """Cluster what is left."""
        labels = self.cluster(self.data.with_tags(tags), self.seed)
        known = tags.yes.toarray().astype(np.float32)
        counts = np.zeros((labels.max() + 1, known.shape[1]), dtype=np.float32)
        np.add.at(counts, labels, known)
        others = np.maximum(np.bincount(labels)[labels] - 1, 1).astype(np.float32)
        self.scores_: Singles = (counts[labels] - known) / others[:, None]
        return self

    def tag_scores(self) -> Singles:
        """items x tags."""
        return self.scores_
