"""Which rows may be the nearest of a query: more than are asked for, and how near all others can be at most.

Products in single precision only propose; ``data.nearest`` decides. So that it need not look at the others, what
rounding may hide of a distance is taken off: it is never said to be larger than the one computed there.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from .device import device_name, room, to_device, whole_digits

__all__ = ["propose_among"]

_MORE = 16  # rows that are proposed beyond those asked for, and the query's own
_GROUP = 32  # columns of products that are compared by their smallest first
_VALUES = 2**29  # products that are held at once
_QUERIES = 2**14  # queries at once: what follows here is spread over threads by these
_WORTH = 2**30  # multiplications below which threads are as fast
_LARGEST = 2.0**120  # squared length above which sums may leave the range of single precision
_ROUNDING = 2.0**-24


def propose_among(n_queries: int, rows: Any, k: int, memory: int | None = None) -> Any:
    """Proposals among float32 rows for ``data.nearest``; None where threads are as good, or the rows have no room."""
    import torch

    n, d = rows.shape
    count = k + 1 + _MORE
    if n < 4 * count or n_queries * n * d < _WORTH:
        return None
    left = room(memory) - 2 * rows.nbytes
    if left < 4 * (4 * n):
        return None
    n_groups = next(size for size in (_GROUP, 8, 1) if n >= 4 * count * size or size == 1)
    table = torch.zeros((-(-n // n_groups) * n_groups, d), dtype=torch.float32, device=device_name())
    to_device(rows, table[:n])
    squares = torch.cat([part.double().square().sum(1) for part in table.split(2**18)])
    if not bool(squares.max() < _LARGEST):
        return None
    return _Proposals(table, squares, n, count, n_groups, min(_QUERIES, _VALUES // n + 1, left // (16 * n)))


class _Proposals:
    """Rows on the device, filled up with rows that are infinitely far."""

    def __init__(self, table: Any, squares: Any, n_rows: int, count: int, n_groups: int, n_queries: int) -> None:
        self._table, self._count, self._n_groups, self.n_queries = table, count, n_groups, n_queries
        d = table.shape[1]
        # A sum of d + 1 terms, in whatever order, is wrong by at most d + 2 roundings of |r|^2 + 2 |q||r|, which is no
        # more than 2 (|q|^2 + |r|^2); an eighth more for roundings of roundings.
        self._kept = 1 - (2.25 * d + 16) * _ROUNDING
        self._less = (squares * self._kept).float()
        self._less[n_rows:] = float("inf")
        self._lock = Lock()

    def __call__(self, queries: Any) -> tuple[Any, Any]:
        """Row numbers, int32 (q, count), and a float64 for each query: no other row has a smaller squared distance
        when that is added up in float32."""
        import torch

        with self._lock, whole_digits():  # one block after the other; what is decided here goes on meanwhile
            points = to_device(queries)
            squares = points.double().square().sum(1)
            in_range = squares < _LARGEST
            points = torch.where(in_range[:, None], points, 0.0)
            values = torch.addmm(self._less, points, self._table.T, alpha=-2.0)
            values, places = smallest(values, self._count, self._n_groups)
            bound = self._least(values.amax(1).double() + squares * self._kept)
            return places.int().cpu().numpy(), torch.where(in_range, bound, -torch.inf).cpu().numpy()

    def _least(self, squares: Any) -> Any:
        """Of squared distances, what is left when their differences, squares and sums are rounded, or too small for
        single precision."""
        d = self._table.shape[1]
        return squares * (1 - (d + 4) * _ROUNDING) - (d + 16) * 2.0**-125


def smallest(values: Any, count: int, n_groups: int) -> tuple[Any, Any]:
    """Values and places of the ``count`` smallest of each row, in no order.

    Every ``n_groups`` columns, far apart, are a group. The smallest values are in the groups of smallest minima: values
    are read once, and only ``count`` groups are looked at again.
    """
    if n_groups == 1:
        found = values.topk(count, dim=1, largest=False, sorted=False)
        return found.values, found.indices
    groups = values.view(values.shape[0], n_groups, -1)
    width = groups.shape[2]
    chosen = groups.amin(1).topk(count, dim=1, largest=False, sorted=False).indices
    inside = groups.gather(2, chosen[:, None].expand(-1, n_groups, -1)).flatten(1)
    found = inside.topk(count, dim=1, largest=False, sorted=False)
    column = chosen.gather(1, found.indices % count)
    return found.values, found.indices // count * width + column
