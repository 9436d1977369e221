"""Tags that were proposed and that nobody has answered yet: found in their order, counted above a line.

Only the newest proposals are kept. Whether one is still open is a column that the catalogue's triggers keep, and how
many are open in each thousandth of probability is a table, so that asking costs as much as what is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from .catalog import Catalog, as_json, rows_in
from .items import as_text
from .tagging import Tagging

__all__ = ["NewProposal", "Proposal", "ProposalRows", "item_names"]

_ORDER = ("probability DESC", "score DESC", "item_id", "tag_id")
"""Likely ones first."""
_PARTS = 1000
"""Steps of probability that the catalogue keeps sums for."""


class NewProposal(NamedTuple):
    """A proposal on its way into the catalogue."""

    item_id: int
    tag_id: int
    score: float
    probability: float | None
    reason: Any
    """Anything JSON can hold."""
    record: float | None = None
    """How likely the owner's own record would hold the tag."""
    untouched: float | None = None
    """How likely nobody has looked at the item yet."""


class Proposal(NamedTuple):
    """A tag suggested for an item."""

    item_id: int
    tag: str
    score: float
    """What it was ranked by; to be compared within an item."""
    probability: float | None
    """How likely it is right; to be compared with every other."""
    reason: Any
    untouched: float | None = None
    """How likely nobody had looked at the item yet."""


