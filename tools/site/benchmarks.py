"""What was measured, as charts: read from the kept results at every build, by the code that draws our reports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from manyview.report.charts import dot_chart, line_chart

from .sections import ROOT
from .staging import write

__all__ = ["write_plots"]

RESULTS = ROOT / "benchmarks" / "results"


def write_plots(target: Path) -> None:
    """The page of plots."""
    parts = [
        "# Plots",
        "",
        "Drawn from `benchmarks/results/*.json` when this site was built. Dots are means, bands one deviation.",
        "How each was measured is told in [benchmarks](benchmarks.md); the collections are public ones.",
        "",
    ]
    parts += _consensus() + _n_clusters() + _completion() + _growth() + _speed()
    write(target / "measured" / "plots.md", "\n".join(parts) + "\n")


def _kept(name: str) -> dict[str, Any]:
    stored: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return stored


def _consensus() -> list[str]:
    kept = _kept("quality-consensus")
    ours, rows = "ConsensusClustering", []
    for table in kept["tables"]:
        by = {row["method"]: row for row in table["rows"]}
        plain = next((row for name, row in by.items() if name.startswith("k-means")), None)
        found = next((row for name, row in by.items() if name.startswith((ours, "consensus"))), None)
        if plain and found and "NMI" in found and ": Views" in table["title"]:
            mean, deviation = found["NMI"]
            figure = {"mean": mean, "deviation": deviation, "published": plain["NMI"][0]}
            rows.append({"name": table["title"].split(":")[0], "figures": {"NMI": figure}})
    lines = _of_shares(kept, "lack views")
    parts = _section("Clusters", kept, "quality consensus")
    parts += _charts(
        [
            (
                "Agreement with the classes (NMI): dots the consensus, rings k-means on the same prepared views",
                dot_chart(rows, "NMI", beside=True),
            ),
            ("NMI by the share of views that items lack", line_chart(lines, "share missing, %", "NMI")),
            *[
                (table["title"].split(": NMI")[0] + ": NMI by share of items with tags", _few_tags(table))
                for table in _kept("quality-few_tags")["tables"]
            ],
        ]
    )
    return parts


def _of_shares(kept: Mapping[str, Any], words: str) -> list[dict[str, Any]]:
    table = next((table for table in kept["tables"] if words in table["title"] and "NMI" in table["title"]), None)
    return [] if table is None else [_shares(row, table["figures"]) for row in table["rows"]]


def _shares(row: Mapping[str, Any], figures: Iterable[str]) -> dict[str, Any]:
    points = [(float(name.strip(" %")), *row[name]) for name in figures if name in row and name.strip(" %").isdigit()]
    return {"name": row["method"], "points": points}


def _few_tags(table: Mapping[str, Any]) -> Any:
    lines = [_shares(row, table["figures"]) for row in table["rows"]]
    return line_chart(lines, "share of items with tags, %", "NMI")


def _n_clusters() -> list[str]:
    kept = _kept("quality-n_clusters")
    charts = []
    for table in kept["tables"]:
        rows = []
        for row in table["rows"]:
            if "found" in row and "true" in row:
                figure = {"mean": row["found"][0] / row["true"][0], "deviation": 0.0, "published": 1.0}
                rows.append({"name": f"{row['method']} ({row['true'][0]:.0f})", "figures": {"ratio": figure}})
        if rows:
            title = table["title"].split(":")[0]
            charts.append(
                (f"{title}: number found over the true one (ring: right)", dot_chart(rows, "ratio", beside=True))
            )
    return _section("How many clusters", kept, "quality n_clusters") + _charts(charts)


def _completion() -> list[str]:
    kept = _kept("quality-completion")
    charts = []
    for table in kept["tables"]:
        if "P@1" in table["figures"]:
            best = sorted(table["rows"], key=lambda row: -row["P@1"][0])[:6]
            lines = [
                {"name": row["method"], "points": [(n, *row[f"P@{n}"]) for n in range(1, 6) if f"P@{n}" in row]}
                for row in best
            ]
            title = table["title"].split(":")[0]
            charts.append(
                (f"{title}: share of the first proposals that is right", line_chart(lines, "proposals an item", "P@n"))
            )
    promises = _kept("quality-promises")
    for table in promises["tables"]:
        if table["figures"][:3] == ["n", "promised", "right"]:
            points = sorted(
                (row["promised"][0], *row["right"]) for row in table["rows"] if row["method"].startswith("from")
            )
            even = [(x, x, 0.0) for x, *_ in points]
            lines = [{"name": "right", "points": points}, {"name": "as promised", "points": even}]
            charts.append(
                (table["title"].split(":")[0] + ": right by what was promised", line_chart(lines, "promised", "right"))
            )
    return _section("Missing tags", kept, "quality completion") + _charts(charts)


def _growth() -> list[str]:
    charts = []
    for name in ("completion_growth", "forest_growth"):
        for table in _kept(f"quality-{name}")["tables"]:
            rows = [
                (int(found[1].replace(",", "")), row)
                for row in table["rows"]
                if (found := re.match(r"([\d,]+) items", row["method"]))
            ]
            for figure in table["figures"]:
                points = sorted((n, *row[figure]) for n, row in rows if figure in row)
                if figure in ("fit", "propose", "CPU s") and len({n for n, *_ in points}) > 2:
                    charts.append(
                        (
                            f"{table['title'].split(':')[0]}: {figure}, CPU s",
                            line_chart([{"name": figure, "points": points}], "items", "CPU s"),
                        )
                    )
    kept = _kept("quality-completion_growth")
    return _section("As a collection grows", kept, "quality completion_growth") + _charts(charts)


def _speed() -> list[str]:
    charts, kept = [], {}
    for name in ("rmkmc", "accelerated_kmeans", "fusion_art", "plsa", "tag_forest", "canonical_fusion", "consensus"):
        kept = _kept(name)
        for case in kept["cases"]:
            rows = [
                {"name": one["name"], "figures": {"seconds": {"mean": one["median"], "deviation": 0.0}}}
                for one in case["contenders"]
                if one.get("median") is not None
            ]
            charts.append((f"{name}: {case['name']}", dot_chart(rows, "seconds", beside=False)))
    return [
        *_section("Seconds beside the peers", kept, "benchmarks"),
        "Medians of several turns on one machine; left is faster. What each contender does and does not do is told",
        "in [benchmarks](benchmarks.md).",
        "",
        *_charts(charts),
    ]


def _section(title: str, kept: Mapping[str, Any], command: str) -> list[str]:
    called = f"python -m benchmarks.{command}" if command.startswith("quality") else f"python -m {command}"
    return [f"## {title}", "", f"`{called}`, run on {kept['date'][:10]}.", ""]


def _charts(charts: Sequence[tuple[str, Any]]) -> list[str]:
    drawn = [f"<div><p>{_escaped(title)}</p>{chart}</div>" for title, chart in charts if chart is not None]
    return ["```{raw} html", '<div class="charts">', *drawn, "</div>", "```", ""]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")
