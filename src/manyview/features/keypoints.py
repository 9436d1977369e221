"""Local descriptors of pictures: SIFT on a grid, and SIFT at interest points with the ``opencv`` extra."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingExtra, ParameterError, ViewError
from .pictures import check_picture, grey_levels

__all__ = ["DESCRIPTOR_SIZE", "dense_sift", "grey_image", "interest_points"]

DESCRIPTOR_SIZE = 128

Descriptors = NDArray[np.uint8]
Frames = NDArray[np.float32]


def grey_image(image: Any, max_side: int | None = None) -> NDArray[np.float32]:
    """A picture as grey levels from 0 to 255, float32 (height, width).

    ``image`` is a path, a Pillow image or an array: (h, w) or (h, w, 3 or 4), bytes or numbers from 0 to 1. A
    picture whose longer side exceeds ``max_side`` is reduced to it; it is turned upright first where its EXIF data
    say so.
    """
    from PIL import Image, ImageOps

    if isinstance(image, (str, os.PathLike)):
        try:
            with Image.open(image) as opened:
                # JPEG can be decoded at a reduced size; that is much of the time for photographs.
                if max_side is not None:
                    opened.draft("L", (max_side, max_side))
                return grey_image(opened, max_side)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            if isinstance(error, ViewError):
                raise
            raise ViewError(f"{os.fspath(image)} cannot be read as a picture: {error}.") from error
    if isinstance(image, Image.Image):
        picture = ImageOps.exif_transpose(image)
        grey = np.asarray(picture.convert("L"), dtype=np.float32)
    else:
        grey = _grey_array(image)
    if max_side is not None and max(grey.shape) > max_side:
        scale = max_side / max(grey.shape)
        size = tuple(max(1, round(length * scale)) for length in reversed(grey.shape))
        grey = np.asarray(Image.fromarray(grey).resize(size, Image.Resampling.LANCZOS), dtype=np.float32)
    return np.ascontiguousarray(grey)


def _grey_array(image: Any) -> NDArray[np.float32]:
    array = check_picture(image, "a path, a Pillow image or an array")
    values = array.astype(np.float32)
    if array.dtype.kind in "fb":
        values *= 255
    # Transparency is left aside.
    return grey_levels(values[..., :3]) if array.ndim == 3 else values


def _describe(
    grey: NDArray[np.float32], points: NDArray[Any], cell_width: float, min_contrast: float, camera_blur: float = 0.5
) -> Descriptors:
    """Upright SIFT descriptors, uint8 (n, 128), at points (x, y) given in pixels.

    A patch is 4 x 4 cells of ``cell_width`` pixels. The picture is smoothed to a blur of a third of that, which is
    the ratio of Lowe's SIFT; ``camera_blur`` is what it is taken to have already. O(n cell_width^2).
    """
    from scipy.ndimage import gaussian_filter

    from . import _sift_kernels as kernels

    blur = np.sqrt(max((cell_width / 3) ** 2 - camera_blur**2, 0.01))
    smooth = gaussian_filter(grey, blur, mode="mirror")
    magnitude, direction = np.zeros((2, *grey.shape), dtype=np.float32)
    kernels.gradients(smooth, magnitude, direction)
    at = np.rint(points.reshape(-1, 2)).astype(np.int64)
    out = np.empty((at.shape[0], DESCRIPTOR_SIZE), dtype=np.uint8)
    columns, rows = np.ascontiguousarray(at[:, 0]), np.ascontiguousarray(at[:, 1])
    kernels.describe(magnitude, direction, rows, columns, float(cell_width), float(min_contrast), out)
    return out


def dense_sift(
    image: Any, *, step: int = 8, cell_widths: Sequence[float] = (4.0, 6.0, 8.0), min_contrast: float = 1.0
) -> tuple[Descriptors, Frames]:
    """SIFT descriptors on a grid: what is there everywhere, also where nothing stands out.

    Every ``step`` pixels, at every cell width (patches are four cells wide). Patches whose mean gradient is below
    ``min_contrast`` grey levels (of 255, over two pixels) are all zero: sky and walls, rather than noise. Returns
    the descriptors, uint8 (n, 128), and where they are: x, y, cell width, float32 (n, 3). A picture smaller than a
    patch gives one, at its centre.
    """
    if step < 1 or int(step) != step:
        raise ParameterError(f"step must be an integer of at least 1, got {step!r}.")
    if not cell_widths or min(cell_widths) <= 0:
        raise ParameterError(f"cell_widths must be one or more positive numbers, got {cell_widths!r}.")
    grey = grey_image(image)
    descriptors, frames = [], []
    for width in cell_widths:
        x, y = (_grid(length, int(step), 2.0 * width) for length in reversed(grey.shape))
        points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        descriptors.append(_describe(grey, points, float(width), min_contrast))
        frames.append(np.column_stack([points, np.full(len(points), width)]).astype(np.float32))
    return np.concatenate(descriptors), np.concatenate(frames)


def _grid(length: int, step: int, margin: float) -> NDArray[np.int64]:
    """Evenly spaced positions, centred, at least ``margin`` from both ends where that is possible."""
    room = length - 1 - 2 * margin
    if room < 0:
        return np.array([(length - 1) // 2])
    count = int(room // step) + 1
    first = round((length - 1 - (count - 1) * step) / 2)
    return first + step * np.arange(count)


def interest_points(image: Any, *, max_points: int | None = None) -> tuple[Descriptors, Frames]:
    """SIFT descriptors where something stands out (Lowe's detector), by OpenCV; needs the ``opencv`` extra.

    Returns as ``dense_sift``; patches are turned to the direction of their point, and their cells are one and a half
    times as wide as the point's size. ``max_points`` keeps the strongest; a picture without any gives none.
    """
    try:
        import cv2
    except ImportError as error:
        raise MissingExtra(
            "SIFT interest points need the 'opencv' extra:  pip install \"manyview[opencv]\". Dense descriptors "
            "(dense_sift) need nothing."
        ) from error
    grey = np.clip(np.rint(grey_image(image)), 0, 255).astype(np.uint8)
    found, values = cv2.SIFT_create(nfeatures=max_points or 0).detectAndCompute(grey, None)
    if values is None:
        return np.empty((0, DESCRIPTOR_SIZE), dtype=np.uint8), np.empty((0, 3), dtype=np.float32)
    frames = np.array([(*point.pt, 1.5 * point.size) for point in found], dtype=np.float32)
    return np.rint(values).astype(np.uint8), frames
