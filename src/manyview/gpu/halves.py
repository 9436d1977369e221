"""Numbers as float16 halves for tensor cores, and what their products may be wrong by.

A number is ``(high + low / 2048) * unit``, unit a power of two: 11 bits by the high half alone, 22 by both. How much
of each row is lost that way is measured, not assumed: the bounds hold for rows with very small numbers too.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

__all__ = ["Halves", "Lengths", "doubt", "doubt_of_both", "halves", "lengths", "power_of_two", "smallest_two"]

_FLOOR = 2.0**-36  # of the unit: what the low half cannot hold of a number


class Halves(NamedTuple):
    """High and low halves, float16, and the unit they are multiples of."""

    high: Any
    low: Any
    unit: Any


class Lengths(NamedTuple):
    """Lengths of vectors, and of what their high halves leave out."""

    whole: Any
    lost: Any


def power_of_two(largest: float) -> float:
    """The power of two at or above a number; 1 where there is none."""
    return 2.0 ** math.ceil(math.log2(largest)) if 0 < largest < math.inf else 1.0


def halves(values: Any, unit: Any) -> Halves:
    """Both halves of float64 values."""
    scaled = values / unit
    high = scaled.half()
    return Halves(high, ((scaled - high.double()) * 2048).half(), unit)


def lengths(values: Any, unit: float) -> Lengths:
    """Of the rows of float64 values, as float32 rounded up."""
    import torch

    lost = values - (values / unit).half().double() * unit
    return Lengths(*(torch.linalg.vector_norm(part, dim=1).float() * (1 + 2.0**-22) for part in (values, lost)))


def _cut_short(width: Any) -> Any:
    """Relative to the lengths, what sums on tensor cores lose: each of 16 products and the sum so far, once."""
    return (1.25 * width + 32) * 2.0**-24


def doubt(far: Lengths, width: Any) -> tuple[Any, Any, Any]:
    """By how much the difference of two |c|^2 - 2 x.c from high halves may be wrong, no |c| longer than ``far``.

    As numbers (a, b, c): a |x| + b (what is lost of x) + c.
    """
    cut = _cut_short(width) * far.whole
    return 4.0 * (far.lost + cut), 4.0 * (far.whole + far.lost), 4.0 * far.whole * cut


def doubt_of_both(far: Lengths, x_unit: Any, unit: Any, width: Any) -> tuple[Any, Any, Any]:
    """The same for both halves."""
    floor, cut = _FLOOR * width**0.5, _cut_short(width) * far.whole
    lost = 2.0**-11 * far.lost + floor * unit
    return 4.0 * (lost + cut), 4.0 * (2.0**-11 * far.whole + far.lost), 4.0 * far.whole * (cut + floor * x_unit)


def smallest_two(values: Any) -> tuple[Any, Any, Any]:
    """Place of the smallest in each row, the smallest, and the second smallest (infinite where there is none)."""
    least, place = values.min(dim=1)
    values.scatter_(1, place[:, None], math.inf)
    return place.int(), least, values.min(dim=1).values
