"""Runs the promises of tests/promises.py at the counts of a release, part by part, and keeps what came out.

    python -m tests.torture                    every part, for hours
    python -m tests.torture kills faults       these alone
    python -m tests.torture --list             which parts there are
    python -m tests.torture --counts ci        the counts of a change
    python -m tests.torture --table PAGE       write the table into this page too, at the end
    python -m tests.torture --only-table       write the table of docs/reliability.md and run nothing
    python -m tests.torture --corpus FOLDER    somebody's files through the whole way

A count that the environment sets already stands: ``MANYVIEW_KILLS=50 python -m tests.torture kills``. Rows go to
docs/reliability.json, the newest of each part into the table.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from .promises import PARTS, Part

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "reliability.json"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- table: python -m tests.torture --only-table -->", "<!-- end of table -->"


def main() -> int:
    asked = argparse.ArgumentParser(prog="python -m tests.torture", description=(__doc__ or "").split("\n")[0])
    asked.add_argument("parts", nargs="*", metavar="PART", help="the parts to run; all where none is named")
    asked.add_argument("--list", action="store_true", help="say which parts there are")
    asked.add_argument("--counts", choices=["ci", "full"], default="full", help="those of a change, or of a release")
    asked.add_argument("--table", type=Path, help="write the table into this page too, at the end")
    asked.add_argument("--only-table", action="store_true", help="write the table of docs/reliability.md, run nothing")
    asked.add_argument("--corpus", type=Path, help="a folder of files for the part 'corpus'")
    asked.add_argument("--no-keep", action="store_true", help="keep no row")
    given = asked.parse_args()
    if strange := sorted(set(given.parts) - {part.name for part in PARTS}):
        asked.error(f"there is no part {', '.join(strange)}; --list says which there are")
    if given.list:
        for part in PARTS:
            numbers = ", ".join(map(str, part.promises))
            print(f"{part.name:14} {numbers:>6}  {part.minutes:>3g} min  {part.what}")
        return 0
    if given.only_table:
        write_table(given.table or PAGE)
        return 0
    names = given.parts or (["corpus"] if given.corpus else [part.name for part in PARTS])
    if given.corpus:
        os.environ["MANYVIEW_CORPUS"] = str(given.corpus.absolute())
    broken = 0
    for part in PARTS:
        if part.name in names:
            row = run(part, given.counts)
            broken += row["verdict"] != "held"
            if not given.no_keep:
                keep(row)
            print(f"{part.name}: {row['count']:,} {row['unit']}, {row['verdict']} ({row['seconds']:.0f} s)", flush=True)
    if given.table is not None:
        write_table(given.table)
    return 1 if broken else 0


def run(part: Part, counts: str) -> dict[str, Any]:
    """Run the tests of a part; its row."""
    wanted = {name: os.environ.get(name, str(pair[counts == "full"])) for name, pair in part.counts.items()}
    nodes = [f"tests/{node}" for node in part.nodes]
    print(f"{part.name}: {' '.join(f'{name}={n}' for name, n in wanted.items())} {' '.join(nodes)}", flush=True)
    if part.needs:
        subprocess.run(
            [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", *part.needs], check=True
        )
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory(prefix="manyview-torture-") as folder:
        report = Path(folder) / "report.xml"
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--no-header", f"--junitxml={report}", "-o",
             "junit_family=legacy", f"--basetemp={folder}/tests", *nodes],
            cwd=ROOT,
            env={**os.environ, **one_thread, **wanted, "MANYVIEW_BROWSER": "required"},
            check=False,
        )  # fmt: skip
        seconds = time.monotonic() - began
        n_cases, counted, figures, n_failed, skipped = read_report(report) if report.exists() else (0, 0, {}, 1, [])
    verdict = "held" if done.returncode == 0 and n_cases else f"BROKEN: {n_failed} of {n_cases} failed"
    if verdict == "held" and skipped:
        verdict = f"held, but {len(skipped)} of {n_cases} skipped"
    return {
        "part": part.name,
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit(),
        "counts": {name: int(n) for name, n in wanted.items()},
        "count": counted or n_cases - len(skipped),
        "unit": part.unit if counted else "cases",
        "figures": figures,
        "seconds": round(seconds, 1),
        "verdict": verdict,
        "skipped": skipped,
    }


def read_report(path: Path) -> tuple[int, int, dict[str, str], int, list[str]]:
    """Of what pytest wrote down: tests, the sum of what they counted, other figures, failures, and why some were
    skipped."""
    cases = list(ElementTree.parse(path).iter("testcase"))  # noqa: S314  our own file
    said = [(one.get("name", ""), one.get("value", "")) for case in cases for one in case.iter("property")]
    counted = sum(int(value) for name, value in said if name == "count")
    figures = {name: value for name, value in said if name != "count"}
    failed = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    skipped = [str(found.get("message")) for case in cases if (found := case.find("skipped")) is not None]
    return len(cases), counted, figures, failed, skipped


def commit() -> str:
    """The state of the code, with a plus where something was changed since."""
    git = ["git", "-C", str(ROOT)]
    short = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout
    changed = subprocess.run(
        [*git, "status", "--porcelain", "--", "src", "tests"], capture_output=True, text=True, check=False
    ).stdout
    return short.strip() + "+" * bool(changed.strip())


# --- what came out ---


def rows() -> list[dict[str, Any]]:
    return list(json.loads(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else []


def keep(row: dict[str, Any]) -> None:
    """Append a row; one line each, so that changes are easy to read."""
    lines = ",\n".join(json.dumps(one) for one in [*rows(), row])
    new = RESULTS.with_suffix(".new")
    new.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    new.replace(RESULTS)


def table() -> str:
    """The newest row of every part, as Markdown."""
    newest = {row["part"]: row for row in rows()}
    lines = ["| promise | what | tried | verdict | date | commit |", "| --- | --- | --- | --- | --- | --- |"]
    for part in sorted(PARTS, key=lambda part: part.promises):
        numbers = ", ".join(map(str, part.promises))
        row = newest.get(part.name)
        still = f"; open: {part.is_open}" if part.is_open else ""
        if row is None:
            lines.append(f"| {numbers} | {part.what}{still} | | not run yet | | |")
            continue
        smaller = [
            f"{name.removeprefix('MANYVIEW_').lower().replace('_', ' ')} {n:,} of {part.counts[name][1]:,}"
            for name, n in row["counts"].items()
            if name in part.counts and is_less(n, part.counts[name])
        ]
        figures = [f"{name} {value}" for name, value in row.get("figures", {}).items()]
        brackets = f" ({', '.join([*smaller, *figures])})" if smaller or figures else ""
        tried = f"{row['count']:,} {row['unit']}{brackets}"
        lines.append(
            f"| {numbers} | {part.what}{still} | {tried} | {row['verdict']} | {row['date']} | {row['commit']} |"
        )
    return "\n".join(lines)


def is_less(n: int, pair: tuple[int, int]) -> bool:
    """Is a count smaller than that of a release? Some go down: every 61st call, every call."""
    ci, full = pair
    return n < full if ci < full else n > full


def write_table(page: Path) -> None:
    """Put the table between its marks."""
    text = page.read_text(encoding="utf-8")
    mark = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not mark.search(text):
        raise SystemExit(f"{page} has no place for the table: {BEGIN} ... {END}")
    page.write_text(mark.sub(lambda _: f"{BEGIN}\n{table()}\n{END}", text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
