"""An XMP document with the place of every keyword in it.

The document is parsed only to learn where things stand; its bytes are kept as they are. Positions count bytes of the
document in UTF-8, whatever encoding it came in; ``Document.encoded`` goes back.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat  # a document that declares a DTD is refused before an entity can do anything

from ..collection.tagging import word_key
from ..files import BadFile
from ..ingest.containers import LIMIT
from ..ingest.keywords import same_strokes
from ..ingest.xmp import PATHS, SUBJECT, TREE, Name, split_path

__all__ = [
    "HIERARCHY",
    "LISTS",
    "RDF",
    "TAGS_LIST",
    "Document",
    "Node",
    "Refused",
    "leaf_key",
    "value_key",
    "written_path",
]

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
HIERARCHY, TAGS_LIST = list(PATHS)[:2]
LISTS: tuple[Name, ...] = (SUBJECT, *PATHS)
"""Every property that lists keywords; words are put into the first three and taken out of all."""
_KEYWORD: Name = (TREE[0], "Keyword")
_OURS = (*LISTS, TREE)
_LISTS = ("Bag", "Seq", "Alt")
_MARK = "\x1f"
_BLANK = b" \t\r\n"
_DECLARED = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]{0,39})["']""")
_DEEPEST = 100
"""Elements within elements; real documents have about ten."""


class Refused(BadFile):
    """A file that is left as it is."""

    def __init__(self, sentence: str) -> None:
        super().__init__("refused", sentence)


def value_key(name: Name, value: str) -> tuple[str, ...]:
    """What all spellings of an entry of a list have in common: the keys of its words."""
    words = split_path(value, PATHS[name]) if name in PATHS else (value,)
    return tuple(filter(None, map(word_key, words)))


def leaf_key(name: Name, value: str) -> str:
    """The key of the keyword that an entry of a list means: of the last word of a path."""
    return same_strokes((value_key(name, value) or ("",))[-1])


def written_path(name: Name, words: Sequence[str]) -> str:
    """A path as it stands in a list; what separates words there stands in none of them."""
    separator = PATHS[name]
    inside = "/" if separator == "|" else "|"
    return separator.join(word.replace(separator, inside) for word in words)


@dataclass
class Node:
    """An element: where its first tag starts and ends, where its last one does, and what is in it."""

    name: Name
    start: int
    open_end: int = -1
    close_start: int = -1
    end: int = -1
    attributes: dict[Name, str] = field(default_factory=dict)
    scope: dict[str, str] = field(default_factory=dict)
    """Prefix -> namespace, as in force inside the element; "" is the default one."""
    children: list[Node] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    is_single: bool = False
    """Is it one tag, ``<a/>``?"""

    def prefix(self, address: str) -> str | None:
        """A prefix of a namespace: "" where it is the default one, None where it has none."""
        return next((prefix for prefix, known in self.scope.items() if known == address), None)

    @property
    def text(self) -> str:
        """Its text and that of everything in it."""
        return "".join(self.pieces)

    @property
    def container(self) -> Node | None:
        """The Bag, Seq or Alt that holds the values of a property, where there is one."""
        return next((one for one in self.children if one.name[0] == RDF and one.name[1] in _LISTS), None)

    def entries(self) -> Iterator[Node]:
        """Every ``rdf:li`` in it."""
        for child in self.children:
            if child.name == (RDF, "li"):
                yield child
            else:
                yield from child.entries()


class Document:
    """What stands where in an XMP document; ``Refused`` where it is not one that can be edited."""

    def __init__(self, content: bytes) -> None:
        if len(content) > LIMIT:
            raise Refused(f"it has more than {LIMIT >> 20} MB.")
        self._before, body, self._after, self.encoding = _split(content)
        try:
            text = body.decode(self.encoding)
            same = text.encode(self.encoding) == body
        except (UnicodeError, LookupError) as error:
            raise Refused(f"its characters are not those of its encoding, {self.encoding}.") from error
        if not same:
            raise Refused(f"its encoding, {self.encoding}, cannot be written back unchanged.")
        self.body = text.encode("utf-8")
        self.rdf = _Reader(self.body).read()

    def encoded(self, body: bytes) -> bytes:
        """A changed body as a document in the encoding of this one; letters it lacks become character references."""
        return self._before + body.decode("utf-8").encode(self.encoding, "xmlcharrefreplace") + self._after

    def properties(self, name: Name) -> list[Node]:
        """Every element of that name that says something of the picture."""
        return [one for description in self.rdf.children for one in description.children if one.name == name]

    def attributed(self, name: Name) -> list[Node]:
        """Every description that has the property as an attribute."""
        return [one for one in self.rdf.children if name in one.attributes]

    def values(self, name: Name) -> list[str]:
        """The values of a property, in all of its forms: what ingest reads."""
        found = [one.attributes[name] for one in self.attributed(name)]
        for node in self.properties(name):
            found += [entry.text for entry in list(node.entries()) or [node]]
        return [value for value in found if value.strip()]

    def leaves(self) -> list[tuple[str, Node]]:
        """Keywords of trees (``mwg-kw:Keywords``) that have none below them, and what goes when such a one goes."""
        found: list[tuple[str, Node]] = []
        for tree in self.properties(TREE):
            for entry in tree.entries():
                found += _leaves(entry, entry)
        return found

    def blank_before(self, position: int) -> bytes:
        """The spaces and line ends just before a position."""
        start = position
        while start > 0 and self.body[start - 1] in _BLANK:
            start -= 1
        return self.body[start:position]

    def tag(self, node: Node) -> str:
        """The name of an element as it is written, with its prefix."""
        found = re.compile(rb"<([^\s/>]+)").match(self.body, node.start)
        return found.group(1).decode() if found else ""


