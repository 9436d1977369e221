import numpy as np
import pytest

from manyview import Collection, RobustMultiviewKMeans, errors


@pytest.fixture
def collection(tmp_path):
    np.save(tmp_path / "given.npy", np.arange(12.0).reshape(6, 2))
    with Collection.create(tmp_path / "six.manyview", tmp_path / "given.npy") as made:
        yield made


def yes(collection):
    table = collection.tags
    return {(int(row), table.names[column]) for row, column in zip(*table.yes.nonzero(), strict=True)}


def no(collection):
    table = collection.tags
    return {(int(row), table.names[column]) for row, column in zip(*table.no.nonzero(), strict=True)}


def test_decisions_outweigh_what_files_say_and_can_be_taken_back(collection):
    collection.tagging.put({1: {"file": ["dog", "Beach"]}, 2: {"file": ["beach"]}})
    assert yes(collection) == {(0, "beach"), (0, "dog"), (1, "beach")}
    rejected = collection.decide([(1, "DOG"), (3, "cat")], False, who="anna", why="a wolf")
    accepted = collection.decide([(4, "cat")], True)
    assert yes(collection) == {(0, "beach"), (1, "beach"), (3, "cat")} and no(collection) == {(0, "dog"), (2, "cat")}
    assert rejected.who == "anna" and rejected.summary == "rejected 2 tags"
    assert accepted.summary == "accepted 'cat' for 3"
    undone = collection.history.undo(rejected.id)  # in another order than they were made
    assert yes(collection) == {(0, "beach"), (0, "dog"), (1, "beach"), (3, "cat")} and no(collection) == set()
    collection.history.undo(undone.id)  # and again
    assert no(collection) == {(0, "dog"), (2, "cat")}
    assert collection.history.get(rejected.id).undone_by is None
    assert (
        len(collection.history) == 4 and [entry.kind for entry in collection.history] == ["decide"] * 2 + ["undo"] * 2
    )


def test_undoing_what_was_changed_since_is_refused_and_names_the_entry(collection):
    first = collection.decide([(1, "dog"), (2, "dog")], True)
    second = collection.decide([(2, "dog")], False)
    with pytest.raises(
        errors.StoreError, match=rf"entry {first.id} .* entry {second.id} \(rejected 'dog' for 1\) changed"
    ):
        collection.history.undo(first.id)
    assert yes(collection) == {(0, "dog")} and len(collection.history) == 2  # nothing half done
    collection.history.undo(second.id)
    collection.history.undo(first.id)
    assert yes(collection) == no(collection) == set()
    with pytest.raises(errors.StoreError, match="was undone already"):
        collection.history.undo(first.id)
    with pytest.raises(errors.ParameterError, match="no entry 99"):
        collection.history.undo(99)


def test_edits_of_clusters_outlive_a_refit_and_are_undone_row_by_row(collection):
    ids = collection.items.ids
    first = collection.save_run("rmkmc", [0, 0, 1, 1, 2, 2], names={0: "dogs", 1: "cats", 2: "cows"})
    a, b, c = (row.id for row in sorted(collection.runs.clusters(), key=lambda row: row.label))
    with collection.history.record("rename", "renamed dogs to hounds") as change:
        change.put("clusters", id=a, name="hounds", is_pinned=1)
    with collection.history.record("merge", "merged cows into cats") as merge:
        merge.put("clusters", id=c, merged_into=b)
    with collection.history.record("move", "moved item 1 to cats") as move:
        move.put("placements", item_id=1, cluster_id=b)
        move.put("links", first_id=1, second_id=3, together=1)
    assert collection.runs.assignment(first.id)[1].tolist() == [b, a, b, b, b, b]
    second = collection.save_run("rmkmc", [5, 5, 5, 7, 7, -1], identities={5: a, 7: c}, names={5: "x", 7: "y"})
    assert collection.runs.assignment()[1].tolist() == [b, a, b, b, b, -1]  # item 3 follows item 1, its link
    rows = {row.label: row for row in collection.runs.clusters(second.id)}
    assert (rows[5].id, rows[5].name, rows[5].is_pinned, rows[5].size) == (a, "hounds", True, 3)
    assert (rows[7].name, rows[7].size) == ("y", 2)
    collection.history.undo(merge.id)
    assert collection.runs.assignment()[1].tolist() == [b, a, b, c, c, -1]
    collection.history.undo(move.id)
    assert collection.runs.assignment()[1].tolist() == [a, a, a, c, c, -1]
    assert collection._catalog.rows("SELECT * FROM links") == []
    assert collection.history.last().summary == "renamed dogs to hounds"
    assert ids.tolist() == collection.runs.labels()[0].tolist()
    with pytest.raises(errors.ParameterError, match="changes of 'items' are not kept"):
        with collection.history.record("x", "y") as change:
            change.put("items", id=1)


