"""Tests of the graphics processor's code run where there is one, or, slowly, by Triton's interpreter where torch is."""

import importlib.util
import os

import pytest

MISSING = [name for name in ("torch", "triton") if importlib.util.find_spec(name) is None]


@pytest.fixture(scope="session")
def device():
    """Where tensors go: "cuda", or "cpu" with TRITON_INTERPRET=1."""
    if MISSING:
        pytest.skip(f"{' and '.join(MISSING)} not installed: pip install 'manyview[gpu]'")
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if os.environ.get("TRITON_INTERPRET") == "1":
        return "cpu"
    pytest.skip("there is no CUDA device; TRITON_INTERPRET=1 runs these tests without one")
