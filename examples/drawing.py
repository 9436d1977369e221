"""Pictures in rows, and colours that go together: what the examples draw with. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

COLOURS = ("#0b63c5", "#d0720c", "#12805c", "#a5378f", "#8a6d00", "#5a6472")
INK, QUIET, LINE = "#1b1f24", "#59636e", "#e0e4e8"

plt.rcParams.update(
    {
        "axes.prop_cycle": plt.cycler(color=COLOURS),
        "axes.edgecolor": LINE,
        "axes.labelcolor": QUIET,
        "axes.titlecolor": INK,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "figure.dpi": 120,
        "font.size": 10,
        "grid.color": LINE,
        "legend.frameon": False,
        "text.color": INK,
        "xtick.color": QUIET,
        "ytick.color": QUIET,
        "savefig.transparent": True,
        "svg.hashsalt": "manyview",
    }
)


def panels(n: int = 1, height: float = 2.8) -> Any:
    """One axes, or several side by side."""
    _, axes = plt.subplots(1, n, figsize=(8, height), layout="constrained")
    return axes


def bars(names: Sequence[str], values: Sequence[float], title: str, *, strong: int | None = None) -> Any:
    """Bars from left to right with their values; one of them may be ``strong``."""
    axes = panels(height=0.42 * len(names) + 0.7)
    colours = [COLOURS[0] if strong in (None, number) else COLOURS[5] for number in range(len(names))]
    drawn = axes.barh(np.arange(len(names)), values, color=colours, height=0.62)
    axes.bar_label(drawn, fmt="%.2f", padding=4, color=QUIET)
    axes.set_yticks(np.arange(len(names)), names)
    axes.invert_yaxis()
    axes.set_title(title)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)
    axes.xaxis.set_visible(False)
    return axes


def rows_of_pictures(
    rows: Mapping[str, Sequence[Any]], *, width: int = 8, under: Mapping[str, Sequence[str]] | None = None
) -> Any:
    """A row for each name: pictures as files or arrays, cut to squares; ``under`` has a word for each."""
    tall = 1.28 if under else 1.0
    figure, grid = plt.subplots(
        len(rows), width, figsize=(8, len(rows) * (tall + 0.26)), squeeze=False, layout="constrained"
    )
    figure.get_layout_engine().set(wspace=0.02, hspace=0.02, w_pad=0.02, h_pad=0.03)
    for line, (name, pictures) in zip(grid, rows.items(), strict=True):
        line[0].set_title(name)
        for place, axes in enumerate(line):
            axes.axis("off")
            if place < len(pictures):
                axes.imshow(_square(pictures[place]), cmap="gray_r")
                if under:
                    axes.text(0.5, -0.06, under[name][place], transform=axes.transAxes, ha="center", va="top", size=8)
    return figure


def _square(picture: Any) -> Any:
    if isinstance(picture, np.ndarray):
        return picture
    with Image.open(picture) as opened:
        upright = opened.convert("RGB")
    side = min(upright.size)
    left, top = (upright.width - side) // 2, (upright.height - side) // 2
    return np.asarray(upright.crop((left, top, left + side, top + side)).resize((160, 160)))
