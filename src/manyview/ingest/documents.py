"""The text of documents, and the keywords that stand in them: plain text, Markdown, HTML, and PDF with the extra."""

from __future__ import annotations

import html
import re
from typing import BinaryIO

from ..files import BadFile
from .keywords import Keywords, tidy
from .pdf import Document, PdfReader

__all__ = ["LARGEST", "LONGEST_TEXT", "decode_text", "front_matter", "html_to_text", "page_keywords", "read_document"]

LARGEST = 32 * 2**20
"""The most bytes a document may have."""
LONGEST_TEXT = 1_000_000
"""As many characters of a document are kept; a view of words does not need more."""
_SILENT = ("script", "style", "template", "noscript")
_HEAD = 64 * 1024
"""Characters at the beginning in which keywords are sought."""
_MOST_LINES = 200
_META = re.compile(r"<meta\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"([\w.:-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))")
_NAMES = frozenset({"keywords", "dc.subject", "dcterms.subject"})
_LIST = frozenset({"tags", "keywords"})
_SAID = frozenset({"title", "subtitle", "description", "summary"})
"""Fields of the front matter that are part of what a text says."""


def read_document(file: BinaryIO, kind: str, size: int, pdf: PdfReader) -> Document:
    """The text of an open document, at most ``LONGEST_TEXT`` characters of it, and the keywords that stand in it."""
    if size > LARGEST:
        raise BadFile("too large", f"it has {size >> 20} MB; documents of up to {LARGEST >> 20} MB are read.")
    file.seek(0)
    words = Keywords()
    if kind == "pdf":
        text, words = pdf.read(file.read(LARGEST))
    else:
        text = decode_text(file.read(LARGEST))
        if kind == "html":
            words, text = tidy(page_keywords(text), (), []), html_to_text(text)
        else:
            found, text = front_matter(text)
            words = tidy(found, (), [])
    text = text[: 4 * LONGEST_TEXT].encode("utf-8", "replace").decode().replace("\0", " ")
    text = " ".join(text.split())[:LONGEST_TEXT]
    if not text:
        raise BadFile("empty", "it holds no words that can be read.")
    return Document(text, words)


def decode_text(content: bytes) -> str:
    """Text by its byte order mark, as UTF-8, as UTF-16 without a mark, or with Windows' Latin letters."""
    for mark, name in (
        (b"\xef\xbb\xbf", "utf-8"),
        (b"\xff\xfe\0\0", "utf-32"),
        (b"\0\0\xfe\xff", "utf-32"),
        (b"\xff\xfe", "utf-16"),
        (b"\xfe\xff", "utf-16"),
    ):
        if content.startswith(mark):
            return content.decode(name, "replace").removeprefix("\ufeff")
    sample = content[:4096]
    for name, zeros, letters in (("utf-16-le", sample[1::2], sample[::2]), ("utf-16-be", sample[::2], sample[1::2])):
        if len(sample) >= 4 and 2 * zeros.count(0) > len(zeros) and 4 * letters.count(0) < len(letters):
            return content.decode(name, "replace")
    if b"\0" in content:
        raise BadFile("damaged", "it is not text: it holds NUL bytes.")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def html_to_text(page: str) -> str:
    """The words of a page without markup, scripts and styles. One pass, whatever the page looks like."""
    lower = page.lower() if len(page.lower()) == len(page) else page  # places in both must be the same
    parts, at = [], 0
    while (start := page.find("<", at)) >= 0:
        parts.append(page[at:start])
        following = page[start + 1 : start + 2]
        if page.startswith("<!--", start):
            end = page.find("-->", start + 4)
        elif following.isalpha() or following in ("/", "!", "?"):
            end = page.find(">", start)
            name = lower[start + 1 : end].split(None, 1)[0] if lower[start + 1 : end].strip() else ""
            if end >= 0 and name in _SILENT:
                close = lower.find(f"</{name}", end)
                end = page.find(">", close) if close >= 0 else -1
        else:  # a sign, not a tag
            parts.append("<")
            at = start + 1
            continue
        if end < 0:  # it never ends, so nothing that follows is text
            return html.unescape("".join(parts))
        parts.append(" ")
        at = page.find(">", end) + 1
    parts.append(page[at:])
    return html.unescape("".join(parts))


def page_keywords(page: str) -> list[str]:
    """The words of ``<meta name="keywords">`` and of Dublin Core's subject."""
    found: list[str] = []
    for tag in _META.findall(page[:_HEAD]):
        given = {name.lower(): "".join(values) for name, *values in _ATTRIBUTE.findall(tag)}
        if given.get("name", "").strip().lower() in _NAMES:
            found += re.split(r"[,;]", html.unescape(given.get("content", "")))
    return found


def front_matter(text: str) -> tuple[list[str], str]:
    """The tags of the front matter, and the text without it; its title and summary stay.

    It stands between two lines of three dashes at the very beginning. Lists are written in brackets, with commas, or
    one word a line behind a dash.
    """
    lines = text[:_HEAD].split("\n", _MOST_LINES + 1)[: _MOST_LINES + 1]
    if lines[0].rstrip() != "---":
        return [], text
    last = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if last is None:
        return [], text
    words: list[str] = []
    said: list[str] = []
    field = ""
    for line in lines[1:last]:
        name, colon, value = line.partition(":")
        if colon and name.strip() and not line[0].isspace() and not line.startswith("-"):
            field = name.strip().lower()
            if field in _LIST:
                words += [_bare(word) for word in value.strip().removeprefix("[").removesuffix("]").split(",")]
            elif field in _SAID:
                said.append(_bare(value))
        elif field in _LIST and line.strip().startswith("-"):
            words.append(_bare(line.strip()[1:]))
    rest = text.split("\n", last + 1)[last + 1 :]
    return words, "\n".join([*said, *rest])


def _bare(value: str) -> str:
    return value.strip().strip("\"'").removeprefix("#").strip()
