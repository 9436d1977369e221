"""The one preparation of views: what is recognised, and what comes out."""

import numpy as np
import pytest
from scipy import sparse

from manyview import Views
from manyview.blocks import workers
from manyview.methods.preparation import place_in, prepare, prepared_views


@pytest.fixture
def threads():
    with workers(1) as pool:
        yield pool


def some_views(n=40):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.15, size=(n, 30)).astype(np.float64)
    counts[3] = 0
    looks = rng.exponential(size=(n, 4)).astype(np.float32)
    return Views({"looks": looks, "words": sparse.csr_matrix(counts), "table": counts, "still": np.ones((n, 2))})


def test_prepared_views_keep_names_order_and_ids():
    X = some_views()
    found = prepared_views(X)
    assert found.names == X.names and np.array_equal(found.ids, X.ids)
    assert all(matrix.dtype == np.float32 for _, matrix in found.items())
    for name in ("looks", "words"):
        lengths = np.linalg.norm(found[name][found.present(name)], axis=1)
        assert lengths.mean() == pytest.approx(1, abs=1e-5)
    assert not found.present("words")[3] and found.present("looks")[3]  # no words: no opinion there
    assert found["still"].shape == (40, 1) and not found["still"].any()


def test_counts_in_a_dense_table_are_prepared_as_words():
    found = prepared_views(some_views())
    assert np.array_equal(found["table"], found["words"])


def test_an_item_that_says_nothing_anywhere_keeps_its_place():
    found = prepared_views(some_views()[["words"]])
    assert found.mask.all() and not found["words"][3].any()


def test_new_items_come_to_lie_where_the_fitted_ones_do(threads):
    X = some_views()
    prepared = prepare(X, "rank", threads)
    points, speaking = place_in(prepared.spaces, X[5:9], threads)
    for name in ("looks", "words", "table"):
        assert points[name] == pytest.approx(prepared.points[name][5:9], abs=1e-5)
        assert np.array_equal(speaking[name], prepared.speaking[name][5:9])
