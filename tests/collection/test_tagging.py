import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview import Collection
from manyview.collection.tagging import clean_word
from manyview.data.tags import TagTable


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tagging")
    np.save(folder / "given.npy", np.arange(16.0).reshape(8, 2))
    with Collection.create(folder / "eight.manyview", folder / "given.npy") as made:
        yield made


words = st.text(st.characters(), min_size=1, max_size=8).map(clean_word).filter(bool)
spelled = st.one_of(
    st.sampled_from(["dog", "Dog", "DOG", "café", "cafe\u0301", "CAFÉ", "犬", "Straße", "STRASSE"]), words
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(spelled, max_size=5), min_size=8, max_size=8))
def test_the_table_is_that_of_the_lists(collection, lists):
    """Storing words and reading them back is the same as TagTable.from_lists, whatever the spelling."""
    collection.tagging.put({row + 1: {"file": row_words} for row, row_words in enumerate(lists)})
    expected = TagTable.from_lists([_once(row) for row in lists])
    table = collection.tags
    assert table.names == expected.names
    assert (table.yes != expected.yes).nnz == 0 and table.no.nnz == 0
    for row, row_words in enumerate(lists):
        assert sorted(collection.tagging.words_of(row + 1)) == sorted(_once(row_words))


def _once(row):
    """The first spelling of each word counts, as in a file."""
    from manyview.data.tags import match_key

    kept = {}
    for word in row:
        kept.setdefault(match_key(word), word)
    return list(kept.values())


def test_names_are_kept_and_matched_without_case_or_form(collection):
    composed, decomposed = "Fête", unicodedata.normalize("NFD", "fête")
    collection.tagging.put({n: {} for n in range(1, 9)})
    collection.tagging.put({1: {"file": [composed]}, 2: {"sidecar": [decomposed]}, 3: {"table": [decomposed]}})
    assert collection.tags.names == (decomposed,)  # the most frequent spelling is shown
    assert collection.tags.yes.sum() == 3
    assert collection.tagging.words_of(1) == [composed] and collection.tagging.words_of(2) == [decomposed]


def test_hierarchical_keywords_add_no_tag(collection):
    collection.tagging.put({n: {} for n in range(1, 9)})
    collection.tagging.put_paths({1: {"file": [("Places", "Europe", "Île-de-France")]}, 2: {"sidecar": [("Places",)]}})
    assert collection.hierarchy == [("Places",), ("Places", "Europe", "Île-de-France")]
    assert collection.tags.n_tags == 0
    collection.tagging.put_paths({1: {}, 2: {}})
    assert collection.hierarchy == []


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        (" dog ", "dog"),
        ("do\0g", "dog"),
        ("a\tb", "a b"),
        ("\x1b[31mred", "[31mred"),
        ("\ud800x", "x"),
        ("犬 ", "犬"),
        ("👩\u200d🚀", "👩\u200d🚀"),  # the joiner is part of the sign
        ("\u202egnp", "\u202egnp"),  # written as it is; whoever shows it escapes it
        ("\x00\x01", ""),
    ],
)
def test_words_lose_only_what_cannot_be_written(word, kept):
    assert clean_word(word) == kept
