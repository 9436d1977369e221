"""Levels of a collection: numbers and names stay, whichever way one goes; additions and refits keep the level."""

import numpy as np
import pytest

from manyview import Collection
from manyview.errors import Conflict, ParameterError
from manyview.workflow.clusters.levels import _common_words, cut_run, level_clusters, neighbouring_levels
from manyview.workflow.clusters.living import current_clusters
from manyview.workflow.copying import copy_collection

CENTRES = 6 * np.random.default_rng(0).normal(size=(6, 4))


def rows(kinds, seed):
    return (CENTRES[kinds] + np.random.default_rng(seed).normal(size=(len(kinds), 4))).astype("float32")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("levels")
    np.savez(folder / "old.npz", looks=rows(np.repeat(np.arange(6), 20), 1))
    np.savez(folder / "new.npz", looks=rows(np.repeat(np.arange(6), 3), 2))
    with Collection.create(folder / "c.manyview", folder / "old.npz") as collection:
        collection.fit(n_clusters=6)
    return folder


@pytest.fixture
def collection(made, tmp_path):
    copy_collection(made / "c.manyview", tmp_path / "c.manyview")
    with Collection.open(tmp_path / "c.manyview", write=True) as found:
        yield found


def places(collection):
    """Item -> cluster, and cluster -> name."""
    ids, clusters = collection.runs.assignment()
    return dict(zip(ids.tolist(), clusters.tolist(), strict=True)), {c.id: c.name for c in current_clusters(collection)}


def test_numbers_and_names_are_the_same_whichever_way_one_goes(collection):
    first, names = places(collection)
    coarse_run = collection.cut(4)
    coarse, coarse_names = places(collection)
    assert len(coarse_names) == 4 and coarse_run.settings["level"] == 4
    same = set(names) & set(coarse_names)
    assert same and all(names[c] == coarse_names[c] for c in same), "clusters that are still there keep their names"
    assert set(coarse_names) - set(names), "a merged cluster is another one"
    collection.cut(9)
    assert len(places(collection)[1]) == 9
    collection.cut(6)
    assert places(collection) == (first, names)
    collection.cut(4)
    assert places(collection) == (coarse, coarse_names)


def test_showing_a_level_changes_nothing(collection):
    before = places(collection)
    level, clusters = level_clusters(collection, collection.runs.get(), 4)
    assert len(clusters) == 4 and sum(one.size for one in clusters) == 120 == level.ids.size
    assert [one.id for one in clusters].count(-1) == len(set(range(1, 7)) - {c.id for c in clusters}) // 2
    assert places(collection) == before and len(collection.runs) == 1


def test_additions_and_refits_keep_the_level(collection, made):
    collection.cut(4)
    coarse = set(places(collection)[1])
    added = collection.add(made / "new.npz")
    assert added.n_joined == 18 and set(places(collection)[1]) == coarse
    refitted = collection.fit(n_clusters=6)
    assert refitted.figures["n_clusters"] == 6, "another number was asked for"
    collection.cut(4)
    assert refitted.settings["n_clusters"] == 6
    again = collection.fit(n_clusters=6)
    assert "4 clusters, as before" not in again.figures["said"]


def test_a_refit_without_a_number_goes_on_from_the_level(collection):
    collection.fit()
    number = collection.runs.get().figures["number"]
    collection.cut(4)
    run = collection.fit()
    assert run.figures["n_clusters"] == 4 and "4 clusters, as before." in run.figures["said"]
    assert run.figures["number"] == number, "how the number was found is kept"


def test_items_that_came_later_go_to_finer_levels(collection, made):
    collection.cut(3)
    collection.add(made / "new.npz")
    level = cut_run(collection, collection.runs.get(), 6)
    kinds = np.r_[np.repeat(np.arange(6), 20), np.repeat(np.arange(6), 3)]
    assert level.ids.size == 138
    for kind in range(6):
        assert np.unique(level.labels[kinds == kind]).size == 1


def test_what_a_person_said_holds_at_every_level(collection):
    first = current_clusters(collection)[0]
    collection.edit("rename", first.id, "My favourites")
    collection.edit("pin", first.id, True)
    members = {item for item, cluster in places(collection)[0].items() if cluster == first.id}
    for to in (3, 9, 6):
        collection.cut(to)
        now, names = places(collection)
        assert names[first.id] == "My favourites" and {i for i, c in now.items() if c == first.id} >= members


def test_steps_go_to_the_numbers_that_were_found_and_end(collection):
    run = collection.fit()
    number = run.figures["number"]
    coarser, finer = neighbouring_levels(run)
    assert finer == number["finer"] or finer is not None
    assert coarser == (number["coarser"] or max(2, round(0.7 * number["n_clusters"])))
    while neighbouring_levels(collection.runs.get())[0] is not None:
        collection.cut("coarser")
    assert collection.runs.get().figures["n_clusters"] == 2
    with pytest.raises(ParameterError, match="coarsest"):
        collection.cut("coarser")
    with pytest.raises(ParameterError, match="the levels go from 2 to"):
        collection.cut(90)


def test_runs_without_a_tree_say_so(collection):
    collection.save_run("by hand", np.arange(120) % 3)
    with pytest.raises(ParameterError, match="keeps no levels"):
        collection.cut("finer")
    assert neighbouring_levels(collection.runs.get()) == (None, None)


def test_a_parent_is_called_by_the_words_its_parts_share():
    assert _common_words(["dog, ball, grass", "dog, grass, child"]) == "dog, grass"
    assert _common_words(["dog", "cat"]) == "" and _common_words([]) == ""


def test_a_step_to_another_level_is_undone_before_what_was_done_earlier(collection):
    first = current_clusters(collection)[0].id
    collection.edit("rename", first, name="before the steps")
    start = places(collection)
    collection.cut(4)
    middle = places(collection)
    collection.cut(3)
    assert collection.undo().summary.startswith("undid") and places(collection) == middle
    collection.undo()
    assert places(collection) == start and len(collection.runs) == 1
    collection.undo()
    assert places(collection)[1][first] != "before the steps"


def test_a_level_is_not_undone_below_a_later_one_a_fit_or_an_addition(collection, made):
    collection.edit("rename", current_clusters(collection)[0].id, name="mine")
    collection.cut(4)
    step = collection.history.newest(1)[0]
    collection.cut(3)
    with pytest.raises(Conflict, match="another level since"):
        collection.undo(step.id)
    collection.undo()
    collection.add(made / "new.npz")
    with pytest.raises(Conflict, match="an addition"):
        collection.undo(step.id)
    assert "mine" in collection.undo().summary, "what cannot be undone is not in the way of what can"


def test_what_was_said_at_a_level_holds_after_it(collection):
    collection.cut(4)
    step = collection.history.newest(1)[0]
    kept = next(c for c in current_clusters(collection) if c.id in dict.fromkeys(range(1, 7)))
    collection.edit("rename", kept.id, name="said at a level")
    collection.undo(step.id)
    assert places(collection)[1][kept.id] == "said at a level"
    collection.undo()
    assert places(collection)[1][kept.id] != "said at a level"


def test_clusters_without_a_name_go_by_the_number_that_lasts(collection):
    _, shown = level_clusters(collection, collection.runs.get(), 4)
    assert {one.name for one in shown} == {"no name yet", *(f"Group {one.id}" for one in shown if one.id > 0)}
    collection.cut(4)
    told = collection.cut(9)
    names = list(collection.history)[-1].detail["changes"]["names"]
    assert told.settings["level"] == 9 and names
    assert all(name == f"Group {cluster}" for cluster, name in names.items())
