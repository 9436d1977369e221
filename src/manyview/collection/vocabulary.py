"""What a person says of tags themselves: how they are spelled, what they count as, what stands above them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from ..data.tags import match_key
from .catalog import Catalog
from .sorted_numbers import known_pairs, taken_apart

__all__ = ["HOLDERS", "Arrangement", "Care", "TagUse", "Vocabulary", "read_care"]

Path = tuple[str, ...]


class Care(NamedTuple):
    """A person's word on a tag; a tag without one has none of these."""

    tag: int
    name: str | None = None
    """How it is spelled."""
    alias_of: int | None = None
    """The tag it counts as."""
    parent: int | None = None
    is_top: bool = False
    """Nothing stands above it, whatever files say."""
    is_retired: bool = False
    is_silent: bool = False
    """It is never proposed."""

    @property
    def is_proposed(self) -> bool:
        return not (self.is_silent or self.is_retired or self.alias_of is not None)


_SAID = (
    "SELECT item_id FROM said_tags WHERE tag_id = ?1 AND own_id IN "
    "(SELECT ?1 UNION ALL SELECT tag_id FROM tag_care WHERE alias_of = ?1)"
)
"""The items of which files and tables say one tag; by the words that count as it, which an index finds."""
HOLDERS = (
    f"{_SAID} "  # noqa: S608  a constant
    "EXCEPT SELECT item_id FROM decisions WHERE tag_id = ?1 AND answer = 0 "
    "UNION SELECT item_id FROM decisions WHERE tag_id = ?1 AND answer = 1"
)
"""The items of one tag in ``known_tags``, which as a whole would be made for every tag."""


class TagUse(NamedTuple):
    """How a tag is used in the collection."""

    tag: int
    n_items: int
    n_accepted: int
    """Items whose tag a person gave or confirmed."""
    last: str
    """The newest day on which a person gave it or a picture with it was taken; "" where neither is known."""


def read_care(catalog: Catalog) -> dict[int, Care]:
    """Every tag that a person said something of, by number."""
    rows = catalog.rows(
        "SELECT tag_id, name, alias_of, parent_id, is_top, is_retired, is_silent FROM tag_care ORDER BY tag_id"
    )
    return {row[0]: Care(*row[:4], *map(bool, row[4:])) for row in rows}


