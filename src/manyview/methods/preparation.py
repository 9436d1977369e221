"""Views as methods compare them: which scaling each gets, and the points that come of it.

A sparse view, and a dense table that is really one of counts, becomes tf-idf along its 100 strongest directions; any
other dense one becomes normal quantiles of its ranks. That is the default; the laws are in ``data.spaces``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from ..arrays import Matrix, is_sparse
from ..blocks import Workers, workers
from ..data.spaces import are_counts, learn_points, to_points
from ..data.views import Views
from ..types import Mask, Singles

__all__ = ["Prepared", "key_of", "place_in", "prepare", "prepared_views"]


@dataclass(frozen=True)
class Prepared:
    """Every view as points, and the spaces they lie in."""

    points: dict[str, Singles]
    """Per view (n_items, d): rows of mean length 1, zeros where an item has nothing to say; d is 0 where the view is
    the same for every item."""
    speaking: dict[str, Mask]
    """Per view: which items have it, with at least one word where it is one of words."""
    spaces: dict[str, dict[str, Any]]
    """Per view what was learned of it; new items are put there by ``place_in``."""


def prepare(views: Views, scale: str | None, threads: Workers) -> Prepared:
    """Scale every view. ``scale``: "rank", "minmax" or None (as it is), for dense views that are no counts."""
    points, speaking, spaces = {}, {}, {}
    for name in views.names:
        matrix, present = views[name], views.present(name)
        scaling = "words" if has_words(matrix, present) else scale or "raw"
        points[name], speaking[name], spaces[name] = learn_points(name, matrix, present, scaling, threads)
    return Prepared(points, speaking, spaces)


def place_in(
    spaces: Mapping[str, dict[str, Any]], views: Views, threads: Workers
) -> tuple[dict[str, Singles], dict[str, Mask]]:
    """New items in the spaces of ``prepare``: their points, and who has something to say, per view."""
    found = {name: to_points(spaces[name], views[name], views.present(name), threads) for name in spaces}
    return {name: one[0] for name, one in found.items()}, {name: one[1] for name, one in found.items()}


def prepared_views(X: Any, scale: str | None = "rank", n_jobs: int | None = None) -> Views:
    """``X`` with every view as ``ConsensusClustering`` prepares it by default: dense float32, rows of mean length 1.

    Names, order and ids stay. An item whose row of words is empty lacks that view, unless it has no other. A view that
    is the same for every item becomes one column of zeros.
    """
    views = X if isinstance(X, Views) else Views(X)
    with workers(n_jobs) as threads:
        found = prepare(views, scale, threads)
    return as_views(views, found.points, found.speaking)


def as_views(views: Views, points: Mapping[str, Singles], speaking: Mapping[str, Mask]) -> Views:
    """Points in the form of the views they were made of."""
    still = np.zeros((views.n_items, 1), dtype=np.float32)
    matrices = tuple(points[name] if points[name].shape[1] else still for name in views.names)
    mask = np.column_stack([speaking[name] for name in views.names]) & views.mask
    silent = ~mask.any(axis=1)
    mask[silent] = views.mask[silent]
    return Views._trusted(views.names, matrices, mask, views.ids)


def has_words(matrix: Matrix, present: Mask) -> bool:
    """Does a view hold words, tags or other things that are counted?"""
    return is_sparse(matrix) or are_counts(matrix, present)


def key_of(rows: Singles) -> int:
    """A number that depends on what a view holds, not on its name or place. Reads about 1,000 rows."""
    return 1 + crc32(rows[:: max(1, rows.shape[0] // 1_000)].tobytes())
