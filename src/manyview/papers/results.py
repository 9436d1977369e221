"""From finished cells to a table: means, deviations, what was printed, the difference, curves, tests; and as text."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from .._version import __version__
from .tables import Best, Printed, Row, Scale, Study, Table, Task, printed

__all__ = ["summed_up", "text"]

Cells = Mapping[tuple[str, int], Mapping[str, Any]]


def summed_up(
    paper: str,
    table: Table,
    task: Task,
    rows: Sequence[Row],
    wanted: Sequence[tuple[Row, int]],
    cells: Cells,
    scale: Scale,
) -> dict[str, Any]:
    """All that a page or a program needs, as plain numbers, words and lists."""
    chosen = table.best if scale.as_printed else ()  # our own defaults choose nothing with the classes
    table = replace(table, figures=task.figures or table.figures, best=chosen)
    runs: dict[str, list[Mapping[str, Any]]] = {row.name: [] for row in rows}
    for row, seed in wanted:
        if (row.name, seed) in cells:
            runs[row.name].append(cells[row.name, seed])
    reference, tables = printed(paper)
    known = tables.get(table.published or table.name)
    lines = [_line(row.name, row.published, runs[row.name], table, known) for row in rows if row.is_line]
    lines += [_best(best, rows, runs, table, known) for best in table.best]
    return {
        "paper": paper,
        "reference": reference,
        "table": table.name,
        "on": table.on,
        "title": table.title,
        "place": known.place if known else "",
        "data": task.words,
        "protocol": scale.protocol,
        "words": table.protocol[scale.protocol],
        "quick": scale.quick,
        "seeds": table.n_seeds(scale),
        "figures": list(table.figures),
        "lower_is_better": sorted(table.lower_is_better),
        "neutral": sorted(table.neutral & set(table.figures)),
        "same_data": table.same_data,
        "versus": table.versus,
        "rows": lines + _not_run(rows, table, known),
        "studies": [_study(study, rows, runs) for study in table.studies],
        "traces": _traces(rows, runs),
        "confusions": _confusions(task, rows, runs),
        "samples": [
            {"row": row.name, "clusters": cell["samples"]}
            for row in rows
            for cell in runs[row.name]
            if "samples" in cell
        ],
        "failed": _failed(rows, runs),
        "tests": _tests(table, runs),
        "network": table.network(task) if table.network else None,
        "made": _made(),
    }


def _made() -> dict[str, str]:
    import scipy
    import sklearn

    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "manyview": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _line(
    name: str, published: str, runs: Sequence[Mapping[str, Any]], table: Table, known: Printed | None
) -> dict[str, Any]:
    beside = known.rows.get(published, {}) if known else {}
    figures = {}
    for figure in table.figures:
        values = _values(runs, figure)
        one: dict[str, float | None] = {}
        if values:
            one = {"mean": float(np.mean(values)), "deviation": float(np.std(values))}
        if figure in beside:
            one["published"], one["published_deviation"] = beside[figure]
            if values and table.same_data:
                one["difference"] = float(np.mean(values)) - beside[figure][0]
        if one:
            figures[figure] = one
    seconds = [run["seconds"] for run in runs]
    return {
        "name": name,
        "published": published,
        "runs": len(runs),
        "seconds": float(np.mean(seconds)) if seconds else None,
        "figures": figures,
    }


def _best(
    best: Best, rows: Sequence[Row], runs: Mapping[str, Any], table: Table, known: Printed | None
) -> dict[str, Any]:
    points = [row for row in rows if row.study == best.study and row.line == best.line and runs[row.name]]
    if not points:
        return _line(best.name, best.published, [], table, known)
    chosen = max(points, key=lambda row: np.mean([run["figures"][best.figure] for run in runs[row.name]]))
    return _line(f"{best.name} ({chosen.x:.4g})", best.published, runs[chosen.name], table, known)


def _not_run(rows: Sequence[Row], table: Table, known: Printed | None) -> list[dict[str, Any]]:
    """The printed rows that none of ours stands beside."""
    if known is None:
        return []
    beside = {row.published for row in rows} | {best.published for best in table.best}
    return [_line(name, name, [], table, known) for name in known.rows if name not in beside]


def _study(study: Study, rows: Sequence[Row], runs: Mapping[str, Any]) -> dict[str, Any]:
    lines: dict[tuple[str, str], list[list[float]]] = {}
    for row in rows:
        if row.study != (study.of or study.name) or row.x is None or not runs[row.name]:
            continue
        for figure in study.figures:
            values = _values(runs[row.name], figure)
            if values:
                point = [float(row.x), float(np.mean(values)), float(np.std(values))]
                lines.setdefault((row.line, figure), []).append(point)
    _level(study, runs, lines)
    many = len(study.figures) > 1
    return {
        "name": study.name,
        "title": study.title,
        "x": study.x,
        "y": " and ".join(study.figures),
        "log": study.log,
        "note": study.note,
        "lines": [
            {
                "name": ", ".join(part for part in (line, figure if many else "") if part) or figure,
                "points": sorted(points),
            }
            for (line, figure), points in lines.items()
        ],
    }


def _level(study: Study, runs: Mapping[str, Any], lines: dict[tuple[str, str], list[list[float]]]) -> None:
    """The row that the curve is compared with, over the whole width."""
    places = [x for points in lines.values() for x, *_ in points]
    if not study.level or not places or not runs.get(study.level):
        return
    for figure in study.figures:
        values = _values(runs[study.level], figure)
        if values:
            spot = [float(np.mean(values)), float(np.std(values))]
            lines[study.level, figure] = [[min(places), *spot], [max(places), *spot]]


def _traces(rows: Sequence[Row], runs: Mapping[str, Any]) -> list[dict[str, Any]]:
    found: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        for run in runs[row.name]:
            for name, values in run.get("traces", {}).items():
                found.setdefault((row.name, name), []).append(values)
    return [
        {"row": row, "name": name, "x": curves[0]["x"], "points": _together(curves)}
        for (row, name), curves in found.items()
    ]


def _together(curves: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    """The mean and deviation of curves taken at the same places; otherwise the first of them."""
    points = [np.array(curve["points"]) for curve in curves]
    if len({tuple(one[:, 0]) for one in points}) > 1:
        points = points[:1]
    values = np.array([one[:, 1] for one in points])
    return np.c_[points[0][:, 0], values.mean(axis=0), values.std(axis=0)].round(6).tolist()


def _confusions(task: Task, rows: Sequence[Row], runs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Shares of each class, averaged over runs. The class without a name holds what is not judged: it is no row."""
    found = []
    named = [place for place, name in enumerate(task.class_names) if name]
    nameless = [place for place, name in enumerate(task.class_names) if not name]
    for row in rows:
        matrices = [np.array(run["confusion"]) for run in runs[row.name] if "confusion" in run]
        if matrices:
            mean = np.mean(matrices, axis=0)
            mean[:, -1] += mean[:, nameless].sum(axis=1)
            mean = mean[np.ix_(named, [*named, -1])]
            shares = mean / np.maximum(mean.sum(axis=1, keepdims=True), 1e-12)
            classes = [task.class_names[place] for place in named]
            found.append({"row": row.name, "classes": classes, "shares": shares.round(4).tolist()})
    return found


