"""Some items as the sources see them, and what a source is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..types import Floats, Ints, Singles

__all__ = ["Amounts", "Batch", "LeftOut", "Other", "Source", "unchanged"]


class Amounts(NamedTuple):
    """What in some pairs of item and tag (``reasons.Pairs``) added how much to a source's score of each."""

    tags: Floats | None = None
    """Of each tag of the item: one value per entry of ``Pairs.own``."""
    views: Floats | None = None
    """(n_pairs, n_views)."""
    other: Other | None = None


class Other(NamedTuple):
    """What a model adds: its kind and name as in ``Evidence``, the amount, and rows of similar items, -1 for nobody."""

    kind: str
    names: Sequence[str]
    amounts: Floats
    rows: Ints


@dataclass(frozen=True)
class Batch:
    """A block of items.

    tags : CSR (b, n_tags), what the items are known to carry
    features : float32 (b, n_features), kernel features of all views side by side; 0 where a view is missing
    nearest : CSR (b, n_items), weights over the items of ``fit``, summing to one; empty for items without a view;
        None where only ridges are asked
    rows : int64 (b,), their rows in ``fit``, where every source leaves the item itself out; None for unseen items
    words : CSR (b, n_words), columns of the sparse views that are inputs as they are
    labels : int64 (b,), their clusters, for the sources that ask a clusterer
    model_scores : float32 (b, n_tags), for the sources that ask a forest
    model_hidden : float32, what a forest says of each known tag (as ``known``) that has not seen it
    model_near : Nearest, the items of the fit that a forest finds most alike, where it can tell
    like : float64 (b,), how likely each is of the kind of the tagged ones (``Population``)
    """

    tags: Any
    features: NDArray[np.float32]
    nearest: Any
    rows: Any
    words: Any = None
    labels: Any = None
    model_scores: Any = None
    model_hidden: Any = None
    model_near: Any = None
    like: Any = None

    @property
    def is_cold(self) -> NDArray[np.bool_]:
        """Which items carry no tag at all."""
        return np.asarray(np.diff(self.tags.indptr) == 0)

    @cached_property
    def known(self) -> tuple[Ints, Ints]:
        """Row of the batch and column of every known tag, row by row."""
        row = np.repeat(np.arange(self.tags.shape[0]), np.diff(self.tags.indptr))
        return row.astype(np.int64), self.tags.indices.astype(np.int64)


@dataclass(frozen=True)
class LeftOut:
    """What a source says of the items of a batch, and would say had one of their tags been hidden, or all of them.

    scores : (b, n_tags), as they are
    hidden : one value per known tag (as ``Batch.known``): the score of that tag, had it been hidden
    emptied : (b, n_tags), had the item no tag at all
    without : from rows of the batch and a known tag of each to (n, n_tags), the scores had that tag been hidden; what
        it gives for the tag itself is of no meaning
    """

    scores: Singles
    hidden: Singles
    emptied: Singles
    without: Callable[[Ints, Ints], Singles]


def unchanged(batch: Batch, scores: Singles, hidden: Singles) -> LeftOut:
    """Of a source that does not look at the item's own tags, but for what it says of them."""
    emptied = np.array(scores, dtype=np.float32)
    emptied[batch.known] = hidden
    return LeftOut(scores, hidden, emptied, lambda rows, tags: scores[rows])


class Source(Protocol):
    """One opinion on every tag of every item."""

    def scores(self, batch: Batch) -> Singles:
        """float32 (b, n_tags)."""
        ...

    def left_out(self, batch: Batch) -> LeftOut:
        """The same for items of the fit, and without their tags."""
        ...

    def explain(self, pairs: Any) -> Amounts:
        """What in pairs of item and tag (``reasons.Pairs``) added how much to the score of each."""
        ...
