"""Naive Bayes, neighbours, co-occurrence, clusters and the prior: small numbers worked out by hand."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.completion.batch import Batch
from manyview.completion.items import Items
from manyview.completion.neighbours.nearest import Nearest, weights_of
from manyview.completion.sources import (
    Frequency,
    Neighbours,
    fit_clusters,
    fit_companions,
    fit_naive_bayes,
    prior_of,
)

NOTHING = np.zeros((1, 0), dtype=np.float32)


def asked(tags, nearest=None, rows=None, labels=None):
    return Batch(csr_matrix(np.atleast_2d(tags).astype(np.float32)), NOTHING, nearest, rows, labels=labels)


def test_naive_bayes():
    # Tag 0 is on 4 of 10 items; tags 1 to 4 each on 5, three of them with tag 0.
    together = np.full((5, 5), 2.0)
    together[0], together[:, 0] = 3, 3
    np.fill_diagonal(together, [4, 5, 5, 5, 5])
    source = fit_naive_bayes(csr_matrix(together), np.diag(together).copy(), 10)
    assert source.prior[0] == pytest.approx(0.409091, abs=1e-6)
    assert source.scores(asked([0, 1, 0, 0, 0]))[0, 0] == pytest.approx(0.528409, abs=1e-6)
    assert source.scores(asked([0, 1, 1, 1, 1]))[0, 0] == pytest.approx(0.682528, abs=1e-6)
    assert source.scores(asked([0, 0, 0, 0, 0]))[0] == pytest.approx(source.prior, abs=1e-6)


def test_naive_bayes_is_the_literal_formula():
    rng = np.random.default_rng(0)
    tags = (rng.random((40, 6)) < 0.2).astype(float)
    together, counts = tags.T @ tags, tags.sum(axis=0)
    source = fit_naive_bayes(csr_matrix(together), counts, 40)
    p = (counts + 0.5) / 41
    lift = np.log((together + 3 * p) / (counts[:, None] + 3) / p)
    np.fill_diagonal(lift, 0)
    damp = np.sqrt(np.maximum(tags.sum(axis=1), 1))[:, None]
    expected = np.exp(np.minimum(-0.05, np.log(p) + (tags @ lift) / damp))
    assert source.scores(asked(tags)) == pytest.approx(expected, abs=1e-6)


def test_neighbours():
    near = Nearest(np.array([[1, 0]], dtype=np.int32), np.array([[0.8, 0.4]], dtype=np.float32))
    assert weights_of(near)[0] == pytest.approx([0.941176, 0.058824], abs=1e-6)
    items = Items(3, 2, (), (), (), np.ones(3, dtype=bool), ())
    tags = csr_matrix(np.array([[0, 1], [1, 0], [1, 1]], dtype=np.float32))
    source = Neighbours(tags, np.array([0.3, 0.2]))
    assert source.scores(asked([0, 0], items.mixed([near], 1)))[0] == pytest.approx([0.941176, 0.058824], abs=1e-6)
    # A second view with one neighbour counts half; a view without neighbours does not count.
    other = Nearest(np.array([[2, 0]], dtype=np.int32), np.array([[0.5, 0.0]], dtype=np.float32))
    silent = Nearest(np.zeros((1, 2), dtype=np.int32), np.zeros((1, 2), dtype=np.float32))
    both = source.scores(asked([0, 0], items.mixed([near, other, silent], 1)))[0]
    assert both == pytest.approx([(0.941176 + 1) / 2, (0.058824 + 1) / 2], abs=1e-6)
    assert source.scores(asked([0, 0], items.mixed([silent], 1)))[0] == pytest.approx([0.3, 0.2])


def test_companions_and_frequency():
    tags = csr_matrix(np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0], [0, 1, 0]], dtype=float))
    counts = np.asarray(tags.sum(axis=0)).ravel()
    source = fit_companions((tags.T @ tags).tocsr(), counts, 4)
    assert source.scores(asked([1, 0, 0]))[0] == pytest.approx([0, 2 / 3, 1 / 3])
    assert source.scores(asked([1, 1, 0]))[0] == pytest.approx([2 / 3, 2 / 3, 1 / 3])
    prior = prior_of(counts, 4)
    assert prior == pytest.approx([0.7, 0.7, 0.3])
    assert source.scores(asked([0, 0, 0]))[0] == pytest.approx(prior)
    assert Frequency(prior, 4).scores(asked([[0, 0, 0], [1, 0, 0]])) == pytest.approx(np.array([prior, prior]))


def test_clusters_leave_the_item_out():
    # A cluster of five, two of which have the tag: 2 / 4 for one that has not, 1 / 4 for one that has.
    tags = csr_matrix(np.array([[0], [0], [0], [1], [1], [1]], dtype=np.float32))
    labels = np.array([0, 0, 0, 0, 0, -1])
    source = fit_clusters(tags, labels, np.array([0.25]))
    inside = Batch(tags[[0, 3, 5]], NOTHING, None, np.array([0, 3, 5]), labels=labels[[0, 3, 5]])
    assert source.scores(inside).ravel() == pytest.approx([0.5, 0.25, 0.25])
    assert source.scores(asked([0], labels=np.array([0])))[0] == pytest.approx([0.4])
