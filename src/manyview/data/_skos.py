"""Read the part of SKOS that makes a hierarchy: concepts, their preferred labels, and which is broader than which."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import StoreError
from .tags import match_key

__all__ = ["read_skos"]

_SKOS = "http://www.w3.org/2004/02/skos/core#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XML_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_LIMIT = 256 * 2**20
Triple = tuple[str, str, str, str]  # subject, predicate, object, language of a literal

# Comments and white space, then one token: IRI, literal with language or type, prefixed name, or mark.
_TOKEN = re.compile(
    r"""(?:\s++|\#[^\n]*+)*+(?:
    <(?P<iri>[^<>"{}|^`\\\s]*)>
    |(?P<text>\"{3}(?:[^"\\]|\\.|\"{1,2}(?!\"))*\"{3}|'{3}(?:[^'\\]|\\.|'{1,2}(?!'))*'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
     (?:@(?P<language>[A-Za-z][A-Za-z0-9-]*)|\^\^(?:<[^>]*>|[^\s;,.]+))?
    |(?P<keyword>@prefix|@base|(?:PREFIX|BASE)(?=\s))
    |(?P<mark>[;,.\[\]()])
    |(?P<name>[^\s;,\[\]()<>"']*[^\s;,.\[\]()<>"'])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SHORT = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


def read_skos(path: str | os.PathLike[str], language: str | None) -> tuple[list[str], list[list[int]]]:
    """The labels of all concepts, and for each the places of those right above it."""
    path = Path(path)
    if not path.is_file():
        raise StoreError(f"there is no file {path}.")
    if path.stat().st_size > _LIMIT:
        raise StoreError(f"{path} is larger than {_LIMIT >> 20} MB; a thesaurus of tags is much smaller.")
    raw = path.read_bytes()
    is_xml = raw.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<?xml", b"<rdf:RDF", b"<RDF", b"<!--"))
    triples = list(_xml_triples(path, raw) if is_xml else _turtle_triples(path, raw))
    return _hierarchy(path, triples, language)


def _hierarchy(path: Path, triples: list[Triple], language: str | None) -> tuple[list[str], list[list[int]]]:
    labels: dict[str, str] = {}
    exact: set[str] = set()
    links: list[tuple[str, str]] = []  # below, above
    for subject, predicate, value, spoken in triples:
        if predicate == f"{_SKOS}prefLabel" and value.strip():
            fits = language is None or spoken.lower().split("-")[0] == language.lower()
            if fits and subject not in exact:
                labels[subject] = value.strip()
                exact.add(subject)
            labels.setdefault(subject, value.strip())
        elif predicate == f"{_SKOS}broader":
            links.append((subject, value))
        elif predicate == f"{_SKOS}narrower":
            links.append((value, subject))
    if not labels:
        raise StoreError(f"{path} holds no skos:prefLabel: it is not a SKOS thesaurus in RDF/XML or Turtle.")
    names: list[str] = []
    places: dict[str, int] = {}
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


def _xml_triples(path: Path, raw: bytes) -> Iterator[Triple]:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import ParseError, fromstring

    try:
        root = fromstring(raw)
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise StoreError(f"{path} cannot be read as RDF/XML: {type(error).__name__}: {error}.") from error
    for node in root.iter():
        subject = node.get(f"{{{_RDF}}}about") or (
            f"#{node.get(f'{{{_RDF}}}ID')}" if node.get(f"{{{_RDF}}}ID") else None
        )
        if subject is None:
            continue
        for child in node:
            namespace, _, local = str(child.tag).removeprefix("{").partition("}")
            yield subject, namespace + local, _xml_object(child), child.get(_XML_LANGUAGE, "")


def _xml_object(element: Any) -> str:
    """What a property points to: a resource, a concept written inside it, or its text."""
    resource = element.get(f"{{{_RDF}}}resource")
    if resource is None and len(element):
        resource = element[0].get(f"{{{_RDF}}}about")
    return str(resource) if resource is not None else (element.text or "")


def _turtle_triples(path: Path, raw: bytes) -> Iterator[Triple]:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StoreError(
            f"{path} is neither RDF/XML nor Turtle in UTF-8: {error.reason} at byte {error.start}."
        ) from error
    prefixes: dict[str, str] = {}
    statement: list[tuple[str, str, str]] = []  # kind, value, language
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None or found.end() == at:
            if not text[at:].split("#")[0].strip() and "\n" not in text[at:].strip():
                return  # a comment closes the file
            line = text.count("\n", 0, at) + 1
            raise StoreError(f"{path} cannot be read as Turtle at line {line}: {text[at : at + 40].strip()!r}.")
        at = found.end()
        kind = str(found.lastgroup if found.lastgroup != "language" else "text")
        if kind == "mark" and found["mark"] == ".":
            yield from _statement(path, statement, prefixes)
            statement = []
            continue
        statement.append((kind, str(found[kind]), found["language"] or ""))
        opening = statement[0]
        if opening[0] == "keyword" and not opening[1].startswith("@") and len(statement) == _words(opening[1]):
            yield from _statement(path, statement, prefixes)  # SPARQL's PREFIX has no full stop
            statement = []
    if statement:
        raise StoreError(f"{path} ends in the middle of a statement; is it whole?")


def _words(keyword: str) -> int:
    return 3 if keyword.lower().endswith("prefix") else 2


def _statement(path: Path, tokens: list[tuple[str, str, str]], prefixes: dict[str, str]) -> Iterator[Triple]:
    """The triples of one statement: a subject, then predicates (``;``), then objects (``,``)."""
    if not tokens:
        return
    if tokens[0][0] == "keyword":
        if len(tokens) == 3:
            prefixes[tokens[1][1].removesuffix(":")] = tokens[2][1]
        return
    if any(kind == "mark" and value in "[]()" for kind, value, _ in tokens):
        return  # blank nodes and lists say nothing that we read
    subject = _resource(tokens[0], prefixes)
    predicate = None
    for token in tokens[1:]:
        kind, value, spoken = token
        if kind == "mark":
            predicate = None if value == ";" else predicate
        elif predicate is None:
            predicate = _resource(token, prefixes)
        elif kind == "text":
            quotes = 3 if value[:3] in ('"""', "'''") and len(value) >= 6 else 1
            yield subject, predicate, _ESCAPE.sub(_unescaped, value[quotes:-quotes]), spoken
        else:
            yield subject, predicate, _resource(token, prefixes), ""


def _resource(token: tuple[str, str, str], prefixes: dict[str, str]) -> str:
    kind, value, _ = token
    if kind != "name":
        return value
    prefix, colon, local = value.partition(":")
    return prefixes.get(prefix, f"{prefix}:") + local if colon else value


def _unescaped(found: re.Match[str]) -> str:
    short, long, letter = found.groups()
    if letter is not None:
        return _SHORT.get(letter, letter)
    number = int(short or long, 16)
    return chr(number) if number <= 0x10FFFF else "\ufffd"
