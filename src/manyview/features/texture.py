"""Texture of a picture: wavelet energies, local binary patterns, colour texture moments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.checks import check_number
from .base import PictureExtractor
from .pictures import RGB, grey_levels, grid_cells, resized

__all__ = ["ColorTexture", "LocalBinaryPatterns", "WaveletTexture"]

_BANDS = ("LL", "HL", "LH", "HH")
_SIDE = 128


class WaveletTexture(PictureExtractor):
    """How coarse and how directed the texture is: energies of wavelet bands (128 numbers).

    The wavelet texture of the GHF-ART paper: mean and deviation of the absolute coefficients of 12 bands of a pyramid
    (four levels, three directions) and of 52 bands of a tree (three levels; every band but the diagonal one is split
    again: 4 + 12 + 36). Grey levels from 0 to 1, 128 x 128 pixels, Daubechies filter of length 8.
    """

    name = "wavelets"

    @property
    def columns(self) -> tuple[str, ...]:
        """Path of the band, then mean or std: "tree LL.HL std"."""
        bands = [f"pyramid {'LL.' * level}{band}" for level in range(4) for band in _BANDS[1:]]
        level = [""]
        for _ in range(3):
            level = [f"{path}{band}" for path in level for band in _BANDS]
            bands += [f"tree {path}" for path in level]
            level = [f"{path}." for path in level if not path.endswith("HH")]
        return tuple(f"{band} {kind}" for band in bands for kind in ("mean", "std"))

    def _describe(self, picture: RGB) -> NDArray[Any]:
        grey = grey_levels(resized(picture, _SIDE, _SIDE)) / 255.0
        bands = [*_pyramid(grey, 4), *_tree(grey, 3)]
        sizes = [np.abs(band) for band in bands]
        return np.array([(size.mean(), size.std()) for size in sizes]).ravel()


def _split(grey: NDArray[Any]) -> list[NDArray[Any]]:
    """The four bands of one step, in the order of ``_BANDS``: HL has the vertical edges."""
    import pywt

    smooth, (horizontal, vertical, diagonal) = pywt.dwt2(grey, "db4", mode="periodization")
    return [smooth, vertical, horizontal, diagonal]


def _pyramid(grey: NDArray[Any], levels: int) -> Iterator[NDArray[Any]]:
    for _ in range(levels):
        grey, *details = _split(grey)
        yield from details


def _tree(grey: NDArray[Any], levels: int) -> Iterator[NDArray[Any]]:
    level = [grey]
    for _ in range(levels):
        split = [_split(band) for band in level]
        yield from (band for bands in split for band in bands)
        level = [band for bands in split for band in bands[:3]]


class LocalBinaryPatterns(PictureExtractor):
    """Which small patterns occur: shares of the 256 ways in which a pixel's eight neighbours are lighter or not.

    T. Ojala, M. Pietikäinen, T. Mäenpää, 2002, plain patterns at radius 1. Brightness and contrast do not matter.
    ``grid`` counts them in each cell of a grid.
    """

    name = "lbp"

    def __init__(self, *, grid: int = 1) -> None:
        self.grid = check_number("grid", grid, integer=True, low=1)

    @property
    def columns(self) -> tuple[str, ...]:
        """row,column of the cell, then the pattern: "0,0 17"."""
        cells = [f"{row},{column}" for row in range(self.grid) for column in range(self.grid)]
        return tuple(f"{cell} {pattern}" for cell in cells for pattern in range(256))

    def _describe(self, picture: RGB) -> NDArray[Any]:
        from skimage.feature import local_binary_pattern

        # Whole grey levels, so that flat areas tie exactly; the rim is doubled, so that every pixel has neighbours.
        grey = np.pad(np.rint(grey_levels(picture)).astype(np.uint8), 1, mode="edge")
        codes = local_binary_pattern(grey, 8, 1)[1:-1, 1:-1].astype(np.int64)
        found = []
        for rows, columns in grid_cells(codes.shape, self.grid):
            cell = codes[rows, columns].ravel()
            found.append(np.bincount(cell, minlength=256) / cell.size)
        return np.concatenate(found)


class ColorTexture(PictureExtractor):
    """Colour and texture in one: colour texture moments (48 numbers).

    H. Yu, M. Li, H.-J. Zhang, J. Feng, 2002, one of the six views of the RMKMC paper. In each of the channels S V cos
    H, S V sin H and V, the ring of a pixel's eight neighbours is Fourier transformed; mean and deviation of each of
    the eight real coefficients over the picture.
    """

    name = "color_texture"

    @property
    def columns(self) -> tuple[str, ...]:
        """channel, coefficient, moment: "V cos2 std"."""
        maps = ("sum", "cos1", "sin1", "cos2", "sin2", "cos3", "sin3", "alternating")
        return tuple(f"{c} {m} {kind}" for c in ("SVcosH", "SVsinH", "V") for m in maps for kind in ("mean", "std"))

    def _describe(self, picture: RGB) -> NDArray[Any]:
        from skimage.color import rgb2hsv

        hue, saturation, value = np.moveaxis(rgb2hsv(picture), 2, 0)
        angle = 2 * np.pi * hue
        found = []
        for channel in (saturation * value * np.cos(angle), saturation * value * np.sin(angle), value):
            for coefficient in _ring_transform(channel):
                found += [coefficient.mean(), coefficient.std()]
        return np.array(found)


def _ring_transform(channel: NDArray[Any]) -> NDArray[Any]:
    """Real Fourier coefficients of the eight neighbours, anticlockwise from the right: (8, n_pixels)."""
    height, width = channel.shape
    padded = np.pad(channel, 1, mode="edge")
    steps = [(0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1)]
    ring = np.stack([padded[1 + dy : 1 + dy + height, 1 + dx : 1 + dx + width].ravel() for dy, dx in steps])
    spectrum = np.fft.rfft(np.eye(8), axis=0)
    middle = [part for order in (1, 2, 3) for part in (spectrum[order].real, spectrum[order].imag)]
    return np.asarray(np.stack([spectrum[0].real, *middle, spectrum[4].real]) @ ring)
