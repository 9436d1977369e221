"""The guaranteed batch: bets against the formula in fractions, cases worked out by hand, and owners who are unlucky."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from manyview.completion import Proposals
from manyview.completion.audit import ALPHAS, CONFIDENCE, Bets, batch_size, plan, standing
from manyview.completion.proposals import Picked
from manyview.errors import ParameterError


def literal_wealth(answers, n, share):
    """Mean over five bets of the product of 1 + lambda_t (x_t - T_t), as it is written down."""
    total = Fraction(0)
    for part in (Fraction(3, 10), Fraction(1, 2), Fraction(7, 10), Fraction(9, 10), Fraction(1)):
        wealth, yes = Fraction(1), 0
        for t, x in enumerate(answers, start=1):
            T = (n * share - yes) / Fraction(n - t + 1)
            p = T + (1 - T) * part
            bet = (p - T) / (T * (1 - T))
            wealth *= 1 + bet * (x - T)
            yes += x
        total += wealth
    return total / 5


@pytest.mark.parametrize("share", [Fraction(4, 5), Fraction(9, 10), Fraction(1, 2)])
def test_wealth_is_the_literal_formula(share):
    rng = np.random.default_rng(3)
    for _ in range(3):
        answers = (rng.random(25) < 0.8).astype(int).tolist()
        bets = Bets(200, float(share))
        for n, answer in enumerate(answers, start=1):
            bets.add(bool(answer))
            if n % 5 == 0:
                assert bets.wealth == pytest.approx(float(literal_wealth(answers[:n], 200, share)), rel=1e-9)


def test_one_answer_by_hand():
    # Against T = 0.8: a yes multiplies by 1 + f / 4, a no by 1 - f; f is 0.68 in the mean.
    yes, no = Bets(100, 0.8), Bets(100, 0.8)
    yes.add(True)
    no.add(False)
    assert (yes.wealth, no.wealth) == (pytest.approx(1.17), pytest.approx(0.32))


def test_a_census_decides_where_bets_cannot():
    # 7 of 10 are 0.7 of them, and not a hair less, whatever 10 * 0.7 is in floating point.
    bets = Bets(10, 0.7)
    for n, answer in enumerate([True] * 6 + [False] * 3, start=1):
        bets.add(answer)
        assert not bets.is_settled
        assert not bets.is_impossible, n
    bets.add(True)
    assert bets.is_settled
    short = Bets(10, 0.7)
    for answer in [False] * 3 + [True] * 2 + [False]:
        assert not short.is_impossible
        short.add(answer)
    assert short.is_impossible
    assert not short.is_proved(1.0)


def test_yes_to_all_is_proved_and_no_to_all_is_given_up():
    order = np.random.default_rng(0).permutation(400).tolist()
    sure = standing(order, 0.8, lambda _: True)
    assert (sure.verdict, sure.attempt, sure.n, sure.right, sure.progress) == ("proved", 0, 400, sure.asked, 1.0)
    assert 15 < sure.asked < 30  # 1.25 ** 17 is 44; the mean of the five needs a few more
    never = standing(order, 0.8, lambda _: False)
    assert (never.verdict, never.attempt, never.right, never.next) == ("given up", 2, 0, None)
    assert never.asked < 40


def test_small_batches_end():
    for n in range(1, 12):
        for right in range(n + 1):
            order = list(range(n))[::-1]
            end = standing(order, 0.8, lambda place, right=right: place < right)
            assert end.verdict in ("proved", "given up")
            if end.verdict == "proved":
                assert min(right, end.n) >= 0.8 * end.n - 1e-9, (n, right)
    assert standing([], 0.8, lambda _: True).verdict == "given up"


def test_patience_ends_a_try_and_answers_count_for_the_half():
    # Four of five are right in the whole batch, which never proves a share of 0.8; all of the likelier half are.
    order = np.random.default_rng(1).permutation(4000).tolist()
    asked = []

    def answer(place):
        asked.append(place)
        return place < 2000 or place % 5 < 3

    end = standing(order, 0.8, answer)
    assert (end.verdict, end.attempt, end.n) == ("proved", 1, 2000)
    assert end.rest == 2000 - sum(place < 2000 for place in asked)
    assert len(asked) == len(set(asked)) == end.asked <= 150  # those that fell into the half had proved it by then


def test_an_audit_goes_on_where_it_was():
    rng = np.random.default_rng(2)
    order, truth = rng.permutation(300).tolist(), (rng.random(300) < 0.93).tolist()
    known, seen = {}, []
    while (now := standing(order, 0.8, known.get)).verdict == "asking":
        assert now.next not in known
        assert 0.0 <= now.progress <= 1.0
        known[now.next] = truth[now.next]
        seen.append(now.next)
    assert now == standing(order, 0.8, truth.__getitem__)
    del known[seen[-1]]  # taken back: the same is asked again
    assert standing(order, 0.8, known.get).next == seen[-1]


@pytest.mark.parametrize(("n", "share"), [(60, 0.8), (300, 0.8), (400, 0.9)])
def test_the_guarantee_holds_where_the_truth_is_just_below_it(n, share):
    """Every one of the three batches has one right tag too few."""
    rng, broken, owners = np.random.default_rng(n), 0, 200
    truth = np.zeros(n, dtype=bool)
    for start, size in ((0, n >> 2), (n >> 2, n >> 1), (n >> 1, n)):
        enough = int(np.ceil(round(size * share, 9))) - 1
        truth[start : start + enough - int(truth.sum())] = True
    assert all(truth[: n >> halved].mean() < share for halved in range(3))
    for _ in range(owners):
        end = standing(rng.permutation(n).tolist(), share, truth.tolist().__getitem__)
        broken += end.verdict == "proved"
    assert broken <= 0.05 * owners


def test_where_a_batch_begins():
    assert batch_size(np.array([0.99, 0.9, 0.81, 0.5]), 0.8) == 3  # means .99 .945 .9 .8
    assert batch_size(np.array([0.85, 0.85]), 0.8) == 2
    assert batch_size(np.array([0.84]), 0.8) == 0
    assert batch_size(np.array([0.96, 0.95]), 0.9) == 2
    assert batch_size(np.zeros(0), 0.8) == 0


def test_a_plan_says_what_it_will_take():
    assert sum(ALPHAS) == pytest.approx(1.0 - CONFIDENCE)
    many = plan(np.full(3000, 0.95), 0.8)
    assert (many.n, many.reached) == (3000, 1.0)
    assert 20 < many.answers < 60  # ln 40 / (.95 ln 1.225 + .05 ln .1), the stake of 0.9, is 47; of 0.7 it is 38
    assert many.tags > 2990
    assert many.is_worth_it
    few = plan(np.full(30, 0.87), 0.8)
    assert not few.is_worth_it
    assert plan(np.full(30, 0.3), 0.8) == (0, 0, 0, 0.0)


def test_proposals_are_audited():
    n, rng = 600, np.random.default_rng(5)
    truth = rng.random(n) < 0.93
    numbers = np.arange(n)
    likely = np.linspace(0.99, 0.75, n)
    found = Proposals(
        Picked(numbers, np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.float32), *np.zeros((2, n)), likely),
        np.ones(n, dtype=bool),
        ["sea"],
        numbers,
        lambda items, columns: SimpleNamespace(evidence=lambda: [()] * len(items)),
    )
    done = found.audit(lambda one: bool(truth[one.item]), 0.8)
    assert done.is_proved and done.asked < 150 and truth[done.accepted].mean() > 0.8
    assert done.accepted.size == done.n - (done.asked - done.right)
    assert found.audit(lambda one: bool(truth[one.item]), 0.8, random_state=0).asked == done.asked
    never = found.audit(lambda one: False, 0.8)
    assert not never.is_proved and never.accepted.size == 0
    with pytest.raises(ParameterError, match="at_least must be"):
        found.audit(lambda one: True, 80)
