"""``python -m tests.papers.page``: the list in ``docs/papers.md``, made from the code and the kept results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from manyview.papers.catalog import PAPERS
from manyview.papers.runner import slug
from manyview.papers.tables import Paper, Scale, Table, printed

from .made import task

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "papers.md"
KEPT = ROOT / "benchmarks" / "results" / "papers"
START, END = "<!-- made by `python -m tests.papers.page` -->\n", "<!-- end -->"
# The row that stands for the paper's own method, by paper.
OWN = {"rmkmc": "RMKMC", "ghf-art": "GHF-ART", "aplsa": "aPLSA", "hml-rf": "HML-RF", "cca-ahkmc": "fused, R=128"}
# What the first row of a table is judged by, where no paper's figures stand beside it.
TELLING = {"missing": ("NMI 30%", "ACC 30%", "AP, new items")}


def page() -> str:
    """The page with its list made anew."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(START)
    return before + START + _lists() + END + rest.split(END)[1]


def _lists() -> str:
    return "".join(_list(paper) for paper in PAPERS)


def _list(paper: Paper) -> str:
    lines = [
        f"\n### `{paper.name}`: {paper.title}\n",
        "| part | on | rows, curves | printed rows that are not run | kept: ours / the paper's |",
        "| --- | --- | --- | --- | --- |",
    ]
    for table in paper.tables:
        parts = ", ".join((table.name, *table.also))
        lines.append(
            f"| {parts} | {table.on} | {_counted(paper, table)} | {_missing(paper, table)} | {_kept(paper, table)} |"
        )
    lines += [f"| {absent.name} | {absent.title} | not run: {absent.why} | | |" for absent in paper.absent]
    return "\n".join(lines) + "\n"


def _counted(paper: Paper, table: Table) -> str:
    rows = table.rows(task(paper.name, table), Scale())
    n_lines = sum(row.is_line for row in rows) + len(table.best)
    curves = ", ".join(study.name for study in table.studies)
    return f"{n_lines}" + (f"; {curves}" if curves else "")


def _missing(paper: Paper, table: Table) -> str:
    known = printed(paper.name)[1].get(table.published or table.name)
    if known is None:
        return ""
    rows = table.rows(task(paper.name, table), Scale())
    beside = {row.published for row in rows} | {best.published for best in table.best}
    # which sizes of the shared space there are depends on the data
    names = [name for name in known.rows if name not in beside and not name.startswith("fused")]
    short = ["all on tag scores" if name.endswith("tag scores") else name.split(",")[0] for name in names]
    return ", ".join(dict.fromkeys(short))


def _kept(paper: Paper, table: Table) -> str:
    parts = []
    for protocol in ("paper", "defaults"):
        path = KEPT / f"{slug(paper.name, table, Scale(protocol))}.json"
        if path.is_file():
            summary = json.loads(path.read_text(encoding="utf-8"))
            runs = "one run" if summary["seeds"] == 1 else f"{summary['seeds']} runs"
            parts.append(f"{protocol}, {runs}: {_figures(paper, summary)}")
    return "; ".join(parts)


def _figures(paper: Paper, summary: dict[str, Any]) -> str:
    row = next((row for row in summary["rows"] if row["runs"] and row["published"] == OWN.get(paper.name)), None)
    row = row or next(row for row in summary["rows"] if row["runs"])
    telling = TELLING.get(paper.name, summary["figures"][:1])
    figures = {key: one for key, one in row["figures"].items() if "published" in one}
    figures = figures or {key: row["figures"][key] for key in telling if key in row["figures"]}
    shown = []
    for key, one in list(figures.items())[:3]:
        beside = f" / {one['published']:.3f}" if "published" in one else ""
        shown.append(f"{key} {one['mean']:.3f}{beside}")
    return ", ".join(shown)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
