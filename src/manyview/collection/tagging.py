"""Tags in the catalogue: words as they were written, matched without case, and what people decided about them."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.tags import TagTable, match_key
from ..types import Ints
from .catalog import Catalog, as_json
from .sorted_numbers import distinct, read_numbers
from .vocabulary import Arrangement, read_care

__all__ = ["Tagging", "clean_word", "word_key"]

_NOTHING: frozenset[Any] = frozenset()
_ITEMS_AT_A_TIME = 200_000


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
        """Every tag by number, as a person spelled it or else as it was first written."""
        return dict(
            self._catalog.rows(
                "SELECT id, coalesce(tag_care.name, tags.name) FROM tags LEFT JOIN tag_care ON tag_id = id"
            )
        )

    def carriers(self, word: str) -> Ints:
        """The items that have a tag, by what counts, ascending."""
        return distinct(
            read_numbers(
                self._catalog,
                "SELECT item_id AS n FROM known_tags JOIN items ON items.id = item_id WHERE tag_id = ? "
                "AND state = 'here'",
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
        for start in range(0, len(items), 500):
            part = items[start : start + 500]
            marks = ", ".join("?" * len(part))
            sql = f"SELECT {', '.join(columns)} FROM {table} WHERE item_id IN ({marks})"  # noqa: S608  names of ours
            for known in self._catalog.rows(sql, part):
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

    def words_of(self, item_id: int) -> list[str]:
        """The tags an item is known to carry, as they were written on it."""
        found = sorted(self._shown(item_id), key=lambda row: row[0])
        spelled: dict[int, str] = {}
        for tag, word, is_spelled, _ in found:
            if tag not in spelled or is_spelled:
                spelled[tag] = word
        return list(spelled.values())

    def origins_of(self, item_id: int) -> list[tuple[str, str]]:
        """The tags an item is known to carry, each with where it comes from: those of files and tables first.

        "person" where only a person says so, else the first of "file", "sidecar" and "table".
        """
        found: dict[int, tuple[str, str]] = {}
        for tag, word, _, source in self._shown(item_id):
            found.setdefault(tag, (word, source or "person"))
        return list(found.values())

    def _shown(self, item_id: int) -> list[tuple[int, str, bool, str | None]]:
        """Tags of an item: number, word, whether the item spells it so itself, and who says it."""
        rows = self._catalog.rows(
            "SELECT known_tags.tag_id, spelling, tags.name, own_id, tag_care.name, source FROM known_tags JOIN tags ON "
            "tags.id = known_tags.tag_id LEFT JOIN tag_care ON tag_care.tag_id = tags.id LEFT JOIN said_tags "
            "ON said_tags.item_id = known_tags.item_id AND said_tags.tag_id = known_tags.tag_id "
            "WHERE known_tags.item_id = ? ORDER BY source IS NULL, known_tags.tag_id, source",
            (int(item_id),),
        )
        shown = []
        for tag, spelling, name, own, cared, source in rows:
            # what a person says counts, and an alias is shown as what it counts as
            is_own = cared is None and spelling is not None and own == tag
            shown.append((tag, spelling if is_own else cared or name, is_own, source))
        return shown

    def table(self, ids: NDArray[np.int64]) -> TagTable:
        """Yes, no and unknown for these items; the vocabulary is every tag that one of them has a word about."""
        yes, no = self._pairs("known_tags"), self._pairs("decisions", "AND answer = 0")
        used, care = set(np.unique(yes[:, 1]).tolist()), read_care(self._catalog)
        gone = {tag for tag, one in care.items() if tag not in used and (one.is_retired or one.alias_of is not None)}
        no = no[~np.isin(no[:, 1], list(gone))]
        names = self.names(used | set(no[:, 1].tolist()))
        numbers = np.array(sorted(names, key=lambda number: match_key(names[number])), dtype=np.int64)
        return TagTable.from_matrix(
            _matrix(yes, ids, numbers), [names[number] for number in numbers.tolist()], _matrix(no, ids, numbers)
        )

    def _pairs(self, table: str, where: str = "") -> NDArray[np.int64]:
        """Items that are here with their tags, read some items at a time."""
        sql = (
            f"SELECT item_id || ',' || tag_id AS n FROM {table} JOIN items ON item_id = items.id WHERE state = 'here' "  # noqa: S608
            f"AND item_id BETWEEN ? AND ? {where}"
        )
        last = int(self._catalog.value("SELECT coalesce(max(id), 0) FROM items"))
        starts = range(0, last + 1, _ITEMS_AT_A_TIME)
        found = [read_numbers(self._catalog, sql, (start, start + _ITEMS_AT_A_TIME - 1)) for start in starts]
        return np.concatenate(found).reshape(-1, 2)

    def names(self, numbers: Iterable[int]) -> dict[int, str]:
        """Each tag in its most frequent spelling; on ties small letters first, as ``TagTable.from_lists`` does."""
        wanted = set(numbers)
        names = {number: name for number, name in self.vocabulary().items() if number in wanted}
        spellings: dict[int, Counter[str]] = defaultdict(Counter)
        rows = self._catalog.rows(
            "SELECT tag_id, spelling, count(DISTINCT item_id) FROM item_tags WHERE tag_id IN "
            "(SELECT tag_id FROM item_tags WHERE spelling IS NOT NULL) GROUP BY tag_id, spelling"
        )
        for number, spelling, count in rows:
            if number in wanted:
                spellings[number][spelling or names[number]] += count
        care = read_care(self._catalog)
        for number, found in spellings.items():
            if number in care and care[number].name is not None:
                continue
            found = Counter({word: n for word, n in found.items() if match_key(word) == match_key(names[number])})
            names[number] = min(found or [names[number]], key=lambda word: (-found[word], word.swapcase()))
        return names


def _matrix(pairs: NDArray[np.int64], ids: NDArray[np.int64], numbers: NDArray[np.int64]) -> Any:
    from scipy.sparse import csr_matrix

    rows, order = np.searchsorted(ids, pairs[:, 0]), np.argsort(numbers)
    columns = order[np.searchsorted(numbers, pairs[:, 1], sorter=order)] if pairs.size else pairs[:, 1]
    values = np.ones(len(pairs), dtype=np.float32)
    return csr_matrix((values, (rows, columns)), shape=(ids.size, numbers.size))
