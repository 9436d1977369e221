"""A map of a run: its views fused into one space, and that laid out on a plane so that what is alike lies together."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import row_blocks
from ...collection.runs import Run
from ...collection.store import Store
from ...data.nearest import largest
from ...describe.likeness import Likeness
from ...describe.profiles import cluster_profiles
from ...errors import ParameterError
from ...types import Progress, Singles
from ..clusters.state import State
from .index import Index

__all__ = ["MapLayout", "Mapped", "lay_out", "make_map", "read_map"]


MOST_FITTED = 20_000
"""Items the layout is fitted on; the others are placed among their nearest of these."""
_DIMENSIONS = 50
_NEAREST = 5
_FEWEST = 15
"""Items below which a plane through them says as much as a layout."""


@dataclass(frozen=True)
class MapLayout:
    """Where items lie."""

    rows: NDArray[np.int64]
    """Rows of the items that are on the map, in the index it was read with."""
    places: Singles
    """(n, 2), between -1 and 1."""
    made_at: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Mapped:
    """A map that was kept."""

    run: int
    n_items: int
    n_lacking: int
    """Items no view describes; they are not on it."""
    seconds: float


def read_map(index: Index, run: Run) -> MapLayout | None:
    """The map of a run, or None; items that are gone since are left out."""
    return index.part("map", "items runs", lambda: _read(index, run), run.id)


def _read(index: Index, run: Run) -> MapLayout | None:
    kept = index.collection.maps.get(run.id)
    if kept is None:
        return None
    here = index.is_here(kept.ids)
    return MapLayout(np.searchsorted(index.ids, kept.ids[here]), kept.places[here], kept.made_at, kept.settings)


def make_map(
    collection: Store, run_id: int | None = None, *, seed: int = 0, progress: Progress | None = None
) -> Mapped:
    """Lay out a run, the newest when none is named, and keep the map with it. The same seed gives the same map.

    Fitted on at most 20,000 items, drawn by the seed; the others go to the mean of their five nearest of those.
    Takes about a minute for 20,000 items and O(n) after that; memory is 200 bytes an item.
    """
    run = collection.runs.get(run_id)
    if run.kind != "fit":
        raise ParameterError(f"run {run.id} made proposals, not clusters; a map needs a fit.")
    started = time.perf_counter()
    state = State(collection, run)
    X = state.views
    if X is None:
        raise ParameterError(f"the views of run {run.id} no longer exist. Fit again, then make the map.")
    ids = state.ids
    with collection.unlocked():
        if progress is not None:
            progress("fusing views", 0, 1)
        likeness = cluster_profiles(X, np.zeros(ids.size, dtype=np.int64), view_weights=state.weights).likeness
        if likeness is None:
            raise ParameterError(f"run {run.id} has no view to make a map of.")
        rows, places = lay_out(likeness, seed=seed, progress=progress)
    collection.maps.keep(run.id, ids[rows], places, {"seed": seed})
    return Mapped(run.id, int(rows.size), int(ids.size - rows.size), time.perf_counter() - started)


def lay_out(
    likeness: Likeness, *, seed: int = 0, most: int = MOST_FITTED, progress: Progress | None = None
) -> tuple[NDArray[np.int64], Singles]:
    """Rows of the items some view describes, and their places on the plane."""
    fused, known = _fuse(likeness, seed, most)
    rows = np.flatnonzero(known)
    if not rows.size:
        return rows, np.zeros((0, 2), dtype=np.float32)
    points = fused[rows]
    rng = np.random.default_rng(seed)
    chosen = np.arange(rows.size)
    if rows.size > most:
        chosen = np.sort(rng.choice(rows.size, size=most, replace=False))
    if progress is not None:
        progress("laying out", 0, rows.size)
    places = np.zeros((rows.size, 2), dtype=np.float32)
    places[chosen] = _plane(points[chosen], seed)
    rest = np.setdiff1d(np.arange(rows.size), chosen)
    for block in row_blocks(rest.size, 8.0 * chosen.size):
        part = rest[block]
        places[part] = _between_nearest(points[part], points[chosen], places[chosen])
        if progress is not None:
            progress("laying out", chosen.size + block.stop, rows.size)
    if progress is not None:
        progress("laying out", rows.size, rows.size)
    return rows, _scaled(places)


def _fuse(likeness: Likeness, seed: int, most: int) -> tuple[Singles, NDArray[np.bool_]]:
    """Each item as one row: what its views say, each reduced to a few numbers and given the view's say.

    A view that an item lacks adds nothing, and the views it has count more for it.
    """
    n_items = likeness.own.shape[0]
    parts, said = [], np.zeros((n_items, len(likeness.names)))
    for v, space in enumerate(likeness.spaces):
        if likeness.weights[v] <= 0 or np.isnan(likeness.base[v]):
            continue
        reduced = _reduced(space, n_items, seed, most)
        said[:, v] = likeness.weights[v] * reduced.any(axis=1)
        parts.append(np.sqrt(likeness.weights[v]) * reduced)
    if not parts:
        return np.zeros((n_items, 1), dtype=np.float32), np.zeros(n_items, dtype=bool)
    fused = np.concatenate(parts, axis=1).astype(np.float32)
    say = said.sum(axis=1)
    known = say > 0
    fused[known] /= np.sqrt(say[known])[:, None].astype(np.float32)
    return fused, known


def _reduced(space: Any, n_items: int, seed: int, most: int) -> Singles:
    """Unit rows of a view along the directions in which they differ most, learned on a sample."""
    from sklearn.utils.extmath import randomized_svd

    from ...arrays import is_sparse

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


def _plane(points: Singles, seed: int) -> Singles:
    """A layout of points: UMAP where there are enough of them, else the plane they spread out in most."""
    flat = _flat(points)
    if points.shape[0] < _FEWEST:
        return flat
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from umap import UMAP

        found = UMAP(
            n_neighbors=min(15, points.shape[0] - 1),
            min_dist=0.5,  # room between points: pictures can be told apart, and the map is filled
            init=10.0 * flat / max(1e-9, float(np.abs(flat).max())) + _jitter(flat.shape, seed),
            random_state=seed,
            n_jobs=1,
        ).fit_transform(points)
    return np.nan_to_num(np.asarray(found, dtype=np.float32))


def _flat(points: Singles) -> Singles:
    centred = points - points.mean(axis=0)
    if points.shape[0] < 2 or points.shape[1] < 2:
        return np.column_stack([centred[:, 0], np.zeros(points.shape[0], dtype=np.float32)])
    _, vectors = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    axes = vectors[:, ::-1][:, :2]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)  # the sign is a convention
    return np.asarray(centred @ axes, dtype=np.float32)


def _jitter(shape: tuple[int, ...], seed: int) -> Singles:
    """Equal points must not start in the same place."""
    return np.random.default_rng(seed).normal(scale=1e-3, size=shape).astype(np.float32)


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
    """Places within -1 and 1, the same scale both ways, with far islands drawn nearer.

    How far apart a layout puts what is not connected means little, and would leave most of the map empty: distances
    from the middle count as they are up to the typical one and by their logarithm beyond it.
    """
    if not places.size:
        return places
    about = places - np.median(places, axis=0)
    far = np.hypot(*about.T)
    typical = max(1e-9, float(np.median(far)))
    drawn = about * (np.arcsinh(far / typical) / np.maximum(far / typical, 1e-9))[:, None]
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    return np.asarray((drawn - (low + high) / 2) / max(1e-9, float((high - low).max()) / 2), dtype=np.float32)
