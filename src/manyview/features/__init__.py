"""From items to views: pictures, clips, texts and tags as rows of numbers, without a network.

======================  ===================================================  =========
``extractor(name)``     what it looks at                                     numbers
======================  ===================================================  =========
``embedding``           what is shown, by a pretrained model (ONNX)          1,280
``color_moments``       which colours are where                              225
``color_histogram``     how much of which colour                             128
``color_texture``       colour and texture together                          48
``edges``               directions of edges                                  73
``wavelets``            coarse and fine texture                              128
``lbp``                 small patterns of light and dark                     256
``hog``                 shape, cell by cell                                  1,764
``gist``                the layout of a scene                                512
``centrist``            the structure of a scene (learns)                    1,302
``motion``              how things move in a clip                            28
``motion_words``        small patterns of space and time in a clip (learns)  3,000
``words``               words of a text, tf-idf (learns)                     as found
``caption``             what a short English text means, by a small model    384
``text``                the same for long texts, in parts                    768
``tags``                tags, 0/1 (learns)                                   as found
``date``                day of the year, place in the sequence (learns)      3
``place``               nearness to places far apart (learns)                up to 32
======================  ===================================================  =========

``DecodePool`` opens strangers' files in child processes; ``near_duplicates`` finds pictures that repeat.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Extractor as Extractor
    from .base import extractor as extractor
    from .base import extractor_names as extractor_names
    from .base import register_extractor as register_extractor
    from .duplicates import near_duplicates as near_duplicates
    from .duplicates import perceptual_hash as perceptual_hash
    from .duplicates import picture_signature as picture_signature
    from .intersection import intersection_map as intersection_map
    from .opening.decode import BadFile as BadFile
    from .opening.decode import Clip as Clip
    from .opening.decode import DecodePool as DecodePool
    from .opening.decode import Picture as Picture
    from .transformed import Transformed as Transformed

_WHERE = {
    "BadFile": "opening.decode",
    "Clip": "opening.decode",
    "DecodePool": "opening.decode",
    "Extractor": "base",
    "Picture": "opening.decode",
    "Transformed": "transformed",
    "extractor": "base",
    "extractor_names": "base",
    "intersection_map": "intersection",
    "near_duplicates": "duplicates",
    "perceptual_hash": "duplicates",
    "picture_signature": "duplicates",
    "register_extractor": "base",
}

__all__ = list(_WHERE)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
