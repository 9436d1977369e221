"""What a person says of clusters holds, can be taken back in any order, and never contradicts itself unseen."""

import shutil

import numpy as np
import pytest

from manyview import Collection
from manyview.errors import ParameterError, StoreError
from manyview.workflow.clusters import edits
from manyview.workflow.clusters.living import current_clusters
from manyview.workflow.fit import fit_collection
from manyview.workflow.reading.index import Index
from manyview.workflow.undo import undo

from ..living_samples import make


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    with make(tmp_path_factory.mktemp("four")) as collection:
        fit_collection(collection, n_clusters=4)
    return collection.path


@pytest.fixture
def four(fitted, tmp_path):
    """Four clusters of twenty; ``four.number[kind]`` is the cluster of a kind."""
    with Collection.open(shutil.copytree(fitted, tmp_path / "c.manyview"), write=True) as collection:
        at = dict(zip(*(part.tolist() for part in collection.runs.assignment()), strict=True))
        collection.number = [at[1], at[21], at[41], at[61]]
        assert len(set(collection.number)) == 4
        yield collection


def at(collection, *items):
    ids, clusters = collection.runs.assignment()
    known = dict(zip(ids.tolist(), clusters.tolist(), strict=True))
    return [known[item] for item in items]


def sizes(collection):
    found = current_clusters(collection)
    _, clusters = collection.runs.assignment()
    counted = {cluster: int(n) for cluster, n in zip(*np.unique(clusters, return_counts=True), strict=True)}
    counted.pop(-1, None)
    assert {one.id: one.size for one in found} == counted
    for one in found:  # a profile is about the members there are, and names clusters that are there
        assert one.profile["size"] == one.size and one.profile["label"] == one.id
        members = set(collection.runs.assignment()[0][clusters == one.id].tolist())
        assert set(one.profile["exemplars"]) <= members
        assert {near["label"] for near in one.profile["nearest"]} <= counted.keys() - {one.id}
        assert {b["item"] for b in one.profile["borderline"]} <= members
    return counted


def test_a_name_is_given_and_taken_away(four):
    a, b, *_ = four.number
    own = {one.id: one.name for one in current_clusters(four)}
    entry = edits.rename(four, a, "  Hounds \n and  others ", who="anna")
    assert entry.who == "anna" and entry.kind == "rename" and entry.detail["clusters"] == [a]
    named = {one.id: one for one in current_clusters(four)}
    assert named[a].name == "Hounds and others" and named[a].is_named and not named[b].is_named
    with pytest.raises(ParameterError, match=rf"cluster {a} is called 'Hounds and others' already"):
        edits.rename(four, b, "hounds AND others")
    with pytest.raises(ParameterError, match="at most 200 characters"):
        edits.rename(four, b, "x" * 201)
    edits.rename(four, a, " ")
    assert {one.id: one.name for one in current_clusters(four)} == own
    with pytest.raises(ParameterError, match="has no name of yours"):
        edits.rename(four, a, None)
    with pytest.raises(ParameterError, match="cluster 99 does not exist; the clusters of run 1 are"):
        edits.rename(four, 99, "x")


def test_a_merge_holds_when_the_parts_are_found_again_and_comes_apart_when_undone(four):
    a, b, c, d = four.number
    edits.rename(four, b, "Second")
    entry = edits.merge(four, [a, b])
    assert entry.detail["clusters"] == [b, a]  # the one with a person's name stays
    assert sizes(four) == {b: 40, c: 20, d: 20}
    with pytest.raises(ParameterError, match=rf"cluster {a} was merged into {b}; name that one"):
        edits.rename(four, a, "x")
    for k in (3, 5, 4):
        fit_collection(four, n_clusters=k)
        assert set(at(four, 1, 2, 20, 21, 22, 40)) == {b} and a not in sizes(four)
    undo(four, entry.id)
    assert sizes(four) == {a: 20, b: 20, c: 20, d: 20}
    assert at(four, 1, 21) == [a, b]
    with pytest.raises(ParameterError, match="at least two different"):
        edits.merge(four, [a, a])


def test_a_split_makes_new_clusters_that_stay(four):
    a, b, *_ = four.number
    entry = edits.split(four, a, 3)
    new = entry.detail["clusters"][1:]
    assert entry.detail["clusters"][0] == a and len(new) == 2 and min(new) > max(four.number)
    before = at(four, *range(1, 21))
    counts = {cluster: before.count(cluster) for cluster in set(before)}
    assert set(counts) == {a, *new} and counts[a] == max(counts.values()) and sum(counts.values()) == 20
    sizes(four)
    for k in (3, 4):
        fit_collection(four, n_clusters=k)
        now = at(four, *range(1, 21))
        assert [x for x in now if x in new] == [x for x in before if x in new]  # the parts that were split off stay
        assert {i for i, x in enumerate(now) if x in new} == {i for i, x in enumerate(before) if x in new}
    assert at(four, *range(1, 21)) == before
    undo(four, entry.id)
    assert set(at(four, *range(1, 21))) == {a}
    later = edits.split(four, b)
    assert min(later.detail["clusters"][1:]) > max(new)  # numbers are not given twice
    with pytest.raises(ParameterError, match="at least 2 parts"):
        edits.split(four, b, 1)
    with pytest.raises(ParameterError, match="too few for 30 parts"):
        edits.split(four, four.number[2], 30)


