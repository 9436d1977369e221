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
    first: Any  # int32, of each piece, into order; the last pieces may be empty
    last: Any
    cluster: Any
    edges: Any  # int64 (K + 1,), the pieces of each cluster
    sizes: Any  # int64 (K,)

    def fold(self, values: Any) -> Any:
        """Sums over the pieces of each cluster in float64, in a fixed order. ``values``: pieces along the first
        axis."""
        import torch

        from . import _sum_kernels as kernels

        K, width = self.sizes.numel(), values[0].numel() if values.shape[0] else 1
        out = torch.empty((K, *values.shape[1:]), dtype=torch.float64, device=values.device)
        tile = min(32, max(2, 1 << (width - 1).bit_length()))
        kernels.fold_pieces[(K, -(-width // tile))](values, self.edges, out, width, 16, tile, num_warps=8)
        return out


def cut_by_cluster(labels: Any, n_clusters: int, size: int = SIZE) -> Pieces:
    """Sort rows by label (int32, below 0 for none) and cut them; one sort of n short keys, O(n) memory.

    How many pieces there are is only known on the device: there is room for as many as there can be, so that nobody
    has to wait for the answer.
    """
    import torch

    device, n = labels.device, labels.numel()
    kind = torch.int16 if n_clusters < 32_767 else torch.int32
    found = torch.sort(labels.to(kind), stable=True)
    bounds = torch.searchsorted(found.values, torch.arange(n_clusters + 1, dtype=kind, device=device))
    sizes = bounds.diff()
    edges = torch.nn.functional.pad(((sizes + size - 1) // size).cumsum(0), (1, 0))
    piece = torch.arange(n // size + n_clusters, device=device)
    cluster = torch.searchsorted(edges[1:], piece, right=True).clamp(max=n_clusters - 1)
    last = bounds[cluster + 1]
    first = torch.minimum(bounds[cluster] + (piece - edges[cluster]) * size, last)
    last = torch.minimum(first + size, last)
    return Pieces(found.indices.int(), first.int(), last.int(), cluster.int(), edges, sizes)
