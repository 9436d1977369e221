"""The score of a pair of networks of your own, brought to the scale of the recipe that ships.

Such a pair (``features.towers``) gives pictures and texts rows that can be compared; how large a cosine has to be to
mean anything differs from pair to pair. So one line is drawn for each, with pictures of the collection and with texts
of things that collections hardly ever show (``ABSENT``)::

    best  = for each of these texts, the mean of the five largest cosines
    score = slope * cosine + start,   such that   the 85 % quantile of best is .45, and the mean of all cosines .08

The recipe refuses 93 % of what is not there at .45, and pictures fit what they do not show at .08 on the mean. The
quantile is lower because some of any list are like something in any collection: with a pair made of the recipe's own
parts, the line then lies near the recipe's (``benchmarks.quality own_model``). All other constants of first tags
and search are the recipe's; names have to fit plainly, for a pair does not say how sure it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import ParameterError
from .scoring import Asked, Seen
from .search import BEST
from .tables import LIKELY, Matrix

__all__ = ["ABSENT", "FEWEST_PICTURES", "OwnModel", "as_caption", "calibrated"]

FEWEST_PICTURES = 20
"""Below this the best five say nothing about a line."""
_REFUSED = 0.85
"""The share of ABSENT below the line."""
_NOTHING = 0.08
_SPREAD = 1e-4

ABSENT = tuple(
    (
        "microscope|x-ray of a chest|human skeleton|dinosaur|spaceship|rocket launch|submarine|oil rig|"
        "nuclear power plant|satellite dish|abacus|violin|harp|trumpet|accordion|bagpipes|caviar|"
        "bowl of ramen|sushi|gas mask|washing machine|toilet|dentist|surgery|ultrasound|circuit board|sewing machine|"
        "typewriter|slot machine|parking ticket|giraffe|penguin|tiger|octopus|jellyfish|scorpion|tarantula|"
        "rattlesnake|kangaroo|polar bear|walrus|bat hanging upside down|volcano eruption|tornado|meteor|igloo|"
        "pyramid|lighthouse|pagoda|oasis in a desert|cactus|coral reef|sumo wrestling|fencing|bullfight|rodeo|"
        "trapeze artist|astronaut|knight in armour|pharaoh's mask"
    ).split("|")
)
"""Things of many kinds that a collection of photographs hardly ever shows, or shows a few of at most."""


def as_caption(text: str) -> str:
    """A text as such pairs have learned texts: a caption of a picture."""
    return f"a photo of {text}" if text.strip() else ""


@dataclass(frozen=True)
class OwnModel:
    """What is known of a pair: its words, and the line that brings its cosines to the recipe's scale."""

    words: Matrix
    """The photo words, as rows of length one."""
    slope: float
    start: float

    def see(self, rows: Any) -> Seen:
        """Pictures from their rows. A row of NaN or of zeros is no picture. There is no measure of being sure: 1."""
        given = np.asarray(rows, dtype=np.float32)
        length = np.linalg.norm(given, axis=1, keepdims=True)
        with np.errstate(invalid="ignore"):
            unit: Matrix = np.divide(given, np.where(length > 0, length, np.nan), dtype=np.float32)
        sure = np.where(np.isnan(unit).any(axis=1), np.nan, 1).astype(np.float32)
        return Seen(unit, np.zeros((len(unit), 0), dtype=np.float32), sure)

    def ask(self, vectors: Any) -> Asked:
        """Texts from their rows of length one."""
        q = np.atleast_2d(np.asarray(vectors, dtype=np.float32))
        starts = np.full(len(q), -self.start, dtype=np.float32)
        return Asked(np.zeros((len(q), 0), dtype=np.float32), q * np.float32(self.slope), starts)

    @cached_property
    def asked_words(self) -> Asked:
        """The photo words, in their order."""
        return self.ask(self.words)


def calibrated(rows: Any, absent: Any, words: Any) -> OwnModel:
    """Draw the line, from rows of pictures and the vectors of ``ABSENT``; rows without a picture do not count.

    Raises
    ------
    ParameterError
        If there are fewer than 20 pictures, or the pair tells pictures or texts hardly apart.
    """
    seen = OwnModel(np.zeros((0, 0), dtype=np.float32), 1.0, 0.0).see(rows)
    here = seen.rows[seen.there].astype(np.float64)
    if len(here) < FEWEST_PICTURES:
        raise ParameterError(f"a line needs at least {FEWEST_PICTURES} pictures, got {len(here)}.")
    cosines = here @ np.asarray(absent, dtype=np.float64).T
    line = float(np.quantile(np.sort(cosines, axis=0)[-BEST:].mean(axis=0), _REFUSED))
    mean = float(cosines.mean())
    if not line - mean > _SPREAD:
        raise ParameterError(
            f"this pair of models tells nothing apart: pictures fit texts by {mean:.4f} on the mean and {line:.4f} at "
            "best. Check that both are of one pair, and preprocessor_config.json."
        )
    slope = (LIKELY - _NOTHING) / (line - mean)
    return OwnModel(np.asarray(words, dtype=np.float32), slope, LIKELY - slope * line)
