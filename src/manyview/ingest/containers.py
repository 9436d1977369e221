"""Find the blocks of metadata in a file without decoding its pixels: pictures, clips and raw photographs."""

from __future__ import annotations

import binascii
import io
import os
import zlib
from collections.abc import Callable, Iterator
from types import MappingProxyType
from typing import BinaryIO, NamedTuple

from ..boxes import boxes
from ..raw_previews import canon_blocks, fuji_preview
from ..tiff import Read
from .capture import Capture, clip_time, of_exif
from .exif import exif_facts, position_directory, read_directories
from .iptc import Damaged, iim_from_resources

__all__ = ["LIMIT", "Block", "find_blocks", "tiff_blocks"]

LIMIT = 16 * 2**20
"""The most bytes a block of metadata may have; larger ones are an attack or an accident."""
_MOST_PARTS = 200_000

_XMP = b"http://ns.adobe.com/xap/1.0/\0"
_XMP_MORE = b"http://ns.adobe.com/xmp/extension/\0"
_PHOTOSHOP = b"Photoshop 3.0\0"
_IPTC_BOX = bytes.fromhex("33c7a4d2b81d4723a0baf1a3e097ad38")
_XMP_BOX = bytes.fromhex("be7acfcb97a942e89c71999491e3afac")


class Block(NamedTuple):
    """One block of metadata."""

    kind: str
    """iptc (IIM records), xmp (a packet), words (keywords in the clear, from EXIF) or capture (how it was taken)."""
    content: bytes = b""
    capture: Capture = MappingProxyType({})  # type: ignore[assignment]


def find_blocks(file: BinaryIO, kind: str) -> Iterator[Block]:
    """Blocks of metadata, in the order of the file; ``Damaged`` where its structure breaks off."""
    finder = _FINDERS.get(kind)
    if finder is not None:
        file.seek(0)
        try:
            yield from finder(file)
        except Damaged:
            raise
        except ValueError as error:
            raise Damaged(str(error)) from error


def _exactly(file: BinaryIO, length: int) -> bytes:
    if length > LIMIT:
        raise Damaged(f"it holds a block of metadata of {length >> 20} MB; up to {LIMIT >> 20} MB are read.")
    content = file.read(length)
    if len(content) < length:
        raise Damaged("it ends unexpectedly.")
    return content


def _jpeg(file: BinaryIO) -> Iterator[Block]:
    file.seek(2)
    resources: list[bytes] = []
    more: dict[bytes, dict[int, bytes]] = {}
    try:
        for marker, content in _jpeg_segments(file):
            if marker == 0xE1 and content.startswith(b"Exif\0"):
                yield from tiff_blocks(content[6:])
            elif marker == 0xE1 and content.startswith(_XMP):
                yield Block("xmp", content[len(_XMP) :])
            elif marker == 0xE1 and content.startswith(_XMP_MORE):
                rest = content[len(_XMP_MORE) :]
                more.setdefault(rest[:32], {})[int.from_bytes(rest[36:40], "big")] = rest[40:]
            elif marker == 0xED and content.startswith(_PHOTOSHOP):
                resources.append(content[len(_PHOTOSHOP) :])
    finally:
        if resources:
            yield Block("iptc", iim_from_resources(b"".join(resources)))
        for parts in more.values():
            yield Block("xmp", b"".join(parts[at] for at in sorted(parts)))


