"""How much alike items and clusters are, view by view, without ever comparing all pairs of items.

In each view an item is a row of length one: tf-idf where the view is sparse, of the counts behind it where it came as
tf-idf; where it is dense, columns are standardised and a constant column as long as a typical row is added, so that few
columns keep their order (three points on a line stay three points) while far outliers count no more than their
direction. Sums of such rows over clusters are all that is kept, and two measures follow from them:

- *likeness* of two items is the cosine of their rows, on a scale where two items picked blindly have 0 and equal ones
  have 1. Its mean over all pairs of two clusters is one inner product of their sums.
- *closeness* of an item to a cluster is 1 at the centre of the cluster and falls with the squared distance from it; 0
  is as far as items on average are from the middle of the collection. An item's own cluster is taken without the item.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, is_sparse
from ..blocks import Workers, row_blocks, workers
from ..completion.view_space import unit_rows
from ..data.checks import per_view_numbers
from ..data.read_back import Factors, find_factors
from ..data.spaces import column_spread
from ..data.views import Views
from ..data.weighting import inverse_frequency, speaks
from ..types import Floats, Places, Singles
from ._grouping import Grouping, check_grouping

__all__ = ["Compared", "Likeness", "closeness_to_clusters", "compare_views", "measure_likeness"]


_NEAREST = 5
_SAME = 1e-5  # a view in which two items picked blindly are this close to equal says nothing


@dataclass(frozen=True)
class _Space:
    """One view with what makes unit rows of it."""

    matrix: Matrix
    present: NDArray[np.bool_]
    shift: Floats
    scale: Floats
    factors: Factors | None = None
    """Of a sparse view that came weighted; see ``read_back``."""

    def units(self, rows: Any) -> Matrix:
        """Rows of length one; zeros where an item lacks the view or its row is empty."""
        part, present = self.matrix[rows], self.present[rows]
        if not is_sparse(part):
            part = np.column_stack([part, np.full(part.shape[0], np.sqrt(part.shape[1]))])
        return unit_rows(part, present, self.shift, self.scale, self.factors)

    @property
    def row_bytes(self) -> float:
        rows, width = self.matrix.shape
        return float(24.0 * self.matrix.nnz / max(1, rows) if is_sparse(self.matrix) else 16.0 * width)


@dataclass(frozen=True)
class _Sums:
    """Of one view: sums of unit rows by cluster and over everyone, and how many items speak."""

    by_cluster: Any
    total: Floats
    counts: Places
    n: int


@dataclass(frozen=True)
class Compared:
    """Views by which any two items can be compared."""

    names: tuple[str, ...]
    weights: Floats
    """The say of each view, summing to 1."""
    base: Floats
    """(n_views,): mean cosine of two items picked blindly: what likeness 0 stands for."""
    spaces: tuple[_Space, ...]

    @property
    def n_items(self) -> int:
        return int(self.spaces[0].present.size) if self.spaces else 0

    @property
    def row_bytes(self) -> float:
        """Memory that the rows of one item take while they are compared."""
        return sum(space.row_bytes for space in self.spaces)

    def of_items(self, rows: Any, others: Any) -> Floats:
        """Likeness of some items to some others over all views, (rows, others); NaN with no view in common."""
        values, say = np.zeros((2, *(np.arange(self.n_items)[some].size for some in (rows, others))))
        for weight, base, space in zip(self.weights, self.base, self.spaces, strict=True):
            if np.isnan(base):
                continue
            these, those = space.units(rows), space.units(others)
            with np.errstate(invalid="ignore"):  # rows are finite; a BLAS may look at more than it was given
                cosine = these @ those.T
            cosine = np.asarray(cosine.toarray() if is_sparse(cosine) else cosine, dtype=np.float64)
            both = np.outer(speaks(these), speaks(those))
            values += np.where(both, weight * (cosine - base) / (1.0 - base), 0.0)
            say += weight * both
        return np.where(say > 0, values / np.where(say > 0, say, 1.0), np.nan)


@dataclass(frozen=True)
class Likeness(Compared):
    """Closeness of every item to its own cluster and to the next one, and likeness of clusters to each other.

    Arrays have one column per view, NaN where an item lacks the view or has nobody to be compared with.
    """

    own: Singles
    """(n_items, n_views): closeness to the other members of the item's cluster."""
    rival: Singles
    """(n_items, n_views): the same to the members of the runner-up."""
    runner_up: Places
    """(n_items,): the other cluster the item is closest to over all views, as a position; -1 where there is none."""
    margin: Floats
    """(n_items,): own minus rival, over all views; NaN where one of them is not known."""
    typical: Floats
    """(n_items,): how much more the item is like its cluster than like all outsiders, over all views."""
    within: Floats
    """(n_clusters, n_views): mean likeness of two members."""
    between: Floats
    """(n_clusters, n_views): mean likeness of a member and an outsider."""
    speaking: Places
    """(n_clusters, n_views): members of which the view says something."""
    nearest: Places
    """(n_clusters, at most 5): the clusters most like this one, best first, as positions; -1 where there is none."""
    nearness: Floats
    """Their likeness."""

    def cohesion(self) -> Floats:
        """(n_clusters, n_views): how much of the way from outsiders to equals the members have gone, in [0, 1].

        ``(within - between) / (1 - between)``: 0 where members are no more alike than a member and an outsider, 1
        where they are equal; NaN where fewer than two members or no outsider speak.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(self.between < 1.0, (self.within - self.between) / (1.0 - self.between), 0.0)
        return np.where(np.isnan(self.within + self.between), np.nan, np.clip(share, 0.0, 1.0))


def over_views(values: NDArray[Any], weights: Floats) -> Floats:
    """The weighted mean over the views that are known; NaN where none is."""
    known = ~np.isnan(values)
    say = known @ weights
    with np.errstate(invalid="ignore"):
        return np.where(say > 0, (np.where(known, values, 0.0) @ weights) / np.where(say > 0, say, 1.0), np.nan)


def measure_likeness(views: Views, grouping: Grouping, view_weights: Any = None, n_jobs: int | None = None) -> Likeness:
    """Compare every item with every cluster, in three passes over the rows.

    O(n_clusters) times the size of the views in time; memory is a row per cluster, a block of rows per thread, and
    three numbers per item and view. Sparse views stay sparse.
    """
    weights = check_view_weights(view_weights, views)
    with workers(n_jobs) as threads:
        spaces, sums, base = _learn_spaces(views, grouping, threads)
        parts = _compare_items(spaces, sums, base, weights, grouping, threads)
    within, between = _compare_members(sums, base)
    nearest, nearness = _compare_clusters(sums, base, weights)
    return Likeness(
        names=views.names,
        weights=weights,
        **parts,
        within=within,
        between=between,
        speaking=np.stack([part.counts for part in sums], axis=1),
        nearest=nearest,
        nearness=nearness,
        base=base,
        spaces=spaces,
    )


def compare_views(views: Views, view_weights: Any = None, n_jobs: int | None = None) -> Compared:
    """What it takes to compare items, whatever their clusters: two passes over the rows."""
    weights = check_view_weights(view_weights, views)
    nobody = check_grouping(np.full(views.n_items, -1), views.n_items)
    with workers(n_jobs) as threads:
        spaces, _, base = _learn_spaces(views, nobody, threads)
    return Compared(views.names, weights, base, spaces)


def _learn_spaces(views: Views, grouping: Grouping, threads: Workers) -> tuple[tuple[_Space, ...], list[_Sums], Floats]:
    """Unit rows of each view, their sums, and how alike two items picked blindly are; NaN where all are the same."""
    spaces = tuple(_learn_space(matrix, views.mask[:, v], threads) for v, matrix in enumerate(views.values()))
    sums = [_add_up(space, grouping, threads) for space in spaces]
    base = np.array([_mean_cosine(float(part.total @ part.total), part.n) for part in sums])
    base[base > 1.0 - _SAME] = np.nan
    return spaces, sums, base


def check_view_weights(view_weights: Any, views: Views) -> Floats:
    """The say of each view, summing to 1: numbers in the views' order, a dict, a fitted model, or None for equal."""
    given = getattr(view_weights, "view_weights_", None) if hasattr(view_weights, "fit") else view_weights
    if isinstance(given, Mapping):
        given = {**dict.fromkeys(views.names, 0.0), **given}
    weights = per_view_numbers("view_weights", 1.0 if given is None else given, views.names)
    return weights / weights.sum() if weights.any() else np.full(views.n_views, 1.0 / views.n_views)


