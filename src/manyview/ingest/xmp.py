"""Keywords of XMP packets: flat ones, and paths of a hierarchy."""

from __future__ import annotations

from typing import NamedTuple

from .iptc import Damaged

__all__ = ["XmpKeywords", "read_packet"]

_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
_FLAT = "{http://purl.org/dc/elements/1.1/}subject"
_LISTED = "{http://ns.adobe.com/pdf/1.3/}Keywords"
_PATHS = {  # property -> what stands between the words of a path
    "{http://ns.adobe.com/lightroom/1.0/}hierarchicalSubject": "|",
    "{http://www.digikam.org/ns/1.0/}TagsList": "/",
    "{http://ns.iview-media.com/mediapro/1.0/}CatalogSets": "|",
    "{http://ns.microsoft.com/photo/1.0/}LastKeywordXMP": "/",
    "{http://ns.microsoft.com/photo/1.0}LastKeywordXMP": "/",
}


class XmpKeywords(NamedTuple):
    """What a packet says."""

    tags: list[str]
    paths: list[tuple[str, ...]]
    listed: list[str]
    """Keywords in one line of text, as PDF files have them."""


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
    for rdf in root.iter(f"{_RDF}RDF"):
        for description in rdf:
            if _FLAT in description.attrib:
                tags.append(description.attrib[_FLAT])
            if _LISTED in description.attrib:
                listed.append(description.attrib[_LISTED])
            for element in description:
                if element.tag == _FLAT:
                    tags += _values(element)
                elif element.tag == _LISTED:
                    listed += _values(element)
                elif element.tag in _PATHS:
                    paths += [tuple(value.split(_PATHS[element.tag])) for value in _values(element)]
    return XmpKeywords(tags, paths, listed)


def _values(element: object) -> list[str]:
    """The values of a property: of its list, or its own text."""
    entries = list(element.iter(f"{_RDF}li"))  # type: ignore[attr-defined]
    return ["".join(entry.itertext()) for entry in entries or [element]]
