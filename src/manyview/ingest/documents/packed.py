"""Documents that are XML in a ZIP archive: Word and PowerPoint, OpenDocument, electronic books."""

from __future__ import annotations

import io
import posixpath
import re
from collections.abc import Collection, Iterable
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from ...files import BadFile
from ..keywords import listed
from .pages import decode_page, html_to_text
from .said import Said

__all__ = ["read_book", "read_office", "read_open"]

_MOST = 96 * 2**20
"""Bytes that are unpacked of one document, all its parts together."""
_LONGEST_LIST = 8 * 2**20
_PIECE = 2**20
_SLIDE = re.compile(r"ppt/slides/slide(\d+)\.xml")


class _Pack:
    """The parts of a packed document, as far as they may be unpacked."""

    def __init__(self, content: bytes) -> None:
        self._zip = ZipFile(io.BytesIO(content))
        self.names = frozenset(self._zip.namelist())
        self._left = _MOST

    def read_list(self, name: str) -> bytes:
        """A part that names other parts, of which no document has more than a few thousand."""
        if name in self.names and self._zip.getinfo(name).file_size > _LONGEST_LIST:
            raise BadFile("too large", f"its list {name} has more than {_LONGEST_LIST >> 20} MB.")
        return self.read(name)

    def read(self, name: str) -> bytes:
        """A part, whole; nothing where there is none of that name."""
        if name not in self.names:
            return b""
        if self._zip.getinfo(name).flag_bits & 1:
            raise BadFile("unreadable", "it is encrypted and needs a password.")
        with self._zip.open(name) as part:
            content = part.read(self._left + 1)
        self._left -= len(content)
        if self._left < 0:
            raise BadFile("too large", f"unpacked it has more than {_MOST >> 20} MB.")
        return content


class _Spoken:
    """Gathers the text inside some elements, with a new line before and behind others; nothing of what is silent."""

    def __init__(self, spoken: Collection[str], breaks: Collection[str], silent: Collection[str]) -> None:
        self._spoken, self._breaks, self._silent = spoken, breaks, silent
        self._n_spoken = self._n_silent = 0
        self._parts: list[str] = []
        self.length = 0

    def start(self, tag: str, _: dict[str, str]) -> None:
        name = _bare(tag)
        self._n_spoken += name in self._spoken
        self._n_silent += name in self._silent
        self._break(name)

    def end(self, tag: str) -> None:
        name = _bare(tag)
        self._n_spoken -= name in self._spoken
        self._n_silent -= name in self._silent
        self._break(name)

    def _break(self, name: str) -> None:
        if name in self._breaks and not self._n_silent:
            self._say("\n")

    def data(self, text: str) -> None:
        if self._n_spoken and not self._n_silent:
            self._say(text)

    def _say(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)

    def close(self) -> str:
        return "".join(self._parts)


def _bare(tag: str) -> str:
    """The name of an element without its namespace, of which each edition of a format has its own."""
    return tag.rpartition("}")[2]


def _spoken(
    xml: bytes, longest: int, spoken: Collection[str], breaks: Collection[str], silent: Collection[str] = ()
) -> str:
    """What stands in some elements of a part, as far as it is wanted. One pass; no tree is built, however deep the
    elements are nested."""
    from defusedxml.ElementTree import DefusedXMLParser

    if not xml:
        return ""
    target = _Spoken(spoken, breaks, silent)
    parser = DefusedXMLParser(target=target)
    for start in range(0, len(xml), _PIECE):
        parser.feed(xml[start : start + _PIECE])
        if target.length > longest:
            return target.close()
    return str(parser.close())


def _lines(xml: bytes, name: str) -> list[str]:
    """The texts of the elements of one name."""
    return _spoken(xml, _PIECE, {name}, {name}).splitlines()


def read_office(content: bytes, longest: int) -> Said:
    """Word and PowerPoint since 2007. What was deleted or moved away with changes tracked is no text."""
    pack = _Pack(content)
    parts = _office_parts(pack)
    if pack.names.isdisjoint(parts):
        raise BadFile("damaged", "it is an archive that holds neither a text nor slides.")
    breaks = {"p", "tab", "ptab", "br", "cr", "noBreakHyphen"}
    pieces = (_spoken(pack.read(name), longest, {"t"}, breaks, {"Fallback", "moveFrom"}) for name in parts)
    return Said(_as_far_as(pieces, longest), *_keywords(pack, "docProps/core.xml", "keywords"))


