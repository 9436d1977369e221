"""Put keywords into an XMP document and take them out; every other byte stays.

Words go to ``dc:subject``, paths to ``lr:hierarchicalSubject`` (``animal|dog``) and ``digiKam:TagsList``
(``animal/dog``), in the form that the document already uses for them. Each edit is a list of splices, and its result is
parsed and compared before it is given out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from ..ingest.xmp import SUBJECT, Name
from .document import HIERARCHY, LISTS, RDF, TAGS_LIST, Document, Node, Refused, leaf_key, value_key

__all__ = ["Edit", "edit_document", "new_document", "read_words", "take_back"]

Splice = tuple[int, int, bytes]
"""From, to, and what stands there instead."""

_USUAL = {SUBJECT[0]: "dc", HIERARCHY[0]: "lr", TAGS_LIST[0]: "digiKam"}
_SEQUENCES = (TAGS_LIST,)
"""Lists that their own program reads only where they have an order."""


class Edit(NamedTuple):
    """What an edit puts in, as it is spelled, and takes out, however it is spelled."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    """These go from every list of keywords, with the paths that end in them."""
    add_paths: tuple[str, ...] = ()
    remove_paths: tuple[str, ...] = ()
    add_listed: tuple[str, ...] = ()
    """Entries of digiKam's list."""
    remove_listed: tuple[str, ...] = ()
    begun_paths: tuple[str, ...] = ()
    """What the list of paths began with, where it was not there before: keywords of the picture."""
    begun_listed: tuple[str, ...] = ()
    """The same for digiKam's list."""

    def parts(self) -> dict[Name, tuple[tuple[str, ...], tuple[str, ...]]]:
        """What is put into and taken out of each list."""
        return {
            SUBJECT: (self.add, self.remove),
            HIERARCHY: (self.add_paths, self.remove_paths),
            TAGS_LIST: (self.add_listed, self.remove_listed),
        }

    @property
    def reverse(self) -> Edit:
        """The edit that takes this one back."""
        return Edit(self.remove, self.add, self.remove_paths, self.add_paths, self.remove_listed, self.add_listed)

    @property
    def begun(self) -> dict[Name, tuple[str, ...]]:
        """What lists began with that were not there before."""
        return {name: begun for name, begun in ((HIERARCHY, self.begun_paths), (TAGS_LIST, self.begun_listed)) if begun}

    def __bool__(self) -> bool:
        return any(self[:6])


def read_words(content: bytes) -> tuple[list[str], list[str]]:
    """The words and the paths of a document; ``Refused`` where it could not be edited."""
    document = Document(content)
    return document.values(SUBJECT), document.values(HIERARCHY)


def edit_document(
    content: bytes, wanted: Edit, begin: Mapping[Name, Sequence[str]] | None = None
) -> tuple[bytes, Edit]:
    """The document after an edit, and what of the edit was still to be done.

    A word that is there, in whatever case, is not put in again, and one that is not cannot be taken out. ``begin`` is
    what a list that is not there yet begins with: a program that reads it will look at no other.
    """
    document = Document(content)
    parts = wanted.parts()
    leaving = _leaves(wanted.remove) - _leaves(wanted.add)
    gone: set[str] = set()
    done: list[tuple[str, ...]] = []
    begun: dict[Name, tuple[str, ...]] = {}
    for name in LISTS:
        add, remove = parts.get(name, ((), ()))
        ending = [] if name == SUBJECT else [one for one in document.values(name) if leaf_key(name, one) in leaving]
        first = () if begin is None or document.values(name) else begin.get(name, ())
        document, adding, removing = _edit_list(document, name, add, [*remove, *ending], first)
        gone |= {leaf_key(name, value) for value in removing}
        done += [adding, removing] if name in parts else []
        begun[name] = tuple(first) if adding else ()
    document = _without_leaves(document, leaving, gone)
    listed = _leaves(done[1])
    done[1] += tuple(word for word in wanted.remove if (leaf := leaf_key(SUBJECT, word)) in gone and leaf not in listed)
    found = Edit(*done)._replace(begun_paths=begun[HIERARCHY], begun_listed=begun[TAGS_LIST])
    return document.encoded(document.body), found


def take_back(content: bytes, done: Edit, begun: Iterable[Mapping[Name, Sequence[str]]]) -> tuple[bytes, bool]:
    """The document without an edit, and whether it differs. Lists that we began go where nothing else is in them, and
    so do lists that are left empty."""
    changed, undone = edit_document(content, done.reverse)
    document = Document(changed)
    emptied = [(name, ()) for name, (add, remove) in undone.parts().items() if remove and not add]
    for name, first in [*(entry for one in begun for entry in one.items()), *emptied]:
        nodes = document.properties(name)
        left = sorted(value_key(name, value) for value in document.values(name))
        if len(nodes) == 1 and left == sorted(value_key(name, value) for value in first):
            document = _spliced(document, [_with_blank(document, nodes[0])])
    new = document.encoded(document.body)
    return new, bool(undone) or new != content


