"""How a view is scaled: learned from its rows in ``fit``, applied again in ``predict``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import holds_sparse
from ...blocks import BLOCK_BYTES
from ...data.source import Rows, RowSource, source_of, view_column
from ...data.views import Views
from ...engines.base import Engine, cut, total
from ...errors import ParameterError, ViewError
from ...types import Floats
from . import _scaled_view_kernels as kernels
from ._scaled_views import Centroids, ViewFrame, contiguous, open_view

__all__ = ["Scaling", "learn_scaling"]

_NS_PER_NUMBER = 2.0  # to read it and add it up
_OFFSET = 15.0  # how many times its spread a view's squared mean may be before rows are centred for BLAS


@dataclass(frozen=True)
class Scaling:
    """What ``fit`` learned about one view, to be applied again in ``predict``.

    A view that is to keep its own units is still divided by a power of two, its ``unit``, which costs no
    digit and keeps squares inside the range of float32; lengths in the owner's units are ``unit`` times ours.
    """

    mean: Floats
    shift: Floats
    scale: Floats
    unit: float
    mean_distance: float  # of scaled rows to their mean
    mean_square: float
    varies: bool


def check_view_scale(view_scale: Any) -> tuple[str, ...]:
    """The steps of scaling, in order; none for "auto", whose views come prepared."""
    if view_scale is None or (isinstance(view_scale, str) and view_scale == "auto"):
        return ()
    steps = tuple(view_scale) if isinstance(view_scale, (list, tuple)) else (view_scale,)
    if not all(isinstance(step, str) and step in ("minmax", "mean_distance") for step in steps):
        raise ParameterError(
            f"view_scale must be 'auto', 'minmax', 'mean_distance', both as a pair, or None; got {view_scale!r}."
        )
    if len(set(steps)) != len(steps) or (len(steps) == 2 and steps[0] != "minmax"):
        raise ParameterError(
            "view_scale as a pair must be ('minmax', 'mean_distance'): features first, then the view as a whole; "
            f"got {view_scale!r}."
        )
    return steps


def learn_scaling(
    views: Views, view_scale: Any, weight: Floats, engine: Engine, source: RowSource | None = None
) -> list[Scaling]:
    """Find each view's scaling in two passes over its rows. Only items of positive weight count."""
    steps = check_view_scale(view_scale)
    source = source_of(views, weight) if source is None else source
    return [_learn_one(views, v, steps, weight, engine, source) for v in range(views.n_views)]


def _learn_one(
    views: Views, v: int, steps: tuple[str, ...], weight: Floats, engine: Engine, source: RowSource
) -> Scaling:
    name, matrix, present = views.names[v], views.values()[v], views.mask[:, v]
    width = int(matrix.shape[1])
    mass = float(weight[present].sum())
    if mass == 0.0:
        return Scaling(np.zeros(width), np.zeros(width), np.ones(width), 1.0, 0.0, 0.0, varies=False)
    sparse = holds_sparse(matrix)
    frame = ViewFrame(view_column(name), v, matrix.dtype, sparse, np.zeros(width), np.ones(width))
    pass_over = _Pass(engine, source, frame)
    low, high, sums = _ranges(pass_over, int((present & (weight > 0)).sum()))
    with np.errstate(over="ignore", invalid="ignore"):
        spread = high - low
        limits = np.finfo(matrix.dtype)
        too_wide = ~(spread < 1e-3 * float(limits.max)) | ~np.isfinite(sums)
    if too_wide.any():
        column = int(np.flatnonzero(too_wide)[0])
        raise ViewError(
            f"view {name!r}, column {column}, holds values from {low[column]:g} to {high[column]:g}, more than "
            f"{matrix.dtype} can add up. Divide the column by a large number first."
        )
    moves = spread > 1e3 * float(limits.tiny)  # below that a feature counts as constant
    unit = 1.0
    if "minmax" in steps:
        scale = np.where(moves, 2.0 / np.where(moves, spread, 1.0), 0.0)
    else:
        unit = float(np.exp2(np.frexp(spread.max())[1])) if moves.any() else 1.0
        scale = np.full(width, 1.0 / unit)
    mean = np.clip(sums / mass, low, high)  # of a constant feature its very value, however small the others are
    distance, square = _spread(pass_over, scale, mean)
    distance, square = distance / mass, square / mass
    varies = bool(moves.any()) and distance > 0
    with np.errstate(over="ignore"):
        centred = not sparse and float(((mean * scale) ** 2).sum()) > _OFFSET * square
    shift = mean.astype(matrix.dtype).astype(np.float64) if centred else np.zeros(width)
    if "mean_distance" in steps and varies:
        scale, unit, square, distance = scale / distance, 1.0, square / distance**2, 1.0
    return Scaling(mean, shift, scale, unit, distance, square, varies)


