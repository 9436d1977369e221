"""Tags in the catalogue: words as they were written, matched without case, and what people decided about them."""

from __future__ import annotations

import json
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.tags import TagTable, match_key
from ..types import Ints
from .catalog import Catalog, as_json, rows_in
from .sorted_numbers import distinct, known_pairs, read_numbers, read_pairs, taken_apart
from .vocabulary import HOLDERS, Arrangement, read_care

__all__ = ["Tagging", "clean_word", "word_key"]

_NOTHING: frozenset[Any] = frozenset()
_NAMES = "SELECT id, tags.name, tag_care.name FROM tags LEFT JOIN tag_care ON tag_id = id"


def clean_word(word: str) -> str:
    """A tag as it is kept: no control characters or lone surrogates, blanks around it gone; "" if nothing is left."""
    if word.isascii() and word.isprintable():
        return word.strip()
    kept = (" " if letter.isspace() else letter for letter in word if _is_writing(letter))
    return "".join(kept).strip()


def word_key(word: str) -> str:
    """What all spellings of a tag have in common: by this it is found, wherever somebody names it."""
    return match_key(clean_word(word))


def _is_writing(letter: str) -> bool:
    return letter.isspace() or unicodedata.category(letter) not in ("Cc", "Cs", "Cn")


class Tagging:
    """Reads and writes the tags of items."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._known: dict[str, tuple[int, str]] = {}
        """Spellings seen so far -> number and name of the tag."""
        self._spelled: tuple[int, dict[int, str]] = (-1, {})
        """The version of what files say, and what ``_usual`` found there."""

    def number(self, word: str) -> int:
        """The number of a tag, which may be known by an alias; a new word joins the vocabulary."""
        found = self.find(word)
        return self._entry(word)[0] if found is None else found

    def numbers(self, words: Iterable[str]) -> dict[str, int]:
        """The number of each word, read anew: a number given inside a transaction that did not last counts no more."""
        self._known.clear()
        return {word: self.number(word) for word in words}

    def find(self, word: str) -> int | None:
        """The number of a tag that is in the vocabulary, in any spelling or by an alias; None for other words."""
        found = self._catalog.value(
            "SELECT coalesce(alias_of, id) FROM tags LEFT JOIN tag_care ON tag_id = id WHERE folded = ?",
            (word_key(word),),
        )
        return None if found is None else int(found)

    def vocabulary(self) -> dict[int, str]:
        """Every tag by number: as a person spelled it, else as most items do, on ties in small letters."""
        return self._named(self._catalog.rows(_NAMES))

    def names(self, numbers: Iterable[int]) -> dict[int, str]:
        """Some tags by number, spelled as in ``vocabulary``."""
        wanted = as_json(sorted(set(numbers)))
        return self._named(self._catalog.rows(f"{_NAMES} WHERE id IN (SELECT value FROM json_each(?))", (wanted,)))  # noqa: S608

    def called(self, word: str) -> str:
        """What a tag is called now, by any of its spellings or aliases; a word that is no tag stays as it is."""
        number = self.find(word)
        return word if number is None else self.names([number])[number]

    def _named(self, rows: Iterable[tuple[int, str, str | None]]) -> dict[int, str]:
        usual = self._usual()
        return {tag: cared or usual.get(tag, name) for tag, name, cared in rows}

    def _usual(self) -> dict[int, str]:
        """Tags that items spell in several ways -> the one that most of them use; found anew when files were read."""
        version = int(self._catalog.value("SELECT n FROM versions WHERE part = 'tags'"))
        if self._spelled[0] != version:
            counts: dict[int, dict[str, int]] = defaultdict(dict)
            rows = self._catalog.rows(
                "SELECT tag_id, coalesce(spelling, name) AS word, name, count(DISTINCT item_id) FROM item_tags JOIN "
                "tags ON id = tag_id WHERE tag_id IN (SELECT tag_id FROM item_tags WHERE spelling IS NOT NULL) "
                "GROUP BY tag_id, word"
            )
            for tag, word, name, n in rows:
                if match_key(word) == match_key(name):
                    counts[tag][word] = n
            usual = {tag: min(found, key=lambda word: (-found[word], word.swapcase())) for tag, found in counts.items()}
            self._spelled = (version, usual)
        return self._spelled[1]

    def carriers(self, word: str) -> Ints:
        """The items that have a tag, by what counts, ascending."""
        return distinct(
            read_numbers(
                self._catalog,
                f"SELECT item_id AS n FROM ({HOLDERS}) JOIN items ON items.id = item_id WHERE state = 'here'",  # noqa: S608
                (self.find(word),),
            )
        )

    def counts(self) -> tuple[int, int]:
        """How many different tags files and tables say, and how often."""
        return tuple(self._catalog.row("SELECT count(DISTINCT tag_id), count(*) FROM item_tags"))

    def containing(self, letters: str) -> Ints:
        """The numbers of the tags that hold these letters, in any case."""
        return distinct(
            read_numbers(self._catalog, "SELECT id AS n FROM tags WHERE instr(folded, ?)", (word_key(letters),))
        )

    def _entry(self, word: str) -> tuple[int, str]:
        entry = self._known.get(word)
        if entry is None:
            key = match_key(word)
            found = self._catalog.row("SELECT id, name FROM tags WHERE folded = ?", (key,))
            if found is None:
                found = (self._catalog.run("INSERT INTO tags (name, folded) VALUES (?, ?)", (word, key)), word)
            entry = self._known[word] = (int(found[0]), found[1])
        return entry

    def put(self, tags: Mapping[int, Mapping[str, Sequence[str]]]) -> None:
        """What the world says of each item: item -> source -> words, in place of what it said before."""
        self._replace("item_tags", ("item_id", "tag_id", "source", "spelling"), tags, self._tag_row)

    def put_paths(self, paths: Mapping[int, Mapping[str, Sequence[Sequence[str]]]]) -> None:
        """The same for hierarchical keywords, each a list of words from the most general."""
        self._replace("item_paths", ("item_id", "path_id", "source"), paths, self._path_row)

    def _replace(self, table: str, columns: Sequence[str], said: Mapping[int, Mapping[str, Any]], row: Any) -> None:
        """Write the rows of the items of which something else was said before."""
        with self._catalog.transaction():
            try:
                before = self._said_before(table, columns, list(said))
                changed: list[tuple[int]] = []
                rows: list[tuple[Any, ...]] = []
                for item, sources in said.items():
                    now: dict[Any, Any] = {}  # of two spellings the first counts
                    for source, words in sources.items():
                        for word in words:
                            found = row(item, source, word)
                            now.setdefault(found[:3], found)
                    if set(now.values()) != before.get(item, _NOTHING):
                        changed += [(item,)] if item in before else []
                        rows += now.values()
                self._catalog.run_many(f"DELETE FROM {table} WHERE item_id = ?", changed)  # noqa: S608  a name above
                marks = ", ".join("?" * len(columns))
                self._catalog.run_many(
                    f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})",  # noqa: S608
                    rows,
                )
            except BaseException:
                self._known.clear()  # numbers given inside a transaction that does not last
                raise

    def _said_before(self, table: str, columns: Sequence[str], items: Sequence[int]) -> dict[int, set[Any]]:
        found: dict[int, set[Any]] = {}
        sql = f"SELECT {', '.join(columns)} FROM {table} WHERE item_id IN"  # noqa: S608  names of ours
        for known in rows_in(self._catalog.rows, sql, items):
            found.setdefault(known[0], set()).add(tuple(known))
        return found

    def _tag_row(self, item: int, source: str, word: str) -> tuple[int, int, str, str | None]:
        number, name = self._known.get(word) or self._entry(word)
        return item, number, source, None if word == name else word

    def _path_row(self, item: int, source: str, parts: Sequence[str]) -> tuple[int, int, str]:
        text = as_json(list(parts))
        number = self._catalog.value("SELECT id FROM tag_paths WHERE parts = ?", (text,))
        if number is None:
            number = self._catalog.run("INSERT INTO tag_paths (parts) VALUES (?)", (text,))
        return item, int(number), source

    def paths(self) -> list[tuple[str, ...]]:
        """Every hierarchical keyword of the items that are there, and what people put above tags, sorted; each from
        the most general word."""
        return self.arrangement().paths()

    def arrangement(self) -> Arrangement:
        """The paths of files, and how they count."""
        rows = self._catalog.rows(
            "SELECT DISTINCT parts FROM tag_paths JOIN item_paths ON path_id = tag_paths.id "
            "JOIN items ON item_id = items.id WHERE state = 'here'"
        )
        care = read_care(self._catalog)
        return Arrangement((tuple(json.loads(row[0])) for row in rows), self.vocabulary() if care else {}, care)

    def words_of(self, item_id: int, names: Mapping[int, str] | None = None) -> list[str]:
        """The tags an item is known to carry, as they were written on it; others as in ``names``, where that is at
        hand (``vocabulary``), else as they were first written."""
        found = sorted(self._shown(item_id, names), key=lambda row: row[0])
        spelled: dict[int, str] = {}
        for tag, word, is_spelled, _ in found:
            if tag not in spelled or is_spelled:
                spelled[tag] = word
        return list(spelled.values())

    def origins_of(self, item_id: int, names: Mapping[int, str] | None = None) -> list[tuple[str, str]]:
        """The tags of ``words_of``, each with where it comes from: those of files and tables first.

        "person" where only a person says so, else the first of "file", "sidecar" and "table".
        """
        found: dict[int, tuple[str, str]] = {}
        for tag, word, _, source in self._shown(item_id, names):
            found.setdefault(tag, (word, source or "person"))
        return list(found.values())

    def _shown(self, item_id: int, names: Mapping[int, str] | None = None) -> list[tuple[int, str, bool, str | None]]:
        """Tags of an item: number, word, whether the item spells it so itself, and who says it."""
        rows = self._catalog.rows(  # by the item's own rows of each table: ``known_tags`` would be made for all items
            "SELECT pairs.tag_id, spelling, tags.name, own_id, tag_care.name, source FROM ("
            "SELECT tag_id, spelling, own_id, source FROM said_tags WHERE item_id = ?1 AND tag_id NOT IN "
            "(SELECT tag_id FROM decisions WHERE item_id = ?1 AND answer = 0) UNION ALL "
            "SELECT tag_id, NULL, NULL, NULL FROM decisions WHERE item_id = ?1 AND answer = 1 AND tag_id NOT IN "
            "(SELECT tag_id FROM said_tags WHERE item_id = ?1)) AS pairs JOIN tags ON tags.id = pairs.tag_id "
            "LEFT JOIN tag_care ON tag_care.tag_id = tags.id ORDER BY source IS NULL, pairs.tag_id, source",
            (int(item_id),),
        )
        shown = []
        for tag, spelling, name, own, cared, source in rows:
            # what a person says counts, and an alias is shown as what it counts as
            if cared is None and own == tag:
                shown.append((tag, spelling or name, spelling is not None, source))
            else:
                shown.append((tag, cared or (names or {}).get(tag, name), False, source))
        return shown

    def pairs_said(self) -> Ints:
        """Item and tag of what files and tables say, of items that are gone too."""
        return read_pairs(self._catalog, "said_tags")

    def pairs_decided(self, answer: bool) -> Ints:
        """Item and tag of what a person said yes, or no, to."""
        return read_pairs(self._catalog, "decisions", "answer = ?", [int(answer)])

    def table(self, ids: NDArray[np.int64]) -> TagTable:
        """Yes, no and unknown for these items; the vocabulary is every tag that one of them has a word about."""
        return self.table_of(ids.size, *known_pairs(self._catalog, ids))

    def table_of(self, n_items: int, known: Ints, refused: Ints) -> TagTable:
        """The same from pairs of row and tag: those that count, and those that a person said no to."""
        yes, no = taken_apart(known), taken_apart(refused)
        used, care = set(np.unique(yes[1]).tolist()), read_care(self._catalog)
        gone = {tag for tag, one in care.items() if tag not in used and (one.is_retired or one.alias_of is not None)}
        kept = ~np.isin(no[1], list(gone))
        no = no[0][kept], no[1][kept]
        names = self.names(used | set(no[1].tolist()))
        numbers = np.array(sorted(names, key=lambda number: match_key(names[number])), dtype=np.int64)
        return TagTable.from_matrix(
            _matrix(yes, n_items, numbers),
            [names[number] for number in numbers.tolist()],
            _matrix(no, n_items, numbers),
        )


def _matrix(pairs: tuple[Ints, Ints], n_items: int, numbers: NDArray[np.int64]) -> Any:
    from scipy.sparse import csr_matrix

    rows, tags = pairs
    order = np.argsort(numbers)
    columns = order[np.searchsorted(numbers, tags, sorter=order)] if tags.size else tags
    return csr_matrix((np.ones(rows.size, dtype=np.float32), (rows, columns)), shape=(n_items, numbers.size))
