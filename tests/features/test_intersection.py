"""The map of histogram intersection, against the kernel itself."""

import numpy as np
import pytest

from manyview.errors import ParameterError, ViewError
from manyview.features.intersection import _STEPS, intersection_map


def kernel(X, Y):
    return np.array([[sum(min(a, b) for a, b in zip(x, y, strict=True)) for y in Y] for x in X])


def histograms(seed=0, shape=(30, 40)):
    made = np.random.default_rng(seed).gamma(0.4, size=shape)
    made[made < 0.05] = 0
    return made / made.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("n_frequencies", "most"), [(1, 0.05), (2, 0.03), (3, 0.025)])
def test_inner_products_are_the_kernel(n_frequencies, most):
    X = histograms()
    rows = intersection_map(X, n_frequencies)
    assert rows.shape == (30, 40 * (1 + 2 * n_frequencies))
    exact = kernel(X, X)
    error = rows @ rows.T - exact
    np.fill_diagonal(error, 0)
    assert np.sqrt((error**2).mean()) < most < exact.mean() / 5
    # and closer than the shares themselves come by any factor
    linear = X @ X.T
    factor = (linear * exact).sum() / (linear**2).sum()
    assert (error**2).mean() < ((factor * linear - exact) ** 2).mean() / 2


def test_by_hand():
    """One frequency: sqrt(x L k(0)), then sqrt(2 x L k(L)) times cosine and sine of L ln x; k is the spectrum."""
    step = _STEPS[0]
    constant, turning = step * 2 / np.pi, 2 * step * 2 / (np.pi * (1 + 4 * step**2))
    rows = intersection_map([[1.0, 0.0], [0.25, 4.0]])
    np.testing.assert_allclose(rows[0], [constant**0.5, turning**0.5, 0, 0, 0, 0])
    angle = step * np.log(4)
    quarter = [(constant / 4) ** 0.5, (turning / 4) ** 0.5 * np.cos(angle), -((turning / 4) ** 0.5) * np.sin(angle)]
    np.testing.assert_allclose(rows[1, :3], quarter)
    assert rows[0] @ rows[1] == pytest.approx(0.5 * (constant + turning * np.cos(angle)))


def test_what_equal_rows_share():
    found = [float(np.sum(intersection_map([[0.3, 0.7]], n) ** 2)) for n in (1, 2, 3)]
    np.testing.assert_allclose(found, [0.86, 0.89, 0.91], atol=0.005)


def test_twice_the_histogram_is_twice_the_kernel():
    X = histograms()
    once, twice = intersection_map(X), intersection_map(2 * X)
    np.testing.assert_allclose(twice @ twice.T, 2 * once @ once.T)


@pytest.mark.parametrize("n_frequencies", [1, 2, 3])
def test_no_other_step_is_better(n_frequencies, monkeypatch):
    """Mean squared error over pairs on a fine grid from 0 to 1."""
    x = (np.arange(400)[:, None] + 0.5) / 400
    exact = np.minimum(x, x.T)

    def error(step):
        steps = list(_STEPS)
        steps[n_frequencies - 1] = step
        monkeypatch.setattr("manyview.features.intersection._STEPS", tuple(steps))
        rows = intersection_map(x, n_frequencies)
        return ((rows @ rows.T - exact) ** 2).mean()

    best = _STEPS[n_frequencies - 1]
    assert error(best) < min(error(best - 0.02), error(best + 0.02))


def test_errors_say_what_to_do():
    with pytest.raises(ParameterError, match="must be 1, 2 or 3"):
        intersection_map([[1.0]], 4)
    with pytest.raises(ViewError, match="no negative numbers"):
        intersection_map([[1.0, -0.1]])
    with pytest.raises(ViewError, match="a table"):
        intersection_map([1.0])
