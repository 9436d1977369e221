"""Tags of new items, in whatever form they come; and probabilities at the ends of what can be asked."""

import numpy as np
import pytest

from manyview import TagCompleter


def test_tags_of_new_items_in_every_form_are_the_same_words():
    """A Series, an object array and a generator are words as a list is; a frame's columns are called as they are."""
    pandas = pytest.importorskip("pandas")
    words = [["snow"], ["sea"], ["car"], ["snow", "ski"]] * 10
    completer = TagCompleter(random_state=0).fit(None, pandas.Series(words))
    new = [["boat"], ["car"], ["dog"], ["zebra"]]
    listed, objects = completer.tag_scores(None, new), np.empty(4, dtype=object)
    objects[:] = new
    for form in (pandas.Series(new), objects, (one for one in new), tuple(new)):
        assert np.array_equal(completer.tag_scores(None, form), listed)
    frame = pandas.DataFrame([[1, 0], [0, 1], [1, 1]] * 5, columns=["sea", "sun"])
    completer = TagCompleter(random_state=0).fit(None, frame)
    assert completer.tag_names_ == ["sea", "sun"]
    by_name = completer.tag_scores(None, pandas.DataFrame({"moon": [1], "sun": [1]}))
    assert np.array_equal(by_name, completer.tag_scores(None, [["sun"]]))


@pytest.mark.parametrize("completeness", [1e-9, 1e-20, 1e-300, 1.0])
def test_probabilities_stay_probabilities(completeness):
    words = [["snow"], ["sea"], ["car"], ["snow", "ski"]] * 10
    found = TagCompleter(completeness=completeness, random_state=0).fit(None, words).tag_probabilities()
    assert (found >= 0).all() and (found <= 1).all()
