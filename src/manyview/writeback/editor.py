"""Put keywords into an XMP document and take them out; every other byte stays.

Words go to ``dc:subject``, paths (``animal|dog``) to ``lr:hierarchicalSubject``, in the form that the document already
uses for them. Each edit is a list of splices, and its result is parsed and compared before it is given out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from ..collection.tagging import word_key
from .document import HIERARCHY, RDF, SUBJECT, Document, Name, Node, Refused, path_key

__all__ = ["Edit", "edit_document", "new_document", "read_words"]

Splice = tuple[int, int, bytes]
"""From, to, and what stands there instead."""

_USUAL = {SUBJECT[0]: "dc", HIERARCHY[0]: "lr"}
_KEY: dict[Name, Callable[[str], Any]] = {SUBJECT: word_key, HIERARCHY: path_key}


class Edit(NamedTuple):
    """What an edit puts in, as it is spelled, and takes out, however it is spelled."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    add_paths: tuple[str, ...] = ()
    remove_paths: tuple[str, ...] = ()

    def parts(self) -> tuple[tuple[Name, tuple[str, ...], tuple[str, ...]], ...]:
        return (SUBJECT, self.add, self.remove), (HIERARCHY, self.add_paths, self.remove_paths)

    @property
    def reverse(self) -> Edit:
        """The edit that takes this one back."""
        return Edit(self.remove, self.add, self.remove_paths, self.add_paths)

    def __bool__(self) -> bool:
        return any(self)


def read_words(content: bytes) -> tuple[list[str], list[str]]:
    """The words and the paths of a document; ``Refused`` where it could not be edited."""
    document = Document(content)
    return document.values(SUBJECT), document.values(HIERARCHY)


def edit_document(content: bytes, wanted: Edit) -> tuple[bytes, Edit]:
    """The document after an edit, and what of the edit was still to be done.

    A word that is there, in whatever case, is not put in again, and one that is not cannot be taken out.
    """
    document = Document(content)
    done: list[tuple[str, ...]] = []
    for name, add, remove in wanted.parts():
        key, before = _KEY[name], document.values(name)
        held = {key(word) for word in before}
        wished = {key(word): word for word in reversed(add)}
        adding = [wished[k] for k in dict.fromkeys(map(key, add)) if k and k not in held]
        going = {k for k in map(key, remove) if k and k not in wished}
        removing = [word for word in dict.fromkeys(before) if key(word) in going]
        if removing:
            document = _spliced(document, _removals(document, name, going))
        if adding:
            document = _spliced(document, _additions(document, name, adding))
        expected = [*(word for word in before if key(word) not in going), *adding]
        if sorted(map(key, document.values(name))) != sorted(map(key, expected)):
            raise Refused("it is built in a way that could not be edited safely.")
        done += [tuple(adding), tuple(removing)]
    return document.encoded(document.body), Edit(*done)


def new_document(wanted: Edit) -> bytes:
    """A sidecar for a picture that has none."""
    empty = (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
        '<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="manyview">\n'
        f' <rdf:RDF xmlns:rdf="{RDF}">\n'
        '  <rdf:Description rdf:about=""\n'
        f'    xmlns:dc="{SUBJECT[0]}"\n'
        f'    xmlns:lr="{HIERARCHY[0]}">\n'
        "  </rdf:Description>\n"
        " </rdf:RDF>\n"
        "</x:xmpmeta>\n"
        '<?xpacket end="w"?>\n'
    )
    return edit_document(empty.encode("utf-8"), wanted)[0]


def _spliced(document: Document, splices: Iterable[Splice]) -> Document:
    body, pieces, position = document.body, [], 0
    for start, end, new in sorted(splices, key=lambda splice: splice[:2]):
        if start < position:
            raise Refused("it is built in a way that could not be edited safely.")
        pieces += [body[position:start], new]
        position = end
    return Document(document.encoded(b"".join([*pieces, body[position:]])))


# --- taking out ---


def _removals(document: Document, name: Name, going: set[Any]) -> list[Splice]:
    key = _KEY[name]
    splices = []
    for description in document.attributed(name):
        if key(description.attributes[name]) in going:
            start, end, _ = _attribute(document, description, name)
            splices.append((start, end, b""))
    for node in document.properties(name):
        entries = list(node.entries())
        for entry in entries or [node]:
            if key(entry.text) in going:
                splices.append((entry.start - len(document.blank_before(entry.start)), entry.end, b""))
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


def _list_names(inside: Node) -> tuple[str, str]:
    """What a list and its entries are called at some place."""
    prefix = inside.prefix(RDF)
    if prefix is None:
        raise Refused("its rdf prefix is not in force everywhere.")
    return (f"{prefix}:Bag", f"{prefix}:li") if prefix else ("Bag", "li")


def _list_of_text(document: Document, node: Node, words: Sequence[str]) -> list[Splice]:
    """A property without a list gets one; its text, if it has any, becomes the first entry, as it is written."""
    bag, entry = _list_names(node)
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
    bag, entry = _list_names(inside)
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
