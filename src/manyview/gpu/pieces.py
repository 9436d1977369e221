"""Rows in the order of their clusters, cut into pieces of one cluster each: sums without atomics, in a fixed order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Pieces", "cut_by_cluster"]

SIZE = 512


@dataclass(frozen=True)
class Pieces:
    """Which rows are summed up together. Tensors on the device."""

    order: Any  # int32 (n,), rows by cluster, in their own order within one; rows without a cluster come first
    first: Any  # int32, of each piece, into order
    last: Any
    cluster: Any
    edges: Any  # int64 (K + 1,), the pieces of each cluster
    sizes: Any  # int64 (K,)

    def fold(self, values: Any) -> Any:
        """Sums over the pieces of each cluster, one after another. ``values``: float64, pieces along the first axis."""
        import torch

        return torch.segment_reduce(values, "sum", offsets=self.edges, axis=0, initial=0.0)


def cut_by_cluster(labels: Any, n_clusters: int, size: int = SIZE) -> Pieces:
    """Sort rows by label (int32, below 0 for none) and cut them; one sort of n short keys, O(n) memory."""
    import torch

    device = labels.device
    order = torch.sort(labels.to(torch.int16) if n_clusters < 32_767 else labels, stable=True).indices.to(torch.int32)
    counted = torch.bincount(labels.clamp(min=-1) + 1, minlength=n_clusters + 1)
    n_without, sizes = counted[0], counted[1:]
    ends = sizes.cumsum(0) + n_without
    n_pieces = (sizes + size - 1) // size
    edges = torch.cat([torch.zeros(1, dtype=torch.int64, device=device), n_pieces.cumsum(0)])
    cluster = torch.repeat_interleave(torch.arange(n_clusters, device=device), n_pieces)
    within = torch.arange(cluster.numel(), device=device) - edges[cluster]
    first = (ends - sizes)[cluster] + within * size
    last = torch.minimum(first + size, ends[cluster])
    return Pieces(order, first.to(torch.int32), last.to(torch.int32), cluster.to(torch.int32), edges, sizes)
