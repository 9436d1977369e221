"""JPEG XL, decoded by the extra ``jxl``: its size is read here first, for the decoder unpacks all at once."""

from __future__ import annotations

import os
from typing import Any, BinaryIO

from ...boxes import boxes
from ...errors import MissingExtra
from ...raw_previews import reading

__all__ = ["open_jxl", "size_of_jxl"]

_BITS = (9, 13, 18, 30)
_RATIOS = {1: (1, 1), 2: (12, 10), 3: (4, 3), 4: (3, 2), 5: (16, 9), 6: (5, 4), 7: (2, 1)}
_MARK = b"\xff\x0a"


def size_of_jxl(file: BinaryIO) -> tuple[int, int]:
    """Width and height as the header says, before the picture is turned upright; ``ValueError`` where it is damaged."""
    read = reading(file)
    start = read(0, 12)
    if start[:2] != _MARK:
        for box in boxes(read, 0, file.seek(0, os.SEEK_END)):
            if box.name in (b"jxlc", b"jxlp"):
                begin = box.at + 4 * (box.name == b"jxlp")  # parts are numbered
                start = read(begin, min(12, box.end - begin))
                break
    if start[:2] != _MARK:
        raise ValueError("it begins like JPEG XL but holds no picture.")
    bits, at = int.from_bytes(start[2:], "little"), 0

    def take(count: int) -> int:
        nonlocal at
        at += count
        return bits >> (at - count) & ((1 << count) - 1)

    small = take(1)

    def side() -> int:
        return 8 * (take(5) + 1) if small else take(_BITS[take(2)]) + 1

    height = side()
    ratio = take(3)
    above, below = _RATIOS.get(ratio, (1, 1))
    return (height * above // below if ratio else side()), height


def open_jxl(file: BinaryIO) -> Any:
    """The picture, upright, the first of animated ones. Memory: the file and its pixels."""
    from PIL import Image

    try:
        import imagecodecs
    except ImportError as error:
        raise MissingExtra("reading JPEG XL needs the 'jxl' extra:  pip install \"manyview[jxl]\"") from error
    import numpy as np

    file.seek(0)
    pixels = imagecodecs.jpegxl_decode(file.read(), index=0, numthreads=1)
    if pixels.dtype.kind == "f":  # from 0 to 1
        pixels = np.clip(np.nan_to_num(pixels) * 255 + 0.5, 0, 255).astype(np.uint8)
    elif pixels.dtype.itemsize > 1:
        pixels = (pixels >> 8 * (pixels.dtype.itemsize - 1)).astype(np.uint8)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    return Image.fromarray(pixels)
