"""The map of a run: made by the fit, kept with it, carried over refits and levels, and kept up by additions."""

import shutil

import numpy as np
import pytest

from manyview import Collection
from manyview.errors import ParameterError
from manyview.workflow.add import add_items
from manyview.workflow.clusters.levels import keep_level
from manyview.workflow.fit import fit_collection
from manyview.workflow.reading.index import Index
from manyview.workflow.reading.map_layout import make_map, read_map


def groups(n, seed=0):
    """Three well separated groups."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return (6.0 * np.eye(3)[labels] + rng.normal(size=(n, 3))).astype(np.float32), labels


@pytest.fixture
def made(tmp_path):
    X, labels = groups(13)
    X[12] = np.nan  # the last lacks the view
    np.savez(tmp_path / "m.npz", looks=X)
    with Collection.create(tmp_path / "m.manyview", tmp_path / "m.npz") as found:
        found.save_run("rmkmc", labels, settings={}, views={"looks": found.segments.info("looks").version})
        yield found


def test_a_map_is_kept_with_its_run(made):
    assert read_map(Index(made), made.runs.get()) is None
    done = []
    kept = make_map(made, progress=lambda *news: done.append(news))
    assert (kept.run, kept.n_items, kept.n_lacking) == (1, 12, 1)
    assert list(dict.fromkeys(what for what, _, _ in done)) == ["laying out: comparing items", "laying out: map"]
    layout = read_map(Index(made), made.runs.get())
    assert layout.rows.tolist() == list(range(12)) and layout.settings == {"seed": 0, "views": ["looks"]}
    made.items.gone([3])
    index = Index(made)
    later = read_map(index, made.runs.get())
    assert index.ids[later.rows].tolist() == [1, 2, *range(4, 13)]
    assert np.array_equal(later.places, np.delete(layout.places, 2, axis=0))
    made.runs.remove(1)  # takes its map along
    assert made._catalog.value("SELECT count(*) FROM maps") == 0


def test_what_cannot_be_mapped_is_said(made):
    made.runs.save_proposals("combined", [])
    with pytest.raises(ParameterError, match="run 2 made proposals"):
        make_map(made, 2)
    made.remove_view("looks")
    with pytest.raises(ParameterError, match="views of run 1 no longer exist"):
        make_map(made, 1)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ninety")
    X, _ = groups(120)
    np.savez(folder / "first.npz", looks=X[:90])
    np.savez(folder / "later.npz", looks=X[90:])
    with Collection.create(folder / "m.manyview", folder / "first.npz") as found:
        fit_collection(found, n_clusters=3)
    return folder


@pytest.fixture
def fitted(kept, tmp_path):
    """Ninety items in three groups, fitted."""
    shutil.copy(kept / "later.npz", tmp_path)
    with Collection.open(shutil.copytree(kept / "m.manyview", tmp_path / "m.manyview"), write=True) as found:
        yield found


def moved(before, after):
    """How far half of the items of a map moved, by the typical distance from its middle."""
    same = np.isin(after.ids, before.ids)
    radius = np.median(np.linalg.norm(before.places - np.median(before.places, axis=0), axis=1))
    return np.median(np.linalg.norm(after.places[same] - before.places, axis=1)) / radius


def test_a_fit_makes_the_map(fitted):
    stages = {}
    fit_collection(fitted, "rmkmc", 3, progress=lambda *news: stages.setdefault(news[0], []).append(news[1:]))
    assert list(stages)[-2:] == ["fitting rmkmc: names and profiles", "fitting rmkmc: map"]
    assert [fitted.maps.get(run).ids.size for run in (1, 2)] == [90, 90]


def test_items_stay_where_they_were_after_a_refit(fitted):
    first = fitted.maps.get(1)
    fit_collection(fitted, n_clusters=4)
    assert moved(first, fitted.maps.get(2)) < 0.25
    make_map(fitted, 2, seed=5, fresh=True)
    assert moved(first, fitted.maps.get(2)) > 0.25
    made = fitted.maps.get(2)
    make_map(fitted, 2, seed=5, fresh=True)
    assert np.array_equal(fitted.maps.get(2).places, made.places)


def test_a_level_has_the_map_of_its_run(fitted):
    keep_level(fitted, 2)
    assert np.array_equal(fitted.maps.get(2).places, fitted.maps.get(1).places)


def test_new_items_are_placed_and_nobody_else_moves(fitted, tmp_path):
    first = fitted.maps.get(1)
    add_items(fitted, tmp_path / "later.npz")
    later = fitted.maps.get(1)
    assert later.ids.tolist() == list(range(1, 121)) and later.settings == first.settings
    assert np.array_equal(later.places[:90], first.places)
    labels = np.arange(120) % 3
    centres = np.array([first.places[labels[:90] == label].mean(axis=0) for label in range(3)])
    nearest = np.linalg.norm(later.places[90:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == labels[90:]).mean() > 0.95


def test_a_fit_that_is_stopped_while_it_lays_out_leaves_nothing(fitted):
    def stop(what, done, total):
        if what == "fitting rmkmc: map":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_collection(fitted, "rmkmc", 3, progress=stop)
    assert len(fitted.runs) == 1 and fitted.maps.get(2) is None
