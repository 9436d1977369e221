"""Plain k-means of rows in memory, from one start: the rounds of ``AcceleratedKMeans``, on whatever engine is given.

Labels are Lloyd's in float64, and starts are drawn here: so the same seed gives the same labels on every engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....engines.base import Engine
from ....types import Floats
from .._accelerated_rounds import PlainTable, nearest_points, run_rounds

__all__ = ["Partition", "PlainTable", "nearest_centres", "plain_kmeans", "short_kmeans"]

_TOLERANCE = 1e-4  # of the mean variance of a feature: centres that move less than this are where they belong
_ROUNDS = 15  # of a short k-means: no need to converge, variety is wanted
_MANY = 60  # clusters from which drawn items are as good a start as k-means++, and much faster


class Partition(NamedTuple):
    """Where k-means ended: the labels of the rows it learned from, its centres, and its inertia."""

    labels: NDArray[np.int32]
    centres: Floats
    inertia: float

    @property
    def rank(self) -> np.float32:
        """The inertia, to compare starts by: those that end in one place are equal, whatever their last digits."""
        return np.float32(self.inertia)


def plain_kmeans(rows: NDArray[Any], n_clusters: int, init: Any, max_iter: int, seed: int, engine: Engine) -> Partition:
    """k-means of the rows from one start: "k-means++", "random" rows, or given centres.

    Stops when no label changes, or when centres hardly move; an empty cluster goes to the row farthest from its centre.
    """
    from ._kernels import mean_variance

    table = PlainTable.of(rows)
    matrix = table.matrix
    points = _start(matrix, n_clusters, init, seed).astype(np.float64)
    problem = table.problem(engine, max_iter, _TOLERANCE * float(mean_variance(matrix)), relocate=True)
    outcome = run_rounds(problem, lambda: points)
    return Partition(outcome.labels, outcome.points, outcome.inertia)


def _start(rows: NDArray[Any], n_clusters: int, init: Any, seed: int) -> NDArray[Any]:
    if not isinstance(init, str):
        return np.asarray(init)
    rng, n_rows = np.random.RandomState(seed), rows.shape[0]  # with the draws of scikit-learn, which once did this
    even = np.ones(n_rows, dtype=rows.dtype) / n_rows
    if init == "random":
        return np.asarray(rows[rng.choice(n_rows, n_clusters, replace=False, p=even)])
    from ._kernels import far_apart

    seeds = np.empty(n_clusters, dtype=np.intp)
    seeds[0] = rng.choice(n_rows, p=even)
    far_apart(rows, rng.uniform(size=(n_clusters - 1, 2 + int(np.log(n_clusters)))), seeds)
    return np.asarray(rows[seeds])


def nearest_centres(table: PlainTable, centres: Floats, engine: Engine) -> NDArray[np.int32]:
    """The nearest centre of every row of a table, the lowest number on ties."""
    return nearest_points(table.problem(engine, 1, 0.0, relocate=False), centres)


def short_kmeans(
    rows: NDArray[Any],
    n_clusters: int,
    rng: np.random.Generator,
    engine: Engine,
    sampled: Callable[[int], NDArray[Any]] | None = None,
    many: int = _MANY,
) -> Partition:
    """One quick partition into K to 3K clusters (never more than a third of the rows): a voter, not an answer.

    ``sampled`` draws the rows to learn from, given the number of clusters.
    """
    asked = int(np.clip(rng.integers(n_clusters, 3 * n_clusters + 1), 2, max(2, rows.shape[0] // 3)))
    learn_from = rows if sampled is None else sampled(asked)
    init = "k-means++" if asked < many else "random"
    return plain_kmeans(learn_from, asked, init, _ROUNDS, int(rng.integers(2**31)), engine)
