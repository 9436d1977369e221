"""How small leaves may be, found without classes: the size that finds tags again which were hidden for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...data.hiding import can_be_found, hide_tags
from ...data.tags import TagTable

__all__ = ["SIZES", "USUAL", "find_leaf_size"]

SIZES = (3, 5, 10, 20)
USUAL = SIZES[0]
"""The paper's, where too few tags can be hidden to tell."""
_HIDDEN, _FEWEST = 0.2, 20
"""The share of the tags that is hidden; fewer than so many tell nothing."""
_FIRST = 5  # proposals of an item among which its hidden tags are looked for

Scores = Callable[[int, TagTable], Any]


def find_leaf_size(scores: Scores, tags: TagTable, seed: int) -> tuple[int, dict[int, float]]:
    """The size with the highest recall of a fifth of the tags, the smallest of those; and the recall of each size.

    ``scores(size, left)`` grows a forest with leaves of that size from the tags that are left, and scores every tag.
    """
    from ...metrics import recall_at

    able = tags.yes.tocsc()[:, can_be_found(tags)].nnz
    if _HIDDEN * able < _FEWEST:
        return USUAL, {}
    left, hidden = hide_tags(tags, _HIDDEN, seed, on_items=2)
    recall = {size: recall_at(hidden, scores(size, left), _FIRST, known=left.yes) for size in SIZES}
    return max(SIZES, key=lambda size: recall[size]), recall
