"""What tag completion has to beat: plain neighbours. What others published stands in the room ``papers``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..blocks import workers
from ..data.checks import as_generator
from ..data.tags import as_tag_table
from ..data.views import Views
from ..errors import ParameterError
from ..types import Singles
from .items import Items, fit_items
from .nearest import Nearest

__all__ = ["PlainNeighbours", "items_and_tags"]


class PlainNeighbours:
    """The share of the 20 most similar items that carries a tag, averaged over the views; all 20 count the same."""

    def __init__(self, n_neighbors: int = 20, random_state: Any = 0) -> None:
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit(self, X: Any, tags: Any) -> PlainNeighbours:
        """Find the neighbours."""
        items, known = items_and_tags(X, tags, self.n_neighbors, self.random_state)
        equal = [Nearest(near.items, (near.cosines > 0).astype(np.float32)) for near in items.neighbours]
        self.scores_ = (items.mixed(equal, items.n_items) @ known).toarray().astype(np.float32)
        return self

    def tag_scores(self) -> Singles:
        """items x tags."""
        return self.scores_


def items_and_tags(X: Any, tags: Any, n_neighbors: int, random_state: Any) -> tuple[Items, Any]:
    """The items with their neighbours, and the tags that are known."""
    if X is None:
        raise ParameterError("this baseline looks at similar items and needs at least one view; X is None.")
    views = X if isinstance(X, Views) else Views(X)
    known = as_tag_table(tags, views.n_items).yes
    with workers(None) as threads:
        return fit_items(views, views.n_items, 0, n_neighbors, as_generator(random_state), threads, _nothing), known


def _nothing(text: str) -> None:
    """Say nothing."""
