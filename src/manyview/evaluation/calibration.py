"""Do probabilities mean what they say?"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.checks import check_number
from ..errors import ParameterError

__all__ = ["calibration_error"]


def calibration_error(probabilities: Any, right: Any, n_bins: int = 15) -> float:
    """Expected calibration error: ``|mean probability - share right|`` in equal bins of probability, weighted by size.

    0 where of all proposals with probability 0.8 about 80 % are right, and so on. Bins are of equal width.

    >>> round(calibration_error([0.9, 0.9, 0.1, 0.1], [True, True, False, True]), 6)
    0.25
    """
    value, truth = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if value.shape != truth.shape or value.ndim != 1 or not value.size:
        raise ParameterError(
            f"calibration_error needs as many answers as probabilities, at least one; got shapes {value.shape} and "
            f"{truth.shape}."
        )
    check_number("n_bins", n_bins, integer=True, low=1)
    if not ((value >= 0) & (value <= 1)).all() or not np.isin(truth, (0, 1)).all():
        raise ParameterError("calibration_error needs probabilities from 0 to 1, and answers that are True or False.")
    place = np.minimum((value * n_bins).astype(int), n_bins - 1)
    gap = np.bincount(place, weights=value - truth, minlength=n_bins)
    return float(np.abs(gap).sum() / value.size)
