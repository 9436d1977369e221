"""Where a picture is to be cut to a square, so that what it is about is inside.

Worked out from the picture alone: edges, weighted by how rare their colours are in the picture. Sky, grass and walls
fill much of it and count little, however rough they are; a person in front of them counts.
"""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray

from .pictures import rgb_picture

__all__ = ["attention_square", "square_thumbnail"]

_SHORT = 24
"""Cells along the short side: enough for a head, too few for grain."""
_SHADES = 6
_HABIT = 0.25
"""How much of a picture's energy speaks for the usual place, which decides where nothing else does."""
_HEADS = 0.4
"""The usual place in a tall picture: heads are above the middle."""


def attention_square(picture: NDArray[np.uint8]) -> tuple[int, int, int]:
    """Left, top and side of the largest square that shows best what the picture is about.

    >>> picture = np.zeros((40, 100, 3), np.uint8)
    >>> picture[10:30, 75:95] = 255
    >>> left, top, side = attention_square(picture)
    >>> (top, side, left <= 75 and left + side >= 95)
    (0, 40, True)
    """
    picture = rgb_picture(picture)
    height, width = picture.shape[:2]
    side, room = min(height, width), abs(height - width)
    if not room:
        return 0, 0, side
    small = _small(picture)
    if height > width:
        small = small.swapaxes(0, 1)  # from here on the long side lies flat
    energy = _energy(small).sum(axis=0)
    habit = _bump(energy.size, _HEADS if height > width else 0.5)
    if total := energy.sum():
        energy = energy / total
        if height > width:  # of somebody who stands higher than the square, the head is to be seen
            energy *= 1.5 - np.cumsum(energy)
        energy += _HABIT * habit
    else:
        energy = habit
    starts = np.arange(room + 1)
    # What lies in the middle of the square counts more than what it only just holds.
    places = (np.arange(energy.size) + 0.5) * (max(height, width) / energy.size)
    away = (places[None, :] - (starts[:, None] + side / 2)) / (side / 2)
    worth = np.where(np.abs(away) <= 1, 1 - 0.5 * away**2, 0.0) @ energy
    best = np.flatnonzero(worth >= worth.max() * (1 - 1e-9))
    start = int(best[best.size // 2])
    return (0, start, side) if height > width else (start, 0, side)


def square_thumbnail(content: bytes) -> bytes:
    """A thumbnail of ours cut to a square; as it is where it is one."""
    from PIL import Image

    with Image.open(io.BytesIO(content)) as image:
        if image.width == image.height:
            return content
        left, top, side = attention_square(np.asarray(image.convert("RGB")))
        made = io.BytesIO()
        image.crop((left, top, left + side, top + side)).save(made, "JPEG", quality=88)
    return made.getvalue()


def _small(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    from PIL import Image

    height, width = picture.shape[:2]
    scale = min(1.0, _SHORT / min(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BOX), dtype=np.float32)


def _energy(small: NDArray[np.float32]) -> NDArray[np.float64]:
    """How much each cell differs from those beside it, times how rare its colour is."""
    edges = np.zeros(small.shape[:2])
    across = np.abs(np.diff(small, axis=0)).max(axis=2)
    along = np.abs(np.diff(small, axis=1)).max(axis=2)
    edges[1:] += across
    edges[:-1] += across
    edges[:, 1:] += along
    edges[:, :-1] += along
    shades = np.minimum(small * (_SHADES / 256), _SHADES - 1).astype(np.int64)
    colours = (shades[..., 0] * _SHADES + shades[..., 1]) * _SHADES + shades[..., 2]
    counts = np.bincount(colours.ravel(), minlength=_SHADES**3)
    rare: NDArray[np.float64] = -np.log(counts[colours] / colours.size)
    return edges * rare


def _bump(n: int, centre: float) -> NDArray[np.float64]:
    """A smooth hill over n cells, with the sum 1."""
    away = (np.arange(n) + 0.5) / n - centre
    hill = np.exp(-8 * away**2)
    return np.asarray(hill / hill.sum())
