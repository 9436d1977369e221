"""What speaks for a proposal and against it, as data and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..figures import percent

__all__ = ["NEGATIVE_SHARE", "SHOWN", "Evidence", "sentence"]

SHOWN = 3
"""Pieces of evidence, and similar items of each, that are shown."""
NEGATIVE_SHARE = 0.25
"""What speaks against a proposal is told from this share on."""
_SMALLEST_SHARE = 0.005
"""What would be shown as 0 % is not told."""


@dataclass(frozen=True)
class Evidence:
    """One thing that spoke for a proposal, or against it.

    kind : "tag" (a tag of the item), "view" (what it is like in a view, by the ridges and by similar items),
        "cluster", "forest", or "frequency" (what is left: how frequent the tag is anyway)
    name : the tag or the view
    amount : what it added to the score
    share : amount over the sum of all positive amounts
    items : up to three rows of ``fit`` that carry the tag, most similar first
    """

    kind: str
    name: str
    amount: float
    share: float
    items: tuple[int, ...] = ()


def sentence(tag: str, evidence: Sequence[Evidence], item_names: Any) -> str:
    """The reason in words."""
    told = [one for one in evidence if one.amount > 0 and one.kind != "frequency" and one.share >= _SMALLEST_SHARE]
    parts = [_words(one, item_names) for one in told]
    if not parts:
        return f"{tag}: frequent in this collection."
    against = [_words(one, item_names) for one in evidence if one.amount < 0 and one.kind != "frequency"]
    return f"{tag}: because of {', '.join(parts)}" + (f"; against it: {', '.join(against)}." if against else ".")


def _words(one: Evidence, item_names: Any) -> str:
    like = f" (like {', '.join(str(item_names[t]) for t in one.items)})" if one.items else ""
    what = {
        "tag": f"the tag {one.name}",
        "view": f"its {one.name}{like}",
        "cluster": f"its cluster {one.name}{like}",
        "forest": f"items in the same leaves{like}",
    }[one.kind]
    return f"{what} {percent(abs(one.share))}"
