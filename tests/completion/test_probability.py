"""Curves, probabilities, words for them, and what answers teach."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview import TagCompleter
from manyview.completion.probability import (
    _at_most_one,
    completeness_from_answers,
    estimated_completeness,
    fit_calibration,
    how_sure,
    is_trusted,
    probability_true,
    share_asked_as_new,
    share_new,
    untouched_scale,
)

RNG = np.random.default_rng(0)


def test_no_share_is_believed_to_be_one():
    """Against the mean of a normal distribution that is cut off at one, by counting."""
    draws = np.random.default_rng(0).normal(size=400_000)
    for ratio in (0.4, 0.8, 0.95, 1.0, 1.1):
        drawn = ratio + 0.12 * min(ratio, 1.0) * draws
        assert _at_most_one(np.array([ratio]))[0] == pytest.approx(drawn[drawn <= 1.0].mean(), abs=2e-3)
    many = _at_most_one(np.concatenate([np.linspace(0.0, 3.0, 3001), [10.0, 1e3]]))
    assert (np.diff(many) >= 0).all() and many[0] == pytest.approx(0.0, abs=1e-6) and many[-1] <= 1.0
    assert many[300] == pytest.approx(0.3, abs=1e-6)  # far below one nothing changes


def test_probability_by_hand():
    g = np.array([0.307692])
    assert probability_true(g, np.zeros(1), 0.6) == pytest.approx([0.296296], abs=1e-6)
    assert probability_true(np.array([1.0, 0.0]), np.zeros(2), 0.6) == pytest.approx([1.0, 0.0], abs=1e-3)
    # of an item nobody has looked at, what its owner would write; half of those without tags were looked at
    assert probability_true(np.array([0.3, 0.9]), np.ones(2), 0.6) == pytest.approx([0.3, 0.9])
    assert probability_true(np.array([0.3, 0.9]), np.ones(2), 0.6, 1.2) == pytest.approx([0.36, 0.928179], abs=1e-6)
    assert probability_true(np.array([0.3]), np.full(1, 0.5), 0.6) == pytest.approx([(0.3 + 0.3 * 0.4 / 0.42) / 2])


def test_a_curve_by_hand():
    # No hidden tag and five others below 0.1, then two steps of four hidden tags, with three and with two others.
    hidden = np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])
    unknown = np.array([0.0, 0.15, 0.25, 0.35, 0.65, 0.75])
    curve = fit_calibration(hidden, unknown, n_below=4, per_step=4)
    none, low, high = np.log(0.5 / 5.5), np.log(4.5 / 3.5), np.log(4.5 / 2.5)
    assert curve.score == pytest.approx([0.0, 0.25, 0.75, 0.9])
    assert curve.log_odds == pytest.approx([none, low, high, high + 0.15 * (high - low) / 0.5])
    assert curve.record(np.array([0.5])) == pytest.approx([1 / (1 + np.exp(-(low + high) / 2))])
    assert curve.record(np.array([-3.0])) == pytest.approx([0.5 / 6])
    none = fit_calibration(np.zeros(0), unknown)
    assert none.record(np.array([-1.0, 0.5])).tolist() == [0, 0]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.floats(-1, 1, width=32), max_size=60),
    st.lists(st.floats(-1, 1, width=32), max_size=60),
    st.integers(1, 20),
)
def test_a_curve_never_falls(hidden, unknown, per_step):
    curve = fit_calibration(np.array(hidden, dtype=np.float32), np.array(unknown, dtype=np.float32), 3, per_step)
    grid = curve.record(np.linspace(-1.5, 1.5, 200))
    assert (np.diff(grid) >= -1e-12).all() and (grid >= 0).all() and (grid <= 1).all()


def test_a_curve_recovers_known_shares_without_steps():
    score = RNG.random(40_000)
    hidden = RNG.random(40_000) < score**2
    points = np.array([0.2, 0.5, 0.9])
    curve = fit_calibration(score[hidden], score[~hidden], per_step=100)
    assert curve.record(points) == pytest.approx(points**2, abs=0.04)
    assert np.unique(curve.record(np.linspace(0.2, 0.99, 500))).size == 500


@pytest.mark.parametrize("truth", [0.35, 0.7, 0.97])
def test_answers_tell_completeness(truth):
    """Thirty random answers on likely proposals nearly always fix the probabilities to a tenth; many fix it well."""
    record = np.linspace(0.1, 0.9, 400)
    promised = probability_true(record, np.zeros(400), truth)
    likely = np.flatnonzero(probability_true(record, np.zeros(400), 0.7) > 0.3)
    errors = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        true = rng.random(400) < promised
        some = rng.permutation(likely)[:30]
        found = completeness_from_answers(record[some], true[some])
        if found is not None:
            errors.append(np.abs(probability_true(record, np.zeros(400), found) - promised).mean())
        assert completeness_from_answers(record, true) == pytest.approx(truth, abs=0.08)
    assert len(errors) >= 18 and np.mean(errors) < 0.1


def test_answers_that_were_to_be_expected_teach_nothing():
    assert completeness_from_answers(np.full(40, 1e-4), np.zeros(40, dtype=bool)) is None
    # said when items had half as many tags as now: the record was half as complete
    record = np.full(200, 0.3)
    now = completeness_from_answers(record, np.arange(200) < 120, 0.5)
    then = completeness_from_answers(record, np.arange(200) < 120)
    assert now / 2 == pytest.approx(then, abs=0.02)


def test_untouched_items_are_scaled_by_their_answers():
    record = np.full(40, 0.5)
    assert untouched_scale(record, np.arange(40) < 20) == 1.0
    assert untouched_scale(record, np.arange(40) < 35) == pytest.approx(135 / 120)
    assert untouched_scale(record, np.arange(40) < 25, 1.25) == pytest.approx(1.25)


def test_nothing_is_promised_less_because_more_was_right():
    record = np.linspace(0.01, 1.0, 100)
    promised = [probability_true(record, np.ones(100), 0.6, scale) for scale in (1.0, 1.001, 1.05, 1.2, 2.0)]
    assert all(np.all(more >= less) for less, more in pairwise(promised))
    assert np.abs(promised[1] - promised[0]).max() < 0.002 and promised[-1].max() < 1


def test_untouched_items_lack_what_is_not_on_record_of_others_too():
    """A third of the items has no tags yet, the others have six of ten: that is said, and promises follow from it."""
    rng = np.random.default_rng(5)
    topic, untouched = rng.integers(4, size=600), np.arange(600) % 3 == 0
    looks = np.eye(4, 12)[topic] * 2 + rng.normal(size=(600, 12)) * 0.8
    true = (np.arange(40) // 10 == topic[:, None]) & (rng.random((600, 40)) < 0.7)
    recorded = true & (rng.random(true.shape) < 0.6) & ~untouched[:, None]
    for completeness, scale in ((None, 1.0), (0.6, 1 / 0.6)):
        model = TagCompleter(completeness=completeness, n_jobs=1).fit(looks, recorded.astype(float))
        found = model.propose(top=5)
        asked = untouched[found.items]
        promised, right = found.probabilities[asked].mean(), true[found.items, found.columns][asked].mean()
        assert model.untouched_scale_ == pytest.approx(scale)
        assert (abs(promised - right) < 0.05) == (completeness is not None)


def test_words_until_completeness_is_known():
    assert is_trusted(np.array([0.0, 0.4, 0.6, 1.0]), "estimated").tolist() == [False, False, True, True]
    assert is_trusted(np.array([0.0, 1.0]), "decisions").all() and is_trusted(np.array([0.0]), "given").all()
    assert [how_sure(p, trusted=False) for p in (0.95, 0.8, 0.79, 0.5, 0.49, 0.0)] == [
        "very likely",
        "very likely",
        "likely",
        "likely",
        "maybe",
        "maybe",
    ]
    assert how_sure(0.834) == "83 %"


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


def test_items_that_are_given_one_tag_each_have_not_forgotten_the_others():
    """One folder or subject for each item, and half of them not looked at: Chao's estimate has no bounds there."""
    assert share_new(np.repeat([0, 1], 500)) > 0.99
    assert share_new(np.repeat([0, 1], [700, 300]), 0.3) > 0.95  # also where it is said that most were lost
    assert share_new(np.repeat([0, 1, 2], [500, 450, 50])) > 0.4
    assert share_new(np.repeat([0, 1, 2], [500, 250, 250])) > 0.7


