"""Plain k-means of rows in memory, from one start: the rounds of ``AcceleratedKMeans``, on whatever engine is given.

Labels are Lloyd's in float64, and starts are drawn here: so the same seed gives the same labels on every engine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....arrays import is_sparse
from ....engines.base import Engine
from ....types import Floats, Places
from .._accelerated_rounds import PlainTable, nearest_points, run_rounds
from .._accelerated_tables import SparseTable, Table

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
    table = PlainTable.of(rows)
    points = _start(table.table, n_clusters, init, seed).astype(np.float64)
    problem = table.problem(engine, max_iter, _TOLERANCE * _mean_variance(table.matrix), relocate=True)
    outcome = run_rounds(problem, lambda: points)
    return Partition(outcome.labels, outcome.points, outcome.inertia)


def _start(table: Table, n_clusters: int, init: Any, seed: int) -> NDArray[Any]:
    if not isinstance(init, str):
        return np.asarray(init)
    # With the draws of scikit-learn, which once did this: answers stay what they were.
    rng, n_rows = np.random.RandomState(seed), table.matrix.shape[0]
    even = np.ones(n_rows, dtype=table.matrix.dtype) / n_rows
    if init == "random":
        return table.dense_rows(rng.choice(n_rows, n_clusters, replace=False, p=even))
    seeds = np.empty(n_clusters, dtype=np.intp)
    seeds[0] = rng.choice(n_rows, p=even)
    uniform = rng.uniform(size=(n_clusters - 1, 2 + int(np.log(n_clusters))))
    if isinstance(table, SparseTable):
        _sparse_far_apart(table, uniform, seeds)
    else:
        from ._kernels import far_apart

        far_apart(table.matrix, uniform, seeds)
    return table.dense_rows(seeds)


def _sparse_far_apart(table: SparseTable, uniform: Floats, seeds: Places) -> None:
    """``far_apart`` of the kernels for CSR rows, whose distances are cheap."""
    everyone = np.arange(table.matrix.shape[0])
    nearest = table.item_squared_distances(everyone, seeds[:1])[:, 0]
    for number, draws in enumerate(uniform, 1):
        edges = np.cumsum(nearest)
        tries = np.minimum(np.searchsorted(edges, draws * edges[-1], side="right"), everyone.size - 1)
        found = np.minimum(table.item_squared_distances(everyone, tries), nearest[:, None])
        best = int(np.argmin(found.sum(axis=0)))
        seeds[number], nearest = tries[best], found[:, best].copy()


def _mean_variance(rows: Any) -> float:
    """The variance of a feature, the mean over all of them."""
    if is_sparse(rows):
        means = np.asarray(rows.mean(axis=0, dtype=np.float64)).ravel()
        squares = float((rows.data.astype(np.float64) ** 2).sum()) / rows.shape[0]
        return max(0.0, squares - float(means @ means)) / rows.shape[1]
    from ._kernels import mean_variance

    return float(mean_variance(rows))


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
