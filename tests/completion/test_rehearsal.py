"""Hiding, stacking, calibration and completeness."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from manyview.completion.probability import (
    _at_most_one,
    completeness_from_decisions,
    estimated_completeness,
    fit_calibration,
    probability_true,
    record_probability,
    share_new,
)
from manyview.completion.rehearsal import Pairs, draw_rehearsals, stack_weights

RNG = np.random.default_rng(0)
TAGS = csr_matrix((RNG.random((400, 20)) < 0.2).astype(np.float32))


def test_a_draw_hides_what_it_says():
    draws = draw_rehearsals(TAGS, np.random.default_rng(0))
    assert len(draws) == 10 and sum(draw.hidden.nnz for draw in draws) >= 1_500  # few items: as often as allowed
    for draw in draws:
        assert ((draw.visible + draw.hidden) != TAGS).nnz == 0
        assert draw.emptied.sum() == np.ceil(0.1 * (np.diff(TAGS.indptr) > 0).sum())
        assert not draw.visible[draw.emptied].nnz
        kept = ~draw.emptied
        assert draw.hidden[kept].nnz / TAGS[kept].nnz == pytest.approx(0.15, abs=0.04)
        assert draw.share_left == pytest.approx(0.765, abs=0.04)
    assert (draws[0].visible != draws[1].visible).nnz > 0


def test_many_tags_need_one_round_and_none_need_no_round():
    many = csr_matrix((np.random.default_rng(1).random((5_100, 20)) < 0.3).astype(np.float32))
    assert len(draw_rehearsals(many, np.random.default_rng(0))) == 1
    assert draw_rehearsals(csr_matrix((5, 3), dtype=np.float32), np.random.default_rng(0)) == []


def test_no_share_is_believed_to_be_one():
    """Against the mean of a normal distribution that is cut off at one, by counting."""
    draws = np.random.default_rng(0).normal(size=400_000)
    for ratio in (0.4, 0.8, 0.95, 1.0, 1.1):
        drawn = ratio + 0.12 * min(ratio, 1.0) * draws
        assert _at_most_one(np.array([ratio]))[0] == pytest.approx(drawn[drawn <= 1.0].mean(), abs=2e-3)
    many = _at_most_one(np.concatenate([np.linspace(0.0, 3.0, 3001), [10.0, 1e3]]))
    assert (np.diff(many) >= 0).all() and many[0] == pytest.approx(0.0, abs=1e-6) and many[-1] <= 1.0
    assert many[300] == pytest.approx(0.3, abs=1e-6)  # far below one nothing changes


def test_weights_find_the_mixture():
    scores = RNG.random((5_000, 3)).astype(np.float32)
    hidden = RNG.random(5_000) < 0.6 * scores[:, 0] + 0.3 * scores[:, 2]
    weights = stack_weights(Pairs(scores, hidden), np.array([True, True, True]))
    assert weights == pytest.approx([2 / 3, 0, 1 / 3], abs=0.06)
    assert weights.sum() == pytest.approx(1) and (weights >= 0).all()
    only = stack_weights(Pairs(scores, hidden), np.array([False, True, True]))
    assert only[0] == 0 and only.sum() == pytest.approx(1)


def test_few_hidden_tags_give_equal_weights():
    hidden = np.arange(100) < 19
    assert stack_weights(Pairs(RNG.random((100, 2)), hidden), np.ones(2, dtype=bool)).tolist() == [0.5, 0.5]


def test_a_source_that_repeats_another_does_no_harm():
    one = RNG.random((2_000, 1)).astype(np.float32)
    weights = stack_weights(Pairs(np.hstack([one, one]), RNG.random(2_000) < one[:, 0]), np.ones(2, dtype=bool))
    assert weights.sum() == pytest.approx(1) and np.isfinite(weights).all()


def test_probability_by_hand():
    g = record_probability(np.array([0.1]), 0.25)
    assert g == pytest.approx([0.307692], abs=1e-6)
    assert probability_true(g, np.zeros(1), 0.6) == pytest.approx([0.296296], abs=1e-6)
    assert record_probability(np.array([0.1]), 1.0) == pytest.approx([0.1])
    assert probability_true(np.array([0.3, 0.9]), np.ones(2), 0.6) == pytest.approx([0.5, 0.974], abs=2e-3)
    assert probability_true(np.array([1.0, 0.0]), np.zeros(2), 0.6) == pytest.approx([1.0, 0.0], abs=1e-3)
    # half of those without tags were looked at
    assert probability_true(np.array([0.3]), np.full(1, 0.5), 0.6) == pytest.approx([(0.5 + 0.3 * 0.4 / 0.42) / 2])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(-1, 1, width=32), st.booleans()), min_size=0, max_size=60))
def test_calibration_never_falls_and_keeps_the_mean(pairs):
    scores = np.array([score for score, _ in pairs], dtype=np.float32)
    hidden = np.array([flag for _, flag in pairs], dtype=bool)
    curve = fit_calibration(scores, hidden)
    grid = curve.hidden_share(np.linspace(-1.5, 1.5, 200))
    assert (np.diff(grid) >= -1e-12).all() and (grid >= 0).all() and (grid <= 1).all()
    if scores.size:
        assert curve.hidden_share(scores).mean() == pytest.approx(hidden.mean(), abs=1e-9)


def test_calibration_recovers_known_shares():
    score = RNG.random(20_000)
    hidden = RNG.random(20_000) < score**2
    points = np.array([0.2, 0.5, 0.9])
    assert fit_calibration(score, hidden).hidden_share(points) == pytest.approx(points**2, abs=0.04)


def test_completeness_from_decisions_adds_up():
    record = RNG.random(200) * 0.5
    new = (RNG.random(200) < 0.3).astype(float)
    for truth in (0.35, 0.7):
        n_accepted = round(probability_true(record, new, truth).sum())
        assert completeness_from_decisions(record, new, n_accepted) == pytest.approx(truth, abs=0.02)
    assert completeness_from_decisions(record, new, 0) == pytest.approx(1, abs=0.01)


def test_estimated_completeness_stays_in_its_range():
    assert estimated_completeness(np.array([0.5, 0.7])) == pytest.approx(0.6)
    assert estimated_completeness(np.array([0.01])) == 0.3
    assert estimated_completeness(np.array([1.0])) == 0.9


def test_items_that_lost_all_tags_are_told_from_new_ones():
    """Random forgetting leaves about as many empty items as the estimate says; more than that were never looked at."""
    rng = np.random.default_rng(3)
    left = rng.binomial(rng.integers(1, 6, size=5_000), 0.5)
    assert share_new(left) < 0.15
    with_new = np.concatenate([left, np.zeros(5_000, dtype=int)])
    truly_new = 5_000 / (5_000 + (left == 0).sum())
    assert share_new(with_new) == pytest.approx(truly_new, abs=0.1)
    assert share_new(np.array([3, 3, 4])) == 1.0
