"""Items laid out on a plane by how much alike they are over all views: a map, and places on one for later items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import is_sparse
from ..blocks import Workers, row_blocks, workers
from ..data.nearest import largest
from ..methods.gaps import fill_gaps
from ..methods.neighbours import learn_cells, nearest_in_cells
from ..methods.plane import align, lay_out_points
from ..types import Floats, Mask, Places, Singles
from .likeness import Likeness

__all__ = ["MOST_FITTED", "Known", "lay_out", "place_among"]

MOST_FITTED = 20_000
"""Items the layout is fitted on; the others are placed among their nearest of these."""
_MANY = 20_000
"""Items to be placed above which they look for their nearest in cells."""
_PLACING = 1 / 6
"""What placing an item costs, beside laying one out."""
_DIMENSIONS = 50
_NEAREST = 5
_CELL, _SEA = 2.0, 3.0
"""Side of the cells by which islands are told apart, in typical distances to the fifth nearest; sea between islands, in
cells."""
_ENOUGH_KNOWN = 1 / 3
"""An earlier map is gone on from where so large a share of the items is on it; else it only says which way is up."""


class Known(NamedTuple):
    """Where some items lie already."""

    rows: Places
    places: Singles
    settled: bool = True
    """It was laid out by the same views, so that little has to move."""


def lay_out(
    likeness: Likeness,
    *,
    seed: int = 0,
    most: int = MOST_FITTED,
    known: Known | None = None,
    n_jobs: int | None = None,
    on_round: Callable[[float, float], None] | None = None,
) -> tuple[Places, Singles]:
    """Rows of the items some view describes, and their places; a first map is between -1 and 1.

    known : an earlier map. The layout starts from it and is turned and scaled back onto it, so that items stay about
        where they were
    on_round : called with how much is done, and of how much

    Fitted on at most ``most`` items, drawn by the seed; the others go to the mean of their five nearest of those,
    at n * most * 50 to 100 operations. On one core: 2 s for 2,000 items, 8 s for 20,000, about 35 s for 100,000. Memory
    is 400 bytes an item and view.
    """
    fused = _Fused(likeness, seed, most)
    rows = fused.described()
    if not rows.size:
        return rows, np.zeros((0, 2), dtype=np.float32)
    known = None if known is None else _only(known, rows)
    chosen = np.arange(rows.size)
    if rows.size > most:
        chosen = np.sort(np.random.default_rng(seed).choice(rows.size, size=most, replace=False))
    before = None if known is None else _only(known, chosen)
    start, settled = None, False
    places = np.zeros((rows.size, 2), dtype=np.float32)
    rest = np.setdiff1d(np.arange(rows.size), chosen)
    in_all = chosen.size + _PLACING * rest.size

    def on_layout(done: int, rounds: int) -> None:
        if on_round is not None:
            on_round(chosen.size * done / rounds, in_all)

    with workers(n_jobs) as threads:
        told = fused.rows(rows[chosen], threads)
        points = fused.even(told)
        if before is not None and before.rows.size >= _ENOUGH_KNOWN * chosen.size:
            start, settled = _between_known(points, before), before.settled
        laid = lay_out_points(points, threads, seed=seed, start=start, settled=settled, on_round=on_layout)
        laid = _scaled(laid) if start is None else laid
        if before is not None and before.rows.size > 1:
            laid = align(laid, before.rows, before.places)
        places[chosen] = laid
        cells = learn_cells(points, threads, seed) if rest.size > _MANY else None
        for block in row_blocks(rest.size, 8.0 * (chosen.size if cells is None else fused.width)):
            part = rest[block]
            asked = fused.even(fused.rows(rows[part], threads, told))
            if cells is None:
                places[part] = _between_nearest(asked, points, laid)
            else:
                near = nearest_in_cells(asked, points, cells, min(_NEAREST, points.shape[0]), threads)
                places[part] = _mean_place(asked, points, near, laid)
            if on_round is not None:
                on_round(chosen.size + _PLACING * block.stop, in_all)
    return rows, places


def place_among(
    likeness: Likeness, late: Places, known: Known, *, seed: int = 0, most: int = MOST_FITTED
) -> tuple[Places, Singles]:
    """Those of the late rows that some view describes, and their places among those that are on a map."""
    fused = _Fused(likeness, seed, most)
    rows, late = fused.described(known.rows), fused.described(np.unique(late))
    laid = known.places[np.isin(known.rows, rows)]
    if not late.size or not rows.size:
        return late[:0], np.zeros((0, 2), dtype=np.float32)
    if rows.size > most:
        drawn = np.sort(np.random.default_rng(seed).choice(rows.size, size=most, replace=False))
        rows, laid = rows[drawn], laid[drawn]
    places = np.empty((late.size, 2), dtype=np.float32)
    with workers(None) as threads:
        told = fused.rows(rows, threads)
        points = fused.even(told)
        for block in row_blocks(late.size, 8.0 * rows.size):
            places[block] = _between_nearest(fused.even(fused.rows(late[block], threads, told)), points, laid)
    return late, places


def _only(known: Known, rows: Places) -> Known:
    """What is known of some rows (rising), by their number among these."""
    inside = np.isin(known.rows, rows)
    return Known(np.searchsorted(rows, known.rows[inside]), known.places[inside], known.settled)


def _between_known(points: Singles, known: Known) -> Singles:
    """Everyone's place: the known one, or among the nearest that have one."""
    places = np.empty((points.shape[0], 2), dtype=np.float32)
    places[known.rows] = known.places
    new = np.setdiff1d(np.arange(points.shape[0]), known.rows)
    for block in row_blocks(new.size, 8.0 * known.rows.size):
        places[new[block]] = _between_nearest(points[new[block]], points[known.rows], known.places)
    return places


