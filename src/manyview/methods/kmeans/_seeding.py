"""Where k-means starts: items chosen far apart in all views together, or at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...blocks import Workers, row_blocks
from ...data.source import RowSource
from ...types import Floats, Places
from ._robust_assignment import Frame, open_views
from ._scaled_views import ScaledView

__all__ = ["candidates", "choose_seeds", "seed_points"]

_SAMPLE = 100_000  # seeds are sought among at most this many items
_STRANGERS = 2.0  # mean squared distance of two items, where 1 is the mean to the centre


def seed_points(
    source: RowSource, frame: Frame, mean_squares: Floats, init: str, rng: np.random.Generator, workers: Workers
) -> list[Floats]:
    """Items to start from, as centroids of every view. Of rows that are elsewhere, the sample alone is fetched."""
    weight = source.columns["weight"]
    items = candidates(weight, rng)
    if source.is_remote:
        rows, weight, items = source.take(items), weight[items], np.arange(items.size)
    else:
        rows = source.rows(0, source.n_rows).part(slice(0, source.n_rows))
    views = open_views(rows, frame)
    for view in views:
        view.keep_norms(workers, items)
    seeds = choose_seeds(views, weight, mean_squares, frame.n_clusters, init, rng, workers, items)
    return [view.points(seeds) for view in views]


def candidates(weight: Floats, rng: np.random.Generator) -> Places:
    """The items among which seeds are sought: all that count, or a sample of them."""
    items = np.flatnonzero(weight > 0)
    return np.sort(rng.choice(items, _SAMPLE, replace=False)) if items.size > _SAMPLE else items


def choose_seeds(
    views: Sequence[ScaledView],
    weight: Floats,
    mean_squares: Floats,
    n_clusters: int,
    init: str,
    rng: np.random.Generator,
    workers: Workers,
    items: Places | None = None,
) -> Places:
    """Items to start from, among those given, or a sample of all. The same item supplies the centre in every view.

    ``init="random"`` draws distinct items. ``"k-means++"`` draws each next one with a probability
    proportional to its squared distance from those drawn before, added over views that are each divided
    by their mean square, and keeps the best of 2 + ln K tries. Views that two items do not share are
    left out of their distance. Costs O(n K ln K) distances over at most 100,000 items; a sample is copied block by
    block.
    """
    items = candidates(weight, rng) if items is None else items
    if init == "random" or n_clusters == 1:
        return rng.choice(items, n_clusters, replace=False)
    mass = weight[items]
    n_tries = 2 + int(np.log(n_clusters))
    seeds = [int(items[_draw(mass, rng.random(1))[0]])]
    nearest = _squared_distances(views, mean_squares, items, np.array(seeds), workers)[:, 0]
    nearest[items == seeds[0]] = 0.0
    while len(seeds) < n_clusters:
        potential = nearest * mass
        if potential.sum() > 0:
            tries = items[np.unique(_draw(potential, rng.random(n_tries)))]
        else:  # every item equals a seed: any other item will do
            tries = rng.choice(np.setdiff1d(items, seeds), 1)
        distances = _squared_distances(views, mean_squares, items, tries, workers)
        np.minimum(distances, nearest[:, None], out=distances)
        best = int(np.argmin(mass @ distances))
        seeds.append(int(tries[best]))
        nearest = distances[:, best].copy()
        nearest[items == seeds[-1]] = 0.0
    return np.array(seeds, dtype=np.intp)


def _draw(mass: Floats, uniform: Floats) -> Places:
    edges = np.cumsum(mass)
    drawn = np.searchsorted(edges, uniform * edges[-1], side="right")
    return np.minimum(drawn, np.flatnonzero(mass)[-1])


def _squared_distances(
    views: Sequence[ScaledView], mean_squares: Floats, items: Places, targets: Places, workers: Workers
) -> Floats:
    """Squared distances over all views, each in its mean squares; an unshared view counts as the mean of the shared."""

    def block(rows: slice) -> Floats:
        total = np.zeros((items[rows].size, targets.size))
        shared = np.zeros((items[rows].size, targets.size))
        for view, mean_square in zip(views, mean_squares, strict=True):
            distances = view.item_squared_distances(items[rows], targets) / mean_square
            both = view.present[items[rows]][:, None] & view.present[targets][None, :]
            total += np.where(both, distances, 0.0)
            shared += both
        mean = np.divide(total, shared, out=np.full_like(total, _STRANGERS), where=shared > 0)
        return mean * len(views)

    row_bytes = max(view.n_features for view in views) * 8  # one view after the other
    return np.concatenate(list(workers.map(block, row_blocks(items.size, row_bytes))))
