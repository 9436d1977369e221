"""Self-taught clustering: its objective by hand, monotone rounds, and help from others."""

import numpy as np
import pytest

from manyview.papers.rivals import self_taught as module
from manyview.papers.rivals.self_taught import self_taught


def information(joint):
    """Mutual information, written out."""
    rows, columns = joint.sum(axis=1), joint.sum(axis=0)
    return sum(
        joint[i, j] * np.log(joint[i, j] / (rows[i] * columns[j]))
        for i in range(joint.shape[0])
        for j in range(joint.shape[1])
        if joint[i, j] > 0
    )


def coarse(joint, rows, columns):
    out = np.zeros((rows.max() + 1, columns.max() + 1))
    for i in range(joint.shape[0]):
        for j in range(joint.shape[1]):
            out[rows[i], columns[j]] += joint[i, j]
    return out


def test_information_of_a_small_table():
    joint = np.array([[0.25, 0.0], [0.25, 0.5]])
    expected = (
        0.25 * np.log(0.25 / (0.25 * 0.5)) + 0.25 * np.log(0.25 / (0.75 * 0.5)) + 0.5 * np.log(0.5 / (0.75 * 0.5))
    )
    assert module._information(joint) == pytest.approx(expected) == pytest.approx(information(joint))


def test_the_objective_is_the_information_lost_and_never_rises():
    rng = np.random.default_rng(0)
    items, others = rng.integers(0, 5, (12, 10)), rng.integers(0, 5, (30, 10))
    found = self_taught(items, others, 3, n_words=4, tradeoff=0.7, n_starts=2)
    p, q = items / items.sum(), others / others.sum()
    lost = information(p) - information(coarse(p, found.labels, found.word_labels))
    lost += 0.7 * (information(q) - information(coarse(q, found.other_labels, found.word_labels)))
    assert found.objective[-1] == pytest.approx(lost)
    assert (np.diff(found.objective) <= 1e-12).all()
    assert np.unique(found.labels).size == 3  # no cluster runs empty


def test_others_tell_which_words_go_together():
    """Items of one word each cannot be told apart alone; others show words in two families."""
    rng = np.random.default_rng(1)
    items = np.eye(8)
    family = np.repeat([0, 1], 4)
    others = np.array([rng.multinomial(40, np.eye(2)[k][family] / 4) for k in rng.integers(0, 2, 60)])
    found = self_taught(items, others, 2, n_words=2, n_starts=10)
    assert np.unique(found.labels[:4]).size == np.unique(found.labels[4:]).size == 1
    assert found.labels[0] != found.labels[-1]
