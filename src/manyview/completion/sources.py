"""Sources that only count: neighbours, tags that go together, clusters, and how frequent a tag is.

Had a tag of an item been hidden, it would be on one item less: what each source would then say of it is worked out from
the counts, and is what a count of the other tags would give.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..types import Floats, Ints, Singles
from .batch import Amounts, Batch, LeftOut, Other, unchanged
from .matrices import entries_of

__all__ = [
    "Clusters",
    "Companions",
    "Frequency",
    "ModelScores",
    "NaiveBayes",
    "Neighbours",
    "fit_clusters",
    "fit_companions",
    "fit_naive_bayes",
    "prior_of",
]

_PSEUDO_COUNT = 3.0
_LARGEST_LOG = -0.05


def prior_of(counts: Floats, n_items: int) -> Floats:
    """(items with the tag + 0.5) / (items + 1)."""
    return np.asarray((counts + 0.5) / (n_items + 1.0))


@dataclass(frozen=True)
class Frequency:
    """The prior (U): the share of items that carry a tag."""

    prior: Floats
    n_items: int

    def scores(self, batch: Batch) -> Singles:
        """The same for every item."""
        return np.broadcast_to(self.prior.astype(np.float32), (batch.tags.shape[0], self.prior.size))

    def left_out(self, batch: Batch) -> LeftOut:
        """A hidden tag is on one item less."""
        return unchanged(batch, self.scores(batch), self.one_less[batch.known[1]])

    @cached_property
    def one_less(self) -> Singles:
        """The prior, were each tag on one item less."""
        return (self.prior - 1.0 / (self.n_items + 1.0)).astype(np.float32)

    def explain(self, pairs: Any) -> Amounts:
        """Nothing: the frequency is what is left."""
        return Amounts()


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

    def left_out(self, batch: Batch) -> LeftOut:
        """No item is its own neighbour, so nothing changes."""
        scores = self.scores(batch)
        return unchanged(batch, scores, scores[batch.known])

    def explain(self, pairs: Any) -> Amounts:
        """The weight of the neighbours that carry the tag, view by view."""
        if not pairs.near:
            return Amounts()
        weights = np.stack([found.weight for found in pairs.alike], axis=1)
        return Amounts(views=weights / np.maximum(pairs.n_views, 1)[:, None])


@dataclass(frozen=True)
class NaiveBayes:
    """Tags that go with the tags an item has (N), damped by the root of their number because they depend on each other.

    The logarithm of how much tag j lifts tag i is ``apart[j]`` where they never met, plus ``lift[j, i]``. ``lift`` is
    sparse, because what tags that never met say does not depend on i. A tag says nothing of itself.
    """

    prior: Floats
    apart: Floats
    lift: Any
    n_items: int

    def scores(self, batch: Batch) -> Singles:
        """exp(min(-0.05, log prior + evidence))."""
        return self._score(self._total(batch.tags), np.diff(batch.tags.indptr)[:, None], self.prior)

    def _total(self, tags: Any) -> Floats:
        """The sum over the tags of an item of the logarithms of their lifts: (b, n_tags)."""
        return np.asarray((tags @ self.lift).toarray() + (tags @ self.apart)[:, None])

    @staticmethod
    def _score(total: Floats, n_tags: Any, prior: Floats) -> Singles:
        evidence = total / np.sqrt(np.maximum(n_tags, 1))
        found: Singles = np.exp(np.minimum(np.log(prior) + evidence, _LARGEST_LOG)).astype(np.float32)
        return found

    def left_out(self, batch: Batch) -> LeftOut:
        """A hidden tag lifts nothing, and is on one item less itself, alone and with each of the others."""
        total, count = self._total(batch.tags), np.diff(batch.tags.indptr)
        row, column = batch.known
        prior, lift = self._one_less
        own = np.asarray((batch.tags @ lift)[row, column]).ravel() + (batch.tags @ self.apart)[row]
        hidden = self._score(own, count[row] - 1, prior[column])
        emptied = np.broadcast_to(self.prior.astype(np.float32), total.shape).copy()
        emptied[row, column] = prior[column]

        def without(rows: Ints, tags: Ints) -> Singles:
            less = total[rows] - self.lift[tags].toarray() - self.apart[tags, None]
            return self._score(less, count[rows, None] - 1, self.prior)

        return LeftOut(self._score(total, count[:, None], self.prior), hidden, emptied, without)

    @cached_property
    def _one_less(self) -> tuple[Floats, Any]:
        """Prior and lift of each tag i, were i on one item less, which each of the others j is on as well."""
        column = self.lift.indices
        together = np.rint(np.expm1(self.lift.data) * _PSEUDO_COUNT * self.prior[column])
        prior = self.prior - 1.0 / (self.n_items + 1.0)
        # A tag that no item carries is hidden nowhere; any value will do.
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.log1p((together - 1.0) / (_PSEUDO_COUNT * prior[column]))
        lift = self.lift.copy()
        lift.data = np.where(self._row_of_lift == column, self.lift.data, value)
        return prior, lift

    @property
    def _row_of_lift(self) -> Ints:
        return np.repeat(np.arange(self.lift.shape[0]), np.diff(self.lift.indptr))

    def explain(self, pairs: Any) -> Amounts:
        """What the score is above the prior, shared out by how much each tag of the item lifts it."""
        pair, own = pairs.own
        lifts = np.maximum(entries_of(self.lift, own, pairs.tags[pair]) + self.apart[own], 0.0)
        total = np.bincount(pair, weights=lifts, minlength=pairs.n)
        above = pairs.scores_by(self) - self.prior[pairs.tags]
        return Amounts(tags=(above / np.where(total > 0, total, 1.0))[pair] * lifts)


def fit_naive_bayes(together: Any, counts: Floats, n_items: int) -> NaiveBayes:
    """From how many items carry both of two tags (CSR) and each tag. Takes the memory of that matrix."""
    from scipy.sparse import csr_matrix

    prior = prior_of(counts, n_items)
    apart = np.log(_PSEUDO_COUNT / (counts + _PSEUDO_COUNT))
    pairs = together.tocoo()
    value = np.where(
        pairs.row == pairs.col, -apart[pairs.row], np.log1p(pairs.data / (_PSEUDO_COUNT * prior[pairs.col]))
    )
    lift = csr_matrix((value, (pairs.row, pairs.col)), shape=together.shape)
    return NaiveBayes(prior, apart, lift, n_items)


@dataclass(frozen=True)
class Companions:
    """Plain co-occurrence: the sum over the item's tags j of the share of items with j that carry the tag as well."""

    share: Any
    counts: Floats
    prior: Floats

    def scores(self, batch: Batch) -> Singles:
        """Frequency for items without tags."""
        found = (batch.tags @ self.share).toarray().astype(np.float32)
        found[batch.is_cold] = self.prior
        return found

    def left_out(self, batch: Batch) -> LeftOut:
        """A hidden tag meets each of the item's other tags once less."""
        row, column = batch.known
        together = (batch.tags @ self.share).toarray()
        each = 1.0 / np.maximum(self.counts, 1.0)
        hidden = (together[row, column] - (batch.tags @ each)[row] + each[column]).astype(np.float32)
        count = np.diff(batch.tags.indptr)
        emptied = np.broadcast_to(self.prior.astype(np.float32), together.shape).copy()
        emptied[row, column] *= ((self.counts - 0.5) / (self.counts + 0.5))[column]
        hidden = np.where(count[row] > 1, hidden, emptied[row, column])

        def without(rows: Ints, tags: Ints) -> Singles:
            less = (together[rows] - self.share[tags].toarray()).astype(np.float32)
            less[count[rows] == 1] = self.prior
            return less

        return LeftOut(self.scores(batch), hidden, emptied, without)

    def explain(self, pairs: Any) -> Amounts:
        """The share of each tag of the item."""
        pair, own = pairs.own
        return Amounts(tags=entries_of(self.share, own, pairs.tags[pair]))


