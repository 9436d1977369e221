"""How well a partition holds together what the votes say belongs together, and the moves that make it hold better.

For a partition Y (n x K, one 1 per row) with cluster sizes s and the votes T of ``mixed_operator``, its *association*
is na(Y) = sum over clusters c of (Y'TY)_cc / s_c: the mean vote inside each cluster, times its size. It is at most K. T
is never written out: neighbours add up by cluster, and members through the table of their clusters against Y's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...blocks import Workers, row_blocks
from ...types import Floats, Places
from ._graph import Memberships, NeighbourGraph

__all__ = ["Votes", "place_unknown", "refine"]

_ROUNDS = 10


@dataclass(frozen=True)
class Votes:
    """T = alpha S + (1 - alpha) C, as it is asked about partitions. Label -1: an item that is in no cluster yet."""

    alpha: float
    graph: NeighbourGraph
    memberships: Memberships
    threads: Workers

    def table(self, labels: Places, n_clusters: int) -> Floats:
        """Votes of every member's clusters for every cluster of the partition: H'Y over sqrt(c_l)."""
        return self.memberships.label_table(labels, n_clusters)

    def inside(self, labels: Places, n_clusters: int, table: Floats) -> Floats:
        """(Y'TY)_cc for every cluster c."""
        found = np.zeros(n_clusters)
        if self.alpha > 0:
            found += self.alpha * self.graph.inside(labels, n_clusters)
        if self.alpha < 1:
            found += (1.0 - self.alpha) * self.memberships.inside(table)
        return found

    def association(self, labels: Places, n_clusters: int) -> float:
        """na of a partition."""
        inside = self.inside(labels, n_clusters, self.table(labels, n_clusters))
        return _association(inside, np.bincount(labels[labels >= 0], minlength=n_clusters))

    def moves(self, labels: Places, n_clusters: int, table: Floats, inside: Floats) -> Places:
        """For every item the cluster that gains most by it: argmax of 2 (TY)_ic / s_c - (Y'TY)_cc / s_c^2."""
        from ._kernels import nearest_cluster

        sizes = np.bincount(labels[labels >= 0], minlength=n_clusters).astype(np.float64)
        found = np.empty(labels.size, dtype=np.intp)

        def block(rows: slice) -> None:
            totals = np.zeros((rows.stop - rows.start, n_clusters))
            if self.alpha > 0:
                self.graph.add_label_totals(rows, labels, self.alpha, totals)
            if self.alpha < 1:
                self.memberships.add_label_totals(rows, table, 1.0 - self.alpha, totals)
            nearest_cluster(totals, sizes, inside, found[rows])

        for _ in self.threads.map(block, row_blocks(labels.size, 8.0 * n_clusters)):
            pass
        return found


def _association(inside: Floats, sizes: Places) -> float:
    used = sizes > 0
    return float((inside[used] / sizes[used]).sum())


def place_unknown(votes: Votes, labels: Places, n_clusters: int) -> Places:
    """Labels with every -1 replaced by the cluster that gains most by the item."""
    if (labels >= 0).all():
        return labels
    table = votes.table(labels, n_clusters)
    found = votes.moves(labels, n_clusters, table, votes.inside(labels, n_clusters, table))
    return np.where(labels >= 0, labels, found)


def refine(votes: Votes, labels: Places, n_clusters: int, leaders: Places) -> tuple[Places, float]:
    """Move items to where they gain most while the association rises, at most ten rounds; and the association.

    All items move at once. A round that empties a cluster or lowers the association is taken back, and is the last.
    ``leaders`` says for every item whom it goes with: itself, or the first of those that equal it.
    """
    table = votes.table(labels, n_clusters)
    inside = votes.inside(labels, n_clusters, table)
    sizes = np.bincount(labels, minlength=n_clusters)
    value = _association(inside, sizes)
    for _ in range(_ROUNDS):
        moved = votes.moves(labels, n_clusters, table, inside)[leaders]
        if np.array_equal(moved, labels):
            break
        new_sizes = np.bincount(moved, minlength=n_clusters)
        if (new_sizes[sizes > 0] == 0).any():
            break
        new_table = votes.table(moved, n_clusters)
        new_inside = votes.inside(moved, n_clusters, new_table)
        new_value = _association(new_inside, new_sizes)
        if not new_value > value:
            break
        labels, table, inside, sizes, value = moved, new_table, new_inside, new_sizes, new_value
    return labels, value
