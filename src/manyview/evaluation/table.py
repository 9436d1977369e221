"""Rows of figures with their deviations, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

__all__ = ["text_table"]


def text_table(title: str, rows: Mapping[str, Mapping[str, Sequence[float]]], figures: Sequence[str]) -> str:
    """A line per row: mean, and deviation where there are several values; a dash where a row lacks a figure."""
    cells = [["", *figures]]
    for name, values in rows.items():
        cells.append([name, *(_shown(values.get(figure, ())) for figure in figures)])
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([title, *lines])


def _shown(values: Sequence[float]) -> str:
    if not len(values):
        return "-"
    mean = f"{np.mean(values):.3f}"
    return f"{mean} ± {np.std(values):.3f}" if len(values) > 1 else mean
