"""First tags for a collection that has none: by cluster, as one decision for a person, or by picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data.checks import check_number
from ..types import Places
from .guesses import LIKELY, Guess
from .scoring import Asked, Seen, ask_words, score
from .words import photo_words

__all__ = ["PictureTag", "TagGroup", "tags_by_cluster", "tags_by_picture", "tags_for_groups", "with_neighbours"]

_NEIGHBOURS = 8
_ALIKE = 0.5
_BY_PICTURE, _BY_CLUSTER = (7.7, -4.5), (6.3, -3.0)
"""Slope and start of the curve from the score, with neighbours, to how likely a word is right; a word of the whole
cluster is surer. Learned on flickr8k's captions: right to .05 there, elsewhere somewhat too low for clusters."""
_WORDS, _LEAST = 3, 0.6
_ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class TagGroup:
    """A word for the pictures of one cluster: one question to a person."""

    label: int
    word: str
    sure: Places
    """Rows of the pictures that likely show it, the surest first."""
    doubtful: Places
    """The cluster's other pictures, the likeliest first."""
    scores: dict[int, float]
    """Row -> score, averaged with the neighbours'."""

    def probability(self, row: int) -> float:
        """How likely the word is right on one of the pictures."""
        return float(_likelihood(self.scores[row], _BY_CLUSTER))


@dataclass(frozen=True)
class PictureTag:
    """A word for one picture."""

    row: int
    word: str
    score: float
    probability: float


def with_neighbours(seen: Seen, wanted: ArrayLike | None = None) -> Seen:
    """Each picture averaged with its eight nearest whose cosine is at least one half: single mistakes even out.

    ``wanted`` are the rows to return, all of them by default. The mean of the scores is the score of the mean, see
    ``score``. O(n_wanted n_pictures) time, a block of rows at a time.
    """
    there = np.flatnonzero(seen.there)
    rows = np.arange(len(seen)) if wanted is None else np.asarray(wanted, dtype=np.int64)
    found = [part.copy() for part in (seen.rows[rows], seen.sentences[rows], seen.sure[rows])]
    everyone = seen.rows[there]
    have = np.flatnonzero(seen.there[rows])
    for start in range(0, have.size, _ROWS_AT_ONCE):
        part = have[start : start + _ROWS_AT_ONCE]
        alike = seen.rows[rows[part]] @ everyone.T
        alike[np.arange(part.size), np.searchsorted(there, rows[part])] = np.inf  # itself, always
        n_kept = min(_NEIGHBOURS + 1, there.size)
        near = np.argpartition(-alike, n_kept - 1, axis=1)[:, :n_kept]
        counted = (np.take_along_axis(alike, near, axis=1) >= _ALIKE).astype(np.float32)
        counted /= counted.sum(axis=1, keepdims=True)
        for out, source in zip(found, (seen.rows, seen.sentences, seen.sure), strict=True):
            out[part] = np.einsum("pk,pk...->p...", counted, source[there[near]])
    return Seen(*found)


def tags_by_cluster(
    seen: Seen, labels: ArrayLike, guesses: Mapping[int, Guess], *, language: str | None = None
) -> list[TagGroup]:
    """For every cluster with a clear guess: its first word, and which of its pictures likely show it."""
    clear = {label: guess.numbers[0] for label, guess in guesses.items() if guess.is_clear}
    return tags_for_groups(seen, labels, ask_words(), clear, photo_words(language))


def tags_for_groups(
    seen: Seen, labels: ArrayLike, asked: Asked, chosen: Mapping[int, int], words: Any
) -> list[TagGroup]:
    """For some labels a text each, by its number among those asked: which of their pictures likely show it.

    Largest groups first.
    """
    groups, there = np.asarray(labels), seen.there
    found = []
    for label, number in chosen.items():
        members = np.flatnonzero((groups == label) & there)
        values = score(with_neighbours(seen, members), asked[number : number + 1])[:, 0]
        order = np.argsort(-values, kind="stable")
        members, values = members[order], values[order]
        cut = int((values >= LIKELY).sum())
        scores = dict(zip(members.tolist(), values.tolist(), strict=True))
        found.append(TagGroup(label, words[number], members[:cut], members[cut:], scores))
    return sorted(found, key=lambda one: (-one.sure.size, one.label))


def tags_by_picture(seen: Seen, *, min_probability: float = _LEAST, language: str | None = None) -> list[PictureTag]:
    """At most three words for every picture, each at least so likely; a proposal two times in three right.

    Surer: by cluster. The likeliest of a picture come first.
    """
    least = float(check_number("min_probability", min_probability, low=0, high=1))
    words, found = photo_words(language), []
    there = np.flatnonzero(seen.there)
    for start in range(0, there.size, _ROWS_AT_ONCE):
        rows = there[start : start + _ROWS_AT_ONCE]
        values = score(with_neighbours(seen, rows), ask_words())
        best = np.argsort(-values, axis=1, kind="stable")[:, :_WORDS]
        p = _likelihood(np.take_along_axis(values, best, axis=1), _BY_PICTURE)
        for i, k in np.argwhere(p >= least).tolist():
            number = int(best[i, k])
            found.append(PictureTag(int(rows[i]), words[number], float(values[i, number]), float(p[i, k])))
    return found


def _likelihood(scores: Any, curve: tuple[float, float]) -> Any:
    slope, start = curve
    return 1 / (1 + np.exp(-(slope * np.asarray(scores, dtype=np.float64) + start)))
