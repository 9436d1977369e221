import numba
import numpy as np
import pytest

from manyview.kernel import kernel


def overlap(x, w):
    total = 0.0
    for k in range(x.shape[0]):
        total += min(x[k], w[k])
    return total


def test_compiled_equals_plain():
    x, w = np.array([0.25, 1.0]), np.array([0.5, 0.75])
    assert kernel(overlap)(x, w) == overlap(x, w) == 1.0


def test_nan_keeps_its_meaning():
    @kernel
    def is_nan(x):
        return x != x

    assert is_nan(np.nan) and not is_nan(1.0)


def test_works_where_nothing_can_be_cached(monkeypatch):
    real, asked = numba.njit, []

    def njit(**options):
        asked.append(options.get("cache", False))
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(numba, "njit", njit)
    assert kernel(overlap)(np.ones(2), np.ones(2)) == pytest.approx(2.0)
    assert asked == [True, False]
