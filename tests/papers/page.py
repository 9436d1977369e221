"""``python -m tests.papers.page``: the list in ``docs/papers.md``, made from the code and the kept results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from manyview.papers.catalog import PAPERS
from manyview.papers.runner import slug
from manyview.papers.tables import Paper, Scale, Table, printed

from .made import task
from .parts import PARTS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "papers.md"
KEPT = ROOT / "benchmarks" / "results" / "papers"
START, END = "<!-- made by `python -m tests.papers.page` -->\n", "<!-- end -->"
PARTED, PARTED_END = "<!-- parts, made likewise -->\n", "<!-- end of parts -->"
MISSING, MISSING_END = "<!-- missing views and labels, made likewise -->\n", "<!-- end of missing views and labels -->"
# The row that stands for the paper's own method: the first of these that a table has, by the printed name or by ours.
OWN = {
    "rmkmc": ("RMKMC",),
    "ghf-art": ("GHF-ART", "GHF-ART, adaptive weights", "Whole Set, AP", "GHF-ART, {items} items"),
    "aplsa": ("aPLSA",),
    "hml-rf": (
        "HML-RF",
        "TagForest: HML-RF, the settings above",
        "2",
        "NUS-WIDE, 2-Layers Hierarchy Tags",
        "HML-RF(AM)",
    ),
    "cca-ahkmc": ("fused, R=128", "fused, R=64"),
    "missing": ("ConsensusClustering", "TagCompleter"),
}
# By which figure, where it is not the first that is printed: of the losses, that of half of the tags.
PLACED = {("hml-rf", "table 3"): "50%"}
# What the own row of a table is judged by, where no paper's figures stand beside it.
TELLING = {"missing": ("NMI 30%", "ACC 30%", "AP, new items")}


def page() -> str:
    """The page with its list made anew."""
    text = PAGE.read_text(encoding="utf-8")
    text = _between(text, START, END, _lists())
    text = _between(text, PARTED, PARTED_END, _parts())
    return _between(text, MISSING, MISSING_END, _incomplete())


def _between(text: str, start: str, end: str, new: str) -> str:
    before, rest = text.split(start)
    return before + start + new + end + rest.split(end, 1)[1]


def _parts() -> str:
    """Every part of a paper with the tests that hold it."""
    lines = ["\n| paper | part | here | held by | verdict |", "| --- | --- | --- | --- | --- |"]
    for one in PARTS:
        held = ", ".join(f"`{test.rpartition('/')[2].replace('::', ': ')}`" for test in one.held)
        where = f"`{one.where}`" if one.where else ""
        lines.append(f"| {one.paper} | {one.part} | {where} | {held} | {one.verdict} |")
    return "\n".join(lines) + "\n"


def _incomplete() -> str:
    """What was kept of missing views, by share on the numerals and by collection elsewhere, and of missing labels."""
    kept = {
        (table.number, table.on): json.loads(path.read_text(encoding="utf-8"))
        for paper in PAPERS
        if paper.name == "missing"
        for table in paper.tables
        if (path := KEPT / f"{slug(paper.name, table, Scale())}.json").is_file()
    }
    views = {on: summary for (number, on), summary in kept.items() if number == "views"}
    parts = []
    if "numerals" in views:
        parts.append(_by_method(f"Numerals, {_draws(views['numerals'])}", {"": views["numerals"]}))
    for share in ("30%", "70%"):
        parts.append(_by_method(f"NMI, {share[:-1]} % of the views missing", views, (f"NMI {share}",)))
    labels = {on: summary for (number, on), summary in kept.items() if number == "labels"}
    parts.append(_by_method("Half of the views and half of the labels missing", labels))
    return "\n".join(part for part in parts if part)


def _draws(summary: dict[str, Any]) -> str:
    """Every row of a table has the same draws."""
    (draws,) = {row["runs"] for row in summary["rows"]}
    return "one draw" if draws == 1 else f"mean of {draws} draws"


def _by_method(title: str, by_place: dict[str, Any], figures: tuple[str, ...] = ()) -> str:
    """A line for each method, a column for each collection and figure; the best of a column is bold."""
    columns = [(on, figure) for on, one in by_place.items() for figure in figures or one["figures"]]
    means: dict[str, dict[tuple[str, str], float]] = {}
    for on, summary in by_place.items():
        for row in summary["rows"]:
            found = {(on, key): one["mean"] for key, one in row["figures"].items() if "mean" in one}
            means.setdefault(row["name"], {}).update(found)
    if not columns:
        return ""
    best = {column: max(row[column] for row in means.values() if column in row) for column in columns}
    places = {on: on and f"{on}, {_draws(summary)}" for on, summary in by_place.items()}
    heads = [places[on] if len(figures) == 1 else f"{places[on]}: {figure}".strip(": ") for on, figure in columns]
    lines = [f"\n| {title} | {' | '.join(heads)} |", "| --- |" + " --- |" * len(columns)]
    for name, row in means.items():
        lines.append(f"| {name} | " + " | ".join(_shown(row.get(column), best[column]) for column in columns) + " |")
    return "\n".join(lines) + "\n"


def _shown(value: float | None, best: float) -> str:
    if value is None:
        return ""
    shown = f"{value:.3f}".lstrip("0") if value < 1 else "1.000"
    return f"**{shown}**" if value == best else shown


def _lists() -> str:
    return "".join(_list(paper) for paper in PAPERS)


def _list(paper: Paper) -> str:
    lines = [
        f"\n### `{paper.name}`: {paper.title}\n",
        "| part | on | rows, curves | printed rows that are not run | kept: ours / the paper's | verdict |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for table in paper.tables:
        parts = ", ".join((table.name, *table.also))
        cells = (parts, table.on, _counted(paper, table), _missing(paper, table), _kept(paper, table))
        lines.append(f"| {' | '.join((*cells, _verdict(paper, table)))} |")
    lines += [f"| {absent.name} | {absent.title} | | | | not run: {absent.why} |" for absent in paper.absent]
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
        summary = _summary(paper, table, protocol)
        if summary is not None:
            runs = "one run" if summary["seeds"] == 1 else f"{summary['seeds']} runs"
            parts.append(f"{protocol}, {runs}: {_figures(paper, summary)}")
    return "; ".join(parts)


def _verdict(paper: Paper, table: Table) -> str:
    """Read from the kept run, by the paper's protocol where there is one: the place of the paper's own method."""
    summaries = [_summary(paper, table, protocol) for protocol in ("paper", "defaults")]
    summary = next((one for one in summaries if one), None)
    if summary is None:
        return "runs; no full run is kept"
    own = own_row(paper.name, summary["rows"])
    shown = [name for name, one in own["figures"].items() if "published" in one]
    if not shown:
        return "no figures are printed for it"
    figure = PLACED.get((paper.name, table.name), shown[0])
    of = [row["figures"][figure] for row in summary["rows"] if row["runs"] and row["published"]]
    sign = -1 if figure in summary["lower_is_better"] else 1
    both = [one for one in of if "mean" in one and "published" in one]
    mine = own["figures"][figure]
    place, theirs = (1 + sum(sign * one[key] > sign * mine[key] for one in both) for key in ("mean", "published"))
    said = f"by {figure} place {place} of {len(both)}, in the paper {theirs}"
    return f"same data: {mine['difference']:+.3f} {figure}; {said}" if "difference" in mine else f"other data: {said}"


def _summary(paper: Paper, table: Table, protocol: str) -> dict[str, Any] | None:
    path = KEPT / f"{slug(paper.name, table, Scale(protocol))}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def own_row(paper: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The row of the paper's own method; no other method's figures are ever shown in its place."""
    ran = [row for row in rows if row["runs"]]
    for wanted in OWN[paper]:
        pattern = re.escape(wanted).replace(re.escape("{items}"), r"\d+")
        for row in ran:
            if any(re.fullmatch(pattern, name) for name in (row["published"], row["name"])):
                return row
    raise LookupError(f"none of {OWN[paper]} is a row of {paper}; its rows are {[row['name'] for row in ran]}")


def _figures(paper: Paper, summary: dict[str, Any]) -> str:
    row = own_row(paper.name, summary["rows"])
    names = summary["figures"]
    telling = TELLING.get(paper.name, ("overall",) if "overall" in names else names[:1])
    figures = {key: one for key, one in row["figures"].items() if "published" in one}
    figures = figures or {key: row["figures"][key] for key in telling if key in row["figures"]}
    shown = []
    for key, one in list(figures.items())[:3]:
        beside = f" / {one['published']:.3f}" if "published" in one else ""
        shown.append(f"{key} {one['mean']:.3f}{beside}")
    named = "" if OWN[paper.name][0] in (row["published"], row["name"]) else f"{row['name']}: "
    return named + ", ".join(shown)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
