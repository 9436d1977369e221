"""Keywords of XMP packets: flat ones, and paths of a hierarchy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .iptc import Damaged

__all__ = ["PATHS", "SUBJECT", "TREE", "Name", "XmpKeywords", "read_packet", "split_path"]

Name = tuple[str, str]
"""Namespace and local name."""

_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
SUBJECT: Name = ("http://purl.org/dc/elements/1.1/", "subject")
PATHS: dict[Name, str] = {
    ("http://ns.adobe.com/lightroom/1.0/", "hierarchicalSubject"): "|",
    ("http://www.digikam.org/ns/1.0/", "TagsList"): "/",
    ("http://ns.iview-media.com/mediapro/1.0/", "CatalogSets"): "|",
    ("http://ns.microsoft.com/photo/1.0/", "LastKeywordXMP"): "/",
    ("http://ns.microsoft.com/photo/1.0", "LastKeywordXMP"): "/",
}
"""Properties that list paths, and what stands between the words of a path."""
TREE: Name = ("http://www.metadataworkinggroup.com/schemas/keywords/", "Keywords")
"""Keywords that hold others."""
_FLAT = "{{{}}}{}".format(*SUBJECT)
_PATHS = {"{{{}}}{}".format(*name): name for name in PATHS}
_LISTED = "{http://ns.adobe.com/pdf/1.3/}Keywords"
_FACTS = {
    f"{{{address}}}{name}": name
    for address, names in (
        ("http://ns.adobe.com/exif/1.0/", ("DateTimeOriginal", "GPSLatitude", "GPSLongitude")),
        ("http://ns.adobe.com/photoshop/1.0/", ("DateCreated",)),
        ("http://ns.adobe.com/xap/1.0/", ("CreateDate",)),
        ("http://ns.adobe.com/tiff/1.0/", ("Make", "Model")),
        ("http://cipa.jp/exif/1.0/", ("LensModel",)),
        ("http://ns.adobe.com/exif/1.0/aux/", ("Lens",)),
    )
    for name in names
}
_MWG = f"{{{TREE[0]}}}"
_DEEPEST = 50


class XmpKeywords(NamedTuple):
    """What a packet says."""

    tags: list[str]
    paths: list[tuple[str, ...]]
    listed: list[str]
    """Keywords in one line of text, as PDF files have them."""
    lists: set[Name]
    """The properties that hold keywords."""
    facts: dict[str, str]
    """How the picture was taken: local name of a property -> its value."""


def split_path(text: str, separator: str) -> tuple[str, ...]:
    """The words of a path. Where a stroke separates them, a bar stands for a stroke inside a word (Immich's way)."""
    words = text.split(separator)
    return tuple(word.replace("|", "/") for word in words) if separator == "/" else tuple(words)


def read_packet(packet: bytes) -> XmpKeywords:
    """The keywords of one packet; ``Damaged`` where it is not XML, or XML that wants to define entities."""
    from defusedxml.common import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        wide = packet[:2] in (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")  # in UTF-16 a zero may be half a letter
        root = fromstring(packet if wide else packet.strip(b"\0 \t\r\n"), forbid_dtd=True)
    except DefusedXmlException as error:
        raise Damaged("its XMP defines entities, which no camera or photo program does; it was not read.") from error
    except (ParseError, ValueError, LookupError, RecursionError) as error:
        raise Damaged(f"its XMP is not well-formed XML ({str(error)[:80]}).") from error
    tags: list[str] = []
    paths: list[tuple[str, ...]] = []
    listed: list[str] = []
    lists: set[Name] = set()
    facts: dict[str, str] = {}
    for rdf in root.iter(f"{_RDF}RDF"):
        for description in rdf:
            if _FLAT in description.attrib:
                tags.append(description.attrib[_FLAT])
                lists.add(SUBJECT)
            if _LISTED in description.attrib:
                listed.append(description.attrib[_LISTED])
            facts |= {_FACTS[key]: value for key, value in description.attrib.items() if key in _FACTS}
            for element in description:
                if element.tag in _FACTS and not len(element):
                    facts[_FACTS[element.tag]] = element.text or ""
                if element.tag == _FLAT:
                    tags += _values(element)
                    lists.add(SUBJECT)
                elif element.tag == _LISTED:
                    listed += _values(element)
                elif (name := _PATHS.get(element.tag)) is not None:
                    paths += [split_path(value, PATHS[name]) for value in _values(element)]
                    lists.add(name)
                elif element.tag == f"{_MWG}Keywords":
                    paths += _tree(element, ())
    return XmpKeywords(tags, paths, listed, lists, facts)


def _values(element: Any) -> list[str]:
    """The values of a property: of its list, or its own text."""
    entries = list(element.iter(f"{_RDF}li"))
    return ["".join(entry.itertext()) for entry in entries or [element]]


def _tree(element: Any, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths of the Metadata Working Group's keywords, whose entries hold their children.

    An entry is meant where it says so (``Applied``); where it does not say, if it has no children.
    """
    if len(above) > _DEEPEST:
        return
    for entry in _entries(element):
        facts = {name: value for part in (entry, *entry.findall(f"{_RDF}Description")) for name, value in _facts(part)}
        word = facts.get("Keyword", "")
        path = (*above, word) if word.strip() else above
        below = list(_tree(entry, path))
        if word.strip() and facts.get("Applied", str(not below)).strip().lower() == "true":
            yield path
        yield from below


def _entries(element: Any) -> Iterator[Any]:
    """The nearest list entries inside an element."""
    for child in element:
        if child.tag == f"{_RDF}li":
            yield child
        else:
            yield from _entries(child)


def _facts(element: Any) -> Iterator[tuple[str, str]]:
    """What an entry says of itself, as attributes or as elements."""
    for name, value in element.attrib.items():
        yield name.removeprefix(_MWG), value
    for child in element:
        if not len(child):
            yield child.tag.removeprefix(_MWG), child.text or ""
