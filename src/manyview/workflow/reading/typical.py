"""What is shown first: the clusters that are most surely something, and of each the members that say what it is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...collection.runs import Run
from ...collection.sorted_numbers import among, distinct
from ...types import Ints, Mask
from ..clusters.living import LiveCluster
from ..clusters.order import best_first, cluster_scores
from .index import Index

__all__ = ["best_clusters", "scores", "typical_rows"]


def scores(index: Index, run: Run | None) -> dict[int, float]:
    """How much each cluster is worth looking at, by number: see ``cluster_scores``."""
    if run is None:
        return {}
    return index.part(
        "scores",
        "items runs edits tags decisions",
        lambda: cluster_scores(index.clusters(run), index.assignment(run), index.confidence(run)),
        run.id,
    )


def best_clusters(index: Index, run: Run | None) -> list[LiveCluster]:
    """The clusters of a run, best first."""
    return best_first(index.clusters(run), scores(index, run))


def typical_rows(index: Index, rows: Ints, run: Run | None, clusters: Sequence[LiveCluster] | None = None) -> Ints:
    """Rows of items, given in rising order, the most typical first: the exemplars of the clusters, by default of all
    with the best first; then the others, surest first; last those that repeat another item, exactly or nearly.

    Time is that of sorting the rows.
    """
    sure = index.confidence(run)[rows]
    order = np.argsort(np.where(np.isnan(sure), np.inf, -sure), kind="stable")
    told = best_clusters(index, run) if clusters is None else clusters
    first = [item for one in told for item in one.profile.get("exemplars", [])]
    typical = index.rows_of(np.array(first, dtype=np.int64))
    typical = typical[among(typical, rows)]
    rest = rows[order]
    found = np.concatenate([typical, rest[~among(rest, distinct(typical))]])
    repeats = _repeats(index)[found]
    return np.concatenate([found[~repeats], found[repeats]])


def _repeats(index: Index) -> Mask:
    """Which items repeat another, exactly or nearly."""
    return index.part("repeats", "items", lambda: _find_repeats(index))


def _find_repeats(index: Index) -> Mask:
    mask = np.ones(index.ids.size, dtype=bool)
    mask[index.collection.items.fold()[0]] = False
    return mask
