"""HOG3D: local descriptors of a clip, histograms of how brightness changes across, down and in time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from ...errors import ParameterError, ViewError

__all__ = ["DESCRIPTOR_SIZE", "DIRECTIONS", "hog3d"]

_CELLS = (3, 4, 4)
"""Of a patch: in time, down and across."""
_APART = 2
"""Cells from one patch to the next, on each side and in time."""
_MOST = 0.25
"""No number of a patch of length one may be larger, so that no single edge decides."""


def _directions() -> NDArray[np.float32]:
    """The middles of the 20 faces of an icosahedron as (x, y, t) of length one: the corners of a dodecahedron."""
    golden = (1 + 5**0.5) / 2
    corners: list[tuple[float, ...]] = list(product((-1.0, 1.0), repeat=3))
    for a, b in product((-1 / golden, 1 / golden), (-golden, golden)):
        corners += [(0.0, a, b), (a, b, 0.0), (b, 0.0, a)]
    return (np.array(sorted(corners)) / 3**0.5).astype(np.float32)


DIRECTIONS = _directions()
_NEIGHBOUR = np.float32(5**0.5 / 3)
"""The cosine between two neighbouring directions: what lies on one of them is no part of the others."""
DESCRIPTOR_SIZE = len(DIRECTIONS) * int(np.prod(_CELLS))

Descriptors = NDArray[np.uint8]
Positions = NDArray[np.float32]


def hog3d(
    frames: Any, *, cell_widths: Sequence[int] = (4, 8), min_contrast: float = 1.0
) -> tuple[Descriptors, Positions]:
    """HOG3D descriptors on a grid over frames that follow each other, grey levels (n_frames, height, width).

    A patch has 4 x 4 cells of ``cell_widths`` pixels (even numbers) and three of two frames, and lies half a patch from
    the next. A cell is cut into 2 x 2 x 2 blocks; the mean gradient of a block votes for the nearest of 20 directions
    with its length. A patch is brought to length one, cut off at 0.25, brought to length one again, and times 512.
    Patches whose mean gradient is below ``min_contrast`` grey levels (of 255, over two pixels or frames) are all zero.
    Returns the descriptors, uint8 (n, 960), ordered by time, row and column of cells and direction, and where their
    middles are, float32 (n, 2): shares of width and height. Fewer than six frames, or frames smaller than a patch,
    give none.

    A. Klaser, M. Marszalek and C. Schmid, "A spatio-temporal descriptor based on 3D-gradients", BMVC 2008, which has
    27 blocks in a cell.
    """
    volume = np.asarray(frames, dtype=np.float32)
    if volume.ndim != 3:
        raise ViewError(f"frames must be grey levels of shape (n_frames, height, width), got {volume.shape}.")
    widths = [int(width) for width in cell_widths]
    if not widths or widths != list(cell_widths) or any(width < 2 or width % 2 for width in widths):
        raise ParameterError(f"cell_widths must be even integers of at least 2, got {cell_widths!r}.")
    found = [(np.empty((0, DESCRIPTOR_SIZE), dtype=np.uint8), np.empty((0, 2), dtype=np.float32))]
    if min(volume.shape) >= 2:
        change = np.stack(list(np.gradient(volume))[::-1], axis=-1)
        found += [_patches(change, width, min_contrast) for width in widths]
    descriptors, positions = zip(*found, strict=True)
    return np.concatenate(descriptors), np.concatenate(positions)


def _patches(change: NDArray[np.float32], width: int, min_contrast: float) -> tuple[Descriptors, Positions]:
    """The patches of one size. ``change`` is the gradient, (n_frames, height, width, 3)."""
    blocks = _means(change, (1, width // 2, width // 2))
    strength = np.linalg.norm(blocks, axis=-1)
    cells = _means(_votes(blocks, strength), (2, 2, 2))
    if any(have < need for have, need in zip(cells.shape, _CELLS, strict=False)):
        return np.empty((0, DESCRIPTOR_SIZE), dtype=np.uint8), np.empty((0, 2), dtype=np.float32)
    windows = sliding_window_view(cells, _CELLS, axis=(0, 1, 2))[::_APART, ::_APART, ::_APART]
    contrast = sliding_window_view(_means(strength[..., None], (2, 2, 2))[..., 0], _CELLS)
    flat = 2 * contrast[::_APART, ::_APART, ::_APART].mean(axis=(3, 4, 5)).ravel() < min_contrast
    values = np.moveaxis(windows, 3, -1).reshape(-1, DESCRIPTOR_SIZE)
    values = _unit(np.minimum(_unit(values), np.float32(_MOST)))
    values[flat] = 0
    return np.rint(values * 512).clip(0, 255).astype(np.uint8), _middles(windows.shape[:3], width, change.shape)


def _votes(blocks: NDArray[np.float32], strength: NDArray[np.float32]) -> NDArray[np.float32]:
    """Each block's gradient over the directions near it: a histogram as long as the gradient."""
    shares = blocks @ DIRECTIONS.T - _NEIGHBOUR * strength[..., None]
    np.maximum(shares, 0, out=shares)
    return _unit(shares) * strength[..., None]


def _means(values: NDArray[np.float32], size: tuple[int, int, int]) -> NDArray[np.float32]:
    """Means over boxes of a grid; what is left over at the ends does not count."""
    count = [length // one for length, one in zip(values.shape, size, strict=False)]
    kept = values[tuple(slice(n * one) for n, one in zip(count, size, strict=True))]
    boxes = kept.reshape(count[0], size[0], count[1], size[1], count[2], size[2], values.shape[-1])
    means: NDArray[np.float32] = boxes.mean(axis=(1, 3, 5))
    return means


def _unit(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows of length one; rows of zeros stay."""
    length = np.linalg.norm(values, axis=-1, keepdims=True)
    return np.asarray(values / np.maximum(length, np.finfo(np.float32).tiny), dtype=np.float32)


def _middles(counts: tuple[int, ...], width: int, shape: tuple[int, ...]) -> Positions:
    """Where the middles of patches are, in the order of the patches."""
    n_times, n_down, n_across = counts
    down, across = (
        (np.arange(n) * _APART + _CELLS[1] / 2) * width / length
        for n, length in ((n_down, shape[1]), (n_across, shape[2]))
    )
    places = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
    return np.tile(places, (n_times, 1)).astype(np.float32).clip(0, 1 - np.finfo(np.float32).eps)
