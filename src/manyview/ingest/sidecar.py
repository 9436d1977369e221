"""Keywords in ``.xmp`` files that stand beside an item: ``a.jpg.xmp`` and ``a.xmp``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ..collection.catalog import as_json
from ..collection.items import FileFacts
from .containers import LIMIT, Block
from .files import BadFile, open_regular
from .keywords import Keywords, gather

__all__ = ["beside_words", "is_sidecar", "read_sidecar", "sidecars_by_owner"]


def is_sidecar(name: str) -> bool:
    """Is this the name of a sidecar?"""
    return name[-4:].lower() == ".xmp"


def sidecars_by_owner(names: Iterable[str]) -> dict[str, list[str]]:
    """The sidecars of every file of a folder that has some, sorted.

    ``a.jpg.xmp`` belongs to ``a.jpg``; where there is no such file, and for ``a.xmp``, to every ``a.*``.
    """
    listed = sorted(names)
    files = [name for name in listed if not is_sidecar(name)]
    by_stem: dict[str, list[str]] = {}
    for name in files:
        by_stem.setdefault(os.path.splitext(name)[0], []).append(name)
    exact = set(files)
    found: dict[str, list[str]] = {}
    for name in filter(is_sidecar, listed):
        stem = name[:-4]
        for owner in [stem] if stem in exact else by_stem.get(stem, ()):
            found.setdefault(owner, []).append(name)
    return found


def beside_words(sidecars: Mapping[str, FileFacts]) -> str:
    """The sidecars of a file, by path, in words that change when one of them comes, goes or changes."""
    words = [[name.encode("utf-8", "backslashreplace").decode(), *facts[:2]] for name, facts in sidecars.items()]
    return as_json(words) if words else ""


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