def fit_companions(together: Any, counts: Floats, n_items: int) -> Companions:
    """From how many items carry both of two tags (CSR), and each tag."""
    from scipy.sparse import csr_matrix

    pairs = together.tocoo()
    apart = pairs.row != pairs.col
    row, column = pairs.row[apart], pairs.col[apart]
    share = csr_matrix((pairs.data[apart] / counts[row], (row, column)), shape=together.shape)
    return Companions(share, counts, prior_of(counts, n_items))


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

    def left_out(self, batch: Batch) -> LeftOut:
        """The item itself does not count, so nothing changes."""
        scores = self.scores(batch)
        return unchanged(batch, scores, scores[batch.known])

    def explain(self, pairs: Any) -> Amounts:
        """The share in the cluster."""
        label = pairs.batch.labels[pairs.rows]
        amounts = np.where(label >= 0, pairs.scores_by(self), 0.0)
        return Amounts(other=Other("cluster", [str(one) for one in label.tolist()], amounts, pairs.nobody))


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
        found: Singles = batch.model_scores
        return found

    def left_out(self, batch: Batch) -> LeftOut:
        """What forests said of the tags that they had not seen, where such were asked."""
        scores = self.scores(batch)
        return unchanged(batch, scores, scores[batch.known] if batch.model_hidden is None else batch.model_hidden)

    def explain(self, pairs: Any) -> Amounts:
        """The score as a whole."""
        near = pairs.batch.model_near
        rows = pairs.nobody if near is None else pairs.carrying(near).items
        return Amounts(other=Other("forest", [""] * pairs.n, pairs.scores_by(self), rows))