def test_moved_items_stay_where_they_were_put(four):
    a, b, c, d = four.number
    moved = edits.move(four, [1, 2], b)
    made = edits.move(four, [3], None, name="mine")
    new = made.detail["clusters"][0]
    assert at(four, 1, 2, 3, 4) == [b, b, new, a] and sizes(four) == {a: 17, b: 22, c: 20, d: 20, new: 1}
    for method, k in (("consensus", 3), ("rmkmc", 4)):
        fit_collection(four, method, k)
        assert at(four, 1, 2, 3) == [b, b, new]
        assert {one.id: one.name for one in current_clusters(four)}[new] == "mine"
    undo(four, moved.id)
    assert at(four, 1, 2, 3) == [a, a, new]
    for wrong, why in (
        (lambda: edits.move(four, [], b), "at least one item"),
        (lambda: edits.move(four, [999], b), "no item 999"),
        (lambda: edits.move(four, [1], b, name="x"), "a name is for a new cluster"),
        (lambda: edits.move(four, [1], None, name="mine"), "is called 'mine' already"),
    ):
        with pytest.raises(ParameterError, match=why):
            wrong()


def test_a_pinned_cluster_loses_nobody(four):
    a, b, *_ = four.number
    edits.move(four, [21], a)
    pin = edits.pin(four, a)
    for k in (2, 4):
        fit_collection(four, n_clusters=k)
        assert set(at(four, *range(1, 22))) == {a}
        assert {one.id: one.is_pinned for one in current_clusters(four)}[a]
    edits.move(four, [5], b if b in sizes(four) else a)  # by hand it may
    assert at(four, 5) == [b]
    with pytest.raises(ParameterError, match="pinned already"):
        edits.pin(four, a)
    unpinned = edits.pin(four, a, False)
    assert unpinned.kind == "unpin" and four.living.held() == {}
    undo(four, unpinned.id)
    assert len(four.living.held()) == 21
    undo(four, pin.id)
    assert four.living.held() == {}
    with pytest.raises(ParameterError, match="is not pinned"):
        edits.pin(four, a, False)


def test_linked_items_share_a_cluster_in_every_run(four):
    a, b, *_ = four.number
    edits.link(four, 1, 21, True)
    edits.link(four, 21, 22, True)
    assert at(four, 1, 21, 22) == [b, b, b]  # two of three are there
    for k in (3, 4):
        fit_collection(four, n_clusters=k)
        assert len(set(at(four, 1, 21, 22))) == 1
    edits.move(four, [21], a)
    assert at(four, 1, 21, 22) == [a, a, a]  # they go along
    gone = edits.link(four, 1, 21, None)
    assert gone.kind == "unlink" and at(four, 1, 21, 22) == [a, a, a]
    with pytest.raises(ParameterError, match="are not linked"):
        edits.link(four, 1, 21, None)


def test_items_kept_apart_never_share_a_cluster(four):
    a = four.number[0]
    entry = edits.link(four, 1, 2, False)
    first, second = at(four, 1, 2)
    assert {first, second} != {a} and a in (first, second) and -1 not in (first, second)
    sizes(four)
    for k in (2, 4, 1):
        fit_collection(four, n_clusters=k)
        first, second = at(four, 1, 2)
        assert first != second
        if k > 1:
            assert min(first, second) >= 0
    fit_collection(four, n_clusters=4)
    undo(four, entry.id)
    assert at(four, 1, 2) == [a, a]


def test_contradictions_are_refused_and_name_the_reason(four):
    a, b, *_ = four.number
    edits.link(four, 1, 21, False)
    for wrong, why in (
        (lambda: edits.merge(four, [a, b]), rf"are to stay apart.* in clusters {a} and {b}"),
        (lambda: edits.move(four, [21], a), "are to stay apart"),
        (lambda: edits.move(four, [1, 21], four.number[2]), "are to stay apart"),
        (lambda: edits.link(four, 1, 21, False), "linked that way already"),
        (lambda: edits.link(four, 1, 1, True), "two different"),
    ):
        with pytest.raises(ParameterError, match=why):
            wrong()
    edits.link(four, 1, 3, True)
    with pytest.raises(ParameterError, match="are to stay apart"):
        edits.link(four, 3, 21, True)
    with pytest.raises(ParameterError, match="linked together, directly or through others"):
        edits.link(four, 1, 3, False) if edits.link(four, 3, 4, True) and edits.link(four, 1, 4, True) else None
    edits.move(four, [5], b)
    edits.move(four, [6], a)
    with pytest.raises(ParameterError, match=rf"5 was moved or split off by hand.* in clusters {b} and {a}"):
        edits.link(four, 5, 6, True)
    edits.pin(four, b)
    with pytest.raises(ParameterError, match="was pinned and .* was pinned"):
        edits.link(four, 22, 23, False)


