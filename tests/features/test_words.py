"""Text and tags as sparse rows, with a vocabulary that can be kept."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from manyview.errors import ParameterError, ViewError
from manyview.features.base import extractor
from manyview.features.words import split_words

TEXTS = ["The cat sat. The cat slept!", "a cat and a dog", "dogs and cats; a dog", "", "dog days"]


class TestSplit:
    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("Don't stop_me, now 2x!", ["don't", "stop", "me", "now", "2x"]),
            ("ÉTÉ e\u0301te\u0301 Straße", ["été", "été", "strasse"]),
            ("हिन्दी में लिखा", ["हिन्दी", "में", "लिखा"]),
            ("Привет мир", ["привет", "мир"]),
            ("東京都 cafe日本", ["東京", "京都", "cafe", "日本"]),
            ("日", ["日"]),
            ("\ufb01ne \uff21\uff22\uff23", ["fine", "abc"]),
            ("", []),
            ("... --- ''", []),
        ],
    )
    def test_any_script(self, text, words):
        assert split_words(text) == words


class TestWords:
    def made(self, **options):
        found = extractor("words", **options)
        found.learn(TEXTS)
        return found

    def test_equal_to_scikit_learn(self):
        theirs = TfidfVectorizer(analyzer=split_words, sublinear_tf=True, min_df=2, max_df=0.6)
        expected = theirs.fit_transform(TEXTS)
        ours = self.made(max_share=0.6)
        assert list(ours.columns) == list(theirs.get_feature_names_out()) == ["a", "and", "cat", "dog"]
        rows = ours.extract(TEXTS)
        assert rows.dtype == np.float32 and rows.has_canonical_format
        np.testing.assert_allclose(rows.toarray(), expected.toarray(), atol=1e-6)
        np.testing.assert_array_equal(rows.getnnz(axis=1) > 0, [True, True, True, False, True])

    def test_common_words_go(self):
        assert self.made().columns == ("a", "and", "cat")  # dog is in three of five
        assert self.made(min_texts=3, max_share=1.0).columns == ("dog",)

    def test_the_most_frequent_stay(self):
        assert self.made(max_words=1, max_share=1.0).columns == ("dog",)
        assert self.made(max_words=2, max_share=1.0).columns == ("a", "dog")  # ties: by the alphabet

    def test_one_text_keeps_its_words(self):
        found = extractor("words", min_texts=1)
        found.learn(["one text"])
        assert found.columns == ("one", "text")

    def test_new_texts_and_state(self):
        first, again = self.made(), extractor("words")
        state = first.state()
        assert isinstance(state["names"], list) and state["weights"].dtype == np.float64
        again.restore(state)
        np.testing.assert_array_equal(
            again.extract(["cat unseen", "unseen"]).toarray(), first.extract(["CAT", ""]).toarray()
        )
        assert again.extract([]).shape == (0, 3)

    def test_trouble(self):
        with pytest.raises(ParameterError, match="words has learned no vocabulary yet: call learn with the texts"):
            extractor("words").extract(["a"])
        with pytest.raises(ViewError, match="text 1 must be a string, got float"):
            extractor("words").learn(["a", 1.5])
        with pytest.raises(ParameterError, match="must hold names and as many weights"):
            extractor("words").restore({"names": ["a"], "weights": [1.0, 2.0]})
        with pytest.raises(ParameterError, match="max_share must be"):
            extractor("words", max_share=0)


class TestTags:
    TAGS = (["Dog", "beach"], ["dog"], [], ["DOG", "dog", "Hund"])

    def test_matrix_by_hand(self):
        made = extractor("tags")
        made.learn(self.TAGS)
        assert made.columns == ("beach", "dog", "Hund")
        rows = made.extract(self.TAGS)
        np.testing.assert_array_equal(rows.toarray(), [[1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 1, 1]])
        assert rows.dtype == np.float32

    def test_rare_and_unknown_ones(self):
        made, again = extractor("tags", min_items=2), extractor("tags", min_items=2)
        made.learn(self.TAGS)
        assert made.columns == ("dog",)
        again.restore(made.state())
        np.testing.assert_array_equal(again.extract([["DOG", "new"], ["new"]]).toarray(), [[1], [0]])
        with pytest.raises(ParameterError, match="call learn with the lists of tags"):
            extractor("tags").extract([["a"]])
