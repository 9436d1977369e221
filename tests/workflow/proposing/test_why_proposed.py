"""Reasons for people, by hand: what is alike, what it goes with, and how sure."""

import numpy as np
import pytest

from manyview.collection.proposals import Proposal
from manyview.collection.runs import Run
from manyview.workflow.proposing.asking import how_sure
from manyview.workflow.proposing.why_proposed import reason_of, sentence

CARRIERS = {
    "racket": np.array([2, 3, 4, 9]),
    "tennis": np.array([1, 2, 3, 4, 5]),
    "player": np.array([1, 2, 3, 5, 7]),
    "ball": np.array([1, 8]),
    "alone": np.array([1]),
}
NAMES = {2: "a.jpg", 3: "b.jpg", 4: "c.jpg", 9: "d.jpg"}


def told(evidence, kind="picture"):
    reason = reason_of("racket", 1, evidence, CARRIERS.__getitem__, kind)
    return reason, sentence("racket", reason, NAMES)


def test_tags_it_goes_with_are_counted_without_the_item_itself():
    # Others with tennis and player: 2, 3, 5; of those 2 and 3 have racket.
    reason, said = told([["tag", "tennis", 0.6, []], ["tag", "player", 0.3, []], ["tag", "ball", -0.4, []]])
    assert (reason.goes_with, reason.n_with, reason.n_all) == (("tennis", "player"), 2, 3)
    assert said == "racket: goes with tennis and player (on 2 of 3 items with both); ball speaks against it."
    # Nobody has both tennis and ball with racket: then tennis alone, on 2, 3, 4 of 2, 3, 4, 5.
    assert told([["tag", "tennis", 0.6, []], ["tag", "ball", 0.3, []]])[1] == (
        "racket: goes with tennis (on 3 of 4 items with it)."
    )
    assert told([["tag", "alone", 0.6, []]])[1] == "racket: goes with alone."


def test_what_is_alike_comes_first_where_it_says_more():
    parts = [["view", "embedding", 0.7, [2, 3]], ["view", "edges", 0.1, [3, 4, 9]], ["tag", "tennis", 0.2, []]]
    reason, said = told(parts)
    assert reason.like == (2, 3, 4) and reason.like_first
    assert said == (
        "racket: looks like a.jpg, b.jpg and c.jpg, which carry it; goes with tennis (on 3 of 4 items with it)."
    )
    assert "embedding" not in said and "%" not in said
    assert told([["tag", "tennis", 0.5, []], ["view", "embedding", 0.4, [9]]])[1] == (
        "racket: goes with tennis (on 3 of 4 items with it); looks like d.jpg, which carries it."
    )


@pytest.mark.parametrize(
    ("view", "kind", "likeness"),
    [("words", "picture", "reads like"), ("text", "document", "reads like"), ("looks", "row", "is like")],
)
def test_how_it_is_alike(view, kind, likeness):
    assert told([["view", view, 0.7, [2]]], kind)[0].likeness == likeness


def test_little_or_nothing_to_tell():
    assert told([])[1] == "racket: a frequent tag here."
    assert told([["tag", "tennis", 0.01, []], ["view", "looks", 0.04, [2]]])[1] == "racket: a frequent tag here."


def test_first_tags_show_others():
    assert told([["looks", "cluster 3", 1.0, [2, 9]]])[1] == "racket: seems to show it, as do a.jpg and d.jpg."
    assert told([["looks", "", 1.0, []]])[1] == "racket: seems to show it."


def test_how_sure():
    def said(source, p, untouched):
        run = Run(1, "suggest", "combined", {}, {}, {"completeness_source": source}, "", 0.0, False)
        return how_sure(Proposal(1, "racket", p, p, None, untouched), run)

    values = (0.8, 0.79, 0.5, 0.49, 0.0)
    words = ["very likely", "likely", "likely", "maybe", "maybe"]
    assert [said("estimated", p, 0.0) for p in values] == words
    assert said("estimated", 0.924, 1.0) == said("given", 0.924, 0.0) == said("decisions", 0.924, None) == "92 %"
    assert said("given", None, 0.0) == ""
