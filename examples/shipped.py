"""The photographs that ship with manyview, unpacked and looked at once: what several examples begin with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from manyview.datasets import unpack_photographs
from manyview.features import extractor


@dataclass
class Photographs:
    """228 photographs: their files, what they look like, the tags that half of them carry, and the tags of all."""

    files: list[Path]
    looks: np.ndarray
    tags: list[list[str]]  # as their files have them: half are empty
    truth: list[list[str]]  # for judging, never for learning


def photographs(folder: str = "demo-output") -> Photographs:
    """Unpack them, and describe each by the picture model that ships (about eight seconds, the first time)."""
    place = Path(folder)
    rows = unpack_photographs(place)
    files = [place / "photographs" / row["file"] for row in rows]
    truth = [row["tags"].split("; ") for row in rows]
    tags = [words if row["is_tagged"] == "1" else [] for words, row in zip(truth, rows, strict=True)]
    kept = place / "looks.npy"
    if not kept.exists():
        model = extractor("embedding")
        np.save(kept, np.concatenate([model.extract([Image.open(file)]) for file in files]))
    return Photographs(files, np.load(kept), tags, truth)