def _jpeg_segments(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    for _ in range(_MOST_PARTS):
        start = file.read(2)
        if len(start) < 2 or start[0] != 0xFF:
            raise Damaged("its JPEG segments are cut off in the middle.")
        marker = start[1]
        while marker == 0xFF:  # filling
            marker = _exactly(file, 1)[0]
        if marker in (0xD9, 0xDA):  # end, or the pixels begin
            return
        if marker == 0x01 or 0xD0 <= marker <= 0xD7:
            continue
        length = int.from_bytes(_exactly(file, 2), "big")
        if length < 2:
            raise Damaged("a JPEG segment has an impossible length.")
        if marker in (0xE1, 0xED):
            yield marker, _exactly(file, length - 2)
        else:
            file.seek(length - 2, os.SEEK_CUR)


def _png(file: BinaryIO) -> Iterator[Block]:
    file.seek(8)
    for _ in range(_MOST_PARTS):
        start = _exactly(file, 8)
        length, name = int.from_bytes(start[:4], "big"), start[4:]
        if name == b"IEND":
            return
        if name in (b"tEXt", b"zTXt", b"iTXt"):
            yield from _png_text(name, _exactly(file, length))
        elif name == b"eXIf":
            yield from tiff_blocks(_exactly(file, length))
        else:
            file.seek(length, os.SEEK_CUR)
        file.seek(4, os.SEEK_CUR)


def _png_text(name: bytes, content: bytes) -> Iterator[Block]:
    key, _, rest = content.partition(b"\0")
    if key not in (b"XML:com.adobe.xmp", b"Raw profile type iptc", b"Raw profile type 8bim", b"Raw profile type xmp"):
        return
    if name == b"zTXt":
        text = _inflate(rest[1:])
    elif name == b"iTXt":
        packed, rest = rest[:1], rest[2:]
        rest = rest.partition(b"\0")[2].partition(b"\0")[2]  # language, translated key
        text = _inflate(rest) if packed == b"\1" else rest
    else:
        text = rest
    if key == b"XML:com.adobe.xmp":
        yield Block("xmp", text)
        return
    parts = text.strip().split(b"\n", 2)  # the profile's name, its length, hexadecimal digits
    try:
        profile = binascii.unhexlify(b"".join(parts[2].split()))
    except (IndexError, binascii.Error) as error:
        raise Damaged("a profile in its text is not written as it should be.") from error
    if key.endswith(b"xmp"):
        yield Block("xmp", profile)
    else:
        profile = profile.removeprefix(_PHOTOSHOP)
        yield Block("iptc", iim_from_resources(profile) if profile.startswith(b"8BIM") else profile)


def _inflate(packed: bytes) -> bytes:
    unpacking = zlib.decompressobj()
    try:
        text = unpacking.decompress(packed, LIMIT)
    except zlib.error as error:
        raise Damaged("a compressed text in it cannot be unpacked.") from error
    if unpacking.unconsumed_tail:
        raise Damaged(f"a compressed text in it unpacks to more than {LIMIT >> 20} MB.")
    return text


def _tiff(file: BinaryIO) -> Iterator[Block]:
    yield from _tiff_directory(_anywhere(file))


def _anywhere(file: BinaryIO) -> Read:
    def read(at: int, length: int) -> bytes:
        file.seek(at)
        return _exactly(file, length)

    return read


def tiff_blocks(content: bytes) -> Iterator[Block]:
    """Blocks in the first directory of an EXIF block, which has the form of a TIFF file."""

    yield from _tiff_directory(_from(content))


def _from(content: bytes) -> Read:
    def read(at: int, length: int) -> bytes:
        part = content[at : at + length]
        if len(part) < length:
            raise Damaged("its EXIF promises more bytes than there are.")
        return part

    return read


_XMP_ENTRY, _IPTC_ENTRY, _RESOURCES, _WORDS = 700, 33723, 34377, 0x9C9E
_KEYWORD_ENTRIES = frozenset({_XMP_ENTRY, _IPTC_ENTRY, _RESOURCES, _WORDS})


def _tiff_directory(read: Callable[[int, int], bytes]) -> Iterator[Block]:
    found = read_directories(read, _KEYWORD_ENTRIES)
    for tag, _, content in found.first:
        if tag == _XMP_ENTRY:
            yield Block("xmp", content)
        elif tag == _IPTC_ENTRY:
            if content[:1] != b"\x1c" and content[3:4] == b"\x1c":  # written as numbers of the other byte order
                content = b"".join(content[j : j + 4][::-1] for j in range(0, len(content), 4))
            yield Block("iptc", content)
        elif tag == _RESOURCES:
            yield Block("iptc", iim_from_resources(content))
        elif tag == _WORDS:
            yield Block("words", content)
    yield Block("capture", capture=of_exif(exif_facts(found)))


def _riff(file: BinaryIO) -> Iterator[Block]:
    file.seek(12)
    for _ in range(_MOST_PARTS):
        start = file.read(8)
        if len(start) < 8:
            return
        name, length = start[:4], int.from_bytes(start[4:], "little")
        if name in (b"XMP ", b"_PMX"):
            yield Block("xmp", _exactly(file, length))
        elif name == b"EXIF":
            content = _exactly(file, length)
            yield from tiff_blocks(content.removeprefix(b"Exif\0\0"))
        else:
            file.seek(length, os.SEEK_CUR)
        file.seek(length % 2, os.SEEK_CUR)


def _boxes(file: BinaryIO) -> Iterator[Block]:
    """XMP of MP4 (a box of its own) and of QuickTime (in the user data of the movie), and when the movie was made."""

    read = _anywhere(file)

    def found(at: int, end: int, inside: tuple[bytes, ...]) -> Iterator[Block]:
        """``inside``: the box to look into, and the one in there; nothing is looked into any deeper."""
        for box in boxes(read, at, end):
            if inside and box.name == inside[0]:
                yield from found(box.at, box.end, inside[1:])
            elif box.name == b"mvhd" and inside == (b"udta",):
                wide = read(box.at, 1) == b"\1"
                seconds = int.from_bytes(read(box.at + 4, 8 if wide else 4), "big")
                yield Block("capture", capture={"clip": clip_time(seconds)})
            elif box.name == b"XMP_" or (box.name == b"uuid" and read(box.at, 16) == _XMP_BOX):
                yield Block("xmp", read(box.at, box.end - box.at).removeprefix(_XMP_BOX))

    yield from found(0, file.seek(0, os.SEEK_END), (b"moov", b"udta"))


def _still_boxes(file: BinaryIO) -> Iterator[Block]:
    """XMP, EXIF and IPTC of JPEG 2000, each in a box with a number of its own, and of JPEG XL, in boxes with names."""
    read = _anywhere(file)
    if read(0, 2)[:1] == b"\xff":  # pixels alone
        return
    for box in boxes(read, 0, file.seek(0, os.SEEK_END)):
        length = box.end - box.at
        if box.name == b"xml " and read(box.at, min(length, 4096)).find(b"xmpmeta") >= 0:
            yield Block("xmp", read(box.at, length))
        elif box.name == b"Exif" and length > 4:  # four bytes say where in it EXIF begins
            content = read(box.at, length)
            yield from tiff_blocks(content[4 + int.from_bytes(content[:4], "big") :])
        elif box.name == b"uuid" and length > 16:
            number = read(box.at, 16)
            if number == _XMP_BOX:
                yield Block("xmp", read(box.at + 16, length - 16))
            elif number == b"JpgTiffExif->JP2":
                yield from tiff_blocks(read(box.at + 16, length - 16))
            elif number == _IPTC_BOX:
                yield Block("iptc", read(box.at + 16, length - 16))


def _raf(file: BinaryIO) -> Iterator[Block]:
    """The metadata of the JPEG in front of a Fujifilm raw photograph."""
    at, length = fuji_preview(file)
    file.seek(at)
    yield from _jpeg(io.BytesIO(file.read(min(length, LIMIT))))


def _cr3(file: BinaryIO) -> Iterator[Block]:
    """Canon's own boxes, each like a TIFF, and XMP in a box of its own."""
    for name, content in canon_blocks(file).items():
        if name == b"CMT4":
            yield Block("capture", capture=of_exif(exif_facts(position_directory(_from(content)))))
        elif name != b"CMT3":
            yield from tiff_blocks(content)
    yield from (block for block in _boxes(file) if block.kind == "xmp")


def _packet(file: BinaryIO) -> Iterator[Block]:
    """A packet anywhere in the file: it is made to be found like this where a format has no place of its own."""
    held, read = b"", 0
    while read < 4 * LIMIT and (piece := file.read(2**20)):
        read += len(piece)
        held += piece
        begin = held.find(b"<x:xmpmeta")
        if begin < 0:
            held = held[-16:]
        elif (end := held.find(b"</x:xmpmeta>", begin)) >= 0:
            yield Block("xmp", held[begin : end + 12])
            return
        elif len(held) - begin > LIMIT:
            raise Damaged(f"its XMP has more than {LIMIT >> 20} MB.")


def _packet_and_exif(file: BinaryIO) -> Iterator[Block]:
    """The same, and EXIF by the mark that it begins with: formats that keep it in an item of its own keep the mark."""
    yield from _packet(file)
    file.seek(0)
    held = file.read(LIMIT)
    for mark in (b"Exif\0\0II*\0", b"Exif\0\0MM\0*"):
        if (begin := held.find(mark)) >= 0:
            yield from tiff_blocks(held[begin + 6 :])
            return


_FINDERS: dict[str, Callable[[BinaryIO], Iterator[Block]]] = {
    "jpeg": _jpeg,
    "png": _png,
    "tiff": _tiff,
    "webp": _riff,
    "avi": _riff,
    "gif": _packet,
    "avif": _packet_and_exif,
    "heif": _packet_and_exif,
    "jxl": _still_boxes,
    "jpeg2000": _still_boxes,
    "mp4": _boxes,
    "mov": _boxes,
    "raf": _raf,
    "rw2": _tiff,
    "orf": _tiff,
    "cr3": _cr3,
}
