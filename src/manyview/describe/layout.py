"""Items laid out on a plane by how much alike they are over all views: a map, and places on one for later items."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import is_sparse
from ..blocks import row_blocks, workers
from ..data.nearest import largest
from ..methods.plane import align, lay_out_points
from ..types import Floats, Places, Singles
from .likeness import Likeness

__all__ = ["MOST_FITTED", "Known", "lay_out", "place_among"]

MOST_FITTED = 20_000
"""Items the layout is fitted on; the others are placed among their nearest of these."""
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
    on_round: Callable[[int, int], None] | None = None,
) -> tuple[Places, Singles]:
    """Rows of the items some view describes, and their places; a first map is between -1 and 1.

    known : an earlier map. The layout starts from it and is turned and scaled back onto it, so that items stay about
        where they were
    on_round : called with how much is done, and of how much

    Fitted on at most ``most`` items, drawn by the seed; the others go to the mean of their five nearest of those,
    at n * most * 50 to 100 operations. On one core: 2 s for 2,000 items, 8 s for 20,000, about 35 s for 100,000. Memory
    is 400 bytes an item and view.
    """
    points, rows = _fuse(likeness, seed, most)
    if not rows.size:
        return rows, np.zeros((0, 2), dtype=np.float32)
    known = None if known is None else _only(known, rows)
    chosen = np.arange(rows.size)
    if rows.size > most:
        chosen = np.sort(np.random.default_rng(seed).choice(rows.size, size=most, replace=False))
    before = None if known is None else _only(known, chosen)
    start, settled = None, False
    if before is not None and before.rows.size >= _ENOUGH_KNOWN * chosen.size:
        start, settled = _between_known(points[chosen], before), before.settled
    with workers(n_jobs) as threads:
        laid = lay_out_points(points[chosen], threads, seed=seed, start=start, settled=settled, on_round=on_round)
    laid = _scaled(laid) if start is None else laid
    if before is not None and before.rows.size > 1:
        laid = align(laid, before.rows, before.places)
    places = np.zeros((rows.size, 2), dtype=np.float32)
    places[chosen] = laid
    rest = np.setdiff1d(np.arange(rows.size), chosen)
    for block in row_blocks(rest.size, 8.0 * chosen.size):
        part = rest[block]
        places[part] = _between_nearest(points[part], points[chosen], laid)
        if on_round is not None:
            on_round(chosen.size + block.stop, rows.size)
    return rows, places


def place_among(
    likeness: Likeness, late: Places, known: Known, *, seed: int = 0, most: int = MOST_FITTED
) -> tuple[Places, Singles]:
    """Those of the late rows that some view describes, and their places among those that are on a map."""
    points, rows = _fuse(likeness, seed, most)
    there = _only(known, rows)
    late = np.intersect1d(late, rows)
    if not late.size or not there.rows.size:
        return late[:0], np.zeros((0, 2), dtype=np.float32)
    if there.rows.size > most:
        drawn = np.sort(np.random.default_rng(seed).choice(there.rows.size, size=most, replace=False))
        there = Known(there.rows[drawn], there.places[drawn])
    places = np.empty((late.size, 2), dtype=np.float32)
    for block in row_blocks(late.size, 8.0 * there.rows.size):
        asked = np.searchsorted(rows, late[block])
        places[block] = _between_nearest(points[asked], points[there.rows], there.places)
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


def _fuse(likeness: Likeness, seed: int, most: int) -> tuple[Singles, Places]:
    """Each item that some view describes as one row, and which items those are.

    A row is what the views say, each reduced to a few numbers and given the view's say. A view that an item lacks adds
    nothing, and the views it has count more for it.
    """
    n_items = likeness.own.shape[0]
    parts, say = [], np.zeros(n_items)
    for v, space in enumerate(likeness.spaces):
        if likeness.weights[v] <= 0 or np.isnan(likeness.base[v]):
            continue
        reduced = _reduced(space, n_items, seed, most)
        say += likeness.weights[v] * reduced.any(axis=1)
        parts.append(np.sqrt(likeness.weights[v]) * reduced)
    rows = np.flatnonzero(say > 0)
    if not rows.size:
        return np.zeros((0, 1), dtype=np.float32), rows
    fused = np.concatenate([part[rows] for part in parts], axis=1).astype(np.float32)
    fused /= np.sqrt(say[rows])[:, None].astype(np.float32)
    return fused, rows


def _reduced(space: Any, n_items: int, seed: int, most: int) -> Singles:
    """Unit rows of a view along the directions in which they differ most, learned on a sample."""
    from sklearn.utils.extmath import randomized_svd

    rng = np.random.default_rng(seed)
    able = np.flatnonzero(space.present)
    sample = np.sort(rng.choice(able, size=most, replace=False)) if able.size > most else able
    units = space.units(sample)
    width = min(_DIMENSIONS, *units.shape) if sample.size else 0
    if not width:
        return np.zeros((n_items, 1), dtype=np.float32)
    _, _, directions = randomized_svd(units, n_components=width, random_state=seed)
    directions = np.ascontiguousarray(directions.T, dtype=np.float32)
    found = np.zeros((n_items, width), dtype=np.float32)
    for block in row_blocks(n_items, space.row_bytes):
        part = space.units(block) @ directions
        found[block] = part.toarray() if is_sparse(part) else part
    return found


def _between_nearest(points: Singles, fitted: Singles, places: Singles) -> Singles:
    """The mean place of the nearest fitted points, the nearer the more it counts."""
    squares = np.einsum("ij,ij->i", fitted, fitted)
    distance = squares - 2.0 * (points @ fitted.T)
    n = min(_NEAREST, fitted.shape[0])
    best = largest(-distance, n)
    near = np.take_along_axis(distance, best, axis=1) + np.einsum("ij,ij->i", points, points)[:, None]
    weight = 1.0 / (np.sqrt(np.maximum(near, 0.0)) + 1e-6)
    weight /= weight.sum(axis=1, keepdims=True)
    return np.asarray(np.einsum("ij,ijk->ik", weight, places[best]), dtype=np.float32)


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
