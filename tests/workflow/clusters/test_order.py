"""Which clusters and which of their members are shown first."""

import numpy as np
import pytest

from manyview import Collection
from manyview.workflow.clusters.living import LiveCluster
from manyview.workflow.clusters.order import best_first, cluster_scores
from manyview.workflow.reading.index import Index
from manyview.workflow.reading.typical import best_clusters, typical_rows


def cluster(number, size, cohesion, *, source="tags", named=False):
    profile = {"cohesion": cohesion, "name": {"source": source}}
    return LiveCluster(number, f"c{number}", size, False, named, False, (number,), profile)


def order(clusters, sure):
    places = np.concatenate([np.full(one.size, one.id) for one in clusters])
    confidence = np.concatenate([np.full(one.size, sure[one.id]) for one in clusters])
    return [one.id for one in best_first(clusters, cluster_scores(clusters, places, confidence))]


def test_a_lump_comes_after_what_is_surely_something():
    lump, flags, pair = cluster(1, 370, 0.02), cluster(2, 60, 0.6), cluster(3, 4, 0.9)
    assert order([lump, flags, pair], {1: 0.52, 2: 0.8, 3: 0.9}) == [2, 3, 1]


@pytest.mark.parametrize("changed", ["size", "cohesion", "sureness", "name"])
def test_each_part_of_the_score_counts(changed):
    one = cluster(1, 20, 0.4, source="number" if changed == "name" else "tags")
    better = cluster(2, 40 if changed == "size" else 20, 0.5 if changed == "cohesion" else 0.4)
    assert order([one, better], {1: 0.7, 2: 0.8 if changed == "sureness" else 0.7}) == [2, 1]


def test_without_figures_the_larger_comes_first():
    clusters = [cluster(1, 3, None), cluster(2, 5, None), cluster(3, 5, None, source="number", named=True)]
    assert order(clusters, dict.fromkeys((1, 2, 3), np.nan)) == [2, 3, 1]
    assert cluster_scores([], np.array([-1]), np.array([np.nan])) == {}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Three groups; rows 0 to 2 of the first are nearly the same, and 3 lies between it and the second."""
    folder = tmp_path_factory.mktemp("order")
    rng = np.random.default_rng(0)
    centres = np.array([[4.0, 0, 0], [0, 4.0, 0], [0, 0, 4.0]])
    X = np.repeat(centres, 12, axis=0) + 0.4 * rng.normal(size=(36, 3))
    X[0:3] = centres[0] + 0.001 * rng.normal(size=(3, 3))
    X[3] = 0.52 * centres[0] + 0.48 * centres[1]
    np.savez(folder / "x.npz", looks=X.astype("float32"))
    with Collection.create(folder / "c.manyview", folder / "x.npz") as collection:
        collection.fit(n_clusters=3)
        ids = collection.items.ids
        collection.items.set_duplicates({int(ids[1]): int(ids[0]), int(ids[2]): int(ids[0])})
    return folder / "c.manyview"


def test_a_typical_member_is_never_a_borderline_one_and_copies_come_last(made):
    with Collection.open(made) as collection:
        index = Index(collection)
        run = index.run()
        home = index.assignment(run)[0]
        members = index.members(run)[home]
        assert 3 in members and members.size == 12
        found = typical_rows(index, members, run, [one for one in index.clusters(run) if one.id == home])
        assert sorted(found) == sorted(members) and set(found[-2:]) == {1, 2}, "what repeats another comes last"
        assert list(found).index(3) == 9, "and what lies between two clusters after all others"
        sure = index.confidence(run)
        for one in index.clusters(run):
            shown = index.rows_of(np.array(one.profile["exemplars"]))
            assert sure[shown].min() >= np.median(sure[index.members(run)[one.id]])


def test_typical_items_of_all_clusters_begin_with_the_best_cluster(made):
    with Collection.open(made) as collection:
        index = Index(collection)
        run = index.run()
        found = typical_rows(index, np.arange(36), run)
        assert index.assignment(run)[found[0]] == best_clusters(index, run)[0].id
        assert set(found[-2:]) == {1, 2} and np.unique(found).size == 36
