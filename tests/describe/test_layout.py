"""A map of items by all their views: like lies with like, an earlier map stays, later items find their place."""

import numpy as np
import pytest

from manyview.describe import layout
from manyview.describe.layout import Known, lay_out, place_among
from manyview.describe.profiles import cluster_profiles


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


def test_the_untagged_lie_among_the_tagged_of_their_kind():
    X, labels = groups(120)
    tags = np.eye(3, dtype=np.float32)[labels]
    tagged = np.arange(120) // 3 % 2 == 0
    tags[~tagged] = np.nan
    rows, places = lay_out(likeness_of({"looks": X, "tags": tags}))
    assert rows.size == 120 and apart(places, labels) < 0.3
    middles = np.array([[places[(labels == k) & (tagged == t)].mean(axis=0) for t in (True, False)] for k in range(3)])
    within = np.linalg.norm(middles[:, 0] - middles[:, 1], axis=1).mean()
    kinds = np.mean([np.linalg.norm(middles[a, 0] - middles[b, 0]) for a, b in ((0, 1), (0, 2), (1, 2))])
    assert within < 0.4 * kinds  # 0.9 where gaps stay empty


def test_odd_collections():
    for X in (np.zeros((1, 3)), np.zeros((5, 3)), np.arange(4.0)[:, None], np.ones((30, 2))):
        rows, places = lay_out(likeness_of({"looks": X}))
        assert np.isfinite(places).all() and places.shape == (rows.size, 2)


def test_far_islands_are_drawn_nearer_as_they_are():
    rng = np.random.default_rng(0)
    middles = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, -200.0], [90.0, 5.0]])
    island = np.repeat(np.arange(4), (100, 20, 20, 20))
    places = (middles[island] + rng.normal(size=(160, 2)) * np.where(island == 0, 1.0, 0.4)[:, None]).astype(np.float32)
    found = layout._scaled(places)
    assert np.abs(found).max() == pytest.approx(1.0)
    scale = np.ptp(found[:100, 0]) / np.ptp(places[:100, 0])
    assert np.ptp(found[:100], axis=0).min() > 0.4  # of 2; as they were they would take 0.06
    for one in range(4):  # nobody is turned, stretched or torn
        mine = island == one
        expected = scale * (places[mine] - places[mine].mean(axis=0))
        np.testing.assert_allclose(found[mine] - found[mine].mean(axis=0), expected, atol=1e-4)
    centres = np.array([found[island == one].mean(axis=0) for one in range(4)]) - found[island == 0].mean(axis=0)
    for one in (1, 2, 3):  # each in the direction where it lay
        way = middles[one] / np.hypot(*middles[one])
        assert centres[one] @ way > 0.99 * np.hypot(*centres[one])
    assert np.hypot(*centres[3]) > np.hypot(*centres[1])  # of two in one direction the nearer stays the nearer


def test_islands_do_not_run_into_each_other(seed):
    from scipy.spatial.distance import cdist

    rng = np.random.default_rng(seed)
    island = np.repeat(np.arange(12), 25)
    places = (rng.normal(size=(12, 2)) * 60)[island] + rng.normal(size=(300, 2))
    before = layout._islands(places, 1.0)
    for one in range(before.max() + 1):  # points of one island are near another of it, and far from all others
        mine = before == one
        assert mine.all() or cdist(places[mine], places[~mine]).min() > 1.0
    packed = layout._packed(places)
    typical = np.median(np.sort(cdist(places, places), axis=1)[:, 5])
    told = layout._islands(places, layout._CELL * typical)
    apart = cdist(packed, packed)[told[:, None] != told]
    gap = layout._CELL * layout._SEA * typical
    assert apart.min() >= 0.999 * min(gap, cdist(places, places)[told[:, None] != told].min())
    assert np.ptp(packed, axis=0).max() < 0.6 * np.ptp(places, axis=0).max()


def test_groups_stay_groups_and_the_seed_decides():
    X, labels = groups(300)
    tags = np.zeros((300, 6))
    tags[np.arange(300), labels] = 1
    likeness = likeness_of({"looks": X, "words": tags})
    _, places = lay_out(likeness, seed=3)
    assert apart(places, labels) < 0.3
    assert np.array_equal(places, lay_out(likeness, seed=3)[1])
    _, other = lay_out(likeness, seed=4)
    assert not np.array_equal(places, other)


def test_items_beyond_the_fitted_go_among_their_nearest():
    X, labels = groups(400)
    told = []
    rows, places = lay_out(likeness_of({"looks": X}), most=100, on_round=lambda *news: told.append(news))
    assert rows.size == 400 and apart(places, labels) < 0.3
    shares = [done / in_all for done, in_all in told]
    assert shares == sorted(shares) and shares[-1] == 1 and len({in_all for _, in_all in told}) == 1
    assert any(0.3 < share < 0.7 for share in shares), "laying out and placing are told on one scale"


def test_it_goes_on_from_an_earlier_map():
    X, labels = groups(300)
    rows, first = lay_out(likeness_of({"looks": X[:240]}))
    _, later = lay_out(likeness_of({"looks": X}), known=Known(rows, first), seed=1)
    radius = np.median(np.linalg.norm(first, axis=1))
    assert np.median(np.linalg.norm(later[:240] - first, axis=1)) < 0.25 * radius
    assert apart(later, labels) < 0.35


def test_a_map_of_a_few_items_only_says_which_way_is_up():
    X, _ = groups(300)
    likeness = likeness_of({"looks": X})
    _, first = lay_out(likeness)
    turned = first @ np.array([[0.0, 1.0], [-1.0, 0.0]], dtype=np.float32)
    _, later = lay_out(likeness, known=Known(np.arange(60), turned[:60]))
    assert np.allclose(later, turned, atol=1e-4)


def test_late_items_lie_with_their_like_and_those_without_a_view_nowhere():
    X, labels = groups(300)
    X[299] = np.nan
    _, first = lay_out(likeness_of({"looks": X[:240]}))
    late, places = place_among(likeness_of({"looks": X}), np.arange(240, 300), Known(np.arange(240), first))
    assert late.tolist() == list(range(240, 299))
    centres = np.array([first[labels[:240] == label].mean(axis=0) for label in range(3)])
    nearest = np.linalg.norm(places[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == labels[late]).mean() > 0.98
    some, few = place_among(likeness_of({"looks": X}), np.arange(240, 300), Known(np.arange(240), first), most=50)
    assert np.array_equal(some, late) and np.isfinite(few).all()
    nobody, _ = place_among(likeness_of({"looks": X}), np.array([299]), Known(np.arange(240), first))
    assert not nobody.size


def test_very_many_are_placed_by_the_nearest_in_cells(monkeypatch):
    monkeypatch.setattr("manyview.methods.neighbours.CELL", 16)
    X, labels = groups(900)
    likeness = likeness_of({"looks": X})
    rows, exact = lay_out(likeness, most=300)
    monkeypatch.setattr(layout, "_MANY", 100)
    again, found = lay_out(likeness, most=300)
    assert np.array_equal(rows, again) and apart(found, labels) < 0.3
    same = (found == exact).all(axis=1)
    assert same.sum() >= 300  # those the layout is fitted on
    assert np.mean(np.linalg.norm(found - exact, axis=1)) < 0.02  # of a map 2 wide
