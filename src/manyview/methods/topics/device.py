"""A sweep of EM on a graphics processor. As ``_tasks``, with tensors for shares; counts go by their non-zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import is_sparse
from ...data.source import Rows, RowSource
from ...gpu.device import device_name, to_device
from ...gpu.topics import Counts, em_step, make_counts
from ._tasks import LIMITS, Part, Sweep, padded, row_factors, worst_rows

__all__ = ["device_bytes", "even_leaf", "suits", "sweep_leaf"]

_NUMBER = 24  # bytes of one on the device, in single precision


def suits(source: RowSource, shared: Sweep) -> bool:
    return True


def device_bytes(source: RowSource, shared: Sweep) -> int:
    """Counts by rows and by words, and the shares."""
    matrix, size = source.columns["counts"], shared.phi.dtype.itemsize
    n_numbers = matrix.nnz if is_sparse(matrix) else matrix.shape[0] * matrix.shape[1]
    number = _NUMBER + matrix.dtype.itemsize - 4
    return int(n_numbers) * number + source.n_rows * (size * shared.n_topics + 32)


def even_leaf(rows: Rows, shared: Sweep, _: Any) -> tuple[tuple[()], Any]:
    """Equal shares of all topics, as a state."""
    import torch

    dtype = getattr(torch, str(shared.phi.dtype))
    shape = (rows["sums"].shape[0], shared.n_topics)
    return (), torch.full(shape, 1.0 / shared.n_topics, dtype=dtype, device=device_name())


def _held(rows: Rows) -> tuple[Counts, Any]:
    """The counts of a group on the device, and the weights of its rows; they stay there as long as these are open."""
    from scipy.sparse import csr_matrix

    if "device" not in rows.made:
        counts = rows["counts"] if is_sparse(rows["counts"]) else csr_matrix(rows["counts"])
        everyone = slice(0, counts.shape[0])
        inverse, weight = (to_device(part) for part in row_factors(rows, everyone))
        numbers = (to_device(counts.indptr).long(), to_device(counts.indices).int(), to_device(counts.data))
        rows.made["device"] = make_counts(*numbers, inverse, weight, counts.shape[1]), weight
    held: tuple[Counts, Any] = rows.made["device"]
    return held


def sweep_leaf(rows: Rows, shared: Sweep, state: Any) -> tuple[Part, Any]:
    """One EM step of the rows of a group; the new shares are written over the old ones, where these need not stay."""
    import torch

    (held, weight), K, width = _held(rows), shared.n_topics, shared.phi.shape[1]
    theta = state
    if not isinstance(state, torch.Tensor):
        theta = to_device(np.ascontiguousarray(state[:, :K])).to(getattr(torch, str(shared.phi.dtype)))
    for row, topic in shared.reseeded.items():
        if 0 <= row - rows.start < theta.shape[0]:
            theta[row - rows.start] = torch.nn.functional.one_hot(torch.tensor(topic), K).to(theta)
    phi = to_device(np.ascontiguousarray(shared.phi[:, :K]))
    sums, loglik = em_step(held, theta, phi, *LIMITS[shared.phi.dtype], out=theta if shared.advance else None)
    value = float(weight @ loglik)
    G = sums.cpu().numpy()
    G = G if K == width else padded(G, width, G.dtype)
    worst = worst_rows(rows, slice(0, theta.shape[0]), shared, G, lambda: loglik.cpu().numpy())
    return Part(G, value, worst), theta if shared.advance or shared.reseeded else None
