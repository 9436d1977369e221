"""A bag of visual words as an extractor."""

import numpy as np
import pytest

from manyview import BagOfWords
from manyview.errors import ParameterError
from manyview.features import base
from manyview.features.transformed import Transformed

PICTURES = list(np.random.default_rng(0).integers(0, 256, (4, 48, 48), dtype=np.uint8))


def visual_words(n_words=8):
    return Transformed("visual_words", BagOfWords(n_words, step=16, random_state=0))


def test_rows_are_the_transformers_own(monkeypatch):
    monkeypatch.setattr(base, "_ANNOUNCED", {})
    base.register_extractor("visual_words", visual_words)
    made = base.extractor("visual_words", n_words=6)
    made.learn(PICTURES, n_jobs=1)
    rows = made.extract(PICTURES, n_jobs=2)
    expected = BagOfWords(6, step=16, random_state=0).fit_transform(PICTURES)
    assert rows.dtype == np.float32 and made.columns[:2] == ("word0", "word1") and made.n_features == 6
    np.testing.assert_array_equal(rows.toarray(), expected.toarray())


def test_state_goes_back():
    first, again = visual_words(), visual_words()
    with pytest.raises(ParameterError, match="visual_words has learned nothing yet"):
        again.extract(PICTURES)
    first.learn(PICTURES)
    assert set(first.state()) == {"words_", "n_descriptors_"}
    again.restore(first.state())
    np.testing.assert_array_equal(again.extract(PICTURES).toarray(), first.extract(PICTURES).toarray())
    with pytest.raises(ParameterError, match="'n_words', which is no fitted attribute"):
        again.restore({"n_words": 3})


def test_version_knows_settings_but_not_threads():
    first = visual_words().version
    assert "BagOfWords" in first and "n_words=8" in first and "n_jobs" not in first
    made = visual_words()
    made.transformer.set_params(n_jobs=3, verbose=1)
    assert made.version == first != visual_words(9).version
