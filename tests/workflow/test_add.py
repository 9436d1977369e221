"""New items join what is there: counted by hand, stopped and finished, changed and gone."""

import os
import shutil

import numpy as np
import pytest
from PIL import Image

from manyview import Collection
from manyview.collection.safety.check import digest, problems
from manyview.describe.profiles import cluster_profiles
from manyview.errors import ParameterError, StoreError
from manyview.workflow import add as adding
from manyview.workflow.add import add_items
from manyview.workflow.clusters import edits
from manyview.workflow.clusters.living import current_clusters
from manyview.workflow.fit import fit_collection
from manyview.workflow.reading.index import Index

from .living_samples import make, write


def where(collection):
    return dict(zip(*(part.tolist() for part in collection.runs.assignment()), strict=True))


@pytest.mark.parametrize("method", ["consensus", "rmkmc"])
def test_new_items_join_open_or_stay_outside(tmp_path, method):
    with make(tmp_path, 60) as collection:
        fit_collection(collection, method, 4)
        before = where(collection)
        kinds = [0] * 5 + [1] * 4 + [2] * 3 + [4] * 6 + [5] * 2
        added = add_items(collection, write(tmp_path / "new.npz", kinds, seed=1))
        now = where(collection)
        assert added.sentence == "20 new: 12 into 3 clusters, 6 opened 1 new cluster, 2 resemble nothing"
        assert {item: now[item] for item in before} == before
        homes = [before[1], before[61], before[121]]
        expected = [homes[kind] if kind < 3 else added.opened[0] if kind == 4 else -1 for kind in kinds]
        assert [now[241 + n] for n in range(20)] == expected
        assert added.strangers == [259, 260] and added.opened[0] > max(before.values())
        assert added.changes.new_items == {
            **dict(zip(homes, (5, 4, 3), strict=True)),
            added.opened[0]: 6,
            -1: 2,
        }
        assert {one.id: one.size for one in current_clusters(collection)}[added.opened[0]] == 6
        # a second time: the opened cluster takes its own, and strangers find each other
        again = add_items(collection, write(tmp_path / "more.npz", [4] * 3 + [5] * 3 + [3], seed=5))
        now = where(collection)
        assert again.sentence == "7 new: 4 into 2 clusters, 3 opened 1 new cluster"
        assert [now[item] for item in (261, 262, 263)] == [added.opened[0]] * 3
        assert {now[item] for item in (259, 260, 264, 265, 266)} == set(again.opened)
        assert again.changes.n_moved == 2 and {m.item for m in again.changes.movers} == {259, 260}
        assert add_items(collection).n_new == 0
    assert problems(collection.path) == []


def test_new_places_are_as_sure_as_a_profile_of_everybody_says(tmp_path):
    with make(tmp_path, 60) as collection:
        run = fit_collection(collection, "rmkmc", 4).run
        add_items(collection, write(tmp_path / "new.npz", [0] * 5 + [1] * 4 + [5], seed=1))
        index = Index(collection)
        sure, places = index.confidence(run), index.assignment(run)
        weights = run.figures["view_weights"]
        expected = cluster_profiles(collection.views(run.views), places, view_weights=weights).confidence
        assert sure[240:249] == pytest.approx(expected[240:249], abs=1e-5) and (sure[240:249] > 0.5).all()
        assert places[249] == -1 and np.isnan(sure[249])


def test_ghf_art_learns_what_comes_and_may_open(tmp_path):
    with make(tmp_path, 30) as collection:
        from manyview import FusionART

        fit_collection(collection, "ghf-art")
        run = collection.runs.get()
        twin = collection.runs.model(run.id)
        assert isinstance(twin, FusionART)
        new = write(tmp_path / "new.npz", [0, 1, 2, 3, 4, 5] * 3, seed=1)
        added = add_items(collection, new)
        X = collection.views(run.views)
        twin.partial_fit(X[np.arange(120, 138)])
        assert collection.runs.labels(run.id)[1][120:].tolist() == twin.labels_.tolist()
        assert collection.runs.model(run.id).cluster_sizes_.tolist() == twin.cluster_sizes_.tolist()
        opened = set(twin.labels_.tolist()) - set(collection.runs.labels(run.id)[1][:120].tolist())
        assert len(added.opened) == len(opened)
    assert problems(collection.path) == []


