"""Rich Text Format: the words without their dress, and the keywords of the document's information."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

from ...files import BadFile
from ..keywords import listed
from .said import Said

__all__ = ["read_rtf"]

_TOKEN = re.compile(
    r"\\([A-Za-z]{1,32})(-?\d{1,20})? ?|\\'([0-9A-Fa-f]{2})|\\(.)|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\", re.DOTALL
)
_BREAKS = frozenset(
    "par line tab cell nestcell row nestrow sect page column softline lbr emspace enspace qmspace bullet".split()
)
_SIGNS = {
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
    "endash": "\u2013",
    "emdash": "\u2014",
}
_ASIDE = frozenset(
    "fonttbl colortbl stylesheet info pict object objdata filetbl fldinst listtable listoverridetable revtbl rsidtbl "
    "header headerl headerr headerf footer footerl footerr footerf bkmkstart bkmkend themedata datastore xe tc".split()
)
"""Groups of things that are no text of the document; so are all that begin with a star and are not known."""


_WHOLE = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
"""Words that say what the encoding of the document is; ``ansicpg`` does so by number."""
_OF_FONT = {
    "77": "mac_roman",
    "128": "cp932",
    "129": "cp949",
    "130": "johab",
    "134": "gb18030",
    "136": "cp950",
    "161": "cp1253",
    "162": "cp1254",
    "163": "cp1258",
    "177": "cp1255",
    "178": "cp1256",
    "186": "cp1257",
    "204": "cp1251",
    "222": "cp874",
    "238": "cp1250",
    "254": "cp437",
    "255": "cp850",
}
"""Encodings by the numbers that fonts have for them; others are the document's."""


@dataclass(frozen=True)
class _Group:
    """What holds until a group ends."""

    goes: str = "text"
    """Where its words go: "text", "keywords", or nowhere."""
    is_deleted: bool = False
    n_stand_in: int = 1
    """How many letters follow a character for programs that do not know it."""
    font: str | None = None


def read_rtf(content: bytes, longest: int) -> Said:
    """One pass; passages deleted with changes tracked are no text."""
    text = content.decode("latin-1")
    if not text.startswith("{\\rtf"):
        raise BadFile("unknown format", "it is called RTF but does not begin like one.")
    said: dict[str, list[str]] = {"text": [], "keywords": []}
    group, above, encoding = _Group(), list[_Group](), "cp1252"
    of_font: dict[str | None, str] = {}
    held, skip, place, length, first_font = bytearray(), 0, 0, 0, None

    def say(words: str) -> None:
        if group.goes and not group.is_deleted:
            said[group.goes].append(words)

    while place < len(text) and length <= longest:
        token = _TOKEN.match(text, place)
        if token is None:
            break
        place = token.end()
        word, number, byte, sign, brace, plain = token.groups()
        if byte is not None:
            if skip:
                skip -= 1
            else:
                held.append(int(byte, 16))  # letters of some languages are two of them
            continue
        if held:
            now = of_font.get(group.font, encoding)
            second = plain or (sign if sign and sign in "\\{}" else "")
            if second and _is_half(held, now):  # the other half of the letter is written as the sign it looks like
                held.append(ord(second[0]))
                plain, sign = plain and plain[1:], None
            letters = held.decode(now, "replace")
            say(letters)
            length += len(letters)
            held.clear()
        if brace == "{":
            above.append(group)
        elif brace == "}":
            if not above:
                break
            group, skip = above.pop(), 0
        elif plain is not None:
            say(plain[skip:])
            length += len(plain)
            skip = max(0, skip - len(plain))
        elif sign is not None:
            if sign == "*" and text.startswith("{", token.start() - 1):
                group = replace(group, goes="")
            else:
                say({"~": " ", "_": "-", "-": ""}.get(sign, sign if sign in "\\{}" else " "))
        elif word == "u" and number is not None:
            say(chr(int(number) % 65536))
            skip = group.n_stand_in
            length += 1
        elif word == "uc" and number is not None:
            group = replace(group, n_stand_in=max(0, int(number)))
        elif word == "bin" and number is not None:
            place += max(0, int(number))
        elif word == "ansicpg" and number is not None:
            encoding = _encoding(number) or encoding
        elif word in _WHOLE:
            encoding = _WHOLE[word]
        elif word == "f":
            group = replace(group, font=number)
        elif word == "fcharset" and number in _OF_FONT:
            of_font[group.font] = _OF_FONT[number]
        elif word == "plain":
            group = replace(group, font=first_font)
        elif word == "deff":
            first_font = number
            group = replace(group, font=number)
        elif word == "deleted":
            group = replace(group, is_deleted=number != "0")
        elif word == "keywords":
            group = replace(group, goes="keywords")
        elif word in ("footnote", "shptxt"):
            group = replace(group, goes="text")
            say("\n")
        elif word in _ASIDE:
            group = replace(group, goes="")
        elif word in _BREAKS:
            say("\n")
        elif word in _SIGNS:
            say(_SIGNS[word])
    whole = "".join(said["text"]).encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs are one letter
    return Said(whole[:longest], listed("".join(said["keywords"])))


def _is_half(letters: bytearray, encoding: str) -> bool:
    """Do the bytes end in the middle of a letter?"""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    decoder.decode(letters)
    return bool(decoder.getstate()[0])


def _encoding(number: str) -> str | None:
    try:
        return codecs.lookup(f"cp{number}").name
    except LookupError:
        return None
