"""Landmarks: the items that stand for all where there are too many for everybody to vote.

Landmarks vote among themselves as a smaller collection would; everybody else goes where ``predict`` would put a new
item, some thousand at a time, so that neither time nor memory of the votes grows with the collection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers, row_blocks
from ...data.views import Views
from ...types import Mask, Places
from ..preparation import place_in
from ._vote import Placed, place_new, points_of

__all__ = ["choose_landmarks", "place_items", "place_rest"]

_OF_A_KIND = 20
"""Landmarks from every combination of views, and from every earlier cluster, where there are so many."""
_BLOCK_BYTES = 64 * 2**20


def choose_landmarks(has_any: Mask, mask: Mask, previous: Places | None, n_wanted: int, seed: int) -> Places | None:
    """Rising numbers of the items that vote; None where all do.

    Every combination of views that items have, and every earlier cluster, has its share of them, and at least twenty
    where it has so many items.
    """
    everyone = np.flatnonzero(has_any)
    if everyone.size <= n_wanted:
        return None
    kinds = np.unique(np.packbits(mask[everyone], axis=1), axis=0, return_inverse=True)[1].ravel()
    if previous is not None:
        kinds = kinds * (int(previous.max()) + 2) + previous[everyone] + 1
    kinds = np.unique(kinds, return_inverse=True)[1]
    sizes = np.bincount(kinds)
    shares = _shares(sizes, n_wanted)
    rng = np.random.default_rng([seed, everyone.size])
    order = np.argsort(kinds, kind="stable")
    edges = np.r_[0, np.cumsum(sizes)]
    drawn = [
        rng.choice(order[edges[kind] : edges[kind + 1]], share, replace=False) for kind, share in enumerate(shares)
    ]
    return everyone[np.sort(np.concatenate(drawn))]


def _shares(sizes: Places, n_wanted: int) -> list[int]:
    """Whole numbers in proportion to the sizes, by largest remainders, and at least twenty or all of each."""
    exact = sizes * (n_wanted / sizes.sum())
    shares = np.floor(exact).astype(np.intp)
    left = np.argsort(shares - exact, kind="stable")[: n_wanted - int(shares.sum())]
    shares[left] += 1
    return np.maximum(shares, np.minimum(sizes, _OF_A_KIND)).tolist()


def place_items(
    model: Any, views: Views, threads: Workers, given: Sequence[NDArray[np.int32]] | None = None
) -> tuple[Placed, NDArray[np.float32]]:
    """Where items that did not vote go, all of which have some view; and their points.

    ``given`` are their labels by the members that came from elsewhere, which are asked where it is None.
    """
    rows_of, speaking = place_in(model.scalings_, views, threads)
    parts = [(rows_of[name], speaking[name]) for name, _ in model.active_views_]
    says: Mapping[str, float] = getattr(model, "says_", {})  # models of the first edition gave every view the same
    weights = np.array([says.get(name, 1.0) for name, _ in model.active_views_])
    points = points_of(model.active_views_, views.n_items, parts, threads, weights, model.state_)
    return place_new(model.state_, model.levels_, points, views, threads, given), points.rows


def place_rest(
    model: Any, views: Views, items: Places, given: Sequence[NDArray[np.int32]], threads: Workers
) -> Iterator[tuple[Places, Placed]]:
    """Items that did not vote, block by block, with where they go."""
    width = sum(model.n_features_per_view_.values())
    row_bytes = 24.0 * (model.n_clusters_ + width) + 8.0 * len(model.state_.get("weights", ()))
    for block in row_blocks(items.size, row_bytes, _BLOCK_BYTES):
        some = items[block]
        yield some, place_items(model, views[some], threads, [labels[some] for labels in given])[0]
