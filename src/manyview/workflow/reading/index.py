"""One state of a collection as arrays, for quick looking: who is where, which tags, what is proposed.

Reading a hundred thousand labels takes a while, looking at them does not. What was read is kept between states, part by
part, for as long as the catalogue's count of changes says that the part is the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...collection.runs import Run
from ...collection.sorted_numbers import among, by_row, distinct, joined, taken_apart, turned, without
from ...data.tags import TagTable, match_key
from ...types import Ints, Mask
from ..proposing.asking import WORTH_ASKING
from .item_arrays import ItemArrays

if TYPE_CHECKING:
    from ...collection.living import Standing
    from ..clusters.living import LiveCluster

__all__ = ["Index"]


class Index(ItemArrays):
    """A collection at one moment. ``parts`` carries over what has not changed since the last one.

    Memory: about 100 bytes for an item, 16 for a tag on an item and 40 for a proposal.
    """

    # --- tags ---

    @property
    def tag_names(self) -> dict[int, str]:
        """Every tag by number."""
        return self.part("tag_names", "tags decisions runs", self.collection.tagging.vocabulary)

    def tag_number(self, word: str) -> int | None:
        """The number of a tag, in any spelling; None where there is no such tag."""
        return self.collection.tagging.find(word)

    @property
    def known(self) -> tuple[Ints, Ints]:
        """Rows and tags that count: what files and tables say unless a person said no, and a person's yes."""
        return self.part("known", "items tags decisions", lambda: taken_apart(self._known_pairs))

    @property
    def _known_pairs(self) -> Ints:
        decided, answers = self.decided
        return joined(without(self._said, decided[~answers]), decided[answers])

    @property
    def _rows_by_tag(self) -> tuple[Ints, Ints]:
        """The same by tag: tags in ascending order, and their rows."""
        return self.part("by_tag", "items tags decisions", self._sort_by_tag)

    def _sort_by_tag(self) -> tuple[Ints, Ints]:
        said = self.part("said by tag", "items tags", lambda: turned(self._said))  # so that an answer sorts little
        decided, answers = self.decided
        return taken_apart(joined(without(said, turned(decided[~answers])), turned(decided[answers])))

    @property
    def tag_table(self) -> TagTable:
        """Yes, no and unknown of every tag for every item."""
        return self.part("tag_table", "items tags decisions runs", self._find_tag_table)

    def _find_tag_table(self) -> TagTable:
        decided, answers = self.decided
        return self.collection.tagging.table_of(self.ids.size, self._known_pairs, decided[~answers])

    @property
    def _said(self) -> Ints:
        return self.part("said", "items tags", lambda: by_row(self.collection.tagging.pairs_said(), self.ids))

    @property
    def decided(self) -> tuple[Ints, Mask]:
        """Pairs a person has spoken about, as single numbers, and what they said."""
        return self.part("decided", "items decisions", self._find_decided)

    def _find_decided(self) -> tuple[Ints, Mask]:
        yes, no = (by_row(self.collection.tagging.pairs_decided(answer), self.ids) for answer in (True, False))
        pairs = np.concatenate([yes, no])
        return pairs, np.arange(pairs.size) < yes.size

    def answered_rows(self, word: str) -> Ints:
        """Rows of items of which a person has accepted or refused a tag, ascending."""
        number, (rows, tags) = self.tag_number(word), taken_apart(self.decided[0])
        return distinct(rows[tags == number]) if number is not None else rows[:0]

    @property
    def n_tags(self) -> Ints:
        """How many tags each item has."""
        return self.part("n_tags", "items tags decisions", lambda: np.bincount(self.known[0], minlength=self.ids.size))

    @property
    def n_different_tags(self) -> int:
        """Tags that are on some item."""
        return self.part("n_different", "items tags decisions", lambda: int((np.bincount(self.known[1]) > 0).sum()))

    def tag_counts(self, mask: Mask | None = None) -> list[tuple[str, int]]:
        """Tags and on how many of the chosen items they are, the most frequent first."""
        rows, tags = self.known
        if mask is not None:
            return self._named_counts(tags[mask[rows]])
        return self.part("tag_counts", "items tags decisions runs", lambda: self._named_counts(tags))

    def _named_counts(self, tags: Ints) -> list[tuple[str, int]]:
        counts, names = np.bincount(tags), self.tag_names
        found = sorted(np.flatnonzero(counts).tolist(), key=lambda tag: (-counts[tag], match_key(names[tag])))
        return [(names[tag], int(counts[tag])) for tag in found]

    def carriers(self, word: str) -> Ints:
        """The items that have a tag, ascending."""
        tags, rows = self._rows_by_tag
        number = self.tag_number(word) or 0
        first, last = np.searchsorted(tags, [number, number + 1])
        return self.ids[rows[first:last]]

    @property
    def paths(self) -> list[tuple[str, ...]]:
        """Hierarchical keywords, each from the most general word."""
        return self.part("paths", "items tags decisions", lambda: self.collection.hierarchy)

    def below(self, word: str) -> list[int]:
        """The numbers of the tags that stand below a word, which need not be a tag itself."""
        tree = self.part("tree", "items tags decisions", self._find_below)
        number = self.tag_number(word)
        return tree.get(match_key(word if number is None else self.tag_names[number]), [])

    def _find_below(self) -> dict[str, list[int]]:
        numbers = {match_key(name): number for number, name in self.tag_names.items()}
        found: dict[str, set[int]] = {}
        for path in self.paths:
            keys = [match_key(word) for word in path]
            for n, key in enumerate(keys):
                found.setdefault(key, set()).update(numbers[lower] for lower in keys[n + 1 :] if lower in numbers)
        return {key: sorted(lower) for key, lower in found.items() if lower}

    def with_tag(self, word: str, *, below: bool = True) -> Mask:
        """Which items have a tag, or one that stands below it."""
        tags, rows = self._rows_by_tag
        mask = np.zeros(self.ids.size, dtype=bool)
        for number in {self.tag_number(word) or 0, *(self.below(word) if below else ())}:
            first, last = np.searchsorted(tags, [number, number + 1])
            mask[rows[first:last]] = True
        return mask

    def words_of(self, row: int) -> list[str]:
        """The tags of one item."""
        rows, tags = self.known
        first, last = np.searchsorted(rows, [row, row + 1])
        return [self.tag_names[tag] for tag in tags[first:last].tolist()]

    def words_by_row(self) -> dict[int, list[str]]:
        """The tags of every item that has some."""
        found: dict[int, list[str]] = {}
        names = self.tag_names
        for row, tag in zip(*(part.tolist() for part in self.known), strict=True):
            found.setdefault(row, []).append(names[tag])
        return found

    def answers(self, pairs: Iterable[tuple[int, str]]) -> dict[tuple[int, str], bool]:
        """What a person has said about pairs of item and word; pairs nobody spoke of are absent."""
        found = {(item, word): self.collection.decisions.answer(item, word) for item, word in pairs}
        return {pair: answer for pair, answer in found.items() if answer is not None}

    def answered_by(self, item: int, word: str) -> int | None:
        """The entry of the history that last changed what a person says about this."""
        return self.collection.decisions.answered_by(item, word)

    # --- runs and clusters ---

    def run(self, run_id: int | None = None) -> Run | None:
        """The run of that number, or the newest fit; None where there is none yet."""
        if run_id is None:
            return self.collection.runs.newest()
        return self.collection.runs.get_fit(run_id)

    def clusters(self, run: Run | None) -> list[LiveCluster]:
        """The clusters of a run as they are now, after a person's edits and answers; largest first."""
        from ..clusters.living import with_tags_of_now

        if run is None:
            return []
        return self.part(
            "clusters",
            "items runs edits tags decisions",
            lambda: with_tags_of_now(self._kept_clusters(run), self.tag_table, self.assignment(run)),
            run.id,
        )

    def _kept_clusters(self, run: Run) -> list[LiveCluster]:
        """The same, with the tags of the day their profiles were made: an answer does not make them anew."""
        from ..clusters.state import State

        return self.part(
            "kept clusters",
            "items runs edits",
            lambda: State(self.collection, run, self._standing(run)).clusters,
            run.id,
        )

    def _standing(self, run: Run) -> Standing:
        return self.part("standing", "items runs edits", lambda: self.collection.living.standing(run.id), run.id)

    def cluster_names(self, run: Run | None) -> dict[int, str]:
        """Names by identity."""
        return {one.id: one.name or f"cluster {one.id}" for one in (self._kept_clusters(run) if run else ())}

    def guessed(self, run: Run | None) -> frozenset[int]:
        """Clusters whose names are only guessed."""
        return frozenset(one.id for one in (self._kept_clusters(run) if run else ()) if one.is_guess)

    def assignment(self, run: Run | None) -> Ints:
        """The cluster of each item, -1 where it is in none."""
        if run is None:
            return np.full(self.ids.size, -1, dtype=np.int64)
        return self.part("assignment", "items runs edits", lambda: self._assign(run), run.id)

    def _assign(self, run: Run) -> Ints:
        standing = self._standing(run)
        return self._spread(standing.ids, standing.clusters, -1)

    def labelled(self, run: Run | None) -> Ints:
        """The cluster that a run itself gave each item, before a person's edits; -1 where it is in none."""
        if run is None:
            return np.full(self.ids.size, -1, dtype=np.int64)
        labelled = self.collection.runs.labelled
        return self.part("labelled", "items runs", lambda: self._spread(*labelled(run.id), -1), run.id)

    def _spread(self, ids: Ints, values: NDArray[Any], otherwise: float) -> NDArray[Any]:
        """What is said of some items, for every row."""
        found = np.full(self.ids.size, otherwise, dtype=values.dtype)
        here = self.is_here(ids)
        found[np.searchsorted(self.ids, ids[here])] = values[here]
        return found

    def members(self, run: Run | None) -> dict[int, Ints]:
        """Rows of the items of each cluster, ascending."""
        if run is None:
            return {}
        return self.part("members", "items runs edits", lambda: self._split(self.assignment(run)), run.id)

    @staticmethod
    def _split(places: Ints) -> dict[int, Ints]:
        order = np.argsort(places, kind="stable")
        numbers, starts = np.unique(places[order], return_index=True)
        parts = np.split(order, starts[1:])
        return {int(number): part for number, part in zip(numbers, parts, strict=True) if number >= 0}

    def confidence(self, run: Run | None) -> NDArray[np.float64]:
        """How sure the run is of each item's place, NaN where it does not say."""
        if run is None:
            return np.full(self.ids.size, np.nan)
        confidence = self.collection.runs.confidence
        return self.part("confidence", "items runs", lambda: self._spread(*confidence(run.id), np.nan), run.id)

    # --- proposals ---

    @property
    def open_pairs(self) -> tuple[Ints, Ints]:
        """Rows and tags of the proposals that nobody has answered yet and that the item still lacks."""
        return self._open_from(None)

    @property
    def worth_pairs(self) -> tuple[Ints, Ints]:
        """Those among them that are worth asking."""
        return self._open_from(WORTH_ASKING)

    def _open_from(self, least: float | None) -> tuple[Ints, Ints]:
        newest = self.collection.runs.newest("suggest")
        if newest is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return self.part(
            f"open from {least}", "items tags decisions", lambda: self._find_open(newest.id, least), newest.id
        )

    def _find_open(self, run: int, least: float | None) -> tuple[Ints, Ints]:
        lacking = self.part(f"lacking from {least}", "items tags", lambda: self._find_lacking(run, least), run)
        return taken_apart(without(lacking, self.decided[0]))

    def _find_lacking(self, run: int, least: float | None) -> Ints:
        """Proposals that files and tables do not say by now."""
        pairs = by_row(self._reading.pairs_proposed(run, least), self.ids)
        return pairs[~among(pairs, self._said)]

    @property
    def n_open(self) -> int:
        """Proposals that wait for an answer and are worth asking."""
        return int(self.worth_pairs[0].size)

    @property
    def n_less_likely(self) -> int:
        """The other ones that wait."""
        return int(self.open_pairs[0].size) - self.n_open

    def open_by_row(self) -> Ints:
        """How many proposals are worth asking, for each item."""
        return np.bincount(self.worth_pairs[0], minlength=self.ids.size)

    def open_by_tag(self, least: float = WORTH_ASKING) -> list[tuple[str, int, float]]:
        """Tags, how many proposals of each wait and how many of those should be right; the most right ones first."""
        runs = self.collection.runs
        newest = runs.newest("suggest")
        if newest is None:
            return []
        return self.part(
            f"open_by_tag from {least}",
            "items tags decisions runs",
            lambda: runs.rows.by_tag(newest.id, least),
        )

    def open_among(self, ids: Ints, least: float | None, offset: int, top: int) -> list[tuple[int, int]]:
        """Items and tags of open proposals of some items, likely ones first."""
        runs = self.collection.runs
        newest = runs.newest("suggest")
        return [] if newest is None else runs.rows.among(newest.id, ids.tolist(), least, offset, top)

    @property
    def n_problems(self) -> int:
        """Files that could not be used, or only in part."""
        return self.part("n_problems", "items", self._reading.n_problems)
