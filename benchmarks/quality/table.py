"""Rows of figures, printed for people and kept as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).resolve().parents[1] / "results"


@dataclass
class Table:
    """A title, the names of the figures, and a row of (mean, deviation) pairs per method; notes below."""

    title: str
    figures: tuple[str, ...]
    rows: list[dict[str, object]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, method: str, runs: list[dict[str, float]], published: str = "") -> None:
        """Add the mean and deviation of several runs of a method; a run that has no such figure (NaN) is left out."""
        values = {name: [run[name] for run in runs if not np.isnan(run[name])] for name in self.figures}
        self.rows.append(
            {
                "method": method,
                "n_runs": len(runs),
                **{name: [float(np.mean(v)), float(np.std(v))] if v else [None, None] for name, v in values.items()},
                "published": published,
            }
        )

    def text(self) -> str:
        cells = [["", "runs", *self.figures, "published"]]
        for row in self.rows:
            shown = []
            for name in self.figures:
                mean, deviation = row[name]
                spread = f" ± {deviation:.3f}" if row["n_runs"] > 1 and mean is not None else ""
                shown.append("-" if mean is None else f"{mean:.4f}{spread}")
            cells.append([str(row["method"]), str(row["n_runs"]), *shown, str(row["published"])])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells
        ]
        return "\n".join([self.title, "", *(f"  {line}" for line in lines), *(f"\n  {note}" for note in self.notes)])


def keep(name: str, tables: list[Table]) -> Path:
    """Write tables as JSON, in place of those of the run before."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"quality-{name}.json"
    content = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "tables": [asdict(table) for table in tables]}
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    new.replace(path)
    return path
