"""What every page of ours has around its content: one file, no script, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import os
from importlib.resources import files
from pathlib import Path

from .._version import __version__
from ..durable import write_output
from .markup import Markup, clipped, tag

__all__ = ["is_page", "save_page", "style", "whole_page"]


def style(*names: str) -> Markup:
    """Our style sheets, one after the other."""
    sheets = [(files(__package__) / name).read_text(encoding="utf-8").strip() for name in names]
    return Markup("\n".join(sheets))


def whole_page(title: str, body: Markup, sheet: Markup) -> str:
    """A page with a policy that forbids script and every request; only its own style and pictures inside it."""
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        _maker(__version__),
        tag("title", clipped(title, 120)),
        tag("style", sheet),
    )
    return Markup("<!doctype html>\n") + tag("html", head, tag("body", body, class_="mvr"), lang="en") + "\n"


def _maker(version: str) -> Markup:
    return tag("meta", name="generator", content=f"manyview {version}")


def is_page(head: bytes) -> bool:
    """Are these the first bytes of a page of ours, of any version?"""
    return _maker("").removesuffix('">').encode() in head


def save_page(path: str | os.PathLike[str], html: str, *, public: bool = False) -> Path:
    """Write a page to a file; the file holds the old page or the whole new one, never a part.

    Nobody else on the machine can read it, unless it is ``public``.
    """
    path = Path(path)
    write_output(path, html.encode("utf-8"), public=public)
    return path
