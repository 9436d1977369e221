"""Colours of a picture: moments on a grid, and a histogram."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.checks import check_number
from .base import PictureExtractor
from .pictures import RGB, grid_cells

__all__ = ["ColorHistogram", "ColorMoments"]


class ColorMoments(PictureExtractor):
    """Which colours are where: mean, deviation and skewness of L, a and b in the cells of a grid (225 numbers).

    The grid colour moments of the GHF-ART paper (5 x 5 cells x 3 channels x 3 moments) in CIELAB. The third moment is
    the cube root of the mean cube, so that all three are in the units of the channel.
    """

    name = "color_moments"

    def __init__(self, *, grid: int = 5, moments: int = 3) -> None:
        self.grid = check_number("grid", grid, integer=True, low=1)
        self.moments = check_number("moments", moments, integer=True, low=1, high=3)

    @property
    def columns(self) -> tuple[str, ...]:
        """row,column channel moment: "0,4 a std"."""
        kinds = ("mean", "std", "skew")[: self.moments]
        cells = [f"{row},{column}" for row in range(self.grid) for column in range(self.grid)]
        return tuple(f"{cell} {channel} {kind}" for cell in cells for channel in "Lab" for kind in kinds)

    def _describe(self, picture: RGB) -> NDArray[Any]:
        from skimage.color import rgb2lab

        lab = rgb2lab(picture)
        found = []
        for rows, columns in grid_cells(picture.shape[:2], self.grid):
            values = lab[rows, columns].reshape(-1, 3)
            mean = values.mean(axis=0)
            rest = values - mean
            moments = [mean, np.sqrt((rest**2).mean(axis=0)), np.cbrt((rest**3).mean(axis=0))]
            found.append(np.stack(moments[: self.moments], axis=1))
        return np.concatenate(found).ravel()


class ColorHistogram(PictureExtractor):
    """How much of which colour: shares of pixels in 8 hues x 4 saturations x 4 brightnesses (128 numbers, sum 1)."""

    name = "color_histogram"

    def __init__(self, *, hues: int = 8, saturations: int = 4, values: int = 4) -> None:
        self.hues = check_number("hues", hues, integer=True, low=1, high=256)
        self.saturations = check_number("saturations", saturations, integer=True, low=1, high=256)
        self.values = check_number("values", values, integer=True, low=1, high=256)

    @property
    def columns(self) -> tuple[str, ...]:
        """hue saturation value, counted from 0: "h3 s0 v2"."""
        return tuple(
            f"h{h} s{s} v{v}" for h in range(self.hues) for s in range(self.saturations) for v in range(self.values)
        )

    def _describe(self, picture: RGB) -> NDArray[Any]:
        from PIL import Image

        sizes = np.array([self.hues, self.saturations, self.values])
        hsv = np.asarray(Image.fromarray(picture).convert("HSV")).reshape(-1, 3).astype(np.int64)
        h, s, v = ((hsv * sizes) >> 8).T
        counts = np.bincount((h * sizes[1] + s) * sizes[2] + v, minlength=int(sizes.prod()))
        return counts / len(hsv)
