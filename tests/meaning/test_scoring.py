"""The score: against its definition written out, alone and in a batch, and what is no picture."""

import hashlib

import numpy as np
import pytest

from manyview.errors import ViewError
from manyview.features.embedding import DEFAULT_MODEL
from manyview.meaning.scoring import ask, ask_words, score, see
from manyview.meaning.tables import LANGUAGES_TABLE, PICTURE_MODEL, TABLES, tables
from manyview.meaning.words import english_words


@pytest.fixture(scope="module")
def rows():
    """Rows that the network could give: each like a few of its classes."""
    rng = np.random.default_rng(0)
    mixed = rng.gamma(0.3, size=(60, 1000)) @ np.maximum(tables().weight, 0)
    return (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)


def by_definition(row, vector):
    """The score of one picture and one text, step by step as it is defined, in float64."""
    known = tables(vector.size)
    W, b, C = (np.asarray(part, dtype=np.float64) for part in (known.weight, known.bias, known.classes))
    x = row.astype(np.float64) / np.linalg.norm(row.astype(np.float64))
    q = vector.astype(np.float64)
    logits = [8 * np.dot(x, W[c]) + b[c] for c in range(1000)]
    p = np.exp(logits) / np.sum(np.exp(logits))
    best = sorted(range(1000), key=lambda c: -p[c])[:40]
    m = sum(p[c] * C[c] for c in best)
    near = np.exp([np.dot(q, C[c]) / 0.08 for c in range(1000)])
    mean_row = W.mean(axis=0)
    w = sum(near[c] / np.sum(near) * (W[c] - mean_row) for c in range(1000))
    m, w = m / np.sqrt(np.dot(m, m)), w / np.sqrt(np.dot(w, w))
    return np.dot(m, q) + np.dot(x, w) - np.mean([np.dot(q, C[c]) for c in range(1000)])


def test_the_score_is_what_its_definition_says(rows):
    words = [english_words().index(word) for word in ("dog", "kitchen")]
    found = score(see(rows[:2]), ask(tables().words[words]))
    expected = [[by_definition(row, tables().words[word]) for word in words] for row in rows[:2]]
    assert np.allclose(found, expected, atol=2e-5)


def test_a_picture_has_the_same_score_alone_and_among_others(rows):
    together = score(see(rows), ask_words())
    alone = np.concatenate([score(see(rows[i : i + 1]), ask_words()) for i in range(0, 60, 7)])
    assert np.allclose(together[::7], alone, atol=1e-6)
    one_word = score(see(rows), ask(tables().words[[5]]))
    assert np.allclose(together[:, 5], one_word[:, 0], atol=1e-6)


def test_the_length_of_a_row_does_not_matter_and_a_mean_has_the_mean_score(rows):
    assert np.allclose(score(see(7 * rows[:5]), ask_words()), score(see(rows[:5]), ask_words()), atol=1e-6)
    seen = see(rows)
    mean = seen.mixed(np.full((1, 60), 1 / 60, dtype=np.float32))
    assert np.allclose(score(mean, ask_words())[0], score(seen, ask_words()).mean(axis=0), atol=1e-6)


def test_what_is_no_picture_has_no_score(rows):
    holes = rows[:4].copy()
    holes[1], holes[2] = np.nan, 0
    found = see(holes)
    assert found.there.tolist() == [True, False, False, True]
    assert np.isnan(score(found, ask_words())).all(axis=1).tolist() == [False, True, True, False]
    assert np.allclose(score(found, ask_words())[[0, 3]], score(see(rows[[0, 3]]), ask_words()), atol=1e-6)
    with pytest.raises(ViewError, match=r"\(n, 1280\); got \(2, 3\)"):
        see(np.zeros((2, 3)))


def test_the_tables_are_those_that_were_made_for_this_model_and_these_words():
    assert hashlib.sha256(TABLES.read_bytes()).hexdigest() == (
        "325e902e3b41411dd0834fb62207b547b9ce621390dda6832d2e6bd37a6ad5f7"
    )
    assert hashlib.sha256(DEFAULT_MODEL.read_bytes()).hexdigest().startswith(PICTURE_MODEL)
    assert tables().words.shape == (len(english_words()), 384) and tables().classes.shape == (1000, 384)
    assert TABLES.stat().st_size < 3.5e6
    assert hashlib.sha256(LANGUAGES_TABLE.read_bytes()).hexdigest() == (
        "3d1f069baa75aeaa1d11bf636e74c61d461c8e163a94d7cb52e2d403cdd7819c"
    )


def test_the_score_with_the_model_of_many_languages_is_the_same_one(rows):
    vector = tables(512).classes[3]
    seen = see(rows[:2], 512)
    assert np.allclose(score(seen, ask(vector))[:, 0], [by_definition(row, vector) for row in rows[:2]], atol=2e-5)
    with pytest.raises(ViewError, match="384 numbers, or 512 in many languages; got 7"):
        ask(np.ones(7))
