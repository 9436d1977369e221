"""Which proposals are worth a person's answer, and how sure they are, in words that every front end shares."""

from __future__ import annotations

from typing import Any

__all__ = ["ENOUGH_ANSWERS", "SURE_ENOUGH", "WORTH_ASKING", "how_sure", "is_trusted"]

WORTH_ASKING = 0.5
"""The line of expected gain: from here on a proposal is asked, counted and listed; below it, only on demand.

A right proposal gains a tag, a wrong one costs a look for nothing: p - (1 - p) is expected, and positive from 0.5 on.
"""
SURE_ENOUGH = 0.85
"""Expected precision from which accepting a whole sheet is the first choice."""
ENOUGH_ANSWERS = 30
"""Answers from which it is known how complete the tags of tagged items are."""
_WORDS = ((0.8, "very likely"), (0.5, "likely"), (0.0, "maybe"))


def is_trusted(untouched: float | None, completeness_source: str | None) -> bool:
    """Whether a probability may be shown as a number: of items nobody has tagged, or once completeness is known.

    How complete the tags of an item are cannot be had from the tags alone: it takes the owner's word ("given"), or
    answers ("decisions").
    """
    return (untouched is not None and untouched >= 0.5) or completeness_source in ("given", "decisions")


def how_sure(probability: float | None, trusted: Any = True) -> str:
    """A probability for people: "83 %" where the number can be trusted, else very likely, likely or maybe.

    >>> how_sure(0.834), how_sure(0.834, False), how_sure(0.3, False)
    ('83 %', 'very likely', 'maybe')
    """
    if probability is None:
        return ""
    if trusted:
        return f"{100 * probability:.0f} %"
    return next(word for least, word in _WORDS if probability >= least)
