"""Which sidecar a picture's tags go to.

``photo.jpg.xmp`` (darktable, digiKam, Immich) belongs to one file; ``photo.xmp`` (Lightroom) to whatever is called
``photo``. The one that is there is used. Where both are, or where a picture and its raw file would share ``photo.xmp``,
the tags go to the one that is the picture's own. So do those of documents, which leave ``photo.xmp`` to a picture.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ..files import DOCUMENTS, PICTURES, RAW, VIDEOS, ending, is_sidecar, sidecars_of

__all__ = ["NAMINGS", "Folder", "Place"]

NAMINGS = ("full", "stem")
"""How a new sidecar is called: ``photo.jpg.xmp``, or ``photo.xmp``."""

_MEDIA = PICTURES | VIDEOS | RAW
_LONGEST = 255
"""Bytes of a file name, nearly everywhere."""


class Place(NamedTuple):
    """Where tags of a file go, by names in its folder."""

    own: str
    """The sidecar for what is new; it may not be there yet."""
    others: tuple[str, ...]
    """Sidecars that are read too, so that a tag has to go from them as well."""


class Folder:
    """The names in one folder, and which sidecar belongs to which file."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names: set[str] = set()
        self._sidecars: dict[str, set[str]] = {}
        """By what stands before ``.xmp``."""
        self._files: dict[str, set[str]] = {}
        """All other files by what stands before their ending."""
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """A file is there."""
        self._names.add(name)
        self._group(name, lambda names: names.add(name))

    def discard(self, name: str) -> None:
        """A file is gone."""
        self._names.discard(name)
        self._group(name, lambda names: names.discard(name))

    def _group(self, name: str, change: Callable[[set[str]], None]) -> None:
        if is_sidecar(name):
            change(self._sidecars.setdefault(name[:-4], set()))
        else:
            change(self._files.setdefault(os.path.splitext(name)[0], set()))

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def sidecars(self, name: str) -> list[str]:
        """The sidecars of a file that are there, sorted."""
        return sidecars_of(name, self._sidecars, self._names.__contains__)

    def sharers(self, name: str, sidecar: str) -> list[str]:
        """Other files that a sidecar speaks of too and that have as good a claim to it, sorted.

        Of any two files one at least gives way, so that no two can be given the same sidecar.
        """
        stem = sidecar[:-4]
        if stem == name:
            return []
        claim = _claim(name)
        return sorted(one for one in self._files.get(stem, set()) - {name} if _claim(one) <= claim)

    def place(self, name: str, naming: str) -> Place:
        """The sidecar for the tags of a file."""
        there = self.sidecars(name)
        alone = [one for one in there if not self.sharers(name, one)]
        own = next((one for one in alone if one[:-4] == name), None) or next(iter(alone), None)
        if own is None:
            own = self._new(name, naming)
        return Place(own, tuple(one for one in there if one != own))

    def _new(self, name: str, naming: str) -> str:
        plain = os.path.splitext(name)[0]
        full, stem = f"{name}.xmp", f"{plain}.xmp"
        free = not self._names & {stem, plain} and not self.sharers(name, stem)
        too_long = len(os.fsencode(full)) > _LONGEST
        return stem if free and (naming == "stem" or too_long) else full


def _claim(name: str) -> int:
    """Sidecars are made for pictures, clips and raw files first; what has no known ending may be one all the same."""
    called = ending(name)
    return 0 if called in _MEDIA else 1 if called in DOCUMENTS else 2
