"""How much more, or less, often a cluster carries a tag than the rest of the collection."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..data.tags import TagTable
from ..types import Floats, Places
from ._grouping import Grouping

__all__ = ["NOTICEABLE", "TagCounts", "TagShare", "count_tags", "surprise"]


NOTICEABLE = 6.63
"""The surprise that chance alone exceeds once in a hundred tags (chi-squared, one degree of freedom)."""


@dataclass(frozen=True)
class TagShare:
    """One tag in one cluster, next to the rest of the collection.

    Shares and expectations are over the items that were looked at: those that carry any tag, or are known not to
    carry this one. An item without tags says nothing, which is not no.
    """

    tag: str
    count: int
    """Members that carry it."""
    looked_at: int
    """Members that carry any tag, or are known not to carry this one."""
    expected: float
    """How many members would carry it if it were spread evenly over the collection."""
    lift: float
    """count / expected."""
    share: float
    """count / looked_at."""
    share_elsewhere: float
    """The same share among the items outside the cluster; 0 where there are none."""
    score: float
    """``surprise``: how hard this is to believe of chance; negative where the tag is rarer than elsewhere."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)


def surprise(count: ArrayLike, looked_at: ArrayLike, total: ArrayLike, total_looked_at: ArrayLike) -> Floats:
    """The signed log-likelihood ratio (Dunning's G) of a tag in a cluster against the rest of the collection.

    ``G = 2 sum O ln(O / E)`` over the four cells {in, out} x {with, without}, where ``E`` follows from the margins;
    the sign is minus where the cluster has less than its part. It grows with lift and with coverage alike: two items
    of two say little, eighty of a hundred say much. Divided by twice the number of items it is the mutual information
    of tag and cluster.

    >>> float(surprise(8, 10, 10, 20).round(3))
    7.71
    >>> float(surprise(2, 10, 10, 20).round(3))
    -7.71
    """
    k, n, k_all, n_all = (np.asarray(part, dtype=np.float64) for part in (count, looked_at, total, total_looked_at))
    value = np.zeros(np.broadcast_shapes(k.shape, n.shape, k_all.shape, n_all.shape))
    with np.errstate(divide="ignore", invalid="ignore"):
        for cell, row, column in (
            (k, n, k_all),
            (n - k, n, n_all - k_all),
            (k_all - k, n_all - n, k_all),
            (n_all - n - k_all + k, n_all - n, n_all - k_all),
        ):
            value = value + np.where(cell > 0, cell * np.log(cell * n_all / (row * column)), 0.0)
    return np.sign(k * n_all - k_all * n) * 2.0 * np.maximum(value, 0.0)


@dataclass(frozen=True)
class TagCounts:
    """Counts of every tag in every cluster, sparse; ``row`` gives those of one cluster for all tags."""

    table: TagTable
    yes: Any
    """CSR, clusters by tags: members that carry a tag."""
    refused: Any
    """CSR, clusters by tags: members without any tag that are known not to carry this one."""
    tagged: Places
    total: Floats
    total_looked_at: Floats

    def row(self, cluster: int) -> tuple[Floats, Floats]:
        """For every tag: how many members carry it, and how many were looked at."""
        count, looked_at = np.zeros(self.table.n_tags), np.full(self.table.n_tags, float(self.tagged[cluster]))
        for matrix, out in ((self.yes, count), (self.refused, looked_at)):
            here = slice(matrix.indptr[cluster], matrix.indptr[cluster + 1])
            out[matrix.indices[here]] += matrix.data[here]
        return count, looked_at

    def scores(self, cluster: int) -> Floats:
        """``surprise`` of every tag in one cluster."""
        return surprise(*self.row(cluster), self.total, self.total_looked_at)

    def shares(self, cluster: int, tags: Places) -> list[TagShare]:
        """The figures of some tags in one cluster."""
        count, looked_at = (part[tags] for part in self.row(cluster))
        total, everyone = self.total[tags], self.total_looked_at[tags]
        score = surprise(count, looked_at, total, everyone)
        expected = looked_at * total / np.maximum(everyone, 1.0)
        elsewhere = (total - count) / np.maximum(everyone - looked_at, 1.0)
        return [
            TagShare(
                tag=self.table.names[tag],
                count=int(count[i]),
                looked_at=int(looked_at[i]),
                expected=float(expected[i]),
                lift=float(count[i] / expected[i]) if expected[i] else 0.0,
                share=float(count[i] / max(looked_at[i], 1.0)),
                share_elsewhere=float(elsewhere[i]),
                score=float(score[i]),
            )
            for i, tag in enumerate(tags.tolist())
        ]

    def ordered(self, tags: Places, score: Floats, count: Floats) -> Places:
        """Tags from the highest score down; ties by count, then by spelling, never by the order of the items."""
        names = self.table.names
        order = sorted(range(tags.size), key=lambda i: (-round(float(score[i]), 9), -count[i], names[tags[i]]))
        return tags[np.array(order, dtype=np.intp)]

    def over(self, cluster: int, limit: int) -> list[TagShare]:
        """Tags that the cluster has noticeably more often than the rest, the most surprising first."""
        return self._noticeable(cluster, limit, +1.0)

    def under(self, cluster: int, limit: int) -> list[TagShare]:
        """Tags that the cluster has noticeably less often than the rest, the most surprising first."""
        return self._noticeable(cluster, limit, -1.0)

    def _noticeable(self, cluster: int, limit: int, sign: float) -> list[TagShare]:
        score = sign * self.scores(cluster)
        tags = _largest(score, np.flatnonzero(score >= NOTICEABLE), limit)
        count, _ = self.row(cluster)
        return self.shares(cluster, self.ordered(tags, score[tags], count[tags])[:limit])


def count_tags(table: TagTable, grouping: Grouping) -> TagCounts:
    """Count tags by cluster. O(number of tags on items) time; memory is at most that of the table."""
    is_tagged = np.diff(table.yes.indptr) > 0
    indicator = grouping.indicator()
    no_only = table.no.copy()
    no_only.data = np.where(np.repeat(is_tagged, np.diff(no_only.indptr)), 0, no_only.data)
    total_no = np.bincount(no_only.indices, weights=no_only.data, minlength=table.n_tags)
    inside = is_tagged & (grouping.code >= 0)
    return TagCounts(
        table=table,
        yes=(indicator @ table.yes).tocsr(),
        refused=(indicator @ no_only).tocsr(),
        tagged=np.bincount(grouping.code[inside], minlength=grouping.n_clusters),
        total=np.bincount(table.yes.indices, minlength=table.n_tags).astype(np.float64),
        total_looked_at=(total_no + is_tagged.sum()).astype(np.float64),
    )


def _largest(score: Floats, tags: Places, limit: int) -> Places:
    """At least the ``limit`` best of some tags, and all that tie with the last of them."""
    if tags.size <= limit:
        return tags
    line = float(np.sort(score[tags])[-limit]) if limit else np.inf
    good: Places = tags[score[tags] >= line - 1e-9]
    return good
