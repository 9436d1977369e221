"""What one pass over some views tells: their means and covariances, and the directions that follow from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.source import Rows, view_column
from ...data.views import Views
from ...engines.base import Engine
from ...types import Floats
from ._moments import Moments, Pass, Side
from ._solve import Solution, solve

__all__ = ["Learned"]

_WIDTH = 6144
"""Features of all views together up to which covariances are made as they are; wider views are reduced first."""


@dataclass(frozen=True)
class Learned:
    """The views that differ between items, by their numbers, with what is known of each."""

    acting: list[int]
    sides: list[Side]
    means: list[Floats]
    n_components: int
    _spreads: list[float]
    _moments: Moments | None
    _places: list[int]
    """Where the acting views are among the moments."""

    @classmethod
    def of(cls, views: Views, n_components: int, rng: np.random.Generator, engine: Engine) -> Learned:
        limit = max(512, _WIDTH // max(2, views.n_views))
        rank = min(limit, max(512, 4 * n_components))
        present = np.flatnonzero(views.mask.any(axis=0)).tolist()
        over = Pass.over(views, engine)
        sides = over.reduced_sides(views, present, limit, rank, rng)
        if not sides:
            return cls([], [], [], n_components, [], None, [])
        moments = over.covariances(sides)
        spreads = [_spread(moments, i, side) for i, side in enumerate(sides)]
        places = [i for i, spread in enumerate(spreads) if spread > 0]
        return cls(
            acting=[present[i] for i in places],
            sides=[sides[i] for i in places],
            means=[moments.means[i] for i in places],
            n_components=n_components,
            _spreads=[spreads[i] for i in places],
            _moments=moments,
            _places=places,
        )

    def directions(self, regularization: float) -> Solution:
        """Those in which the views agree most under a ridge."""
        moments, places = self._moments, self._places
        if moments is None or not places:
            return Solution([], np.zeros(0), np.zeros((0, 0, 0)))
        return solve(
            lambda i, j: moments.covariance(places[i], places[j]),
            [spread / side.n_features for spread, side in zip(self._spreads, self.sides, strict=True)],
            regularization,
            self.n_components,
            max(float(np.finfo(side.dtype).eps) for side in self.sides),
        )

    def coordinates(self, views: Views, solution: Solution) -> dict[int, Floats]:
        """Of other items in memory, by the number of the acting view; what an item lacks says nothing."""
        rows = Rows(0, {view_column(name): matrix for name, matrix in views.items()} | {"mask": views.mask}, {})
        found = {}
        for v, side, mean, part in zip(self.acting, self.sides, self.means, solution.directions, strict=True):
            found[v] = np.asarray(side.rows(rows, slice(0, views.n_items)) @ part) - mean @ part
        return found


def _spread(moments: Moments, i: int, side: Side) -> float:
    """The sum of a view's variances; 0 where they are nothing but rounding."""
    spread = float(moments.variances(i).sum()) if side.variance is None else side.variance
    squares = float(np.trace(moments.products[i, i])) / max(moments.counts[i, i], 1.0)
    return spread if spread > 64 * np.finfo(side.dtype).eps * squares else 0.0
