"""The tables behind meaning: the picture network's classifier, its classes as sentences, and the photo words.

``tables.npz`` is made by ``tools/make_meaning_tables.py`` and holds

- ``weight`` (1000, 1280) float16 and ``bias`` (1000,) float32: the head that EfficientNet-Lite0 was trained with,
- ``classes`` (1000, 384): what each class is called, and its gloss, as a sentence vector,
- ``words`` (n_words, 384): the words of ``words.csv``, in its order,

the last two as bytes by row: ``classes_bytes * classes_scale``. It is read when it is first needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["PICTURE_MODEL", "TABLES", "Tables", "tables"]

TABLES = Path(__file__).parent / "tables.npz"
PICTURE_MODEL = "4e4da9c96442"
"""The first digits of the SHA-256 of the picture model whose rows the head reads, as a view's version holds them."""

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Tables:
    """What is read from the file, as numbers."""

    weight: Matrix
    """The classifier, one row of length 1280 per class."""
    bias: Matrix
    classes: Matrix
    """The classes as sentence vectors of 384 numbers, length one."""
    words: Matrix
    """The photo words as sentence vectors."""

    @cached_property
    def centred(self) -> Matrix:
        """The classifier without what all classes have in common."""
        found: Matrix = self.weight - self.weight.mean(axis=0)
        return found

    @cached_property
    def mean_class(self) -> Matrix:
        """The mean of the classes' vectors: how near a text is to anything at all is its product with this."""
        found: Matrix = self.classes.mean(axis=0)
        return found


@cache
def tables() -> Tables:
    """The tables that ship with manyview."""
    with np.load(TABLES, allow_pickle=False) as stored:
        return Tables(
            weight=stored["weight"].astype(np.float32),
            bias=stored["bias"],
            classes=_unpacked(stored["classes_bytes"], stored["classes_scale"]),
            words=_unpacked(stored["words_bytes"], stored["words_scale"]),
        )


def _unpacked(packed: NDArray[np.int8], scale: Matrix) -> Matrix:
    rows = packed * scale[:, None]
    found: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found
