"""Which items carry which tags: yes, no, and what nobody has said yet."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import column_values, frame_values, is_frame, is_sparse, refuse_foreign, refuse_malformed
from ..errors import ViewError
from ._tag_matrices import as_binary, as_ones, canonical, moved, pairs_to_csr, widened
from .checks import check_rows
from .frames import column_names, refuse_other_columns
from .near_words import NearWords, match_key, near_words, spelling_groups

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["TagTable", "TwinMerge", "are_words", "as_tag_table", "match_key"]


class TagTable:
    """Which items carry which tags, and what nobody has said yet.

    Unknown is not no: a photo without the tag "dog" may still show one. Methods that need yes/no ask for it in the
    open, with ``assume_unknown_is_no()``. Build one with ``TagTable.from_lists`` or ``TagTable.from_matrix``. A table
    never changes; ``with_yes``, ``with_no`` and ``with_unknown`` give a new one. Memory is that of two CSR matrices.

    ``names`` are the tags as people wrote them, in any script; two spellings that differ only in case or in Unicode
    form are the same tag. ``table[rows]`` is the table of those items, with the same vocabulary.

    >>> table = TagTable.from_lists([["dog", "Beach"], ["beach"], []], no=[[], ["dog"], []])
    >>> table.names, table.shape
    (('beach', 'dog'), (3, 2))
    >>> table.yes.toarray().tolist(), table.no.toarray().tolist()
    ([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> table.index("BEACH"), table.words_of(0)
    (0, ['beach', 'dog'])
    """

    __slots__ = ("_exact", "_matching", "_names", "_no", "_yes")

    def __init__(self, names: Iterable[str], yes: csr_matrix, no: csr_matrix) -> None:
        refuse_malformed("yes", yes)
        refuse_malformed("no", no)
        self._names = _check_names(tuple(names), yes.shape[1])
        self._yes, self._no = yes, no
        self._exact = {name: i for i, name in enumerate(self._names)}
        matching: dict[str, list[int]] = defaultdict(list)
        for i, name in enumerate(self._names):
            matching[match_key(name)].append(i)
        self._matching = dict(matching)
        clash = yes.multiply(no).tocoo()
        if clash.nnz:
            raise ViewError(
                f"item {clash.row[0]} has tag {self._names[clash.col[0]]!r} both as yes and as no; keep one of them."
            )
        for matrix in (yes, no):
            for part in (matrix.data, matrix.indices, matrix.indptr):
                part.flags.writeable = False

    @classmethod
    def from_lists(cls, words: Any, no: Any = None, names: Sequence[str] | None = None) -> TagTable:
        """A table from one list of words per item; ``no`` holds the words an item is known not to deserve.

        ``names`` fixes the vocabulary and its order, and any other word is an error. Without it the vocabulary is
        sorted, and a tag is shown in its most frequent spelling.
        """
        rows = _check_lists(words, "tags")
        refused = [[] for _ in rows] if no is None else _check_lists(no, "no")
        if len(refused) != len(rows):
            raise ViewError(f"no has {len(refused)} lists but there are {len(rows)} items; both need one per item.")
        if names is None:
            spellings: dict[str, Counter[str]] = defaultdict(Counter)
            for row in (*rows, *refused):
                for word in row:
                    spellings[match_key(word)][word] += 1
            # the most frequent spelling, small letters first on ties: the order of the items does not matter
            shown = {
                key: min(found, key=lambda word: (-found[word], word.swapcase())) for key, found in spellings.items()
            }
            names = [shown[key] for key in sorted(shown)]
        empty = pairs_to_csr([], [], (0, len(names)))
        vocabulary = cls(names, empty, empty.copy())
        yes, no_matrix = (_lists_to_csr(vocabulary, part) for part in (rows, refused))
        return cls(names, yes, no_matrix)

    @classmethod
    def from_matrix(cls, yes: Any, names: Sequence[str] | None = None, no: Any = None) -> TagTable:
        """A table from a 0/1 matrix, dense or sparse, items by tags; ``no`` likewise.

        Names default to the columns of a pandas frame, or to tag0, tag1.
        """
        called = column_names(yes)
        if is_frame(yes):
            names = [str(name) for name in yes.columns] if names is None else names
            yes = frame_values("tags", yes)
        matrix = as_binary(yes, "tags")
        refused = pairs_to_csr([], [], matrix.shape) if no is None else as_binary(no, "no")
        if refused.shape != matrix.shape:
            raise ViewError(f"no has shape {refused.shape} but tags have {matrix.shape}; both are items by tags.")
        refuse_other_columns("no", called, column_names(no), "tags")
        return cls([f"tag{i}" for i in range(matrix.shape[1])] if names is None else names, matrix, refused)

    @property
    def names(self) -> tuple[str, ...]:
        """The vocabulary: every tag once, as people wrote it."""
        return self._names

    @property
    def yes(self) -> csr_matrix:
        """CSR float32, ``n_items x n_tags``: 1 where an item is known to carry a tag. Read-only."""
        return self._yes

    @property
    def no(self) -> csr_matrix:
        """CSR float32, ``n_items x n_tags``: 1 where an item is known not to carry a tag. Read-only."""
        return self._no

    @property
    def n_items(self) -> int:
        return int(self._yes.shape[0])

    @property
    def n_tags(self) -> int:
        return len(self._names)

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_items, n_tags)``."""
        return (self.n_items, self.n_tags)

    def __len__(self) -> int:
        return self.n_items

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and (word in self._exact or match_key(word) in self._matching)

    def index(self, word: str) -> int:
        """The column of a tag: the exact spelling, or the one that differs only in case or Unicode form."""
        if word in self._exact:
            return self._exact[word]
        found = self._matching.get(match_key(word), [])
        if len(found) == 1:
            return found[0]
        if found:
            listing = ", ".join(repr(self._names[i]) for i in found)
            raise ViewError(f"{word!r} could be any of {listing}; write it exactly, or merge them with merge_twins().")
        raise ViewError(f"there is no tag {word!r} among the {self.n_tags} known ones.")

    def words_of(self, item: int) -> list[str]:
        """The tags an item is known to carry."""
        start, stop = self._yes.indptr[range(self.n_items)[item] :][:2]
        return [self._names[i] for i in self._yes.indices[start:stop]]

    def __getitem__(self, rows: Any) -> TagTable:
        rows = check_rows(rows, self.n_items)
        return TagTable(self._names, canonical(self._yes[rows]), canonical(self._no[rows]))

    def assume_unknown_is_no(self) -> NDArray[np.float32]:
        """Every tag as 1 or 0, dense: what is not known counts as no. ``n_items x n_tags`` float32."""
        return np.asarray(self._yes.toarray(), dtype=np.float32)

    def with_yes(self, items: Any, tags: Any) -> TagTable:
        """A table that also says yes for pairs of item and tag (columns or words; a new word joins the vocabulary)."""
        return self._with(items, tags, yes=1)

    def with_no(self, items: Any, tags: Any) -> TagTable:
        """A table that also says no for pairs of item and tag (columns or words; a new word joins the vocabulary)."""
        return self._with(items, tags, no=1)

    def with_unknown(self, items: Any, tags: Any) -> TagTable:
        """A table that has forgotten what was known of pairs of item and tag (columns or words)."""
        return self._with(items, tags)

    def _with(self, items: Any, tags: Any, yes: int = 0, no: int = 0) -> TagTable:
        rows = np.atleast_1d(np.asarray(items))
        if rows.size and rows.dtype.kind not in "iu":
            raise ViewError(f"items must be numbers of rows; got {rows.dtype}. Of a mask take numpy.flatnonzero.")
        rows = rows.astype(np.intp)
        given = [tags] if isinstance(tags, (str, int, np.integer)) else list(tags)
        if len(given) == 1 < rows.size:
            given = given * rows.size
        if rows.size == 1 < len(given):
            rows = np.repeat(rows, len(given))
        if rows.size != len(given):
            raise ViewError(f"items and tags must pair up, got {rows.size} items and {len(given)} tags.")
        names, columns = self._columns(given)
        out = rows[(rows < 0) | (rows >= self.n_items)]
        if out.size:
            raise ViewError(f"there is no item {out[0]}; items go from 0 to {self.n_items - 1}.")
        changed = pairs_to_csr(rows, columns, (self.n_items, len(names)))
        parts = []
        for matrix, value in ((self._yes, yes), (self._no, no)):
            wide = widened(matrix, len(names))
            parts.append(canonical(wide - wide.multiply(changed) + changed * np.float32(value)))
        return TagTable(names, parts[0], parts[1])

    def _columns(self, given: list[Any]) -> tuple[tuple[str, ...], list[int]]:
        """The columns of tags given as numbers or words, and the vocabulary with the words that are new."""
        names, added, columns = list(self._names), {}, []
        for tag in given:
            if not isinstance(tag, str):
                if not isinstance(tag, (int, np.integer)) or not 0 <= tag < self.n_tags:
                    raise ViewError(f"there is no tag number {tag}; columns go from 0 to {self.n_tags - 1}.")
                columns.append(int(tag))
            elif tag in self:
                columns.append(self.index(tag))
            else:
                key = match_key(tag)
                if key not in added:
                    added[key] = len(names)
                    names.append(tag)
                columns.append(added[key])
        return tuple(names), columns

    def twins(self) -> list[tuple[str, ...]]:
        """Tags that look like one tag spelled in several ways ("t-shirt", "T shirt", "tshirt"; "café", "cafe").

        They agree but for case, spaces, hyphens, underscores and the accents of Latin letters. The first of each
        group is its most frequent one. Nothing is changed: see ``merge_twins``.
        """
        return spelling_groups(self._names, self._counts())

    def near_twins(self) -> list[NearWords]:
        """Pairs of tags that may be one: one and many of a thing ("cat", "cats"), or a slip of one letter.

        ``kept`` is the one on more items. Nothing is changed; ``merge_twins`` takes such pairs too.
        """
        return near_words(dict(zip(self._names, self._counts(), strict=True)))

    def _counts(self) -> list[int]:
        """On how many items each tag is."""
        found: list[int] = np.bincount(self._yes.indices, minlength=self.n_tags).tolist()
        return found

    def merge_twins(self, groups: Sequence[Sequence[str]] | None = None) -> TwinMerge:
        """Make one tag of each group of spellings (``twins()`` unless given), in a way that can be undone.

        The first of each group is kept. ``merge.table`` is the new table, ``merge.groups`` says what went where, and
        ``merge.undo(table)`` gives the old spellings back. Where one spelling says yes and another no, yes holds.
        """
        if isinstance(groups, str) or (groups and isinstance(groups[0], str)):
            raise ViewError("groups must be a list of groups of spellings, such as [('t-shirt', 'tshirt')].")
        columns = [[self.index(name) for name in group] for group in (self.twins() if groups is None else groups)]
        named = [i for group in columns for i in group]
        if len(set(named)) < len(named):
            twice = next(i for i in named if named.count(i) > 1)
            raise ViewError(f"tag {self._names[twice]!r} is in two groups, or twice in one.")
        target = np.arange(self.n_tags)
        for group in columns:
            target[group] = group[0]
        kept = np.flatnonzero(target == np.arange(self.n_tags))
        column = np.searchsorted(kept, target)
        yes, no = (moved(matrix, column, kept.size) for matrix in (self._yes, self._no))
        no = canonical(no - no.multiply(yes))
        names = [self._names[i] for i in kept]
        shown = {self._names[group[0]]: tuple(self._names[i] for i in group[1:]) for group in columns if len(group) > 1}
        return TwinMerge(TagTable(names, yes, no), self, shown)

    def __repr__(self) -> str:
        return f"TagTable({self.n_items} items, {self.n_tags} tags, {self._yes.nnz} yes, {self._no.nnz} no)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TagTable) or self._names != other._names or self.shape != other.shape:
            return False
        return bool((self._yes != other._yes).nnz == 0 and (self._no != other._no).nnz == 0)

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        return {"names": self._names, "yes": self._yes, "no": self._no}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["names"], state["yes"], state["no"])  # type: ignore[misc]


@dataclass(frozen=True)
class TwinMerge:
    """What ``TagTable.merge_twins`` did, and the way back."""

    table: TagTable
    before: TagTable
    groups: Mapping[str, tuple[str, ...]]
    """The spelling that was kept -> the spellings that went into it."""

    def undo(self, table: TagTable | None = None) -> TagTable:
        """The old spellings again, keeping what was said since: ``table`` is ``merge.table`` after any changes.

        What changed since the merge is said of the spelling that was kept, and a yes taken back is taken back from
        every spelling of its group.
        """
        now = self.table if table is None else table
        if now.names[: self.table.n_tags] != self.table.names or now.n_items != self.before.n_items:
            raise ViewError("undo needs the merged table, or one made from it by with_yes, with_no or with_unknown.")
        group_of = {old: kept for kept, olds in self.groups.items() for old in olds}
        names = (*self.before.names, *now.names[self.table.n_tags :])
        position = {name: i for i, name in enumerate(names)}
        back = np.array([position[name] for name in now.names], dtype=np.intp)
        home = np.array([now.index(group_of.get(name, name)) for name in self.before.names], dtype=np.intp)
        parts = []
        for then, merged, current in (
            (self.before.yes, self.table.yes, now.yes),
            (self.before.no, self.table.no, now.no),
        ):
            held = merged.multiply(current[:, : self.table.n_tags])  # said at the merge, and still
            still = held.tocsc()[:, home].tocsr() if home.size else held
            new = canonical(current - widened(canonical(held), now.n_tags))
            original = widened(canonical(then.multiply(still)), len(names))
            parts.append(as_ones(original + moved(new, back, len(names))))
        # A no of one spelling gave way to another's yes at the merge; it comes back where that yes still stands.
        lost = self.before.no.multiply(now.yes.tocsc()[:, home].tocsr())
        yes = parts[0]
        no = as_ones(parts[1] + widened(canonical(lost), len(names)))
        return TagTable(names, yes, canonical(no - no.multiply(yes)))


def as_tag_table(tags: Any, n_items: int | None = None) -> TagTable:
    """Tags in any form as a ``TagTable``: a table, a 0/1 matrix (dense or sparse), or a list of words per item.

    The tags of a pandas frame of 0 and 1 are called like its columns.
    """
    refuse_foreign("tags", tags)
    tags = column_values(tags)
    if isinstance(tags, TagTable):
        table = tags
    elif is_frame(tags) or is_sparse(tags) or _is_numeric(tags):
        table = TagTable.from_matrix(tags)
    else:
        table = TagTable.from_lists(tags)
    if n_items is not None and table.n_items != n_items:
        raise ViewError(
            f"tags describe {table.n_items} items but there are {n_items}; give one row (or list of words) per item."
        )
    return table


def are_words(tags: Any) -> bool:
    """Do tags come as words, with names of their own, rather than as a matrix?"""
    if isinstance(tags, TagTable):
        return True
    tags = column_values(tags)
    if str(getattr(tags, "dtype", "")) == "object" and getattr(tags, "ndim", 0) == 1:
        tags = list(tags)
    if not isinstance(tags, (list, tuple)):
        return False
    rows = (list, tuple, set, frozenset, np.ndarray)
    return all(isinstance(row, rows) and all(isinstance(word, str) for word in row) for row in tags)


def _is_numeric(tags: Any) -> bool:
    if isinstance(tags, (str, Mapping)):
        return False
    if hasattr(tags, "dtype"):
        return bool(np.dtype(tags.dtype).kind in "fiub")
    rows = tags if isinstance(tags, (list, tuple)) else []
    first = next((row[0] for row in rows if isinstance(row, (list, tuple, np.ndarray)) and len(row)), None)
    return isinstance(first, (int, float, np.number, np.bool_))


def _check_names(names: tuple[str, ...], n_tags: int) -> tuple[str, ...]:
    if len(names) != n_tags:
        raise ViewError(f"names must hold one word per tag, {n_tags} in all; got {len(names)}.")
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise ViewError(f"a tag must be a word, got {name!r}.")
    if len(set(names)) < len(names):
        word, count = Counter(names).most_common(1)[0]
        raise ViewError(f"names must be distinct, but {word!r} appears {'twice' if count == 2 else f'{count} times'}.")
    return names


def _check_lists(words: Any, what: str) -> list[list[str]]:
    if isinstance(words, (str, Mapping)) or not isinstance(words, Iterable):
        raise ViewError(f"{what} must hold a list of words for each item, got {type(words).__name__}.")
    rows: list[list[str]] = []
    for item, row in enumerate(words):
        if isinstance(row, str) or not isinstance(row, Iterable):
            raise ViewError(
                f"{what} must hold a list of words for each item, but item {item} has {row!r}. Split it into words "
                "first, and write [] where an item has none."
            )
        rows.append(list(row))
        for word in rows[-1]:
            if not isinstance(word, str) or not word.strip():
                raise ViewError(f"{what}: a tag must be a word, but item {item} has {word!r}.")
    return rows


def _lists_to_csr(vocabulary: TagTable, rows: list[list[str]]) -> csr_matrix:
    items, columns = [], []
    for item, row in enumerate(rows):
        for word in row:
            if word not in vocabulary:
                raise ViewError(f"item {item} has tag {word!r}, not one of the {vocabulary.n_tags} names given.")
            items.append(item)
            columns.append(vocabulary.index(word))
    return pairs_to_csr(items, columns, (len(rows), vocabulary.n_tags))
