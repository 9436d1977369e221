"""Keywords of IPTC-IIM records: a small, strict parser of our own, since strangers' bytes go through it.

A record is 0x1C, record number, data set number, two bytes of length, data. Keywords are 2:25; 1:90 names the
character set. The records stand alone (TIFF, PNG) or inside Photoshop's image resources (JPEG).
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["LONGEST_KEYWORD", "Damaged", "iim_from_resources", "keywords"]

LONGEST_KEYWORD = 64
"""Bytes of a keyword by the standard; programs cut off what is longer, and write it whole into XMP."""

_KEYWORD = (2, 25)
_CHARSET = (1, 90)
_UTF8 = b"\x1b%G"


class Damaged(ValueError):
    """A block of metadata that breaks its own rules; the message is a sentence."""


def iim_from_resources(block: bytes) -> bytes:
    """The IIM records in Photoshop's image resources ("8BIM" blocks), those of number 0x0404 put together."""
    found, at = [], 0
    while at + 12 <= len(block):
        if block[at : at + 4] not in (b"8BIM", b"8B64", b"AgHg", b"DCSR", b"PHUT", b"MeSa"):
            if block[at:].strip(b"\0 "):
                raise Damaged("its image resources are cut off in the middle.")
            break
        number = int.from_bytes(block[at + 4 : at + 6], "big")
        name = block[at + 6] + 1
        at += 6 + name + name % 2
        length = int.from_bytes(block[at : at + 4], "big")
        at += 4
        if at + length > len(block):
            raise Damaged("an image resource promises more bytes than there are.")
        if number == 0x0404:
            found.append(block[at : at + length])
        at += length + length % 2
    return b"".join(found)


def _records(block: bytes) -> Iterator[tuple[tuple[int, int], bytes]]:
    at = 0
    while at + 5 <= len(block):
        if block[at] != 0x1C:
            if block[at:].strip(b"\0"):
                raise Damaged("its IPTC records are cut off in the middle.")
            return
        number = (block[at + 1], block[at + 2])
        length = int.from_bytes(block[at + 3 : at + 5], "big")
        at += 5
        if length & 0x8000:  # extended: the length of the length
            size = length & 0x7FFF
            if size > 4 or at + size > len(block):
                raise Damaged("an IPTC record has an impossible length.")
            length = int.from_bytes(block[at : at + size], "big")
            at += size
        if at + length > len(block):
            raise Damaged("an IPTC record promises more bytes than there are.")
        yield number, block[at : at + length]
        at += length


def keywords(block: bytes) -> tuple[list[str], str | None]:
    """The keywords of IIM records, and a sentence where the block is damaged after those that could be read."""
    found: list[bytes] = []
    is_utf8, trouble = False, None
    try:
        for number, value in _records(block):
            if number == _KEYWORD:
                found.append(value)
            elif number == _CHARSET:
                is_utf8 = value.startswith(_UTF8)
    except Damaged as error:
        trouble = str(error)
    encoding = "utf-8" if is_utf8 else _guess(found)
    return [_decode(value, encoding) for value in found], trouble


def _decode(value: bytes, encoding: str) -> str:
    for name in (encoding, "utf-8", "cp1252"):
        try:
            return _whole_letters(value).decode(name) if name == "utf-8" else value.decode(name)
        except UnicodeDecodeError:
            continue
    return value.decode("latin-1")


def _whole_letters(value: bytes) -> bytes:
    """UTF-8 without the beginning of a letter that the limit of a keyword has cut."""
    if len(value) != LONGEST_KEYWORD:
        return value
    last = next((n for n in range(1, 4) if value[-n] & 0xC0 != 0x80), 4)  # from its end, the first byte of a letter
    size = {0xC0: 2, 0xD0: 2, 0xE0: 3, 0xF0: 4}.get(value[-last] & 0xF0, 1)
    return value[:-last] if size > last else value


def _guess(values: list[bytes]) -> str:
    """UTF-8 if it can be, Shift-JIS if it looks like it, else Windows' Latin letters.

    Latin letters with accents can form Shift-JIS pairs by chance ("São"), but text in Shift-JIS is full of lead bytes
    of 0x81 to 0x9F, which in Latin text are rare signs, and nearly all of its letters are pairs.
    """
    text = b"".join(values)
    if text.isascii():
        return "utf-8"
    try:
        b"".join(map(_whole_letters, values)).decode("utf-8")
        return "utf-8"
    except UnicodeDecodeError:
        pass
    try:
        japanese = text.decode("cp932")
    except UnicodeDecodeError:
        return "cp1252"
    pairs = sum(letter >= "\u3000" and not "\uff61" <= letter <= "\uff9f" for letter in japanese)
    low_leads = sum(0x81 <= byte <= 0x9F for byte in text)
    high = sum(byte >= 0x80 for byte in text)
    looks_japanese = pairs >= 2 and low_leads >= 1 and high <= 2 * pairs and 4 * pairs >= len(japanese)
    return "cp932" if looks_japanese else "cp1252"