def _learn_space(matrix: Matrix, present: NDArray[np.bool_], threads: Workers) -> _Space:
    if is_sparse(matrix):
        idf = inverse_frequency(matrix, present)
        return _Space(matrix, present, np.zeros(matrix.shape[1]), idf, find_factors(matrix, present))
    mean, deviation = column_spread(matrix, present, threads)
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    return _Space(matrix, present, np.append(mean, 0.0), np.append(scale, 1.0))


def _add_up(space: _Space, grouping: Grouping, threads: Workers) -> _Sums:
    def one(block: slice) -> tuple[Any, Floats, Places, int]:
        units = space.units(block)
        told = speaks(units)
        code = grouping.code[block]
        counts = np.bincount(code[told & (code >= 0)], minlength=grouping.n_clusters)
        total = np.asarray(units.sum(axis=0, dtype=np.float64)).ravel()
        added = grouping.indicator(block).astype(np.float64) @ units
        return added, total, counts, int(told.sum())

    blocks = row_blocks(grouping.n_items, space.row_bytes)
    by_cluster, total, counts, n = None, np.zeros(space.shift.size), np.zeros(grouping.n_clusters, dtype=np.intp), 0
    for part in threads.map(one, blocks):
        by_cluster = part[0] if by_cluster is None else by_cluster + part[0]
        total, counts, n = total + part[1], counts + part[2], n + part[3]
    if by_cluster is None:
        by_cluster = np.zeros((grouping.n_clusters, total.size))
    return _Sums(by_cluster, total, counts, n)


