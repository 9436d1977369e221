"""Directories of TIFF files, which EXIF and most raw photographs have too; where to read is the caller's business."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

__all__ = ["Entry", "Order", "Read", "directory", "first_directory", "has_pages"]

Order = Literal["little", "big"]
Read = Callable[[int, int], bytes]
"""So many bytes from a place on; it raises where there are fewer."""

_SUBFILE, _REDUCED = 254, 1
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 9: 4, 10: 8, 13: 4}
_LITTLE, _BIG = (b"II*\0", b"IIU\0", b"IIRO", b"IIRS"), (b"MM\0*", b"MMOR")  # TIFF; Panasonic's RW2; Olympus's ORF
_ORDERS: dict[bytes, Order] = {**dict.fromkeys(_LITTLE, "little"), **dict.fromkeys(_BIG, "big")}


class Entry(NamedTuple):
    """One value of a directory: what it is, how long, and where it stands."""

    tag: int
    kind: int
    length: int
    place: int
    held: bytes
    """Its bytes where they are at most four."""

    def content(self, read: Read) -> bytes:
        """Its bytes."""
        return self.held if self.length <= 4 else read(self.place, self.length)

    def numbers(self, read: Read, order: Order) -> list[int]:
        """Its values, where they are whole numbers."""
        size = _SIZES[self.kind]
        content = self.content(read)
        return [int.from_bytes(content[i : i + size], order) for i in range(0, len(content), size)]


def first_directory(read: Read) -> tuple[Order, int] | None:
    """The order of bytes, and where the first directory stands; None where this is no TIFF."""
    start = read(0, 8)
    order = _ORDERS.get(start[:4])
    return None if order is None else (order, int.from_bytes(start[4:8], order))


def directory(read: Read, order: Order, at: int) -> tuple[list[Entry], int]:
    """The entries of a directory, of kinds that are known, and where the next directory stands (0: there is none)."""
    n_entries = int.from_bytes(read(at, 2), order)
    content = read(at + 2, 12 * n_entries)
    found = []
    for i in range(0, len(content), 12):
        tag, kind, count, place = (
            int.from_bytes(content[i + a : i + b], order) for a, b in ((0, 2), (2, 4), (4, 8), (8, 12))
        )
        length = count * _SIZES.get(kind, 0)
        if length:
            found.append(Entry(tag, kind, length, place, content[i + 8 : i + 8 + min(length, 4)]))
    try:
        following = int.from_bytes(read(at + 2 + len(content), 4), order)
    except ValueError:  # some writers leave it out at the end of a block
        following = 0
    return found, following


def has_pages(read: Read) -> bool:
    """Does a TIFF hold more pictures than one? Smaller copies of it, such as stamps, are none."""
    begin = first_directory(read)
    if begin is None:
        return False
    order, at = begin
    seen = {at}
    _, following = directory(read, order, at)
    while following and following not in seen:
        seen.add(following)
        entries, following = directory(read, order, following)
        kinds = [entry.numbers(read, order)[0] for entry in entries if entry.tag == _SUBFILE]
        if not kinds or not kinds[0] & _REDUCED:
            return True
    return False
