"""What a document says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Said"]


class Said(NamedTuple):
    """The text of a document and the keywords that stand in it, as they are written there."""

    text: str
    words: Sequence[str] = ()
    paths: Sequence[tuple[str, ...]] = ()
    """Hierarchical keywords, from the most general word."""
    notes: Sequence[tuple[str, str]] = ()
    """What could not be read: a reason and a sentence."""
    written: str = ""
    """When it was written, as ISO has it, where that is certain; properties are often those of a template."""
