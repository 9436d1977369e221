"""Views taken away: never the last one, the same for every method, more and more of them; and gaps filled."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview.data.views import Views
from manyview.papers.incomplete.outside import takes
from manyview.papers.incomplete.views import SHARES, Incomplete, filled, lacking, load, rows
from manyview.papers.sources import Sources
from manyview.papers.tables import Scale, Task

N = 4000


def three():
    rng = np.random.default_rng(0)
    return Views({name: rng.random((N, 2)) for name in "abc"})


def test_every_item_keeps_a_view_and_the_rest_go_by_chance():
    whole = three()
    for share in SHARES:
        has = lacking(whole, share, 0).mask
        assert has.any(axis=1).all()
        # each goes with probability s, but of the s^3 that lose all three one stays: 1 - s + s^3 / 3
        assert abs(has.mean() - (1 - share + share**3 / 3)) < 0.015


def test_what_is_missing_stays_missing_and_another_draw_is_another():
    whole = three()
    masks = [lacking(whole, share, 1).mask for share in SHARES]
    assert all((more <= fewer).all() for fewer, more in pairwise(masks))
    assert (masks[2] == lacking(whole, SHARES[2], 1).mask).all()
    assert (masks[2] != lacking(whole, SHARES[2], 2).mask).any()


def test_a_view_that_an_item_never_had_is_not_the_one_it_keeps():
    has = np.ones((N, 2), dtype=bool)
    has[::2, 0] = False
    views = Views({"a": np.ones((N, 1)), "b": np.ones((N, 1))}, mask=has)
    left = lacking(views, 0.7, 0).mask
    assert (left <= has).all() and left.any(axis=1).all()


def test_gaps_are_filled_by_items_that_are_alike():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    points = [np.where(y == 0, -1.0, 1.0)[:, None] + 0.05 * rng.normal(size=(120, 2)) for _ in range(2)]
    has = np.ones((120, 2), dtype=bool)
    has[::5, 1] = False
    joined = filled(Views({"a": points[0], "b": points[1]}, mask=has))
    gaps = joined[::5, 2]
    assert (np.sign(gaps) == np.where(y[::5] == 0, -1, 1)).all() and (np.abs(gaps) > 0.1).all()


def task(views, imml=None):
    return Task("made", np.arange(views.n_items) % 2, ("a", "b"), data=Incomplete(views, imml))


def test_rows_are_those_that_the_views_and_the_packages_allow():
    words = Views({"a": csr_matrix(np.eye(6))})
    assert "PLSA" in {row.name for row in rows(task(words), Scale())}
    dense = Views({"a": np.eye(6)})
    names = {row.name for row in rows(task(dense), Scale())}
    assert "PLSA" not in names and not any("iMML" in name for name in names)
    beside = [row for row in rows(task(dense, sys.executable), Scale()) if "iMML" in row.name]
    assert len(beside) == 8


@pytest.mark.parametrize(("n_items", "draws"), [(3000, None), (3001, 1)])
def test_every_row_has_the_same_draws(n_items, draws):
    """All of the table's, or one where there are many items: means of other draws do not compare."""
    found = rows(task(Views({"a": np.zeros((n_items, 2))}), sys.executable), Scale())
    assert any("iMML" in row.name for row in found) and {row.seeds for row in found} == {draws}


@pytest.mark.parametrize(("n_items", "width", "k", "refused"), [(2000, 6, 10, {"PIMVC", "IMSR", "DAIMC"})])
def test_a_rival_is_not_asked_what_it_refuses_or_takes_hours_for(n_items, width, k, refused):
    views = Views({"a": np.zeros((n_items, width)), "b": np.zeros((n_items, 20))})
    assert {name for name in ("NEMO", "OPIMC", "PIMVC", "IMSR", "DAIMC") if not takes(name, views, k)} == refused


def test_the_numerals_ship_and_a_quick_run_takes_some():
    found = load("numerals")(Sources(), Scale(quick=True))
    assert found.data.views.n_items == 250 and len(found.class_names) == 10 and found.y.size == 250
