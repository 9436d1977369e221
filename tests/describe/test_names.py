"""Names of clusters: the score by hand, the choice of words, and what must never happen."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from manyview import name_clusters
from manyview.data.tags import TagTable
from manyview.describe._grouping import check_grouping
from manyview.describe.tag_shares import count_tags, surprise
from manyview.describe.text_words import as_words
from manyview.errors import ParameterError, ViewError
from manyview.meaning import Guess


def named(labels, tags=None, **options):
    return {label: name.name for label, name in name_clusters(labels, tags, **options).items()}


def test_surprise_by_hand():
    # 8 of 10 here, 2 of 10 elsewhere; every expectation is 5
    expected = 2 * 2 * (8 * np.log(8 / 5) + 2 * np.log(2 / 5))
    assert surprise(8, 10, 10, 20) == pytest.approx(expected)
    assert surprise(2, 10, 10, 20) == pytest.approx(-expected)
    assert surprise(5, 10, 10, 20) == 0
    # all of 3 here, none of 3 elsewhere: only two cells are filled, each twice what is expected
    assert surprise(3, 3, 3, 6) == pytest.approx(2 * (3 * np.log(2) + 3 * np.log(2)))


def test_surprise_is_mutual_information(seed):
    rng = np.random.default_rng(seed)
    inside, has = rng.random((2, 50)) < 0.3
    value = surprise((inside & has).sum(), inside.sum(), has.sum(), 50)
    assert abs(value) == pytest.approx(2 * 50 * mutual_info_score(inside, has))


def test_two_of_two_is_weaker_than_eighty_of_a_hundred():
    rare = surprise(2, 100, 2, 1000)
    common = surprise(80, 100, 160, 1000)
    assert 0 < rare < common
    labels = [0] * 100 + [1] * 900
    tags = [["common"] + (["rare"] if i < 2 else []) if i < 80 else ["x"] for i in range(100)]
    tags += [["common"] if i < 80 else ["y"] for i in range(900)]
    assert named(labels, tags)[0] == "common"


def test_untagged_items_do_not_count_and_a_no_does():
    table = TagTable.from_lists([["dog"], ["cat"], [], [], ["cat"], ["cat"], []], no=[[], [], ["dog"], [], [], [], []])
    counts = count_tags(table, check_grouping([0, 0, 0, 0, 1, 1, 1]))
    cat, dog = counts.shares(0, np.array([table.index("cat"), table.index("dog")]))
    # cat: 1 of 2 tagged members, 3 of 4 tagged items; dog: the item that is no dog counts too
    assert (cat.count, cat.looked_at, cat.expected, cat.share_elsewhere) == (1, 2, 1.5, 1.0)
    assert cat.lift == pytest.approx(2 / 3)
    assert (dog.count, dog.looked_at) == (1, 3)
    assert dog.expected == pytest.approx(3 * 1 / 5)
    assert dog.lift == pytest.approx(5 / 3)
    assert cat.score < 0 < dog.score


def test_a_synonym_adds_nothing_and_a_second_theme_does():
    dogs = [["dog", "hound"]] * 10
    boats = [["boat"]] * 8
    rest = [["tree"]] * 40
    assert named([0] * 18 + [1] * 40, dogs + boats + rest)[0] == "dog, boat"


def test_a_word_that_tells_two_like_clusters_apart_is_found():
    flags = [[["flag"], ["flag", word]][i % 2] for word in ("island", "desert") for i in range(10)]
    names = named([0] * 10 + [1] * 10 + [2] * 20, [*flags, *[["face"]] * 20])
    assert names == {0: "flag, island", 1: "flag, desert", 2: "face"}


def test_words_of_a_name_do_not_repeat():
    tags = [["red heart", "heart"]] * 6 + [["heart"]] * 6 + [["x"]] * 30
    assert named([0] * 12 + [1] * 30, tags)[0] == "heart"


def test_a_tag_on_too_few_members_gives_way_to_words_then_to_items():
    labels = [0] * 30 + [1] * 30
    texts = ["the sea at night"] * 30 + ["the cat"] * 30
    cats = [["cat"]] * 30
    single = [[f"t{i}"] for i in range(30)]
    assert named(labels, [*[["odd"]] * 3, *single[3:], *cats])[0] == "odd"  # every tenth member
    assert named(labels, [*[["odd"]] * 2, *single[2:], *cats])[0] == "Group 0"  # two are too few
    untagged = [[]] * 40
    few = [0] * 70 + [1] * 30
    assert named(few, [*[["odd"]] * 3, *[[]] * 27, *untagged, *cats])[0] == "Group 0"  # every twentieth of all members
    assert named(few, [*[["odd"]] * 4, *[[]] * 26, *untagged, *cats])[0] == "odd"
    thin = [["odd"], *[[f"t{i}"] for i in range(29)], *[["cat"]] * 30]
    found = name_clusters(labels, thin, words=texts)
    assert (found[0].source, set(found[0].words) <= {"sea", "night"}) == ("words", True)
    assert (found[1].name, found[1].source) == ("cat", "tags")
    plain = {"label": 0, "name": "Group 0", "words": ["Group 0"], "source": "number", "is_guess": False, "hint": []}
    assert name_clusters(labels, thin)[0].to_dict() == {**plain, "lift": None}


def guess(*words, lift=0.6, sure=0.3):
    return Guess(words, tuple(range(len(words))), lift, sure)


def test_what_is_seen_names_where_nobody_said_anything_and_is_marked():
    labels = np.repeat([0, 1, 2, 3], 10)
    tags = [["dog"]] * 10 + [[]] * 30
    seen = {0: guess("cat"), 1: guess("sea", "ocean", "coast"), 2: guess("stamp", "box", "bag", sure=0.1)}
    found = name_clusters(labels, tags, guesses=seen)
    assert (found[0].name, found[0].is_guess) == ("dog", False)  # tags first
    assert (found[1].name, found[1].words, found[1].source) == ("sea, ocean?", ("sea", "ocean"), "looks")
    assert found[1].is_guess
    assert (found[2].name, found[2].is_guess, found[2].hint) == ("Group 2", False, ("stamp", "box", "bag"))
    assert (found[3].name, found[3].hint) == ("Group 3", ())
    twice = name_clusters(labels, guesses={c: guess("sea", "ocean", "coast", lift=0.6 - c / 100) for c in range(3)})
    assert [twice[c].name for c in range(3)] == ["sea, ocean?", "sea, ocean, coast?", "sea, ocean (2)?"]


def test_a_folder_that_half_of_everything_is_in_names_nothing():
    """Two folders, three clusters: one is a folder, two are spread over both as chance has it."""
    labels = [0] * 40 + [1] * 40 + [2] * 10
    folders = [["a"]] * 22 + [["b"]] * 18 + [["a"]] * 17 + [["b"]] * 23 + [["Rome"]] * 10
    dates = [["2024"] if n % 5 < 3 else ["2023"] for n in range(80)] + [["2019"]] * 10
    seen = {0: guess("skiing"), 2: guess("church")}
    found = name_clusters(labels, folders=folders, dates=dates, guesses=seen)
    assert {label: name.name for label, name in found.items()} == {0: "skiing?", 1: "Group 1", 2: "Rome"}


def test_folders_name_before_guesses_and_dates_after():
    labels = np.repeat([0, 1, 2], 10)
    folders = [["Rome"]] * 6 + [["Oslo"]] * 4 + [[f"f{i}"] for i in range(10)] + [["Paris"]] * 4 + [["x"]] * 6
    dates = [["2019"]] * 20 + [["2021", "2021-07"]] * 10
    seen = {0: guess("sea", "ocean"), 1: guess("dog", "puppy")}
    found = name_clusters(labels, folders=folders, dates=dates, guesses=seen)
    assert {c: (one.name, one.source) for c, one in found.items()} == {
        0: ("Rome", "folders"),
        1: ("dog, puppy?", "looks"),
        2: ("x", "folders"),
    }
    assert name_clusters(labels, dates=dates)[2].source == "dates"


def test_words_that_all_items_have_and_stop_words_name_nothing():
    texts = ["the dog on the photo"] * 10 + ["a cat with a photo"] * 10 + ["der Hund auf dem Foto"] * 1
    found = name_clusters([0] * 10 + [1] * 10 + [-1], words=texts)
    assert {c: one.name for c, one in found.items()} == {0: "dog", 1: "cat"}
    german = ["Der Hund hat die Katze"] * 6 + ["Das Boot ist auf dem See"] * 6
    assert named([0] * 6 + [1] * 6, words=german) in (
        {0: "Hund", 1: "Boot"},
        {0: "Katze", 1: "See"},
        {0: "Hund", 1: "See"},
    )
    hats = ["a hat and the man"] * 6 + ["the boat and a dog"] * 6
    assert named([0] * 6 + [1] * 6, words=hats)[0] in ("hat", "man")  # stop words of another language


def test_a_tag_on_most_items_names_none():
    tags = [["photo", "x"]] * 10 + [["photo", "dog"]] * 10 + [["sea", "photo"]] * 6 + [["sea"]] * 4
    assert named(np.repeat([0, 1, 2], 10), tags) == {0: "x", 1: "dog", 2: "sea"}
    most = [["dog"]] * 20 + [["cat"]] * 10  # a cluster that is most of the collection may have its word
    assert named([0] * 20 + [1] * 10, most) == {0: "dog", 1: "cat"}


def test_any_script():
    tags = [["कुत्ता"]] * 4 + [["مسجد"]] * 4 + [["富士山", "山"]] * 4 + [["🐕"]] * 4
    assert named(np.repeat([0, 1, 2, 3], 4), tags) == {0: "कुत्ता", 1: "مسجد", 2: "富士山", 3: "🐕"}
    texts = ["हिन्दी भाषा"] * 4 + ["Ünïcode naïve"] * 4
    words = name_clusters(np.repeat([0, 1], 4), words=texts)
    assert set(words[0].words) <= {"हिन्दी", "भाषा"} and set(words[1].words) <= {"Ünïcode", "naïve"}


def test_sentences_and_punctuation_are_no_names():
    tags = [["*", "a" * 61, "dog"]] * 5 + [["cat"]] * 5
    assert named([0] * 5 + [1] * 5, tags)[0] == "dog"


def test_same_words_in_another_order_are_the_same_name():
    tags = [["a", "b"]] * 20 + [["c"]] * 20
    labels = [0] * 10 + [1] * 10 + [2] * 20
    names = named(labels, tags)
    assert len({frozenset(name.split(", ")) for name in names.values()}) == 3
    reads_alike = [["a, b"]] * 9 + [["a", "b"]] * 9 + [["c"]] * 20
    assert len(set(named([0] * 9 + [1] * 9 + [2] * 20, reads_alike, max_words=2).values())) == 3
    assert named([3, 4, 5], names={3: "group 4"}) == {3: "group 4", 4: "Group 4 (2)", 5: "Group 5"}


words = st.lists(st.sampled_from(["dog", "Dog", "cat", "red cat", "sea", "犬", "<b>", "x y"]), max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 4), words), min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_names_are_distinct_ours_and_blind_to_order(items, random):
    labels = [label for label, _ in items]
    tags = [row for _, row in items]
    found = name_clusters(labels, tags)
    assert sorted(found) == sorted(set(labels) - {-1})
    assert len({name.name.casefold() for name in found.values()}) == len(found)
    vocabulary = {word for row in tags for word in row} | {f"Group {label}" for label in labels}
    assert {re.sub(r" \(\d+\)$", "", word) for name in found.values() for word in name.words} <= vocabulary
    order = list(range(len(items)))
    random.shuffle(order)
    assert name_clusters([labels[i] for i in order], [tags[i] for i in order]) == found


@pytest.mark.parametrize("tags", [None, [[], [], []], np.zeros((3, 0)), np.zeros((3, 4))])
def test_no_tags_at_all(tags):
    assert named([0, 0, 1], tags) == {0: "Group 0", 1: "Group 1"}


def test_what_english_writes_short_is_no_word():
    texts = ["I don\u2019t, they\u2019ve it, the sailor's"] * 6 + ["we'll and it isn't, a horse's"] * 6
    assert set(as_words(texts, 12).names) == {"they", "it", "the", "sailor", "we", "and", "horse"}


def test_degenerate_labels():
    assert named([0, 0, 0], [["b", "a"], ["a"], ["a"]]) == {0: "a"}  # nothing to compare with: the most frequent
    assert name_clusters([-1, -1], [["a"], ["b"]]) == {}
    assert name_clusters([], []) == {}
    assert list(name_clusters([7, 2, 7], [["a"], ["b"], ["a"]])) == [2, 7]  # 3, 4, 5, 6 hold nothing
    assert named([0, 1], [["a"], ["a"]]) == {0: "Group 0", 1: "Group 1"}  # a says nothing of either


def test_names_of_the_owner_hold_and_are_not_given_twice():
    tags = [["dog"]] * 6 + [["cat"]] * 6 + [["dog", "boat"]] * 6
    found = name_clusters(np.repeat([0, 1, 2], 6), tags, names={1: "Dog", 0: " ", 8: "gone"})
    assert (found[1].name, found[1].source) == ("Dog", "owner")
    assert found[2].name == "boat" and found[0].name == "dog (2)"
    assert list(found) == [0, 1, 2]


def test_errors_say_what_to_do():
    with pytest.raises(ParameterError, match="one integer per item, got float64"):
        name_clusters([0.5, 1.0], [["a"], ["b"]])
    with pytest.raises(ParameterError, match="at least -1 .* got -3 for item 1"):
        name_clusters([0, -3], [["a"], ["b"]])
    with pytest.raises(ViewError, match="tags describe 1 items but there are 2"):
        name_clusters([0, 1], [["a"]])
    with pytest.raises(ViewError, match="words describe 1 items but there are 2"):
        name_clusters([0, 1], words=["a"])
    with pytest.raises(ParameterError, match="max_words must be an integer"):
        name_clusters([0, 1], max_words=0)
