"""Letters of bytes: by what a document says of its encoding, as UTF-8, or by which letters are frequent where."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

__all__ = ["decode_letters"]

_WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso2022_jp": "iso2022_jp_ext",
}
"""What programs write under the name of an older, smaller encoding."""
_SEVEN_BITS = ("iso2022", "hz", "utf-7", "utf-16", "utf-32")
"""Encodings whose bytes may pass for UTF-8, or for no text at all."""
_NO_LETTERS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"})
_FOREIGN = bytes(range(128, 256))
_SAMPLE = 64 * 1024
_FEWEST = 12
"""As many foreign bytes a text must have before anything is read from which they are."""


class _Habit(NamedTuple):
    """An encoding, the letters that make up most of a text in it, and how much of one they are."""

    encoding: str
    letters: frozenset[str]
    share: float


def _rows(encoding: str, first: int, last: int) -> frozenset[str]:
    """The signs of a table for East Asia between two lead bytes, which is where the frequent ones stand."""
    seconds = (*range(0x40, 0x7F), *range(0xA1, 0xFF))
    pairs = (bytes((one, two)) for one in range(first, last + 1) for two in seconds)
    return frozenset(sign for pair in pairs if len(sign := pair.decode(encoding, "ignore")) == 1 and ord(sign) > 127)


@lru_cache
def _habits() -> tuple[_Habit, ...]:
    return tuple(_all_habits())


def _all_habits() -> Iterator[_Habit]:
    kana = frozenset(map(chr, range(0x3041, 0x30FD))) | frozenset("、。")
    for encoding in ("cp932", "euc_jp"):
        yield _Habit(encoding, kana, 0.3)
    signs = frozenset(map(chr, (*range(0x2010, 0x2027), *range(0x3001, 0x3020), *range(0xFF01, 0xFF5F))))
    yield _Habit("cp949", frozenset(map(chr, range(0xAC00, 0xD7A4))), 0.9)
    yield _Habit("gb18030", _rows("gb2312", 0xB0, 0xD7) | signs, 0.9)
    yield _Habit("big5", _rows("big5", 0xA4, 0xC6) | signs, 0.9)
    for encoding in ("cp1251", "koi8-u", "cp866", "iso8859-5"):
        yield _Habit(encoding, frozenset("оеаинтсрвлкмдпуяыьзбії"), 0.7)
    yield _Habit("cp1253", frozenset("αοιετσνηυρπκμλςάίόέήώγδ"), 0.75)
    yield _Habit("cp1255", frozenset("אבגדהוזחטיךכלםמןנסעףפץצקרשת"), 0.9)
    yield _Habit("cp1256", frozenset("اليمنوترةبدعسفكقحجىأشصهخضط"), 0.8)
    yield _Habit("cp874", frozenset("านรอกเงมยลวดทสตะปบคหแจพชขใไโถัิีืุู่้์ำ"), 0.9)


def decode_letters(content: bytes, declared: str | None = None) -> str:
    """Text without a byte order mark; ``declared`` is what the document says of its encoding.

    That may be wrong, and what can be read as UTF-8 is UTF-8 where it is more than a few letters.
    """
    name = _known(declared)
    is_told = name is not None and name not in ("utf-8", "cp1252")
    if name and is_told and (name.startswith(_SEVEN_BITS) or _n_foreign(content) < _FEWEST):
        return content.decode(name, "replace")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        pass
    if name and is_told:
        return content.decode(name, "replace")
    if _is_almost_utf_8(content):
        return content.decode("utf-8", _WESTERN)
    if name == "cp1252":
        return content.decode(name, "replace")
    return content.decode(_guess(content) or "cp1252", "replace")


def _known(declared: str | None) -> str | None:
    """The name of Python's codec for an encoding that a document names, or for the larger one it is part of."""
    label = (declared or "").strip().lower()
    label = {"x-sjis": "cp932", "x-gbk": "gb18030", "unicode": ""}.get(label, label)
    try:
        name = codecs.lookup(label.replace("windows-", "cp").removeprefix("x-")).name
        b"a".decode(name)  # not all codecs are of letters
    except (LookupError, ValueError):
        return None
    return None if name in _NO_LETTERS else _WIDER.get(name, name)


def _is_almost_utf_8(content: bytes) -> bool:
    """Are there more letters of UTF-8 than bytes that belong to none? The end may have been cut off."""
    right = content.decode("utf-8", "ignore")
    n_foreign, n_right = _n_foreign(content), _n_foreign(right.encode())
    return 2 * (n_foreign - n_right) < n_right


def _n_foreign(content: bytes) -> int:
    return len(content) - len(content.translate(None, _FOREIGN))


def _guess(content: bytes) -> str | None:
    """The encoding in which frequent letters are frequent, for texts most of whose letters are not Latin."""
    sample = content[:_SAMPLE]
    foreign = _n_foreign(sample)
    if foreign < _FEWEST or 2 * foreign < sum(65 <= byte <= 122 for byte in sample):
        return None
    best, most = None, 1.0
    for habit in _habits():
        try:
            text = codecs.getincrementaldecoder(habit.encoding)("strict").decode(sample)  # the last letter may be cut
        except UnicodeDecodeError:
            continue
        signs = [sign for sign in text if ord(sign) > 127 and not sign.isspace()]
        n_usual = sum(1.0 if sign in habit.letters else 0.5 * (sign.lower() in habit.letters) for sign in signs)
        share = n_usual / (habit.share * max(1, len(signs)))  # capitals count half: a text is seldom shouted
        if share >= most and (best is None or share > most):
            best, most = habit.encoding, share
    return best


def _western(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


_WESTERN = "manyview.western"
codecs.register_error(_WESTERN, _western)
