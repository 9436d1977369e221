"""The few types that every room speaks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["Floats", "Ids", "Ints", "Mask", "Places", "Progress", "Singles"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Ids = NDArray[np.int64]
"""Numbers of items, ascending where nothing else is said."""
Places = NDArray[np.intp]
"""Rows and labels as NumPy's own functions take and give them."""
Mask = NDArray[np.bool_]

Progress = Callable[[str, int, int], None]
"""Called as work goes on: what is being done, how much is done, and of how much."""