def test_new_items_follow_a_split(tmp_path):
    with make(tmp_path, 40) as collection:
        fit_collection(collection, n_clusters=4)
        a = where(collection)[1]
        part = edits.split(collection, a).detail["clusters"][1]
        old = where(collection)
        there = [item for item in range(1, 41) if old[item] == part]
        # copies of items of that part, moved by next to nothing, as new items
        rows = np.array(there) - 1
        views = {f"view_{name}": collection.views()[name][rows] + np.float32(1e-3) for name in collection.view_names}
        np.savez(tmp_path / "near.npz", **views)
        add_items(collection, tmp_path / "near.npz")
        now = where(collection)
        fresh = [now[item] for item in now.keys() - old.keys()]
        assert set(fresh) <= {a, part} and fresh.count(part) > len(fresh) / 2
        collection.undo()
        assert {where(collection)[item] for item in now.keys() - old.keys()} == {a}


def test_edits_hold_for_what_is_added(tmp_path):
    with make(tmp_path, 30) as collection:
        fit_collection(collection, n_clusters=4)
        at = where(collection)
        a, b = at[1], at[31]
        edits.merge(collection, [a, b], into=a)
        add_items(collection, write(tmp_path / "new.npz", [1, 1, 0], seed=1))
        now = where(collection)
        assert [now[item] for item in (121, 122, 123)] == [a] * 3
        edits.link(collection, 121, 122, False)
        edits.pin(collection, a)
        fit_collection(collection, n_clusters=3)
        now = where(collection)
        assert now[121] != now[122] and all(now[item] == a for item in range(1, 61))


def test_a_run_whose_views_are_others_now_is_refused(tmp_path):
    with make(tmp_path) as collection:
        collection.add_view("extra", "1", np.eye(80, 4, dtype=np.float32))
        fit_collection(collection, n_clusters=4)
        collection.add_view("extra", "2", np.eye(80, 4, dtype=np.float32))
        with pytest.raises(StoreError, match="view 'extra' is not what it was when run 1 was made"):
            add_items(collection)
        with pytest.raises(ParameterError, match="describe a source; name that too"):
            add_items(collection, id="name")


def test_without_a_run_there_is_nothing_to_join(tmp_path):
    with make(tmp_path) as collection:
        added = add_items(collection)
        assert added.run is None and added.changes is None and "no clusters yet" in added.said[-1]
    with Collection.open(collection.path) as reader, pytest.raises(StoreError, match="open for reading"):
        add_items(reader)


def test_tags_of_new_items_are_read_in_the_columns_the_run_knows(tmp_path):
    tags = [[f"kind{n // 20}", "all"] for n in range(80)]
    with make(tmp_path, tags=tags) as collection:
        fit_collection(collection, n_clusters=4)
        assert "tags" in collection.runs.get().views
        homes = where(collection)
        new = [["zebra", "kind0"], ["aardvark", "kind3"], ["zebra", "aardvark", "kind1"]]
        add_items(collection, write(tmp_path / "new.npz", [0, 3, 1], seed=1, tags=new))
        now = where(collection)
        assert [now[item] for item in (81, 82, 83)] == [homes[1], homes[61], homes[21]]


