"""Some items as the sources see them, and what a source is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Batch", "Source"]


@dataclass(frozen=True)
class Batch:
    """A block of items.

    tags : CSR (b, n_tags), what the items are known to carry
    features : float32 (b, n_features), kernel features of all views side by side; 0 where a view is missing
    nearest : CSR (b, n_items), weights over the items of ``fit``, summing to one; empty for items without a view
    rows : int64 (b,), their rows in ``fit``, where every source leaves the item itself out; None for unseen items
    labels : int64 (b,), their clusters, for the sources that ask a clusterer
    model_scores : float32 (b, n_tags), for the sources that ask a forest
    model_near : Nearest, the items of the fit that a forest finds most alike, where it can tell
    """

    tags: Any
    features: NDArray[np.float32]
    nearest: Any
    rows: Any
    labels: Any = None
    model_scores: Any = None
    model_near: Any = None

    @property
    def is_cold(self) -> NDArray[np.bool_]:
        """Which items carry no tag at all."""
        return np.asarray(np.diff(self.tags.indptr) == 0)


class Source(Protocol):
    """One opinion on every tag of every item."""

    def scores(self, batch: Batch) -> NDArray[np.float32]:
        """float32 (b, n_tags)."""
        ...
