"""Search by what is seen, the bridge, the sentence model and the words in other languages."""

import subprocess
import sys

import numpy as np
import pytest

from manyview.errors import ParameterError, ViewError
from manyview.features import sentences
from manyview.features.base import extractor
from manyview.features.sentences import is_english, sentence_vectors
from manyview.meaning.scoring import Seen, ask, ask_words, score, see
from manyview.meaning.search import Bridge, rank_pictures
from manyview.meaning.tables import tables
from manyview.meaning.words import as_english, english_words, language_here, photo_words


def seen_of(words, each=10):
    rng = np.random.default_rng(0)
    numbers = np.repeat([english_words().index(word) for word in words], each)
    own = rng.normal(size=(numbers.size, 1280)).astype(np.float32)
    return see(ask_words().classifiers[numbers] + 0.5 * own / np.linalg.norm(own, axis=1, keepdims=True))


def vector(word):
    return tables().words[english_words().index(word)]


def test_pictures_are_ranked_and_what_is_not_there_is_refused():
    seen = seen_of(("elephant", "kitchen", "sailboat"))
    found = rank_pictures(seen, vector("kitchen"))
    assert set(found.rows[:10].tolist()) == set(range(10, 20)) and found.answer == "plain"
    scores = score(seen, ask(vector("kitchen")))[:, 0]
    assert found.rows.tolist() == np.argsort(-scores, kind="stable").tolist()
    assert np.isclose(found.best, np.sort(scores)[-5:].mean())
    assert found.n_shown == max(12, int((scores >= 0.45).sum()))
    absent = rank_pictures(seen, vector("wedding"))
    assert absent.answer == "none" and absent.rows.size == 30


def test_answers_by_the_mean_of_the_five_best():
    def ranked(best):
        seen = Seen(np.zeros((1, 1280), np.float32), np.zeros((1, 384), np.float32), np.zeros(1, np.float32))
        found = rank_pictures(seen, vector("dog"))
        return type(found)(found.rows, found.scores, best, 1).answer

    assert [ranked(best) for best in (0.56, 0.5, 0.449)] == ["plain", "weak", "none"]


def test_rows_without_a_picture_are_not_ranked():
    seen = seen_of(("dog",), 3)
    holes = see(np.concatenate([seen.rows, np.full((2, 1280), np.nan, np.float32)]))
    assert sorted(rank_pictures(holes, vector("dog")).rows.tolist()) == [0, 1, 2]
    none = rank_pictures(holes[3:], vector("dog"))
    assert (none.rows.size, none.n_shown, none.answer) == (0, 0, "none")


def test_the_bridge_is_the_ridge_written_out():
    seen, rng = seen_of(("dog", "boat", "pizza", "castle")), np.random.default_rng(1)
    said = rng.normal(size=(40, 384))
    bridge = Bridge(seen, said)
    X, Y = seen.rows.astype(np.float64), said
    centred = X - X.mean(axis=0)
    weights = np.linalg.solve(centred.T @ centred + np.eye(1280), centred.T @ (Y - Y.mean(axis=0)))
    expected = centred @ weights + Y.mean(axis=0)
    expected = expected @ vector("dog") / np.linalg.norm(expected, axis=1)
    assert np.allclose(bridge.score(seen, vector("dog")), expected, atol=1e-6)
    assert np.isclose(bridge.share, 40 / 140)
    with pytest.raises(ViewError, match="40 pictures but 39 sentences"):
        Bridge(seen, said[1:])


def test_a_bridge_has_a_say_in_the_order_and_none_in_the_answer():
    seen = seen_of(("dog", "boat", "pizza"))
    said = np.concatenate([np.tile(vector(word), (10, 1)) for word in ("wedding", "boat", "pizza")])
    bridge = Bridge(seen, said)
    plain, mixed = (rank_pictures(seen, vector("wedding"), one) for one in (None, bridge))
    parts = score(seen, ask(vector("wedding")))[:, 0], bridge.score(seen, vector("wedding"))
    untrained, taught = ((part - part.mean()) / part.std() for part in parts)
    assert mixed.rows.tolist() == np.argsort(-(100 / 130 * untrained + 30 / 130 * taught)).tolist()
    assert mixed.rows.tolist() != plain.rows.tolist()
    assert (mixed.best, mixed.answer, mixed.n_shown) == (plain.best, plain.answer, plain.n_shown)


