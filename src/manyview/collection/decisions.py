"""Yes and no to tags of items, as people said them: many at once, one entry of the history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import ParameterError
from .catalog import Catalog, as_json
from .history import Entry, History, now
from .proposals import item_names
from .tagging import Tagging, clean_word, word_key

__all__ = ["Decided", "Decisions"]

_AT_ONCE = 400
"""Rows looked up by one statement."""
_PROPOSAL = "score, probability, record, untouched"
_NAMED = 20
"""Different tags that an entry lists."""


class Decided(NamedTuple):
    """A proposal that a person looked at, as it was then, and the answer."""

    record: float
    untouched: float
    tags_per_item: float
    answer: bool


class Decisions:
    """The last word of a person on each pair of item and tag."""

    def __init__(self, catalog: Catalog, history: History, tagging: Tagging) -> None:
        self._catalog = catalog
        self._history = history
        self._tagging = tagging

    def put(
        self,
        pairs: Iterable[tuple[int, str]],
        answer: bool,
        *,
        who: str | None = None,
        why: str | None = None,
        is_reviewed: bool = True,
        kind: str = "decide",
        verb: str | None = None,
        note: str | None = None,
        detail: Mapping[str, Any] | None = None,
        cluster: tuple[int, str] | None = None,
    ) -> Entry:
        """Write answers down; see ``Collection.decide``. The summary begins with ``verb`` and ends with ``note``.

        ``cluster`` is the number of one and its new name: given, and taken back, together with the answers.
        """
        given = [(int(item), clean_word(word)) for item, word in pairs]
        wanted = list({(item, word_key(word)): (item, word) for item, word in given}.values())
        if not wanted or not all(word for _, word in wanted):
            raise ParameterError("a decision needs at least one item, and a word for each.")
        keys = item_names(self._catalog, (item for item, _ in wanted))
        if absent := [item for item, _ in wanted if item not in keys]:
            raise ParameterError(f"there is no item {absent[0]}.")
        verb = verb or ("accepted" if answer else "rejected")
        words = list(dict.fromkeys(word for _, word in wanted))
        told = {"answer": bool(answer), "pairs": len(wanted), "tags": words[:_NAMED], "why": why, **(detail or {})}
        summary = f"{verb} {_what(wanted, keys, words)}{f': {note}' if note else ''}"
        with (
            self._catalog.transaction(),
            self._history.record(kind, summary, who=who, detail=told) as change,
        ):
            if cluster is not None:
                change.put("clusters", id=cluster[0], name=cluster[1])
            who, at = self._history.get(change.id).who, now()
            numbers = self._tagging.numbers(words)
            pairs_of = [(item, numbers[word]) for item, word in wanted]
            proposed = self._proposals(pairs_of)
            per_item = self._tags_per_item()
            nothing = (None,) * 4
            change.put_many(
                "decisions",
                [
                    {
                        "item_id": item,
                        "tag_id": tag,
                        "answer": int(answer),
                        "who": who,
                        "at": at,
                        "why": why,
                        **dict(zip(_PROPOSAL.split(", "), proposed.get((item, tag), nothing), strict=True)),
                        "tags_per_item": per_item if (item, tag) in proposed else None,
                        "is_reviewed": int(is_reviewed),
                    }
                    for item, tag in pairs_of
                ],
            )
        return self._history.get(change.id)

    def reviewed(self) -> list[Decided]:
        """The proposals that people looked at one by one, with their answers."""
        rows = self._catalog.rows(
            "SELECT record, untouched, tags_per_item, answer FROM decisions WHERE is_reviewed = 1 AND record IS NOT "
            "NULL AND untouched IS NOT NULL AND tags_per_item IS NOT NULL ORDER BY item_id, tag_id"
        )
        return [Decided(record, untouched, then, bool(answer)) for record, untouched, then, answer in rows]

    def accepted(self) -> list[tuple[int, int]]:
        """Items and tags a person said yes to."""
        return self._catalog.rows("SELECT item_id, tag_id FROM decisions WHERE answer = 1 ORDER BY item_id, tag_id")

    def refused(self, item_id: int) -> list[str]:
        """Tags a person said no to, of one item."""
        rows = self._catalog.rows(
            "SELECT tag_id FROM decisions WHERE item_id = ? AND answer = 0 ORDER BY tag_id", (item_id,)
        )
        names = self._tagging.names(tag for (tag,) in rows)
        return [names[tag] for (tag,) in rows]

    def answer(self, item_id: int, word: str) -> bool | None:
        """What a person has said about a tag of an item; None where nobody spoke of it."""
        found = self._catalog.value(
            "SELECT answer FROM decisions WHERE item_id = ? AND tag_id = ?", (item_id, self._tagging.find(word))
        )
        return None if found is None else bool(found)

    def repeated(self, pairs: Iterable[tuple[int, str]], answer: bool, is_reviewed: bool) -> set[tuple[int, str]]:
        """Those pairs of item and word to which a person has given this very answer, and looked as closely."""
        numbered = {(item, tag): (item, word) for item, word in pairs if (tag := self._tagging.find(word)) is not None}
        sql = (
            f"SELECT item, tag FROM wanted JOIN decisions ON item_id = item AND tag_id = tag AND answer = {answer:d} "  # noqa: S608
            f"AND is_reviewed >= {is_reviewed:d}"
        )
        return {numbered[item, tag] for item, tag in self._of_pairs(list(numbered), sql)}

    def answers(self, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], bool]:
        """What is known of pairs of item and number of a tag: what a person said; else yes where a file says the tag
        by now, and no where the item is gone. Pairs that nobody spoke of are absent."""
        sql = (
            "SELECT item, tag, coalesce((SELECT answer FROM decisions WHERE item_id = item AND tag_id = tag), "
            "(SELECT 1 FROM said_tags WHERE item_id = item AND tag_id = tag), "
            "(SELECT 0 FROM items WHERE id = item AND state <> 'here')) AS said FROM wanted WHERE said IS NOT NULL"
        )
        return {(item, tag): bool(said) for item, tag, said in self._of_pairs(pairs, sql)}

    def only_said(self, pairs: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
        """Those pairs of item and number of a tag that a file or table says, and no person has spoken of."""
        sql = (
            "SELECT item, tag FROM wanted WHERE EXISTS (SELECT 1 FROM said_tags WHERE item_id = item AND "
            "tag_id = tag) AND EXISTS (SELECT 1 FROM items WHERE id = item AND state = 'here') AND NOT EXISTS "
            "(SELECT 1 FROM decisions WHERE item_id = item AND tag_id = tag)"
        )
        return set(self._of_pairs(pairs, sql))

    def answered_by(self, item_id: int, word: str) -> int | None:
        """The entry of the history that last changed what a person says about this."""
        entry: int | None = self._catalog.value(
            "SELECT max(history_id) FROM changes WHERE of_table = 'decisions' AND row_key = ?",
            (as_json([item_id, self._tagging.find(word)]),),
        )
        return entry

    def _proposals(self, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], tuple[float | None, ...]]:
        """What the newest proposals say of these pairs."""
        sql = (
            f"SELECT item, tag, {_PROPOSAL} FROM wanted CROSS JOIN proposals ON run_id = "  # noqa: S608  our columns
            "(SELECT max(id) FROM runs WHERE kind = 'suggest') AND item_id = item AND tag_id = tag"
        )
        return {(item, tag): tuple(told) for item, tag, *told in self._of_pairs(pairs, sql)}

    def _of_pairs(self, pairs: Sequence[tuple[int, int]], sql: str) -> Iterator[Any]:
        """What a question about ``wanted`` (item, tag) answers, for these pairs."""
        for start in range(0, len(pairs), _AT_ONCE):
            part = pairs[start : start + _AT_ONCE]
            wanted = f"WITH wanted (item, tag) AS (VALUES {', '.join(['(?, ?)'] * len(part))})"
            yield from self._catalog.rows(f"{wanted} {sql}", [value for pair in part for value in pair])

    def _tags_per_item(self) -> float | None:
        """How many tags a tagged item had when the newest proposals were made."""
        value = self._catalog.value(
            "SELECT json_extract(figures, '$.tags_per_item') FROM runs WHERE kind = 'suggest' ORDER BY id DESC LIMIT 1"
        )
        return None if value is None else float(value)


def _what(wanted: Sequence[tuple[int, str]], keys: dict[int, str], words: Sequence[str]) -> str:
    if len(wanted) == 1:
        return f"{wanted[0][1]!r} for {keys[wanted[0][0]]}"
    if len(words) == 1:
        return f"{words[0]!r} for {len(wanted)} items"
    return f"{len(wanted)} tags"
