"""How well what a view calls near agrees with what the other views call alike.

For view a and another view b: the share of a's neighbour pairs that b's quick partitions put together, on a scale where
pairs picked blindly have 0 and perfect agreement has 1. Over several ways to scale a view, this ranks them almost as
true classes would (median rank correlation .90 over 28 views of the development collections); how stable a view's
own clusters are does not. It is measured on samples of at most 2,000 items, several times, and does not depend on any
seed: what suits a view is a property of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers
from ..engines.jobs import alone
from ..types import Floats, Mask, Places, Singles
from .kmeans.plain.runs import short_kmeans
from .neighbours import nearest_neighbours

__all__ = [
    "AGREE",
    "Sample",
    "Witness",
    "agreement_of",
    "beyond_chance",
    "clearly_agrees",
    "draw_samples",
    "neighbours_in",
    "standard_error",
    "witnesses",
]

_ITEMS = 2_000
_SAMPLES = 3
_MEMBERS = 10  # quick partitions of a view in each sample
_NEIGHBOURS = 10
AGREE = 0.03  # an agreement below this is faint
_ERRORS = 5.0  # how many standard errors it must be away from chance to be one


@dataclass(frozen=True)
class Sample:
    """Some items, the number by which their random draws are found, and how many partitions of a view are made."""

    items: Places
    number: int
    n_members: int


@dataclass(frozen=True)
class Witness:
    """Quick partitions of one view in one sample: labels (n, members), -1 for who lacks it; and their blind chance."""

    labels: NDArray[np.int32]
    chance: Floats


def draw_samples(n_items: int) -> list[Sample]:
    """2,000 items drawn three times with ten partitions of each view; or everybody once, with thirty."""
    if n_items <= _ITEMS:
        return [Sample(np.arange(n_items), 0, _SAMPLES * _MEMBERS)]
    draws = (np.random.default_rng(number).choice(n_items, _ITEMS, replace=False) for number in range(_SAMPLES))
    return [Sample(np.sort(items), number, _MEMBERS) for number, items in enumerate(draws)]


def witnesses(
    points: Sequence[Singles],
    speaking: Sequence[Mask],
    keys: Sequence[int],
    sample: Sample,
    n_clusters: int,
    threads: Workers,
) -> list[Witness]:
    """The partitions of every view in a sample. ``keys`` find their random numbers, whatever the order of views."""
    jobs = [(v, number) for v in range(len(points)) for number in range(sample.n_members)]
    here = [sample.items[has[sample.items]] for has in speaking]

    def one(job: tuple[int, int]) -> NDArray[np.int32]:
        v, number = job
        labels = np.full(sample.items.size, -1, dtype=np.int32)
        if here[v].size > 2:
            rng = np.random.default_rng([sample.number, keys[v], number])
            found = short_kmeans(points[v][here[v]], n_clusters, rng, alone(), many=0)
            labels[speaking[v][sample.items]] = found.labels
        return labels

    columns = list(threads.map(one, jobs))
    m = sample.n_members
    return [_witness(np.column_stack(columns[v * m : (v + 1) * m])) for v in range(len(points))]


def _witness(labels: NDArray[np.int32]) -> Witness:
    chance = np.ones(labels.shape[1])
    for m, column in enumerate(labels.T):
        sizes = np.bincount(column[column >= 0])
        if sizes.size:
            chance[m] = ((sizes / sizes.sum()) ** 2).sum()
    return Witness(labels, chance)


def neighbours_in(rows: Singles, has: Mask, threads: Workers) -> tuple[Places, Places]:
    """Positions in a sample of those who have a view, and of their nearest neighbours among each other."""
    items = np.flatnonzero(has)
    if items.size < 2:
        return items, np.empty((items.size, 0), dtype=np.intp)
    near = nearest_neighbours(np.ascontiguousarray(rows[items]), min(_NEIGHBOURS, items.size - 1), threads)
    return items, items[near]


def agreement_of(items: Places, near: Places, witness: Witness) -> Floats:
    """Chance-corrected agreement of every item's neighbour pairs with a witness, the mean over its partitions.

    One number per item of the sample: 1 where its neighbours are always put with it, 0 where no more often than items
    picked blindly; NaN where nothing can be compared. ``items`` and ``near`` are what ``neighbours_in`` gives.
    """
    total, count = np.zeros((2, witness.labels.shape[0]))
    for column, chance in zip(witness.labels.T, witness.chance, strict=True):
        mine, theirs = column[items][:, None], column[near]
        both = (mine >= 0) & (theirs >= 0)
        pairs = both.sum(axis=1)
        if chance < 1:
            share = ((mine == theirs) & both).sum(axis=1) / np.maximum(pairs, 1)
            total[items] += np.where(pairs > 0, (share - chance) / (1.0 - chance), 0.0)
            count[items] += pairs > 0
    return np.divide(total, count, out=np.full(total.size, np.nan), where=count > 0)


def beyond_chance(values: Floats) -> bool:
    """Is an agreement, item by item, more than chance, however faint? NaN counts for nothing."""
    known = values[np.isfinite(values)]
    return bool(known.size) and bool(known.mean() > _ERRORS * standard_error(known))


def clearly_agrees(values: Floats) -> bool:
    """Is it more than chance, and not faint?"""
    return beyond_chance(values) and bool(np.nanmean(values) >= AGREE)


def standard_error(values: Floats) -> float:
    """Of the mean of some values."""
    return float(values.std() / np.sqrt(values.size))
