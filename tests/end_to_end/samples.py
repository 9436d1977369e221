"""A dozen small pictures of two kinds, with tags in a table, and one file that is no picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image


def make_pictures(folder: Path) -> Path:
    """Six reddish discs and six blue stripes as PNG, a table with their tags; the path of the table."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:64, :64]
    lines = ["file,words,caption"]
    for number in range(12):
        if number < 6:
            disc = (x - 32) ** 2 + (y - 32) ** 2 < (14 + 2 * number) ** 2
            pixels = np.where(disc[..., None], (220, 40 + 5 * number, 30), (250, 250, 240))
            tags = "disc;red" if number % 2 else "disc"
        else:
            stripes = (x + 3 * number) // (4 + number % 3) % 2 == 0
            pixels = np.where(stripes[..., None], (20, 30, 180 + 5 * number), (240, 240, 255))
            tags = "stripes;blau" if number % 2 else "stripes"
        pixels = np.clip(pixels + rng.integers(-8, 9, pixels.shape), 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number:02d}.png")
        lines.append(f"{number:02d}.png,{tags if number not in (2, 9) else ''},")
    table = folder / "pictures.csv"
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return table
