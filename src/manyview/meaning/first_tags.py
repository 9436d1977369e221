"""First tags for a collection that has none: by cluster, as one decision for a person, or by picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..blocks import workers
from ..data.checks import check_number
from ..data.nearest import best_first
from ..methods.neighbours import nearest_neighbours
from ..types import Places
from .guesses import Guess
from .scoring import Asked, Seen, ask_words, score
from .tables import LIKELY
from .words import photo_words

__all__ = ["PictureTag", "TagGroup", "neighbour_weights", "tags_by_cluster", "tags_by_picture", "who_shows"]

_NEIGHBOURS = 8
_ALIKE = 0.5
_BY_PICTURE, _BY_CLUSTER = (7.7, -4.5), (6.3, -3.0)
"""Slope and start of the curve from the score, with neighbours, to how likely a word is right; a word of the whole
cluster is surer. Learned on flickr8k's captions: right to .05 there, elsewhere somewhat too low for clusters."""
_WORDS, _LEAST = 3, 0.6


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


def neighbour_weights(seen: Seen, n_jobs: int | None = None) -> Any:
    """CSR, pictures by pictures: each averages a picture with its eight nearest whose cosine is at least one half.

    Scores times this are those of first tags: single mistakes of the network even out. All pairs are compared up to
    8,000 pictures, nearby ones above.
    """
    from scipy.sparse import csr_matrix, identity

    n = len(seen)
    if n < 2:
        return identity(n, dtype=np.float32, format="csr")
    with workers(n_jobs) as threads:
        near = nearest_neighbours(np.ascontiguousarray(seen.rows), min(_NEIGHBOURS, n - 1), threads)
    alike = np.column_stack([np.einsum("nd,nd->n", seen.rows, seen.rows[column]) for column in near.T])
    counted = np.column_stack([np.ones(n), alike >= _ALIKE])
    shares = (counted / counted.sum(axis=1, keepdims=True)).astype(np.float32)
    columns = np.column_stack([np.arange(n), near])
    starts = np.arange(0, columns.size + 1, columns.shape[1])
    found = csr_matrix((shares.ravel(), columns.ravel(), starts), shape=(n, n))
    found.eliminate_zeros()
    return found


def tags_by_cluster(
    seen: Seen,
    labels: ArrayLike,
    guesses: Mapping[int, Guess],
    *,
    language: str | None = None,
    n_jobs: int | None = None,
    neighbours: Any = None,
    asked: Asked | None = None,
) -> list[TagGroup]:
    """For every cluster with a clear guess: its first word, and which of its pictures likely show it; largest first.

    ``neighbours`` are the ``neighbour_weights`` of the pictures that are there, where somebody has them already;
    ``asked`` the photo words by the model that saw them, by default by the one that ships.
    """
    clear = {label: guess.numbers[0] for label, guess in guesses.items() if guess.is_clear}
    return who_shows(seen, labels, clear, language=language, n_jobs=n_jobs, neighbours=neighbours, asked=asked)


def who_shows(
    seen: Seen,
    labels: ArrayLike,
    wanted: Mapping[int, int],
    *,
    language: str | None = None,
    n_jobs: int | None = None,
    neighbours: Any = None,
    asked: Asked | None = None,
) -> list[TagGroup]:
    """Which pictures of some clusters likely show a word, given by its place in the list of words; largest first."""
    if not wanted:
        return []
    groups, words, there = np.asarray(labels), photo_words(language), np.flatnonzero(seen.there)
    here = seen[there]
    numbers = sorted(set(wanted.values()))
    near = neighbour_weights(here, n_jobs) if neighbours is None else neighbours
    values = near @ score(here, (ask_words() if asked is None else asked)[numbers])
    found = []
    for label, number in wanted.items():
        inside = np.flatnonzero(groups[there] == label)
        fits = values[inside, numbers.index(number)]
        order = np.argsort(-fits, kind="stable")
        members, fits = there[inside[order]], fits[order]
        cut = int((fits >= LIKELY).sum())
        scores = dict(zip(members.tolist(), fits.tolist(), strict=True))
        found.append(TagGroup(label, words[number], members[:cut], members[cut:], scores))
    return sorted(found, key=lambda one: (-one.sure.size, one.label))


def tags_by_picture(
    seen: Seen,
    *,
    min_probability: float = _LEAST,
    language: str | None = None,
    n_jobs: int | None = None,
    asked: Asked | None = None,
) -> list[PictureTag]:
    """At most three words for every picture, each at least so likely; a proposal two times in three right.

    Surer: by cluster. The likeliest of a picture come first.
    """
    least = float(check_number("min_probability", min_probability, low=0, high=1))
    words, there = photo_words(language), np.flatnonzero(seen.there)
    here = seen[there]
    values = neighbour_weights(here, n_jobs) @ score(here, ask_words() if asked is None else asked)
    best, fits = best_first(values, _WORDS)
    p = _likelihood(fits, _BY_PICTURE)
    return [
        PictureTag(int(there[i]), words[int(best[i, k])], float(fits[i, k]), float(p[i, k]))
        for i, k in np.argwhere(p >= least).tolist()
    ]


def _likelihood(scores: Any, curve: tuple[float, float]) -> Any:
    slope, start = curve
    return 1 / (1 + np.exp(-(slope * np.asarray(scores, dtype=np.float64) + start)))
