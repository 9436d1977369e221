"""Keywords in ``.xmp`` files that stand beside an item: ``a.jpg.xmp`` and ``a.xmp``."""

from __future__ import annotations

import os
from collections.abc import Iterable

from .containers import LIMIT, Block
from .files import BadFile, open_regular
from .keywords import Keywords, gather

__all__ = ["is_sidecar", "read_sidecar", "sidecar_owner"]


def is_sidecar(name: str) -> bool:
    """Is this the name of a sidecar?"""
    return name[-4:].lower() == ".xmp"


def sidecar_owner(name: str, names: Iterable[str]) -> list[str]:
    """The files of a folder that a sidecar belongs to: ``a.jpg.xmp`` to ``a.jpg``, ``a.xmp`` to every ``a.*``."""
    stem = name[:-4]
    others = [other for other in names if not is_sidecar(other)]
    return [other for other in others if other == stem] or [
        other for other in others if os.path.splitext(other)[0] == stem
    ]


def read_sidecar(path: str) -> Keywords:
    """The keywords of a sidecar. What cannot be read is a note: the picture is fine without it."""
    try:
        with open_regular(path) as (file, facts):
            if facts.size > LIMIT:
                raise BadFile("too large", f"it has more than {LIMIT >> 20} MB.")
            content = file.read(LIMIT)
    except BadFile as error:
        return Keywords(notes=[("bad sidecar", f"{os.path.basename(path)} beside it was not read: {error.sentence}")])
    return gather([Block("xmp", content)], [])
