"""What the pictures of a collection show, as far as the shipped network, or a pair of the owner's, can see it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..collection.store import Store
from ..meaning.guesses import Guess, guess_words
from ..meaning.own_model import OwnModel
from ..meaning.scoring import Asked, Seen, see
from ..meaning.tables import PICTURE_MODEL
from ..meaning.words import check_language
from .own_model import VIEW, own_model

__all__ = ["VIEW", "Looks", "can_have_looks", "has_looks"]

_OF_ALL = 2000
"""Pictures that stand for the collection, and of a cluster, when words for it are looked for."""
_OF_A_CLUSTER = 500


def has_looks(collection: Store) -> bool:
    """Are there rows of the shipped picture model, or of a pair? Those of others cannot be put in words."""
    if VIEW not in collection.view_names:
        return False
    digest = collection.segments.info(VIEW).version.split()[1:2]
    return digest == [PICTURE_MODEL] or own_model(collection) is not None


def can_have_looks(collection: Store) -> bool:
    """Is there anything to look at: rows of some picture model, or pictures and clips?"""
    return VIEW in collection.view_names or not {"picture", "video"}.isdisjoint(collection.items.formats())


class Looks:
    """The pictures of a collection, one row per item, and words for them in a language; read when first asked for.

    Large clusters are judged by 500 of their pictures, the collection by 2,000, spread evenly.
    """

    def __init__(self, collection: Store, language: str | None = None) -> None:
        self._collection = collection
        self.language = check_language(language)

    @cached_property
    def rows(self) -> Any:
        """The rows of the picture model; of NaN or zeros for items without one."""
        X = self._collection.views([VIEW])
        rows = X[VIEW]
        missing = ~X.mask[:, 0]
        if missing.any():
            rows = np.array(rows)
            rows[missing] = np.nan
        return rows

    @cached_property
    def own(self) -> OwnModel | None:
        """The pair that made the rows; None for the model that ships."""
        return own_model(self._collection)

    @property
    def asked(self) -> Asked | None:
        """The photo words by that pair; None for the model that ships, whose words are known."""
        return None if self.own is None else self.own.asked_words

    def see(self, rows: Any) -> Seen:
        """Some rows, as the score sees them."""
        return see(rows) if self.own is None else self.own.see(rows)

    @cached_property
    def seen(self) -> Seen:
        """All of them, as the score sees them."""
        return self.see(self.rows)

    @cached_property
    def neighbours(self) -> Any:
        """Which pictures are averaged with which when words for each are looked for."""
        from ..meaning.first_tags import neighbour_weights

        return neighbour_weights(self.seen[np.flatnonzero(self.seen.there)])

    def only(self, places: Any) -> Looks:
        """The same for some of the items."""
        part = Looks(self._collection, self.language)
        part.rows, part.own = self.rows[places], self.own
        return part

    def guesses(self, labels: ArrayLike, wanted: Iterable[int]) -> dict[int, Guess]:
        """What some clusters seem to show, by label."""
        groups = np.asarray(labels)
        parts = {label: _spread(np.flatnonzero(groups == label), _OF_A_CLUSTER) for label in wanted}
        if not parts:
            return {}
        everyone = self.see(self.rows[_spread(np.arange(groups.size), _OF_ALL)])
        members = np.concatenate(list(parts.values()))
        named = np.repeat(list(parts), [part.size for part in parts.values()])
        seen = self.see(self.rows[members])
        return guess_words(seen, named, everyone=everyone, language=self.language, asked=self.asked)


def _spread(rows: Any, most: int) -> Any:
    return rows if rows.size <= most else rows[np.linspace(0, rows.size - 1, most).astype(np.int64)]
