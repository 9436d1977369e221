"""Boxes, of which MP4, QuickTime, CR3 and JPEG XL files are made; where to read is the caller's business."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .tiff import Read

__all__ = ["Box", "boxes"]

_MOST = 200_000


class Box(NamedTuple):
    """One box: its name, and where its content begins and ends."""

    name: bytes
    at: int
    end: int


def boxes(read: Read, at: int, end: int) -> Iterator[Box]:
    """The boxes between two places, one after another; ``ValueError`` where one is longer than there is room."""
    for _ in range(_MOST):
        if at + 8 > end:
            return
        start = read(at, 8)
        length, name, head = int.from_bytes(start[:4], "big"), start[4:], 8
        if length == 1:
            length, head = int.from_bytes(read(at + 8, 8), "big"), 16
        elif length == 0:  # to the end
            length = end - at
        if length < head or at + length > end:
            raise ValueError("its boxes are cut off in the middle.")
        yield Box(name, at + head, at + length)
        at += length
