"""The nearest neighbours of every item in one space: exact for small collections, in nearby cells for large ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers
from ..data.nearest import Within, nearest_among
from .spectral import plain_kmeans

__all__ = ["cells_of", "nearest_neighbours"]

Rows = NDArray[np.float32]
Ids = NDArray[np.int32]

EXACT = 8_000  # items up to which every pair is looked at
CELL = 128  # items per cell, about
N_CELLS = 6  # cells in which an item looks for its neighbours
_LEAVES = 1_024  # cells made by one k-means; more are made in two levels
_PER_CELL = 64  # items per cell from which the cells are learned


def nearest_neighbours(rows: Rows, n_neighbours: int, threads: Workers, *, seed: int = 0) -> Ids:
    """The ``n_neighbours`` nearest other rows of each row, nearest first, ties by lowest index: int32 (n, k).

    Up to 8,000 rows all pairs are compared (n^2 d operations). Above, rows are put into cells of about 128 by a coarse
    k-means and look for neighbours in the six cells nearest to their own: some are missed, at n * 768 * d
    operations and n^1.5 d / 11 for the cells. ``n_neighbours`` is at most n - 1.
    """
    n_items = rows.shape[0]
    own = np.arange(n_items, dtype=np.int32)
    if n_items <= EXACT:
        return nearest_among(rows, rows, n_neighbours, threads, own=own)
    cells = cells_of(rows, threads, seed)
    centres = np.array([rows[cell].mean(axis=0, dtype=np.float64) for cell in cells], dtype=np.float32)
    near = nearest_neighbours(centres, min(4 * N_CELLS, len(cells) - 1), threads, seed=seed)
    return nearest_among(rows, rows, n_neighbours, threads, own=own, within=_around(cells, near, n_neighbours))


def _around(cells: list[Ids], near: Ids, n_neighbours: int) -> Within:
    """Each cell with the rows of the cells around it: six, or more until there are enough to choose from."""
    within: list[tuple[Ids, Ids | None]] = []
    for cell, others in zip(cells, near, strict=True):
        candidates = cell
        for taken, other in enumerate(others):
            if taken >= N_CELLS - 1 and candidates.size > n_neighbours:
                break
            candidates = np.concatenate([candidates, cells[other]])
        # everybody only where cells hold next to nothing
        within.append((cell, candidates if candidates.size > n_neighbours else None))
    return within


def cells_of(rows: Rows, threads: Workers, seed: int) -> list[Ids]:
    """All rows in cells of about 128, each a rising list of indices; none holds more than 512."""
    everyone = np.arange(rows.shape[0], dtype=np.int32)
    with plain_kmeans() as kmeans:
        n_cells = -(-rows.shape[0] // CELL)
        if n_cells <= _LEAVES:
            return list(_split(rows, everyone, n_cells, kmeans, seed))
        first = list(_parts(rows, everyone, int(np.sqrt(n_cells)), kmeans, seed))

        def split(which: slice) -> list[Ids]:
            part = first[which.start]
            return list(_split(rows, part, -(-part.size // CELL), kmeans, seed))

        found = threads.map(split, [slice(p, p + 1) for p in range(len(first))])
        return [cell for cells in found for cell in cells]


def _split(rows: Rows, items: Ids, n_cells: int, kmeans: Any, seed: int) -> Iterator[Ids]:
    """Cells of the given items; one that came out too large is split again, by order where k-means cannot."""
    for cell in _parts(rows, items, min(n_cells, _LEAVES), kmeans, seed):
        if cell.size <= 4 * CELL:
            yield cell
        elif cell.size < items.size:
            yield from _split(rows, cell, -(-cell.size // CELL), kmeans, seed)
        else:  # one point, many times
            yield from np.array_split(cell, -(-cell.size // CELL))


def _parts(rows: Rows, items: Ids, n_parts: int, kmeans: Any, seed: int) -> Iterator[Ids]:
    """k-means of five rounds, learned on at most 64 items per part."""
    if n_parts < 2:
        yield items
        return
    points = rows[items]
    rng = np.random.default_rng([seed, items.size])
    if items.size > _PER_CELL * n_parts:
        sample = np.sort(rng.choice(items.size, _PER_CELL * n_parts, replace=False))
        labels = kmeans(points[sample], n_parts, "random", 5, seed).predict(points)
    else:
        labels = kmeans(points, n_parts, "random", 5, seed).labels_
    order = np.argsort(labels, kind="stable")
    edges = np.searchsorted(labels[order], np.arange(n_parts + 1))
    for part in range(n_parts):
        if edges[part] < edges[part + 1]:
            yield items[order[edges[part] : edges[part + 1]]]
