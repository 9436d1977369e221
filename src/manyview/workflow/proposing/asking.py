"""Which proposals are worth a person's answer, and how sure they are, in words that every front end shares."""

from __future__ import annotations

from ...collection.proposals import Proposal
from ...collection.runs import Run
from ...completion import probability

__all__ = ["ENOUGH_ANSWERS", "SURE_ENOUGH", "WORTH_ASKING", "how_sure", "is_known", "is_trusted"]

WORTH_ASKING = 0.5
"""The line of expected gain: from here on a proposal is asked, counted and listed; below it, only on demand.

A right proposal gains a tag, a wrong one costs a look for nothing: p - (1 - p) is expected, and positive from 0.5 on.
"""
SURE_ENOUGH = 0.85
"""Expected precision from which accepting a whole sheet is the first choice."""
ENOUGH_ANSWERS = probability.LEAST_DECISIONS
"""Answers from which it is known how complete the tags of tagged items are."""


def is_known(run: Run | None) -> bool:
    """Do all probabilities of a run rest on a completeness that was stated or learned, or on none?"""
    return run is not None and bool(probability.is_trusted(0.0, _source(run)))


def is_trusted(one: Proposal, run: Run) -> bool:
    """May the probability of a proposal of this run be shown as a number?"""
    return bool(probability.is_trusted(one.untouched or 0.0, _source(run)))


def how_sure(one: Proposal, run: Run) -> str:
    """How likely a proposal is right, for people: "83 %" where the number can be trusted, else a word."""
    return "" if one.probability is None else probability.how_sure(one.probability, is_trusted(one, run))


def _source(run: Run) -> str:
    """How the completeness is known; runs that say nothing of it, such as first tags, do not rest on it."""
    return str(run.figures.get("completeness_source", "given"))