class _Told(NamedTuple):
    """Items as one row each, and which of the views they have."""

    rows: Singles
    present: Mask


class _Fused:
    """Items as one row each, made when they are asked for: of a million items they would fill memory.

    A row is what the views say, each reduced to a few numbers and given the view's say. What an item lacks is filled in
    from its neighbours (``methods.gaps``), else the untagged would lie apart from the tagged; where these cannot tell
    either, the views it has count more for it.
    """

    def __init__(self, likeness: Likeness, seed: int, most: int) -> None:
        self._n_items = likeness.own.shape[0]
        self._parts = []
        for v, space in enumerate(likeness.spaces):
            if likeness.weights[v] > 0 and not np.isnan(likeness.base[v]):
                self._parts.append((space, float(likeness.weights[v]), _directions(space, seed, most)))
        self._edges = np.cumsum([0, *(directions.shape[1] for _, _, directions in self._parts)])
        self.width = int(self._edges[-1])
        self._row_bytes = 8.0 * self.width + sum(space.row_bytes for space, _, _ in self._parts) + 1.0

    def described(self, items: Places | None = None) -> Places:
        """Those of some items, or of all, of which some view says something."""
        items = np.arange(self._n_items) if items is None else items
        found = [items[:0]]
        for block in row_blocks(items.size, self._row_bytes):
            found.append(items[block][self._reduced(items[block]).present.any(axis=1)])
        return np.concatenate(found)

    def rows(self, items: Places, threads: Workers, known: _Told | None = None) -> _Told:
        """Items that are described, with what they lack filled in from each other, or from known ones."""
        blocks = [self._reduced(items[block]) for block in row_blocks(items.size, self._row_bytes)]
        told = _Told(np.concatenate([part.rows for part in blocks]), np.concatenate([part.present for part in blocks]))
        fill_gaps(told.rows, told.present, self._edges, threads, known)
        return told

    def even(self, told: _Told) -> Singles:
        """Rows in which the views that say something have all the say."""
        say = np.zeros(told.rows.shape[0])
        for v, (_, weight, _) in enumerate(self._parts):
            say += weight * told.rows[:, self._edges[v] : self._edges[v + 1]].any(axis=1)
        return np.asarray(told.rows / np.sqrt(say)[:, None].astype(np.float32))

    def _reduced(self, items: Places) -> _Told:
        """Rows of the views times the roots of their say, side by side."""
        rows = np.empty((items.size, self.width), dtype=np.float32)
        present = np.empty((items.size, len(self._parts)), dtype=bool)
        for v, (space, weight, directions) in enumerate(self._parts):
            part = space.units(items) @ directions
            part = part.toarray() if is_sparse(part) else np.asarray(part, dtype=np.float32)
            present[:, v] = part.any(axis=1)
            rows[:, self._edges[v] : self._edges[v + 1]] = np.sqrt(weight) * part
        return _Told(rows, present)


