"""The device, and how rows come to it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["device_name", "free_bytes", "room", "to_device", "whole_digits", "why_not"]

_CHUNK_BYTES = 256 * 2**20
_SHARE = 0.6  # of the free memory that rows may take: steps need room beside them


def _is_interpreted() -> bool:
    """Does Triton run kernels in Python, as tests have it where there is no device?"""
    return os.environ.get("TRITON_INTERPRET") == "1"


def why_not() -> str | None:
    """Why nothing can be computed on a graphics processor here; None where it can."""
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
        return "torch and Triton are not installed: pip install 'manyview[gpu]'"
    import torch

    if not torch.cuda.is_available() and not _is_interpreted():
        return "torch finds no CUDA device (`nvidia-smi` tells whether the driver does)"
    return None


def device_name() -> str:
    """Where torch puts tensors."""
    return "cpu" if _is_interpreted() else "cuda"


def free_bytes() -> int:
    """Memory of the device that nobody uses."""
    import torch

    if device_name() == "cpu":
        return 2**30
    return int(torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() - torch.cuda.memory_allocated())


def room(memory: int | None) -> int:
    """Bytes that rows may take: those that were allowed, else a share of what is free."""
    return int(_SHARE * free_bytes()) if memory is None else memory


@contextmanager
def whole_digits() -> Iterator[None]:
    """No shortened numbers in products, whatever the process has allowed."""
    import torch

    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def to_device(array: Any, out: Any = None) -> Any:
    """A NumPy array, memory-mapped too, on the device; into ``out`` where that is given, a piece at a time."""
    import numpy as np
    import torch

    if out is None:
        return torch.from_numpy(np.array(array)).to(device_name())
    rows = max(1, _CHUNK_BYTES // max(1, array[:1].nbytes))
    for start in range(0, array.shape[0], rows):
        out[start : start + rows].copy_(torch.from_numpy(np.array(array[start : start + rows])))
    return out
