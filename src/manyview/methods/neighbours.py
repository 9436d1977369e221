"""The nearest neighbours in one space, of every item or of new ones: exact up to some thousands, else in near cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers
from ..data.nearest import nearest_among
from ..engines.base import Engine
from ..engines.jobs import alone, nearby
from ..engines.local import LocalEngine
from .kmeans.plain.runs import PlainTable, nearest_centres, plain_kmeans

__all__ = ["EXACT", "Cells", "cells_of", "learn_cells", "nearest_in_cells", "nearest_neighbours"]

Rows = NDArray[np.float32]
Ids = NDArray[np.int32]

EXACT = 8_000  # items up to which every pair is looked at
CELL = 128  # items per cell, about
N_CELLS = 6  # cells in which an item looks for its neighbours
_LEAVES = 1_024  # cells made by one k-means; more are made in two levels
_PER_CELL = 64  # items per cell from which the cells are learned


class Cells(NamedTuple):
    """Rows in cells, and which cells are near each other."""

    items: list[Ids]
    """Of each cell, its rows."""
    centres: Rows
    near: Ids
    """Of each cell, others from the nearest on."""

    def around(self, cell: int, n_neighbours: int) -> Ids | None:
        """The rows of a cell and of those around it: six, or more until there are enough to choose from.

        None, for everybody, only where cells hold next to nothing.
        """
        parts, n_found = [self.items[cell]], self.items[cell].size
        for taken, other in enumerate(self.near[cell]):
            if taken >= N_CELLS - 1 and n_found > n_neighbours:
                break
            parts.append(self.items[other])
            n_found += self.items[other].size
        return np.concatenate(parts) if n_found > n_neighbours else None


def learn_cells(rows: Rows, threads: Workers, seed: int = 0, engine: Engine | None = None) -> Cells:
    """All rows in cells of about 128; learned on a device where the engine is one."""
    items = cells_of(rows, LocalEngine(threads) if engine is None else engine, seed)
    centres = np.array([rows[cell].mean(axis=0, dtype=np.float64) for cell in items], dtype=np.float32)
    near = nearest_neighbours(centres, min(4 * N_CELLS, len(items) - 1), threads, seed=seed)
    return Cells(items, centres, near)


def nearest_in_cells(queries: Rows, rows: Rows, cells: Cells, n_neighbours: int, threads: Workers) -> Ids:
    """The ``n_neighbours`` nearest of the rows in cells to each query, in the cells around the one it belongs to."""
    own = nearest_among(queries, cells.centres, 1, threads)[:, 0]
    order = np.argsort(own, kind="stable")
    found, starts = np.unique(own[order], return_index=True)
    asking = np.split(order, starts[1:])
    numbers = None
    if 2 * found.size > len(cells.items):  # every row is read some six times: side by side, cell by cell, is faster
        numbers = np.concatenate(cells.items)
        rows, edges = rows[numbers], np.cumsum([cell.size for cell in cells.items])
        cells = cells._replace(items=np.split(np.arange(numbers.size, dtype=np.int32), edges[:-1]))
    within = [(some, cells.around(cell, n_neighbours)) for cell, some in zip(found.tolist(), asking, strict=True)]
    return nearest_among(queries, rows, n_neighbours, threads, within=within, numbers=numbers)


def nearest_neighbours(
    rows: Rows, n_neighbours: int, threads: Workers, *, seed: int = 0, cells: Cells | None = None
) -> Ids:
    """The ``n_neighbours`` nearest other rows of each row, nearest first, ties by lowest index: int32 (n, k).

    Up to 8,000 rows all pairs are compared (n^2 d operations). Above, rows are put into cells of about 128 by a coarse
    k-means and look for neighbours in the six cells nearest to their own: some are missed, at n * 768 * d
    operations and n^1.5 d / 11 for the cells, which may be given. ``n_neighbours`` is at most n - 1.
    """
    n_items = rows.shape[0]
    own = np.arange(n_items, dtype=np.int32)
    if n_items <= EXACT:
        return nearest_among(rows, rows, n_neighbours, threads, own=own)
    cells = learn_cells(rows, threads, seed) if cells is None else cells
    within = [(cell, cells.around(number, n_neighbours)) for number, cell in enumerate(cells.items)]
    return nearest_among(rows, rows, n_neighbours, threads, own=own, within=within)


def cells_of(rows: Rows, engine: Engine, seed: int) -> list[Ids]:
    """All rows in cells of about 128, each a rising list of indices; none holds more than 512."""
    everyone = np.arange(rows.shape[0], dtype=np.int32)
    n_cells = -(-rows.shape[0] // CELL)
    if n_cells <= _LEAVES:
        return list(_split(rows, everyone, n_cells, engine, seed))
    first = list(_parts(rows, everyone, int(np.sqrt(n_cells)), engine, seed))

    def split(part: Ids) -> list[Ids]:
        return list(_split(rows, part, -(-part.size // CELL), alone(), seed))

    return [cell for cells in engine.threads.map(split, first) for cell in cells]


def _split(rows: Rows, items: Ids, n_cells: int, engine: Engine, seed: int) -> Iterator[Ids]:
    """Cells of the given items; one that came out too large is split again, by order where k-means cannot."""
    for cell in _parts(rows, items, min(n_cells, _LEAVES), engine, seed):
        if cell.size <= 4 * CELL:
            yield cell
        elif cell.size < items.size:
            yield from _split(rows, cell, -(-cell.size // CELL), engine, seed)
        else:  # one point, many times
            yield from np.array_split(cell, -(-cell.size // CELL))


def _parts(rows: Rows, items: Ids, n_parts: int, engine: Engine, seed: int) -> Iterator[Ids]:
    """k-means of five rounds, learned on at most 64 items per part."""
    if n_parts < 2:
        yield items
        return
    points = rows[items]
    rng = np.random.default_rng([seed, items.size])
    where = nearby(engine, float(points.size * n_parts))
    if items.size > _PER_CELL * n_parts:
        sample = np.sort(rng.choice(items.size, _PER_CELL * n_parts, replace=False))
        found = plain_kmeans(points[sample], n_parts, "random", 5, seed, where)
        labels = nearest_centres(PlainTable.of(points), found.centres, where)
    else:
        labels = plain_kmeans(points, n_parts, "random", 5, seed, where).labels
    order = np.argsort(labels, kind="stable")
    edges = np.searchsorted(labels[order], np.arange(n_parts + 1))
    for part in range(n_parts):
        if edges[part] < edges[part + 1]:
            yield items[order[edges[part] : edges[part + 1]]]
