"""Pictures by what they show: a ranking for any text, and whether there is anything of it at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import ViewError
from ..types import Places
from .scoring import Asked, Seen, ask, score
from .tables import LIKELY, Matrix, tables

__all__ = ["BEST", "FEWEST", "PLAIN", "Bridge", "Ranking", "rank_pictures"]

BEST = 5
"""Pictures whose mean score says whether there is anything of a text here."""
PLAIN = 0.1
"""How far above likely the best five have to be for a plain answer."""
FEWEST = 12
"""Pictures that an answer shows at least."""
_RIDGE = 1.0
_HALF = 100
"""Captioned pictures at which the bridge has its half."""


@dataclass(frozen=True)
class Ranking:
    """Pictures in the order in which they fit a text."""

    rows: Places
    """The best first; rows without a picture are left out."""
    scores: Matrix
    """Their scores, in the same order: the absolute ones, also where a bridge had a say in the order."""
    best: float
    """The mean of the five largest scores."""
    n_shown: int
    """How many belong to the answer; the rest is there for who asks."""
    likely: float = LIKELY
    """The score from which on a picture likely shows it."""

    @property
    def answer(self) -> Literal["plain", "weak", "none"]:
        """ "plain", "weak", or "none": nothing here seems to show that."""
        return "plain" if self.best >= self.likely + PLAIN else "weak" if self.best >= self.likely else "none"


class Bridge:
    """From pictures to the sentences their owner gave some of them: captions, or tags joined by commas.

    A ridge from the rows of captioned pictures to the vectors of what is said of them, both centred, in its dual form.
    Alone it needs a hundred of them; mixed with the score it helps from 25 on.

    Parameters
    ----------
    seen : the pictures of which something is said
    sentences : (n, 384), what is said, as sentence vectors
    """

    def __init__(self, seen: Seen, sentences: Any) -> None:
        said = np.asarray(sentences, dtype=np.float64)
        rows = np.asarray(seen.rows, dtype=np.float64)
        if said.shape[0] != len(rows):
            raise ViewError(f"{len(rows)} pictures but {said.shape[0]} sentences; give one for each.")
        self.n_pictures = len(rows)
        self._mean_row, self._mean_said = rows.mean(axis=0), said.mean(axis=0)
        centred = rows - self._mean_row
        inner = centred @ centred.T
        inner[np.diag_indices_from(inner)] += _RIDGE
        self._weights = centred.T @ np.linalg.solve(inner, said - self._mean_said)

    @property
    def share(self) -> float:
        """Its say beside the score: n / (n + 100), at most one half."""
        return min(0.5, self.n_pictures / (self.n_pictures + _HALF))

    def score(self, seen: Seen, vector: Any) -> NDArray[np.float64]:
        """How well a text, given as a sentence vector, fits what would be said of each picture."""
        said = (seen.rows - self._mean_row) @ self._weights + self._mean_said
        found: NDArray[np.float64] = (said @ np.asarray(vector, dtype=np.float64)) / np.linalg.norm(said, axis=1)
        return found


def rank_pictures(seen: Seen, vector: Any, bridge: Bridge | None = None) -> Ranking:
    """Order pictures by how well they fit a text, given as a sentence vector, or as ``Asked`` by a model of your own.

    Whether there is anything of it is said by the score alone, which is absolute; a bridge, where there is one, has a
    say in the order: both are brought to mean 0 and deviation 1 over the pictures, and mixed by its share.
    """
    own = isinstance(vector, Asked)
    there, likely = np.flatnonzero(seen.there), LIKELY if own else tables(np.size(vector)).likely
    plain = score(seen[there], vector if own else ask(vector))[:, 0]
    order_by = plain.astype(np.float64)
    if bridge is not None and there.size:
        mixed = _standard(bridge.score(seen[there], vector))
        order_by = (1 - bridge.share) * _standard(order_by) + bridge.share * mixed
    order = np.argsort(-order_by, kind="stable")
    best = float(np.sort(plain)[-BEST:].mean()) if there.size else float("-inf")
    n_shown = min(there.size, max(FEWEST, int((plain >= likely).sum())))
    return Ranking(there[order], plain[order], best, n_shown, likely)


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = float(values.std())
    found: NDArray[np.float64] = (values - values.mean()) / (spread if spread > 0 else 1.0)
    return found
