"""The most similar items in one view: every pair up to 50,000 items, inverted lists beyond."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, is_sparse
from ...blocks import Workers, row_blocks
from ...data.nearest import Within, alike_among, most_alike, proposed_alike
from ...types import Ints, Singles

__all__ = ["InvertedLists", "Nearest", "find_nearest", "make_lists", "nearest_of_all", "weights_of"]


ALL_PAIRS_UP_TO = 50_000
_PROBED = 16
_POWER = 4
_CLUSTERED_SAMPLE = 50_000


@dataclass(frozen=True)
class Nearest:
    """Row numbers and cosines of the most similar items, best first; a cosine of 0 where there is nobody."""

    items: NDArray[np.int32]
    cosines: Singles


@dataclass(frozen=True)
class InvertedLists:
    """Items grouped by k-means, so that only the groups near an item are searched."""

    centres: Singles
    list_of: NDArray[np.int32]
    members: Ints
    starts: Ints

    def near(self, one: int) -> Ints:
        """Members of the lists whose centres lie nearest to the centre of this one, in row order."""
        gap = ((self.centres - self.centres[one]) ** 2).sum(axis=1)
        lists = np.argsort(gap, kind="stable")[:_PROBED]
        return np.sort(np.concatenate([self.members[self.starts[c] : self.starts[c + 1]] for c in lists]))


def weights_of(found: Nearest) -> Singles:
    """Cosines to the fourth power, summing to one over an item's neighbours; zeros where it has none."""
    weight = np.maximum(found.cosines, 0.0).astype(np.float64) ** _POWER
    total = weight.sum(axis=1, keepdims=True)
    return (weight / np.where(total > 0, total, 1.0)).astype(np.float32)


def find_nearest(
    queries: Matrix,
    base: Matrix,
    has: NDArray[np.bool_],
    k: int,
    threads: Workers,
    *,
    own: Ints | None = None,
    lists: InvertedLists | None = None,
) -> Nearest:
    """The ``k`` rows of ``base`` of largest cosine, for each row of ``queries``. Both hold unit rows.

    Rows of ``base`` outside ``has`` are nobody's neighbour, nor is an item its own: ``own`` gives the row of
    ``base`` that each query is. Takes O(n_queries x n_has d) time and a block of cosines per thread; with ``lists``
    O(n_queries sqrt(n) d).
    """
    within = _among(queries, has) if lists is None else _by_list(queries, lists, own)
    return _found(*most_alike(queries, base, k, threads, present=has, own=own, within=within))


def nearest_of_all(
    units: Matrix,
    has: NDArray[np.bool_],
    k: int,
    threads: Workers,
    lists: InvertedLists | None = None,
    watched: Ints | None = None,
) -> tuple[Nearest, Singles | None]:
    """``find_nearest`` of unit rows among themselves, and the cosine of every row with the ``watched`` ones.

    The cosines are a by-product: None where not every pair is compared here.
    """
    if lists is None:
        found = _proposed(units, has, k, threads)
        if found is not None:
            return found, None
        if 2 * has.sum() >= units.shape[0]:
            items, cosines, seen = alike_among(units, k, threads, has, watched)
            return _found(items, cosines), seen
    own = np.arange(units.shape[0], dtype=np.int64)
    return find_nearest(units, units, has, k, threads, own=own, lists=lists), None


def _proposed(units: Matrix, has: NDArray[np.bool_], k: int, threads: Workers) -> Nearest | None:
    """The same as a graphics processor proposes them; None where none works, or the rows are not for it."""
    able = np.flatnonzero(has)
    if is_sparse(units) or able.size <= k:
        return None
    own = np.full(has.size, -1, dtype=np.int32)
    own[able] = np.arange(able.size)
    found = proposed_alike(units, units[able] if able.size < has.size else units, k, threads, own=own)
    return None if found is None else _found(able[found[0]].astype(np.int32), found[1])


def _found(items: NDArray[np.int32], cosines: Singles) -> Nearest:
    found = cosines > 0
    return Nearest(np.where(found, items, 0), np.where(found, cosines, 0.0))


def _among(queries: Matrix, has: NDArray[np.bool_]) -> Within | None:
    """Where few rows can be neighbours, only they are looked at."""
    able = np.flatnonzero(has)
    return [(np.arange(queries.shape[0]), able)] if 0 < 2 * able.size < has.size else None


def _by_list(queries: Matrix, lists: InvertedLists, own: Ints | None) -> Within:
    """Queries of one list share their candidates, so that a list costs one matrix product."""
    list_of = lists.list_of[own] if own is not None else _assign(queries, lists.centres)
    order, bounds = np.argsort(list_of, kind="stable"), np.cumsum(np.bincount(list_of))
    asking = [rows for rows in np.split(order, bounds[:-1]) if rows.size]
    within = [(rows, lists.near(int(list_of[rows[0]]))) for rows in asking]
    return [(rows, candidates) for rows, candidates in within if candidates.size]


def make_lists(units: Matrix, has: NDArray[np.bool_], rng: np.random.Generator) -> InvertedLists:
    """4 sqrt(n) lists by k-means on a sample of the unit rows; every item goes to the list of its nearest centre."""
    from sklearn.cluster import MiniBatchKMeans

    able = np.flatnonzero(has)
    n_lists = min(able.size, int(4 * np.sqrt(able.size)))
    sample = able
    if able.size > _CLUSTERED_SAMPLE:
        sample = np.sort(rng.choice(able, size=_CLUSTERED_SAMPLE, replace=False))
    kmeans = MiniBatchKMeans(n_lists, init="random", n_init=1, batch_size=4096, random_state=int(rng.integers(2**31)))
    centres = kmeans.fit(units[sample]).cluster_centers_.astype(np.float32)
    list_of = _assign(units, centres)
    members = able[np.argsort(list_of[able], kind="stable")]
    counts = np.bincount(list_of[able], minlength=n_lists)
    return InvertedLists(centres, list_of, members, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))


def _assign(units: Matrix, centres: Singles) -> NDArray[np.int32]:
    half = (centres**2).sum(axis=1) / 2.0
    nearest = np.empty(units.shape[0], dtype=np.int32)
    for block in row_blocks(units.shape[0], 4.0 * centres.shape[0]):
        nearest[block] = np.argmax(units[block] @ centres.T - half, axis=1)
    return nearest
