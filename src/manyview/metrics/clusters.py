"""Measures of a clustering against known classes.

Every function takes the known classes first and the found labels second, one entry per item, and answers with
a number that does not change when classes or clusters are renamed. In the formulas n is the number of items,
n_k the size of cluster k, n_c the size of class c and n_ck the number of items they share. Label -1 is a
cluster like any other.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyview.errors import ParameterError
from manyview.metrics._inputs import check_pair, contingency

__all__ = [
    "adjusted_rand_index",
    "average_precision",
    "class_entropy",
    "cluster_entropy",
    "cluster_report",
    "clustering_accuracy",
    "normalized_mutual_info",
    "pairwise_f1",
    "purity",
    "rand_index",
]


def clustering_accuracy(y_true: ArrayLike, labels: ArrayLike) -> float:
    """Share of items that are right when clusters are named after classes in the best possible way.

    ACC = (1/n) max over one-to-one matchings m of sum_k n_{m(k),k}. Each cluster stands for at most one class
    and each class for at most one cluster; items of clusters left over are wrong. Reported in the RMKMC
    paper.

    Between 0 and 1, higher is better. The matching is exact (the Hungarian problem), solved on the non-empty
    cells only: O(n log n) to count, then at worst cubic in the number of groups.

    >>> clustering_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    from scipy.sparse import coo_array, eye_array, hstack
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    table = contingency(y_true, labels)
    rows, columns = table.class_index, table.cluster_index
    if table.class_sizes.size > table.cluster_sizes.size:
        rows, columns = columns, rows
    shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    # The solver must match every row and takes a weight of 0 for "no edge". So each row gets a private spare
    # column of weight 1 ("unmatched") and true cells weigh one more than they hold; it is taken off below.
    cells = coo_array((table.shared + 1.0, (rows, columns)), shape=shape)
    edges = hstack([cells, eye_array(shape[0])], format="csr")
    matched_rows, matched_columns = min_weight_full_bipartite_matching(edges, maximize=True)
    right = edges[matched_rows, matched_columns].sum() - shape[0]
    return float(right) / table.n_items


def normalized_mutual_info(
    y_true: ArrayLike, labels: ArrayLike, *, average: Literal["arithmetic", "max"] = "arithmetic"
) -> float:
    """How much knowing the cluster tells about the class, scaled so that a perfect match gives 1.

    NMI = I(classes; clusters) / mean(H(classes), H(clusters)). ``average="arithmetic"`` halves the sum of the
    two entropies, as in the CCA + AHKMC paper (equation 14) and by default in scikit-learn. ``average="max"``
    divides by the larger one, which is what the numbers of the RMKMC paper fit; it is never above the other.
    The HML-RF paper does not say which it used. Two groupings that both have a single group score 1.

    Between 0 and 1, higher is better; not corrected for luck, so it rises with the number of clusters.
    O(n log n). Computed by scikit-learn.

    >>> round(normalized_mutual_info([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.8
    >>> round(normalized_mutual_info([0, 0, 1, 1], [0, 0, 1, 2], average="max"), 6)
    0.666667
    """
    if average not in ("arithmetic", "max"):
        raise ParameterError(f'average must be "arithmetic" or "max", got {average!r}.')
    from sklearn.metrics import normalized_mutual_info_score

    _, class_of, _, cluster_of = check_pair(y_true, labels)
    value = float(normalized_mutual_info_score(class_of, cluster_of, average_method=average))
    return min(1.0, max(0.0, value))


