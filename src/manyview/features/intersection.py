"""The kernel of histogram intersection as an inner product, for methods that compare rows by distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, ViewError

__all__ = ["intersection_map"]

_STEPS = (0.938, 0.8137, 0.7437)
"""Between frequencies, for one to three of them: the least mean squared error for numbers drawn evenly from 0 to 1."""


def intersection_map(X: Any, n_frequencies: int = 1) -> NDArray[np.float64]:
    """Rows whose inner products are close to the sums of min(x, y) over the columns: how much two histograms share.

    Every column becomes ``1 + 2 n_frequencies`` columns, side by side: a constant part, and cosine and sine of each
    frequency. ``n_frequencies`` is 1, 2 or 3. ``X`` holds no negative numbers, (n_items, n_columns). It is coarse:
    two equal rows share .86, .89 or .91 of their sum. scikit-learn's ``AdditiveChi2Sampler`` does the like for the
    chi-squared kernel, and has none for this one.

    A. Vedaldi and A. Zisserman, "Efficient additive kernels via explicit feature maps", PAMI 2012: min(x, y) is
    sqrt(x y) exp(-d / 2), d being how far their logarithms are apart, whose spectrum 2 / (pi (1 + 4 w^2)) is sampled at
    whole multiples of a step.

    >>> import numpy as np
    >>> rows = intersection_map([[0.5, 0.5], [0.1, 0.9]], n_frequencies=3)
    >>> rows.shape, float(np.round(rows[0] @ rows[1], 2))  # they share 0.6
    ((2, 14), 0.65)
    """
    if n_frequencies not in (1, 2, 3):
        raise ParameterError(f"n_frequencies must be 1, 2 or 3, got {n_frequencies!r}.")
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2:
        raise ViewError(f"histograms must be a table (n_items, n_columns), got shape {values.shape}.")
    if (values < 0).any():
        raise ViewError("histograms must hold no negative numbers.")
    step = _STEPS[n_frequencies - 1]
    logarithm = np.log(np.where(values > 0, values, 1.0))
    parts = [np.sqrt(values * step * _spectrum(0.0))]
    for number in range(1, n_frequencies + 1):
        length = np.sqrt(2 * values * step * _spectrum(number * step))
        parts += [length * np.cos(number * step * logarithm), length * np.sin(number * step * logarithm)]
    return np.stack(parts, axis=2).reshape(len(values), len(parts) * values.shape[1])


def _spectrum(frequency: float) -> float:
    return 2 / (np.pi * (1 + 4 * frequency**2))
