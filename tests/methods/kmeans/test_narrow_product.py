"""Products in registers against NumPy's, for every way to cut columns, rows and features."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from manyview.methods.kmeans import _narrow_product_kernels as narrow
from manyview.methods.kmeans._scaled_views import DenseView, contiguous

DTYPES = [np.float32, np.float64]


def product(X, F):
    out = np.full((X.shape[0], F.shape[1]), np.nan, dtype=X.dtype)
    narrow.narrow_product(contiguous(X, slice(None)), F, out)
    return out


def normal(seed, *shapes, dtype=np.float32):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape, dtype=dtype) for shape in shapes]


def check_products(dtype, n_columns, seed):
    for n_rows, n_features in ((1, 1), (7, 130), (25, 128), (300, 257)):
        X, F = normal(seed, (n_rows, n_features), (n_features, n_columns), dtype=dtype)
        exact = X.astype(np.longdouble) @ F.astype(np.longdouble)
        bound = n_features * np.finfo(dtype).eps * (np.abs(X).astype(float) @ np.abs(F).astype(float))
        assert (np.abs(product(X, F) - exact) <= bound).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n_columns", [*range(1, 68), 80, 81, 97, 112, 200])
def test_products_are_numpys_up_to_rounding(n_columns, dtype, seed):
    check_products(dtype, n_columns, seed)


@pytest.mark.slow
def test_narrower_registers_do_the_same():
    """In a process that may use nothing wider than AVX2."""
    if not narrow._WIDTH:
        pytest.skip("this processor has no AVX2")
    program = f"""if True:
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import test_narrow_product as here
        assert here.narrow._BYTES == 32
        for dtype in here.DTYPES:
            for n_columns in (1, 7, 8, 9, 24, 32, 33, 50, 56, 65):
                here.check_products(dtype, n_columns, 0)
    """
    older = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+sse4.2,+avx,+avx2,+fma,+bmi,+bmi2"}
    subprocess.run([sys.executable, "-c", program], env={**os.environ, **older}, check=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_rows_products_do_not_depend_on_its_block(dtype, seed):
    X, F = normal(seed, (500, 300), (300, 50), dtype=dtype)
    whole = product(X, F)
    for start, stop in ((0, 1), (3, 250), (241, 500)):
        assert np.array_equal(product(X[start:stop], F), whole[start:stop])


@pytest.mark.parametrize("dtype", DTYPES)
def test_whole_numbers_come_out_exactly(dtype, seed):
    rng = np.random.default_rng(seed)
    X, F = rng.integers(-9, 9, size=(64, 77)), rng.integers(-9, 9, size=(77, 33))
    assert np.array_equal(product(X.astype(dtype), F.astype(dtype)), X @ F)


def test_what_is_not_a_number_stays_in_its_row():
    X, F = np.ones((20, 40), dtype=np.float32), np.ones((40, 20), dtype=np.float32)
    X[3, 5] = np.nan
    assert np.isnan(product(X, F)[3]).all() and np.isfinite(np.delete(product(X, F), 3, axis=0)).all()


def test_only_few_columns_go_this_way(monkeypatch):
    few, many = np.empty((5, 64), dtype=np.float32), np.empty((5, 1000), dtype=np.float32)
    monkeypatch.setattr(narrow, "_WIDTH", 32)
    assert narrow.suits(few) and not narrow.suits(many)
    monkeypatch.setattr(narrow, "_WIDTH", 0)
    assert not narrow.suits(few)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("beside", DTYPES)
@pytest.mark.parametrize("n_clusters", [3, 20, 300])
def test_views_give_the_same_products_either_way(n_clusters, beside, dtype, monkeypatch, seed):
    """``beside``: the type of the products, which another view may widen."""
    X, F = normal(seed, (60, 30), (n_clusters, 30), dtype=dtype)
    view = DenseView(X, np.ones(60, dtype=bool), np.zeros(30), np.ones(30))
    centroids = view.centroids(F.astype(np.float64))
    found = np.empty((2, 60, n_clusters), dtype=beside)
    for way, width in enumerate((32, 0)):
        monkeypatch.setattr(narrow, "_WIDTH", width)
        view.products(slice(0, 60), centroids, found[way])
    assert np.allclose(found[0], found[1], rtol=1e-4, atol=1e-5)
