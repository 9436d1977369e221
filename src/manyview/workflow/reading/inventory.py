"""What is in a collection, told before anything is computed: kinds, tags, copies, and how long views will take."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...collection.store import Store
from ...figures import counted, percent
from ..compute import default_views
from ..run_views import tags_can_serve
from .estimate import estimate_first_fit, facts_of

__all__ = ["Inventory", "take_inventory"]


@dataclass(frozen=True)
class Inventory:
    """Counts, and an estimate of the work a first fit takes."""

    n_items: int
    formats: dict[str, int]
    n_tags: int
    n_tag_uses: int
    n_untagged: int
    scripts: dict[str, int]
    """Script the tags are written in -> number of tags."""
    n_copies: int
    """Files that are byte for byte the same as an earlier one."""
    views: tuple[str, ...]
    """Views that are there, and those a fit would compute."""
    can_fit: bool
    """Is there anything that items can be grouped by?"""
    seconds: float
    memory: float
    sentence: str
    """Both in words."""

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "views": list(self.views)}

    def sentences(self) -> list[str]:
        """What there is to say, one line each."""
        if not self.n_items:
            return ["nothing that can be read: no pictures, clips, documents or rows"]
        bare = "" if set(self.formats) == {"row"} else " without text or file"
        names = {"row": (f"row{bare}", f"rows{bare}"), "document": ("text", "texts")}
        kinds = ", ".join(counted(n, *names.get(name, (name, name))) for name, n in list(self.formats.items())[:8])
        lines = [f"{kinds}{', ...' if len(self.formats) > 8 else ''}"]
        if self.n_tags:
            share = self.n_untagged / max(1, self.n_items)
            letters = "" if set(self.scripts) == {"Latin"} else f"; letters: {', '.join(self.scripts)}"
            tags = counted(self.n_tags, "tag", "different tags")
            lines.append(f"{tags}, {self.n_tag_uses} in all; {percent(share)} of the items have no tag{letters}")
        else:
            lines.append("no tags")
        if self.n_copies:
            lines.append(
                "1 file is an exact copy of another"
                if self.n_copies == 1
                else f"{self.n_copies} files are exact copies of others"
            )
        if self.can_fit:
            lines.append(f"views that a fit uses: {', '.join(self.views) or 'none but the tags'}")
            lines.append(f"a first fit takes {self.sentence.rpartition(',')[0]} here")
        else:
            lines.append("nothing to group by yet: no pictures, texts or ready features, and no tags that differ")
        return lines


def take_inventory(collection: Store) -> Inventory:
    """Count what is in a collection."""
    tags = collection.tags
    kinds = collection.items.formats()
    formats: Counter[str] = Counter()
    for counts in kinds.values():
        formats.update(counts)
    n_items = formats.total()
    views = (*collection.view_names, *(n for n in default_views(collection) if n not in collection.view_names))
    work = estimate_first_fit(facts_of(collection))
    return Inventory(
        n_items=n_items,
        formats=dict(formats.most_common()),
        n_tags=tags.n_tags,
        n_tag_uses=int(tags.yes.nnz),
        n_untagged=int((np.diff(tags.yes.indptr) == 0).sum()),
        scripts=dict(Counter(_script(name) for name in tags.names).most_common()),
        n_copies=collection.whereabouts.n_copies(),
        views=views,
        can_fit=bool(views) or tags_can_serve(tags),
        seconds=work.seconds,
        memory=work.memory,
        sentence=work.sentence,
    )


def _script(word: str) -> str:
    """The script of the first letter: Latin, Cyrillic, CJK, ..."""
    for char in word:
        if char.isalpha():
            return unicodedata.name(char, "unknown").split()[0].title().replace("Cjk", "Han")
    return "signs"
