"""The directories of EXIF, which has the form of a TIFF file: a small, strict parser of strangers' bytes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, NamedTuple

from .iptc import Damaged

__all__ = ["Entry", "exif_facts", "read_directories"]

Read = Callable[[int, int], bytes]
"""So many bytes from a place on; ``Damaged`` where there are fewer."""

_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 9: 4, 10: 8}
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


class Entry(NamedTuple):
    """A value of a directory, as it is written."""

    tag: int
    kind: int
    content: bytes


class Directories(NamedTuple):
    """The entries of the first directory, and of those it names for EXIF and for the position."""

    order: Literal["little", "big"]
    first: list[Entry]
    exif: list[Entry]
    gps: list[Entry]


def read_directories(read: Read, needed: frozenset[int]) -> Directories:
    """Only the first directory and the two that it names are read: chains may form a loop, and hold nothing for us.

    ``needed``: entries of the first directory that are given back besides those with facts. Where one of them is
    damaged the block is; where a fact is, it is passed over.
    """
    start = read(0, 8)
    orders: dict[bytes, Literal["little", "big"]] = {b"II*\0": "little", b"MM\0*": "big"}
    order = orders.get(start[:4])
    if order is None:
        raise Damaged("its EXIF does not begin as it should.")
    facts = frozenset({_EXIF, _GPS, *_NAMES})
    first = _directory(read, order, int.from_bytes(start[4:8], order), needed, facts)
    below: dict[int, list[Entry]] = {_EXIF: [], _GPS: []}
    for entry in first:
        if entry.tag in below and len(entry.content) == 4:
            names = frozenset(_NAMES if entry.tag == _EXIF else _GPS_NAMES)
            with suppress(Damaged):
                below[entry.tag] = _directory(read, order, int.from_bytes(entry.content, order), frozenset(), names)
    return Directories(order, first, below[_EXIF], below[_GPS])


def _directory(
    read: Read, order: Literal["little", "big"], at: int, needed: frozenset[int], facts: frozenset[int]
) -> list[Entry]:
    n_entries = int.from_bytes(read(at, 2), order)
    entries = read(at + 2, 12 * n_entries)
    found = []
    for i in range(0, len(entries), 12):
        tag, kind, count = (int.from_bytes(entries[i + a : i + b], order) for a, b in ((0, 2), (2, 4), (4, 8)))
        length = count * _SIZES.get(kind, 0)
        if not length or (tag not in needed and (tag not in facts or length > _LONGEST)):
            continue
        try:
            place = int.from_bytes(entries[i + 8 : i + 12], order)
            found.append(Entry(tag, kind, entries[i + 8 : i + 8 + length] if length <= 4 else read(place, length)))
        except Damaged:
            if tag in needed:
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


def _degrees(content: bytes, order: Literal["little", "big"]) -> float | None:
    """Degrees, minutes and seconds, each a fraction."""
    numbers = [int.from_bytes(content[i : i + 4], order) for i in range(0, 24, 4)]
    parts = [(numbers[i], numbers[i + 1] or 1) for i in (0, 2, 4)]
    if not numbers[1]:
        return None
    return sum(above / below / unit for (above, below), unit in zip(parts, (1, 60, 3600), strict=True))
