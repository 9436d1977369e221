"""``python -m benchmarks.quality [TABLE ...] [--quick]``: quality on real collections, next to honest baselines."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from . import table

MACHINERY = {"__init__", "__main__", "collections", "table"}


def main() -> int:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in MACHINERY)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description="Quality on real collections.")
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"all by default: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="few runs: does it all work? Not for numbers")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.tables) - set(names))
    if unknown:
        parser.error(f"no table named {', '.join(unknown)}; there are: {', '.join(names)}")
    for name in arguments.tables or names:
        tables = []
        for made in importlib.import_module(f"benchmarks.quality.{name}").tables(arguments.quick):
            print(f"\n{made.text()}", flush=True)
            tables.append(made)
            if not arguments.quick:  # kept one by one: a long run that is cut off leaves what it has
                table.keep(name, tables)
        if not arguments.quick:
            print(f"\nkept in benchmarks/results/quality-{name}.json", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
