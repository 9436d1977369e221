"""``python -m benchmarks.scale [overhead] [dask_ml] [rows] [--items N ...]``: clusters, and rows in files.

Every case is kept by itself in results/scale.json; a run replaces the cases it ran.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from typing import Any

from .. import table

RESULTS = table.RESULTS / "scale.json"
CASES = ("overhead", "dask_ml", "rows")


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=(__doc__ or "").split("\n")[0])
    asked.add_argument("cases", nargs="*", metavar="CASE", help=f"{', '.join(CASES)}; all where none is named")
    asked.add_argument("--items", nargs="+", type=int, help="how many rows, in place of the usual numbers")
    asked.add_argument("--no-keep", action="store_true", help="print only")
    given = asked.parse_args()
    if strange := sorted(set(given.cases) - set(CASES)):
        asked.error(f"there is no case {', '.join(strange)}; there are {', '.join(CASES)}")
    for case in given.cases or CASES:
        about = table.machine()
        rows = run(case, given.items)
        print(case)
        for row in rows:
            print("  " + ", ".join(f"{name} {value}" for name, value in row.items()), flush=True)
        if not given.no_keep:
            keep(case, about, rows)


def run(case: str, items: list[int] | None) -> list[dict[str, Any]]:
    if case == "overhead":
        from .overhead import measure

        return measure(*(items or []))
    if case == "dask_ml":
        from .beside_dask_ml import compare

        return [compare(n) for n in items or (100_000, 1_000_000)]
    from .rows import growth

    return growth(items or [100_000, 1_000_000, 10_000_000])


def keep(case: str, about: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    known[case] = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "machine": about, "rows": rows}
    new = RESULTS.with_suffix(".new")
    new.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    new.replace(RESULTS)


if __name__ == "__main__":
    main()
