"""Read the part of SKOS that makes a hierarchy: concepts, their preferred labels, and which is broader than which."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..errors import MissingExtra, StoreError
from .tags import match_key

__all__ = ["read_skos"]

_SKOS = "http://www.w3.org/2004/02/skos/core#"
_LIMIT = 256 * 2**20
Triple = tuple[Any, str, Any]  # subject, predicate, object: terms of rdflib


def read_skos(path: str | os.PathLike[str], language: str | None) -> tuple[list[str], list[list[int]]]:
    """The labels of all concepts, and for each the places of those right above it."""
    path = Path(path)
    if not path.is_file():
        raise StoreError(f"there is no file {path}.")
    if path.stat().st_size > _LIMIT:
        raise StoreError(f"{path} is larger than {_LIMIT >> 20} MB; a thesaurus of tags is much smaller.")
    raw = path.read_bytes()
    is_xml = raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<?xml", b"<rdf:RDF", b"<RDF", b"<!--"))
    return _hierarchy(path, _triples(path, raw, is_xml), language)


def _triples(path: Path, raw: bytes, is_xml: bool) -> list[Triple]:
    """What the file says, in its order."""
    try:
        from rdflib import Graph
    except ImportError as error:
        raise MissingExtra("reading SKOS needs the 'skos' extra:  pip install \"manyview[skos]\"") from error

    said: list[Triple] = []

    class InOrder(Graph):  # type: ignore[misc]
        def add(self, triple: Any) -> Graph:
            said.append((triple[0], str(triple[1]), triple[2]))
            return self

    kind = "RDF/XML" if is_xml else "Turtle"
    try:
        if is_xml:
            _refuse_entities(raw)
        text = raw if is_xml else raw.decode("utf-8-sig")
        InOrder().parse(data=text, format="xml" if is_xml else "turtle", publicID="file:///thesaurus")
    except UnicodeDecodeError as error:
        raise StoreError(
            f"{path} is neither RDF/XML nor Turtle in UTF-8: {error.reason} at byte {error.start}."
        ) from error
    except Exception as error:  # a parser of strangers' bytes: whatever it says, the file cannot be used
        where = f" at line {error.lines + 1}" if hasattr(error, "lines") else ""
        why = str(getattr(error, "_why", error))
        raise StoreError(f"{path} cannot be read as {kind}{where}: {type(error).__name__}: {why}.") from error
    return said


def _refuse_entities(raw: bytes) -> None:
    """Entities can grow without bound or name other files; rdflib's parser would follow them."""
    from defusedxml.ElementTree import fromstring

    fromstring(raw)


def _hierarchy(path: Path, triples: list[Triple], language: str | None) -> tuple[list[str], list[list[int]]]:
    labels: dict[Any, str] = {}
    exact: set[Any] = set()
    links: list[tuple[Any, Any]] = []  # below, above
    for subject, predicate, value in triples:
        label = str(value).strip()
        if predicate == f"{_SKOS}prefLabel" and label:
            spoken = getattr(value, "language", None) or ""
            fits = language is None or spoken.lower().split("-")[0] == language.lower()
            if fits and subject not in exact:
                labels[subject] = label
                exact.add(subject)
            labels.setdefault(subject, label)
        elif predicate == f"{_SKOS}broader":
            links.append((subject, value))
        elif predicate == f"{_SKOS}narrower":
            links.append((value, subject))
    if not labels:
        raise StoreError(f"{path} holds no skos:prefLabel: it is not a SKOS thesaurus in RDF/XML or Turtle.")
    names: list[str] = []
    places: dict[Any, int] = {}
    of_word: dict[str, int] = {}
    for concept, label in labels.items():  # two concepts of one label are one tag
        key = match_key(label)
        if key not in of_word:
            of_word[key] = len(names)
            names.append(label)
        places[concept] = of_word[key]
    above: list[list[int]] = [[] for _ in names]
    for lower, upper in links:
        low, up = places.get(lower, -1), places.get(upper, -1)
        if low >= 0 and up >= 0 and low != up and up not in above[low]:
            above[low].append(up)
    return names, above
