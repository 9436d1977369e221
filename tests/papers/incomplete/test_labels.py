"""Labels taken away by the protocol of papers on incomplete views; average precision against a literal version."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.data.views import Views
from manyview.papers.incomplete.labels import Draw, Labelled, _ridge, ranking_precision


def made(n_items=200, n_labels=8):
    rng = np.random.default_rng(0)
    labels = csr_matrix((rng.random((n_items, n_labels)) < 0.3).astype(float))
    views = Views({"a": rng.random((n_items, 4)), "b": rng.random((n_items, 3))})
    return Labelled(views, labels, [f"label{i}" for i in range(n_labels)])


def literal(truth, scores):
    found = []
    for carried, row in zip(truth, scores, strict=True):
        mine = np.flatnonzero(carried)
        if mine.size:
            ranked = [np.flatnonzero(row >= row[label]) for label in mine]
            found.append(np.mean([np.isin(above, mine).sum() / above.size for above in ranked]))
    return np.mean(found)


def test_average_precision_is_the_one_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random((30, 9)) < 0.25
    scores = np.round(rng.random((30, 9)), 1)  # with ties
    assert ranking_precision(truth, scores) == pytest.approx(literal(truth, scores))


def test_half_of_each_side_is_known_and_nothing_of_new_items():
    data = made()
    draw = Draw.of(data, 0)
    assert draw.new.size == 60 and not set(draw.new) & set(draw.at_hand)
    truth = data.labels[draw.at_hand].toarray() > 0
    assert (draw.yes <= truth).all() and not (draw.no & truth).any() and not (draw.yes & draw.no).any()
    assert (draw.yes.sum(axis=0) == [round(n / 2) for n in truth.sum(axis=0)]).all()
    assert (draw.no.sum(axis=0) == [round(n / 2) for n in (~truth).sum(axis=0)]).all()
    assert draw.views.mask.any(axis=1).all() and draw.views.mask.mean() < 0.75
    assert draw.tags.yes.nnz == draw.yes.sum() and draw.tags.no.nnz == 0


def test_an_item_at_hand_is_judged_without_itself():
    """The ridge's answers for items at hand are those of fits from which each was left out, one after another."""
    from sklearn.linear_model import Ridge

    draw = Draw.of(made(40, 3), 0)
    joined = np.random.default_rng(1).normal(size=(40, 5)).astype(np.float32)
    scores = _ridge(lambda _: joined, draw)[1]
    known, target = joined[draw.at_hand].astype(float), draw.yes.astype(float)
    tried = []
    for penalty in 10.0 ** np.arange(-3, 4):
        left_out = np.empty_like(target)
        for item in range(known.shape[0]):
            others = np.delete(np.arange(known.shape[0]), item)
            model = Ridge(penalty).fit(known[others], target[others])
            left_out[item] = model.predict(known[[item]])[0]
        tried.append((((target - left_out) ** 2).mean(), left_out))
    np.testing.assert_allclose(scores, min(tried, key=lambda one: one[0])[1], atol=1e-5)