class _Pass(NamedTuple):
    """One view, and who reads it."""

    engine: Engine
    source: RowSource
    frame: ViewFrame

    def over(self, task: Any, shared: Any, combine: Any) -> Any:
        n_bytes = self.source.row_bytes[self.frame.name]
        plan = cut(self.source.n_rows, n_bytes, BLOCK_BYTES, 1e-9 * _NS_PER_NUMBER * n_bytes / 4)
        return total(self.engine.map(task, self.source, plan, shared, None, combine), combine)[0]


class _Range(NamedTuple):
    low: Floats
    high: Floats
    sums: Floats
    stored: NDArray[np.int64]

    def merged(self, other: _Range) -> _Range:
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return _Range(low, high, self.sums + other.sums, self.stored + other.stored)


def _range_leaf(rows: Rows, leaf: slice, frame: ViewFrame, _: Any) -> tuple[_Range, None]:
    """Smallest, largest and weighted sum of every column."""
    width = frame.n_features
    present, weight = rows["mask"][leaf, frame.number].copy(), rows["weight"][leaf]
    low, high, sums = np.full(width, np.inf), np.full(width, -np.inf), np.zeros(width)
    stored = np.zeros(width, dtype=np.int64)
    if frame.is_sparse:
        matrix = rows[frame.name]
        csr = (matrix.data, matrix.indices, matrix.indptr)
        kernels.csr_column_range(*csr, leaf.start, present, weight, low, high, sums, stored)
    else:
        kernels.column_range(contiguous(rows.some(frame.name, leaf), slice(None)), present, weight, low, high, sums)
    return _Range(low, high, sums, stored), None


def _ranges(pass_over: _Pass, n_counted: int) -> tuple[Floats, Floats, Floats]:
    low, high, sums, stored = pass_over.over(_range_leaf, pass_over.frame, _Range.merged)
    if pass_over.frame.is_sparse:
        has_zero = stored < n_counted
        low[has_zero] = np.minimum(low[has_zero], 0.0)
        high[has_zero] = np.maximum(high[has_zero], 0.0)
    return low, high, sums


def _spread_leaf(rows: Rows, leaf: slice, shared: tuple[ViewFrame, Centroids], _: Any) -> tuple[Floats, None]:
    """Weighted sums of the distances of scaled rows to their mean, and of their squares."""
    frame, centre = shared
    view, weight = open_view(frame, rows.part(leaf), "spread"), rows["weight"][leaf]
    here = np.arange(weight.size)
    squares = view.pair_squared_distances(slice(0, here.size), here, np.zeros_like(here), centre)
    return np.array([weight @ np.sqrt(squares), weight @ squares]), None


def _spread(pass_over: _Pass, scale: Floats, mean: Floats) -> tuple[float, float]:
    frame = replace(pass_over.frame, scale=scale)
    with np.errstate(over="ignore"):  # lengths and products of a mean far from 0, which no distance takes here
        centre = frame.centroids(mean[None, :])
    distance, square = pass_over.over(_spread_leaf, (frame, centre), np.add)
    return float(distance), float(square)
