"""What a grown TagForest can be asked: leaves, affinity, the cluster of new items, and scores of tags."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers, row_blocks, workers
from ...data.checks import check_choice
from ...data.tags import TagTable
from ...data.views import Views
from ...errors import ParameterError
from ..base import MultiviewEstimator, items_with_views
from ._bins import Bins
from ._scores import affinity_scores, cluster_scores, leaf_scores, prior_scores
from ._trees import Forest, Mates, Shares

__all__ = ["ForestResults"]

Labels = NDArray[np.intp]
_METHODS = ("combined", "neighbourhood", "cluster", "affinity", "leaf_frequency")


class ForestResults(MultiviewEstimator):
    """The answers of a fitted forest."""

    n_neighbors: int
    n_jobs: int | None
    n_clusters_: int
    labels_: Labels
    leaves_: NDArray[np.int32]
    neighbors_: Any
    forest_: dict[str, Any]
    layers_: list[NDArray[np.intp]]
    tag_names_: list[str]
    tags_: Any
    refused_: Any
    _mates: list[Mates]

    def _bins(self) -> Bins:
        return Bins(self.bins_["points"], self.bins_["start"], self.max_bins is None)

    def _nearest_centers(self, codes: NDArray[Any]) -> Labels:
        """The cluster whose mean codes are nearest, for items that share no leaf with anybody."""
        held = codes != self._bins().missing
        distance = np.array([(np.abs(codes - mean[:, None]) * held).sum(axis=0) for mean in self.mean_codes_])
        return distance.argmin(axis=0).astype(np.intp)

    def apply(self, X: Any = None) -> NDArray[np.int32]:
        """The leaf of each item in each tree, ``n_items x n_estimators``; training items when ``X`` is None.

        Numbers count the leaves within a tree. Where an item lacks a feature that no training item lacked, it goes to
        the larger side.
        """
        if X is None:
            self._check_fitted()
            return self.leaves_.copy()
        views = self._new_views(X)
        with workers(self.n_jobs) as threads:
            leaves = Forest(**self.forest_).leaves_of(self._bins().codes(views, threads), self._bins().missing, threads)
        leaves[~views.mask.any(axis=1)] = -1
        return leaves

    def affinity(self) -> Any:
        """Share of trees in which two training items end in the same leaf: CSR float32, symmetric, with unit diagonal.

        About ``n_estimators`` x (leaf size) entries per item at most; ``neighbors_`` holds the largest ones only.
        """
        self._check_fitted()
        with workers(self.n_jobs) as threads:
            matrix = self._leaf_mates(threads).affinity(threads)
        absent = np.flatnonzero(self.leaves_[:, 0] < 0)
        if absent.size:
            from scipy.sparse import csr_matrix

            ones = np.ones(absent.size, dtype=np.float32)
            matrix = csr_matrix(matrix + csr_matrix((ones, (absent, absent)), shape=matrix.shape))
        return matrix

    def predict(self, X: Any) -> Labels:
        """The cluster of new items: a vote of their nearest training items, weighted by affinity; tags are not used."""
        views = self._new_views(X)
        items_with_views(views)
        labels = np.empty(views.n_items, dtype=np.intp)
        for rows, codes, _, nearest in self._new_blocks(views):
            labels[rows] = self._vote(nearest, codes)
        labels[~views.mask.any(axis=1)] = -1
        return labels

    def _vote(self, nearest: Any, codes: NDArray[Any]) -> Labels:
        weights = np.zeros((nearest.shape[0], self.n_clusters_))
        row = np.repeat(np.arange(nearest.shape[0]), np.diff(nearest.indptr))
        np.add.at(weights, (row, self.labels_[nearest.indices]), nearest.data)
        labels = weights.argmax(axis=1).astype(np.intp)
        alone = np.flatnonzero(nearest.getnnz(axis=1) == 0)
        if alone.size:
            labels[alone] = self._nearest_centers(codes[:, alone])
        return labels

    def tag_scores(self, X: Any = None, method: str = "combined") -> NDArray[np.float32]:
        """How likely each tag is for each item, ``n_items x n_tags``; columns as ``tag_names_``.

        For training items when ``X`` is None, each item itself left out; an unseen item is judged by its features.
        Where a tag is known in training the score is what the others would say; a known no scores 0.

        method : "combined", "neighbourhood", "cluster", "affinity" or "leaf_frequency", default="combined"
            "neighbourhood": votes of leaves whose other items all have the tag, or none (LN). "cluster": frequency in
            the cluster (GC). "affinity": summed affinity of the neighbours that have it (AM). "leaf_frequency": mean
            frequency in the leaves; a flat forest (``use_hierarchy=False``) suits it. "combined": the stack of
            ``TagCompleter``, which is best and needs the items of ``fit``; after ``load``, fit a ``TagCompleter``.
        """
        check_choice("method", method, _METHODS)
        self._check_fitted()
        if not self.layers_:
            raise ParameterError("tag_scores needs a forest that was fitted with tags: fit(X, tags).")
        if X is not None:
            return self._combined_scores(X) if method == "combined" else self._new_scores(self._new_views(X), method)
        scores = self._combined_scores(None) if method == "combined" else self._training_scores(method)
        refused = self.refused_.tocoo()
        scores[refused.row, refused.col] = 0.0
        return scores

    def _training_scores(self, method: str) -> NDArray[np.float32]:
        n_items, n_tags = self.tags_.shape
        scores = np.empty((n_items, n_tags), dtype=np.float32)
        with workers(self.n_jobs) as threads:
            mates = self._leaf_mates(threads)

            def block(rows: slice) -> None:
                itself = np.arange(rows.start, rows.stop)
                if method == "cluster":
                    part = cluster_scores(self.labels_[rows], itself, self.labels_, self.tags_)
                elif method == "affinity":
                    part = affinity_scores(self.neighbors_[rows], int(self.n_neighbors), self.tags_)
                else:
                    shares = Shares.of_training(self.leaves_[rows], self.forest_["leaf_start"])
                    votes = method == "neighbourhood"
                    part = leaf_scores(shares, itself, mates, self.tags_, votes)
                scores[rows] = _or_prior(part, itself, self.tags_)

            for _ in threads.map(block, row_blocks(n_items, 12 * n_tags + 16 * self.leaves_.shape[1])):
                pass
        return scores

    def _new_scores(self, views: Views, method: str) -> NDArray[np.float32]:
        scores = np.empty((views.n_items, self.tags_.shape[1]), dtype=np.float32)
        for rows, codes, shares, nearest in self._new_blocks(views):
            nobody = np.full(rows.stop - rows.start, -1)
            if method == "cluster":
                part = cluster_scores(self._vote(nearest, codes), nobody, self.labels_, self.tags_)
            elif method == "affinity":
                part = affinity_scores(nearest, int(self.n_neighbors), self.tags_)
            else:
                part = leaf_scores(shares, nobody, self._mates[0], self.tags_, method == "neighbourhood")
            part[~views.mask[rows].any(axis=1)] = np.nan
            scores[rows] = _or_prior(part, nobody, self.tags_)
        return scores

    def _combined_scores(self, X: Any) -> NDArray[np.float32]:
        from ...completion import TagCompleter

        if getattr(self, "_views", None) is None:
            raise ParameterError(
                "method='combined' needs the items of fit, which a saved forest does not keep. Use "
                "TagCompleter().fit(X, tags), or another method."
            )
        table = TagTable(self.tag_names_, self.tags_.copy(), self.refused_.copy())
        # The forest as one more source gains nothing that can be measured and costs several times the rest.
        completer = TagCompleter().fit(self._views, table)
        scores: NDArray[np.float32] = completer.tag_scores(None if X is None else self._new_views(X))
        return scores

    def _new_blocks(self, views: Views) -> Any:
        """New items, some at a time: (rows, codes, leaves with shares, nearest training items)."""
        bins, forest = self._bins(), Forest(**self.forest_)
        with workers(self.n_jobs) as threads:
            mates = self._leaf_mates(threads)
            width = bins.start.size + 16 * forest.n_trees + 12 * max(1, self.tags_.shape[1])
            for rows in row_blocks(views.n_items, width):
                codes = bins.codes(views[rows], threads)
                shares = forest.shares_of(codes, bins.missing)
                yield rows, codes, shares, mates.nearest_to(shares, int(self.n_neighbors))

    def _leaf_mates(self, threads: Workers) -> Mates:
        if not hasattr(self, "_mates"):
            self._mates = []
        if not self._mates:
            self._mates.append(Mates(self.leaves_, self.forest_["leaf_start"], threads))
        return self._mates[0]

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "leaves_")


def _or_prior(scores: NDArray[np.float32], itself: NDArray[Any], yes: Any) -> NDArray[np.float32]:
    """Where an item has nobody to ask, the frequency in the collection."""
    silent = np.flatnonzero(np.isnan(scores).any(axis=1))
    if silent.size:
        scores[silent] = prior_scores(itself[silent], yes)
    return scores
