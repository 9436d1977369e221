"""Means and covariances of several views in one pass over their rows, dense or sparse, centred without a copy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import is_sparse
from ...data.source import RowSource, view_column
from ...data.views import Views
from ...engines.base import Engine, Plan, add_in_double, cut, total
from ...errors import ViewError
from ...types import Floats, Places
from ._sides import Side, direction_leaf, largest_leaf, moments_leaf, pairs_of

__all__ = ["Moments", "Pass", "Side"]


_BLOCK_BYTES = 48 * 2**20
_MOST_ROWS = 4096  # in single precision errors grow with the rows that are added up
_OVERSAMPLING = 32
_POWER_ITERATIONS = 2
_SECONDS_PER_PRODUCT = 5e-11  # of two numbers, on one core
_SECONDS_PER_BYTE = 2e-10  # to read and to prepare


@dataclass
class Moments:
    """Sums over items. ``sums[i][:, j]``: of view i over the items that also have view j; ``counts[i, j]`` of them."""

    counts: Floats
    sums: list[Floats]
    products: dict[tuple[int, int], Floats]

    @property
    def means(self) -> list[Floats]:
        return [sums[:, i] / max(self.counts[i, i], 1.0) for i, sums in enumerate(self.sums)]

    def variances(self, i: int) -> Floats:
        """Of each feature of a view, as on the diagonal of its covariance."""
        count = self.counts[i, i]
        squares = np.diagonal(self.products[i, i])
        return np.maximum(squares - count * self.means[i] ** 2, 0.0) / max(count - 1.0, 1.0)

    def covariance(self, i: int, j: int) -> Floats:
        """Of the items that have both views, about the means of each view."""
        means, count = self.means, self.counts[i, j]
        if count < 1:
            return np.zeros_like(self.products[i, j])
        own, other = self.sums[i][:, j], self.sums[j][:, i]
        # sum (x - a)(y - b)' = sum xy' - sx b' - a sy' + n a b', as one correction of rank two
        left = np.column_stack([own, means[i]])
        right = np.column_stack([means[j], other - count * means[j]])
        return (self.products[i, j] - left @ right.T) / max(count - 1.0, 1.0)


@dataclass(frozen=True)
class Pass:
    """The rows of some views, and who reads them."""

    engine: Engine
    source: RowSource

    @classmethod
    def over(cls, views: Views, engine: Engine) -> Pass:
        columns = {view_column(name): matrix for name, matrix in views.items()}
        return cls(engine, engine.place(RowSource({**columns, "mask": views.mask})))

    def _plan(self, row_bytes: float, n_products: float) -> Plan:
        seconds = _SECONDS_PER_BYTE * row_bytes + _SECONDS_PER_PRODUCT * n_products
        return cut(self.source.n_rows, max(row_bytes, _BLOCK_BYTES / _MOST_ROWS), _BLOCK_BYTES, seconds)

    def covariances(self, sides: list[Side]) -> Moments:
        """All sums and products in one pass; once more where the range of the numbers was misjudged."""
        moments = self._moments(sides)
        wrong = [i for i, side in enumerate(sides) if side.basis is None and _out_of_range(moments, i)]
        if wrong:
            for i in wrong:
                sides[i].rescale(self._largest(sides[i]))
            moments = self._moments(sides)
        return moments

    def _moments(self, sides: list[Side]) -> Moments:
        pairs = pairs_of(len(sides))
        n_products = sum(sides[i].per_row * sides[j].per_row for i, j in pairs)
        plan = self._plan(sum(side.row_bytes for side in sides), n_products)
        results = self.engine.map(moments_leaf, self.source, plan, sides, None, add_in_double)
        found, _ = total(results, add_in_double)
        counts, *rest = (np.asarray(part, dtype=np.float64) for part in found)
        return Moments(counts, rest[: len(sides)], dict(zip(pairs, rest[len(sides) :], strict=True)))

    def _largest(self, side: Side) -> float:
        plan = self._plan(side.row_bytes, 0.0)
        return float(total(self.engine.map(largest_leaf, self.source, plan, side, None, max), max)[0])

    def reduced_sides(
        self, views: Views, active: list[int], limit: int, rank: int, rng: np.random.Generator
    ) -> list[Side]:
        """The views as sides; one wider than ``limit`` gets a basis.

        With few items the basis spans all their rows, which changes nothing at all. Otherwise it holds the ``rank``
        leading principal directions, found by random projection with two power iterations.
        """
        sides = [Side(views, v) for v in active]
        for v, side in zip(active, sides, strict=True):
            if 0 < side.largest < 1e6 * float(np.finfo(side.dtype).tiny):
                raise ViewError(
                    f"view {views.names[v]!r} holds nothing larger than {side.largest:g}, too little for {side.dtype} "
                    "to divide by. Multiply it by a large number first."
                )
            n_rows, n_features = side.n_present, side.width
            if n_features > 4 * n_rows or (n_features > limit and n_rows <= limit):
                side.basis = _row_space(side, self.source, np.flatnonzero(views.mask[:, v]))
            elif n_features > limit:
                side.basis = self._leading_directions(side, min(rank, n_rows - 1, n_features), rng)
        return sides

    def _leading_directions(self, side: Side, rank: int, rng: np.random.Generator) -> Floats:
        width = min(rank + _OVERSAMPLING, side.width)
        directions = rng.standard_normal((side.width, width))
        plan = self._plan(side.row_bytes + 8.0 * width, 2.0 * side.per_row * width)
        for _ in range(_POWER_ITERATIONS + 1):
            directions = self._covariance_times(side, np.linalg.qr(directions)[0], plan)
        vectors, _, _ = np.linalg.svd(directions, full_matrices=False)
        return vectors[:, :rank]

    def _covariance_times(self, side: Side, directions: Floats, plan: Plan) -> Floats:
        """The covariance of a view, which is never made, times some directions; and its trace, on the way."""
        shared = (side, directions.astype(side.dtype))
        results = self.engine.map(direction_leaf, self.source, plan, shared, None, add_in_double)
        found, _ = total(results, add_in_double)
        image, sums, squares = (np.asarray(part, dtype=np.float64) for part in found)
        count = float(side.n_present)
        mean = sums / count
        side.variance = (float(squares[0]) - count * float(mean @ mean)) / max(count - 1.0, 1.0)
        return (image - count * np.outer(mean, mean @ directions)) / max(count - 1.0, 1.0)


def _out_of_range(moments: Moments, i: int) -> bool:
    squares = np.diagonal(moments.products[i, i])
    lost = (squares == 0) & (moments.sums[i][:, i] != 0)
    return bool(not np.isfinite(moments.products[i, i]).all() or lost.any())


def _row_space(side: Side, source: RowSource, items: Places) -> Floats:
    """Orthonormal directions spanning the centred rows, from the products of rows with each other."""
    part = side.rows(source.take(items, (side.column, "mask")), slice(0, items.size)).astype(np.float64)
    gram = part @ part.T
    gram = gram.toarray() if is_sparse(gram) else gram
    gram -= gram.mean(axis=0)
    gram -= gram.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh((gram + gram.T) / 2)
    kept = values > max(values[-1], 0.0) * values.size * np.finfo(np.float64).eps
    vectors = vectors[:, kept] / np.sqrt(values[kept])
    return np.asarray(part.T @ (vectors - vectors.mean(axis=0)))
