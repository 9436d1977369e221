"""The picture that a raw photograph carries for showing: a JPEG by the camera.

DNG, NEF, CR2, ARW and their kin are TIFF files whose directories hold several pictures; the first is often a stamp of a
few pixels, the largest JPEG among them is what the camera shows. RW2 and ORF are almost TIFF, RAF says in its header
where the JPEG stands, CR3 is made of boxes. A few kilobytes are read, and the JPEG; no place is believed unseen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import BinaryIO

from .boxes import Box, boxes
from .tiff import Entry, Order, Read, directory, first_directory

__all__ = ["RAW_FORMATS", "canon_blocks", "find_preview", "fuji_preview", "held_how", "reading"]

RAW_FORMATS = ("raf", "rw2", "orf", "cr3")
"""Raw photographs that are known by their first bytes; others begin like any TIFF and are known by their names."""
_BELOW, _EXIF, _ORIENTATION, _MAKER = 0x014A, 0x8769, 0x0112, 0x927C
_COMPRESSION, _STRIPS, _STRIP_BYTES = 0x0103, 0x0111, 0x0117
_JPEG_AT, _JPEG_BYTES = 0x0201, 0x0202
_PANASONIC_JPEG = 0x002E
_OLYMPUS_SETTINGS = 0x2020
_OLYMPUS_PREVIEWS = ((0x0101, 0x0102), (0x0088, 0x0089))
_CANON_BLOCKS = bytes.fromhex("85c0b687820f11e08111f4ce462b6a48")
_CANON_PREVIEW = bytes.fromhex("eaf42b5e1c984b88b9fbb7dc406e4d16")
_JPEGS = (6, 7)
_MOST_DIRECTORIES = 64
_MOST_PLACES = 16
_LARGEST = 64 * 2**20
_LARGEST_BLOCK = 2**20
_FRAMES = (0xC0, 0xC1, 0xC2)
"""Starts of frames that show a picture; lossless ones (0xC3) hold the raw data."""

Place = tuple[int, int]
"""Where a JPEG may stand, and how long it is."""


def reading(file: BinaryIO, most: int = _LARGEST) -> Read:
    """Read from any place of a file; ``ValueError`` where it has fewer bytes, or more are asked for than ``most``."""

    def read(at: int, length: int) -> bytes:
        file.seek(at)
        content = file.read(length) if length <= most else b""
        if len(content) < length:
            raise ValueError("it ends too early.")
        return content

    return read


def find_preview(file: BinaryIO, format: str = "tiff") -> bytes | None:
    """The largest JPEG that a raw photograph holds for showing; None where there is none."""
    read = reading(file)
    found: set[Place] = set()
    with suppress(ValueError):  # the places seen so far are worth a try
        for place in _FINDERS[format](file):
            found.add(place)
    for at, length in sorted(found, key=lambda place: -place[1])[:_MOST_PLACES]:
        try:
            content = read(at, length)
        except ValueError:
            continue
        if _shows_something(content):
            return content
    return None


def held_how(file: BinaryIO, format: str = "tiff") -> int | None:
    """What a raw photograph itself says of how its camera was held, 1 to 8; None where it does not."""
    read = reading(file)
    try:
        if format == "raf":  # its JPEG says it
            return None
        if format == "cr3":
            content = canon_blocks(file).get(b"CMT1", b"")
            read = _within(content)
        begin = first_directory(read)
        if begin is None:
            return None
        said = next(entry for entry in directory(read, begin[0], begin[1])[0] if entry.tag == _ORIENTATION)
        found = said.numbers(read, begin[0])[0]
    except (ValueError, StopIteration, IndexError):
        return None
    return found if 1 <= found <= 8 else None


def _within(content: bytes) -> Read:
    def read(at: int, length: int) -> bytes:
        part = content[at : at + length]
        if len(part) < length:
            raise ValueError("it ends too early.")
        return part

    return read


# --- TIFF and its relatives ---


def _tiff_places(file: BinaryIO) -> Iterator[Place]:
    read = reading(file)
    begin = first_directory(read)
    if begin is not None:
        yield from _places(read, *begin)


def _places(read: Read, order: Order, first: int) -> Iterator[Place]:
    """Where JPEGs may stand, over all directories; none is read twice."""
    waiting, seen = [first], {0}
    while waiting and len(seen) <= _MOST_DIRECTORIES:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        try:
            entries, following = directory(read, order, at)
            numbers = _numbers(read, order, entries)
        except ValueError:
            continue
        waiting += [following, *numbers.get(_BELOW, [])]
        if _JPEG_AT in numbers and _JPEG_BYTES in numbers:
            yield numbers[_JPEG_AT][0], numbers[_JPEG_BYTES][0]
        strips = numbers.get(_STRIPS, []), numbers.get(_STRIP_BYTES, [])
        if numbers.get(_COMPRESSION, [0])[0] in _JPEGS and len(strips[0]) == len(strips[1]) == 1:
            yield strips[0][0], strips[1][0]
        yield from ((entry.place, entry.length) for entry in entries if entry.tag == _PANASONIC_JPEG)


def _numbers(read: Read, order: Order, entries: list[Entry]) -> dict[int, list[int]]:
    """The values of a directory that are whole numbers, by tag."""
    known = {entry.tag: entry for entry in entries if entry.kind in (3, 4, 13) and entry.length <= 1024}
    return {tag: entry.numbers(read, order) for tag, entry in known.items()}


def _olympus_places(file: BinaryIO) -> Iterator[Place]:
    """Those of the directories, and the one that the maker's own part names, counted from its begin."""
    yield from _tiff_places(file)
    read = reading(file)
    begin = first_directory(read)
    if begin is None:
        return
    order, first = begin
    below = _numbers(read, order, directory(read, order, first)[0])
    notes = [entry for at in below.get(_EXIF, [])[:1] for entry in directory(read, order, at)[0]]
    for note in notes:
        if note.tag == _MAKER and note.length > 16:
            yield from _olympus_note(read, order, note.place)


