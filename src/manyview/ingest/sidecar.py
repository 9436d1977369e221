"""Keywords in ``.xmp`` files that stand beside an item: ``a.jpg.xmp`` and ``a.xmp``."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..collection.catalog import as_json
from ..files import BadFile, FileFacts, open_regular
from .containers import LIMIT, Block
from .keywords import Keywords, gather

__all__ = ["beside_words", "read_sidecar"]


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
