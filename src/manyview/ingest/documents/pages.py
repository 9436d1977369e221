"""Web pages: their words without the markup, and their keywords."""

from __future__ import annotations

import html
import re
import string

from .plain import decode_text

__all__ = ["decode_page", "html_to_text", "page_keywords"]

_SILENT = ("script", "style", "template", "noscript")
_INSIDE_WORDS = frozenset("b big del em font i ins mark s small span strike strong tt u wbr".split())
"""Elements that change letters in the middle of a word; all others separate words."""
_HEAD = 64 * 1024
"""Characters at the beginning in which keywords are sought."""
_DECLARATION = 4096
"""Bytes at the beginning in which a page says what its encoding is."""
_ENCODING = re.compile(
    rb"^\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*[\"']([\w.:-]{2,40})|<meta\b[^>]{0,400}?\bcharset\s*=\s*[\"']?\s*([\w.:-]{2,40})",
    re.IGNORECASE,
)
_SMALL = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_META = re.compile(r"<meta\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?<![\w.:-])([\w.:-]++)\s*+=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))")
"""Looked for where a name begins, and never again inside it: a tag of one endless word would take half a minute."""
_NAMES = frozenset({"keywords", "dc.subject", "dcterms.subject"})


def decode_page(content: bytes, declared: str | None = None) -> str:
    """A page as letters, by what it says of its encoding unless the mail around it does."""
    found = _ENCODING.search(content[:_DECLARATION])
    named = (found[1] or found[2]).decode() if found else ""
    return decode_text(content, declared or ("" if named.lower().startswith("utf-16") else named) or None)


def html_to_text(page: str) -> str:
    """The words of a page without markup, scripts and styles. One pass, whatever the page looks like."""
    lower = page.translate(_SMALL)  # not `lower`, which makes two letters of some: places in both must be the same
    parts, at = [], 0
    while (start := page.find("<", at)) >= 0:
        parts.append(page[at:start])
        following = page[start + 1 : start + 2]
        name = ""
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
        if name.strip("/") not in _INSIDE_WORDS:
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
