"""Measures of a clustering against the tags of its items, where no classes are known.

Both come from the CCA + AHKMC paper. They look at the tags of a cluster's own items; when those tags were
also used to form the clusters, they flatter methods that look at tags alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyview.metrics._inputs import check_groups, check_same_length, check_tag_matrix

__all__ = ["average_clustering_accuracy", "average_clustering_entropy"]


def average_clustering_accuracy(tags: Any, labels: ArrayLike, *, weighted: bool = False) -> float:
    """Share of a cluster's items that carry its main tag, averaged over clusters (ACA).

    CA_k = (items of cluster k with its topic) / n_k, ACA = mean of CA_k over clusters, equation 15 of the
    CCA + AHKMC paper. The topic is the tag most frequent in the cluster, which makes CA_k as large as any
    choice could; the paper only says "highest correlation". Items without tags count in n_k, so a cluster
    without any tag has CA_k = 0.

    tags: 0/1 matrix, items by tags, dense or sparse. The paper's plain mean gives a tagged singleton the same
    say as a large cluster; ``weighted=True`` weighs clusters by their size n_k.

    Between 0 and 1, higher is better. O(number of set tags + n log n) time; memory grows with the number of
    different tags per cluster.

    >>> average_clustering_accuracy([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]], [0, 0, 1, 1])
    0.75
    """
    occurrences, sizes = _tags_per_cluster(tags, labels)
    accuracy = occurrences.max(axis=1).toarray().ravel() / sizes
    return _mean(accuracy, sizes, weighted)


def average_clustering_entropy(tags: Any, labels: ArrayLike, *, weighted: bool = False) -> float:
    """How mixed the tags inside a cluster are, averaged over clusters (ACE).

    CE_k = - sum_t p_t ln p_t with p_t = (occurrences of tag t in cluster k) / (occurrences of all tags
    there), ACE = mean of CE_k over clusters, equation 16 of the CCA + AHKMC paper. Natural logarithm. Items
    without tags add nothing, and a cluster without any tag has CE_k = 0.

    tags: 0/1 matrix, items by tags, dense or sparse. ``weighted=True`` weighs clusters by their number of
    items instead of taking the paper's plain mean.

    From 0 to ln(number of tags), lower is better; more than one tag per item already lifts it above 0, so
    compare only clusterings of the same items. O(number of set tags + n log n) time; memory grows with the
    number of different tags per cluster.

    >>> round(average_clustering_entropy([[1, 1, 0], [1, 0, 0], [1, 0, 1]], [7, 7, 7]), 6)
    0.950271
    """
    occurrences, sizes = _tags_per_cluster(tags, labels)
    cluster = np.repeat(np.arange(sizes.size), np.diff(occurrences.indptr))
    totals = np.bincount(cluster, weights=occurrences.data, minlength=sizes.size)
    share = occurrences.data / totals[cluster]
    entropy = np.bincount(cluster, weights=-share * np.log(share), minlength=sizes.size)
    return _mean(entropy, sizes, weighted)


def _tags_per_cluster(tags: Any, labels: ArrayLike) -> tuple[Any, NDArray[np.int64]]:
    """Occurrences of each tag in each cluster (CSR, clusters by tags), and the cluster sizes."""
    from scipy.sparse import csr_array

    matrix = check_tag_matrix(tags, "tags")
    clusters, cluster_of = check_groups(labels, "labels")
    check_same_length(matrix.shape[0], "tags", cluster_of.size)
    n_items = cluster_of.size
    members = csr_array(
        (np.ones(n_items, dtype=np.int64), (cluster_of, np.arange(n_items))), shape=(clusters.size, n_items)
    )
    occurrences = (members @ matrix).tocsr()
    return occurrences, np.bincount(cluster_of, minlength=clusters.size).astype(np.int64)


def _mean(values: NDArray[Any], sizes: NDArray[np.int64], weighted: bool) -> float:
    return float(values @ sizes / sizes.sum() if weighted else values.mean())