def _directions(space: Any, seed: int, most: int) -> Singles:
    """The directions in which unit rows of a view differ most, as columns, learned on a sample."""
    from sklearn.utils.extmath import randomized_svd

    rng = np.random.default_rng(seed)
    able = np.flatnonzero(space.present)
    sample = np.sort(rng.choice(able, size=most, replace=False)) if able.size > most else able
    units = space.units(sample)
    width = min(_DIMENSIONS, *units.shape) if sample.size else 0
    if not width:
        return np.zeros((units.shape[1], 1), dtype=np.float32)
    _, _, directions = randomized_svd(units, n_components=width, random_state=seed)
    return np.ascontiguousarray(directions.T, dtype=np.float32)


def _between_nearest(points: Singles, fitted: Singles, places: Singles) -> Singles:
    """The mean place of the nearest fitted points, the nearer the more it counts."""
    squares = np.einsum("ij,ij->i", fitted, fitted)
    distance = squares - 2.0 * (points @ fitted.T)
    n = min(_NEAREST, fitted.shape[0])
    best = largest(-distance, n)
    near = np.take_along_axis(distance, best, axis=1) + np.einsum("ij,ij->i", points, points)[:, None]
    return _weighted(near, places[best])


def _mean_place(points: Singles, fitted: Singles, near: Any, places: Singles) -> Singles:
    """The same where the nearest fitted points are known."""
    apart = points[:, None] - fitted[near]
    return _weighted(np.einsum("ijk,ijk->ij", apart, apart), places[near])


def _weighted(near: Singles, places: Singles) -> Singles:
    weight = 1.0 / (np.sqrt(np.maximum(near, 0.0)) + 1e-6)
    weight /= weight.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("ij,ijk->ik", weight, places), dtype=np.float32)


def _scaled(places: Singles) -> Singles:
    """Places within -1 and 1, the same scale both ways, with islands drawn together."""
    drawn = _packed(places.astype(np.float64))
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    return np.asarray((drawn - (low + high) / 2) / max(1e-9, float((high - low).max()) / 2), dtype=np.float32)


def _packed(places: Floats) -> Floats:
    """Islands moved towards the largest one, each as it is, until little sea is left between them.

    How far apart a layout puts what is not connected means little, and would leave most of the map empty. The nearest
    goes first; each stays in the direction where it lies.
    """
    from scipy.spatial import cKDTree

    near = cKDTree(places).query(places, k=min(_NEAREST + 1, len(places)))[0]
    width = _CELL * float(np.median(near[..., -1]))
    if not width > 0:
        return places
    island = _islands(places, width)
    packed, largest_one = places.copy(), int(np.argmax(np.bincount(island)))
    middle = np.median(places[island == largest_one], axis=0)
    centres = np.array([places[island == one].mean(axis=0) for one in range(island.max() + 1)])
    away = np.linalg.norm(centres - middle, axis=1)
    there = island == largest_one
    for one in np.argsort(away, kind="stable").tolist():
        if one == largest_one or not away[one] > 0:
            continue
        mine = island == one
        way = (middle - centres[one]) / away[one]
        packed[mine] += way * _free_way(cKDTree(packed[there]), packed[mine], way, _SEA * width, away[one])
        there |= mine
    return packed


def _free_way(others: Any, points: Floats, way: Floats, gap: float, most: float) -> float:
    """How far points can go until one is within the gap of others; as much as the nearest leaves free is safe."""
    gone = 0.0
    for _ in range(100):
        step = min(float(others.query(points + gone * way)[0].min()) - gap, most - gone)
        if step < 0.01 * gap:
            break
        gone += step
    return gone


def _islands(places: Floats, width: float) -> Places:
    """Which points hang together: those in one square cell, or in cells that touch."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    cells, cell = np.unique(np.floor(places / width), axis=0, return_inverse=True)
    pairs = cKDTree(cells).query_pairs(1.5, output_type="ndarray")
    touching = coo_matrix((np.ones(len(pairs)), pairs.T), shape=(len(cells), len(cells)))
    return np.asarray(connected_components(touching, directed=False)[1][cell.ravel()], dtype=np.intp)
