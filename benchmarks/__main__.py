"""``python -m benchmarks [SUITE ...] [--quick] [--large]``: time manyview beside its peers."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from . import table
from .harness import run_suite

MACHINERY = {"__init__", "__main__", "environments", "harness", "table", "talk", "worker"}


def main() -> int:
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in MACHINERY)
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Time manyview beside its peers.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"all by default: {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="small data: does it all run? Not for numbers")
    parser.add_argument("--large", action="store_true", help="also inputs of several GB, memory-mapped from disk")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.suites) - set(names))
    if unknown:
        parser.error(f"no suite named {', '.join(unknown)}; there are: {', '.join(names)}")
    for suite in arguments.suites or names:
        about = table.machine()
        cases = importlib.import_module(f"benchmarks.{suite}").cases(arguments.quick, arguments.large)
        results = run_suite(suite, cases)
        path = table.keep(suite, arguments.quick, about, results)
        print(f"\n{suite}: {table.text(about, results)}\n\nkept in benchmarks/results/{path.name}", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
