"""The items of a fit as batches: kernel features and neighbours of every view, made block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..blocks import Workers, row_blocks
from ..data.views import Views
from ..types import Ints, Singles
from .batch import Batch
from .nearest import ALL_PAIRS_UP_TO, InvertedLists, Nearest, find_nearest, make_lists, weights_of
from .view_space import ViewSpace, fit_view_space

__all__ = ["Items", "fit_items"]


@dataclass(frozen=True)
class Items:
    """What was learned of the views, and who is near whom in each of them."""

    n_items: int
    n_neighbours: int
    spaces: tuple[ViewSpace, ...]
    neighbours: tuple[Nearest, ...]
    lists: tuple[InvertedLists | None, ...]

    @property
    def widths(self) -> list[int]:
        """The number of kernel features of each view."""
        return [space.n_features for space in self.spaces]

    def features(self, rows: Any) -> Singles:
        """Kernel features of items of the fit, all views side by side."""
        size = np.arange(self.n_items)[rows].size
        return self._side_by_side([space.features(space.units[rows]) for space in self.spaces], size)

    def batch(self, rows: Ints, tags: Any) -> Batch:
        """Some items of the fit; ``tags`` are those of all items, which may be others than in the fit."""
        return Batch(tags[rows], self.features(rows), self.mixed(self.near(rows), rows.size), rows)

    def near(self, rows: Ints) -> list[Nearest]:
        """The neighbours of items of the fit in each view."""
        return [Nearest(found.items[rows], found.cosines[rows]) for found in self.neighbours]

    def new_batch(self, views: Views | None, tags: Any) -> tuple[Batch, list[Nearest]]:
        """Items that were not in the fit, with their neighbours in each view; ``tags`` are their own."""
        parts, near = [], []
        alone = Workers(1, None)  # blocks of new items run on threads already
        size = tags.shape[0]
        for v, space in enumerate(self.spaces):
            units: Any = np.zeros((size, space.shift.size), dtype=np.float32)
            if views is not None:
                units = space.new_units(views[space.name], views.mask[:, v])
            parts.append(space.features(units))
            near.append(find_nearest(units, space.units, space.has, self.n_neighbours, alone, lists=self.lists[v]))
        return Batch(tags, self._side_by_side(parts, size), self.mixed(near, size), None), near

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

    def batches(self, rows: Ints, tags: Any, block_bytes: int | None = None) -> list[Callable[[], Batch]]:
        """The same items in blocks, each made when it is asked for."""
        per_row = 4.0 * (4 * sum(self.widths) + 6 * tags.shape[1] + 64)
        return [partial(self.batch, rows[block], tags) for block in row_blocks(rows.size, per_row, block_bytes)]

    @staticmethod
    def _side_by_side(parts: list[Singles], size: int) -> Singles:
        return np.hstack(parts) if parts else np.zeros((size, 0), dtype=np.float32)


def fit_items(
    views: Views | None,
    n_items: int,
    n_landmarks: int,
    n_neighbours: int,
    rng: np.random.Generator,
    threads: Workers,
    say: Callable[[str], None],
) -> Items:
    """Learn the space of each view, and search the neighbours of every item in it."""
    spaces, near, lists = [], [], []
    named = [] if views is None else list(zip(views.names, views.values(), views.mask.T, strict=True))
    for name, matrix, present in named:
        say(f"view {name}: kernel features and neighbours")
        space = fit_view_space(name, matrix, present, n_landmarks, rng, threads)
        inverted = make_lists(space.units, space.has, rng) if n_items > ALL_PAIRS_UP_TO else None
        own = np.arange(n_items, dtype=np.int64)
        near.append(find_nearest(space.units, space.units, space.has, n_neighbours, threads, own=own, lists=inverted))
        spaces.append(space)
        lists.append(inverted)
    return Items(n_items, n_neighbours, tuple(spaces), tuple(near), tuple(lists))
