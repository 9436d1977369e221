"""What is known of a run is read once and handed down: the calls are counted."""

import shutil
from collections import Counter

import numpy as np
import pytest

from manyview import Collection
from manyview.collection.living import Living
from manyview.collection.safety.answers import read_lines
from manyview.collection.segments import Segments
from manyview.collection.tagging import Tagging
from manyview.errors import ParameterError
from manyview.workflow.add import add_items
from manyview.workflow.clusters import edits
from manyview.workflow.clusters.living import current_clusters
from manyview.workflow.clusters.state import State
from manyview.workflow.fit import fit_collection
from manyview.workflow.reading.explain import explain_in_run
from manyview.workflow.vocabulary.care import care_for

from ..living_samples import make, write

WORDS = ["sea", "dog", "sky", "sun"]


@pytest.fixture
def counted(monkeypatch):
    """How often places, tags and views were read."""
    calls = Counter()

    def counting(name, real):
        def call(self, *given):
            calls[name] += 1
            return real(self, *given)

        return call

    for owner, name in ((Living, "standing"), (Tagging, "table"), (Segments, "matrix")):
        monkeypatch.setattr(owner, name, counting(name, getattr(owner, name)))
    return calls


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    with make(tmp_path_factory.mktemp("four"), 20, tags=[[WORDS[n // 20]] for n in range(80)]) as collection:
        fit_collection(collection, "rmkmc", 4)
    return collection.path


@pytest.fixture
def four(fitted, tmp_path):
    """Four clusters in two views, with a tag for each."""
    with Collection.open(shutil.copytree(fitted, tmp_path / "c.manyview"), write=True) as collection:
        yield collection


def test_an_addition_reads_places_twice_and_tags_and_views_once(four, tmp_path, counted):
    kinds = [0] * 5 + [1] * 4 + [4] * 6 + [5] * 2
    edits.rename(four, 1, "mine")
    edits.link(four, 1, 2, True)
    counted.clear()
    added = add_items(four, write(tmp_path / "new.npz", kinds, seed=1, tags=[["sea"]] * len(kinds)))
    assert added.n_new == len(kinds)
    assert counted == {"standing": 2, "table": 1, "matrix": 2}  # before and after; a matrix of each of two views
    counted.clear()
    assert add_items(four).n_new == 0
    assert counted == {"standing": 2}


def test_a_fit_reads_places_before_and_after(four, counted):
    changes = fit_collection(four, "rmkmc", 5).changes
    assert changes is not None and counted["standing"] <= 2 and counted["table"] <= 2


@pytest.mark.parametrize(
    ("edit", "standing"),
    [
        (lambda c: edits.rename(c, 1, "mine"), 2),
        (lambda c: edits.pin(c, 1), 2),
        (lambda c: edits.merge(c, [1, 2]), 2),
        (lambda c: edits.split(c, 1), 2),
        (lambda c: edits.move(c, [1], 2), 2),
        (lambda c: edits.move(c, [1], None, name="alone"), 2),
        (lambda c: edits.link(c, 1, 80, True), 2),
        (lambda c: edits.link(c, 1, 2, False), 3),  # one of the two has to be settled elsewhere
    ],
    ids=["rename", "pin", "merge", "split", "move", "move to a new one", "together", "apart"],
)
def test_an_edit_reads_places_before_and_after(four, counted, edit, standing):
    """What the second place of answers has to know of the members of clusters is handed on to it."""
    edit(four)
    assert counted["standing"] == standing and counted["table"] <= 1 and counted["matrix"] <= 2


def test_an_undo_reads_places_once(four, counted):
    entry = edits.merge(four, [1, 2])
    counted.clear()
    edits.undo_rows(four, entry)
    assert counted["standing"] == 1


def test_what_is_handed_on_is_what_would_be_worked_out(four, monkeypatch):
    """The lines of the second place are the same where it has to find out by itself."""
    found = []
    for _ in range(2):
        edits.undo_rows(four, edits.merge(four, [1, 2]))
        edits.undo_rows(four, edits.split(four, 3))
        edits.undo_rows(four, edits.move(four, [1, 25], 4))
        lines = [line["clusters"] for line in read_lines(four.path / "answers.jsonl") if "entry" in line][-6:]
        found.append([sorted(line.values()) for line in lines])  # a split makes a cluster of another number each time
        monkeypatch.setattr(Living, "note_standing", lambda self, standing: None)
    assert found[0] == found[1] and [len(line) for line in found[0]] == [2, 2, 1, 0, 1, 1]


def test_a_reason_reads_everything_once(four, counted):
    explain_in_run(four, four.runs.get(), 1)
    assert counted == {"standing": 1, "table": 1, "matrix": 2}


def test_a_state_shows_one_moment(four):
    state = State(four)
    views, places = state.views, state.standing.clusters.copy()
    edits.move(four, [1], state.standing.of([80])[0])
    assert np.array_equal(state.standing.clusters, places)
    after = state.moved()
    assert after.standing.of([1]) == after.standing.of([80]) and after.views is views
    assert after.clusters == current_clusters(four) == State(four, standing=after.standing).clusters
    assert after.names == {one.id: one.name for one in after.clusters}
    assert np.array_equal(after.labels, after.standing.clusters) and np.array_equal(after.ids, np.arange(1, 81))
    with pytest.raises(ParameterError, match="cluster 99 does not exist; the clusters of run 1 are 1, 2, 3, 4"):
        after.cluster(99)


def test_names_follow_the_words_of_tags(four):
    def names():
        return sorted(one.name for one in current_clusters(four))

    assert names() == ["dog", "sea", "sky", "sun"]
    care_for(four, "rename", "dog", "Hound")
    assert names() == ["Hound", "sea", "sky", "sun"]
    care_for(four, "rename", "Hound", "HOUND")  # another spelling of the same word
    edits.rename(four, 1, "dog")  # what a person calls a cluster is theirs
    assert "dog" in names() and len(set(names())) == 4
    care_for(four, "merge", "sea", "sky", into="blue")
    (one, other) = [name for name in names() if "blue" in name]
    assert one != other and not {"sea", "sky"} & set(names()), "two clusters never share a name"
    four.undo()
    assert {"sea", "sky"} <= set(names())
