"""The papers' tables as quality tables, run by the code of ``manyview papers``; cells are kept under ``.bench``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from manyview.papers.catalog import asked_for
from manyview.papers.runner import run_table
from manyview.papers.sources import Sources
from manyview.papers.tables import Scale

from ..environments import BENCH
from .collections import data_folder
from .table import Table


def paper_tables(
    paper: str,
    quick: bool,
    *,
    protocols: tuple[str, ...] = ("paper", "defaults"),
    interpreters: Mapping[str, str] | None = None,
) -> Iterator[Table]:
    """Every table of a paper that can be run, by each protocol; the curves of its figures are the pages' alone."""
    sources = Sources(data_folder(), BENCH / "features", interpreters or {})
    for found, table in asked_for(paper):
        missing = sources.missing(table.needs)
        if missing:
            yield Table(f"{table.title}: no {' and '.join(missing)} in MANYVIEW_DATA", table.figures)
            continue
        for protocol in protocols:
            summary, _ = run_table(found.name, table, sources, Scale(protocol, quick), BENCH / "papers")
            yield as_table(summary)


def as_table(summary: Mapping[str, Any]) -> Table:
    """A summary as a table: mean and deviation of our rows, what the paper prints beside them."""
    said = {"paper": "the paper's protocol", "defaults": "our defaults"}[summary["protocol"]]
    table = Table(f"{summary['title']}; {summary['data']}; {said}", tuple(summary["figures"]))
    for row in summary["rows"]:
        if row["runs"]:
            found = {name: row["figures"].get(name, {}) for name in table.figures}
            printed = [f"{one['published']:.4g}" if "published" in one else "-" for one in found.values()]
            pairs = {name: [one.get("mean"), one.get("deviation")] for name, one in found.items()}
            beside = " ".join(printed) if set(printed) != {"-"} else ""
            table.rows.append({"method": row["name"], "n_runs": row["runs"], **pairs, "published": beside})
    table.notes += [summary["words"], f"published: {summary['place']}. {summary['versus']}"]
    return table