def _olympus_note(read: Read, order: Order, place: int) -> Iterator[Place]:
    start = read(place, 16)
    if start.startswith(b"OLYMPUS\0"):
        begin, mark, first = place, start[8:10], 12
    elif start.startswith(b"OM SYSTEM\0"):
        begin, mark, first = place, start[12:14], 16
    else:  # the first cameras count from the begin of the file
        begin, mark, first = 0, b"", place + 8
    order = {b"II": "little", b"MM": "big"}.get(mark, order)  # type: ignore[assignment]

    def inside(at: int, length: int) -> bytes:
        return read(begin + at, length)

    entries = directory(inside, order, first)[0]
    tables = [_numbers(inside, order, entries)]
    for entry in entries:
        if entry.tag == _OLYMPUS_SETTINGS:  # a place, or the table itself
            at = entry.place if entry.length > 4 or entry.kind == 7 else entry.numbers(inside, order)[0]
            tables.append(_numbers(inside, order, directory(inside, order, at)[0]))
    for table in tables:
        for at_tag, length_tag in _OLYMPUS_PREVIEWS:
            if at_tag in table and length_tag in table:
                yield begin + table[at_tag][0], table[length_tag][0]


# --- Fujifilm ---


def fuji_preview(file: BinaryIO) -> Place:
    """Where the JPEG of a RAF stands, and its length; it holds the metadata too."""
    said = reading(file)(84, 8)
    return int.from_bytes(said[:4], "big"), int.from_bytes(said[4:], "big")


def _fuji_places(file: BinaryIO) -> Iterator[Place]:
    yield fuji_preview(file)


# --- Canon's boxes ---


def canon_blocks(file: BinaryIO) -> dict[bytes, bytes]:
    """The metadata of a CR3, each like a TIFF: CMT1 the camera, CMT2 EXIF, CMT3 the maker's, CMT4 the position."""
    read = reading(file, _LARGEST_BLOCK)
    found: dict[bytes, bytes] = {}
    with suppress(ValueError):  # a file that was cut off later has them all
        for box in _canon_boxes(file):
            if box.name in (b"CMT1", b"CMT2", b"CMT3", b"CMT4") and box.name not in found:
                found[box.name] = read(box.at, box.end - box.at)
    return found


def _canon_boxes(file: BinaryIO) -> Iterator[Box]:
    """What lies in Canon's own boxes: metadata, a stamp (THMB), a picture for the screen (PRVW)."""
    read = reading(file)
    for outer in boxes(read, 0, file.seek(0, os.SEEK_END)):
        if outer.name == b"moov":
            for inner in boxes(read, outer.at, outer.end):
                if inner.name == b"uuid" and inner.end - inner.at > 16 and read(inner.at, 16) == _CANON_BLOCKS:
                    yield from boxes(read, inner.at + 16, inner.end)
        elif outer.name == b"uuid" and outer.end - outer.at > 24 and read(outer.at, 16) == _CANON_PREVIEW:
            yield from boxes(read, outer.at + 24, outer.end)


def _canon_places(file: BinaryIO) -> Iterator[Place]:
    read = reading(file)
    for box in _canon_boxes(file):
        if box.name in (b"THMB", b"PRVW") and box.end - box.at > 16:
            said = read(box.at + (12 if box.name == b"PRVW" else 8), 4)
            yield box.at + 16, min(int.from_bytes(said, "big"), box.end - box.at - 16)


_FINDERS: dict[str, Callable[[BinaryIO], Iterator[Place]]] = {
    "tiff": _tiff_places,
    "rw2": _tiff_places,
    "orf": _olympus_places,
    "raf": _fuji_places,
    "cr3": _canon_places,
}


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
