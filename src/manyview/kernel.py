"""The one way manyview compiles a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["kernel"]

# Reassociation lets sums use vector registers; "nnan" and "ninf" stay out so that NaN keeps its meaning.
# A sum must then be taken in a loop that stores nothing: where a loop does both, the machine code looks how near the
# arrays lie in memory and goes number by number where they are close, so that the last bit depends on addresses.
_FASTMATH = {"reassoc", "nsz", "contract", "arcp"}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop over arrays, without the GIL, and keep the machine code for the next process.

    Compilation happens at the first call. Where neither the install nor the user's cache folder
    can be written, the code is compiled anew in each process.
    """
    import numba

    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _FASTMATH}
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder it may write to
        compiled = numba.njit(**options)(function)
    return compiled  # type: ignore[no-any-return]
