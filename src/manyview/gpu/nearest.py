"""Which centre is nearest: labels from products on tensor cores, with a bound on what rounding can hide.

A row whose two best differ by less than the bound is *open*. Open rows are decided again with more digits, at last in
float64. What even these cannot tell apart is named as tied, for the processor's own code to settle: so labels are
those of every other engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .halves import Halves, Lengths, doubt, doubt_of_both, halves, lengths, power_of_two, smallest_two

__all__ = ["Table", "make_table", "nearest_centres"]

_BLOCK = 2**20  # rows that are prepared together
_VALUES = 2**27  # float64 values of rows and centres that are held at once


@dataclass(frozen=True)
class Table:
    """Rows of one dense table on the device, with their high halves: 2 bytes a number and 8 a row more."""

    rows: Any  # float32 or float64 (n, d)
    high: Any  # float16 (n, D), D the next power of two
    lengths: Lengths
    unit: float


def make_table(rows: Any) -> Table:
    """Prepare rows that lie on the device. Two reads of the rows."""
    import torch

    n, d = rows.shape
    unit = power_of_two(max((float(part.abs().max()) for part in rows.split(_BLOCK)), default=1.0))
    high = torch.zeros((n, max(16, 1 << (d - 1).bit_length())), dtype=torch.float16, device=rows.device)
    whole, lost = torch.empty((2, n), dtype=torch.float32, device=rows.device)
    for start in range(0, n, _BLOCK):
        here = slice(start, start + _BLOCK)
        part = rows[here].double()
        high[here, :d] = (part / unit).half()
        whole[here], lost[here] = lengths(part, unit)
    return Table(rows, high, Lengths(whole, lost), unit)


class _Centres:
    """Centres of one round, padded to the width of the table."""

    def __init__(self, table: Table, points: Any) -> None:
        import torch

        squares = points.square().sum(1)
        self.points, self.squares = points, squares.float()
        self.unit = power_of_two(float(points.abs().max()))
        whole, lost = lengths(points, self.unit)
        self.far = Lengths(float(whole.max()), float(lost.max()))
        self.halves: Halves = halves(
            torch.nn.functional.pad(points, (0, table.high.shape[1] - points.shape[1])), self.unit
        )
        self.double_squares = squares


def nearest_centres(table: Table, points: Any) -> tuple[Any, Any]:
    """Label of each row, and the rows that are tied.

    ``points``: float64 (K, d) on the device. 2 n K d operations on tensor cores, three times as many again for the
    rows that high halves leave open. Memory 8 bytes a row and 1 GiB.
    """
    import torch

    centres = _Centres(table, points)
    labels, gaps = _compare(table.high, None, centres, table.unit)
    by_length, by_loss, always = doubt(centres.far, points.shape[1])
    enough = by_length * table.lengths.whole + by_loss * table.lengths.lost + always
    open_rows = torch.nonzero(~(gaps > enough)).squeeze(1)  # also where numbers are out of range
    tied = [_by_both_halves(table, part, centres, labels) for part in open_rows.split(2 * _BLOCK)]
    return labels, torch.cat(tied) if tied else open_rows


def _compare(high: Any, low: Any, centres: _Centres, unit: float) -> tuple[Any, Any]:
    import torch

    from . import _nearest_kernels as kernels

    n, width = high.shape
    labels = torch.empty(n, dtype=torch.int32, device=high.device)
    gaps = torch.empty(n, dtype=torch.float32, device=high.device)
    both = low is not None
    tile = 128 if width <= 128 else 64 if width <= 256 else 32
    if n:
        c = centres.halves
        kernels.nearest[(-(-n // tile),)](
            high, low if both else high, c.high, c.low, centres.squares, labels, gaps, 2 * unit * c.unit, n,
            c.high.shape[0], width, tile, 128 if both and width <= 128 else 64, both, num_warps=8 if both else 4,
            num_stages=2 if both else 3,
        )  # fmt: skip
    return labels, gaps


def _by_both_halves(table: Table, which: Any, centres: _Centres, labels: Any) -> Any:
    """Label some rows by products of both halves, and in float64 where these leave them open; returns the tied
    ones."""
    import torch

    d = table.rows.shape[1]
    high = table.high[which]
    low = torch.zeros_like(high)
    rows = table.rows[which]
    low[:, :d] = ((rows / table.unit - high[:, :d].to(rows.dtype)) * 2048).half()
    found, gaps = _compare(high, low, centres, table.unit)
    labels[which] = found
    by_length, by_loss, always = doubt_of_both(centres.far, table.unit, centres.unit, d)
    enough = by_length * table.lengths.whole[which] + by_loss * table.lengths.lost[which] + always
    left = which[~(gaps > enough)]
    tied = [
        _in_float64(table, part, centres, labels) for part in left.split(max(1, _VALUES // centres.squares.numel()))
    ]
    return torch.cat(tied) if tied else left


def _in_float64(table: Table, which: Any, centres: _Centres, labels: Any) -> Any:
    d = table.rows.shape[1]
    values = centres.double_squares - 2 * (table.rows[which].double() @ centres.points.T)
    labels[which], least, second = smallest_two(values)
    far = centres.far.whole
    return which[second - least <= 8 * (d + 8) * 2.0**-52 * far * (table.lengths.whole[which].double() + far)]