def _edit_list(
    document: Document, name: Name, add: Sequence[str], remove: Iterable[str], first: Sequence[str]
) -> tuple[Document, tuple[str, ...], tuple[str, ...]]:
    """The document with one of its lists changed, what was put in, and what was taken out."""

    def key(value: str) -> tuple[str, ...]:
        return value_key(name, value)

    before = document.values(name)
    held = set(map(key, before))
    wished = {key(value): value for value in reversed(add)}
    leaving = set(remove)
    respelled = {key(value) for value in before if value in leaving and wished.get(key(value), value) != value}
    adding = [wished[one] for one in dict.fromkeys(map(key, add)) if one and (one not in held or one in respelled)]
    going = (set(map(key, leaving)) - wished.keys() - {()}) | respelled
    removing = [value for value in dict.fromkeys(before) if key(value) in going]
    new = [*first, *adding] if adding else adding
    if removing:
        document = _spliced(document, _removals(document, name, going))
    if new:
        document = _spliced(document, _additions(document, name, new))
    expected = [*(value for value in before if key(value) not in going), *new]
    if sorted(map(key, document.values(name))) != sorted(map(key, expected)):
        raise Refused("it is built in a way that could not be edited safely.")
    return document, tuple(adding), tuple(removing)


def _leaves(words: Iterable[str]) -> set[str]:
    return {leaf_key(SUBJECT, word) for word in words} - {""}


def _without_leaves(document: Document, leaving: set[str], gone: set[str]) -> Document:
    """A document without these words in its trees; where one has gone from there, it is noted."""
    going = [(word, node) for word, node in document.leaves() if leaf_key(SUBJECT, word) in leaving]
    if not going:
        return document
    gone |= _leaves(word for word, _ in going)
    document = _spliced(document, {_with_blank(document, node) for _, node in going})
    if _leaves(word for word, _ in document.leaves()) & leaving:
        raise Refused("its tree of keywords is built in a way that could not be edited safely.")
    return document


def _with_blank(document: Document, node: Node) -> Splice:
    return node.start - len(document.blank_before(node.start)), node.end, b""


def new_document(wanted: Edit, begin: Mapping[Name, Sequence[str]] | None = None) -> bytes:
    """A sidecar for a picture that has none, with the keywords that the picture has itself."""
    empty = (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
        '<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="manyview">\n'
        f' <rdf:RDF xmlns:rdf="{RDF}">\n'
        '  <rdf:Description rdf:about=""\n'
        f'    xmlns:dc="{SUBJECT[0]}"\n'
        f'    xmlns:lr="{HIERARCHY[0]}"\n'
        f'    xmlns:digiKam="{TAGS_LIST[0]}">\n'
        "  </rdf:Description>\n"
        " </rdf:RDF>\n"
        "</x:xmpmeta>\n"
        '<?xpacket end="w"?>\n'
    )
    return edit_document(empty.encode("utf-8"), wanted, begin)[0]


def _spliced(document: Document, splices: Iterable[Splice]) -> Document:
    body, pieces, position = document.body, [], 0
    for start, end, new in sorted(splices, key=lambda splice: splice[:2]):
        if start < position:
            raise Refused("it is built in a way that could not be edited safely.")
        pieces += [body[position:start], new]
        position = end
    return Document(document.encoded(b"".join([*pieces, body[position:]])))


# --- taking out ---


def _removals(document: Document, name: Name, going: set[tuple[str, ...]]) -> list[Splice]:
    splices = []
    for description in document.attributed(name):
        if value_key(name, description.attributes[name]) in going:
            start, end, _ = _attribute(document, description, name)
            splices.append((start, end, b""))
    for node in document.properties(name):
        entries = list(node.entries())
        for entry in entries or [node]:
            if value_key(name, entry.text) in going:
                splices.append(_with_blank(document, entry))
    return splices


def _attribute(document: Document, node: Node, name: Name) -> tuple[int, int, bytes]:
    """Where an attribute stands, with the blanks before it, and its value as it is written."""
    tag = document.body[node.start : node.open_end]
    for found in re.finditer(rb"""\s+([^\s=/>"']+)\s*=\s*("[^"]*"|'[^']*')""", tag):
        prefix, _, local = found.group(1).decode().rpartition(":")
        if local == name[1] and prefix and node.scope.get(prefix) == name[0]:
            return node.start + found.start(), node.start + found.end(), found.group(2)[1:-1]
    raise Refused("an attribute with its keywords could not be found again.")


# --- putting in ---


def _additions(document: Document, name: Name, words: Sequence[str]) -> list[Splice]:
    """Where new values of a property go: into its list, or into one that is made of its only value."""
    nodes = document.properties(name)
    with_list = [node for node in nodes if node.container is not None]
    bags = [node for node in with_list if node.container and node.container.name[1] == "Bag"]
    for node in bags or with_list:
        assert node.container is not None  # noqa: S101  chosen so
        return _into_list(document, node.container, words)
    for node in nodes:
        if not any(address == RDF for address, _ in node.attributes) and not node.children:
            return _list_of_text(document, node, words)
    if nodes:
        raise Refused(f"its {name[1]} is written in a form that XMP does not know.")
    for description in document.attributed(name):
        start, end, value = _attribute(document, description, name)
        return [(start, end, b""), *_new_property(document, description, name, words, [value])]
    return _somewhere(document, name, words)


