"""How good is a clustering, and how good are proposed tags: numbers from arrays.

Three families, each comparing something known with something found. What is known always comes first.

===============================  ===================================================  ========
Clusters against known classes   ``(y_true, labels)``                                 better
===============================  ===================================================  ========
``clustering_accuracy``          right items under the best naming of the clusters    higher
``normalized_mutual_info``       shared information, scaled to 0..1                   higher
``purity``                       items that belong to their cluster's main class      higher
``average_precision``            the same asked class by class                        higher
``rand_index``                   pairs of items on which both groupings agree         higher
``adjusted_rand_index``          the same, with luck taken out                        higher
``pairwise_f1``                  precision and recall over pairs put together         higher
``class_entropy``                how mixed the classes are inside a cluster           lower
``cluster_entropy``              how scattered over clusters a class is               lower
``cluster_report``               all of the above in one dictionary
===============================  ===================================================  ========

===============================  ===================================================  ========
Clusters against tags            ``(tags, labels)``                                   better
===============================  ===================================================  ========
``average_clustering_accuracy``  items that carry their cluster's main tag (ACA)      higher
``average_clustering_entropy``   how mixed the tags are inside a cluster (ACE)        lower
===============================  ===================================================  ========

===============================  ===================================================  ========
Proposed tags against hidden     ``(hidden, scores, n)``                              better
===============================  ===================================================  ========
``precision_at``                 share of the first n proposals that are right        higher
``recall_at``                    share of the hidden tags among the first n           higher
``coverage_at``                  share of items with at least one right proposal      higher
===============================  ===================================================  ========

Classes and labels may be integers or strings; only which items share one matters, never its value. A label of
-1, manyview's "unassigned", is no exception: the items that carry it count as one more cluster, as they do in
scikit-learn. Leave those items out first to judge only what was assigned.
"""

from __future__ import annotations

from manyview.metrics.clusters import (
    adjusted_rand_index,
    average_precision,
    class_entropy,
    cluster_entropy,
    cluster_report,
    clustering_accuracy,
    normalized_mutual_info,
    pairwise_f1,
    purity,
    rand_index,
)
from manyview.metrics.ranking import coverage_at, precision_at, recall_at
from manyview.metrics.tags import average_clustering_accuracy, average_clustering_entropy

__all__ = [
    "adjusted_rand_index",
    "average_clustering_accuracy",
    "average_clustering_entropy",
    "average_precision",
    "class_entropy",
    "cluster_entropy",
    "cluster_report",
    "clustering_accuracy",
    "coverage_at",
    "normalized_mutual_info",
    "pairwise_f1",
    "precision_at",
    "purity",
    "rand_index",
    "recall_at",
]
