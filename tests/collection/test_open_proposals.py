"""Which proposals are open: the triggers of the catalogue and the arrays of the gallery say the same, at any time."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manyview import Collection
from manyview.collection.items import NewItem
from manyview.errors import ManyviewError
from manyview.workflow.reading.index import Index

WORDS = ("cat", "dog", "hound")
ITEMS = ("a", "b", "c")
WORD, ITEM = st.sampled_from(WORDS), st.sampled_from(ITEMS)
EVENTS = st.one_of(
    st.tuples(st.just("decide"), ITEM, WORD, st.booleans()),
    st.tuples(st.just("file"), ITEM, st.sets(WORD)),
    st.tuples(st.just("gone"), ITEM),
    st.tuples(st.just("care"), st.sampled_from(["silence", "retire", "restore"]), WORD),
    st.tuples(st.just("alias"), WORD, WORD),
    st.tuples(st.just("merge"), WORD, WORD),
    st.tuples(st.just("undo"), st.integers(0, 3)),
    st.tuples(
        st.just("suggest"),
    ),
)


def make(folder, names=ITEMS):
    table = folder / "items.csv"
    table.write_text("id,tags\n" + "".join(f"{name},cat;dog\n" for name in names))
    return Collection.create(folder / "items.manyview", table)


def propose(collection):
    numbers = collection.tagging.numbers(WORDS)
    rows = [(item, numbers[word], 0.5, 0.7, None) for item in collection.items.ids.tolist() for word in WORDS]
    collection.runs.save_proposals("by hand", dict.fromkeys(rows))


def happen(collection, event):
    kind, *what = event
    number = dict(zip(ITEMS, (1, 2, 3), strict=True))
    if kind == "decide":
        collection.decide([(number[what[0]], what[1])], what[2])
    elif kind == "file":
        collection.put_items(1, [NewItem(what[0], "row", tags={"table": sorted(what[1])})])
    elif kind == "gone":
        collection.items.gone([number[what[0]]])
    elif kind == "care":
        collection.edit_tags(*what)
    elif kind == "alias":
        collection.edit_tags("alias", *what)
    elif kind == "merge":
        collection.edit_tags("merge", what[0], into=what[1])
    elif kind == "undo":
        entries = [entry.id for entry in collection.history if entry.undone_by is None]
        collection.history.undo(entries[-1 - what[0]])
    else:
        propose(collection)


def by_triggers(collection):
    return {(one.item_id, collection.tagging.find(one.tag)) for one in collection.runs.proposals()}


def by_arrays(collection):
    index = Index(collection)
    rows, tags = index.open_pairs
    return set(zip(index.ids[rows].tolist(), tags.tolist(), strict=True))


@given(events=st.lists(EVENTS, min_size=1, max_size=12))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_both_say_the_same_whatever_happens(tmp_path_factory, events):
    with make(tmp_path_factory.mktemp("open")) as collection:
        propose(collection)
        for event in events:
            try:
                happen(collection, event)
            except (ManyviewError, IndexError):  # what cannot be said now changes nothing
                pass
            assert by_triggers(collection) == by_arrays(collection), event


def test_an_answer_taken_back_does_not_open_what_a_file_says_in_another_word(tmp_path):
    with make(tmp_path) as collection:
        collection.put_items(1, [NewItem("a", "row", tags={"table": ["hound"]})])
        collection.put_items(1, [NewItem("a", "row", tags={"table": []})])
        propose(collection)
        collection.edit_tags("alias", "hound", "dog")
        collection.put_items(1, [NewItem("a", "row", tags={"table": ["hound"]})])
        assert by_triggers(collection) == {(1, collection.tagging.find("cat"))}
        collection.undo(collection.decide([(1, "dog")], False))
        assert by_triggers(collection) == {(1, collection.tagging.find("cat"))} == by_arrays(collection)


def test_a_file_says_a_tag_in_any_of_its_words(tmp_path):
    with make(tmp_path) as collection:
        collection.put_items(1, [NewItem("a", "row", tags={"table": ["hound"]})])
        dog = collection.tagging.find("dog")
        assert collection.decisions.answers([(1, dog)]) == {} and collection.decisions.only_said([(1, dog)]) == set()
        collection.put_items(1, [NewItem("a", "row", tags={"table": []})])  # a word that is in use cannot be an alias
        collection.edit_tags("alias", "hound", "dog")
        collection.put_items(1, [NewItem("a", "row", tags={"table": ["hound"]})])
        assert collection.decisions.answers([(1, dog)]) == {(1, dog): True}
        assert collection.decisions.only_said([(1, dog)]) == {(1, dog)}


@pytest.mark.parametrize("action", ["silence", "retire"])
def test_work_for_a_word_grows_with_its_proposals_alone(tmp_path, action):
    steps = []
    for n_items in (100, 400):
        folder = tmp_path / str(n_items)
        folder.mkdir()
        with make(folder, map(str, range(n_items))) as collection:
            number = collection.tagging.numbers(["hound"])["hound"]
            rows = [(item, number, 0.5, 0.7, None) for item in collection.items.ids.tolist()]
            collection.runs.save_proposals("by hand", rows)
            count = [0]
            connection = collection._catalog._connection
            connection.set_progress_handler(lambda count=count: count.__setitem__(0, count[0] + 1), 100)
            collection.edit_tags(action, "hound")
            connection.set_progress_handler(None, 0)
            steps.append(count[0])
            assert collection.runs.proposals() == []
    assert steps[1] < 6 * steps[0], "four times the items are about four times the work"
