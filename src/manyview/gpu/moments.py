"""Products of views with each other: long sums in short blocks, float64 between them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

__all__ = ["products"]

_ROWS = 16_384  # in single precision errors grow with the rows that are added up
_COLUMNS = 1024  # of a product with itself, which is symmetric, only the blocks above the diagonal are taken


def products(views: Sequence[Any]) -> dict[tuple[int, int], Any]:
    """``X_i' X_j`` for i <= j, float64, from tensors of the same rows; float32 enters the products as it is.

    n d_i d_j multiplications for two views, about half of it for a view with itself. Relative error about 3e-7 for
    float32.
    """
    import torch

    pairs = [(i, j) for i in range(len(views)) for j in range(i, len(views))]
    total = {
        (i, j): torch.zeros((views[i].shape[1], views[j].shape[1]), dtype=torch.float64, device=views[0].device)
        for i, j in pairs
    }
    with _whole_digits():
        for start in range(0, views[0].shape[0], _ROWS):
            part = [view[start : start + _ROWS] for view in views]
            for i, j in pairs:
                if i != j:
                    total[i, j] += part[i].T @ part[j]
                    continue
                for column in range(0, part[i].shape[1], _COLUMNS):
                    left = part[i][:, column : column + _COLUMNS]
                    total[i, i][column : column + _COLUMNS, column:] += left.T @ part[i][:, column:]
    for i in range(len(views)):
        upper = total[i, i].triu()
        total[i, i] = upper + upper.triu(1).T
    return total


@contextmanager
def _whole_digits() -> Any:
    """No shortened numbers in products, whatever the process has allowed."""
    import torch

    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