def test_undo_in_odd_orders_is_right_or_says_why(four):
    a, b, c, d = four.number
    move = edits.move(four, [1], b)
    apart = edits.link(four, 1, 2, False)  # they are in two clusters because of the move
    undo(four, move.id)
    first, second = at(four, 1, 2)
    assert first != second and min(first, second) >= 0  # the link still holds
    undo(four, apart.id)
    assert at(four, 1, 2) == [a, a]
    # two words in one row are two things
    name, pin = edits.rename(four, c, "third"), edits.pin(four, c)
    undo(four, name.id)
    assert {one.id: (one.is_named, one.is_pinned) for one in current_clusters(four)}[c] == (False, True)
    undo(four, pin.id)
    again = edits.rename(four, c, "one")
    later = edits.rename(four, c, "two")
    with pytest.raises(StoreError, match=rf"entry {later.id} .* changed the same thing since; undo that first"):
        undo(four, again.id)
    # merged one way, undone, the other way: doing the first again would close a circle
    one = edits.merge(four, [a, b], into=a)
    taken = undo(four, one.id)
    edits.merge(four, [a, b], into=b)
    with pytest.raises(StoreError, match="would each be part of the other"):
        undo(four, taken.id)
    assert sizes(four) == {b: 40, c: 20, d: 20}
    # put into one cluster by hand after the link was taken away: the link cannot come back
    link = edits.link(four, 41, 61, False)
    gone = undo(four, link.id)
    edits.move(four, [41, 61], d)
    with pytest.raises(StoreError, match="are to stay apart, but were both put into"):
        undo(four, gone.id)


def test_a_persons_word_is_nobody_elses_name(tmp_path):
    tags = [[f"kind{n // 20}", f"also{n // 20}"] for n in range(80)]
    with make(tmp_path, tags=tags) as collection:
        fit_collection(collection, n_clusters=4)
        names = {one.id: one.name for one in current_clusters(collection)}
        fit_collection(collection, n_clusters=3)
        (lost,) = names.keys() - {one.id for one in current_clusters(collection)}
        edits.rename(collection, min(names.keys() - {lost}), names[lost].upper())
        fit_collection(collection, n_clusters=4)  # what was lost comes back, and its name is taken
        now = {one.id: one.name.casefold() for one in current_clusters(collection)}
        assert lost in now and len(set(now.values())) == 4 and now[lost] != names[lost].casefold()


def test_profiles_are_right_where_nobody_made_them_anew(four):
    a, b, *_ = four.number
    entry = edits.merge(four, [a, b])
    four.history.undo(entry.id)  # the rows only
    sizes(four)
    four.items.gone([1, 2, 3])  # files vanish without a word
    with Collection.open(four.path) as reader:
        assert sizes(reader)[a] == 17
    assert four.living.profiles(1).keys() == {entry.detail["clusters"][0]}  # a reader keeps nothing


def test_edits_need_a_run_and_the_lock(tmp_path):
    with make(tmp_path) as collection:
        with pytest.raises(ParameterError, match="has no run yet"):
            edits.rename(collection, 1, "x")
        with pytest.raises(ParameterError, match="no edit 'paint'; there are rename"):
            collection.edit("paint", 1)
        fit_collection(collection, n_clusters=4)
        entry = collection.edit("rename", 1, "by the library")
        assert collection.undo().undoes == entry.id
    with Collection.open(collection.path) as reader, pytest.raises(StoreError, match="open for reading"):
        edits.rename(reader, 1, "x")


def test_figures_of_clusters_follow_answers_at_once(four):
    """Also those of profiles that were kept; their names stay until the next fit."""
    ids, clusters = four.runs.assignment()
    index = Index(four)
    names = {one.id: one.name for one in current_clusters(four)}
    assert {one.profile["n_tagged"] for one in index.clusters(four.runs.get())} == {0}
    four.decide([(item, "answered") for item in ids[clusters == four.number[0]].tolist()], True)
    four.decide([(item, "other") for item in ids[clusters == four.number[1]][:12].tolist()], True)
    four.decide([(int(ids[clusters == four.number[1]][0]), "other")], False)
    table = four.tagging.table(ids)
    for found in (current_clusters(four), Index(four, index._parts).clusters(four.runs.get())):
        assert {one.id: one.name for one in found} == names
        for one in found:
            rows = np.flatnonzero(clusters == one.id)
            assert one.profile["n_tagged"] == sum(table.yes[row].nnz > 0 for row in rows)
            for share in (*one.profile["over"], *one.profile["under"]):
                assert share["count"] == table.yes[rows, table.names.index(share["tag"])].sum()
        first = next(one for one in found if one.id == four.number[0])
        assert first.profile["n_tagged"] == 20 and "answered" in {share["tag"] for share in first.profile["over"]}
