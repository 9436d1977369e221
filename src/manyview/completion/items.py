"""The items of a fit as batches: kernel features and neighbours of every view, made block by block."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import is_sparse
from ..blocks import Workers, row_blocks
from ..data.views import Views
from ..errors import ViewWarning
from ..methods.base import outside
from ..types import Floats, Ints, Mask, Singles
from .batch import Batch
from .neighbours.nearest import (
    ALL_PAIRS_UP_TO,
    InvertedLists,
    Nearest,
    find_nearest,
    make_lists,
    nearest_of_all,
    weights_of,
)
from .neighbours.population import Population, fit_population
from .view_space import ViewSpace, fit_kernel, open_view, speaking

__all__ = ["Items", "fit_items", "warn_silent_views"]

_MOST_WORDS = 2_000
"""Columns of a sparse view, the most frequent, that are inputs as they are."""
_KEPT_FEATURES = 2**26
"""Features of so many bytes are kept, though not saved; larger ones are worked out whenever they are asked for."""


@dataclass(frozen=True)
class Items:
    """What was learned of the views, and who is near whom in each of them."""

    n_items: int
    n_neighbours: int
    spaces: tuple[ViewSpace, ...]
    neighbours: tuple[Nearest, ...]
    lists: tuple[InvertedLists | None, ...]
    searched: NDArray[np.bool_]
    """Whose tags can be looked up: only these are anybody's neighbours."""
    columns: tuple[Ints, ...]
    """The columns of each view that are words; none of a dense view."""
    set_aside: NDArray[np.bool_] | None = None
    """Items with tags that are not searched: another stands for each of them."""

    @property
    def widths(self) -> list[int]:
        """The number of kernel features of each view."""
        return [space.n_features for space in self.spaces]

    @property
    def word_widths(self) -> list[int]:
        """The number of words of each view."""
        return [columns.size for columns in self.columns]

    def features(self, rows: Ints) -> Singles:
        """Kernel features of items of the fit, all views side by side."""
        return self._side_by_side([space.features(space.units[rows]) for space in self.spaces], rows.size)

    def remembering(self, seen: Sequence[Singles | None], threads: Workers) -> Items:
        """The same with the features of all items at hand, where they are few enough.

        ``seen`` are the cosines of all items with the landmarks of each view, where they are at hand.
        """
        width = sum(self.widths)
        if 4 * self.n_items * width > _KEPT_FEATURES:
            return self
        kept = np.empty((self.n_items, width), dtype=np.float32)

        def fill(block: slice) -> None:
            rows = np.arange(block.start, block.stop)
            parts = [
                space.features(space.units[rows]) if by is None else space.features_by(by[rows], space.has[rows])
                for space, by in zip(self.spaces, seen, strict=True)
            ]
            kept[block] = self._side_by_side(parts, rows.size)

        for _ in threads.map(fill, row_blocks(self.n_items, 8.0 * max(1, width))):
            pass
        return _Remembering(**{one.name: getattr(self, one.name) for one in fields(Items)}, kept=kept)

    def forgetting(self) -> Items:
        """The same without them."""
        return self

    def words(self, rows: Ints) -> Any:
        """Words of items of the fit, all sparse views side by side, CSR; None where there is no sparse view."""
        return self._words([space.units[rows] for space in self.spaces])

    def _words(self, units: Sequence[Any]) -> Any:
        from scipy.sparse import hstack

        parts = [rows[:, columns] for rows, columns in zip(units, self.columns, strict=True) if columns.size]
        return hstack(parts, format="csr") if parts else None

    def batch(self, rows: Ints, tags: Any, with_neighbours: bool = True) -> Batch:
        """Some items of the fit; ``tags`` are those of all items. Ridges do without the neighbours."""
        near = self.mixed(self.near(rows), rows.size) if with_neighbours else None
        return Batch(tags[rows], self.features(rows), near, rows, self.words(rows), like=self.like[rows])

    def among(self, searched: Mask, rng: np.random.Generator, threads: Workers) -> Items:
        """The same with neighbours among others."""
        found = [_search(space, space.has & searched, self.n_neighbours, rng, threads) for space in self.spaces]
        near, lists = tuple(one for one, _ in found), tuple(one for _, one in found)
        return replace(self, neighbours=near, lists=lists, searched=searched, set_aside=self.searched & ~searched)

    @property
    def speaks(self) -> Mask:
        """(n_items, n_views): which views say something of each item."""
        return np.array([space.has for space in self.spaces], dtype=bool).reshape(len(self.spaces), self.n_items).T

    @cached_property
    def population(self) -> Population:
        """Who is of the kind of the items with tags."""
        has_none = ~self.searched if self.set_aside is None else ~(self.searched | self.set_aside)
        return fit_population(self.neighbours, self.speaks, self.searched, has_none)

    @cached_property
    def like(self) -> Floats:
        """How likely each item is of that kind."""
        return self.population.of(self.neighbours, self.speaks, self.searched)

    def near(self, rows: Ints) -> list[Nearest]:
        """The neighbours of items of the fit in each view."""
        return [Nearest(found.items[rows], found.cosines[rows]) for found in self.neighbours]

    def new_batch(self, views: Views | None, tags: Any) -> tuple[Batch, list[Nearest]]:
        """Items that were not in the fit, with their neighbours in each view; ``tags`` are their own."""
        from scipy.sparse import csr_matrix

        parts, near, found = [], [], []
        alone = Workers(1, None)  # blocks of new items run on threads already
        size = tags.shape[0]
        for v, space in enumerate(self.spaces):
            units: Any = np.zeros((size, space.shift.size), dtype=np.float32)
            if views is not None:
                units = space.new_units(views[space.name], views.mask[:, v])
            elif self.columns[v].size:
                units = csr_matrix(units)
            found.append(units)
            parts.append(space.features(units))
            able = space.has & self.searched
            near.append(find_nearest(units, space.units, able, self.n_neighbours, alone, lists=self.lists[v]))
        features, words = self._side_by_side(parts, size), self._words(found)
        speaks = np.array([speaking(units) for units in found], dtype=bool).reshape(len(found), size).T
        like = self.population.of(near, speaks, np.diff(tags.indptr) > 0)
        return Batch(tags, features, self.mixed(near, size), None, words, like=like), near

    def mixed(self, near: Sequence[Nearest], size: int) -> Any:
        """Neighbours of all views in one matrix (size, n_items): each view an item has counts the same."""
        from scipy.sparse import csr_matrix

        if not near:
            return csr_matrix((size, self.n_items), dtype=np.float32)
        weights = np.stack([weights_of(found) for found in near], axis=1)  # (size, n_views, k)
        n_views = (weights.sum(axis=2) > 0).sum(axis=1)
        weights /= np.maximum(n_views, 1)[:, None, None]
        items = np.stack([found.items for found in near], axis=1)
        kept = weights > 0
        row = np.broadcast_to(np.arange(size)[:, None, None], weights.shape)
        found = csr_matrix((weights[kept], (row[kept], items[kept])), shape=(size, self.n_items))
        found.sum_duplicates()
        return found

    def batches(self, rows: Ints, tags: Any, with_neighbours: bool = True) -> list[Callable[[], Batch]]:
        """The same items in blocks, each made when it is asked for."""
        per_row = 4.0 * (4 * sum(self.widths) + 6 * tags.shape[1] + 64)
        return [partial(self.batch, rows[block], tags, with_neighbours) for block in row_blocks(rows.size, per_row)]

    @staticmethod
    def _side_by_side(parts: list[Singles], size: int) -> Singles:
        return np.hstack(parts) if parts else np.zeros((size, 0), dtype=np.float32)


