"""The layout of a scene: GIST and CENTRIST."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks import workers
from ..data.checks import check_number
from ..errors import ParameterError
from .base import PictureExtractor, each_picture
from .pictures import RGB, grey_levels, grid_cells, resized, rgb_picture

__all__ = ["Centrist", "Gist"]

_SIDE, _RIM = 128, 32
_SCALES, _TURNS, _GRID = 4, 8, 4
_PATTERNS = 254


class Gist(PictureExtractor):
    """The gist of a scene: how strong which frequencies and directions are in 4 x 4 parts of it (512 numbers).

    A. Oliva, A. Torralba, 2001: the picture stretched to 128 x 128, local contrast evened out, 32 Gabor filters (4
    scales x 8 directions), mean magnitude in each cell of a 4 x 4 grid.
    """

    name = "gist"

    @property
    def columns(self) -> tuple[str, ...]:
        """Scale (0 is finest), direction, and row,column of the cell: "2 5 0,3"."""
        cells = [f"{row},{column}" for row in range(_GRID) for column in range(_GRID)]
        return tuple(f"{scale} {turn} {cell}" for scale in range(_SCALES) for turn in range(_TURNS) for cell in cells)

    def _describe(self, picture: RGB) -> NDArray[Any]:
        from scipy import fft

        grey = grey_levels(resized(picture, _SIDE, _SIDE)).astype(np.float32)
        spectrum = fft.fft2(np.pad(_evened(grey), _RIM, mode="symmetric"))
        step = _SIDE // _GRID
        found = []
        for gabor in _gabor_filters():
            strength = np.abs(fft.ifft2(spectrum * gabor))[_RIM:-_RIM, _RIM:-_RIM]
            found.append(strength.reshape(_GRID, step, _GRID, step).mean(axis=(1, 3)).ravel())
        return np.concatenate(found)


def _frequencies(side: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Cycles per picture across and down, in the order of the FFT."""
    steps = np.fft.fftfreq(side, 1 / side).astype(np.float32)
    return np.meshgrid(steps, steps)


@cache
def _gabor_filters() -> NDArray[np.float32]:
    """The filters as factors in the frequency plane; the constants are those of the authors' own program."""
    side = _SIDE + 2 * _RIM
    across, down = _frequencies(side)
    radius, angle = np.hypot(across, down), np.arctan2(down, across)
    filters = []
    for scale in range(_SCALES):
        centre = 0.3 / 1.85**scale * side
        for turn in range(_TURNS):
            away = (angle + turn * np.pi / _TURNS + np.pi) % (2 * np.pi) - np.pi
            filters.append(np.exp(-3.5 * (radius / centre - 1) ** 2 - 2 * np.pi * away**2))
    return np.array(filters, dtype=np.float32)


