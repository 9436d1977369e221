"""The joint forest beside a version that counts item by item, and what it finds."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.papers.rivals.joint_forest import best_split, joint_gain, joint_graph, joint_leaves


def gini(parts):
    whole = sum(parts)
    return 1 - sum((part / whole) ** 2 for part in parts) if whole else 0.0


def literal_gain(left, place, tags, at_first):
    """One split: half for looks, half for tags, each as a share of what there was to gain."""
    n = len(left)
    looks, words = gini([n, n]), sum(gini([sum(tag), n - sum(tag)]) for tag in tags.T)
    for side, made_up in ((True, n * place), (False, n * (1 - place))):
        here = [i for i in range(n) if left[i] == side]
        looks -= (len(here) + made_up) / (2 * n) * gini([len(here), made_up])
        for tag in tags.T:
            with_tag = sum(tag[i] for i in here)
            words -= len(here) / n * gini([with_tag, len(here) - with_tag])
    return 0.5 * looks / 0.5 + 0.5 * words / at_first


@pytest.fixture
def some(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(20, 4)).astype(np.float32), (rng.random((20, 6)) < 0.3).astype(np.float32)


def test_the_gain_equals_the_slow_twin(some, seed):
    rng = np.random.default_rng(seed)
    left, places = rng.random((20, 9)) < rng.random(9), rng.random(9)
    made = joint_gain(left, places, some[1], 1.7)
    assert np.allclose(made, [literal_gain(left[:, m], places[m], some[1], 1.7) for m in range(9)], atol=1e-6)


def test_no_other_split_gains_more(some):
    rows, tags = some
    feature, left = best_split(rows, tags, 2.0)

    def gain(f, where):
        """Between two neighbours in the order of a feature."""
        x = np.sort(rows[:, f])
        cut = (x[where - 1] + x[where]) / 2
        return literal_gain(rows[:, f] <= cut, (cut - x[0]) / (x[-1] - x[0]), tags, 2.0)

    every = {(f, where): gain(f, where) for f in range(4) for where in range(3, 18)}
    best = max(every, key=every.get)
    assert (feature, int(left.sum())) == best


def test_constant_looks_are_one_leaf_and_small_leaves_are_not_made(some):
    assert best_split(np.ones((9, 3), dtype=np.float32), some[1][:9], 1.0) is None
    leaves = joint_leaves(some[0], csr_matrix(some[1]), 8, 0)
    assert all(np.bincount(column).min() >= 3 for column in leaves.T)
    assert np.array_equal(leaves, joint_leaves(some[0], csr_matrix(some[1]), 8, 0))


def test_tags_say_which_features_matter(seed):
    """Ten features spread alike, one of which goes with the tags: items of a tag share leaves more often with tags."""
    rng = np.random.default_rng(seed)
    looks = rng.random((120, 10)).astype(np.float32)
    group = (looks[:, 3] > 0.5).astype(int)
    same = group[:, None] == group
    apart = []
    for tags in (np.eye(2)[group], np.zeros((120, 2))):
        graph = joint_graph(looks, csr_matrix(tags), 40, 0).toarray()
        assert np.allclose(graph, graph.T) and not graph.diagonal().any() and graph.min() >= 0 and graph.max() <= 1
        apart.append(graph[~same].sum() / graph.sum())
    assert apart[0] < 0.5 * apart[1]
