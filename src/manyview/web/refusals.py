"""Why a request is not answered with what it asked for."""

from __future__ import annotations

from ..errors import ManyviewError, StoreError

__all__ = ["Absent", "Busy"]


class Absent(ManyviewError):
    """There is nothing to show; the sentence says why."""


class Busy(StoreError):
    """The change cannot be made now: somebody else is writing, or a later change is in the way; a sentence says so."""
