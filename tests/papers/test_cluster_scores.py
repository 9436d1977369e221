"""Equation (12) by hand: the share of the other members that carry a tag."""

import numpy as np

from manyview.data.tags import TagTable
from manyview.papers.cluster_scores import ClusterScores


class Data:
    def with_tags(self, tags):
        return tags


def test_others_of_the_cluster_decide():
    tags = TagTable.from_matrix(np.array([[1, 0], [1, 1], [0, 0], [0, 1]]), ["a", "b"])
    labels = np.array([0, 0, 0, 1])
    scores = ClusterScores(Data(), lambda data, seed: labels).fit(None, tags).tag_scores()
    assert scores.tolist() == [[0.5, 0.5], [0.5, 0.0], [1.0, 0.5], [0.0, 0.0]]  # nobody else is in cluster 1
