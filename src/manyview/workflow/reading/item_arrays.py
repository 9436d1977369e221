"""The items of a collection at one moment as arrays, and the parts of it that are kept between moments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...collection.sorted_numbers import among
from ...collection.store import Store
from ...data.tags import match_key
from ...errors import ParameterError
from ...types import Ints, Mask
from .parts import Part, Parts

__all__ = ["ItemArrays"]


class ItemArrays:
    """What is known of every item: a row for each, in the order of their numbers."""

    def __init__(self, collection: Store, parts: Parts | None = None) -> None:
        self.collection = collection
        self._reading = collection.reading
        self._parts = parts or Parts()
        self.called = str(collection.path)
        """What commands call the collection."""

    @functools.cached_property
    def versions(self) -> dict[str, int]:
        """How often each part of the collection has changed; read at the first question: a thumbnail asks none."""
        return self._reading.versions()

    def part(self, name: str, of: str, build: Callable[[], Part], *more: Hashable) -> Part:
        """Something read from the collection, kept until one of the parts it is made of changes."""
        return self._parts.get(name, (*(self.versions[part] for part in of.split()), *more), build)

    @property
    def version(self) -> str:
        """Another one whenever anything has changed."""
        return ".".join(str(self.versions[part]) for part in sorted(self.versions))

    @property
    def ids(self) -> Ints:
        """The numbers of the items, ascending; rows of every array below."""
        return self.part("ids", "items", lambda: self.collection.items.ids)

    @property
    def kinds(self) -> NDArray[Any]:
        """Picture, video, document or row."""
        return self.part("kinds", "items", lambda: np.array(self._reading.kinds(), dtype="U8"))

    @property
    def taken(self) -> NDArray[Any]:
        """When each was taken, as far as is known: ``2019-06-14T12:03:04+02:00`` or its beginning, "" where not."""
        return self.part(
            "taken", "items", lambda: np.array([_text(one) for one in self._reading.field("taken")], "U40")
        )

    @property
    def positions(self) -> NDArray[np.float64]:
        """Latitude and longitude of each in degrees, NaN where they are not known."""
        return self.part("positions", "items", self._find_positions)

    def _find_positions(self) -> NDArray[np.float64]:
        columns = [[_number(one) for one in self._reading.field(name)] for name in ("latitude", "longitude")]
        return np.array(columns, dtype=np.float64).T.reshape(-1, 2)

    def values_of(self, field: str) -> list[str]:
        """What each has in a field: a camera, a lens; "" where it has none."""
        return self.part(f"field {field}", "items", lambda: [_text(one) for one in self._reading.field(field)])

    def texts_of(self, field: str) -> list[str]:
        """The same as it is matched."""
        return self.part(f"folded {field}", "items", lambda: [match_key(one) for one in self.values_of(field)])

    @property
    def has_thumb(self) -> Mask:
        """Is there a thumbnail?"""
        return self.part("has_thumb", "items", lambda: self.mask_of(self._reading.with_thumb()))

    @property
    def by_name(self) -> Ints:
        """Rows in the order of the items' names."""
        return self.part("by_name", "items", self._sort_names)

    def _sort_names(self) -> Ints:
        folded = [match_key(name) for name in self._reading.names()]
        return np.array(sorted(range(len(folded)), key=folded.__getitem__), dtype=np.int64)

    def rows_of(self, ids: Ints) -> Ints:
        """The rows of items that are there; those of others are left out."""
        return np.searchsorted(self.ids, ids[among(ids, self.ids)])

    def is_here(self, ids: Ints) -> Mask:
        """For each number: is that item there?"""
        return among(ids, self.ids)

    def row_of(self, item: int) -> int:
        """The row of one item, or a sentence."""
        found = self.rows_of(np.array([item], dtype=np.int64))
        if not found.size:
            raise ParameterError(f"there is no item {item}.")
        return int(found[0])

    def mask_of(self, ids: Ints) -> Mask:
        """Which items are among those numbers."""
        mask = np.zeros(self.ids.size, dtype=bool)
        mask[self.rows_of(ids)] = True
        return mask

    def keys(self, ids: Sequence[int]) -> dict[int, bytes]:
        """What the owner calls some items, as it is on disk."""
        return self._reading.keys(ids)

    def openings(self, ids: Sequence[int]) -> dict[int, str]:
        """The first words of some items' texts, of those that have one and no thumbnail."""
        rows = self.rows_of(np.array(ids, dtype=np.int64))
        bare = self.ids[rows[~self.has_thumb[rows]]].tolist()
        return {number: " ".join(text.split()) for number, text in self._reading.openings(bare, 400).items()}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Any) -> float:
    try:
        return float(value)  # tables give texts
    except (TypeError, ValueError):
        return float("nan")
