"""Figures of the documentation come from the kept results, so that none is stale: ``python -m tools.figures`` fills.

A table is marked by a comment above it that says where its columns come from; other columns stay as they are written::

    <!-- kept: quality-consensus
    k-means = k-means, prepared views / NMI
    consensus = consensus, defaults / NMI
    row mean = mean over the collections
    -->
    | collection | k-means | consensus | what was chosen |

Here each row is a table of the results, found by how its title begins, and a column is one of its methods and a
figure. With a table's title behind the file (``kept: quality-consensus; items lack views``) each row is a method of
that table and a column a figure alone; ``*`` stands for whichever table has such a method. ``row A = B`` is for rows
that go by another name, ``row A = by hand`` for those that nothing kept; an empty cell stays empty. A single number is
marked in its line::

    **<!-- kept: quality-consensus; mean over the collections; consensus, defaults; NMI; .2f -->.69<!-- end -->**

What ``manyview papers`` left is asked for by its paper, ``kept: papers/missing``, of which every run is a table with a
title like "table views on numerals, paper" (the last word is the protocol); "NMI, printed" and "NMI, difference" are
figures too. What a graphics processor left, ``kept: device; milliseconds``, is one table with a row for each case. A
column that is of a table of its own names it: ``emoji = table 2 on emoji, defaults; NMI``.

The last part, and ``as ...`` behind a column, is how Python formats it, ``±`` for a mean with its deviation, or ``+-``
for a difference with its deviation; without, three digits behind the point.

A docstring has a list of its own, under a comment that readers of the docs do not see: each line begins with a method
of the results, and what is behind the colon is written by the comment's last part::

    .. kept: quality-completion_growth; *; {fit:.0f} and {MB:.0f}

    - 10,000 items x 1,280, 500 tags: 6 and 242
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["PAGES", "filled", "stale"]

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "src" / "manyview" / "completion" / "completer.py",
]
_BLOCK = re.compile(r"(<!-- kept: (?P<spec>[^>]*?)\n-->\n+)(?P<table>(?:\|.*(?:\n|\Z))+)")
_NUMBER = re.compile(r"(<!-- kept: (?P<spec>[^>\n]*?) -->)[^<\n]*(<!-- end -->)")
_LIST = re.compile(r"(?P<head> *\.\. kept: (?P<spec>.*)\n\n)(?P<lines>(?: *- .*\n)+)")


class NotKept(LookupError):
    """The documentation names a figure that no kept result has."""


def filled(text: str) -> str:
    """The text with every marked figure as the kept results have it."""
    text = _BLOCK.sub(lambda match: match[1] + _filled_table(match["spec"], match["table"]), text)
    text = _LIST.sub(lambda match: match["head"] + _filled_list(match["spec"], match["lines"]), text)
    return _NUMBER.sub(lambda match: match[1] + _number(match["spec"]) + match[3], text)


def stale() -> list[Path]:
    """Pages whose figures are not those of the kept results."""
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    return [page for page, text in texts.items() if filled(text) != text]


def _number(spec: str) -> str:
    parts = [part.strip() for part in spec.split(";")]
    file, table, row, figure, *form = parts
    return _said(_figure(_table(file, table), row, figure), form[0] if form else "")


def _filled_list(spec: str, lines: str) -> str:
    file, title, form = (part.strip() for part in spec.split(";", 2))
    names = re.findall(r"\{([^:}]*):([^}]*)\}", form)
    found = []
    for line in lines.splitlines(keepends=True):
        start, key = re.match(r"( *- )([^:]*):", line).groups()  # type: ignore[union-attr]
        said = form
        for name, how in names:
            said = said.replace(f"{{{name}:{how}}}", _cell(file, title, key, f"{name} as {how}"))
        found.append(f"{start}{key}: {said}\n")
    return "".join(found)


def _filled_table(spec: str, table: str) -> str:
    head, *lines = spec.splitlines()
    file, _, title = (part.strip() for part in head.partition(";"))
    rows, columns = {}, {}
    for line in filter(None, (line.strip() for line in lines)):
        name, _, source = (part.strip() for part in line.partition(" = "))
        if line.startswith("row "):
            rows[name.removeprefix("row ").strip()] = source
        else:
            columns[name] = source
    names, rule, *body = [_cells(line) for line in table.splitlines()]
    if lost := columns.keys() - set(names):
        raise NotKept(f"{file}: the table has no column {sorted(lost)}; its columns are {names}.")
    for cells in body:
        key = rows.get(cells[0].strip("* "), cells[0].strip("* "))
        for place, name in enumerate(names):
            if name in columns and cells[place] and key != "by hand":
                cells[place] = _cell(file, title, key, columns[name])
    lines = ["| " + " | ".join(cells) + " |\n" for cells in (names, rule, *body)]
    return "".join(lines).replace("|  |", "| |").replace("|  |", "| |")


def _cell(file: str, title: str, key: str, source: str) -> str:
    source, _, form = (part.strip() for part in source.partition(" as "))
    if ";" in source:
        title, source = (part.strip() for part in source.rsplit(";", 1))
    if title == "*":
        title = next((one["title"] for one in _kept(file)["tables"] if key in _methods(one)), title)
    if title:
        return _said(_figure(_table(file, title), key, source), form)
    method, _, figure = (part.strip() for part in source.rpartition(" / "))
    return _said(_figure(_table(file, key), method, figure), form)


def _said(figure: tuple[float, float], form: str) -> str:
    mean, deviation = figure
    if form == "±":
        return f"{_short(f'{mean:.3f}')} ± {_short(f'{deviation:.3f}')}"
    if form == "+-":
        return f"{_short(f'{mean:+.3f}')} ± {_short(f'{deviation:.3f}')}"
    words = format(mean, form or ".3f")
    return words.replace("%", " %") if "%" in words else _short(words) if form in ("", ".2f", ".3f", "+.3f") else words


def _short(words: str) -> str:
    """Without the zero before the point, as the tables have it."""
    return re.sub(r"^([+-]?)0\.", r"\1.", words)


def _table(file: str, title: str) -> dict[str, Any]:
    found = [table for table in _kept(file)["tables"] if re.split(r": |$", table["title"])[0] == title]
    found = found or [table for table in _kept(file)["tables"] if table["title"].startswith(title)]
    if len(found) != 1:
        raise NotKept(f"{file}: {len(found)} tables begin with {title!r}, expected one.")
    return found[0]


def _figure(table: dict[str, Any], method: str, figure: str) -> tuple[float, float]:
    for row in table["rows"]:
        if row["method"] == method and figure in row:
            mean, deviation = row[figure]
            return float(mean), float(deviation)
    raise NotKept(f"{table['title']!r} has no {figure!r} of {method!r}; it has {_methods(table)}.")


def _methods(table: dict[str, Any]) -> list[str]:
    return [row["method"] for row in table["rows"]]


@cache
def _kept(file: str) -> dict[str, Any]:
    if file.startswith("papers/"):
        return {"tables": [_paper_table(path) for path in sorted(RESULTS.glob(f"{file}-*.json"))]}
    stored: dict[str, Any] = json.loads((RESULTS / f"{file}.json").read_text(encoding="utf-8"))
    if "cases" in stored:
        return {"tables": [{"title": "milliseconds", "rows": [_timed(case) for case in stored["cases"]]}]}
    return stored


def _timed(case: dict[str, Any]) -> dict[str, Any]:
    """What a graphics processor took for a case, as a row of the other results."""
    found = {name: (took, 0.0) for name, took in case.items() if name.endswith("ms")}
    for way, seconds in case.get("seconds", {}).items():
        found |= {f"{way}, {step}": (1e3 * took, 0.0) for step, took in seconds.items()}
    return {"method": case["case"], **found}


def _paper_table(path: Path) -> dict[str, Any]:
    """A run of a paper's table in the form of the other results."""
    run = json.loads(path.read_text(encoding="utf-8"))
    rows = [{"method": row["name"], **_beside(row["figures"])} for row in run["rows"]]
    return {"title": f"{run['table']} on {run['on']}, {run['protocol']}", "rows": rows}


def _beside(figures: dict[str, Any]) -> dict[str, list[float]]:
    """Ours, the printed ones and the difference, by name."""
    found = {}
    for key, one in figures.items():
        if "mean" in one:
            found[key] = [one["mean"], one["deviation"]]
        if "published" in one:
            found[f"{key}, printed"] = [one["published"], one["published_deviation"] or 0.0]
        if "difference" in one:
            found[f"{key}, difference"] = [one["difference"], 0.0]
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


if __name__ == "__main__":
    for page in stale():
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(f"filled in: {page.relative_to(ROOT)}", file=sys.stderr)
