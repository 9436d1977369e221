"""What some items have in common, with counts to narrow a search down by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from ...collection.runs import Run
from ...types import Ints, Mask
from ...workflow.reading.index import Index
from ...workflow.vocabulary.tree import tag_tree
from .. import models

__all__ = ["LOW", "facets_of", "year_counts"]

LOW = 0.4
"""Confidence below which an item is worth a look."""
_FACETS = 100


def facets_of(index: Index, mask: Mask, run: Run | None) -> models.Facets:
    """What some items have in common."""
    places = index.assignment(run)[mask]
    return models.Facets(
        total=int(mask.sum()),
        tags=[models.TagCount(name=name, count=count) for name, count in index.tag_counts(mask)[:_FACETS]],
        tree=[models.TagPlace(name=one.name, depth=one.depth, count=one.n_items) for one in tag_tree(index, mask)],
        years=year_counts(index, mask),
        cameras=_counts(compress(index.values_of("camera"), mask))[:_FACETS],
        clusters=_cluster_counts(index, places, run),
        kinds=sorted(_counts(index.kinds[mask].tolist()), key=lambda one: one.name),
        untagged=int((index.n_tags[mask] == 0).sum()),
        low_confidence=int((index.confidence(run)[mask] < LOW).sum()),
        unplaced=int((places < 0).sum()),
    )


def year_counts(index: Index, mask: Mask | None = None) -> list[models.TagCount]:
    """In which years the items were taken, the first one first; those without a date do not count."""
    years, of_item = index.part("years", "items", lambda: _years(index.taken))
    counts = np.bincount(of_item if mask is None else of_item[mask], minlength=years.size)
    return [
        models.TagCount(name=str(years[one]), count=int(counts[one])) for one in np.flatnonzero(counts) if years[one]
    ]


def _years(taken: NDArray[np.str_]) -> tuple[NDArray[np.str_], Ints]:
    """The different years, ascending, and which of them each item has."""
    years, of_item = np.unique(taken.astype("U4"), return_inverse=True)
    return years, of_item.astype(np.int64)


def _cluster_counts(index: Index, places: Ints, run: Run | None) -> list[models.ClusterCount]:
    guessed, names = index.guessed(run), index.cluster_names(run)
    counts = np.bincount(places[places >= 0], minlength=max(names, default=0) + 1)
    found = [
        models.ClusterCount(id=one, name=name, is_guess=one in guessed, count=int(counts[one]))
        for one, name in names.items()
        if counts[one]
    ]
    return sorted(found, key=lambda one: (-one.count, one.id))


def _counts(values: Iterable[str]) -> list[models.TagCount]:
    """How often each value is there, the most frequent first; what has none does not count."""
    found = Counter(filter(None, values))
    return [models.TagCount(name=name, count=n) for name, n in sorted(found.items(), key=lambda one: (-one[1], one[0]))]
