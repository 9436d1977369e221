"""Products in registers against NumPy's, for every way to cut columns, rows and features."""

import numpy as np
import pytest

from manyview.methods import _narrow_product_kernels as narrow
from manyview.methods._scaled_views import DenseView

wide = pytest.mark.skipif(not narrow._has_wide_registers(), reason="this processor has no registers of 16 numbers")


def product(X, F):
    out = np.full((X.shape[0], F.shape[1]), np.nan, dtype=np.float32)
    narrow.narrow_product(X, F, out)
    return out


@pytest.mark.parametrize("n_columns", [*range(16, 68), 80, 81, 97, 112])
def test_products_are_numpys_up_to_rounding(n_columns, seed):
    rng = np.random.default_rng(seed)
    for n_rows, n_features in ((1, 1), (7, 130), (25, 128), (300, 257)):
        X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
        F = rng.standard_normal((n_features, n_columns), dtype=np.float32)
        exact = X.astype(float) @ F.astype(float)
        bound = n_features * np.finfo(np.float32).eps * (np.abs(X).astype(float) @ np.abs(F).astype(float))
        assert (np.abs(product(X, F) - exact) <= bound).all()


def test_a_rows_products_do_not_depend_on_its_block(seed):
    rng = np.random.default_rng(seed)
    X, F = rng.standard_normal((500, 300), dtype=np.float32), rng.standard_normal((300, 50), dtype=np.float32)
    whole = product(X, F)
    for start, stop in ((0, 1), (3, 250), (241, 500)):
        assert np.array_equal(product(X[start:stop], F), whole[start:stop])


def test_whole_numbers_come_out_exactly(seed):
    rng = np.random.default_rng(seed)
    X, F = rng.integers(-9, 9, size=(64, 77)), rng.integers(-9, 9, size=(77, 33))
    assert np.array_equal(product(X.astype(np.float32), F.astype(np.float32)), X @ F)


def test_what_is_not_a_number_stays_in_its_row():
    X, F = np.ones((20, 40), dtype=np.float32), np.ones((40, 20), dtype=np.float32)
    X[3, 5] = np.nan
    assert np.isnan(product(X, F)[3]).all() and np.isfinite(np.delete(product(X, F), 3, axis=0)).all()


@wide
def test_only_narrow_float32_goes_this_way():
    def suits(n_columns, dtype):
        F = np.empty((5, n_columns), dtype=dtype)
        assert not narrow.suits(F, np.empty((3, n_columns)))
        return narrow.suits(F, np.empty((3, n_columns), dtype=dtype))

    assert suits(16, np.float32) and suits(narrow.MOST_COLUMNS, np.float32)
    assert not suits(15, np.float32) and not suits(narrow.MOST_COLUMNS + 1, np.float32) and not suits(20, np.float64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_clusters", [3, 20, 150])
def test_views_give_the_same_products_either_way(n_clusters, dtype, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 30), dtype=np.float32)
    view = DenseView(X, np.ones(60, dtype=bool), np.zeros(30), np.ones(30))
    centroids = view.centroids(rng.standard_normal((n_clusters, 30)))
    found = np.empty((2, 60, n_clusters), dtype=dtype)
    for way, has in enumerate((True, False)):
        monkeypatch.setattr(narrow, "_has_wide_registers", lambda has=has: has)
        view.products(slice(0, 60), centroids, found[way])
    assert np.allclose(found[0], found[1], rtol=1e-4, atol=1e-5)