def _entry(tag: str, word: str) -> bytes:
    return f"<{tag}>{escape(word)}</{tag}>".encode()


def _sibling(tag: str, local: str) -> str:
    """The name of another element of the same namespace, with the same prefix."""
    prefix, colon, _ = tag.rpartition(":")
    return f"{prefix}{colon}{local}"


def _into_list(document: Document, container: Node, words: Sequence[str]) -> list[Splice]:
    tag = document.tag(container)
    entry = _sibling(tag, "li")
    entries = [one for one in container.children if one.name == (RDF, "li")]
    if entries:
        last = entries[-1]
        blank = document.blank_before(last.start)
        return [(last.end, last.end, b"".join(blank + _entry(entry, word) for word in words))]
    outer = document.blank_before(container.start)
    blank = outer + b" " if outer else b""
    listed = b"".join(blank + _entry(entry, word) for word in words)
    if container.is_single:
        return [(container.end - 2, container.end, b">" + listed + outer + f"</{tag}>".encode())]
    inside = document.body[container.open_end : container.close_start]
    return [(container.open_end, container.open_end, listed + (b"" if inside else outer))]


def _list_names(name: Name, inside: Node) -> tuple[str, str]:
    """What the list of a property and its entries are called at some place."""
    prefix = inside.prefix(RDF)
    if prefix is None:
        raise Refused("its rdf prefix is not in force everywhere.")
    kind = "Seq" if name in _SEQUENCES else "Bag"
    return (f"{prefix}:{kind}", f"{prefix}:li") if prefix else (kind, "li")


def _list_of_text(document: Document, node: Node, words: Sequence[str]) -> list[Splice]:
    """A property without a list gets one; its text, if it has any, becomes the first entry, as it is written."""
    bag, entry = _list_names(node.name, node)
    listed = b"".join(_entry(entry, word) for word in words)
    tag = document.tag(node)
    if node.is_single:
        return [(node.end - 2, node.end, f"><{bag}>".encode() + listed + f"</{bag}></{tag}>".encode())]
    if not node.text.strip():
        return [(node.open_end, node.open_end, f"<{bag}>".encode() + listed + f"</{bag}>".encode())]
    return [
        (node.open_end, node.open_end, f"<{bag}><{entry}>".encode()),
        (node.close_start, node.close_start, f"</{entry}>".encode() + listed + f"</{bag}>".encode()),
    ]


def _somewhere(document: Document, name: Name, words: Sequence[str]) -> list[Splice]:
    """A property that is not there yet: in the description that knows its prefix, else the first, else in a new one."""
    descriptions = [one for one in document.rdf.children if one.name == (RDF, "Description")]
    known = [one for one in descriptions if one.prefix(name[0])]
    for description in known or descriptions:
        return _new_property(document, description, name, words, [])
    rdf = document.rdf
    tag = document.tag(rdf)
    inner = _sibling(tag, "Description")
    about = f' {_sibling(tag, "about")}=""' if ":" in tag else ""
    outer = document.blank_before(rdf.start)
    line = outer + b" " if outer else b""
    new = f"<{inner}{about}>".encode() + _property(name, rdf, words, [], line + b" " if line else b"")
    new = line + new + line + f"</{inner}>".encode()
    return [_at_the_end(document, rdf, new, outer)]


def _new_property(
    document: Document, description: Node, name: Name, words: Sequence[str], raw: Sequence[bytes]
) -> list[Splice]:
    """A property at the end of a description; ``raw`` are values that stood elsewhere in it, as they were written."""
    outer = document.blank_before(description.start)
    line = document.blank_before(description.children[-1].start) if description.children else outer + b" " * bool(outer)
    return [_at_the_end(document, description, _property(name, description, words, raw, line), outer)]


def _at_the_end(document: Document, node: Node, new: bytes, outer: bytes) -> Splice:
    """A new last child of an element; ``outer`` is the blank before the element itself."""
    if node.is_single:
        return node.end - 2, node.end, b">" + new + outer + f"</{document.tag(node)}>".encode()
    place = node.children[-1].end if node.children else node.open_end
    return place, place, new + (outer if node.open_end == node.close_start else b"")


def _property(name: Name, inside: Node, words: Sequence[str], raw: Sequence[bytes], line: bytes) -> bytes:
    prefix = inside.prefix(name[0])
    declared = ""
    if not prefix:
        prefix = _USUAL[name[0]]
        declared = f' xmlns:{prefix}="{name[0]}"'
    bag, entry = _list_names(name, inside)
    lines = [line + b" " * n if line else b"" for n in range(3)]
    values = [f"<{entry}>".encode() + value + f"</{entry}>".encode() for value in raw]
    values += [_entry(entry, word) for word in words]
    return b"".join(
        [
            lines[0] + f"<{prefix}:{name[1]}{declared}>".encode(),
            lines[1] + f"<{bag}>".encode(),
            *(lines[2] + value for value in values),
            lines[1] + f"</{bag}>".encode(),
            lines[0] + f"</{prefix}:{name[1]}>".encode(),
        ]
    )
