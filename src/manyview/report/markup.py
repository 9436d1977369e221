"""HTML that cannot be broken out of: whatever is not markup by our own hand is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any

__all__ = ["Markup", "clipped", "joined", "tag"]

_VOID = frozenset({"img", "meta", "rect", "br"})
_NAME = re.compile(r"[a-z][a-z0-9-]*", flags=re.ASCII | re.IGNORECASE)
# Controls, halves of surrogate pairs, and the marks that reverse or hide the text around them.
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufffe\uffff]")


class Markup(str):
    """Text that is HTML already; only this module and constants of ours make it."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """One element. Children and values of attributes are escaped unless they are ``Markup``.

    An attribute of None is left out; ``class_`` is class, and ``_`` in other names stands for ``-``.

    >>> tag("p", "1 < 2", title='"')
    '<p title="&quot;">1 &lt; 2</p>'
    """
    opening = name
    for key, value in attributes.items():
        word = key.rstrip("_").replace("_", "-")
        if not _NAME.fullmatch(word) or word.lower().startswith("on"):
            raise ValueError(f"{key!r} is no attribute for a page without script")
        if value is not None:
            opening += f' {word}="{_escaped(value)}"'
    if name in _VOID:
        return Markup(f"<{opening}/>" if name == "rect" else f"<{opening}>")
    return Markup(f"<{opening}>{joined(children)}</{name}>")


def joined(children: Iterable[Any], between: str = "") -> Markup:
    """Several pieces as one; None is left out."""
    parts = (child if isinstance(child, Markup) else _escaped(child) for child in children if child is not None)
    return Markup(_escaped(between).join(parts))


def clipped(text: Any, length: int) -> str:
    """At most so many characters, on one line."""
    line = " ".join(str(text)[: 4 * length].split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def _escaped(value: Any) -> str:
    return html.escape(_UNFIT.sub("\ufffd", str(value)), quote=True)
