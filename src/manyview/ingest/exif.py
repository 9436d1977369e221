"""What EXIF says of a picture: a small, strict reader of strangers' bytes."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

from ..tiff import Order, Read, directory, first_directory
from .iptc import Damaged

__all__ = ["Directories", "Value", "exif_facts", "position_directory", "read_directories"]

_EXIF, _GPS = 0x8769, 0x8825
_LONGEST = 64 * 2**10
"""A fact of a picture has no more bytes than this."""
_NAMES = {
    0x010F: "make",
    0x0110: "model",
    0x9003: "original",
    0x9004: "digitized",
    0x9011: "original_offset",
    0x9012: "digitized_offset",
    0x9291: "original_fraction",
    0x9292: "digitized_fraction",
    0xA433: "lens_make",
    0xA434: "lens",
}
_GPS_NAMES = {1: "latitude_half", 2: "latitude", 3: "longitude_half", 4: "longitude"}


class Value(NamedTuple):
    """A value of a directory, as it is written."""

    tag: int
    kind: int
    content: bytes


class Directories(NamedTuple):
    """The values of the first directory, and of those it names for EXIF and for the position."""

    order: Order
    first: list[Value]
    exif: list[Value]
    gps: list[Value]


def read_directories(read: Read, needed: frozenset[int]) -> Directories:
    """Only the first directory and the two that it names are read: chains may form a loop, and hold nothing for us.

    ``needed``: values of the first directory that are given back besides those with facts. Where one of them is
    damaged the block is; where a fact is, it is passed over.
    """
    begin = first_directory(read)
    if begin is None:
        raise Damaged("its EXIF does not begin as it should.")
    order, at = begin
    first = _values(read, order, at, needed, frozenset({_EXIF, _GPS, *_NAMES}))
    below: dict[int, list[Value]] = {_EXIF: [], _GPS: []}
    for value in first:
        if value.tag in below and len(value.content) == 4:
            names = frozenset(_NAMES if value.tag == _EXIF else _GPS_NAMES)
            with suppress(Damaged):
                below[value.tag] = _values(read, order, int.from_bytes(value.content, order), frozenset(), names)
    return Directories(order, first, below[_EXIF], below[_GPS])


def position_directory(read: Read) -> Directories:
    """The same where the first directory is the one of the position."""
    begin = first_directory(read)
    if begin is None:
        raise Damaged("its position does not begin as it should.")
    return Directories(begin[0], [], [], _values(read, *begin, frozenset(), frozenset(_GPS_NAMES)))


def _values(read: Read, order: Order, at: int, needed: frozenset[int], facts: frozenset[int]) -> list[Value]:
    found = []
    for entry in directory(read, order, at)[0]:
        if entry.tag not in needed and (entry.tag not in facts or entry.length > _LONGEST):
            continue
        try:
            found.append(Value(entry.tag, entry.kind, entry.content(read)))
        except Damaged:
            if entry.tag in needed:
                raise
    return found


def exif_facts(found: Directories) -> dict[str, Any]:
    """What the directories say of the taking of a picture: texts, and positions as degrees."""
    facts: dict[str, Any] = {}
    for entry in (*found.first, *found.exif):
        if entry.tag in _NAMES and entry.kind == 2 and (text := _text(entry.content)):
            facts.setdefault(_NAMES[entry.tag], text)
    gps = {_GPS_NAMES[entry.tag]: entry for entry in found.gps}
    for name in ("latitude", "longitude"):
        value, half = gps.get(name), gps.get(f"{name}_half")
        if value is not None and half is not None and value.kind == 5 and len(value.content) == 24:
            degrees = _degrees(value.content, found.order)
            sign = {"N": 1, "E": 1, "S": -1, "W": -1}.get(_text(half.content)[:1].upper())
            if degrees is not None and sign is not None:
                facts[name] = sign * degrees
    return facts


def _text(content: bytes) -> str:
    content = content.partition(b"\0")[0]
    try:
        return content.decode("utf-8").strip()
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace").strip()


def _degrees(content: bytes, order: Order) -> float | None:
    """Degrees, minutes and seconds, each a fraction."""
    numbers = [int.from_bytes(content[i : i + 4], order) for i in range(0, 24, 4)]
    parts = [(numbers[i], numbers[i + 1] or 1) for i in (0, 2, 4)]
    if not numbers[1]:
        return None
    return sum(above / below / unit for (above, below), unit in zip(parts, (1, 60, 3600), strict=True))
