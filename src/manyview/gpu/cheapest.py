"""Which cluster is cheapest over several views side by side; as ``nearest``, with a weight for each item and view."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .halves import Lengths, doubt_of_both, halves, lengths, power_of_two, smallest_two

__all__ = ["Views", "cheapest_clusters", "make_views"]

_BLOCK = 2**19  # rows that are prepared together
_VALUES = 2**26  # float64 values that are held at once


@dataclass(frozen=True)
class Views:
    """Rows of several dense views side by side on the device; 9 bytes an item and view more."""

    rows: Any  # float32 or float64 (n, width)
    present: Any  # uint8 (V, n)
    view: Any  # int64 (width,), which view a column belongs to
    members: Any  # float64 (width, V), 1 where it does
    edges: Any  # int32 (2, V), the first column of each view and the one after its last: multiples of 16
    widest: int
    scale: Any  # float64 (width,), inside distances
    units: Any  # float64 (V,), powers of two
    factors: Any  # float32 (width,), scale over the view's unit
    lengths: Lengths  # float32 (V, n), of the scaled rows

    @property
    def n_views(self) -> int:
        return int(self.units.numel())


def make_views(rows: Any, present: Any, widths: list[int], scale: Any) -> Views:
    """Prepare rows that lie on the device side by side, every view's width a multiple of 16. Two reads of the rows."""
    import torch

    device, n = rows.device, rows.shape[0]
    edges = torch.tensor([[sum(widths[:v]), sum(widths[: v + 1])] for v in range(len(widths))], device=device).T
    view = torch.repeat_interleave(torch.arange(len(widths), device=device), torch.tensor(widths, device=device))
    whole, lost = torch.empty((2, len(widths), n), dtype=torch.float32, device=device)
    units = []
    for v, (start, stop) in enumerate(edges.T.tolist()):

        def scaled(here: slice, v: int = v, start: int = start, stop: int = stop) -> Any:
            part = rows[here, start:stop].double() * scale[start:stop]
            return part.masked_fill_(present[v, here, None] == 0, 0.0)

        blocks = [slice(first, first + _BLOCK) for first in range(0, n, _BLOCK)]
        units.append(power_of_two(max((float(scaled(here).abs().max()) for here in blocks), default=1.0)))
        for here in blocks:
            whole[v, here], lost[v, here] = lengths(scaled(here), units[-1])
    # The kernel scales rows in single precision: up to three parts in 2^24, as if high halves lost 2^11 times as much.
    lost += 1.5 * 2.0**-12 * whole
    unit = torch.tensor(units, dtype=torch.float64, device=device)
    factors = (scale / unit[view]).float()
    members = torch.nn.functional.one_hot(view, len(widths)).double()
    return Views(
        rows, present, view, members, edges.int().contiguous(), max(widths), scale, unit, factors, Lengths(whole, lost)
    )


def cheapest_clusters(views: Views, centroids: Any, weights: Any) -> tuple[Any, Any]:
    """Cheapest cluster of each row by sum_v w_v |s (x - f)|^2, and the rows whose two cheapest are tied.

    ``centroids``: (K, width), of the rows' type; ``weights``: float64 (V, n), 0 where a view is missing. 6 n K width
    operations on tensor cores.
    """
    import torch

    from . import _nearest_kernels as kernels

    n, width = views.rows.shape
    K, V, device = centroids.shape[0], views.n_views, views.rows.device
    scaled = centroids.double() * views.scale
    largest = torch.zeros(V, dtype=torch.float64, device=device)
    largest.scatter_reduce_(0, views.view, scaled.abs().amax(0), "amax")
    units = torch.exp2(torch.ceil(torch.log2(torch.where(largest > 0, largest, 1.0))))
    c = halves(scaled, units[views.view])
    squares = scaled.square() @ views.members  # (K, V)
    missed = (scaled - c.high.double() * c.unit).square() @ views.members
    far = Lengths(squares.amax(0).sqrt(), missed.amax(0).sqrt())
    widths = (views.edges[1] - views.edges[0]).double()
    doubts = torch.stack(doubt_of_both(far, views.units, units, widths)).float() * (1 + 1e-3)
    labels = torch.empty(n, dtype=torch.int32, device=device)
    is_open = torch.empty(n, dtype=torch.bool, device=device)
    tile = min(128, max(16, 1 << (K - 1).bit_length()))
    height = 64 if tile == 128 else 128  # as many products as the registers hold
    kernels.cheapest[(-(-n // height),)](
        views.rows, views.factors, c.high, c.low, (2 * units * views.units).float(), views.edges, squares.float(),
        weights, *views.lengths, doubts, labels, is_open, n, K, width, V, height, 32, tile, num_warps=height // 16,
        num_stages=4,
    )  # fmt: skip
    left = torch.nonzero(is_open).squeeze(1)
    parts = left.split(max(1, _VALUES // (K + width)))
    tied = [_in_float64(views, part, scaled, squares, far.whole, weights, labels) for part in parts]
    return labels, torch.cat(tied) if tied else left


def _in_float64(views: Views, which: Any, scaled: Any, squares: Any, far: Any, weights: Any, labels: Any) -> Any:
    weight = weights[:, which].T
    rows = (views.rows[which].double() * views.scale).masked_fill_(views.present[:, which].T[:, views.view] == 0, 0.0)
    labels[which], least, second = smallest_two(weight @ squares.T - 2 * ((rows * weight[:, views.view]) @ scaled.T))
    about = far * (views.lengths.whole[:, which].T.double() + far)
    return which[second - least <= 8 * 2.0**-52 * (views.rows.shape[1] + 8) * (weight * about).sum(1)]
