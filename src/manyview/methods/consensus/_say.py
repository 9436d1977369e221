"""How much say each view has: what the other views, and its own structure, support.

Two views *agree* where what is near in one is put together by the other's quick partitions more often than by chance,
by far more than its standard error. A view's support is the sum of its agreements. A view with a quarter of the best
support or more has a full say; one that agrees with nobody has next to none: it holds noise, or the structure of
something else. Where the views agree faintly or not at all, their own structure counts as well: a view whose neighbours
fit its own partitions no better than those of chance do (words shuffled column by column, normal numbers for the rest)
loses as much say as the structure of the best view is surer than its own. Where none surely has any, each may hold a
part of it that is too faint to be seen alone, and none is silenced. Where several have structure, nothing here can
tell which is right, and ``apart`` says so. All of this is among views of the same items: photographs and the texts of
documents beside them have each their say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Matrix, is_sparse
from ...blocks import Workers
from ...data.spaces import words_in
from ...data.views import Views
from ...types import Floats, Mask, Places, Singles
from ..agreement import (
    AGREE,
    Sample,
    agreement_of,
    beyond_chance,
    draw_samples,
    neighbours_in,
    standard_error,
    witnesses,
)
from ..preparation import Prepared, words_again
from ._kinds import covered, kinds_of_views

__all__ = ["Says", "different_stories", "scrambled", "view_says"]

LEAST = 0.01  # the say of a view without support: items that have no other are still placed by it
_FEWEST = 50  # items below which nothing is told apart from chance
_FULL = 0.25  # of the best support
_COVERED = 0.5  # of a view's items have another view; where fewer do, it has its full say: most of them have no other
_NONE, _SURE = 3.0, 8.0  # standard errors from which structure begins to count, and counts in full


@dataclass(frozen=True)
class Says:
    """The say of every view, how each pair agrees, and groups of views with structure that tell different stories."""

    weights: Floats
    """(n_views,), 1 for a full say."""
    agreement: Floats
    """(n_views, n_views), 1 at best, 0 by chance; NaN on the diagonal and where it was not measured."""
    apart: tuple[list[int], ...]


def view_says(views: Views, prepared: Prepared, n_clusters: int, threads: Workers) -> Says:
    """What every view that varies has to say, in the order of ``prepared.acting``."""
    names, keys = [name for name, _ in prepared.acting], [key for _, key in prepared.acting]
    points, speaking = [prepared.points[name] for name in names], [prepared.speaking[name] for name in names]
    n_views, n_items = len(points), speaking[0].size if speaking else 0
    agreement = np.full((n_views, n_views), np.nan)
    equal = Says(np.ones(n_views), agreement, ())
    if n_views < 2 or n_items < _FEWEST or n_clusters < 2:
        return equal
    sample = draw_samples(n_items)[0]
    told = witnesses(points, speaking, keys, sample, n_clusters, threads)
    pairs = [neighbours_in(points[v][sample.items], speaking[v][sample.items], threads) for v in range(n_views)]
    agree = np.zeros((n_views, n_views))
    kinds = kinds_of_views(speaking)
    for a in range(n_views):
        for b in range(a):
            if kinds[a] != kinds[b]:
                continue
            both = np.concatenate([agreement_of(*pairs[a], told[b]), agreement_of(*pairs[b], told[a])])
            both = both[np.isfinite(both)]
            if both.size:
                agreement[a, b] = agreement[b, a] = both.mean()
                agree[a, b] = agree[b, a] = both.mean() if beyond_chance(both) else 0.0

    def structure(v: int) -> float:
        """Of a view by itself, in standard errors."""
        own = agreement_of(*pairs[v], told[v])
        space, has = prepared.spaces[names[v]], speaking[v][sample.items]
        rows = _by_chance(views[names[v]], space, points[v], speaking[v], sample, threads)
        mere = Sample(np.arange(has.size), sample.number, sample.n_members)
        nobody = witnesses([rows], [has], [keys[v]], mere, n_clusters, threads)[0]
        chance = agreement_of(*neighbours_in(rows, has, threads), nobody)
        own, chance = own[np.isfinite(own)], chance[np.isfinite(chance)]
        if not own.size or not chance.size:
            return 0.0
        error = np.hypot(standard_error(own), standard_error(chance))
        return float((own.mean() - chance.mean()) / max(error, 1e-12))

    weights, apart = np.ones(n_views), []
    for kind in np.unique(kinds):
        here = np.flatnonzero(kinds == kind)
        judged = here[np.array(covered([speaking[v] for v in here])) >= _COVERED]
        if judged.size > 1:
            weights[judged], differ = _weigh(agree, judged, structure)
            apart += [differ] if np.isfinite(agreement[np.ix_(differ, differ)]).any() else []
    return Says(weights, agreement, tuple(apart))


def _weigh(agree: Floats, views: Places, structure: Callable[[int], float]) -> tuple[Floats, list[int]]:
    """The say of some views, all of the same items, and those of them that tell different stories."""
    support = agree[np.ix_(views, views)].sum(axis=1)
    heard = np.clip(support / max(_FULL * support.max(), 1e-12), LEAST, 1.0)
    if agree[np.ix_(views, views)].max() >= AGREE:
        return heard, []
    found = np.array([structure(v) for v in views.tolist()])
    sure = np.clip((found - _NONE) / (_SURE - _NONE), 0.0, 1.0)
    return np.maximum(1.0 - (sure.max() - sure), heard), views[found >= _SURE].tolist()


def _by_chance(
    matrix: Matrix, space: dict[str, Any], points: Singles, speaks: Mask, sample: Sample, threads: Workers
) -> Singles:
    """The points that a view would have in a sample if nothing in it went together."""
    here = np.flatnonzero(speaks[sample.items])
    rows = np.zeros((sample.items.size, points.shape[1]), dtype=np.float32)
    if space["kind"] == "sparse":
        words = words_in(space, matrix[sample.items[here]])
        found = words_again(scrambled(words, sample.number), rows.shape[1], threads)
        rows[here, : found.shape[1]] = found
    else:  # shuffled columns would keep their peaks, which are structure
        spread = points[sample.items[here]].std(axis=0)
        rows[here] = spread * np.random.default_rng(sample.number).normal(size=(here.size, rows.shape[1]))
    return rows


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


def different_stories(names: Sequence[str], agreement: Mapping[str, Mapping[str, float]]) -> str:
    """The sentence about views that have structure and do not agree."""
    largest = np.nanmax([agreement[a][b] for a in names for b in names if a != b])
    told = f"{', '.join(names[:-1])} and {names[-1]}"
    return (
        f"views {told} tell different stories: what is near in one is together in another hardly more often than by "
        f"chance (agreement {largest:.2f}, where 1 is full and 0 is chance). The clusters mix them; cluster by "
        f"{' or by '.join(names)} alone to see each."
    )
