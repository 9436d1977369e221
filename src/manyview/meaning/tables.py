"""The tables behind meaning: the picture network's classifier, its classes as sentences, and the photo words.

``tables.npz`` is made by ``tools/make_meaning_tables.py`` and holds

- ``weight`` (1000, 1280) float16 and ``bias`` (1000,) float32: the head that EfficientNet-Lite0 was trained with,
- ``classes`` (1000, 384): what each class is called, and its gloss, as a sentence vector,
- ``words`` (n_words, 384): the words of ``words.csv``, in its order,

the last two as bytes by row: ``classes_bytes * classes_scale``. ``languages.npz`` has the classes for the model of the
extra ``languages`` (1000, 512), in which there are no words. Each is read when it is first needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..errors import ViewError
from ..features.sentences import N_MANY, N_NUMBERS

__all__ = ["LANGUAGES_TABLE", "LIKELY", "PICTURE_MODEL", "TABLES", "Tables", "tables"]

TABLES = Path(__file__).parent / "tables.npz"
LANGUAGES_TABLE = TABLES.with_name("languages.npz")
PICTURE_MODEL = "4e4da9c96442"
"""The first digits of the SHA-256 of the picture model whose rows the head reads, as a view's version holds them."""

LIKELY = 0.45
"""The score from which on a picture likely shows what a text says."""
_LIKELY_IN_MANY = 0.38  # with the model of many languages: .86 of what is there is found, .95 of what is not refused

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Tables:
    """What is read from the file, as numbers."""

    weight: Matrix
    """The classifier, one row of length 1280 per class."""
    bias: Matrix
    classes: Matrix
    """The classes as sentence vectors, length one."""
    words: Matrix
    """The photo words as sentence vectors; none for the model of many languages."""
    likely: float
    """The score from which on a picture likely shows what a text says."""

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
def tables(n_numbers: int = N_NUMBERS) -> Tables:
    """The tables that ship with manyview, for sentence vectors of so many numbers."""
    if n_numbers == N_MANY:
        english = tables()
        with np.load(LANGUAGES_TABLE, allow_pickle=False) as stored:
            classes = _unpacked(stored["classes_bytes"], stored["classes_scale"])
        return Tables(english.weight, english.bias, classes, np.zeros((0, N_MANY), dtype=np.float32), _LIKELY_IN_MANY)
    if n_numbers != N_NUMBERS:
        raise ViewError(f"sentence vectors have {N_NUMBERS} numbers, or {N_MANY} in many languages; got {n_numbers}.")
    with np.load(TABLES, allow_pickle=False) as stored:
        return Tables(
            weight=stored["weight"].astype(np.float32),
            bias=stored["bias"],
            classes=_unpacked(stored["classes_bytes"], stored["classes_scale"]),
            words=_unpacked(stored["words_bytes"], stored["words_scale"]),
            likely=LIKELY,
        )


def _unpacked(packed: NDArray[np.int8], scale: Matrix) -> Matrix:
    rows = packed * scale[:, None]
    found: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found
