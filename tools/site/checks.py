"""Reads the site that was built: every link leads somewhere, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

__all__ = ["look_through"]

# what a browser fetches by itself when it meets these; a plain link it does not
_LOADS = {
    ("script", "src"),
    ("img", "src"),
    ("img", "srcset"),
    ("source", "src"),
    ("source", "srcset"),
    ("iframe", "src"),
    ("embed", "src"),
    ("object", "data"),
    ("video", "src"),
    ("video", "poster"),
    ("audio", "src"),
    ("use", "href"),
    ("image", "href"),
    ("input", "src"),
}
_NOT_LOADING = {"canonical", "author", "license", "help", "next", "prev", "search", "index"}
_ELSEWHERE = re.compile(r"^(?:https?:)?//", re.IGNORECASE)
_IN_STYLE = re.compile(r"""(?:url\(\s*|@import\s+)["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)
# in scripts: an address that is handed to something that fetches
_IN_SCRIPT = re.compile(
    r"""(?:fetch|import|importScripts|Worker|XMLHttpRequest|sendBeacon|\.src\s*=|\.href\s*=|\.open)\s*\(?\s*["'`](?:GET["'],\s*["'])?((?:https?:)?//[^"'`\s]+)""",
    re.IGNORECASE,
)


class _Page(HTMLParser):
    """The anchors, the links and the loaded addresses of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given and tag != "meta"}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and not set(given.get("rel", "").split()) & _NOT_LOADING:
            self.loads.append(given.get("href", ""))
        for name, value in given.items():
            if (tag, name) in _LOADS:
                self.loads += (
                    [part.split()[0] for part in value.split(",") if part.strip()] if "set" in name else [value]
                )
            if name == "style":
                self.loads += _IN_STYLE.findall(value)


def look_through(site: Path) -> list[str]:
    """What is wrong, a line each; an empty list if nothing is."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    found = []
    for path, page in pages.items():
        where = path.relative_to(site)
        found += [f"{where}: loads {address}" for address in page.loads if _ELSEWHERE.match(address)]
        found += [f"{where}: {problem}" for link in page.links if (problem := _lost(site, path, link, pages))]
        found += [
            f"{where}: loads {address}, which is not there"
            for address in page.loads
            if not _ELSEWHERE.match(address) and not address.startswith("data:") and not _there(site, path, address)
        ]
    for path in [*site.rglob("*.css"), *site.rglob("*.svg")]:
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{path.relative_to(site)}: loads {address}" for address in _IN_STYLE.findall(text)]
    for path in site.rglob("*.js"):
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{path.relative_to(site)}: loads {address}" for address in _IN_SCRIPT.findall(text)]
    return found


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _lost(site: Path, path: Path, link: str, pages: dict[Path, _Page]) -> str:
    """Why a link leads nowhere; "" where it does lead somewhere, or out of the site."""
    if re.match(r"^[a-z][a-z0-9+.-]*:", link, re.IGNORECASE) or link.startswith("//"):
        return ""
    address, anchor = urldefrag(link)
    target = (path.parent / unquote(address)).resolve() if address else path
    if not target.exists() or not target.is_relative_to(site.resolve()):
        return f"links to {link}, which is not there"
    page = pages.get(target)
    if anchor and page is not None and unquote(anchor) not in page.anchors:
        return f"links to {link}, which has no such place"
    return ""


def _there(site: Path, path: Path, address: str) -> bool:
    plain = unquote(urldefrag(address)[0].split("?")[0])
    return not plain or (path.parent / plain).resolve().exists()
