"""How much say each view has: what the other views, and its own structure, support.

Two views *agree* where what is near in one is put together by the other's quick partitions more often than by chance,
by far more than its standard error. A view's support is the sum of its agreements. A view with a quarter of the best
support or more has a full say; one that agrees with nobody has next to none: it holds noise, or the structure of
something else. Where no two views agree, their own structure decides: a view whose neighbours fit its own partitions no
better than those of chance do (words shuffled column by column, normal numbers for the rest) is noise. Where several
have structure, nothing here can tell which is right, and ``apart`` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Matrix, is_sparse
from ...blocks import Workers
from ...types import Floats, Mask, Singles
from ..agreement import (
    Sample,
    agreement_of,
    clearly_agrees,
    draw_samples,
    neighbours_in,
    standard_error,
    witnesses,
)

__all__ = ["Says", "different_stories", "scrambled", "view_says"]

LEAST = 0.01  # the say of a view without support: items that have no other are still placed by it
_FEWEST = 50  # items below which nothing is told apart from chance
_FULL = 0.25  # of the best support
_NONE, _SURE = 3.0, 8.0  # standard errors from which structure begins to count, and counts in full


@dataclass(frozen=True)
class Says:
    """The say of every view, how each pair agrees, and whether views with structure tell different stories."""

    weights: Floats
    """(n_views,), 1 for a full say."""
    agreement: Floats
    """(n_views, n_views), 1 at best, 0 by chance; NaN on the diagonal and where it was not measured."""
    apart: bool


def view_says(
    points: Sequence[Singles],
    speaking: Sequence[Mask],
    keys: Sequence[int],
    n_clusters: int,
    without_structure: Callable[[int, Sample], Singles],
    threads: Workers,
) -> Says:
    """What every view has to say. ``without_structure`` makes the points a view would have in a sample by chance."""
    n_views, n_items = len(points), speaking[0].size if speaking else 0
    agreement = np.full((n_views, n_views), np.nan)
    equal = Says(np.ones(n_views), agreement, False)
    if n_views < 2 or n_items < _FEWEST or n_clusters < 2:
        return equal
    sample = draw_samples(n_items)[0]
    told = witnesses(points, speaking, keys, sample, n_clusters, threads)
    pairs = [neighbours_in(points[v][sample.items], speaking[v][sample.items], threads) for v in range(n_views)]
    agree = np.zeros((n_views, n_views))
    for a in range(n_views):
        for b in range(a):
            both = np.concatenate([agreement_of(*pairs[a], told[b]), agreement_of(*pairs[b], told[a])])
            both = both[np.isfinite(both)]
            if both.size:
                agreement[a, b] = agreement[b, a] = both.mean()
                agree[a, b] = agree[b, a] = both.mean() if clearly_agrees(both) else 0.0
    support = agree.sum(axis=1)
    if support.any():
        return Says(np.clip(support / (_FULL * support.max()), LEAST, 1.0), agreement, False)
    structure = np.zeros(n_views)  # in standard errors
    for v in range(n_views):
        own = agreement_of(*pairs[v], told[v])
        rows, has = without_structure(v, sample), speaking[v][sample.items]
        mere = Sample(np.arange(has.size), sample.number, sample.n_members)
        nobody = witnesses([rows], [has], [keys[v]], mere, n_clusters, threads)[0]
        chance = agreement_of(*neighbours_in(rows, has, threads), nobody)
        own, chance = own[np.isfinite(own)], chance[np.isfinite(chance)]
        if own.size and chance.size:
            error = np.hypot(standard_error(own), standard_error(chance))
            structure[v] = (own.mean() - chance.mean()) / max(error, 1e-12)
    weights = np.clip((structure - _NONE) / (_SURE - _NONE), LEAST, 1.0)
    if weights.max() <= LEAST:
        return equal
    return Says(weights / weights.max(), agreement, bool(np.count_nonzero(structure >= _SURE) > 1))


def scrambled(matrix: Matrix, seed: int) -> Matrix:
    """Every column shuffled by itself: what it holds stays, what goes together is lost."""
    rng = np.random.default_rng(seed)
    if not is_sparse(matrix):
        return np.column_stack([rng.permutation(column) for column in matrix.T])
    from scipy.sparse import csc_matrix

    columns = csc_matrix(matrix, copy=True)
    columns.eliminate_zeros()
    rows = np.concatenate(
        [np.empty(0, dtype=np.int32)]
        + [rng.choice(matrix.shape[0], size, replace=False) for size in np.diff(columns.indptr)]
    )
    return csc_matrix((columns.data, rows, columns.indptr), shape=matrix.shape).tocsr()


def different_stories(says: Mapping[str, float], agreement: Mapping[str, Mapping[str, float]]) -> str:
    """The sentence about views that have structure and do not agree."""
    names = [name for name in says if says[name] == 1.0]
    largest = max(agreement[a][b] for a in names for b in names if a != b)
    told = f"{', '.join(names[:-1])} and {names[-1]}"
    return (
        f"views {told} tell different stories: what is near in one is together in another hardly more often than by "
        f"chance (agreement {largest:.2f}, where 1 is full and 0 is chance). The clusters mix them; cluster by "
        f"{' or by '.join(names)} alone to see each."
    )
