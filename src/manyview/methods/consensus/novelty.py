"""Which new items are unlike everything that is known, without labels and without a threshold to set by eye."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers, workers
from ...data.nearest import nearest_among
from ...data.spaces import to_points
from ...data.views import Views
from ...types import Floats
from ..preparation import prepare

__all__ = ["FALSE_ALARMS", "Strangeness", "measure_strangeness"]

Rows = NDArray[np.float32]

FALSE_ALARMS = 0.01
"""At most this share of items like the known ones is called strange."""
_VOTING = 10
_NEIGHBOURS = 4
"""Those of a group of five, the smallest that opens a cluster, so that its members are at home in it."""
_REFERENCE = 1_000


@dataclass(frozen=True)
class Strangeness:
    """How new items stand to known ones."""

    familiarity: Floats
    """(n_new,): in the view where an item is most at home, the share of known items that are at least as far from their
    neighbours as it is from its own; NaN where it has no view to tell by."""
    neighbours: NDArray[np.int32]
    """(n_new, at most 10): the nearest known items over all views, nearest first, as rows."""
    spaces: tuple[tuple[Rows, NDArray[np.bool_], float], ...]
    """For each view: the new items' points, who has one, and the distance within which known items have neighbours."""

    @property
    def strange(self) -> NDArray[np.bool_]:
        """(n_new,): unlike everything known."""
        return self.familiarity < FALSE_ALARMS

    def groups(self, items: NDArray[np.intp]) -> NDArray[np.intp]:
        """Numbers from 0 for items (rows of the new ones) that resemble each other, the same within a group.

        Two resemble each other where in at least half of the views they share they are as close as known items are to
        their neighbours; whoever resembles one of a group is in it.
        """
        from scipy.sparse.csgraph import connected_components

        shared, near = np.zeros((2, items.size, items.size))
        for rows, present, reach in self.spaces:
            points, here = rows[items].astype(np.float64), present[items]
            both = here[:, None] & here
            square = (points**2).sum(axis=1)
            distance = np.sqrt(np.maximum(0.0, square[:, None] + square - 2.0 * points @ points.T))
            shared += both
            near += both & (distance <= reach)
        return connected_components((near > 0) & (2 * near >= shared), directed=False)[1].astype(np.intp)


def measure_strangeness(
    known: Views,
    new: Views,
    *,
    scalings: Mapping[str, Any] | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Strangeness:
    """Compare new items with known ones, view by view.

    In each view, an item's distance to its fourth nearest known item is ranked among the same distances of up to 1,000
    known items (their own row left out). An item is strange where it is farther out than 99 of 100 of them in every
    view it has: of new items that come from where the known ones came from, at most one in a hundred is (a conformal
    test; with several views fewer). With fewer than 100 known items nothing is called strange.

    known, new : Views with the same columns
    scalings : per view what ``ConsensusClustering`` learned of it; learned here for views that are not named

    O((n_new + 1,000) n_known d) operations as matrix products; memory is the scaled rows.
    """
    familiarity = np.full(new.n_items, np.nan)
    spaces, sides = [], []
    with workers(n_jobs) as threads:
        for name in known.names:
            if name not in new.names:
                continue
            there, here = _points(name, known, new, (scalings or {}).get(name), threads)
            if there[0].shape[1] == 0 or there[1].sum() < 2:
                continue
            sides.append((there, here))
            share, reach = _ranked(there, here, seed, threads)
            spaces.append((*here, reach))
            familiarity = np.fmax(familiarity, share)
        if not sides:
            return Strangeness(familiarity, np.empty((new.n_items, 0), dtype=np.int32), ())
        joined = [np.hstack([side[n][0] for side in sides]) for n in (0, 1)]
        count = min(_VOTING, known.n_items)
        neighbours = nearest_among(joined[1], joined[0], count, threads)
    return Strangeness(familiarity, neighbours, tuple(spaces))


def _points(
    name: str, known: Views, new: Views, learned: Any, threads: Workers
) -> tuple[tuple[Rows, NDArray[np.bool_]], tuple[Rows, NDArray[np.bool_]]]:
    if learned is None:
        found = prepare(known[[name]], "rank", threads)
        there, learned = (found.points[name], found.speaking[name]), found.spaces[name]
    else:
        there = to_points(learned, known[name], known.present(name), threads)
    return there, to_points(learned, new[name], new.present(name), threads)


def _ranked(
    there: tuple[Rows, NDArray[np.bool_]], here: tuple[Rows, NDArray[np.bool_]], seed: int, threads: Workers
) -> tuple[Floats, float]:
    """The share of known items at least as far out as each new one (NaN: it lacks the view), and the usual reach."""
    rows, queries = np.ascontiguousarray(there[0][there[1]]), np.ascontiguousarray(here[0][here[1]])
    count = min(_NEIGHBOURS, rows.shape[0] - 1)
    own = np.arange(rows.shape[0], dtype=np.int32)
    if own.size > _REFERENCE:
        own = np.sort(np.random.default_rng(seed).choice(own, _REFERENCE, replace=False))
    usual = np.sort(_reach(rows[own], rows, nearest_among(rows[own], rows, count, threads, own=own)))
    found = _reach(queries, rows, nearest_among(queries, rows, count, threads))
    farther = usual.size - np.searchsorted(usual, found * (1.0 - 1e-6), side="left")
    share = np.full(here[1].size, np.nan)
    share[here[1]] = (1.0 + farther) / (1.0 + usual.size)
    return share, float(np.quantile(usual, 1.0 - FALSE_ALARMS))


def _reach(queries: Rows, rows: Rows, near: NDArray[np.int32]) -> Floats:
    """Distance to the last of the neighbours."""
    return np.sqrt(((queries.astype(np.float64) - rows[near[:, -1]]) ** 2).sum(axis=1))
