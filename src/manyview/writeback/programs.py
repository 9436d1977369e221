"""What other programs make of tags that are written, in a sentence each; the table in docs/write_back.md in short."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Seen", "seen_by"]


class Seen(NamedTuple):
    """A program, and what it will see."""

    name: str
    sees: str


_SIDECARS = (
    Seen("darktable", "old and new words, when it imports the picture or reads its sidecar again"),
    Seen("digiKam", "old and new words, where its settings say that it reads sidecars"),
    Seen("Immich", "old and new words, at its next scan"),
    Seen("PhotoPrism", "the new words beside those of the picture"),
    Seen("Lightroom Classic", "nothing of sidecars beside JPEG, PNG and TIFF; of raw files those called photo.xmp"),
)
_EMBEDDED = (
    Seen("darktable", "old and new words, when it imports the picture and there is no sidecar"),
    Seen("digiKam", "old and new words, when it reads metadata from files"),
    Seen("Immich", "old and new words, at its next scan"),
    Seen("PhotoPrism", "old and new words, at its next scan"),
    Seen("Lightroom Classic", "old and new words, when it reads metadata from files"),
)


def seen_by(to: str) -> tuple[Seen, ...]:
    """What programs see of tags that are written to sidecars ("xmp") or into files ("embedded")."""
    return _EMBEDDED if to == "embedded" else _SIDECARS
