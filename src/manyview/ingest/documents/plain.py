"""Plain text in any encoding, and the front matter that Markdown begins with."""

from __future__ import annotations

import re

from ...files import BadFile
from ..keywords import in_brackets
from .encodings import decode_letters

__all__ = ["decode_text", "front_matter"]

_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_HEAD = 64 * 1024
"""Characters at the beginning in which front matter ends, or it is none."""
_MOST_LINES = 200
_FIELD = re.compile(r"\s*($|#|\]\s*$|-(\s|$)|[\w\"'][^:]{0,60}:(\s|$))|\s+\S")
"""A line of front matter: a field, a word of a list, what belongs to the field before, a remark, or nothing."""
_REMARK = re.compile(r"\s#\s.*")
_LIST = frozenset({"tags", "keywords"})
_SAID = frozenset({"title", "subtitle", "description", "summary"})
"""Fields of the front matter that are part of what a text says."""


def decode_text(content: bytes, declared: str | None = None) -> str:
    """Text by its byte order mark, as UTF-16 without a mark, or as ``decode_letters`` has it."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return content.decode(name, "replace").removeprefix("\ufeff")
    sample = content[:4096]
    for name, zeros, letters in (("utf-16-le", sample[1::2], sample[::2]), ("utf-16-be", sample[::2], sample[1::2])):
        if len(sample) >= 4 and 2 * zeros.count(0) > len(zeros) and 4 * letters.count(0) < len(letters):
            return content.decode(name, "replace")
    if b"\0" in content and declared is None:
        raise BadFile("damaged", "it is not text: it holds NUL bytes.")
    return decode_letters(content, declared)


def front_matter(text: str) -> tuple[list[str], str]:
    """The tags of the front matter, and the text without it; its title and summary stay.

    It stands between two lines of three dashes at the very beginning, and holds nothing but fields; else the dashes
    are rules, and what is between them is text. Lists are written in brackets, with commas, or one word a line behind a
    dash.
    """
    lines = text[:_HEAD].split("\n", _MOST_LINES + 1)[: _MOST_LINES + 1]
    if lines[0].rstrip() != "---":
        return [], text
    last = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if last is None or not all(map(_FIELD.match, lines[1:last])):
        return [], text
    words: list[str] = []
    said: list[str] = []
    field = ""
    for line in lines[1:last]:
        name, colon, value = line.partition(":")
        if colon and name.strip() and not line[0].isspace() and not line.startswith("-"):
            field = name.strip().lower()
            if field in _LIST:
                words += _listed(value)
            elif field in _SAID:
                said.append(_bare(value))
        elif field in _LIST and line.strip().startswith("-"):
            words.append(_bare(_REMARK.sub("", line).strip()[1:]))
        elif field in _LIST:
            words += _listed(line)  # a list in brackets goes on
    rest = text.split("\n", last + 1)[last + 1 :]
    return words, "\n".join([*said, *rest])


def _listed(value: str) -> list[str]:
    return [_bare(word) for word in in_brackets(_REMARK.sub("", value))]


def _bare(value: str) -> str:
    return value.strip().strip("\"'").removeprefix("#").strip()
