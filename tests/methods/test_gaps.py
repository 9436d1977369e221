"""Items that lack a view lie where their likes do, not among others that lack it."""

import numpy as np
import pytest

from manyview import ConsensusClustering, Views, metrics
from manyview.blocks import workers
from manyview.methods.gaps import fill_gaps

EDGES = np.array([0, 1, 3])


def filled(rows, present, known=None):
    rows = np.array(rows, dtype=np.float32)
    with workers(1) as threads:
        fill_gaps(rows, np.array(present, dtype=bool), EDGES, threads, known)
    return rows


def test_the_mean_of_the_nearest_fills_a_gap():
    rows = [[0, 2, 4], [1, 4, 8], [100, 0, 0], [101, 0, 0]]
    present = [[1, 1], [1, 1], [1, 0], [0, 0]]
    assert filled(rows, present).tolist() == [[0, 2, 4], [1, 4, 8], [100, 3, 6], [101, 0, 0]]


def test_the_neighbours_are_asked_and_nothing_that_was_filled_in():
    place = np.arange(80.0)
    rows = np.column_stack([place, np.where(place % 2, 0, place), np.zeros(80)])  # every second one has the view
    found = filled(rows, np.column_stack([np.ones(80), place % 2 == 0]))
    assert found[41, 1] == pytest.approx(41.0)  # of its twenty nearest ten have it, five on either side


def test_among_others_that_lack_it_an_item_stays_at_the_centre():
    place = np.r_[np.arange(40.0), np.arange(1000.0, 1040.0)]
    has = place < 40
    rows = np.column_stack([place, np.where(has, 7, 0), np.zeros(80)])
    assert filled(rows, np.column_stack([np.ones(80), has]))[:, 1].tolist() == [7.0] * 40 + [0.0] * 40


def test_where_fewer_have_it_than_usual_less_is_filled_in():
    place = np.r_[np.arange(5.0), 1000.0 + np.arange(35.0), 5.0 + np.arange(40.0)]
    has = np.arange(80) < 40  # five of the first twenty by place, all beyond a thousand
    rows = np.column_stack([place, np.where(has, 8, 0), np.zeros(80)])
    assert filled(rows, np.column_stack([np.ones(80), has]))[40, 1] == 8 * (5 / 10) ** 2


def test_new_items_are_filled_from_known_ones():
    known = (np.array([[0, 1, 1], [9, 5, 5]], dtype=np.float32), np.array([[True, True], [True, False]]))
    assert filled([[9, 0, 0]], [[1, 0]], known).tolist() == [[9, 1, 1]]


def test_a_view_that_nobody_has_beside_the_others_stays_empty():
    assert filled([[1, 0, 0], [0, 3, 4]], [[1, 0], [0, 1]]).tolist() == [[1, 0, 0], [0, 3, 4]]


@pytest.mark.parametrize("share", [0.5, 0.7])
def test_clusters_are_of_what_items_show_and_not_of_who_has_tags(share, seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(4), 40)
    looks = 0.55 * np.eye(4, 12)[y] + 0.25 * rng.standard_normal((160, 12))  # overlap
    words = (rng.random((160, 20)) < np.where(np.arange(20) // 5 == y[:, None], 0.7, 0.02)).astype(np.float32)
    tagged = rng.random(160) < share
    X = Views({"looks": looks, "tags": words}, mask=np.column_stack([np.ones(160, bool), tagged]))
    model = ConsensusClustering(8, random_state=seed).fit(X)  # finer than the groups: what are they cut by?
    assert metrics.normalized_mutual_info(tagged.astype(int), model.labels_) < 0.1
    again = model.predict({"looks": looks[~tagged]})
    assert metrics.normalized_mutual_info(model.labels_[~tagged], again) > 0.7
