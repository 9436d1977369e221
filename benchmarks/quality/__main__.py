"""``python -m benchmarks.quality [TABLE ...] [--quick]``: quality on real collections, next to honest baselines."""

from __future__ import annotations

import importlib
from pathlib import Path

from ..command import chosen, end
from . import table

MACHINERY = {"__init__", "__main__", "collections", "draws", "meaning_judges", "nemo", "paper", "pictures", "table"}
FLAGS = {
    "quick": "few runs: does it all work? Not for numbers",
    "leave-one-out": "choose constants without each collection in turn (consensus)",
}


def main() -> None:
    asked = chosen(
        "python -m benchmarks.quality", "Quality on real collections.", Path(__file__).parent, MACHINERY, FLAGS
    )
    for name in asked.names:
        tables = []
        module = importlib.import_module(f"benchmarks.quality.{name}")
        if asked.leave_one_out:
            for made in module.leave_one_out() if hasattr(module, "leave_one_out") else ():
                print(f"\n{made.text()}", flush=True)
            continue
        for made in module.tables(asked.quick):
            print(f"\n{made.text()}", flush=True)
            tables.append(made)
            if not asked.quick:  # kept one by one: a long run that is cut off leaves what it has
                table.keep(name, tables)
        if not asked.quick:
            print(f"\nkept in benchmarks/results/quality-{name}.json", flush=True)


if __name__ == "__main__":
    end(main)
