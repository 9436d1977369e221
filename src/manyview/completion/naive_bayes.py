"""Tags that go with the tags an item has: naive Bayes (N), damped because tags depend on each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..types import Floats, Singles
from .batch import Batch

__all__ = ["NaiveBayes", "fit_naive_bayes"]


_PSEUDO_COUNT = 3.0
_LARGEST_LOG = -0.05


@dataclass(frozen=True)
class NaiveBayes:
    """The logarithm of how much tag j lifts tag i is ``apart[j]`` where they never met, plus ``lift[j, i]``.

    ``lift`` is sparse, because what tags that never met say does not depend on i. A tag says nothing of itself.
    """

    prior: Floats
    apart: Floats
    lift: Any

    def evidence(self, tags: Any) -> Floats:
        """Sum over the tags of an item of the logarithms of their lifts, over the root of their number: (b, n_tags)."""
        count = np.diff(tags.indptr)
        total = (tags @ self.lift).toarray() + (tags @ self.apart)[:, None]
        return np.asarray(total / np.sqrt(np.maximum(count, 1))[:, None])

    def scores(self, batch: Batch) -> Singles:
        """exp(min(-0.05, log prior + evidence))."""
        return np.exp(np.minimum(np.log(self.prior) + self.evidence(batch.tags), _LARGEST_LOG)).astype(np.float32)


def fit_naive_bayes(together: Any, counts: Floats, n_items: int) -> NaiveBayes:
    """From how many items carry both of two tags (CSR) and each tag. Takes the memory of that matrix."""
    from scipy.sparse import csr_matrix

    prior = (counts + 0.5) / (n_items + 1.0)
    apart = np.log(_PSEUDO_COUNT / (counts + _PSEUDO_COUNT))
    pairs = together.tocoo()
    value = np.where(
        pairs.row == pairs.col, -apart[pairs.row], np.log1p(pairs.data / (_PSEUDO_COUNT * prior[pairs.col]))
    )
    lift = csr_matrix((value, (pairs.row, pairs.col)), shape=together.shape)
    return NaiveBayes(prior, apart, lift)
