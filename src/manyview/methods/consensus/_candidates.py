"""Partitions that might be the answer: spectral ones of several mixtures, k-means of every space, and the earlier one.

K-means on eigenvectors prefers clusters of even size and falls for different accidents with each mixture and number of
vectors. So many are made, each is refined, and the best is taken: k-means' own answer wherever nothing beats it. Best
is the largest association per cluster; evenness of the sizes counts a little beside it, because a few near-copies that
are cut off as a cluster of their own are associated perfectly and leave all else in a lump.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers
from ...data.nearest import nearest_among
from ...engines.jobs import alone
from ...engines.local import LocalEngine
from ...steps import step
from ...types import Floats, Places
from ..kmeans.plain.runs import Partition, PlainTable, nearest_centres, plain_kmeans
from ..spectral import leading_eigenpairs, nearby_eigenpairs, spectral_rows
from ._association import Votes, place_unknown, refine
from ._graph import Space, mixed_operator

__all__ = ["Found", "best_partition"]

_STEP = 0.2  # the mixtures beside that of the votes have so much more and so much less of the neighbours
_EXTRA_VECTORS = 3  # more than K, against small tight groups that take a vector from the clusters
_STARTS = 4
_SHARE_OF_VECTORS = 0.5  # of the time, the rest being k-means on them
_SEEDS = 3  # different k-means of all views together
_CLEARLY_BETTER = 0.02  # a gain below this is no reason to give up what people know
_MANY = 20_000  # items above which eigenvectors are found less finely, only the best few candidates are refined, and
_SAMPLE = 10_000  # k-means is learned on so many of them, or on
_PER_CLUSTER = 200  # so many for each cluster
_ROUGHLY = 1e-3
_FEW = 4
_EVENNESS = 0.02  # what the entropy of the sizes counts, where association counts 1;
_EVENNESS_ALONE = 0.1  # and where there is one view, with no second opinion against a lump


class Found(NamedTuple):
    """The partition that was taken."""

    labels: Places
    worth: float
    """Association per cluster, at most 1, and a little for even sizes."""
    name: str
    values: Floats
    """The leading eigenvalues of the votes."""


class _Candidate(NamedTuple):
    name: str
    labels: Places


def best_partition(
    votes: Votes,
    spaces: Sequence[Space],
    kinds: Places,
    n_clusters: int,
    *,
    previous: Places | None,
    alone: bool,
    seed: int,
) -> Found:
    """The candidate that is worth most once refined, the first of them on ties.

    Where the neighbours fall into just K parts, none of them small, these are taken as they are: partitions by k-means
    would cut through shapes that are not round, and there is nothing to weigh against that.
    ``previous`` are earlier labels, -1 for unknown: what comes of them is taken unless another is better by more than
    2 %. ``alone``: one view has all the say. ``kinds`` numbers items, the same for those that are equal; they stay
    together.
    """
    leaders = np.unique(kinds, return_index=True)[1][kinds]
    n_items = kinds.size
    values, made = _spectral(votes, kinds, n_clusters, seed)
    parts = _parts(votes, leaders, n_clusters)
    if parts is not None:
        worth = _worth(parts, votes.association(parts, n_clusters), n_clusters, _EVENNESS)
        return Found(parts, worth, "the parts that no neighbours join", values)
    made += _plain(spaces, n_items, n_clusters, seed, votes.threads)
    if n_items > _MANY:
        by_value = sorted(made, key=lambda one: -votes.association(one.labels[leaders], n_clusters))
        made = [one for one in made if any(one is kept for kept in by_value[:_FEW])]
    evenness = _EVENNESS_ALONE if alone else _EVENNESS
    best = Found(np.empty(0, dtype=np.intp), -np.inf, "", values)
    with step("last step", of=len(made)) as tick:
        for done, one in enumerate(made, 1):
            labels, value = refine(votes, one.labels[leaders], n_clusters, leaders)
            worth = _worth(labels, value, n_clusters, evenness)
            if worth > best.worth:
                best = Found(labels, worth, one.name, values)
            tick(done)
    if previous is not None:
        start = place_unknown(votes, previous, n_clusters)[leaders]
        labels, value = refine(votes, start, n_clusters, leaders)
        worth = _worth(labels, value, n_clusters, evenness)
        if best.worth <= (1.0 + _CLEARLY_BETTER) * worth:
            best = Found(labels, worth, "the earlier clusters", values)
    return best


def _parts(votes: Votes, leaders: Places, n_clusters: int) -> Places | None:
    """The connected parts of the neighbour graph, where they are as many as asked for, each of half an even share."""
    from scipy.sparse.csgraph import connected_components

    if votes.alpha == 0:
        return None
    n_parts, labels = connected_components(votes.graph.part(np.arange(leaders.size)), directed=False)
    labels = labels.astype(np.intp)
    if n_parts != n_clusters or 2 * n_clusters * np.bincount(labels).min() < leaders.size:
        return None
    return labels if np.array_equal(labels[leaders], labels) else None


def _worth(labels: Places, association: float, n_clusters: int, evenness: float) -> float:
    shares = np.bincount(labels) / labels.size
    shares = shares[shares > 0]
    return association / n_clusters - evenness * float(shares @ np.log(shares)) / np.log(n_clusters)


def _spectral(votes: Votes, kinds: Places, n_clusters: int, seed: int) -> tuple[Floats, list[_Candidate]]:
    """K-means on K to K + 3 leading eigenvectors of three mixtures; and the eigenvalues of the votes themselves."""
    others = [float(np.clip(votes.alpha + step, 0.0, 1.0)) for step in (-_STEP, _STEP)]
    alphas = list(dict.fromkeys([votes.alpha, *others]))  # its own first: the others are found from it
    are_many = kinds.size > _MANY
    own, vectors_of_own = np.empty(0), np.empty((0, 0))
    made: dict[float, list[_Candidate]] = {}
    with step("eigenvectors", of=len(alphas)) as tick:
        for done, alpha in enumerate(alphas):
            operator = mixed_operator(alpha, votes.graph, votes.memberships)
            is_own = alpha == votes.alpha
            if is_own or not are_many:
                values, vectors = leading_eigenpairs(
                    operator,
                    n_clusters + _EXTRA_VECTORS,
                    seed=seed,
                    n_needed=n_clusters,
                    repeated=is_own,
                    **({"tol": _ROUGHLY} if are_many else {}),
                )
            else:
                values, vectors = nearby_eigenpairs(operator, vectors_of_own)
            if is_own:
                own, vectors_of_own = values, vectors
            tick(done + _SHARE_OF_VECTORS)
            made[alpha] = []
            for n_vectors in range(n_clusters, values.size + 1):
                rows = _together(spectral_rows(values[:n_vectors], vectors[:, :n_vectors], power=1.0), kinds)
                rows = rows.astype(np.float32) if are_many else rows
                name = f"{n_vectors} eigenvectors, {alpha:.1f} of the vote with the neighbours"
                labels = _kmeans(rows, n_clusters, _STARTS, [seed, n_vectors], votes.threads)
                made[alpha].append(_Candidate(name, labels))
            tick(done + 1)
    return own, [one for alpha in sorted(made) for one in made[alpha]]


def _together(rows: Floats, kinds: Places) -> Floats:
    """Equal items at one point."""
    if kinds.max() + 1 == kinds.size:
        return rows
    totals = np.column_stack([np.bincount(kinds, weights=column) for column in rows.T])
    return np.asarray((totals / np.bincount(kinds)[:, None])[kinds])


def _plain(spaces: Sequence[Space], n_items: int, n_clusters: int, seed: int, threads: Workers) -> list[_Candidate]:
    """K-means of everything, from three seeds, and of each view."""
    joined, made = spaces[0], []
    whole = 2 * joined.rows.size  # two starts each
    with step("k-means", of=_SEEDS * whole + sum(space.rows.size for space in spaces[1:])) as tick:
        for number in range(_SEEDS):
            labels = _kmeans(joined.rows, n_clusters, 2, [seed, 0, number], threads)
            made.append(_Candidate("k-means of all views", labels))
            tick((number + 1) * whole)
        for done, space in enumerate(spaces[1:], 2):
            if space.items.size >= n_clusters:
                made.append(_of_view(space, joined, n_items, n_clusters, seed, threads))
            tick(_SEEDS * whole + sum(space.rows.size for space in spaces[1:done]))
    return made


def _of_view(space: Space, joined: Space, n_items: int, n_clusters: int, seed: int, threads: Workers) -> _Candidate:
    labels = np.full(n_items, -1, dtype=np.intp)
    labels[space.items] = _kmeans(space.rows, n_clusters, 1, [seed, space.key], threads)
    lacking = np.flatnonzero(labels < 0)
    if lacking.size:  # to the nearest of the view's clusters in all that items do have
        used = np.unique(labels[space.items])
        means = np.stack([joined.rows[labels == c].mean(axis=0, dtype=np.float64) for c in used])
        near = nearest_among(joined.rows[lacking], means.astype(np.float32), 1, threads)[:, 0]
        labels[lacking] = used[near]
    return _Candidate(f"k-means of view {space.name!r}", labels)


def _kmeans(rows: NDArray[Any], n_clusters: int, n_starts: int, seed: Sequence[int], threads: Workers) -> Places:
    """The labels of the start of the smallest inertia; learned on a sample where there are very many items."""
    rng = np.random.default_rng(seed)
    seeds = rng.integers(2**31, size=n_starts)
    sample, most = np.ascontiguousarray(rows), max(_SAMPLE, _PER_CLUSTER * n_clusters)
    if rows.shape[0] > max(_MANY, most):
        sample = sample[np.sort(rng.choice(rows.shape[0], most, replace=False))]

    def start(seed: int) -> Partition:
        return plain_kmeans(sample, n_clusters, "k-means++", 300, seed, alone())

    best = min(threads.map(start, seeds.tolist()), key=lambda found: found.rank)
    if sample.shape[0] == rows.shape[0]:
        return best.labels.astype(np.intp)
    return nearest_centres(PlainTable.of(rows), best.centres, LocalEngine(threads)).astype(np.intp)