def test_sentences_that_mean_the_same_are_close_and_stand_alone():
    texts = ["A dog runs through the snow.", "a puppy plays in the snow", "stock prices fell sharply", " "]
    rows = sentence_vectors(texts)
    assert rows.shape == (4, 384) and np.allclose(np.linalg.norm(rows[:3], axis=1), 1, atol=1e-6)
    assert not rows[3].any()
    assert rows[0] @ rows[1] > 0.6 > 0.2 > rows[0] @ rows[2]
    assert np.array_equal(sentence_vectors(texts[1:2])[0], rows[1])  # the very same, alone
    with pytest.raises(ViewError, match="text 1 must be a string, got int"):
        sentence_vectors(["a", 3])


def test_the_words_of_the_tables_are_the_models():
    numbers = [english_words().index(word) for word in ("sea", "traffic light", "x-ray")]
    fresh = sentence_vectors([english_words()[number] for number in numbers])
    assert np.abs(fresh - tables().words[numbers]).max() < 0.01  # bytes by row


def test_the_views_of_sentences():
    caption, text = extractor("caption"), extractor("text")
    assert (caption.n_features, text.n_features, caption.reads, text.reads) == (384, 768, "text", "text")
    long = " ".join(["A dog runs on the beach."] * 30 + ["The stock market fell."] * 40)
    short, rows = "a dog on the beach", text.extract([long, "a dog on the beach"])
    assert np.allclose(np.linalg.norm(rows.reshape(4, 384), axis=1), 1, atol=1e-5)
    assert np.allclose(rows[1, :384], caption.extract([short])[0], atol=1e-6)  # one part: its mean is itself
    words = long.split()
    parts = sentence_vectors(" ".join(words[i : i + 100]) for i in range(0, len(words), 100))
    mean, most = parts.mean(axis=0), parts.max(axis=0)
    assert np.allclose(rows[0], np.concatenate([mean / np.linalg.norm(mean), most / np.linalg.norm(most)]), atol=1e-6)
    assert text.extract([]).shape == (0, 768)


def test_english_is_told_from_other_languages():
    assert is_english(["A man in a blue shirt is standing on a ladder.", "Two dogs fight over a toy"])
    assert not is_english(["Zwei Hunde spielen im tiefen Schnee", "Eine Frau läuft am Strand entlang"])
    assert not is_english(["Deux chiens jouent dans la neige fraîche", "Une femme court sur la plage"])
    assert not is_english([]) and not is_english(["123 456"])


def test_the_model_is_loaded_when_asked_and_dropped_after_a_while(monkeypatch):
    started = []

    class Clock:
        def __init__(self, seconds, call):
            self.seconds, self.call = seconds, call

        def start(self):
            started.append(self)

        def cancel(self):
            started.remove(self)

    monkeypatch.setattr(sentences.threading, "Timer", Clock)
    model = sentences.TextModel(sentences._load_english, 384)
    assert not model.is_loaded
    model.vectors(["a"])
    model.vectors(["b"])
    assert model.is_loaded and [clock.seconds for clock in started] == [300.0]  # counted from the last use
    started[0].call()
    assert not model.is_loaded
    assert model.vectors(["b"]).any()


def test_names_and_guesses_load_no_text_model():
    code = (
        "import sys, numpy as np\nfrom manyview import meaning, Collection\n"
        "seen = meaning.see(np.ones((4, 1280)))\nmeaning.guess_words(seen, [0, 0, 1, 1])\n"
        "print(*[name for name in ('onnxruntime', 'tokenizers') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == []


def test_words_in_the_language_of_the_machine(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    assert language_here() == "de" and photo_words()[0] == "Strand"
    monkeypatch.setenv("LC_ALL", "fi_FI.UTF-8")
    assert language_here() == "en" and photo_words()[0] == "beach"
    assert (as_english("Sonnenuntergang"), as_english("PLAGE"), as_english("sea")) == ("sunset", "beach", "sea")
    assert as_english("meer", "nl") == "lake" and as_english("meer", "de") == "sea"
    assert as_english("a red bicycle") == "a red bicycle"
    assert [as_english(word) for word in ("water", "arena", "ape")] == ["water", "arena", "ape"]  # Italian has them too
    assert as_english("water", "it") == "toilet"
    with pytest.raises(ParameterError, match="language must be one of"):
        photo_words("xx")