@pytest.mark.parametrize("completeness", [0.2, 0.4, 0.5, 0.7])
@pytest.mark.parametrize("mean", [0.5, 1.5, 4.0])
def test_items_that_lost_all_tags_are_promised_what_holds(mean, completeness):
    """A Poisson number of tags, at least one, kept or lost at random: a tag's share on items that have none left."""
    rng = np.random.default_rng(0)
    n_tags = rng.poisson(mean, size=400_000)
    n_tags = n_tags[n_tags > 0]
    kept = rng.binomial(n_tags, completeness)
    rare = 0.01  # of all tags that are given, this one is so many
    record = rare * kept[kept > 0].mean()
    holds = rare * n_tags[kept == 0].mean()
    promised = probability_true(np.array([record]), np.array([share_asked_as_new(kept, 0.0)]), completeness)
    assert promised[0] == pytest.approx(holds, rel=0.15)


@pytest.mark.parametrize("n_tags", [2, 3, 5])
def test_items_of_few_tags_that_lost_all_of_them(n_tags):
    """Of as many tags each, as many are left empty as there are; before, twice as many were expected of two."""
    left = np.random.default_rng(0).binomial(n_tags, 0.4, size=20_000)
    with_new = np.concatenate([left, np.zeros(20_000, dtype=int)])
    truly_new = 20_000 / (20_000 + (left == 0).sum())
    assert share_new(with_new) == pytest.approx(truly_new, abs=0.02)
    assert share_new(left) < 0.3


