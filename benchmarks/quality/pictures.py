"""Real photographs and drawings for the tables: pixels, tags, captions and classes, and the picture embedding.

Emoji ship with the package; the others are read from the tars in the folder that MANYVIEW_DATA names. Features are
kept under ``.bench``, by the extractor's version, because they take some seconds.
"""

from __future__ import annotations

from manyview.papers.pictures import TOPIC_WORDS, PictureCollection
from manyview.papers.sources import Sources

from ..environments import BENCH
from .collections import data_folder

__all__ = ["TOPIC_WORDS", "PictureCollection", "picture_collection"]

NAMES = ("emoji", "flickr8k-captioned", "scene8", "caltech101-7")


def picture_collection(name: str) -> PictureCollection | None:
    """One of ``NAMES``; None where its file is not there."""
    if name not in NAMES:
        raise ValueError(f"there is no picture collection {name!r}; there are {', '.join(NAMES)}")
    sources = Sources(data_folder(), BENCH / "features")
    return None if sources.missing((name,)) else sources.pictures(name)
