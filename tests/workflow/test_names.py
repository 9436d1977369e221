"""Names of clusters: the score by hand, the choice of words, and what must never happen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from manyview import name_clusters
from manyview.data.tags import TagTable
from manyview.describe._grouping import check_grouping
from manyview.describe.tag_shares import count_tags, surprise
from manyview.errors import ParameterError, ViewError


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
    wide = [0] * 30 + [1] * 300
    assert named(wide, [*[["odd"]] * 2, *[["rare"]] * 2, *single[4:], *cats * 10])[0] == "odd, rare"  # together
    assert named(labels, [*[["odd"]] * 2, *single[2:], *cats])[0] == "#0"
    thin = [["odd"], *[[f"t{i}"] for i in range(29)], *[["cat"]] * 30]
    found = name_clusters(labels, thin, words=texts)
    assert (found[0].source, set(found[0].words) <= {"sea", "at", "night"}) == ("words", True)
    assert (found[1].name, found[1].source) == ("cat", "tags")
    items = name_clusters(labels, thin, item_names=[f"IMG_{i:03}.jpg" for i in range(60)], exemplars={0: [7, 3]})
    assert (items[0].name, items[0].source) == ("IMG_007, IMG_003", "items")
    assert name_clusters(labels, thin)[0].to_dict() == {"label": 0, "name": "#0", "words": ["#0"], "source": "number"}


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
    names = named(labels, tags, item_names=[f"i{i}" for i in range(40)])
    assert len({frozenset(name.split(", ")) for name in names.values()}) == 3
    reads_alike = [["a, b"]] * 9 + [["a", "b"]] * 9 + [["c"]] * 20
    assert len(set(named([0] * 9 + [1] * 9 + [2] * 20, reads_alike, max_words=2).values())) == 3
    all_taken = named([3, 4, 5], item_names=["#4", "#4", "#4"])
    assert len(set(all_taken.values())) == 3


words = st.lists(st.sampled_from(["dog", "Dog", "cat", "red cat", "sea", "犬", "<b>", "x y"]), max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 4), words), min_size=1, max_size=25), st.randoms(use_true_random=False))
def test_names_are_distinct_ours_and_blind_to_order(items, random):
    labels = [label for label, _ in items]
    tags = [row for _, row in items]
    item_names = [f"file {i}" for i in range(len(items))]
    found = name_clusters(labels, tags, item_names=item_names)
    assert sorted(found) == sorted(set(labels) - {-1})
    assert len({name.name.casefold() for name in found.values()}) == len(found)
    vocabulary = {word for row in tags for word in row} | set(item_names) | {f"#{label}" for label in labels}
    assert {word for name in found.values() for word in name.words} <= vocabulary
    order = list(range(len(items)))
    random.shuffle(order)
    again = name_clusters(
        [labels[i] for i in order], [tags[i] for i in order], item_names=[item_names[i] for i in order]
    )
    assert again == found


@pytest.mark.parametrize("tags", [None, [[], [], []], np.zeros((3, 0)), np.zeros((3, 4))])
def test_no_tags_at_all(tags):
    assert named([0, 0, 1], tags) == {0: "#0", 1: "#1"}


def test_degenerate_labels():
    assert named([0, 0, 0], [["b", "a"], ["a"], ["a"]]) == {0: "a"}  # nothing to compare with: the most frequent
    assert name_clusters([-1, -1], [["a"], ["b"]]) == {}
    assert name_clusters([], []) == {}
    assert list(name_clusters([7, 2, 7], [["a"], ["b"], ["a"]])) == [2, 7]  # 3, 4, 5, 6 hold nothing
    assert named([0, 1], [["a"], ["a"]]) == {0: "#0", 1: "#1"}  # a says nothing of either


def test_names_of_the_owner_hold_and_are_not_given_twice():
    tags = [["dog"]] * 6 + [["cat"]] * 6 + [["dog", "boat"]] * 6
    found = name_clusters(np.repeat([0, 1, 2], 6), tags, names={1: "Dog", 0: " ", 8: "gone"})
    assert (found[1].name, found[1].source) == ("Dog", "owner")
    assert found[2].name == "boat" and found[0].name != "dog" and found[0].name.startswith("dog, ")
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
    with pytest.raises(ParameterError, match="item_names has 1 entries but there are 2"):
        name_clusters([0, 1], item_names=["a"])
    with pytest.raises(ParameterError, match="max_words must be an integer"):
        name_clusters([0, 1], max_words=0)
