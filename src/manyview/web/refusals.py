"""Why a request is not answered with what it asked for."""

from __future__ import annotations

from ..errors import ManyviewError

__all__ = ["Absent"]


class Absent(ManyviewError):
    """There is nothing to show; the sentence says why."""
