"""How a view is scaled: learned from its rows in ``fit``, applied again in ``predict``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, is_sparse
from ...blocks import Workers, row_blocks
from ...data.checks import check_choice
from ...data.views import Views
from ...errors import ParameterError, ViewError
from ...types import Floats
from . import _scaled_view_kernels as kernels
from ._scaled_views import DenseView, ScaledView, SparseView, contiguous, row_bytes

__all__ = ["Scaling", "learn_scaling"]

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
    for step in steps:
        check_choice("view_scale", step, ("minmax", "mean_distance"))
    if len(set(steps)) != len(steps) or (len(steps) == 2 and steps[0] != "minmax"):
        raise ParameterError(
            "view_scale as a pair must be ('minmax', 'mean_distance'): features first, then the view as a whole; "
            f"got {view_scale!r}."
        )
    return steps


def learn_scaling(views: Views, view_scale: Any, weight: Floats, workers: Workers) -> list[Scaling]:
    """Find each view's scaling in two passes over its rows. Only items of positive weight count."""
    steps = check_view_scale(view_scale)
    return [
        _learn_one(name, matrix, views.mask[:, v].copy(), steps, weight, workers)
        for v, (name, matrix) in enumerate(views.items())
    ]


def _learn_one(
    name: str,
    matrix: Matrix,
    present: NDArray[np.bool_],
    steps: tuple[str, ...],
    weight: Floats,
    workers: Workers,
) -> Scaling:
    width = int(matrix.shape[1])
    mass = float(weight[present].sum())
    if mass == 0.0:
        return Scaling(np.zeros(width), np.zeros(width), np.ones(width), 1.0, 0.0, 0.0, varies=False)
    low, high, total = _ranges(matrix, present, weight, workers)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = high - low
        limits = np.finfo(matrix.dtype)
        too_wide = ~(spread < 1e-3 * float(limits.max)) | ~np.isfinite(total)
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
    mean = total / mass
    distance, square = _spread(matrix, present, weight, scale, mean, workers)
    distance, square = distance / mass, square / mass
    varies = bool(moves.any()) and distance > 0
    centred = not is_sparse(matrix) and float(((mean * scale) ** 2).sum()) > _OFFSET * square
    shift = mean.astype(matrix.dtype).astype(np.float64) if centred else np.zeros(width)
    if "mean_distance" in steps and varies:
        scale, unit, square, distance = scale / distance, 1.0, square / distance**2, 1.0
    return Scaling(mean, shift, scale, unit, distance, square, varies)


def _ranges(
    matrix: Matrix, present: NDArray[np.bool_], weight: Floats, workers: Workers
) -> tuple[Floats, Floats, Floats]:
    width = int(matrix.shape[1])

    def block(rows: slice) -> tuple[Floats, Floats, Floats, NDArray[np.int64]]:
        low, high, total = np.full(width, np.inf), np.full(width, -np.inf), np.zeros(width)
        stored = np.zeros(width, dtype=np.int64)
        if is_sparse(matrix):
            csr = (matrix.data, matrix.indices, matrix.indptr)
            kernels.csr_column_range(*csr, rows.start, present[rows], weight[rows], low, high, total, stored)
        else:
            part = contiguous(matrix, rows)
            kernels.column_range(part, present[rows], weight[rows], low, high, total)
        return low, high, total, stored

    low, high, total = np.full(width, np.inf), np.full(width, -np.inf), np.zeros(width)
    stored = np.zeros(width, dtype=np.int64)
    for part in workers.map(block, row_blocks(present.size, row_bytes(matrix))):
        np.minimum(low, part[0], out=low)
        np.maximum(high, part[1], out=high)
        total += part[2]
        stored += part[3]
    if is_sparse(matrix):
        has_zero = stored < int((present & (weight > 0)).sum())
        low[has_zero] = np.minimum(low[has_zero], 0.0)
        high[has_zero] = np.maximum(high[has_zero], 0.0)
    return low, high, total


def _spread(
    matrix: Matrix, present: NDArray[np.bool_], weight: Floats, scale: Floats, mean: Floats, workers: Workers
) -> tuple[float, float]:
    """Weighted sums of the distances of scaled rows to their mean, and of their squares."""
    kind = SparseView if is_sparse(matrix) else DenseView
    view: ScaledView = kind(matrix, present, np.zeros_like(mean), scale)
    centre = view.centroids(mean[None, :])

    def block(rows: slice) -> tuple[float, float]:
        here = np.arange(rows.stop - rows.start)
        squares = view.pair_squared_distances(rows, here, np.zeros_like(here), centre)
        return float(weight[rows] @ np.sqrt(squares)), float(weight[rows] @ squares)

    distance = square = 0.0
    for part_distance, part_square in workers.map(block, row_blocks(present.size, view.row_bytes)):
        distance += part_distance
        square += part_square
    return distance, square
