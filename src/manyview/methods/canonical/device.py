"""Sums and products of views on a graphics processor. As ``_sides``: rows are prepared here and sent block by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Matrix, is_sparse
from ...data.source import Rows, RowSource
from ...gpu.device import device_name, to_device
from ...gpu.moments import ROWS, Products
from ._sides import Side

__all__ = ["device_bytes", "moments_leaf", "suits"]


def suits(source: RowSource, shared: list[Side]) -> bool:
    return True


def device_bytes(source: RowSource, shared: list[Side]) -> int:
    """No row stays there."""
    return 0


def moments_leaf(rows: Rows, sides: list[Side], _: Any) -> tuple[tuple[Any, ...], None]:
    """Who has which views, the sums of each view over them, and the products of all pairs."""
    import torch

    n_rows, numbers = rows["mask"].shape[0], [side.number for side in sides]
    products = Products([side.width for side in sides], device_name())
    kind = {"dtype": torch.float64, "device": device_name()}
    sums = [torch.zeros((side.width, len(sides)), **kind) for side in sides]
    counts = np.zeros((len(sides), len(sides)))
    for start in range(0, n_rows, ROWS):
        leaf = slice(start, min(start + ROWS, n_rows))
        mask = np.ascontiguousarray(rows["mask"][leaf][:, numbers])
        with np.errstate(over="ignore", invalid="ignore"):
            blocks = [_there(side.rows(rows, leaf)) for side in sides]
        products.add(blocks)
        here = to_device(mask).double()
        counts += mask.T.astype(np.float64) @ mask
        for total, block in zip(sums, blocks, strict=True):
            total += block.double().T @ here
    found = [*sums, *products.found().values()]
    return (counts, *(part.cpu().numpy() for part in found)), None


def _there(block: Matrix) -> Any:
    """A block of rows on the device, dense."""
    import torch

    if not is_sparse(block):
        return to_device(block)
    there = torch.zeros(block.shape, dtype=getattr(torch, str(block.dtype)), device=device_name())
    lengths = to_device(np.diff(block.indptr)).long()
    row = torch.repeat_interleave(torch.arange(block.shape[0], device=device_name()), lengths)
    there[row, to_device(block.indices).long()] = to_device(block.data)
    return there
