"""Affinity propagation on a linear kernel."""

import numpy as np
import pytest

from manyview.papers.rivals.exemplars import affinity_propagation, linear_kernel


def test_the_kernel_is_the_product_of_rows():
    assert linear_kernel(np.array([[1.0, 2.0], [3.0, -1.0]])).tolist() == [[5.0, 1.0], [1.0, 10.0]]


@pytest.mark.parametrize("asked", [2, 3, 4])
def test_told_the_number_it_finds_the_number(asked):
    rng = np.random.default_rng(0)
    centres = 10 * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])[:asked]
    which = np.repeat(np.arange(asked), 15)
    labels = affinity_propagation(linear_kernel(centres[which] + rng.normal(size=(which.size, 2))), asked)
    assert np.unique(labels).size == asked
    assert all(np.unique(labels[which == one]).size == 1 for one in range(asked))


def test_not_told_it_takes_the_median():
    rows = np.random.default_rng(1).normal(size=(30, 3))
    from sklearn.cluster import AffinityPropagation

    kernel = linear_kernel(rows)
    reference = AffinityPropagation(affinity="precomputed", preference=np.median(kernel), random_state=0).fit(kernel)
    assert np.array_equal(affinity_propagation(kernel), reference.labels_)
