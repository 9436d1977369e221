"""Products of views with each other: long sums in short blocks, float64 between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .device import whole_digits

__all__ = ["ROWS", "Products", "products"]

ROWS = 16_384  # in single precision errors grow with the rows that are added up
_COLUMNS = 1024  # of a product with itself, which is symmetric, only the blocks above the diagonal are taken


def products(views: Sequence[Any]) -> dict[tuple[int, int], Any]:
    """``X_i' X_j`` for i <= j, float64, from tensors of the same rows; float32 enters the products as it is.

    n d_i d_j multiplications for two views, about half of it for a view with itself. Relative error about 3e-7 for
    float32.
    """
    whole = Products([view.shape[1] for view in views], views[0].device)
    for start in range(0, views[0].shape[0], ROWS):
        whole.add([view[start : start + ROWS] for view in views])
    return whole.found()


class Products:
    """Products of views whose rows come block after block."""

    def __init__(self, widths: Sequence[int], device: Any) -> None:
        import torch

        pairs = [(i, j) for i in range(len(widths)) for j in range(i, len(widths))]
        self._total = {
            (i, j): torch.zeros((widths[i], widths[j]), dtype=torch.float64, device=device) for i, j in pairs
        }

    def add(self, part: Sequence[Any]) -> None:
        """Some rows of all views, at most ``ROWS`` of them; of two types the coarser is taken."""
        with whole_digits():
            for (i, j), total in self._total.items():
                if i != j:
                    kind = min(part[i].dtype, part[j].dtype, key=lambda kind: kind.itemsize)
                    total += part[i].to(kind).T @ part[j].to(kind)
                    continue
                for column in range(0, part[i].shape[1], _COLUMNS):
                    left = part[i][:, column : column + _COLUMNS]
                    total[column : column + _COLUMNS, column:] += left.T @ part[i][:, column:]

    def found(self) -> dict[tuple[int, int], Any]:
        return {(i, j): total if i != j else total.triu() + total.triu(1).T for (i, j), total in self._total.items()}
