"""Lists that a person may open in a spreadsheet: texts in the cells of a CSV file, and how our own lists begin."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

__all__ = ["as_cell", "from_cell", "list_of", "undoubled"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for the beginning of a formula."""


_BYTE = re.compile(r"\\u(dc[89a-f][0-9a-f])")
"""A byte of a file name that is no UTF-8, as lists show it: no other program could read a list that held the byte."""


def as_cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: with an apostrophe in front where it might."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def from_cell(text: str) -> str:
    """The text that ``as_cell`` made a cell of, with the bytes of a name that were shown (``\\udce9``)."""
    cell = text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text
    return _BYTE.sub(lambda found: chr(int(found[1], 16)), cell)


def undoubled(text: str) -> str:
    """A text of UTF-8 that was taken for Windows' Latin letters as it was before; any other as it is."""
    try:
        return b"".join(one.encode("latin-1" if "\x80" <= one <= "\x9f" else "cp1252") for one in text).decode()
    except UnicodeError:
        return text


_FIRST_OBJECT = re.compile(r'(\{\s*"items":\s*)?\[\s*(\{|\]\s*\}?\s*$)')


def list_of(columns: Sequence[str]) -> Callable[[bytes], bool]:
    """Says of the first bytes of a file whether it is a list of ours with these columns, as CSV or as JSON."""

    def is_ours(head: bytes) -> bool:
        text = head.decode("utf-8", "replace")
        if text.startswith(",".join(columns) + "\r\n"):
            return True
        begun = _FIRST_OBJECT.match(text)
        if begun is None or not begun[2].startswith("{"):
            return begun is not None  # a list of nothing
        place = begun.end()
        for name in columns:
            place = text.find(f'"{name}": ', place)
            if place < 0:
                return False
        return True

    return is_ours
