"""Words for clusters of pictures that nobody has tagged, or none where the pictures do not say it clearly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ViewError
from .scoring import Asked, Seen, ask_words, score
from .search import PLAIN
from .tables import LIKELY
from .words import photo_words

__all__ = ["SHOWN", "Guess", "guess_words"]

_SURE = 0.15
_BACKGROUND = 0.5
"""The part of a word's mean over the collection that is taken off: what fits all pictures a little names none."""
_KEPT = 3
SHOWN = 2
"""Words that make a name."""


@dataclass(frozen=True)
class Guess:
    """What the pictures of a cluster seem to show."""

    words: tuple[str, ...]
    """Three, the best first."""
    numbers: tuple[int, ...]
    """Their places in the list of words."""
    lift: float
    """The mean score of the first word over the cluster's pictures."""
    sure: float
    """How sure the network is of what it sees there, on the mean."""
    needed: float = LIKELY
    """The mean score from which on it is worth showing."""

    @property
    def is_clear(self) -> bool:
        """Is it worth showing? Where not, the words are a weak hint."""
        return self.lift >= self.needed and self.sure >= _SURE


def guess_words(
    seen: Seen,
    labels: ArrayLike,
    *,
    everyone: Seen | None = None,
    language: str | None = None,
    asked: Asked | None = None,
) -> dict[int, Guess]:
    """Three words for every label but -1 that has pictures, by the mean score over its pictures.

    The words are ordered by that mean less half of the word's mean over ``everyone``, by default all pictures.
    ``asked`` are the photo words by the model that saw the pictures, by default by the one that ships. Another does
    not say how sure it is, so that its words have to fit plainly.
    About one in fifty groups drawn at random gets a clear guess, six in ten clusters of photographs do, and nine in ten
    of these are right.
    """
    from scipy.sparse import csr_matrix

    groups = np.asarray(labels)
    if groups.shape != (len(seen),):
        raise ViewError(f"labels must be one whole number per picture, {len(seen)} in all; got {groups.shape}.")
    there = np.flatnonzero(seen.there)
    if not there.size:
        return {}
    here, words = seen[there], photo_words(language)
    texts, needed = (ask_words(), LIKELY) if asked is None else (asked, LIKELY + PLAIN)
    names, codes = np.unique(groups[there], return_inverse=True)
    weights = csr_matrix(((1 / np.bincount(codes))[codes].astype(np.float32), (codes, np.arange(codes.size))))
    means = here.mixed(weights)
    background = here if everyone is None else everyone[np.flatnonzero(everyone.there)]
    usual = score(background.mixed(np.full((1, len(background)), 1 / len(background), dtype=np.float32)), texts)
    fits = score(means, texts)
    order = np.argsort(-(fits - _BACKGROUND * usual), axis=1, kind="stable")[:, : 2 * _KEPT]
    found = {}
    for row, label in enumerate(names.tolist()):
        if label >= 0:
            chosen = {words[number]: number for number in order[row, ::-1].tolist()}  # two may be one in a language
            numbers = sorted(chosen.values(), key=order[row].tolist().index)[:_KEPT]
            lift, sure = float(fits[row, numbers[0]]), float(means.sure[row])
            found[int(label)] = Guess(tuple(words[number] for number in numbers), tuple(numbers), lift, sure, needed)
    return found
