"""What other programs know of the items, brought in as tags: digiKam's database, Google Takeout's JSON."""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..collection.history import Entry, now
from ..collection.store import Store
from ..collection.tagging import clean_word, word_key
from ..errors import StoreError
from ..ingest.digikam import read_digikam
from ..ingest.takeout import Brought, read_takeout

__all__ = ["BroughtIn", "bring_in"]

_KIND = "bring"


@dataclass(frozen=True)
class BroughtIn:
    """What was brought in, or would be."""

    program: str
    n_items: int
    n_tags: int
    """Tags that items did not have."""
    n_unknown: int
    """Files that the program knows something of, and that are no items here."""
    entry: Entry | None = None

    @property
    def sentence(self) -> str:
        unknown = f"; {self.n_unknown} files it knows are not in this collection" if self.n_unknown else ""
        return f"{self.program}: {self.n_tags} tags for {self.n_items} items{unknown}"


def bring_in(
    collection: Store,
    source: str | os.PathLike[str],
    *,
    albums: bool = False,
    ratings: bool = False,
    dry_run: bool = False,
    who: str | None = None,
) -> BroughtIn:
    """Take over tags from digiKam's database (a file) or from a Google Takeout (a folder), which are only read.

    albums : the title of an album is a tag too
    ratings : stars are a tag too: "1 star", "4 stars"

    Items are found by the end of their paths; where two could be meant, neither is. What a person said no to stays no.
    Words that stand below others there do so here, unless they have a place already. One entry of the history.
    """
    path = os.fspath(source)
    if not os.path.exists(path):
        raise StoreError(f"{path} does not exist.")
    program = "Google Takeout" if os.path.isdir(path) else "digiKam"
    known = read_takeout(path) if os.path.isdir(path) else read_digikam(path)
    if not dry_run:
        collection.check_writable("bringing tags in")
    wanted, n_unknown = _matched(collection, known, albums, ratings)
    pairs = _new_pairs(collection, wanted)
    items = {item for item, _ in pairs}
    done = BroughtIn(program, len(items), len(pairs), n_unknown)
    if dry_run or not pairs:
        return done
    places = {word_key(path[-1]): path for _, path in wanted if len(path) > 1}
    summary = f"brought in {len(pairs)} tags for {len(items)} items from {program}"
    with (
        collection.transaction(),
        collection.history.record(_KIND, summary, who=who, detail={"source": path}) as change,
    ):
        who, at = collection.history.get(change.id).who, now()
        numbers = collection.tagging.numbers(dict.fromkeys(word for _, word in pairs))
        rows: list[dict[str, Any]] = [
            {"item_id": item, "tag_id": numbers[word], "answer": 1, "who": who, "at": at, "why": program}
            for item, word in pairs
        ]
        change.put_many("decisions", rows)
        for tag, parent in _parents(collection, {word for _, word in pairs}, places):
            change.put("tag_care", tag_id=tag, parent_id=parent)
    return BroughtIn(program, len(items), len(pairs), n_unknown, collection.history.get(change.id))


def _matched(
    collection: Store, known: list[Brought], albums: bool, ratings: bool
) -> tuple[list[tuple[int, tuple[str, ...]]], int]:
    """Items and paths of tags, and how many files are no items here."""
    by_name: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for item in collection.items:
        if item.path:
            by_name[os.path.basename(item.path)].append((item.path, item.id))
    found: list[tuple[int, tuple[str, ...]]] = []
    n_unknown = 0
    for one in known:
        end = one.place if os.path.isabs(one.place) else f"{os.sep}{one.place}"
        real = os.path.realpath(one.place) if os.path.isabs(one.place) else end
        paths = [*one.paths, *((title,) for title in one.albums if albums)]
        paths += [(f"{one.rating} star{'s' * (one.rating > 1)}",)] if ratings and one.rating else []
        if not paths:
            continue
        meant = [item for path, item in by_name.get(os.path.basename(one.place), []) if path in (end, real)]
        meant = meant or [
            item for path, item in by_name.get(os.path.basename(one.place), []) if path.endswith(end) and end != path
        ]
        if len(meant) != 1:
            n_unknown += 1
            continue
        found += [(meant[0], path) for path in paths if clean_word(path[-1])]
    return found, n_unknown


def _new_pairs(collection: Store, wanted: list[tuple[int, tuple[str, ...]]]) -> list[tuple[int, str]]:
    """Pairs of item and word that the item does not have, and that nobody has said no to."""
    pairs = list({(item, word_key(path[-1])): (item, clean_word(path[-1])) for item, path in wanted}.values())
    held = {
        item: {word_key(word) for word in collection.tagging.words_of(item)} for item in {item for item, _ in pairs}
    }
    return [
        (item, word)
        for item, word in pairs
        if word_key(word) not in held[item] and collection.decisions.answer(item, word) is None
    ]


def _parents(collection: Store, words: set[str], places: dict[str, tuple[str, ...]]) -> list[tuple[int, int]]:
    """Tags, and those that shall stand right above them: for tags that have no place yet."""
    vocabulary, care = collection.vocabulary, collection.vocabulary.care()
    placed = {word_key(word) for path in collection.hierarchy for word in path[1:]}
    found: dict[int, int] = {}
    for word in sorted(words):
        path = places.get(word_key(word), ())
        for above, below in pairwise(path):
            tag, parent = vocabulary.new_number(clean_word(below)), vocabulary.new_number(clean_word(above))
            is_free = tag not in care or (care[tag].parent is None and not care[tag].is_top)
            if tag != parent and is_free and word_key(below) not in placed and found.get(parent) != tag:
                found.setdefault(tag, parent)
    return list(found.items())
