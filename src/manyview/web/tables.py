"""Every list of the gallery as a table: for files that people open in other programs."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Literal, NamedTuple

import numpy as np

from ..errors import ParameterError
from ..workflow.reading.content import find_all
from ..workflow.reading.index import Index
from ..workflow.reading.search import find_rows, matching
from ..writeback.cells import as_cell
from ..writeback.proposal_files import as_shown
from .api.clusters import clusters_page
from .api.edits import history_page
from .api.items import search_for
from .api.proposals import proposal_rows
from .api.runs import compare_page, runs_page
from .members import shown

__all__ = [
    "Table",
    "as_csv",
    "as_json",
    "clusters_table",
    "compare_table",
    "history_table",
    "items_table",
    "proposals_table",
    "runs_table",
    "tags_table",
]


class Table(NamedTuple):
    """Names of columns, and rows."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def as_csv(table: Table) -> bytes:
    """Comma-separated, UTF-8. A text that a spreadsheet would take for a formula gets an apostrophe in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(table.columns)
    writer.writerows([_cell(value) for value in row] for row in table.rows)
    return out.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    text = "; ".join(value) if isinstance(value, list) else value
    if isinstance(text, str):
        return as_cell(text.replace("\0", "\ufffd"))
    return text


def as_json(table: Table) -> bytes:
    """A list of objects."""
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return json.dumps(rows, ensure_ascii=False).encode("utf-8", "replace")


def items_table(
    index: Index,
    q: str = "",
    cluster: int | None = None,
    tag: str | None = None,
    run_id: int | None = None,
    sort: Literal["best", "id", "name", "confidence", "typical", "date", "newest"] = "id",
    looks: bool = False,
) -> Table:
    """The items a search finds; with ``looks``, also those whose pictures seem to show it."""
    run, query = index.run(run_id), search_for(q, cluster, tag)
    if looks or sort == "best":
        hits, _ = find_all(index, str(query), run, sort)
        rows = index.rows_of(np.array([hit.item for hit in hits], dtype=np.int64))
    else:
        rows = find_rows(index, matching(index, query, run), run, sort)
    names, places, sure = index.cluster_names(run), index.assignment(run), index.confidence(run)
    words = index.words_by_row()
    keys = index.keys(index.ids[rows].tolist())
    return Table(
        ("id", "name", "kind", "cluster", "cluster_name", "confidence", "tags"),
        [
            (
                number,
                shown(keys[number]),
                str(index.kinds[row]),
                int(places[row]) if places[row] >= 0 else None,
                names.get(int(places[row])),
                None if sure[row] != sure[row] else round(float(sure[row]), 4),
                words.get(row, []),
            )
            for number, row in zip(index.ids[rows].tolist(), rows.tolist(), strict=True)
        ],
    )


def clusters_table(index: Index, run_id: int | None = None) -> Table:
    """The clusters of a run."""
    return Table(
        ("id", "name", "size", "cohesion", "open_proposals", "pinned", "tags"),
        [
            (one.id, one.name, one.size, one.cohesion, one.n_open, one.is_pinned, [tag.name for tag in one.tags])
            for one in clusters_page(index, run_id).clusters
        ],
    )


def proposals_table(index: Index, tag: str | None = None, item: int | None = None) -> Table:
    """The proposals nobody has answered, likeliest first."""
    return Table(
        ("item", "name", "tag", "probability", "reason"),
        [
            (one.item, one.key, one.tag, as_shown(one.probability), one.sentence)
            for one in proposal_rows(index, tag=tag, item=item)
        ],
    )


def tags_table(index: Index) -> Table:
    """Every tag and on how many items it is."""
    return Table(("tag", "items"), list(index.tag_counts()))


def runs_table(index: Index) -> Table:
    """Every run, newest first."""
    return Table(
        ("id", "kind", "method", "clusters", "views", "made_at", "seconds"),
        [
            (run.id, run.kind, run.method, run.n_clusters, run.views, run.made_at, round(run.seconds, 1))
            for run in runs_page(index).runs
        ],
    )


def history_table(index: Index) -> Table:
    """What was done, newest first."""
    return Table(
        ("id", "at", "who", "kind", "summary", "undone_by"),
        [
            (one.id, one.at, one.who, one.kind, one.summary, one.undone_by)
            for one in history_page(index, limit=len(index.collection.history)).entries
        ],
    )


def compare_table(index: Index, first: int | None, second: int | None) -> Table:
    """Items that are elsewhere in the second run, by what corresponds to their cluster in the first."""
    if first is None or second is None:
        raise ParameterError("a comparison needs two runs: first and second.")
    page = compare_page(index, first, second, n_movers=None)
    before, after = ({one.id: one.name for one in side} for side in (page.first, page.second))
    return Table(
        ("item", "name", "first", "first_name", "second", "second_name"),
        [
            (one.item, one.key, one.first, before.get(one.first or 0), one.second, after.get(one.second or 0))
            for one in page.movers
        ],
    )
