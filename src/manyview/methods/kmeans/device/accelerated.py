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
    is_exact: bool  # are sums of weights and lengths exact, whatever their order?


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
        squares = float(weight @ lengths.square())
        is_exact = bool((weight == weight.round()).all()) and float(weight.sum()) < 2.0**50
        rows.made[key] = _Held(table, weight, _rounded(lengths, weight)[:, None], squares, is_exact)
    held: _Held = rows.made[key]
    return held


def _rounded(lengths: Any, weight: Any) -> Any:
    """Lengths as multiples of so large a power of two that their sums, weighted by whole numbers, are exact.

    They only tell how much went in and out of a cluster: a few parts in 10^8 of a length do not matter.
    """
    import torch

    step = torch.exp2(torch.ceil(torch.log2((weight @ lengths).clamp(min=2.0**-900))) - 50)
    return torch.round(lengths / step) * step


def round_leaf(rows: Rows, shared: Round, state: Any) -> tuple[Part, Any]:
    """Label the rows of a group by their nearest centres, and say what moved."""
    import torch

    held, n_clusters = _held(rows, shared.frame), shared.points.shape[0]
    new, tied = nearest_centres(held.table, torch.from_numpy(shared.points).to(device_name()))
    if tied.numel():
        new[tied] = _settled(rows, shared, tied)
    if state is None:
        old = torch.full_like(new, -1)
    else:
        old = state if isinstance(state, torch.Tensor) else to_device(state).int()
    changed = torch.nonzero(old != new).squeeze(1)
    exchange = _Exchange(held, changed, old, new, n_clusters)
    key = ("held", shared.frame.key, "device")
    name, before = rows.kept.get(key, ("", None))
    if before is None or name != shared.last_name or not held.is_exact:
        size, mass = cluster_sums(held.lengths, held.weight, cut_by_cluster(new, n_clusters))
        before = torch.stack([size.squeeze(1), mass])
    else:
        before = before + exchange.gain
    rows.kept[key] = (shared.name, before)
    size_and_mass = before.cpu().numpy().copy()  # whoever gets them adds to them, also where tensors are in this memory
    part = Part(
        np.empty(0, dtype=np.intp),
        np.empty((0, shared.points.shape[1])),
        size_and_mass[1],
        size_and_mass[0],
        np.zeros(n_clusters),
        squares=held.squares if shared.move is None else 0.0,
        n_moved=changed.numel(),
        n_distances=new.numel() * n_clusters,
    )
    if shared.sum_rows and changed.numel():
        part.touched = np.arange(n_clusters)
        part.turnover, part.change = exchange.turnover.cpu().numpy(), exchange.change().cpu().numpy()
    return part, new


class _Exchange:
    """What went into clusters and out of them."""

    def __init__(self, held: _Held, changed: Any, old: Any, new: Any, n_clusters: int) -> None:
        import torch

        self._held, self._which, self._n = held, torch.cat([changed, changed]), n_clusters
        left = old[changed]  # -1 where a row had no label
        labels = torch.cat([new[changed], torch.where(left >= 0, left + n_clusters, left)])
        self._pieces = cut_by_cluster(labels, 2 * n_clusters)
        lengths, mass = cluster_sums(held.lengths, held.weight, self._pieces, self._which)
        both = torch.stack([lengths.squeeze(1), mass])
        self.gain = both[:, :n_clusters] - both[:, n_clusters:]  # of lengths and of weight
        self.turnover = both[0, :n_clusters] + both[0, n_clusters:]

    def change(self) -> Any:
        """Rows added up, those that came less those that went."""
        sums, _ = cluster_sums(self._held.table.rows, self._held.weight, self._pieces, self._which)
        return sums[: self._n] - sums[self._n :]


def _settled(rows: Rows, shared: Round, tied: Any) -> Any:
    """Labels of rows that are tied, as this process decides them."""
    which = tied.cpu().numpy()
    few = rows.taken(which)
    alone = replace(shared, move=None, pairs=Pairs(), sum_rows=False, rooms=None)
    return to_device(here.round_leaf(few, slice(0, which.size), alone, None)[1]).int()