def test_a_fit_ends_an_addition_that_was_stopped(tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    with make(tmp_path) as collection:
        fit_collection(collection, n_clusters=4)
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(adding, "_place", stop)
            add_items(collection, write(tmp_path / "new.npz", [0, 1], seed=1))
        fit_collection(collection, n_clusters=3)
        added = add_items(collection)
        assert (added.changes.n_new, added.changes.n_moved) == (0, 0)


# --- pictures in a folder ---


def picture(path, number, blue=False, noise=0):
    rng = np.random.default_rng([number, noise])
    y, x = np.mgrid[:48, :48]
    shape = ((x - 24) ** 2 + (y - 24) ** 2 < (6 + number % 12) ** 2)[..., None]
    stripes = ((x + 3 * number) // (4 + number % 3) % 2 == 0)[..., None]
    pixels = (
        np.where(stripes, (20, 30, 200), (240, 240, 255)) if blue else np.where(shape, (220, 60, 30), (250, 250, 240))
    )
    Image.fromarray(np.clip(pixels + rng.integers(-9, 10, pixels.shape), 0, 255).astype(np.uint8)).save(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Sixteen pictures of two kinds, fitted; the color views are quick."""
    place = tmp_path_factory.mktemp("folder")
    (place / "photos").mkdir()
    for number in range(16):
        picture(place / "photos" / f"{number:02d}.png", number, blue=number >= 8)
    with Collection.create(place / "c.manyview", place / "photos") as collection:
        fit_collection(collection, n_clusters=2, views=["color_moments", "edges"])
    return place


def copy(folder, tmp_path):
    """The same pictures and collection elsewhere; the catalogue is told."""
    shutil.copytree(folder / "photos", tmp_path / "photos", copy_function=shutil.copy2)
    shutil.copytree(folder / "c.manyview", tmp_path / "c.manyview")
    import sqlite3

    with sqlite3.connect(tmp_path / "c.manyview" / "catalog.sqlite") as catalog:
        path = os.fsencode(os.path.realpath(tmp_path / "photos"))
        catalog.execute("UPDATE sources SET path = ?, root = ?", (path, path))
    catalog.close()
    return tmp_path / "c.manyview", tmp_path / "photos"


def change(photos):
    """Three more, one of them a copy, one gone, one repainted."""
    picture(photos / "16.png", 3, noise=1)
    picture(photos / "17.png", 12, blue=True, noise=1)
    shutil.copy(photos / "01.png", photos / "copy.png")
    (photos / "02.png").unlink()
    picture(photos / "03.png", 11, blue=True, noise=2)


def test_changed_gone_and_repeated_files_are_noticed(folder, tmp_path):
    path, photos = copy(folder, tmp_path)
    change(photos)
    with Collection.open(path, write=True) as collection:
        before = where(collection)
        key = {item.key: item.id for item in collection.items}
        red, blue = before[key["00.png"]], before[key["10.png"]]
        added = add_items(collection)
        now, key = where(collection), {item.key: item.id for item in collection.items}
        assert added.sentence == "3 new: 3 into 2 clusters; 1 changed; 1 gone"
        assert (now[key["16.png"]], now[key["17.png"]]) == (red, blue)
        assert now[key["copy.png"]] == now[key["01.png"]] == red
        assert now[key["03.png"]] == blue and "02.png" not in key
        assert [(m.item, m.source, m.target) for m in added.changes.movers] == [(key["03.png"], red, blue)]
        assert collection.history.get(2).kind == "add"
        # a copy goes where the picture it repeats goes
        edits.move(collection, [key["01.png"]], blue)
        assert where(collection)[key["copy.png"]] == blue
    assert problems(path) == []


def outcome(path):
    """What an addition says, and what is there afterwards."""
    with Collection.open(path, write=True) as collection:
        added = add_items(collection)
        keys = {item.id: item.key for item in collection.items}
        now = {keys[item]: cluster for item, cluster in where(collection).items()}
    parts = digest(path)
    return added.sentence, added.changes, now, {name: parts[name] for name in ("labels", "clusters", "started")}


@pytest.fixture(scope="module")
def undisturbed(folder, tmp_path_factory):
    path, photos = copy(folder, tmp_path_factory.mktemp("undisturbed"))
    change(photos)
    return outcome(path)


@pytest.mark.parametrize("step", ["_forget_changed", "_place", "_keep", "record_update"])
def test_stopped_anywhere_the_same_call_finishes_it(folder, undisturbed, tmp_path, step, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    path, photos = copy(folder, tmp_path)
    change(photos)
    with monkeypatch.context() as patched, Collection.open(path, write=True) as collection:
        patched.setattr(adding, step, stop)
        with pytest.raises(KeyboardInterrupt):
            add_items(collection)
    assert outcome(path) == undisturbed


def test_what_is_said_of_a_table_agrees_with_itself(tmp_path):
    rows = [f"{n},{'a dog runs' if n % 2 else 'a boat sails'} {n % 5},{'dog' if n % 2 else 'boat'}" for n in range(30)]

    def put(lines):
        (tmp_path / "t.csv").write_text("\n".join(["id,text,tags", *lines]) + "\n")

    def add():
        added = add_items(collection)
        return added.sentence, added.said[0].split(": ")[1], added.changes.lines()[1:2]

    put(rows)
    with Collection.create(tmp_path / "t.manyview", tmp_path / "t.csv") as collection:
        fit_collection(collection, n_clusters=2)
        put(["0,a boat sails far,boat", "1,a dog runs 1,hound", *rows[2:-4]])
        assert add() == ("0 new; 2 changed; 4 gone", "0 new, 2 changed, 4 gone, 24 as before", ["2 changed, 4 gone"])
        assert add() == ("0 new", "0 new, 26 as before", [])
        put(["0,a boat sails far,boat", "1,a dog runs 1,hound", *rows[2:], "30,a boat sails 0,boat"])
        sentence, said, lines = add()
        assert sentence.startswith("1 new, 4 back: 5 into ")
        assert said == "1 new, 4 back, 26 as before" and lines == ["1 new, 4 back"]
