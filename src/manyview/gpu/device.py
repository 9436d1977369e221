"""The device, and how rows come to it."""

from __future__ import annotations

import importlib.util
from typing import Any

from ..errors import ParameterError

__all__ = ["free_bytes", "need_device", "to_device", "why_not"]

_CHUNK_BYTES = 256 * 2**20


def why_not() -> str | None:
    """Why nothing can be computed on a graphics processor here; None where it can."""
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
        return "torch and Triton are not installed: pip install 'manyview[gpu]'"
    import torch

    if not torch.cuda.is_available():
        return "torch finds no CUDA device (`nvidia-smi` tells whether the driver does)"
    return None


def need_device() -> None:
    """Refuse work on a device that is not there."""
    reason = why_not()
    if reason is not None:
        raise ParameterError(f"manyview.on('cuda') needs a graphics processor: {reason}.")


def free_bytes() -> int:
    """Memory of the device that nobody uses."""
    import torch

    return int(torch.cuda.mem_get_info()[0]) + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()


def to_device(array: Any, out: Any = None) -> Any:
    """A NumPy array, memory-mapped too, on the device; into ``out`` where that is given, a piece at a time."""
    import numpy as np
    import torch

    if out is None:
        return torch.from_numpy(np.array(array)).cuda()
    rows = max(1, _CHUNK_BYTES // max(1, array[:1].nbytes))
    for start in range(0, array.shape[0], rows):
        part = np.ascontiguousarray(array[start : start + rows])
        with np.errstate():
            out[start : start + rows].copy_(torch.from_numpy(part if part.flags.writeable else part.copy()))
    return out
