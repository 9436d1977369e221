"""The picture that a raw photograph carries for showing: a JPEG by the camera, in DNG, NEF, CR2, ARW and their kin.

Raw photographs are TIFF files whose directories hold several pictures. Pillow opens the first, often a stamp of a few
pixels; the largest JPEG among them is what the camera shows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from ...tiff import Order, Read, directory, first_directory

__all__ = ["find_preview"]

_BELOW = 0x014A
_COMPRESSION, _STRIPS, _STRIP_BYTES = 0x0103, 0x0111, 0x0117
_JPEG_AT, _JPEG_BYTES = 0x0201, 0x0202
_JPEGS = (6, 7)
_MOST_DIRECTORIES = 64
_LARGEST = 64 * 2**20
_FRAMES = (0xC0, 0xC1, 0xC2)
"""Starts of frames that show a picture; lossless ones (0xC3) hold the raw data."""


def find_preview(file: BinaryIO) -> bytes | None:
    """The largest JPEG in the directories of a raw photograph; None where there is none."""

    def read(at: int, length: int) -> bytes:
        file.seek(at)
        content = file.read(length) if length <= _LARGEST else b""
        if len(content) < length:
            raise ValueError("it ends too early.")
        return content

    try:
        begin = first_directory(read)
    except ValueError:
        begin = None
    if begin is None:
        return None
    places = sorted(set(_places(read, *begin)), key=lambda place: -place[1])
    for at, length in places:
        try:
            content = read(at, length)
        except ValueError:
            continue
        if _shows_something(content):
            return content
    return None


def _places(read: Read, order: Order, first: int) -> Iterator[tuple[int, int]]:
    """Where JPEGs may stand, and how long they are, over all directories; none is read twice."""
    waiting, seen = [first], {0}
    while waiting and len(seen) <= _MOST_DIRECTORIES:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        try:
            entries, following = directory(read, order, at)
            known = {entry.tag: entry for entry in entries if entry.kind in (3, 4, 13) and entry.length <= 1024}
            numbers = {tag: entry.numbers(read, order) for tag, entry in known.items()}
        except ValueError:
            continue
        waiting += [following, *numbers.get(_BELOW, [])]
        if _JPEG_AT in numbers and _JPEG_BYTES in numbers:
            yield numbers[_JPEG_AT][0], numbers[_JPEG_BYTES][0]
        strips = numbers.get(_STRIPS, []), numbers.get(_STRIP_BYTES, [])
        if numbers.get(_COMPRESSION, [0])[0] in _JPEGS and len(strips[0]) == len(strips[1]) == 1:
            yield strips[0][0], strips[1][0]


def _shows_something(content: bytes) -> bool:
    """Is this a JPEG that is no raw data?"""
    if content[:2] != b"\xff\xd8":
        return False
    at = 2
    while at + 4 <= len(content) and content[at] == 0xFF:
        marker = content[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return marker in _FRAMES
        at += 2 + int.from_bytes(content[at + 2 : at + 4], "big")
    return False
