"""What a list of keywords that is not there yet begins with: every keyword the file has.

Programs read one list and no other: darktable the paths of a sidecar before its words and before anything in the
picture, Immich and digiKam the list of digiKam before all else. A new list that held only the new word would hide the
rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..errors import MissingExtra
from ..files import HEAD, BadFile, open_regular
from ..ingest.documents import DocumentReader
from ..ingest.folder import recognise
from ..ingest.keywords import Keywords, read_keywords
from ..ingest.sidecar import read_sidecar
from ..ingest.xmp import SUBJECT, Name
from .document import HIERARCHY, TAGS_LIST, leaf_key, written_path

__all__ = ["beginnings", "entries", "keywords_of"]

Paths = dict[str, dict[Sequence[str], None]]
"""Key of a word -> the paths that end in it."""


def keywords_of(
    picture: str | None, sidecars: Iterable[str], documents: DocumentReader | None = None
) -> list[Keywords]:
    """What a file and its sidecars say now; one that cannot be read, or a document without a reader, says nothing."""
    found = []
    try:
        with open_regular(picture or "") as (file, facts):
            kind = recognise(file.read(HEAD), picture or "")
            if kind is not None and kind.kind != "document":
                found = [read_keywords(file, kind.format)]
            elif kind is not None and documents is not None:
                found = [documents.read(file, kind.format, facts.size).words]
    except (BadFile, MissingExtra):
        pass
    return [*found, *map(read_sidecar, sidecars)]


def beginnings(said: Iterable[Keywords], without: Collection[str]) -> dict[Name, list[str]]:
    """The entries of each list for all these keywords, those left out whose keys (``leaf_key``) are in ``without``."""
    words: dict[str, str] = {}
    paths: Paths = {}
    for one in said:
        for word in one.tags:
            words.setdefault(leaf_key(SUBJECT, word), word)
        for path in one.paths:
            paths.setdefault(leaf_key(SUBJECT, path[-1]), {})[path] = None
    kept = {key: word for key, word in words.items() if key not in without}
    listed = [path for key, word in kept.items() for path in paths.get(key) or _place(key, word, paths, kept)]
    return entries(kept.values(), listed)


def _place(key: str, word: str, paths: Paths, kept: Collection[str]) -> list[Sequence[str]]:
    """Where a word that no path ends in stands among paths: nowhere again if it is above a word there, for many
    programs write the words above a keyword out, and at the top it would be another keyword."""
    above = [
        (leaf, path[:n])
        for leaf, some in paths.items()
        for path in some
        for n in range(1, len(path))
        if leaf_key(SUBJECT, path[n - 1]) == key
    ]
    if any(leaf in kept for leaf, _ in above):
        return []
    return [place for _, place in above[:1]] or [(word,)]


def entries(words: Iterable[str], paths: Iterable[Sequence[str]]) -> dict[Name, list[str]]:
    """Words and paths as each list writes them."""
    listed = list(paths)
    return {
        SUBJECT: list(words),
        HIERARCHY: [written_path(HIERARCHY, path) for path in listed],
        TAGS_LIST: [written_path(TAGS_LIST, path) for path in listed],
    }
