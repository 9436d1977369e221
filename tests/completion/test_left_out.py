"""A hidden tag without a second fit: every closed form against hiding it and counting or fitting again."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.blocks import workers
from manyview.completion import ridge as ridge_module
from manyview.completion.batch import Batch, unchanged
from manyview.completion.sources import Frequency, fit_clusters, fit_companions, fit_naive_bayes, prior_of
from manyview.completion.stacking import Sums, _heights, judge_scores, share_by_rank, stack_weights, sum_squares
from tests.completion.test_ridge import by_hand, fitted

RNG = np.random.default_rng(7)
TAGS = (RNG.random((30, 6)) < [0.6, 0.5, 0.45, 0.3, 0.2, 0.15]).astype(float)
TAGS[3] = 0
FEATURES = RNG.normal(size=(30, 4))
N = len(TAGS)
STATES = [(s, i) for s in range(N) for i in np.flatnonzero(TAGS[s])]


def in_doubles(fit, ridge):
    """The ridge with coefficients in double precision, as the fit had them before they were kept."""
    k = ridge.inputs.size
    coef = fit.precision[:, :k] / -np.diag(fit.precision)[:k]
    coef[np.arange(k), np.arange(k)] = 0
    return replace(ridge, tag_coef=coef[:k], view_coef=coef[k:])


def test_hiding_a_tag_is_a_fit_without_the_item_that_does_not_see_it():
    fit, ridge, everyone = fitted(TAGS, FEATURES, 3.0, np.full(4, 2.0))
    left = in_doubles(fit, ridge).left_out(everyone)
    found = left.without(np.array([s for s, _ in STATES]), np.array([i for _, i in STATES]))
    for (s, i), hidden, scores in zip(STATES, left.hidden, found, strict=True):
        without = TAGS.copy()
        without[s, i] = 0
        expected = [by_hand(without, FEATURES, 3.0, np.full(4, 2.0), s, j) for j in range(6)]
        assert hidden == pytest.approx(expected[i], abs=1e-10)
        others = np.arange(6) != i
        assert scores[others] == pytest.approx(np.array(expected)[others], abs=1e-10)


def test_hiding_all_tags_of_an_item():
    fit, ridge, everyone = fitted(TAGS, FEATURES, 3.0, np.full(4, 2.0))
    emptied = in_doubles(fit, ridge).left_out(everyone).emptied
    for s in range(N):
        without = TAGS.copy()
        without[s] = 0
        expected = [by_hand(without, FEATURES, 3.0, np.full(4, 2.0), s, j) for j in range(6)]
        assert emptied[s] == pytest.approx(np.array(expected), abs=1e-10)
    fit, ridge, everyone = fitted(TAGS, FEATURES, None, np.full(4, 2.0))
    left = ridge.left_out(everyone)  # on the views alone nothing changes
    assert left.emptied == pytest.approx(left.scores) and left.scores == pytest.approx(ridge.scores(everyone))
    assert left.without(np.array([4]), np.array([2]))[0] == pytest.approx(left.scores[4])


def test_rare_tags_too(monkeypatch):
    monkeypatch.setattr(ridge_module, "MOST_INPUTS", 3)
    _, ridge, everyone = fitted(TAGS, FEATURES, 3.0, np.full(4, 2.0))
    left = ridge.left_out(everyone)
    for s, i in STATES[::3]:
        without = TAGS.copy()
        without[s, i] = 0
        scores = left.without(np.array([s]), np.array([i]))[0]
        for j in (3, 4, 5):  # targets that are no inputs
            if j != i:
                joined = np.column_stack([without[:, :3], TAGS[:, j]])
                expected = by_hand(joined, FEATURES, 3.0, np.full(4, 2.0), s, 3)
                assert scores[j] == pytest.approx(expected, abs=1e-5)


def test_words_are_inputs_as_they_are():
    words = csr_matrix((RNG.random((30, 5)) < 0.4) * RNG.random((30, 5)))
    with workers(1) as threads:
        rows = np.arange(N)
        moments = ridge_module.gather_moments(lambda some: words[some], 5, csr_matrix(TAGS), rows, threads)
        fit = ridge_module.fit_ridge(moments, 3.0, np.full(5, 2.0), on_words=True)
        batch = Batch(csr_matrix(TAGS), np.zeros((N, 0), np.float32), None, rows, words)
        found = fit.with_leverage([lambda: batch], N, threads).scores(batch)
    dense = words.toarray()
    expected = [[by_hand(TAGS, dense, 3.0, np.full(5, 2.0), s, i) for i in range(6)] for s in range(N)]
    assert found == pytest.approx(np.array(expected), abs=1e-5)


def everyone(labels=None):
    return Batch(csr_matrix(TAGS), np.zeros((N, 0), np.float32), None, np.arange(N), labels=labels)


def counted(kind, tags, n_others=0):
    """A source that counts, made from these tags."""
    counts = tags.sum(axis=0)
    if kind == "frequency":
        return Frequency(prior_of(counts, N), N)
    if kind == "cluster":
        return fit_clusters(csr_matrix(tags), np.arange(N) % 3, prior_of(counts, N))
    make = fit_naive_bayes if kind == "naive_bayes" else fit_companions
    return make(csr_matrix(tags.T @ tags), counts, N)


@pytest.mark.parametrize("kind", ["naive_bayes", "cooccurrence", "frequency", "cluster"])
def test_counts_without_a_tag(kind):
    labels = np.arange(N) % 3
    left = counted(kind, TAGS).left_out(everyone(labels))
    found = left.without(np.array([s for s, _ in STATES]), np.array([i for _, i in STATES]))
    assert left.scores == pytest.approx(counted(kind, TAGS).scores(everyone(labels)))
    for (s, i), hidden, scores in zip(STATES, left.hidden, found, strict=True):
        without = TAGS.copy()
        without[s, i] = 0
        again = Batch(csr_matrix(without), np.zeros((N, 0)), None, np.arange(N), labels=labels)
        expected = counted(kind, without).scores(again)[s]
        assert hidden == pytest.approx(expected[i], abs=1e-6)
        unknown = TAGS[s] == 0
        assert scores[unknown] == pytest.approx(expected[unknown], abs=1e-6)
    for s in range(N):
        without = TAGS.copy()
        without[s] = 0
        again = Batch(csr_matrix(without), np.zeros((N, 0)), None, np.arange(N), labels=labels)
        expected = counted(kind, without).scores(again)[s]
        assert left.emptied[s] == pytest.approx(expected, abs=1e-6)


def test_what_weights_and_curves_are_learned_from():
    _, ridge, batch = fitted(TAGS, FEATURES, 3.0, np.full(4, 2.0))
    sources = {"joint": ridge, "naive_bayes": counted("naive_bayes", TAGS), "frequency": counted("frequency", TAGS)}
    left = [source.left_out(batch) for source in sources.values()]
    rows, answers, counts = [], [], []
    for number, (s, i) in enumerate(STATES):
        k = TAGS[s].sum()
        if k < 2:
            continue
        scores = [one.without(np.array([s]), np.array([i]))[0] for one in left]
        rows.append([one.hidden[number] for one in left])
        answers.append(1.0)
        counts.append(1.0)
        for j in np.flatnonzero(TAGS[s] == 0):
            rows.append([score[j] for score in scores])
            answers.append(0.0)
            counts.append(1 / k)
    A, y, w = np.array(rows, dtype=float), np.array(answers), np.array(counts)
    with workers(1) as threads:
        warm, cold = sum_squares(sources, [lambda: batch], threads)
        judged = judge_scores(sources, np.array([[0.5, 0.3, 0.2], [0.0, 0.0, 1.0]]), [lambda: batch], threads)
    assert warm.gram == pytest.approx((A * w[:, None]).T @ A, rel=1e-5)
    assert warm.target == pytest.approx(A.T @ y, rel=1e-5) and warm.n_hidden == y.sum()
    told = TAGS.sum(axis=1) > 0
    B = np.stack([one.emptied[told].ravel() for one in left], axis=1).astype(float)
    assert cold.gram == pytest.approx(B.T @ B, rel=1e-5)
    assert cold.target == pytest.approx(B.T @ TAGS[told].ravel(), rel=1e-5) and cold.n_hidden == TAGS.sum()
    mixed = 0.5 * left[0].scores + 0.3 * left[1].scores + 0.2 * left[2].scores
    assert np.sort(judged[0].unknown) == pytest.approx(np.sort(mixed[told][TAGS[told] == 0]), abs=1e-6)
    several = np.array([TAGS[s].sum() > 1 for s, _ in STATES])
    hidden = (0.5 * left[0].hidden + 0.3 * left[1].hidden + 0.2 * left[2].hidden)[several]
    assert judged[0].hidden == pytest.approx(hidden, abs=1e-6) and judged[0].n_more == 0
    assert judged[1].hidden.size == TAGS.sum() and judged[1].n_items == told.sum()


class _Says:
    """A source that says what it is told to."""

    def __init__(self, values):
        self.values = values.astype(np.float32)

    def left_out(self, batch):
        return unchanged(batch, self.values, self.values[batch.known])


def test_two_sources_share_their_weight_so_that_hidden_tags_stand_highest():
    rng = np.random.default_rng(0)
    tags = (rng.random((80, 7)) < 0.4).astype(np.float32)
    batch = Batch(csr_matrix(tags), np.zeros((80, 0), np.float32), None, np.arange(80))
    noise, other = rng.normal(size=(2, 80, 7))
    halves = [lambda: batch]
    weights = np.array([0.5, 0.2, 0.3])

    def shared(good, bad):
        sources = {"joint": _Says(bad), "frequency": _Says(0.1 * other), "words": _Says(good)}
        with workers(1) as threads:
            return share_by_rank(sources, weights, ("joint", "words"), halves, threads)

    assert shared(tags + 0.5 * noise, noise) == pytest.approx([0.0, 0.2, 0.8])  # all to who knows
    assert shared(noise, tags + 0.5 * noise) == pytest.approx([0.8, 0.2, 0.0])
    assert shared(noise, noise) is weights, "where nothing is clearly better, squares decide"
    assert share_by_rank({"joint": 0, "words": 0}, np.zeros(2), ("joint", "words"), halves, None).tolist() == [0, 0]


def test_how_high_hidden_tags_stand():
    tags = np.array([[1, 1, 0, 0], [1, 0, 0, 0], [0, 1, 1, 1]], dtype=np.float32)
    batch = Batch(csr_matrix(tags), np.zeros((3, 0), np.float32), None, np.arange(3))
    says = _Says(np.array([[5, 2, 3, 4], [9, 9, 9, 9], [7, 1, 8, 6.0]]))
    # First item: 5 is ahead of 3 and 4, 2 behind both. The second has one tag. Of the third, 1 and 6 are behind 7.
    assert _heights(batch, [says.left_out(batch)], np.ones(1)) == pytest.approx([1 + 1 / 3, 1 / 2 + 1 + 1 / 2])


def sums_of(scores, hidden):
    return Sums(scores.T @ scores, scores.T @ hidden, int(hidden.sum()))


def test_weights_find_the_mixture():
    scores = RNG.random((5_000, 3))
    hidden = RNG.random(5_000) < 0.6 * scores[:, 0] + 0.3 * scores[:, 2]
    weights = stack_weights(sums_of(scores, hidden), [True, True, True])
    assert weights == pytest.approx([2 / 3, 0, 1 / 3], abs=0.06)
    assert weights.sum() == pytest.approx(1) and (weights >= 0).all()
    only = stack_weights(sums_of(scores, hidden), [False, True, True])
    assert only[0] == 0 and only.sum() == pytest.approx(1)
    few = np.arange(5_000) < 19
    assert stack_weights(sums_of(scores, few), [True, False, True]).tolist() == [0.5, 0, 0.5]
    twice = np.hstack([scores[:, :1], scores[:, :1]])
    assert stack_weights(sums_of(twice, hidden), [True, True]).sum() == pytest.approx(1)
