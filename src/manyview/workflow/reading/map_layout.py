"""The map of a run: kept with it by ``fit``, kept up by ``add``, and read for the gallery."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...collection.maps import KeptMap
from ...collection.runs import Run
from ...collection.store import Store
from ...describe.layout import MOST_FITTED, Known, lay_out, place_among
from ...describe.likeness import Likeness
from ...describe.profiles import cluster_profiles
from ...errors import ParameterError
from ...steps import at_work, step
from ...types import Ids, Progress, Singles
from ..clusters.state import State
from .index import Index

__all__ = [
    "MapLayout",
    "Mapped",
    "cost_of_map",
    "cost_of_profiles",
    "draw_map",
    "keep_map",
    "make_map",
    "place_late",
    "read_map",
]

_USUAL_WIDTH = 1_400
"""Numbers that describe a picture with tags."""


@dataclass(frozen=True)
class MapLayout:
    """Where items lie."""

    rows: NDArray[np.int64]
    """Rows of the items that are on the map, in the index it was read with."""
    places: Singles
    """(n, 2); between -1 and 1 for the first map of a collection, and about there for those that follow it."""
    made_at: str
    settings: dict[str, Any]


class Drawn(NamedTuple):
    """A map that is not kept yet."""

    ids: Ids
    places: Singles
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
    collection: Store,
    run_id: int | None = None,
    *,
    seed: int = 0,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Mapped:
    """Lay out a run, the newest when none is named, and keep the map with it.

    It goes on from the map the run has, or from the newest map there is, so that items stay about where they were;
    ``fresh`` starts anew, and then the same seed gives the same map. Cost: ``describe.layout.lay_out``.
    """
    run = collection.runs.get_fit(run_id)
    started = time.perf_counter()
    state = State(collection, run)
    ids = state.ids
    costs = {"comparing items": cost_of_profiles(ids.size), "map": cost_of_map(ids.size)}
    with collection.unlocked(), at_work("laying out", progress, costs):
        with step("comparing items"):
            likeness = _likeness(state)
        before = None if fresh else collection.maps.get(run.id) or collection.maps.newest()
        drawn = draw_map(likeness, ids, before, seed=seed)
    keep_map(collection, run.id, drawn)
    return Mapped(run.id, int(drawn.ids.size), int(ids.size - drawn.ids.size), time.perf_counter() - started)


def draw_map(
    likeness: Likeness,
    ids: Ids,
    before: KeptMap | None,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Drawn:
    """A map of items that were compared, whose numbers are ``ids``; it goes on from the one before."""
    views = sorted(name for name, say in zip(likeness.names, likeness.weights, strict=True) if say > 0)

    known = None
    if before is not None:
        known = _known(before, ids, settled=before.settings.get("views") == views)
    with step("map") as tick:
        rows, places = lay_out(
            likeness, seed=seed, known=known, n_jobs=n_jobs, on_round=lambda done, total: tick(done / total)
        )
    return Drawn(ids[rows], places, {"seed": seed, "views": views})


def cost_of_map(n_items: int, width: int = _USUAL_WIDTH) -> float:
    """Seconds of one core, about, for items described by so many numbers: laying out some, and placing the rest."""
    return min(n_items, MOST_FITTED) * (3.5e-4 + 4.5e-7 * width) + 6e-5 * max(0, n_items - MOST_FITTED)


def cost_of_profiles(n_items: int, width: int = _USUAL_WIDTH) -> float:
    """The same of comparing items with clusters, names, and keeping the run."""
    return 0.02 + n_items * (1.1e-5 + 1.5e-8 * width)


def keep_map(collection: Store, run_id: int, drawn: Drawn) -> None:
    """Keep a map with its run."""
    collection.maps.keep(run_id, drawn.ids, drawn.places, drawn.settings)


def place_late(state: State, late: Iterable[int]) -> Drawn | None:
    """The map of a run with items on it that came or changed since; None where there is no map, or nobody is late.

    One pass over the views, and the distance of each late item to at most 20,000 that are on the map; the others
    stay where they are.
    """
    kept = state.collection.maps.get(state.run.id)
    asked = np.array(sorted(set(late)), dtype=np.int64)
    if kept is None or not asked.size:
        return None
    rest = ~np.isin(kept.ids, asked)
    known = _known(KeptMap(kept.ids[rest], kept.places[rest], kept.made_at, kept.settings), state.ids)
    rows = np.flatnonzero(np.isin(state.ids, asked))
    found, places = place_among(_likeness(state), rows, known, seed=kept.settings.get("seed", 0))
    ids = np.concatenate([kept.ids[rest], state.ids[found]])
    order = np.argsort(ids)
    return Drawn(ids[order], np.concatenate([kept.places[rest], places])[order], kept.settings)


def _known(before: KeptMap, ids: Ids, settled: bool = True) -> Known:
    """The items of a map that are among others."""
    here = np.isin(before.ids, ids)
    return Known(np.searchsorted(ids, before.ids[here]), before.places[here], settled)


def _likeness(state: State) -> Likeness:
    X = state.views
    if X is None:
        raise ParameterError(f"the views of run {state.run.id} no longer exist. Fit again, then make the map.")
    found = cluster_profiles(X, np.zeros(state.ids.size, dtype=np.int64), view_weights=state.weights).likeness
    if found is None:
        raise ParameterError(f"run {state.run.id} has no view to make a map of.")
    return found