def _failed(rows: Sequence[Row], runs: Mapping[str, Any]) -> list[str]:
    """What other packages could not do, a sentence each."""
    return [
        f"{row.name}, run {cell['seed'] + 1}: {words}"
        for row in rows
        for cell in runs[row.name]
        for words in cell.get("failed", ())
    ]


def _tests(table: Table, runs: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Welch's t-test between the runs of two rows, for each figure; None where both never vary."""
    from scipy.stats import ttest_ind

    found = []
    for first, second, figure in [(*pair, figure) for pair in table.compared for figure in table.figures]:
        a, b = (_values(runs.get(name, []), figure) for name in (first, second))
        if min(len(a), len(b)) > 1:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of runs that hardly vary; the answer is then "chance" or "never"
                p = float(ttest_ind(a, b, equal_var=False).pvalue) if np.ptp(a) + np.ptp(b) > 0 else None
            found.append({"rows": [first, second], "figure": figure, "p": p})
    return found


def _values(runs: Sequence[Mapping[str, Any]], figure: str) -> list[float]:
    return [run["figures"][figure] for run in runs if figure in run["figures"]]


def text(summary: Mapping[str, Any]) -> str:
    """The table for people who read a terminal."""
    names = list(summary["figures"])
    header = ["", "runs", *names, *(["paper"] if any(_has(summary, "published")) else []), "seconds"]
    lines = [header]
    for row in summary["rows"]:
        cells = [row["name"], str(row["runs"] or "-"), *(_shown(row["figures"].get(name, {})) for name in names)]
        if "paper" in header:
            cells.append(_beside(row, names))
        lines.append([*cells, "" if row["seconds"] is None else f"{row['seconds']:.2f}"])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    body += ["", *summary["failed"]] if summary.get("failed") else []
    return "\n".join([f"{summary['title']}", f"{summary['data']}", "", *(f"  {line}".rstrip() for line in body)])


def _has(summary: Mapping[str, Any], key: str) -> list[bool]:
    return [key in figure for row in summary["rows"] for figure in row["figures"].values()]


def _shown(figure: Mapping[str, Any]) -> str:
    if "mean" not in figure:
        return "-"
    return f"{figure['mean']:.3f}" + (f" ± {figure['deviation']:.3f}" if figure["deviation"] else "")


def _beside(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """What the paper prints for these figures, with our difference where the data are the same."""
    parts = []
    for name in names:
        figure = row["figures"].get(name, {})
        if "published" in figure:
            apart = f" ({figure['difference']:+.3f})" if "difference" in figure else ""
            parts.append(f"{figure['published']:.3f}{apart}")
        else:
            parts.append("-")
    return " ".join(parts) if set(parts) != {"-"} else ""
