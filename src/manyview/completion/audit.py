"""Accept many with a guarantee: random ones of a batch are asked, until "at least this share is right" is proved.

Every answer is a bet against the claim that fewer are right. Where that claim is true no way of betting makes money in
the mean, so wealth grows 1 / alpha-fold with probability alpha at most, whenever one stops (Ville's inequality) and
however wrong the promises of the model are. Asking is without replacement: with N tags, the share T and S yes among
t - 1 answers, the t-th bet is against T_t = (N T - S) / (N - t + 1), which is what the claim leaves for the others.

The batch is the likeliest tags; where it does not do, its likelier half is tried, and the likelier half of that. The
tests of all three run from the first answer on, as each draw that falls into a half is a random one of that half, and
share the allowed 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ALPHAS", "CONFIDENCE", "Bets", "Plan", "Standing", "batch_size", "plan", "standing"]

STAKES = (0.3, 0.5, 0.7, 0.9, 1.0)
"""How much of what may be lost is staked; the wealth is the mean of the five."""
ALPHAS = (0.025, 0.015, 0.01)
"""What each try may be wrong by."""
CONFIDENCE = 1.0 - sum(ALPHAS)
_HOPELESS = 0.02
"""Wealth under which a try is given up."""
_PATIENCE = 150
"""Answers after which it is."""
_MARGIN = 0.05
"""The batch begins where the mean promise lies this much above the share."""
_OWNERS = 100
"""Owners that a plan imagines."""


class Bets:
    """The bets of one batch of ``n`` tags, of which at least ``share`` shall be right."""

    def __init__(self, n: int, share: float) -> None:
        self.n, self.asked, self.right = n, 0, 0
        self._needed = round(n * share, 9)  # 10 * 0.7 is 7
        self._purses = [1.0] * len(STAKES)

    @property
    def wealth(self) -> float:
        return sum(self._purses) / len(STAKES)

    @property
    def is_settled(self) -> bool:
        """So many yes that the share is reached whatever the others are."""
        return self.right >= self._needed

    @property
    def is_impossible(self) -> bool:
        """So many no that it cannot be."""
        return self.right + self.n - self.asked < self._needed

    def add(self, is_right: bool) -> None:
        """One answer more, to a random one of those not asked yet."""
        against = (self._needed - self.right) / (self.n - self.asked)
        if against > 0.0:
            gain = (1.0 if is_right else 0.0) / against - 1.0
            self._purses = [
                purse * max(0.0, 1.0 + stake * gain) for purse, stake in zip(self._purses, STAKES, strict=True)
            ]
        self.asked += 1
        self.right += is_right

    def is_proved(self, alpha: float) -> bool:
        return self.n > 0 and (self.is_settled or (self.wealth >= 1.0 / alpha and not self.is_impossible))


class Standing(NamedTuple):
    """How far an audit is."""

    verdict: Literal["asking", "proved", "given up"]
    attempt: int
    """0, 1, 2: the whole batch, its half, a quarter."""
    n: int
    """Tags in the batch of this try: the likeliest ones."""
    asked: int
    """Answers so far, in all tries."""
    right: int
    """How many of them were yes."""
    rest: int
    """Tags of this batch that were not asked about."""
    next: int | None
    """The tag to ask about, by its place among the likeliest; None: it is over."""
    progress: float
    """0 to 1: how much of the proof is there."""


def standing(order: Sequence[int], share: float, answer: Callable[[int], bool | None]) -> Standing:
    """Where an audit is after the answers that there are.

    order : the places of the tags, 0 the likeliest, in random order
    answer : place -> yes, no, or None where nobody has answered yet
    """
    sizes = [len(order) >> halved for halved in range(len(ALPHAS))]
    tests = [Bets(size, share) for size in sizes]
    draws = iter(order)
    attempt = used = asked = right = 0
    while True:
        test, alpha = tests[attempt], ALPHAS[attempt]
        if test.is_proved(alpha):
            return Standing("proved", attempt, test.n, asked, right, test.n - test.asked, None, 1.0)
        if test.is_impossible or test.n == 0 or test.wealth < _HOPELESS or used == _PATIENCE:
            if attempt + 1 == len(tests) or sizes[attempt + 1] == 0:
                return Standing("given up", attempt, test.n, asked, right, test.n - test.asked, None, 0.0)
            attempt, used = attempt + 1, 0
            continue
        place = next(one for one in draws if one < test.n)
        said = answer(place)
        if said is None:
            done = math.log(max(1.0, test.wealth)) / -math.log(alpha)
            return Standing("asking", attempt, test.n, asked, right, test.n - test.asked, place, min(1.0, done))
        for one in tests:
            if place < one.n:
                one.add(said)
        asked, used, right = asked + 1, used + 1, right + said


def batch_size(probabilities: NDArray[np.float64], share: float) -> int:
    """How many of the likeliest an audit begins with; the probabilities descend."""
    wanted = share + min(_MARGIN, (1.0 - share) / 2.0)
    means = np.cumsum(probabilities) / np.arange(1, probabilities.size + 1)
    return int(np.searchsorted(-means, -wanted + 1e-12, side="right"))


class Plan(NamedTuple):
    """What an audit will be like if the promises hold: the middle one of many owners."""

    n: int
    """Tags in the batch."""
    answers: int
    tags: int
    """What it brings: those that were asked and right, and those accepted unseen."""
    reached: float
    """The share of the owners who reach the guarantee."""

    @property
    def is_worth_it(self) -> bool:
        """Does it bring more tags unseen than it asks about?"""
        return self.reached >= 0.5 and self.tags - self.answers > self.answers


def plan(probabilities: NDArray[np.float64], share: float, *, seed: int = 0) -> Plan:
    """Play the audit with owners whose answers are as the probabilities, which descend, promise."""
    n = batch_size(probabilities, share)
    if n == 0:
        return Plan(0, 0, 0, 0.0)
    rng = np.random.default_rng(seed)
    answers, tags, reached = [], [], 0
    for _ in range(_OWNERS):
        truth = (rng.random(n) < probabilities[:n]).tolist()
        end = standing(rng.permutation(n).tolist(), share, truth.__getitem__)
        answers.append(end.asked)
        reached += end.verdict == "proved"
        tags.append(end.right + (end.rest if end.verdict == "proved" else 0))
    return Plan(n, round(float(np.median(answers))), round(float(np.median(tags))), reached / _OWNERS)