def _office_parts(pack: _Pack) -> list[str]:
    """The parts that hold words, in their order: those that belong to the document, whatever they are called."""
    mains = [name for _, kind, name in _relations(pack, "") if kind == "officeDocument"]
    main = next((name for name in (*mains, "word/document.xml", "ppt/presentation.xml") if name in pack.names), "")
    related = _relations(pack, main)
    texts = [main]
    if slides := {number: name for number, kind, name in related if kind == "slide"}:
        texts = [slides[one] for (one,) in _attributes(pack.read_list(main), "sldId", "}id") if one in slides]
    if not related:  # nothing says what belongs to what
        found = sorted((int(slide[1]), name) for name in pack.names if (slide := _SLIDE.fullmatch(name)))
        return [main, "word/footnotes.xml", "word/endnotes.xml", *(name for _, name in found)]
    notes = [name for _, kind, name in related if kind in ("footnotes", "endnotes")]
    drawn = [name for part in texts for _, kind, name in _relations(pack, part) if kind == "diagramData"]
    return [*texts, *notes, *drawn]


def _relations(pack: _Pack, part: str) -> list[tuple[str, str, str]]:
    """What belongs to a part of an Office document, or to the whole: number, kind and name."""
    folder, name = posixpath.split(part)
    xml = pack.read_list(posixpath.join(folder, "_rels", f"{name}.rels"))
    return [
        (number, kind.rpartition("/")[2], posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/"))
        for number, kind, target in _attributes(xml, "Relationship", "Id", "Type", "Target")
    ]


def read_open(content: bytes, longest: int) -> Said:
    """OpenDocument texts and presentations, without remarks, speaker notes and what was deleted as a tracked change."""
    pack = _Pack(content)
    if "content.xml" not in pack.names:
        raise BadFile("damaged", "it is an archive without the text of a document.")
    if b"encryption-data" in pack.read("META-INF/manifest.xml"):
        raise BadFile("unreadable", "it is encrypted and needs a password.")
    breaks = {"p", "h", "s", "tab", "line-break", "title", "desc"}
    silent = {"annotation", "tracked-changes", "note-citation", "notes"}
    text = _spoken(pack.read("content.xml"), longest, {"p", "h"}, breaks, silent)
    return Said(text[:longest], *_keywords(pack, "meta.xml", "keyword"))


def _keywords(pack: _Pack, part: str, name: str) -> tuple[list[str], list[tuple[str, ...]], list[tuple[str, str]]]:
    """Words, paths and notes of the document's properties; damage there costs keywords, never the text."""
    try:
        return [word for line in _lines(pack.read(part), name) for word in listed(line)], [], []
    except (BadFile, MemoryError):
        raise
    except Exception as error:
        sentence = f"some keywords may be missing: they cannot be read ({type(error).__name__})."
        return [], [], [("bad metadata", sentence)]


def read_book(content: bytes, longest: int) -> Said:
    """EPUB: its title and its chapters in the order in which they are read. Its subjects are keywords."""
    pack = _Pack(content)
    boxes = _attributes(pack.read_list("META-INF/container.xml"), "rootfile", "full-path")
    place = boxes[0][0] if boxes else ""
    package = pack.read_list(place)
    if not package:
        raise BadFile("damaged", "it is an archive without the list of a book's chapters.")
    files = {number: name for number, name in _attributes(package, "item", "id", "href")}  # noqa: C416  two of them
    folder = posixpath.dirname(place)
    order = (posixpath.join(folder, unquote(files.get(one, ""))) for (one,) in _attributes(package, "itemref", "idref"))
    chapters = dict.fromkeys(map(posixpath.normpath, order))
    listed_secrets = _attributes(pack.read_list("META-INF/encryption.xml"), "CipherReference", "URI")
    secret = {unquote(name) for (name,) in listed_secrets}
    if not secret.isdisjoint(chapters):  # the letter forms of many books are; their words are not
        raise BadFile("unreadable", "it is encrypted, and only the programs of its seller open it.")
    pieces = (html_to_text(_body(decode_page(pack.read(name)))) for name in chapters)
    return Said(_as_far_as((*_lines(package, "title"), *pieces), longest), _lines(package, "subject"))


def _body(page: str) -> str:
    """A chapter without its head, where most programs write a title that is no part of the book."""
    start = page.find("<body")
    return page[start:] if start >= 0 else page


def _attributes(xml: bytes, element: str, *names: str) -> list[tuple[str, ...]]:
    """Some attributes of the elements of one name; an empty word where one is missing.

    ``}id`` is the attribute of that name that stands in some namespace, of which each edition has its own.
    """
    from defusedxml.ElementTree import fromstring

    found = (one for one in fromstring(xml).iter() if _bare(str(one.tag)) == element) if xml else ()
    return [tuple(_attribute(one, name) for name in names) for one in found]


def _attribute(element: Any, name: str) -> str:
    if not name.startswith("}"):
        return str(element.get(name, ""))
    return next((value for key, value in element.items() if key.endswith(name)), "")


def _as_far_as(pieces: Iterable[str], longest: int) -> str:
    """The pieces, a line each, until there are enough characters."""
    parts: list[str] = []
    length = 0
    for piece in pieces:
        parts.append(piece)
        length += len(piece)
        if length > longest:
            break
    return "\n".join(parts)[:longest]