class ProposalRows:
    """The proposals in the catalogue."""

    def __init__(self, catalog: Catalog, tagging: Tagging) -> None:
        self._catalog = catalog
        self._tagging = tagging

    def replace(self, run_id: int, proposals: Iterable[NewProposal]) -> None:
        """Keep the proposals of a run in place of all earlier ones."""
        with self._catalog.transaction():
            self._catalog.run("DELETE FROM proposal_sums")
            with self._indexes_at_the_end():
                self._put(run_id, proposals)

    def _put(self, run_id: int, proposals: Iterable[NewProposal]) -> None:
        self._catalog.run("DELETE FROM proposals")
        self._catalog.run_many(
            "INSERT INTO proposals (run_id, item_id, tag_id, score, probability, reason, record, untouched) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (run_id, int(p.item_id), int(p.tag_id), float(p.score), p.probability, as_json(p.reason), *p[5:])
                for p in proposals
            ),
        )
        self._catalog.run(
            "INSERT INTO proposal_sums SELECT run_id, tag_id, CAST(1000 * probability AS INTEGER), count(*), "
            "sum(probability) FROM proposals WHERE probability IS NOT NULL GROUP BY 1, 2, 3"
        )
        self._catalog.run(
            "INSERT INTO proposal_sums SELECT run_id, 0, part, sum(n), sum(total) FROM proposal_sums GROUP BY 1, 2, 3"
        )
        # Others may have written while the proposals were worked out: what is not open any more is asked now.
        self._catalog.run("UPDATE proposals SET is_open = 0 WHERE (run_id, item_id, tag_id) IN closed_proposals")

    @contextmanager
    def _indexes_at_the_end(self) -> Iterator[None]:
        """Inside, proposals are written without their indexes, which are then made in one go: millions of rows that
        come in another order than an index has would rewrite most of its pages many times."""
        found = self._catalog.rows(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'proposals' AND sql IS NOT NULL"
        )
        for name, _ in found:
            self._catalog.run(f"DROP INDEX {name}")
        try:
            yield
        except BaseException:  # a caller may catch this inside a transaction that lasts
            with suppress(Exception):
                self._make_again(found)
            raise
        self._make_again(found)

    def _make_again(self, indexes: Iterable[tuple[str, str]]) -> None:
        for _, sql in indexes:
            self._catalog.run(sql)

    def find(
        self,
        run_id: int,
        *,
        tag_id: int | None = None,
        item_id: int | None = None,
        min_probability: float | None = None,
        top: int | None = None,
        offset: int = 0,
        reasons: bool = True,
    ) -> list[Proposal]:
        """Open proposals of a run, likely ones first. Reasons are read only where they are wanted."""
        given = {"tag_id = ?": tag_id, "item_id = ?": item_id, "probability >= ?": min_probability}
        chosen = {part: value for part, value in given.items() if value is not None}
        # The few of one item are found by the item and then sorted, whatever an index in the right order promises.
        no_index = "" if item_id is None else "+"
        where = " AND ".join(["run_id = ?", f"{no_index}is_open = 1", *chosen])
        inner = (
            f"SELECT item_id, tag_id, probability, score FROM proposals WHERE {where} "  # noqa: S608  parts above
            f"ORDER BY {no_index}{', '.join(_ORDER)} LIMIT ? OFFSET ?"
        )
        # Reasons are not in the indexes; they are looked up for what is shown only.
        told = "reason" if reasons else "NULL"
        last = ", ".join(f"found.{one}" for one in _ORDER)
        rows = self._catalog.rows(
            f"WITH found AS MATERIALIZED ({inner}) SELECT found.item_id, found.tag_id, p.score, p.probability, {told}, "  # noqa: S608
            "p.untouched FROM found CROSS JOIN proposals AS p ON p.run_id = ? AND p.item_id = found.item_id "
            f"AND p.tag_id = found.tag_id ORDER BY {last}",
            [run_id, *chosen.values(), -1 if top is None else int(top), int(offset), run_id],
        )
        names = self._tagging.names(row[1] for row in rows)
        return [
            Proposal(item, names[tag], score, sure, json.loads(reason) if reason else None, untouched)
            for item, tag, score, sure, reason, untouched in rows
        ]

    def promised(self, run_id: int, tag_id: int | None = None, least: float = 0.0) -> list[tuple[int, int, float]]:
        """Item, tag and probability of the open proposals that have one, likely ones first."""
        more = "" if tag_id is None else "AND tag_id = ? "
        return self._catalog.rows(
            "SELECT item_id, tag_id, probability FROM proposals WHERE run_id = ? AND is_open = 1 AND "  # noqa: S608
            f"probability >= ? {more}ORDER BY {', '.join(_ORDER)}",
            (run_id, least, *(() if tag_id is None else (tag_id,))),
        )

    def among(
        self, run_id: int, ids: Iterable[int], least: float | None, offset: int, top: int
    ) -> list[tuple[int, int]]:
        """Items and tags of the open proposals of some items, of at least a probability, likely ones first."""
        return self._catalog.rows(
            "SELECT item_id, tag_id FROM proposals WHERE run_id = ? AND is_open = 1 AND "  # noqa: S608  a constant
            "(probability >= ? OR ? IS NULL) AND item_id IN (SELECT value FROM json_each(?)) "
            f"ORDER BY {', '.join(_ORDER)} LIMIT ? OFFSET ?",
            (run_id, least, least, as_json(list(ids)), top, offset),
        )

    def by_item(self, run_id: int, ids: Iterable[int] | None, least: float, offset: int, top: int) -> list[int]:
        """Items with open proposals of at least a probability, of some items or of all; those with the most right
        ones to expect first."""
        chosen = "" if ids is None else "AND item_id IN (SELECT value FROM json_each(?)) "
        rows = self._catalog.rows(
            "SELECT item_id FROM proposals WHERE run_id = ? AND is_open = 1 AND probability >= ? "  # noqa: S608
            f"{chosen}GROUP BY item_id ORDER BY sum(probability) DESC, item_id LIMIT ? OFFSET ?",
            (run_id, least, *([] if ids is None else [as_json(list(ids))]), top, offset),
        )
        return [row[0] for row in rows]

    def by_tag(self, run_id: int, least: float) -> list[tuple[str, int, float]]:
        """Tags, how many of their open proposals are at least so likely (to the thousandth), and how many of those
        should be right; the tag with the most right ones first."""
        rows = self._catalog.rows(
            "SELECT tag_id, sum(n), sum(total) FROM proposal_sums WHERE run_id = ? AND "
            "tag_id <> 0 AND part >= ? GROUP BY tag_id HAVING sum(n) > 0 ORDER BY sum(total) DESC, tag_id",
            (run_id, round(_PARTS * least)),
        )
        names = self._tagging.names(row[0] for row in rows)
        return [(names[tag], int(n), float(total)) for tag, n, total in rows]

    def above(self, run_id: int, min_probability: float, tag_id: int | None = None) -> tuple[int, float]:
        """How many open proposals are at least so likely, and the sum of their probabilities."""
        tag, part = tag_id or 0, int(_PARTS * min_probability) if min_probability > 0 else -1
        n, total = self._catalog.row(
            "SELECT coalesce(sum(n), 0), coalesce(sum(total), 0.0) FROM proposal_sums WHERE run_id = ? AND tag_id = ? "
            "AND part > ?",
            (run_id, tag, part),
        )
        if part < 0:
            return int(n), float(total) if n else 0.0
        more = "AND tag_id = ?" if tag_id else ""
        edge = self._catalog.row(
            "SELECT count(*), coalesce(sum(probability), 0.0) FROM proposals WHERE run_id = ? AND is_open = 1 "  # noqa: S608
            f"AND probability >= ? AND probability < ? AND CAST(1000 * probability AS INTEGER) = ? {more}",
            (run_id, min_probability, (part + 2) / _PARTS, part, *((tag_id,) if tag_id else ())),
        )
        found = int(n + edge[0])
        return found, float(total + edge[1]) if found else 0.0

    def item_kinds(self, ids: Iterable[int]) -> dict[int, str]:
        """Picture, video, document or row, of some items."""
        return dict(rows_in(self._catalog.rows, "SELECT id, kind FROM items WHERE id IN", list(dict.fromkeys(ids))))

    def item_names(self, ids: Iterable[int]) -> dict[int, str]:
        """What the owner calls these items; those that there are not are left out."""
        return item_names(self._catalog, ids)


def item_names(catalog: Catalog, ids: Iterable[int]) -> dict[int, str]:
    """Numbers of items -> what their owner calls them, for those that there are."""
    rows = rows_in(catalog.rows, "SELECT id, key FROM items WHERE id IN", list(dict.fromkeys(ids)))
    return {number: as_text(key) for number, key in rows}