def _evened(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """Logarithm of the grey levels, without what is coarser than four cycles, divided by the local contrast."""
    from scipy import fft

    rim = 5
    padded = np.pad(np.log1p(grey), rim, mode="symmetric")
    across, down = _frequencies(len(padded))
    coarse = np.exp(-(across**2 + down**2) * np.float32(np.log(2) / 16))

    def blurred(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(fft.ifft2(fft.fft2(values) * coarse).real)

    fine = padded - blurred(padded)
    contrast = np.sqrt(np.abs(blurred(fine**2)))
    return np.asarray((fine / (np.float32(0.2) + contrast))[rim:-rim, rim:-rim])


class Centrist(PictureExtractor):
    """The structure of a scene, also indoors: census patterns in 31 overlapping parts (CENTRIST, 1,302 numbers).

    J. Wu, J. Rehg, 2011: at each pixel, which of its eight neighbours are not lighter; the histogram of these 254
    patterns (all and none left out) in the 25 + 5 + 1 parts of a pyramid, each reduced to ``n_components`` principal
    components, with the mean and deviation of its grey levels. ``learn`` finds the components from all parts of all
    pictures, in one pass, O(n_pictures) time and constant memory.
    """

    name = "centrist"
    learns = True

    def __init__(self, *, n_components: int = 40) -> None:
        self.n_components = check_number("n_components", n_components, integer=True, low=1, high=_PATTERNS)
        self._mean: NDArray[np.float64] | None = None
        self._components: NDArray[np.float64] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Level and number of the part, then the component, "mean" or "std": "2.17 pc3"."""
        parts = [f"{level}.{n}" for level, count in ((2, 25), (1, 5), (0, 1)) for n in range(count)]
        kinds = [*(f"pc{n}" for n in range(self.n_components)), "mean", "std"]
        return tuple(f"{part} {kind}" for part in parts for kind in kinds)

    def learn(self, items: Iterable[Any], *, n_jobs: int | None = None) -> None:
        """Find the principal components of the parts' histograms."""
        total, products, count = np.zeros(_PATTERNS), np.zeros((_PATTERNS, _PATTERNS)), 0
        with workers(n_jobs) as threads:
            for rows in each_picture(items, lambda picture: _parts(rgb_picture(picture, self.max_side))[0], threads):
                total += rows.sum(axis=0)
                products += rows.T @ rows
                count += len(rows)
        if not count:
            raise ParameterError("centrist needs at least one picture to learn from, got none.")
        mean = total / count
        _, vectors = np.linalg.eigh(products / count - np.outer(mean, mean))
        components = vectors[:, ::-1][:, : self.n_components].T
        # The sign of a component is free: its largest entry is positive.
        largest = np.abs(components).argmax(axis=1)
        signs = np.sign(components[np.arange(len(components)), largest])
        self._mean, self._components = mean, components * signs[:, None]

    def state(self) -> dict[str, Any]:
        """The mean histogram and the components."""
        mean, components = self._learned()
        return {"mean": mean, "components": components}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what ``state`` gave."""
        mean, components = (np.asarray(state.get(key), dtype=np.float64) for key in ("mean", "components"))
        if mean.shape != (_PATTERNS,) or components.shape != (self.n_components, _PATTERNS):
            raise ParameterError(
                f"the state of centrist must hold a mean of {_PATTERNS} numbers and components of "
                f"{self.n_components} x {_PATTERNS}; got {mean.shape} and {components.shape}."
            )
        self._mean, self._components = mean, components

    def _learned(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self._mean is None or self._components is None:
            raise ParameterError("centrist has learned nothing yet: call learn with the pictures, or restore, first.")
        return self._mean, self._components

    def _describe(self, picture: RGB) -> NDArray[Any]:
        mean, components = self._learned()
        histograms, levels = _parts(picture)
        return np.concatenate([(histograms - mean) @ components.T, levels], axis=1).ravel()


def _parts(picture: RGB) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Histograms (31, 254), each of mean 0 and length 1, and mean and deviation of the grey levels (31, 2)."""
    histograms, levels = [], []
    for n_cells in (4, 2, 1):
        # Coarser levels look at a smaller picture, so that every part has about the same number of pixels.
        height, width = (max(1, round(length * n_cells / 4)) for length in picture.shape[:2])
        grey = np.rint(grey_levels(resized(picture, width, height))).astype(np.uint8)
        codes = _census(grey)
        for rows, columns in _overlapping(grey.shape, n_cells):
            found = np.bincount(codes[rows, columns].ravel(), minlength=256)[1:255].astype(np.float64)
            found -= found.mean()
            length = np.linalg.norm(found)
            histograms.append(found / length if length > 0 else found)
            part = grey[rows, columns] / 255.0
            levels.append((part.mean(), part.std()))
    return np.array(histograms), np.array(levels)


def _overlapping(shape: tuple[int, ...], n_cells: int) -> Iterator[tuple[slice, slice]]:
    """The cells of a grid, then those moved by half a cell both ways."""
    yield from grid_cells(shape, n_cells)
    halves = list(grid_cells(shape, 2 * n_cells))
    for row in range(1, 2 * n_cells - 1, 2):
        for column in range(1, 2 * n_cells - 1, 2):
            first, last = halves[row * 2 * n_cells + column], halves[(row + 1) * 2 * n_cells + column + 1]
            yield slice(first[0].start, last[0].stop), slice(first[1].start, last[1].stop)


def _census(grey: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Eight bits per pixel, set where the neighbour is not lighter; neighbours row by row, the first is the highest."""
    height, width = grey.shape
    padded = np.pad(grey, 1, mode="edge")
    codes = np.zeros(grey.shape, dtype=np.uint8)
    for dy in range(3):
        for dx in range(3):
            if (dy, dx) != (1, 1):
                codes <<= 1
                codes |= grey >= padded[dy : dy + height, dx : dx + width]
    return codes
