"""``python -m benchmarks [SUITE ...] [--quick] [--large]``: time manyview beside its peers."""

from __future__ import annotations

import importlib
from pathlib import Path

from . import table
from .command import chosen, end
from .harness import run_suite

MACHINERY = {"__init__", "__main__", "command", "environments", "harness", "table", "talk", "worker"}
FLAGS = {
    "quick": "small data: does it all run? Not for numbers",
    "large": "also inputs of several GB, memory-mapped from disk",
}


def main() -> None:
    asked = chosen("python -m benchmarks", "Time manyview beside its peers.", Path(__file__).parent, MACHINERY, FLAGS)
    for suite in asked.names:
        about = table.machine()
        cases = importlib.import_module(f"benchmarks.{suite}").cases(asked.quick, asked.large)
        results = run_suite(suite, cases)
        path = table.keep(suite, asked.quick, about, results)
        print(f"\n{suite}: {table.text(about, results)}\n\nkept in benchmarks/results/{path.name}", flush=True)


if __name__ == "__main__":
    end(main)
