"""A picture in whatever form it comes, as the one form that extractors work on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ViewError

__all__ = ["check_picture", "flatten_modes", "grey_levels", "grid_cells", "resized", "rgb_picture"]

RGB = NDArray[np.uint8]


def rgb_picture(picture: Any, max_side: int | None = None) -> RGB:
    """A picture as uint8 (height, width, 3).

    ``picture`` is a Pillow image, or an array: (h, w), (h, w, 3) or (h, w, 4), bytes or numbers from 0 to 1. Pillow
    images are turned upright as their EXIF data say; what is transparent becomes white. A picture whose longer side
    exceeds ``max_side`` is reduced to it.
    """
    from PIL import Image, ImageOps

    if isinstance(picture, Image.Image):
        upright = ImageOps.exif_transpose(picture)
        rgb = np.asarray(flatten_modes(upright))
    else:
        rgb = _rgb_array(picture)
    if max_side is not None and max(rgb.shape[:2]) > max_side:
        scale = max_side / max(rgb.shape[:2])
        height, width = (max(1, round(length * scale)) for length in rgb.shape[:2])
        rgb = resized(rgb, width, height)
    return np.ascontiguousarray(rgb)


def resized(rgb: RGB, width: int, height: int) -> RGB:
    """The picture stretched to a size; each new pixel averages what it covers."""
    from PIL import Image

    if rgb.shape[:2] == (height, width):
        return rgb
    return np.asarray(Image.fromarray(rgb).resize((width, height), Image.Resampling.BICUBIC))


def grey_levels(rgb: NDArray[Any]) -> NDArray[np.float32]:
    """Brightness from 0 to 255, float32 (height, width): luma of ITU-R 601, as Pillow's "L"."""
    return rgb.astype(np.float32) @ np.array([0.299, 0.587, 0.114], dtype=np.float32)


def grid_cells(shape: tuple[int, ...], n_cells: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of the cells of an n x n grid, row by row; a picture smaller than it repeats its pixels."""
    cuts = [[length * number // n_cells for number in range(n_cells + 1)] for length in shape]
    for row in range(n_cells):
        for column in range(n_cells):
            top, left = cuts[0][row], cuts[1][column]
            yield slice(top, max(top + 1, cuts[0][row + 1])), slice(left, max(left + 1, cuts[1][column + 1]))


def flatten_modes(image: Any) -> Any:
    """A Pillow image of any mode as RGB: 16-bit and float ones scaled to bytes, transparency laid on white."""
    from PIL import Image

    if image.mode == "RGB":
        return image
    if image.mode in ("F", "I") or image.mode.startswith("I;"):
        return Image.fromarray(_bytes(np.asarray(image))).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        seen = image.convert("RGBA")
        white = Image.new("RGBA", seen.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, seen).convert("RGB")
    return image.convert("RGB")


def _bytes(values: NDArray[Any]) -> RGB:
    """Numbers of any range as bytes: floats in 0..1 and 16-bit integers by that range, others from their least."""
    numbers = np.nan_to_num(values.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)
    low, high = float(numbers.min()), float(numbers.max())
    if low >= 0:
        whole = values.dtype.kind != "f"
        limits = (255.0, 65535.0) if whole else (1.0, 255.0)
        low, high = 0.0, next((limit for limit in limits if high <= limit), high)
    numbers -= low
    numbers *= 255.0 / max(high - low, 1e-30)
    scaled: RGB = np.rint(numbers).astype(np.uint8)
    return scaled


def check_picture(picture: Any, forms: str = "a Pillow image or an array") -> NDArray[Any]:
    """A picture that came as an array, (h, w) or (h, w, 3 or 4), with bytes in 0..255 or floats in 0..1; or an error.

    ``forms`` is what the caller takes besides, for the sentence.
    """
    array = np.asarray(picture)
    colours = array.ndim == 3 and array.shape[2] in (3, 4)
    if not (array.ndim == 2 or colours) or array.dtype.kind not in "fiub" or 0 in array.shape:
        raise ViewError(
            f"a picture must be {forms} of shape (height, width), (height, width, 3) or (height, width, 4); "
            f"got {array.dtype} of shape {array.shape}."
        )
    if array.dtype == np.uint8:
        return array
    low, high = array.min(), array.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ViewError("a picture contains NaN or infinity; its values must be bytes, or numbers from 0 to 1.")
    if array.dtype.kind in "fb":
        if low < 0 or high > 1:
            raise ViewError(
                f"a picture of floats must hold numbers from 0 to 1, got {low:g} to {high:g}. Divide by the largest "
                "value, or pass bytes."
            )
    elif low < 0 or high > 255:
        raise ViewError(f"a picture of integers must hold 0 to 255, got {low:g} to {high:g}.")
    return array


def _rgb_array(picture: Any) -> RGB:
    array = check_picture(picture)
    if array.dtype != np.uint8:
        array = np.rint(array * 255.0).astype(np.uint8) if array.dtype.kind in "fb" else array.astype(np.uint8)
    if array.ndim == 2:
        return np.repeat(array[..., None], 3, axis=2)
    if array.shape[2] == 3:
        return array
    share = array[..., 3:].astype(np.float32) / np.float32(255)
    return np.asarray(np.rint(255 + share * (array[..., :3].astype(np.float32) - 255)), dtype=np.uint8)
