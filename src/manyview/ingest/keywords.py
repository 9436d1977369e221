"""The keywords that stand in a file itself: IPTC, then XMP, then EXIF, each word once; and how it was taken."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import BinaryIO

from ..collection.tagging import clean_word
from ..data.tags import match_key
from .capture import Capture, of_xmp
from .containers import Block, find_blocks
from .iptc import LONGEST_KEYWORD, Damaged, keywords
from .xmp import Name, read_packet

__all__ = ["LONGEST", "MOST", "Keywords", "gather", "in_brackets", "listed", "read_keywords", "same_strokes", "tidy"]

_WORD = re.compile(r"\s*(\"[^\"]*\"|'[^']*'|[^,\[\]]+)")
_BACKSLASH = re.compile(r'(?<!\\)(?:\\\\)*\\(?!["\\]|u[0-9a-fA-F]{4})')
"""One that stands before something that no program has to write so."""
_key = lru_cache(100_000)(match_key)

LONGEST = 500
"""A longer keyword is an accident."""
MOST = 1000
"""So are more keywords than this on one item."""


@dataclass
class Keywords:
    """What a file, a sidecar or both say of an item."""

    tags: list[str] = field(default_factory=list)
    paths: list[tuple[str, ...]] = field(default_factory=list)
    """Hierarchical keywords, from the most general word."""
    notes: list[tuple[str, str]] = field(default_factory=list)
    """What was left out: a reason and a sentence."""
    lists: set[Name] = field(default_factory=set)
    """The XMP properties that hold keywords."""
    captures: list[Capture] = field(default_factory=list)
    """When, where and with what it was taken; what EXIF says first."""


def read_keywords(file: BinaryIO, kind: str) -> Keywords:
    """The keywords of an open picture or video of that format. Damaged metadata is a note, never an error."""
    blocks: list[Block] = []
    notes: list[tuple[str, str]] = []
    try:
        blocks.extend(find_blocks(file, kind))
    except Damaged as error:
        notes.append(("bad metadata", f"some keywords may be missing: {error}"))
    return gather(blocks, notes)


def gather(blocks: Iterable[Block], notes: list[tuple[str, str]]) -> Keywords:
    """Put the words of several blocks together: IPTC first, then XMP, then EXIF."""
    words: dict[str, list[str]] = {"iptc": [], "xmp": [], "words": []}
    paths: list[tuple[str, ...]] = []
    lists: set[Name] = set()
    captures: dict[str, list[Capture]] = {"capture": [], "xmp": []}
    for block in blocks:
        try:
            if block.kind == "iptc":
                found, trouble = keywords(block.content)
                words["iptc"] += found
                if trouble:
                    raise Damaged(trouble)
            elif block.kind == "xmp":
                packet = read_packet(block.content)
                words["xmp"] += packet.tags
                paths += packet.paths
                lists |= packet.lists
                captures["xmp"].append(of_xmp(packet.facts))
            elif block.kind == "capture":
                captures["capture"].append(block.capture)
            else:
                text = block.content.decode("utf-16-le", "replace").rstrip("\0")
                words["words"] += text.split(";")
        except Damaged as error:
            notes.append(("bad metadata", f"some keywords may be missing: {error}"))
    whole = [_key(clean_word(word)) for word in (*words["xmp"], *(path[-1] for path in paths if path))]
    words["iptc"] = [word for word in words["iptc"] if not _is_cut(word, whole)]
    tidied = tidy([word for part in words.values() for word in part], paths, notes)
    tidied.lists, tidied.captures = lists, [*captures["capture"], *captures["xmp"]]
    return tidied


def _is_cut(word: str, whole: Iterable[str]) -> bool:
    """Is a keyword of IPTC the beginning of a longer one, cut off where the standard has its limit?"""
    room = len(word.encode("utf-8", "replace"))  # up to three bytes less: the last letter did not fit
    if len(word) > LONGEST_KEYWORD or room < LONGEST_KEYWORD - 3:
        return False
    key = _key(clean_word(word))
    return any(len(other) > len(key) and other.startswith(key) for other in whole)


def tidy(words: Iterable[str], paths: Iterable[Iterable[str]], notes: list[tuple[str, str]]) -> Keywords:
    """Each word once, however it is spelled, and the last word of every path; without what cannot be a keyword."""
    cleaned = (tuple(filter(None, (clean_word(part[:LONGEST]) for part in path))) for path in paths)
    unique = list(dict.fromkeys(path for path in cleaned if path))[:MOST]
    kept: dict[str, str] = {}
    n_long = 0
    for word in words:
        if len(word) > LONGEST:
            n_long += 1
            continue
        clean = clean_word(word)
        if clean:
            kept.setdefault(_key(clean), clean)
    if n_long:
        notes.append(("keyword too long", f"{n_long} keywords have more than {LONGEST} characters and were left out."))
    alike = {same_strokes(key): word for key, word in kept.items()}
    for place, path in enumerate(unique):
        known = alike.setdefault(same_strokes(_key(path[-1])), path[-1])
        if _key(known) != _key(path[-1]):  # a program that cannot have a stroke in a word has put another one there
            unique[place] = (*path[:-1], known)
        kept.setdefault(_key(known), known)
    if len(kept) > MOST:
        notes.append(("too many keywords", f"it has {len(kept)} keywords; the first {MOST} were taken."))
    return Keywords(list(kept.values())[:MOST], list(dict.fromkeys(unique)), notes)


def listed(line: str) -> list[str]:
    """Keywords in one line: between semicolons, or commas where there are none."""
    return line.split(";" if ";" in line else ",")


def in_brackets(line: str) -> list[str]:
    """Keywords of a list that may be written in brackets, each of them in quotes or not."""
    found = None
    if not _BACKSLASH.search(line):  # of a path on Windows, say
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            pass
    if isinstance(found, list) and all(isinstance(word, str) for word in found):
        return found
    return [word.strip().strip("\"'") for word in _WORD.findall(line)]


def same_strokes(key: str) -> str:
    """A key in which the strokes that separate the words of paths, and stand for each other inside words, are one."""
    return key.replace("|", "/").replace("\\", "/")
