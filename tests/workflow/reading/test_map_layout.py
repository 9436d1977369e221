"""The map: like lies with like, the same seed gives the same map, and later items find their place."""

import numpy as np
import pytest

from manyview import Collection
from manyview.describe.profiles import cluster_profiles
from manyview.errors import ParameterError
from manyview.workflow.reading import map_layout
from manyview.workflow.reading.index import Index
from manyview.workflow.reading.map_layout import lay_out, make_map, read_map


def groups(n, seed=0):
    """Three well separated groups."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return (6.0 * np.eye(3)[labels] + rng.normal(size=(n, 3))).astype(np.float32), labels


def apart(places, labels):
    """Mean distance to the own centre over mean distance between centres."""
    centres = np.array([places[labels == label].mean(axis=0) for label in range(3)])
    inner = np.linalg.norm(places - centres[labels], axis=1).mean()
    outer = np.mean([np.linalg.norm(centres[a] - centres[b]) for a, b in ((0, 1), (0, 2), (1, 2))])
    return inner / outer


def likeness_of(X, **options):
    return cluster_profiles(X, np.zeros(len(next(iter(X.values()))), dtype=int), **options).likeness


def test_few_items_lie_on_the_plane_they_spread_out_in():
    X, labels = groups(12)
    rows, places = lay_out(likeness_of({"looks": X}))
    assert rows.tolist() == list(range(12)) and np.abs(places).max() == pytest.approx(1.0)
    assert apart(places, labels) < 0.3
    again = lay_out(likeness_of({"looks": X}))[1]
    assert np.array_equal(places, again)


def test_odd_collections():
    for X in (np.zeros((1, 3)), np.zeros((5, 3)), np.arange(4.0)[:, None], np.ones((30, 2))):
        rows, places = lay_out(likeness_of({"looks": X}))
        assert np.isfinite(places).all() and places.shape == (rows.size, 2)


def test_far_islands_are_drawn_nearer_in_the_order_they_are_in():
    rng = np.random.default_rng(0)
    islands = np.array([[50.0, 0.0], [0.0, -200.0]], dtype=np.float32)
    places = np.concatenate([rng.normal(size=(100, 2)), islands]).astype(np.float32)
    found = map_layout._scaled(places)
    assert np.abs(found).max() == pytest.approx(1.0)
    middle = found - found[:100].mean(axis=0)
    far = np.hypot(*middle.T)
    assert far[101] > far[100] > far[:100].max()
    assert np.ptp(found[:100], axis=0).min() > 0.4  # of 2; as they were they would take 0.06
    assert middle[100, 0] > 0 and abs(middle[100, 1]) < 0.2 * middle[100, 0]  # islands stay where they lie


@pytest.mark.slow
def test_groups_stay_groups_and_the_seed_decides():
    X, labels = groups(300)
    tags = np.zeros((300, 6))
    tags[np.arange(300), labels] = 1
    likeness = likeness_of({"looks": X, "words": tags})
    _, places = lay_out(likeness, seed=3)
    assert apart(places, labels) < 0.25
    assert np.array_equal(places, lay_out(likeness, seed=3)[1])
    _, other = lay_out(likeness, seed=4)
    assert not np.array_equal(places, other)


@pytest.mark.slow
def test_items_beyond_the_fitted_go_among_their_nearest():
    X, labels = groups(400)
    rows, places = lay_out(likeness_of({"looks": X}), most=100)
    assert rows.size == 400 and apart(places, labels) < 0.3


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
    assert done[-1] == ("laying out", 12, 12)
    layout = read_map(Index(made), made.runs.get())
    assert layout.rows.tolist() == list(range(12)) and layout.settings == {"seed": 0}
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
