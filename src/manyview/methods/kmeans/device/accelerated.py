"""A round of exact k-means on a graphics processor. As ``_accelerated_leaf``, with a tensor for labels and no bounds.

Every row is compared with every centre: tensor cores do that faster than bounds are looked up. Labels are Lloyd's in
float64, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....arrays import is_sparse
from ....data.source import Rows, RowSource
from ....gpu.device import device_name, to_device
from ....gpu.nearest import Table, make_table, nearest_centres
from ....gpu.pieces import cut_by_cluster
from ....gpu.sums import cluster_sums
from .. import _accelerated_leaf as here
from .._accelerated_bounds import Pairs
from .._accelerated_leaf import Part, Round, TableFrame, open_table

__all__ = ["round_leaf", "suits"]


def suits(source: RowSource, shared: Round) -> bool:
    """Dense views, all features in one unit; others are worked on by threads."""
    frame = shared.frame
    return np.ptp(frame.scale) == 0 and not any(is_sparse(source.columns[name]) for name in frame.columns)


@dataclass
class _Held:
    """Rows on the device, their weights, and their lengths in scaled units."""

    table: Table
    weight: Any
    lengths: Any  # (n, 1)
    squares: float


def _held(rows: Rows, frame: TableFrame) -> _Held:
    """The rows of a group on the device; they stay there as long as the rows are open."""
    import torch

    key = ("device", frame.key)
    if key not in rows.made:
        matrix, by = open_table(rows, frame).matrix, float(frame.scale[0])
        there = torch.empty(matrix.shape, dtype=getattr(torch, str(matrix.dtype)), device=device_name())
        weight = to_device(rows["weight"]).double()
        table = make_table(to_device(matrix, there))
        lengths = torch.cat([torch.linalg.vector_norm(part.double(), dim=1) for part in there.split(2**20)]) * by
        rows.made[key] = _Held(table, weight, lengths[:, None], float(weight @ lengths.square()))
    held: _Held = rows.made[key]
    return held


def round_leaf(rows: Rows, shared: Round, state: Any) -> tuple[Part, Any]:
    """Label the rows of a group by their nearest centres, and say what moved."""
    import torch

    held, n_clusters = _held(rows, shared.frame), shared.points.shape[0]
    new, tied = nearest_centres(held.table, to_device(shared.points))
    if tied.numel():
        new[tied] = _settled(rows, shared, tied)
    if state is None:
        old = torch.full_like(new, -1)
    else:
        old = state if isinstance(state, torch.Tensor) else to_device(state).int()
    changed = torch.nonzero(old != new).squeeze(1)
    size, mass = cluster_sums(held.lengths, held.weight, cut_by_cluster(new, n_clusters))
    part = Part(
        np.empty(0, dtype=np.intp),
        np.empty((0, shared.points.shape[1])),
        mass.cpu().numpy(),
        size.squeeze(1).cpu().numpy(),
        np.zeros(n_clusters),
        squares=held.squares if shared.move is None else 0.0,
        n_moved=changed.numel(),
        n_distances=new.numel() * n_clusters,
    )
    if shared.sum_rows and changed.numel():
        part.touched = np.arange(n_clusters)
        part.turnover, part.change = _exchange(held, changed, old, new, n_clusters)
    return part, new


def _exchange(held: _Held, changed: Any, old: Any, new: Any, n_clusters: int) -> tuple[Any, Any]:
    """Lengths and rows that went into clusters and out of them."""
    left = changed[old[changed] >= 0]
    turnover, change = held.lengths.new_zeros((n_clusters, 1)), 0.0
    for which, labels, sign in ((changed, new, 1.0), (left, old, -1.0)):
        if which.numel():
            pieces = cut_by_cluster(labels[which], n_clusters)
            turnover += cluster_sums(held.lengths, held.weight, pieces, which)[0]
            change = change + sign * cluster_sums(held.table.rows, held.weight, pieces, which)[0]
    return turnover.squeeze(1).cpu().numpy(), change.cpu().numpy()  # type: ignore[attr-defined]


def _settled(rows: Rows, shared: Round, tied: Any) -> Any:
    """Labels of rows that are tied, as this process decides them."""
    which = tied.cpu().numpy()
    few = Rows(0, {name: column[which] for name, column in rows.columns.items()}, {})
    alone = replace(shared, move=None, pairs=Pairs(), sum_rows=False, rooms=None)
    return to_device(here.round_leaf(few, slice(0, which.size), alone, None)[1]).int()
