"""What each cluster holds: sums over its rows in float64, piece by piece, the same bits each time."""

from __future__ import annotations

from typing import Any

from .cheapest import Views
from .pieces import Pieces

__all__ = ["cluster_sums", "lengths_and_sums"]


def cluster_sums(rows: Any, counts: Any, pieces: Pieces, which: Any = None) -> tuple[Any, Any]:
    """Weighted sums of the rows of each cluster (K, d), and their weights (K,), float64. One read of the rows.

    With ``which``, pieces are of these rows alone.
    """
    import torch

    from . import _sum_kernels as kernels

    n_pieces, width = pieces.cluster.numel(), rows.shape[1]
    sums = torch.empty((n_pieces, width), dtype=torch.float64, device=rows.device)
    mass = torch.empty(n_pieces, dtype=torch.float64, device=rows.device)
    order = pieces.order if which is None else which[pieces.order].int()
    tile = min(256, max(16, 1 << (width - 1).bit_length()))
    if n_pieces:
        kernels.plain_sums[(n_pieces, -(-width // tile))](
            rows, order, counts, pieces.first, pieces.last, sums, mass, width, 16, tile, num_warps=2
        )
    return pieces.fold(sums), pieces.fold(mass)


def lengths_and_sums(views: Views, counts: Any, centroids: Any, eps: Any, pieces: Pieces) -> tuple[Any, Any, Any, Any]:
    """Smoothed lengths (V, n), and of each cluster sums of weighted differences (K, width), masses (K, V) and summed
    lengths (K, V).

    As ``lengths_and_sums`` of the k-means family does it, row by row in float64. One read of the rows.
    """
    import torch

    from . import _sum_kernels as kernels

    n, width = views.rows.shape
    n_pieces, V = pieces.cluster.numel(), views.n_views
    sums = torch.zeros((n_pieces, width + 2 * V), dtype=torch.float64, device=views.rows.device)
    lengths = torch.full((V, n), float("inf"), dtype=views.rows.dtype, device=views.rows.device)
    tile = max(16, 1 << (views.widest - 1).bit_length())
    if n_pieces:
        kernels.weighted_sums[(n_pieces, V)](
            views.rows, pieces.order, counts, views.present, views.scale, centroids, eps, views.edges,
            pieces.first, pieces.last, pieces.cluster, lengths, sums, n, width, V,
            max(1, min(16, 2048 // tile)), tile, num_warps=1,
        )  # fmt: skip
    return lengths, *pieces.fold(sums).split([width, V, V], dim=1)