def test_a_known_completeness_bounds_how_many_items_lost_all_tags():
    """Complete items with mostly one tag look to Chao's estimate like the rest of many; who knows better says so."""
    rng = np.random.default_rng(4)
    counts = rng.choice([1, 2, 3], p=[0.7, 0.2, 0.1], size=2_000)
    new = np.zeros(2_000, dtype=int)
    kept = rng.binomial(counts, 0.95)
    truly_new = 2_000 / (2_000 + (kept == 0).sum())
    record = np.concatenate([kept, new])
    assert share_new(record) < 0.3
    assert share_new(record, 0.95) == pytest.approx(truly_new, abs=0.02)
    assert share_new(record, 1.0) == 1.0


def test_items_of_one_or_two_tags_make_no_promises_about_tags_that_were_lost(seed):
    """Nothing is forgotten, and every other item was not looked at: three in four were promised, one in four right."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(6, size=600)
    looks = np.eye(6, 12)[topic] * 3 + rng.normal(size=(600, 12))
    words = [rng.choice(4, 1 + (rng.random() < 0.2), replace=False, p=[0.4, 0.3, 0.2, 0.1]) for _ in topic]
    truth = [[f"{t} {w}" for w in some] for t, some in zip(topic, words, strict=True)]
    tags = [some if i % 2 else [] for i, some in enumerate(truth)]
    proposals = TagCompleter().fit(looks, tags).propose(top=3)
    untagged = proposals.items % 2 == 0
    right = np.array([one.tag in truth[one.item] for one in proposals])
    assert proposals.probabilities[untagged].mean() == pytest.approx(right[untagged].mean(), abs=0.12)
