"""Tags: yes, no and unknown; spellings; changes and the way back."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix

from manyview.data.near_words import near_words
from manyview.data.tags import TagTable, as_tag_table
from manyview.errors import ViewError


def rows(matrix):
    return matrix.toarray().astype(int).tolist()


def test_a_table_of_three_items_by_hand():
    table = TagTable.from_lists([["dog", "beach"], ["beach"], []], no=[[], ["dog"], []])
    assert table.names == ("beach", "dog") and table.shape == (3, 2) and len(table) == 3
    assert rows(table.yes) == [[1, 1], [1, 0], [0, 0]]
    assert rows(table.no) == [[0, 0], [0, 1], [0, 0]]
    assert table.words_of(0) == ["beach", "dog"] and table.words_of(-1) == []
    assert table.assume_unknown_is_no().tolist() == [[1, 1], [1, 0], [0, 0]]
    assert table.yes.dtype == np.float32 and "3 items" in repr(table)


def test_spellings_that_differ_in_case_or_unicode_form_are_one_tag_shown_as_people_write_it():
    words = [["Café"], ["CAFÉ"], ["café"], ["café"], ["猫"], ["кот"], ["Straße"]]
    table = TagTable.from_lists(words)
    assert set(table.names) == {"café", "猫", "кот", "Straße"}
    assert table.index("CAFÉ") == table.index("cafe\u0301") == table.names.index("café")
    assert table.index("STRASSE") == table.names.index("Straße")
    assert table.index("кот".upper()) == table.names.index("кот")
    assert "猫" in table and "犬" not in table and 3 not in table
    assert table.yes[:, table.index("café")].sum() == 4


def test_the_order_of_items_does_not_change_the_vocabulary():
    words = [["b", "A"], ["a"], ["B"], ["c", "é"]]
    assert TagTable.from_lists(words).names == TagTable.from_lists(words[::-1]).names == ("a", "b", "c", "é")


@pytest.mark.parametrize("kind", [np.array, csr_matrix, csr_array, lambda v: np.array(v, dtype=bool), lambda v: v])
def test_matrices_of_any_kind(kind):
    table = as_tag_table(kind([[1, 0, 1], [0, 0, 0]]), 2)
    assert table.names == ("tag0", "tag1", "tag2") and rows(table.yes) == [[1, 0, 1], [0, 0, 0]]
    assert as_tag_table(table) is table


def test_a_sparse_matrix_with_doubles_and_stored_zeros():
    given = csr_matrix((np.array([1.0, 0.0, 1.0]), np.array([2, 1, 0]), np.array([0, 3])), shape=(1, 3))
    before = given.data.copy()
    assert TagTable.from_matrix(given).yes.nnz == 2
    assert np.array_equal(given.data, before) and given.data.flags.writeable


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: as_tag_table([["a"], "bc"]), "item 1 has 'bc'"),
        (lambda: as_tag_table("abc"), "list of words for each item"),
        (lambda: as_tag_table({"a": 1}), "list of words"),
        (lambda: as_tag_table([["a", " "]]), "item 0 has ' '"),
        (lambda: as_tag_table([["a", 3]]), "item 0 has 3"),
        (lambda: as_tag_table([["a"], 5]), "item 1 has 5"),
        (lambda: as_tag_table(np.array([[2, 0]])), "item 0 has 2 for tag 0"),
        (lambda: as_tag_table(np.array([[np.nan, 0]])), "item 0 has nan"),
        (lambda: as_tag_table(np.array([1, 0])), "2-D table"),
        (lambda: as_tag_table([["a"]], 2), "describe 1 items but there are 2"),
        (lambda: TagTable.from_lists([["a"]], names=["b"]), "item 0 has tag 'a'"),
        (lambda: TagTable.from_lists([["a"]], no=[["A"]]), "both as yes and as no"),
        (lambda: TagTable.from_lists([["a"]], no=[]), "no has 0 lists"),
        (lambda: TagTable.from_matrix([[1]], no=[[1, 0]]), "no has shape"),
        (lambda: TagTable.from_matrix([[1, 0]], names=["a"]), "one word per tag"),
        (lambda: TagTable.from_matrix([[1, 0]], names=["a", "a"]), "distinct"),
        (lambda: TagTable.from_matrix([[1, 0]], names=["a", ""]), "must be a word"),
        (lambda: TagTable.from_lists([["a"]]).index("b"), "no tag 'b'"),
        (lambda: TagTable.from_matrix([[1, 0]], names=["Dog", "DOG"]).index("dog"), "could be any of"),
        (lambda: TagTable.from_lists([["a"]]).with_yes(3, "a"), "no item 3"),
        (lambda: TagTable.from_lists([["a"]]).with_yes(0, 7), "no tag number 7"),
        (lambda: TagTable.from_lists([["a"]]).with_yes(0, [0.7]), "no tag number 0.7"),
        (lambda: TagTable.from_lists([["a"]] * 2).with_yes([True, False], "a"), "numbers of rows; got bool"),
        (lambda: TagTable.from_lists([["a"]] * 2).with_no([0.7], "a"), "numbers of rows; got float64"),
        (lambda: TagTable.from_lists([["a"]] * 2)[[0.7]], "array of integers or one of booleans"),
        (lambda: TagTable.from_lists([["a"]] * 2)[np.array([True])], "needs 2 entries, got 1"),
        (lambda: TagTable.from_lists([["a"]] * 3).with_yes([0, 1, 2], ["a", "b"]), "pair up"),
        (lambda: TagTable.from_lists([["a"]])[np.eye(1, dtype=int)], "1-D"),
        (lambda: TagTable.from_lists([["a"]]).merge_twins(["a"]), "groups of spellings"),
        (lambda: TagTable.from_lists([["a", "b"]]).merge_twins([("a", "b"), ("b", "a")]), "in two groups"),
    ],
)
def test_errors_say_what_is_wrong(make, words):
    with pytest.raises(ViewError, match=words):
        make()


def test_changes_give_a_new_table_and_yes_takes_the_place_of_no():
    table = TagTable.from_lists([["a"], [], ["b"]])
    more = table.with_yes([0, 1], "b").with_no(2, ["A", "c"])
    assert rows(table.yes) == [[1, 0], [0, 0], [0, 1]] and more.names == ("a", "b", "c")
    assert rows(more.yes) == [[1, 1, 0], [0, 1, 0], [0, 1, 0]] and rows(more.no) == [[0, 0, 0], [0, 0, 0], [1, 0, 1]]
    turned = more.with_yes(2, "c").with_no(0, 0)
    assert turned.words_of(2) == ["b", "c"] and rows(turned.no)[0] == [1, 0, 0] and rows(turned.no)[2] == [1, 0, 0]
    assert rows(turned.with_unknown([0, 2], [0, 2]).no) == [[0, 0, 0], [0, 0, 0], [1, 0, 0]]
    with pytest.raises(ValueError, match="read-only"):
        table.yes.data[0] = 5


def test_rows_and_copies():
    table = TagTable.from_lists([["a"], ["b"], []], no=[["b"], [], ["a"]])
    assert table[[2, 0]] == TagTable.from_matrix([[0, 0], [1, 0]], ["a", "b"], no=[[1, 0], [0, 1]])
    assert table[table.yes.getnnz(axis=1) > 0].n_items == 2 and table[1:].n_items == 2 and table[[]].n_items == 0
    assert pickle.loads(pickle.dumps(table)) == table and table != table[:2] and table != 3  # noqa: S301


def test_numbers_are_no_twins_of_each_other():
    table = TagTable.from_lists([["1", "-1", "+1", "2019-06", "201906", "1 2", "12"], ["a-1", "a1"], ["1", "-1"]])
    assert [set(group) for group in table.twins()] == [{"a-1", "a1"}] and table.near_twins() == []


def test_twins_are_shown_merged_and_given_back():
    words = [["t-shirt", "dog"], ["T shirt"], ["tshirt", "café"], ["cafe"], ["café"], []]
    table = TagTable.from_lists(words, no=[[], ["tshirt"], [], [], [], ["t-shirt"]])
    assert sorted(map(sorted, table.twins())) == [["T shirt", "t-shirt", "tshirt"], ["cafe", "café"]]
    assert next(group for group in table.twins() if "cafe" in group)[0] == "café"  # the more frequent one
    merge = table.merge_twins()
    assert merge.table.n_tags == 3 and merge.groups["café"] == ("cafe",)
    kept = next(name for name in merge.table.names if "shirt" in name)
    assert merge.table.yes[:, merge.table.index(kept)].sum() == 3  # yes holds where another spelling said no
    assert merge.table.no[1].nnz == 0 and merge.table.no[5].nnz == 1
    assert merge.undo() == table
    later = merge.table.with_yes([3, 5], "dog").with_unknown(4, "café").with_no(0, "café").with_yes(2, "new")
    back = merge.undo(later)
    assert back.names == (*table.names, "new")
    assert back.words_of(3) == ["cafe", "dog"] and back.words_of(4) == [] and "new" in back.words_of(2)
    assert back.no[0].nnz == 1 and back.words_of(1) == ["T shirt"]
    with pytest.raises(ViewError, match="undo needs"):
        merge.undo(table)


def test_marks_of_other_scripts_are_not_accents():
    table = TagTable.from_lists([["мой", "мои", "が", "か", "कि", "का", "a-b", "a_b"]])
    assert [set(group) for group in table.twins()] == [{"a-b", "a_b"}]
    assert TagTable.from_lists([["-", "_"]]).twins() == []


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(["a", "A b", "ab", "a-b", "é", "e", "x"]), max_size=4), min_size=1, max_size=6),
    st.integers(0, 10**6),
)
def test_merging_and_undoing_loses_nothing(words, seed):
    table = TagTable.from_lists(words)
    merge = table.merge_twins()
    assert merge.undo() == table
    assert merge.table.twins() == []
    rng = np.random.default_rng(seed)
    if table.n_tags:
        item, tag = int(rng.integers(table.n_items)), int(rng.integers(merge.table.n_tags))
        again = merge.undo(merge.table.with_yes(item, tag))
        assert merge.table.names[tag] in again.names and again.yes[item].nnz >= table.yes[item].nnz
        gone = merge.undo(merge.table.with_unknown(item, tag))
        assert merge.table.names[tag] not in gone.words_of(item)


def test_near_twins():
    rows = [["Cat"], ["cats"], ["cats"], ["berry"], ["berries"], ["wolf"], ["wolves"], *[["bridge"]] * 5, ["brigde"]]
    rows += [["bus"], ["boat"], ["goat"], ["IMG10001"], ["IMG10002"], ["house"], ["horse"]]
    found = {frozenset((pair.kept, pair.other)): pair for pair in TagTable.from_lists(rows).near_twins()}
    one_and_many = [{"Cat", "cats"}, {"berry", "berries"}, {"wolf", "wolves"}]
    assert found.keys() == {*map(frozenset, one_and_many), frozenset({"bridge", "brigde"})}
    assert found[frozenset({"Cat", "cats"})].kept == "cats"
    assert found[frozenset({"bridge", "brigde"})] == ("bridge", "brigde", "letter")


def test_two_words_that_both_exist_are_no_slip_of_each_other():
    counts = {"mountain": 60, "fountain": 9, "moutain": 2, "wood": 8, "wooden": 20, "Blume": 4, "Blumen": 3, "trees": 2}
    known = {"mountain", "fountain", "wood", "wooden", "tree", "trees"}
    found = [(pair.kept, pair.other, pair.kind) for pair in near_words(counts | {"tree": 30}, known)]
    assert found == [("tree", "trees", "number"), ("Blume", "Blumen", "number"), ("mountain", "moutain", "letter")]
    without = {(pair.kept, pair.other) for pair in near_words(counts)}
    assert {("mountain", "fountain"), ("wooden", "wood")} <= without


def test_a_frame_names_its_tags():
    frame = pd.DataFrame({"sea": [1, 0], "sand": [0, 1]})
    assert TagTable.from_matrix(frame).names == as_tag_table(frame).names == ("sea", "sand")
    assert TagTable.from_matrix(frame, names=["a", "b"]).names == ("a", "b")
    assert TagTable.from_matrix(frame.astype(pd.SparseDtype("float", 0))) == TagTable.from_matrix(frame)
    with pytest.raises(ViewError, match="'no' has the same columns in another order than in tags"):
        TagTable.from_matrix(frame, no=1 - frame[["sand", "sea"]])
