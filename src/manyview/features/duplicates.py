"""Pictures that are the same but for their size, their compression or a little brightness."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.checks import check_number
from ..errors import ViewError
from .pictures import grey_levels, rgb_picture

__all__ = ["near_duplicates", "perceptual_hash", "picture_signature", "same_signature"]

_SIDE = 8
_LARGEST_CHANGE = 20
_LARGEST_SHIFT = 32


def perceptual_hash(picture: Any) -> int:
    """64 bits that hardly change when a picture is resized, compressed or brightened.

    Signs of the 64 lowest coefficients of the cosine transform of a 32 x 32 grey picture, against their median.
    """
    small = _small(picture, 32)
    waves = _cosines(32)[:_SIDE]
    found = (waves @ grey_levels(small).astype(np.float64) @ waves.T).ravel()
    # The mean brightness says nothing; rounding keeps a flat picture from being decided by the last bits.
    found[0] = 0.0
    bits = np.rint(found * 16) > np.rint(np.median(found[1:]) * 16)
    return int.from_bytes(np.packbits(bits).tobytes(), "big")


def picture_signature(picture: Any) -> bytes:
    """The picture at 8 x 8 pixels, RGB, 192 bytes: tells apart what differs in colour only."""
    return _small(picture, _SIDE).tobytes()


def _small(picture: Any, side: int) -> NDArray[np.uint8]:
    from PIL import Image

    return np.asarray(Image.fromarray(rgb_picture(picture)).resize((side, side), Image.Resampling.BILINEAR))


@cache
def _cosines(size: int) -> NDArray[np.float64]:
    angles = np.outer(np.arange(size), (np.arange(size) + 0.5) * np.pi / size)
    return np.asarray(np.cos(angles) * np.sqrt(2 / size))


def near_duplicates(
    hashes: Sequence[int], signatures: Sequence[bytes] | None = None, *, max_distance: int = 4
) -> NDArray[np.int64]:
    """For each picture the first one that it repeats; its own number where it repeats none.

    Two pictures are the same when their hashes differ in at most ``max_distance`` bits and, where signatures are
    given, ``same_signature`` says so: the hash knows no colours. Every member is compared with the first of its
    group, so that a chain of small changes does not join strangers. O(n) where few pictures look alike.

    >>> near_duplicates([0b1111, 0b1110, 1 << 40]).tolist()
    [0, 0, 2]
    """
    check_number("max_distance", max_distance, integer=True, low=0, high=63)
    if signatures is not None and len(signatures) != len(hashes):
        raise ViewError(f"there are {len(hashes)} hashes but {len(signatures)} signatures; one of each per picture.")
    first = np.arange(len(hashes), dtype=np.int64)
    # Two hashes that differ in d bits agree in at least one of d + 1 bands: only those are compared.
    cuts = [64 * band // (max_distance + 1) for band in range(max_distance + 2)]
    leaders: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for number, code in enumerate(hashes):
        bands = [(low, code >> low & ((1 << high - low) - 1)) for low, high in pairwise(cuts)]
        near = sorted({leader for band in bands for leader in leaders[band]})
        for leader in near:
            alike = (code ^ hashes[leader]).bit_count() <= max_distance
            if alike and (signatures is None or same_signature(signatures[number], signatures[leader])):
                first[number] = leader
                break
        else:
            for band in bands:
                leaders[band].append(number)
    return first


def same_signature(one: bytes, other: bytes) -> bool:
    """Does no cell differ much, beyond a common shift of brightness or tint?"""
    change = np.subtract(*(np.frombuffer(s, dtype=np.uint8).reshape(-1, 3).astype(np.int64) for s in (one, other)))
    shift = change.mean(axis=0)
    return bool(np.abs(shift).max() <= _LARGEST_SHIFT and np.abs(change - shift).max() <= _LARGEST_CHANGE)