def _leaves(entry: Node, goes: Node) -> Iterator[tuple[str, Node]]:
    """``goes``: the entry, or the highest one above it that holds nothing else; empty parents would mean themselves."""
    below = list(entry.entries())
    for child in below:
        yield from _leaves(child, goes if len(below) == 1 else child)
    described = [entry, *(child for child in entry.children if child.name == (RDF, "Description"))]
    words = [one.attributes[_KEYWORD] for one in described if _KEYWORD in one.attributes]
    words += [child.text for one in described for child in one.children if child.name == _KEYWORD]
    if not below:
        yield from ((word, goes) for word in words)


def _split(content: bytes) -> tuple[bytes, bytes, bytes, str]:
    """What stands before the document, the document, what stands after it, and its encoding."""
    if content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise Refused("it is in UTF-32, which XMP does not know.")
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if content.startswith(mark):
            return mark, *_trimmed(content[len(mark) :], encoding), encoding
    for start, encoding in ((b"<\0", "utf-16-le"), (b"\0<", "utf-16-be")):
        if content.startswith(start):
            return b"", *_trimmed(content, encoding), encoding
    body = content.lstrip(b"\0" + _BLANK)
    declared = _DECLARED.match(body)
    encoding = declared.group(1).decode().lower() if declared else "utf-8"
    before = content[: len(content) - len(body)]
    return before, *_trimmed(body, encoding), encoding


def _trimmed(body: bytes, encoding: str) -> tuple[bytes, bytes]:
    """The document, and the blanks and zeros after it, which need not be XML."""
    width = 2 if encoding.startswith("utf-16") else 1
    padding = {letter.encode(encoding if width == 2 else "ascii") for letter in "\0 \t\r\n"}
    end = len(body)
    while end >= width and body[end - width : end] in padding:
        end -= width
    return body[:end], body[end:]


class _Reader:
    """Notes where elements begin and end while expat goes over a document."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._open: list[Node | None] = []
        """Elements from rdf:RDF inwards; None: one that is passed over."""
        self._depth = 0
        self._rdf: Node | None = None
        self._first_tag: Node | None = None
        self._last_tag: Node | None = None
        self._scope: dict[str, list[str]] = {}
        parser = self._parser = expat.ParserCreate("utf-8", _MARK)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartNamespaceDeclHandler = self._start_prefix
        parser.EndNamespaceDeclHandler = self._end_prefix
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        # Everything else, too, is an event: the tag before it ends where it begins.
        parser.CommentHandler = parser.ProcessingInstructionHandler = parser.DefaultHandler = self._other
        parser.StartCdataSectionHandler = parser.EndCdataSectionHandler = self._other

    def read(self) -> Node:
        try:
            self._parser.Parse(self._body, True)
        except expat.ExpatError as error:
            raise Refused(f"it is not well-formed XML ({str(error)[:80]}).") from error
        self._at(len(self._body))
        if self._rdf is None:
            raise Refused("there is no rdf:RDF in it, so it is not XMP.")
        return self._rdf

    def _refuse_doctype(self, *_: object) -> None:
        raise Refused("it declares a document type, which no camera or photo program does.")

    def _at(self, position: int) -> int:
        """Something begins here, so the tag before it has ended."""
        if self._first_tag is not None:
            self._first_tag.open_end = position
        if self._last_tag is not None:
            self._last_tag.end = position
        self._first_tag = self._last_tag = None
        return position

    def _other(self, *_: object) -> None:
        self._at(self._parser.CurrentByteIndex)

    def _start_prefix(self, prefix: str | None, address: str | None) -> None:
        self._scope.setdefault(prefix or "", []).append(address or "")

    def _end_prefix(self, prefix: str | None) -> None:
        self._scope[prefix or ""].pop()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        position = self._at(self._parser.CurrentByteIndex)
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Refused(f"it has more than {_DEEPEST} elements within elements.")
        full = _name(name)
        if not self._open and (self._rdf is not None or full != (RDF, "RDF")):
            return
        if not self._is_wanted():
            self._open.append(None)
            return
        node = Node(full, position, attributes={_name(key): value for key, value in attributes.items()})
        node.scope = {prefix: held[-1] for prefix, held in self._scope.items() if held and held[-1]}
        outer = self._open[-1] if self._open else None
        if outer is None:
            self._rdf = node
        else:
            outer.children.append(node)
        self._open.append(node)
        self._first_tag = node

    def _is_wanted(self) -> bool:
        """Does a new element count? What stands inside other properties is passed over."""
        if len(self._open) < 3:
            return True
        outer = self._open[2]
        return self._open[-1] is not None and outer is not None and outer.name in _OURS

    def _end(self, _: str) -> None:
        position = self._at(self._parser.CurrentByteIndex)
        self._depth -= 1
        node = self._open.pop() if self._open else None
        if node is None:
            return
        if node.open_end == position and self._body[position - 2 : position] == b"/>":
            node.is_single, node.close_start, node.end = True, position, position
        else:
            node.close_start, self._last_tag = position, node

    def _text(self, text: str) -> None:
        self._other()
        for node in self._open[2:]:
            if node is not None and (node.name in _OURS or node.name in ((RDF, "li"), _KEYWORD)):
                node.pieces.append(text)


def _name(text: str) -> Name:
    address, _, local = text.rpartition(_MARK)
    return address, local
