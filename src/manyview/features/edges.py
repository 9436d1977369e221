"""Edges of a picture: their directions over the whole, and gradients cell by cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.checks import check_number
from ..errors import ParameterError
from .base import PictureExtractor
from .pictures import RGB, grey_levels, resized

__all__ = ["EdgeDirections", "OrientedGradients"]

_BINS = 72


class EdgeDirections(PictureExtractor):
    """Which directions the edges have: a histogram in steps of five degrees (73 numbers).

    The edge direction histogram of the GHF-ART paper: of the edge pixels (Canny), the share in each of 72 directions of
    the gradient, anticlockwise from the right, from dark to light; last, the share of pixels that are no edge.
    """

    name = "edges"

    @property
    def columns(self) -> tuple[str, ...]:
        """Degrees, and "none"."""
        return (*(f"{5 * number}°" for number in range(_BINS)), "none")

    def _describe(self, picture: RGB) -> NDArray[Any]:
        from scipy.ndimage import gaussian_filter
        from skimage.feature import canny

        grey = grey_levels(picture) / 255.0
        row = np.zeros(_BINS + 1)
        edge = canny(grey, sigma=1.0, low_threshold=0.04, high_threshold=0.1, mode="nearest")
        n_edges = int(edge.sum())
        row[_BINS] = 1 - n_edges / edge.size
        if n_edges:
            smooth = np.pad(gaussian_filter(grey, 1.0, mode="nearest"), 1, mode="edge")
            right = smooth[1:-1, 2:] - smooth[1:-1, :-2]
            up = smooth[:-2, 1:-1] - smooth[2:, 1:-1]
            degrees = np.degrees(np.arctan2(up[edge], right[edge]))
            # Bins are centred on multiples of five degrees: exact directions do not sit on a border.
            bins = np.rint(degrees / 5).astype(np.int64) % _BINS
            row[:_BINS] = np.bincount(bins, minlength=_BINS) / n_edges
        return row


class OrientedGradients(PictureExtractor):
    """The shape of what is shown: histograms of gradient directions, cell by cell (HOG, 1,764 numbers).

    N. Dalal, B. Triggs, 2005, by scikit-image: the picture stretched to 64 x 64, cells of 8 x 8 pixels, 9 directions,
    overlapping blocks of 2 x 2 cells that are normalised by themselves.
    """

    name = "hog"

    def __init__(self, *, side: int = 64, cell: int = 8, block: int = 2, directions: int = 9) -> None:
        self.side = check_number("side", side, integer=True, low=8)
        self.cell = check_number("cell", cell, integer=True, low=2)
        self.block = check_number("block", block, integer=True, low=1)
        self.directions = check_number("directions", directions, integer=True, low=1)
        if self._blocks < 1:
            raise ParameterError(
                f"a picture of side {side} has {self.side // self.cell} cells of {cell} pixels; a block of {block} x "
                f"{block} cells does not fit. Choose a larger side or a smaller cell."
            )

    @property
    def _blocks(self) -> int:
        return int(self.side // self.cell - self.block + 1)

    @property
    def columns(self) -> tuple[str, ...]:
        """row,column of the block, of the cell in it, and the direction: "0,3 1,0 5"."""
        blocks = [f"{row},{column}" for row in range(self._blocks) for column in range(self._blocks)]
        cells = [f"{row},{column}" for row in range(self.block) for column in range(self.block)]
        return tuple(f"{b} {c} {d}" for b in blocks for c in cells for d in range(self.directions))

    def _describe(self, picture: RGB) -> NDArray[Any]:
        from skimage.feature import hog

        found: NDArray[Any] = hog(
            grey_levels(resized(picture, self.side, self.side)) / 255.0,
            orientations=self.directions,
            pixels_per_cell=(self.cell, self.cell),
            cells_per_block=(self.block, self.block),
            block_norm="L2-Hys",
        )
        return found
