"""Words for clusters and first tags, on rows that stand for known words."""

import numpy as np
import pytest

from manyview.errors import ViewError
from manyview.meaning.first_tags import neighbour_weights, tags_by_cluster, tags_by_picture
from manyview.meaning.guesses import Guess, guess_words
from manyview.meaning.scoring import ask_words, score, see
from manyview.meaning.tables import tables
from manyview.meaning.words import english_words, photo_words


def pictures(word, n, noise=0.6, seed=0):
    """Rows that a network would give to pictures of a word: its classifier, and something of the picture's own."""
    rng = np.random.default_rng(seed)
    direction = ask_words().classifiers[english_words().index(word)]
    own = rng.normal(size=(n, direction.size)).astype(np.float32)
    return direction + noise * own / np.linalg.norm(own, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def seen():
    return see(
        np.concatenate([pictures(word, 20, seed=s) for s, word in enumerate(("elephant", "kitchen", "sailboat"))])
    )


LABELS = np.repeat([0, 1, 2], 20)


def test_clusters_get_the_words_of_what_they_show(seen):
    found = guess_words(seen, LABELS, language="en")
    assert [found[label].words[0] for label in range(3)] == ["elephant", "kitchen", "sailboat"]
    assert all(len(one.words) == 3 for one in found.values())
    german = guess_words(seen, LABELS, language="de")
    assert [german[label].words[0] for label in range(3)] == ["Elefant", "Küche", "Segelboot"]


def test_a_guess_is_the_mean_over_the_cluster_less_half_the_mean_over_all(seen):
    scores = score(seen, ask_words())
    inside = LABELS == 1
    fits = scores[inside].mean(axis=0)
    expected = np.argsort(-(fits - 0.5 * scores.mean(axis=0)))[:3]
    one = guess_words(seen, LABELS, language="en")[1]
    assert one.numbers == tuple(expected.tolist())
    assert np.isclose(one.lift, fits[expected[0]], atol=1e-5)
    assert np.isclose(one.sure, seen.sure[inside].mean(), atol=1e-6)


def test_it_is_clear_only_where_both_lift_and_sureness_are_there():
    assert Guess(("a",), (0,), 0.45, 0.15).is_clear
    assert not Guess(("a",), (0,), 0.44, 0.9).is_clear and not Guess(("a",), (0,), 0.9, 0.14).is_clear


def test_items_without_pictures_and_outside_do_not_count(seen):
    rows = np.concatenate([seen.rows, np.full((3, 1280), np.nan, dtype=np.float32)])
    found = guess_words(see(rows), [*LABELS, 0, 5, -1], language="en")
    assert sorted(found) == [0, 1, 2]
    assert guess_words(see(rows[60:]), [0, 0, 0]) == {}
    with pytest.raises(ViewError, match="one whole number per picture, 60 in all"):
        guess_words(seen, [0, 1])


def test_words_that_are_one_in_a_language_are_offered_once(monkeypatch, seen):
    names = list(english_words())
    first, second = guess_words(seen, LABELS, language="en")[0].numbers[:2]
    names[second] = names[first]
    monkeypatch.setattr("manyview.meaning.guesses.photo_words", lambda language: tuple(names))
    one = guess_words(seen, LABELS)[0]
    assert len(set(one.words)) == 3 and one.numbers[0] == first


def test_neighbours_are_the_eight_nearest_that_are_alike(seen):
    weights = neighbour_weights(seen).toarray()
    alike = seen.rows @ seen.rows.T
    for row in range(60):
        near = [other for other in np.argsort(-alike[row]).tolist() if other != row][:8]
        kept = sorted([row, *(other for other in near if alike[row, other] >= 0.5)])
        assert np.flatnonzero(weights[row]).tolist() == kept and np.allclose(weights[row, kept], 1 / len(kept))
    assert neighbour_weights(seen[:1]).toarray().tolist() == [[1.0]]


def test_by_cluster_only_clear_clusters_propose_and_doubtful_pictures_are_apart(seen):
    mixed = see(np.concatenate([seen.rows[:20], pictures("kitchen", 3, seed=9), seen.rows[40:]]))
    labels = np.array([0] * 23 + [1] * 20)
    guesses = {
        0: Guess(("elephant",), (english_words().index("elephant"),), 0.6, 0.3),
        1: Guess(("x",), (0,), 0.3, 0.3),
    }
    (one,) = tags_by_cluster(mixed, labels, guesses, language="fr")
    assert (one.label, one.word) == (0, "éléphant")
    assert set(one.doubtful.tolist()) == {20, 21, 22} and sorted(one.sure.tolist()) == list(range(20))
    values = [one.scores[row] for row in one.sure.tolist()]
    assert values == sorted(values, reverse=True) and min(values) >= 0.45
    assert one.probability(int(one.sure[0])) > one.probability(20)


def test_by_picture_likely_words_only_and_at_most_three(seen):
    found = tags_by_picture(seen, language="en")
    assert {one.word for one in found if one.row < 20} >= {"elephant"}
    assert max(np.bincount([one.row for one in found])) <= 3
    assert all(one.probability >= 0.6 for one in found)
    one = found[0]
    assert np.isclose(one.probability, 1 / (1 + np.exp(-(7.7 * one.score - 4.5))))
    assert len(tags_by_picture(seen, min_probability=0.0)) == 3 * 60


def test_every_word_has_a_translation_and_its_row_in_the_tables():
    for language in ("de", "fr", "es", "it", "pt", "nl"):
        words = photo_words(language)
        assert len(words) == len(english_words()) == len(tables().words)
        assert all(word == word.strip() and word for word in words)
        assert sum(a == b for a, b in zip(words, english_words(), strict=True)) < 120
