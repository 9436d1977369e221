"""Clips as counts of small patterns of space and time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.checks import check_number
from ...errors import ParameterError, ViewError
from ..base import Extractor
from ..coding import BagOfWords, DescriptorSample
from ..intersection import intersection_map
from .hog3d import DESCRIPTOR_SIZE, hog3d

__all__ = ["MotionWords"]

_SAMPLED = 30_000
"""Descriptors that the words are learned from."""
_OF_A_WORD = 10
"""Descriptors for each word, at least: few clips have fewer words."""
_PARTS = ("", " cos", " sin")
_NONE = np.empty((0, DESCRIPTOR_SIZE), dtype=np.uint8)


class MotionWords(Extractor):
    """Which patterns of shape and movement occur in a clip, and how often: HOG3D words.

    Descriptors of all bursts (``hog3d``) are clustered into up to ``n_words`` words; a clip becomes the share of each
    word among its own, mapped so that the inner product of two rows is about what their shares have in common
    (``intersection_map``). The features of clips of the HML-RF paper: 1,000 words. Takes the ``bursts`` of clips, uint8
    (n_bursts, 6, height, width) each; a clip without bursts, of fewer than six frames, gives a row of NaN.

    Parameters
    ----------
    n_words : int, default=1000
        Where there are fewer than ten descriptors for each, there are fewer words.
    intersection : bool, default=True
        Map the shares, three numbers for each word; False leaves them as they are.
    """

    name = "motion_words"
    reads = "bursts"
    learns = True

    def __init__(self, n_words: int = 1000, intersection: bool = True) -> None:
        self.n_words = check_number("n_words", n_words, integer=True, low=1)
        self.intersection = intersection
        self._book: BagOfWords | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The number of the word; with the map, its constant part, cosine and sine."""
        words = range(len(self._learned().words_))
        return tuple(f"word{word}{part}" for word in words for part in (_PARTS if self.intersection else _PARTS[:1]))

    def learn(self, items: Iterable[Any], *, n_jobs: int | None = None) -> None:
        """Find the words in the bursts of clips."""
        sample = DescriptorSample(_SAMPLED, np.random.default_rng(0))
        for bursts in items:
            for descriptors in _described(bursts):
                sample.add(descriptors)
        if not sample.n_seen:
            raise ViewError("there are no clips of six frames or more to learn the words from.")
        rows = sample.take()
        n_words = min(self.n_words, max(1, len(rows) // _OF_A_WORD))
        book = BagOfWords(n_words, max_descriptors=_SAMPLED, random_state=0, n_jobs=n_jobs)
        self._book = book.fit([_as_picture(rows)])

    def extract(self, items: Iterable[Any], *, n_jobs: int | None = None) -> NDArray[np.float32]:
        """One row per clip, float32 (n_clips, n_features); the same for any number of threads."""
        book = self._learned()
        clips = (_as_picture(np.concatenate([_NONE, *_described(bursts)])) for bursts in items)
        counts = book.set_params(n_jobs=n_jobs).transform(clips).toarray()
        totals = counts.sum(axis=1, keepdims=True)
        shares = counts / np.maximum(totals, 1)
        rows = np.asarray(intersection_map(shares) if self.intersection else shares, dtype=np.float32)
        rows[totals[:, 0] == 0] = np.nan
        return rows

    def state(self) -> dict[str, Any]:
        """The words."""
        return {} if self._book is None else {"words_": self._book.words_}

    def restore(self, state: dict[str, Any]) -> None:
        """Take back what ``state`` gave."""
        if set(state) != {"words_"}:
            raise ParameterError(f"the state of {self.name} is its words, got {sorted(state)}.")
        self._book = BagOfWords(len(state["words_"]))
        self._book.words_ = np.asarray(state["words_"], dtype=np.float32)

    def _learned(self) -> BagOfWords:
        if self._book is None:
            raise ParameterError(f"{self.name} has learned nothing yet: call learn with the clips, or restore, first.")
        return self._book


def _described(bursts: Any) -> Iterator[NDArray[np.uint8]]:
    """The descriptors of every burst of a clip."""
    values = np.asarray(bursts)
    if values.ndim != 4:
        raise ViewError(f"bursts must be grey frames in a row, (n_bursts, 6, height, width), got {values.shape}.")
    for burst in values:
        yield hog3d(burst)[0]


def _as_picture(descriptors: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """As code books take them; where a descriptor lies does not count."""
    return descriptors, np.zeros((len(descriptors), 2), dtype=np.float32)