def test_a_run_is_kept_with_its_model(collection):
    model = RobustMultiviewKMeans(n_clusters=2)
    model.labels_ = np.array([0, 0, 0, 1, 1, 1])
    kept = collection.save_run(
        "rmkmc",
        model.labels_,
        settings={"n_clusters": 2},
        views={"given": "file"},
        figures={"silhouette": 0.5},
        seconds=1.5,
        confidence=np.linspace(0, 1, 6),
        model=model,
        profiles={0: {"tags": ["é"]}},
    )
    assert kept == collection.runs.get() == next(iter(collection.runs))
    assert kept.settings == {"n_clusters": 2} and kept.figures == {"silhouette": 0.5} and kept.has_model
    assert collection.runs.model().labels_.tolist() == [0, 0, 0, 1, 1, 1]
    assert collection.runs.clusters()[0].profile == {"tags": ["é"]}
    again = collection.save_run("rmkmc", [0] * 6)
    with pytest.raises(errors.StoreError, match="kept without its model"):
        collection.runs.model(again.id)
    collection.runs.remove(kept.id)
    assert [run.id for run in collection.runs] == [again.id]
    collection.runs.remove(again.id)
    assert collection.save_run("rmkmc", [0] * 6).id == 3  # a number is never given twice
    with pytest.raises(errors.ParameterError, match="no run 1; its runs: 3"):
        collection.runs.get(1)
    with pytest.raises(errors.ParameterError, match="one whole number per item, 6 in all"):
        collection.save_run("rmkmc", [0, 1])
    with pytest.raises(errors.ParameterError, match="one whole number per item"):
        collection.save_run("rmkmc", [0.5] * 6)


def test_a_model_that_cannot_be_kept_leaves_nothing(collection):
    model = RobustMultiviewKMeans()
    model.labels_ = np.array([object()])
    with pytest.raises(errors.ParameterError):
        collection.save_run("rmkmc", [0] * 6, model=model)
    assert len(collection.runs) == 0 and list((collection.path / "runs").iterdir()) == []


def test_open_proposals_are_those_nobody_answered(collection):
    collection.tagging.put({1: {"file": ["dog"]}})
    dog, cat = collection.tagging.number("dog"), collection.tagging.number("Cat")
    rows = [
        (1, dog, 0.9, 0.8, None),
        (2, dog, 0.7, 0.2, ["near 1"]),
        (2, cat, 0.8, 0.6, None),
        (3, cat, 0.2, 0.1, None),
    ]
    run = collection.runs.save_proposals("combined", rows, figures={"completeness": 0.6})
    assert run.kind == "suggest" and collection.runs.get(kind="suggest").id == run.id
    found = collection.runs.proposals()
    assert [(p.item_id, p.tag, p.score) for p in found] == [(2, "Cat", 0.8), (2, "dog", 0.7), (3, "Cat", 0.2)]
    assert found[1].reason == ["near 1"]
    assert len(collection.runs.proposals(min_probability=0.1, top=1)) == 1
    entry = collection.decide([(2, "cat")], False)
    assert [(p.item_id, p.tag) for p in collection.runs.proposals()] == [(2, "dog"), (3, "Cat")]
    assert collection._catalog.row("SELECT score, probability, answer FROM decisions") == (0.8, 0.6, 0)
    collection.runs.save_proposals("combined", rows)  # "no" is remembered across refits
    assert [(p.item_id, p.tag) for p in collection.runs.proposals()] == [(2, "dog"), (3, "Cat")]
    collection.history.undo(entry.id)
    assert len(collection.runs.proposals()) == 3


def test_decisions_need_items_and_words(collection):
    for pairs in ([], [(1, " ")], [(1, "\0")]):
        with pytest.raises(errors.ParameterError, match="at least one item, and a word"):
            collection.decide(pairs, True)
    with pytest.raises(errors.ParameterError, match="no item 99"):
        collection.decide([(99, "dog")], True)
    assert len(collection.history) == 0


def test_a_refusal_names_the_undoing_that_stands_in_the_way(collection, monkeypatch):
    """Twice the same answer in one second: taking back the first changes what the second left."""
    monkeypatch.setattr("manyview.collection.decisions.now", lambda: "2026-01-01T00:00:00+00:00")
    first, second = (collection.decide([(1, "red")], True, who="me") for _ in range(2))
    collection.history.undo(first.id)
    with pytest.raises(errors.StoreError, match="undid 1: .* changed the same thing since"):
        collection.history.undo(second.id)