def purity(y_true: ArrayLike, labels: ArrayLike) -> float:
    """Share of items that belong to the most frequent class of their cluster.

    purity = (1/n) sum_k max_c n_ck. Reported in the RMKMC, GHF-ART and HML-RF papers; every item weighs the
    same, so a large mixed cluster costs more than a small one.

    Above 0 and up to 1, higher is better; it never falls when a cluster is split, and is 1 for one item per
    cluster. O(n log n).

    >>> purity(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    table = contingency(y_true, labels)
    return int(_largest_per_cluster(table.cluster_index, table.shared).sum()) / table.n_items


@overload
def average_precision(y_true: ArrayLike, labels: ArrayLike, *, per_class: Literal[False] = False) -> float: ...


@overload
def average_precision(y_true: ArrayLike, labels: ArrayLike, *, per_class: Literal[True]) -> dict[Any, float]: ...


def average_precision(y_true: ArrayLike, labels: ArrayLike, *, per_class: bool = False) -> float | dict[Any, float]:
    """How clean the clusters of each class are, with every class counting the same.

    A cluster belongs to its most frequent class; where classes tie, to each of them. The precision of class c
    is the size-weighted mean precision of the clusters that belong to it, P_c = (sum of n_ck) / (sum of n_k)
    over those clusters, and 0 for a class that owns no cluster. The answer is the plain mean of P_c over
    classes, or with ``per_class=True`` the dictionary class -> P_c in sorted order.

    This is what the tables of the GHF-ART paper call average precision. It gives no formula: that "overall"
    is the plain mean over classes follows from its table 1, the weighting inside a class from its words
    "weighted average precision", and zero and ties are set here. It has nothing to do with average precision
    of a ranking.

    Between 0 and 1, higher is better. O(n log n).

    >>> average_precision(["cat", "cat", "dog", "dog"], [1, 1, 0, 1], per_class=True)
    {'cat': 0.6666666666666666, 'dog': 1.0}
    >>> round(average_precision(["cat", "cat", "dog", "dog"], [1, 1, 0, 1]), 6)
    0.833333
    """
    table = contingency(y_true, labels)
    owned = table.shared == _largest_per_cluster(table.cluster_index, table.shared)[table.cluster_index]
    owner, cluster = table.class_index[owned], table.cluster_index[owned]
    n_classes = table.class_sizes.size
    right = np.bincount(owner, weights=table.shared[owned], minlength=n_classes)
    held = np.bincount(owner, weights=table.cluster_sizes[cluster], minlength=n_classes)
    precision = right / np.maximum(held, 1.0)
    if per_class:
        return dict(zip(table.classes.tolist(), precision.tolist(), strict=True))
    return float(precision.mean())


def rand_index(y_true: ArrayLike, labels: ArrayLike) -> float:
    """Share of item pairs that classes and clusters treat alike: together in both, or apart in both.

    RI = (pairs together in both + pairs apart in both) / (n (n - 1) / 2). Reported in the HML-RF paper. The
    GHF-ART paper prints a "rand index" too, but several of its values lie below what this formula can give at
    the purity printed beside them: do not compare with those. A single item scores 1.

    Between 0 and 1, higher is better; close to 1 for almost any grouping once there are many classes.
    O(n log n). Computed by scikit-learn.

    >>> round(rand_index([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.833333
    """
    from sklearn.metrics import rand_score

    _, class_of, _, cluster_of = check_pair(y_true, labels)
    return float(rand_score(class_of, cluster_of))


def adjusted_rand_index(y_true: ArrayLike, labels: ArrayLike) -> float:
    """The Rand index with luck taken out: 0 is what shuffled labels of the same sizes would get.

    ARI = (RI - E[RI]) / (1 - E[RI]), E over random groupings with the same group sizes. Reported in the
    HML-RF paper.

    Between -0.5 and 1, higher is better. O(n log n). Computed by scikit-learn.

    >>> round(adjusted_rand_index([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.571429
    """
    from sklearn.metrics import adjusted_rand_score

    _, class_of, _, cluster_of = check_pair(y_true, labels)
    return float(adjusted_rand_score(class_of, cluster_of))


def pairwise_f1(y_true: ArrayLike, labels: ArrayLike) -> float:
    """Balance of two questions about pairs: do joined items belong together, and are those that do joined?

    F1 = 2 TP / (2 TP + FP + FN): TP pairs share class and cluster, FP share only the cluster, FN only the
    class. The "balanced F1" of the HML-RF paper. When no pair shares either, the groupings are the same and
    score 1.

    Between 0 and 1, higher is better. O(n log n). The pairs are counted by scikit-learn.

    >>> round(pairwise_f1([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.666667
    """
    from sklearn.metrics.cluster import pair_confusion_matrix

    _, class_of, _, cluster_of = check_pair(y_true, labels)
    # scikit-learn counts each pair twice; that cancels.
    (_, false_positive), (false_negative, true_positive) = pair_confusion_matrix(class_of, cluster_of).tolist()
    everything = 2 * true_positive + false_positive + false_negative
    return 2 * true_positive / everything if everything else 1.0


def class_entropy(y_true: ArrayLike, labels: ArrayLike, *, weighted: bool = True, base: float | None = None) -> float:
    """How mixed the classes are inside a cluster, on average.

    H_class = sum_k (n_k / n) H_k with H_k = - sum_c (n_ck / n_k) log(n_ck / n_k): the conditional entropy of
    the class given the cluster. ``weighted=False`` takes the plain mean of H_k over clusters instead. The
    logarithm is natural unless ``base`` says otherwise (2 gives bits).

    This is the entropy of the aPLSA paper, whose text writes log2 and leaves the average open; its table only
    fits natural logarithms. It is also H_class of the GHF-ART paper, where it is 0 beside a purity of 1
    (table 6); other authors swap the names of the two entropies.

    From 0 (every cluster holds one class) to log(number of classes), lower is better; 0 for one item per
    cluster, so read it together with ``cluster_entropy``. O(n log n).

    >>> round(class_entropy([0, 0, 0, 1], [0, 0, 1, 1]), 6)
    0.346574
    >>> class_entropy([0, 0, 0, 1], [0, 0, 1, 1], base=2)
    0.5
    """
    table = contingency(y_true, labels)
    return _mean_entropy(table.shared, table.cluster_index, table.cluster_sizes, weighted, base)


def cluster_entropy(y_true: ArrayLike, labels: ArrayLike, *, weighted: bool = True, base: float | None = None) -> float:
    """How scattered over clusters a class is, on average.

    H_cluster = sum_c (n_c / n) H_c with H_c = - sum_k (n_ck / n_c) log(n_ck / n_c): the conditional entropy
    of the cluster given the class, ``class_entropy`` with the roles exchanged. ``weighted=False`` takes the
    plain mean over classes instead. The logarithm is natural unless ``base`` says otherwise (2 gives bits).

    H_cluster of the GHF-ART paper, which says of it that it looks at how items of one class are kept
    together; base and average are not stated there, so values need not compare.

    From 0 (every class sits in one cluster) to log(number of clusters), lower is better; 0 when everything is
    in one cluster, so read it together with ``class_entropy``. O(n log n).

    >>> round(cluster_entropy([0, 0, 1, 1], [0, 0, 1, 2]), 6)
    0.346574
    """
    table = contingency(y_true, labels)
    return _mean_entropy(table.shared, table.class_index, table.class_sizes, weighted, base)


def cluster_report(y_true: ArrayLike, labels: ArrayLike) -> dict[str, float]:
    """Every measure of this file at its defaults, by name.

    >>> report = cluster_report([0, 0, 1, 1], [0, 0, 1, 2])
    >>> report["purity"], report["clustering_accuracy"]
    (1.0, 0.75)
    """
    return {
        "clustering_accuracy": clustering_accuracy(y_true, labels),
        "normalized_mutual_info": normalized_mutual_info(y_true, labels),
        "purity": purity(y_true, labels),
        "average_precision": average_precision(y_true, labels),
        "rand_index": rand_index(y_true, labels),
        "adjusted_rand_index": adjusted_rand_index(y_true, labels),
        "pairwise_f1": pairwise_f1(y_true, labels),
        "class_entropy": class_entropy(y_true, labels),
        "cluster_entropy": cluster_entropy(y_true, labels),
    }


def _largest_per_cluster(cluster_index: NDArray[np.intp], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Size of the largest cell of each cluster."""
    largest = np.zeros(int(cluster_index.max()) + 1, dtype=np.int64)
    np.maximum.at(largest, cluster_index, count)
    return largest


def _mean_entropy(
    count: NDArray[np.int64],
    group: NDArray[np.intp],
    sizes: NDArray[np.int64],
    weighted: bool,
    base: float | None,
) -> float:
    """Mean over groups of the entropy of how its items are shared out over cells of ``count`` items."""
    if base is not None and not base > 1:
        raise ParameterError(
            f"base must be above 1, or None for the natural logarithm, got {base!r}. Pass base=2 for bits."
        )
    share = count / sizes[group]
    entropy = np.bincount(group, weights=-share * np.log(share), minlength=sizes.size)
    mean = float(entropy @ sizes / sizes.sum() if weighted else entropy.mean())
    return mean if base is None else mean / float(np.log(base))