@dataclass(frozen=True)
class _Remembering(Items):
    kept: Singles = field(kw_only=True)

    def features(self, rows: Ints) -> Singles:
        return self.kept[rows]

    def forgetting(self) -> Items:
        return Items(**{one.name: getattr(self, one.name) for one in fields(Items)})


def fit_items(
    views: Views | None,
    n_items: int,
    n_landmarks: int,
    n_neighbours: int,
    rng: np.random.Generator,
    threads: Workers,
    say: Callable[[str], None],
    searched: NDArray[np.bool_] | None = None,
) -> Items:
    """Learn the space of each view, and search the neighbours of every item in it, among the ``searched`` ones.

    The search comes by the cosines with the landmarks, from which the features are made that are kept.
    """
    spaces, near, lists, columns, seen = [], [], [], [], []
    searched = np.ones(n_items, dtype=bool) if searched is None else searched
    n_views = 0 if views is None else len(views.names)
    keeps_features = 0 < 4 * n_items * n_views * min(n_landmarks, n_items) <= _KEPT_FEATURES
    named = [] if views is None else list(zip(views.names, views.values(), views.mask.T, strict=True))
    for name, matrix, present in named:
        say(f"view {name}: kernel features and neighbours")
        space = open_view(name, matrix, present, n_landmarks, rng, threads)
        able = space.has & searched
        cosines = inverted = None
        if able.sum() <= ALL_PAIRS_UP_TO and keeps_features:
            found, cosines = nearest_of_all(space.units, able, n_neighbours, threads, watched=space.landmarks)
            space = fit_kernel(space, cosines, rng, threads)
        else:
            space = fit_kernel(space, None, rng, threads)
            found, inverted = _search(space, able, n_neighbours, rng, threads)
        near.append(found)
        seen.append(cosines)
        spaces.append(space)
        lists.append(inverted)
        columns.append(_most_frequent(space.units) if n_landmarks else np.zeros(0, dtype=np.int64))
    items = Items(n_items, n_neighbours, tuple(spaces), tuple(near), tuple(lists), searched, tuple(columns))
    return items.remembering(seen, threads) if n_landmarks else items


def _search(
    space: ViewSpace, able: Mask, n_neighbours: int, rng: np.random.Generator, threads: Workers
) -> tuple[Nearest, InvertedLists | None]:
    """The neighbours of every item among those that are able, and the lists they were found by."""
    lists = None if able.sum() <= ALL_PAIRS_UP_TO else make_lists(space.units, able, rng)
    return nearest_of_all(space.units, able, n_neighbours, threads, lists)[0], lists


def _most_frequent(units: Any) -> Ints:
    """The columns of a sparse view that are on most items, and on two at least; none of a dense one."""
    if not is_sparse(units):
        return np.zeros(0, dtype=np.int64)
    count = np.bincount(units.indices, minlength=units.shape[1])
    order = np.argsort(-count, kind="stable")[:_MOST_WORDS]
    return np.sort(order[count[order] >= 2]).astype(np.int64)


def warn_silent_views(items: Items) -> None:
    """Name the views that say nothing about any item."""
    for space in items.spaces:
        if not space.has.any():
            warnings.warn(
                f"view {space.name!r} says nothing: it is missing, empty or the same for every item. It is left aside.",
                ViewWarning,
                stacklevel=outside(),
            )