def _compare_items(
    spaces: tuple[_Space, ...],
    sums: list[_Sums],
    base: Floats,
    weights: Floats,
    grouping: Grouping,
    threads: Workers,
) -> dict[str, Any]:
    """The parts of ``Likeness`` that have a row per item."""
    n_items, n_views, n_clusters = grouping.n_items, len(spaces), grouping.n_clusters
    own, rival = np.full((2, n_items, n_views), np.nan, dtype=np.float32)
    runner_up = np.full(n_items, -1, dtype=np.intp)
    margin, typical = np.full((2, n_items), np.nan)
    heard = [v for v in range(n_views) if not np.isnan(base[v])]
    centres = {v: _centres(sums[v]) for v in heard}

    def compare(block: slice) -> None:
        code = grouping.code[block]
        here = np.arange(code.size)
        home = np.flatnonzero(code >= 0)
        at_home = (home, code[home])
        value, say = np.zeros((2, code.size, n_clusters), dtype=np.float32)
        by_view, apart = {}, np.full((code.size, n_views), np.nan)
        for v in heard:
            units = spaces[v].units(block)
            close, known, others = _close(units, sums[v], centres[v], code)
            n, able = sums[v].counts[code[home]].astype(np.float64), known[at_home]
            everyone = np.asarray(units @ sums[v].total).ravel()[home]
            with np.errstate(divide="ignore", invalid="ignore"):
                outside = (everyone - (n - 1.0) * others - 1.0) / (sums[v].n - n)
            own[block.start + home[able], v] = close[at_home][able]
            apart[home[able], v] = ((others - outside) / (1.0 - base[v]))[able]
            value += np.where(known, close, 0.0) * np.float32(weights[v])
            say += known * np.float32(weights[v])
            by_view[v] = np.where(known, close, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(say > 0, value / say, -np.inf)
        mine_value = np.full(code.size, -np.inf)
        mine_value[home] = value[at_home]
        value[at_home] = -np.inf
        if n_clusters:
            best = np.argmax(value, axis=1)
            best_value = value[here, best].astype(np.float64)
            found = np.isfinite(best_value)
            runner_up[block] = np.where(found, best, -1)
            for v, close in by_view.items():
                rival[block, v] = np.where(found, close[here, best], np.nan)
            both = found & np.isfinite(mine_value)
            margin[block] = np.where(both, mine_value - np.where(found, best_value, 0.0), np.nan)
        typical[block] = over_views(apart, weights)

    row_bytes = sum(space.row_bytes for space in spaces) + 16.0 * n_clusters * (n_views + 2)
    for _ in threads.map(compare, row_blocks(n_items, row_bytes)):
        pass
    return {"own": own, "rival": rival, "runner_up": runner_up, "margin": margin, "typical": typical}


def _close(
    units: Matrix, part: _Sums, centre: tuple[Any, Singles, float], code: Places
) -> tuple[Singles, NDArray[np.bool_], Floats]:
    """Closeness of rows to every cluster, where it is known, and each one's mean cosine to the others of its own.

    ``code`` says which cluster a row is in, -1 for none; an item is not compared with itself.
    """
    means, squares, spread = centre
    home = np.flatnonzero(code >= 0)
    at_home = (home, code[home])
    cosine = units @ means.T
    cosine = cosine.toarray() if is_sparse(cosine) else cosine
    known = speaks(units)[:, None] & (part.counts > 0)
    close = 1.0 - (1.0 - 2.0 * cosine + squares) / spread
    n, mean_cosine = part.counts[code[home]].astype(np.float64), cosine[at_home].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        others = (n * mean_cosine - 1.0) / (n - 1.0)
        square = (n * n * squares[code[home]] - 2.0 * n * mean_cosine + 1.0) / (n - 1.0) ** 2
    known[at_home] &= n > 1
    close[at_home] = np.where(known[at_home], 1.0 - (1.0 - 2.0 * others + square) / spread, 0.0)
    return close, known, others


def closeness_to_clusters(
    views: Views, grouping: Grouping, rows: Places, view_weights: Any = None, n_jobs: int | None = None
) -> Floats:
    """Closeness of some items to every cluster over all views, (len(rows), n_clusters); NaN where nothing is known."""
    weights = check_view_weights(view_weights, views)
    found = np.full((rows.size, grouping.n_clusters), np.nan)
    with workers(n_jobs) as threads:
        heard = []
        for v, matrix in enumerate(views.values()):
            space = _learn_space(matrix, views.mask[:, v], threads)
            part = _add_up(space, grouping, threads)
            if part.n > 1 and _mean_cosine(float(part.total @ part.total), part.n) <= 1.0 - _SAME:
                heard.append((v, space, part, _centres(part)))
    row_bytes = sum(space.row_bytes for _, space, _, _ in heard) + 16.0 * grouping.n_clusters * len(weights)
    for block in row_blocks(rows.size, max(1.0, row_bytes)):
        values = np.full((block.stop - block.start, grouping.n_clusters, len(weights)), np.nan)
        for v, space, part, centre in heard:
            close, known, _ = _close(space.units(rows[block]), part, centre, grouping.code[rows[block]])
            values[..., v] = np.where(known, close, np.nan)
        found[block] = over_views(values, weights)
    return found


def _centres(part: _Sums) -> tuple[Any, Singles, float]:
    """Means of the unit rows of each cluster, their squared lengths, and the mean squared distance to the middle."""
    means = part.by_cluster / np.maximum(part.counts, 1)[:, None]
    means = means.tocsr() if is_sparse(means) else means
    square = means.multiply(means) if is_sparse(means) else means * means
    middle = part.total / part.n
    spread = 1.0 - float(middle @ middle)
    return means.astype(np.float32), np.asarray(square.sum(axis=1), dtype=np.float32).ravel(), spread


def _compare_members(sums: list[_Sums], base: Floats) -> tuple[Floats, Floats]:
    """Mean likeness of two members, and of a member and an outsider, by cluster and view."""
    within, between = np.full((2, sums[0].counts.size, len(sums)), np.nan)
    for v, part in enumerate(sums):
        if np.isnan(base[v]):
            continue
        added = part.by_cluster
        n, outside = part.counts.astype(np.float64), part.n - part.counts
        square = added.multiply(added) if is_sparse(added) else added * added
        length = np.asarray(square.sum(axis=1)).ravel()
        across = np.asarray(added @ part.total).ravel() - length
        with np.errstate(divide="ignore", invalid="ignore"):
            inner = np.where(n > 1, (length - n) / (n * (n - 1.0)), np.nan)
            outer = np.where((n > 0) & (outside > 0), across / (n * outside), np.nan)
        within[:, v], between[:, v] = (inner - base[v]) / (1.0 - base[v]), (outer - base[v]) / (1.0 - base[v])
    return within, between


def _compare_clusters(sums: list[_Sums], base: Floats, weights: Floats) -> tuple[Places, Floats]:
    """The few clusters most like each, a block of clusters at a time."""
    n_clusters = sums[0].counts.size
    kept = max(0, min(_NEAREST, n_clusters - 1))
    nearest = np.full((n_clusters, kept), -1, dtype=np.intp)
    nearness = np.full((n_clusters, kept), np.nan)
    if not kept:
        return nearest, nearness
    for rows in row_blocks(n_clusters, 16.0 * n_clusters * len(sums)):
        value, say = np.zeros((2, rows.stop - rows.start, n_clusters))
        for v, part in enumerate(sums):
            if np.isnan(base[v]):
                continue
            count = np.maximum(part.counts, 1)
            cosine = part.by_cluster[rows] @ part.by_cluster.T
            cosine = np.asarray(cosine.toarray() if is_sparse(cosine) else cosine) / np.outer(count[rows], count)
            known = np.outer(part.counts[rows] > 0, part.counts > 0)
            value += np.where(known, (cosine - base[v]) / (1.0 - base[v]), 0.0) * weights[v]
            say += known * weights[v]
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(say > 0, value / say, -np.inf)
        value[np.arange(value.shape[0]), np.arange(rows.start, rows.stop)] = -np.inf
        best = np.argsort(-value.round(9), axis=1, kind="stable")[:, :kept]
        found = np.take_along_axis(value, best, axis=1)
        nearest[rows] = np.where(np.isfinite(found), best, -1)
        nearness[rows] = np.where(np.isfinite(found), found, np.nan)
    return nearest, nearness


def _mean_cosine(squared_sum: float, n: int) -> float:
    """Mean cosine of two different rows of length one, from the square of their sum."""
    return (squared_sum - n) / (n * (n - 1.0)) if n > 1 else np.nan
