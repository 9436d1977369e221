"""What a list of keywords that is not there yet begins with: every keyword the picture has.

Programs read one list and no other: darktable the paths of a sidecar before its words and before anything in the
picture, Immich and digiKam the list of digiKam before all else. A new list that held only the new word would hide the
rest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..files import HEAD, BadFile, open_regular, sniff
from ..ingest.keywords import Keywords, read_keywords
from ..ingest.sidecar import read_sidecar
from ..ingest.xmp import SUBJECT, Name
from .document import HIERARCHY, TAGS_LIST, leaf_key, written_path

__all__ = ["beginnings", "entries", "keywords_of"]


def keywords_of(picture: str | None, sidecars: Iterable[str]) -> list[Keywords]:
    """What a picture and its sidecars say now; a picture that cannot be read says nothing."""
    found = []
    try:
        with open_regular(picture or "") as (file, _):
            kind = sniff(file.read(HEAD))
            found = [read_keywords(file, kind.format)] if kind is not None else []
    except BadFile:
        pass
    return [*found, *map(read_sidecar, sidecars)]


def beginnings(said: Iterable[Keywords], without: Collection[str]) -> dict[Name, list[str]]:
    """The entries of each list for all these keywords, those left out whose keys (``leaf_key``) are in ``without``."""
    words: dict[str, str] = {}
    paths: dict[str, dict[Sequence[str], None]] = {}
    for one in said:
        for word in one.tags:
            words.setdefault(leaf_key(SUBJECT, word), word)
        for path in one.paths:
            paths.setdefault(leaf_key(SUBJECT, path[-1]), {})[path] = None
    kept = {key: word for key, word in words.items() if key not in without}
    listed = [path for key, word in kept.items() for path in paths.get(key, {(word,): None})]
    return entries(kept.values(), listed)


def entries(words: Iterable[str], paths: Iterable[Sequence[str]]) -> dict[Name, list[str]]:
    """Words and paths as each list writes them."""
    listed = list(paths)
    return {
        SUBJECT: list(words),
        HIERARCHY: [written_path(HIERARCHY, path) for path in listed],
        TAGS_LIST: [written_path(TAGS_LIST, path) for path in listed],
    }