class Vocabulary:
    """Reads the table of people's words on tags, and what it takes to change one."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def care(self) -> dict[int, Care]:
        """Every tag that a person said something of, by number."""
        return read_care(self._catalog)

    def respelled(self) -> dict[str, str]:
        """The words that people spelled anew or put under another, by their keys -> what each is called now."""
        rows = self._catalog.rows(
            "SELECT own.folded, coalesce((SELECT name FROM tag_care WHERE tag_id = now.id), now.name) "
            "FROM tag_care AS said JOIN tags AS own ON own.id = said.tag_id "
            "JOIN tags AS now ON now.id = coalesce(said.alias_of, own.id) "
            "WHERE said.name IS NOT NULL OR said.alias_of IS NOT NULL ORDER BY own.id"
        )
        return dict(rows)

    def uses(self) -> dict[int, TagUse]:
        """How every tag is used that is on some item."""
        here = self._catalog.rows(
            "SELECT id, coalesce(substr(json_extract(fields, '$.taken'), 1, 10), '') FROM items WHERE state = 'here' "
            "ORDER BY id"
        )
        ids = np.array([row[0] for row in here], dtype=np.int64)
        days, taken = np.unique(np.array([row[1] for row in here], dtype=np.str_), return_inverse=True)
        rows, tags = taken_apart(known_pairs(self._catalog, ids)[0])
        counts = np.bincount(tags)
        last = np.zeros(counts.size, dtype=np.intp)
        np.maximum.at(last, tags, taken[rows])
        found = {tag: TagUse(tag, int(counts[tag]), 0, str(days[last[tag]])) for tag in np.flatnonzero(counts).tolist()}
        given = self._catalog.rows(
            "SELECT tag_id, count(*), max(substr(at, 1, 10)) FROM decisions JOIN items ON items.id = item_id "
            "WHERE answer = 1 AND state = 'here' GROUP BY tag_id"
        )
        for tag, n, day in given:
            found[tag] = found[tag]._replace(n_accepted=n, last=max(found[tag].last, day))
        return found

    def own_number(self, word: str) -> int | None:
        """The number of a word, whatever it counts as; None for words that nobody has used."""
        found = self._catalog.value("SELECT id FROM tags WHERE folded = ?", (match_key(word),))
        return None if found is None else int(found)

    def new_number(self, word: str) -> int:
        """The same; a new word joins the vocabulary."""
        found = self.own_number(word)
        if found is not None:
            return found
        return self._catalog.run("INSERT INTO tags (name, folded) VALUES (?, ?)", (word, match_key(word)))

    def holders(self, tag: int) -> list[int]:
        """Items that a tag counts for, those that are gone too."""
        return [row[0] for row in self._catalog.rows(HOLDERS, (tag,))]

    def refusers(self, tag: int) -> list[int]:
        """Items of which a person said that they do not have it."""
        rows = self._catalog.rows("SELECT item_id FROM decisions WHERE tag_id = ? AND answer = 0", (tag,))
        return [row[0] for row in rows]

    def spoken_of(self, tag: int) -> set[int]:
        """Items of which a file, a table or a person says anything about a tag."""
        sql = f"{_SAID} UNION SELECT item_id FROM decisions WHERE tag_id = ?1"  # noqa: S608  a constant
        rows = self._catalog.rows(sql, (tag,))
        return {row[0] for row in rows}

    def with_files(self, items: Iterable[int]) -> int:
        """How many of these items are there and have a file that could be written to."""
        there = {row[0] for row in self._catalog.rows("SELECT id FROM items WHERE state = 'here' AND path IS NOT NULL")}
        return len(there & set(items))


class Arrangement:
    """The paths of files as people arranged them: aliases are what they count as, and a parent that a person set stands
    above a tag instead of what files put there. ``names`` are all tags by number, as they are spelled."""

    def __init__(self, paths: Iterable[Path], names: Mapping[int, str], care: Mapping[int, Care]) -> None:
        self._names, self._care = names, care
        self._numbers = {match_key(name): number for number, name in names.items()}
        said = {path: tuple(self._meant(word) for word in path) for path in paths}
        self._in_files: dict[str, set[Path]] = {}
        for path in said.values():
            for end in range(1, len(path) + 1):
                self._in_files.setdefault(match_key(path[end - 1]), set()).add(path[:end])
        self.of = {raw: self._moved(path) for raw, path in said.items()}
        """Path as a file has it -> as it counts."""

    def paths(self) -> list[Path]:
        """Every path as it counts, sorted."""
        placed = {self.place(one.tag) for one in self._care.values() if one.parent is not None and one.alias_of is None}
        return sorted({*self.of.values(), *placed})

    def place(self, number: int, seen: frozenset[int] = frozenset()) -> Path:
        """Where a tag stands: below the parent a person gave it, else where files put it if they agree."""
        word, one = self._names[number], self._care.get(number)
        if one is not None and one.parent is not None and one.parent not in seen:
            return (*self.place(one.parent, seen | {number}), word)
        longer = [path for path in self._in_files.get(match_key(word), ()) if len(path) > 1]
        return longer[0] if len(longer) == 1 and not (one and one.is_top) else (word,)

    def _moved(self, path: Path) -> Path:
        """A path below the last of its words that a person has placed."""
        for n in range(len(path) - 1, -1, -1):
            number = self._numbers.get(match_key(path[n]), 0)
            one = self._care.get(number)
            if one is not None and (one.parent is not None or one.is_top):
                return (*self.place(number), *path[n + 1 :])
        return path

    def _meant(self, word: str) -> str:
        """A word of a path as it counts, in the spelling a person gave it."""
        one = self._care.get(self._numbers.get(match_key(word), 0))
        if one is None:
            return word
        return self._names[one.alias_of] if one.alias_of is not None else one.name or word
