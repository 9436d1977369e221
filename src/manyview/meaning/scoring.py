"""How well a text fits a picture: one number, from the picture and the text alone.

With ``x`` the picture's row of EfficientNet-Lite0 at length one, ``W`` and ``b`` the head it was trained with, ``C``
its 1000 classes as sentence vectors, and ``q`` a text as a sentence vector::

    p     = softmax(8 x W' + b), the 40 largest kept        what the network sees
    m     = p C, at length one                              the picture as a sentence
    w(q)  = softmax(q C' / 0.08) (W - mean row of W), at length one     the text as a classifier
    h(q)  = mean over the classes of q C'                   how near the text is to anything at all
    score = m . q  +  x . w(q)  -  h(q)

About 0: nothing of it; .45: likely; .7: sure. Nothing is learned from the collection and no other picture counts, so
that a score never changes when pictures are added. It is linear in the pair (m, x): the mean score of some pictures is
the score of their mean pair, which is what makes names of clusters cheap.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ViewError
from ..features.sentences import N_NUMBERS
from .tables import Matrix, tables

__all__ = ["Asked", "Seen", "ask", "ask_words", "score", "see"]

_SHARPNESS = np.float32(8)
"""What rows of length one are multiplied by; the network's own are 10 to 22 long, and less is flatter."""
_CLASSES = 40
_TEMPERATURE = 0.08
_SURENESS = np.float32(12)
_ROWS_AT_ONCE = 2048


@dataclass(frozen=True)
class Seen:
    """Pictures, or means of pictures, as the score sees them. Rows of NaN: there is no picture."""

    rows: Matrix
    """x: (n, 1280), of length one."""
    sentences: Matrix
    """m: (n, 384), or 512 in many languages, of length one."""
    sure: Matrix
    """The largest probability of a class by softmax(12 x W' + b): low where the network does not know what it sees."""

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which rows are of a picture."""
        found: NDArray[np.bool_] = ~np.isnan(self.sure)
        return found

    def __getitem__(self, chosen: Any) -> Seen:
        return Seen(self.rows[chosen], self.sentences[chosen], self.sure[chosen])

    def mixed(self, weights: Any) -> Seen:
        """Means of pictures: ``weights`` (dense or sparse, one row per mean) times the pairs of which they are made."""
        parts = (weights @ part for part in (self.rows, self.sentences, self.sure))
        return Seen(*(np.asarray(part, dtype=np.float32) for part in parts))


@dataclass(frozen=True)
class Asked:
    """Texts as the score sees them."""

    vectors: Matrix
    """q: (n_texts, 384), of length one."""
    classifiers: Matrix
    """w(q): (n_texts, 1280), of length one."""
    offsets: Matrix
    """h(q)."""

    def __getitem__(self, chosen: Any) -> Asked:
        return Asked(self.vectors[chosen], self.classifiers[chosen], self.offsets[chosen])


def see(rows: Any, n_numbers: int = N_NUMBERS) -> Seen:
    """Pictures from their rows of the view ``embedding``, whatever their length. About 0.1 ms a picture.

    ``n_numbers`` are those of the sentence vectors they are to be compared with: 384, or 512 in many languages. A row
    of NaN or of zeros is no picture and gets NaN.
    """
    known = tables(n_numbers)
    given = np.asarray(rows, dtype=np.float32)
    if given.ndim != 2 or given.shape[1] != known.weight.shape[1]:
        raise ViewError(
            f"rows must be those of the shipped picture model, (n, {known.weight.shape[1]}); got {given.shape}."
        )
    length = np.linalg.norm(given, axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        unit: Matrix = np.divide(given, np.where(length > 0, length, np.nan), dtype=np.float32)
    sentences = np.full((len(unit), known.classes.shape[1]), np.nan, dtype=np.float32)
    sure = np.full(len(unit), np.nan, dtype=np.float32)
    there = np.flatnonzero(np.isfinite(length[:, 0]) & (length[:, 0] > 0))
    for start in range(0, there.size, _ROWS_AT_ONCE):
        part = there[start : start + _ROWS_AT_ONCE]
        plain: Matrix = unit[part] @ known.weight.T
        p = _softmax(_SHARPNESS * plain + known.bias)
        least = np.partition(p, -_CLASSES, axis=1)[:, -_CLASSES, None]
        sentences[part] = _unit(np.where(p >= least, p, 0) @ known.classes)
        sure[part] = _softmax(_SURENESS * plain + known.bias).max(axis=1)
    return Seen(unit, sentences, sure)


def ask(vectors: Any) -> Asked:
    """Texts from their sentence vectors, (n_texts, 384), or 512 in many languages."""
    q = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
    known = tables(q.shape[1])
    near = _softmax(q @ known.classes.T / _TEMPERATURE)
    return Asked(q, _unit(near @ known.centred), q @ known.mean_class)


@cache
def ask_words() -> Asked:
    """The photo words, in their order."""
    return ask(tables().words)


def score(seen: Seen, asked: Asked) -> Matrix:
    """Pictures by texts: (n_pictures, n_texts); NaN where there is no picture."""
    found: Matrix = seen.sentences @ asked.vectors.T + seen.rows @ asked.classifiers.T - asked.offsets
    return found


def _softmax(logits: Matrix) -> Matrix:
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    found: Matrix = powers / powers.sum(axis=1, keepdims=True)
    return found


def _unit(rows: Matrix) -> Matrix:
    found: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return found
