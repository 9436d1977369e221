"""Items that lack a view lie where their likes do, not among others that lack it."""

import numpy as np
import pytest

from manyview import ConsensusClustering, Views, metrics
from manyview.blocks import workers
from manyview.methods.consensus._gaps import fill_gaps

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


def test_only_the_ten_nearest_count_and_nothing_that_was_filled_in():
    rows = [[place, place, 0] for place in range(30)] + [[30, 0, 0], [30.5, 0, 0]]
    present = [[1, 1]] * 30 + [[1, 0]] * 2
    assert filled(rows, present)[30:, 1].tolist() == [np.mean(np.arange(20, 30))] * 2


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
