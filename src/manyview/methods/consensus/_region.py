"""Where to look for the number of clusters: at as many communities as two halves of the neighbours agree on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers
from ...types import Places
from ._communities import communities

__all__ = ["Region", "halves_of", "likely_region"]

_REPRODUCED = 0.7
"""What finer communities say more has to be said by both halves to this share, else it is an accident."""
_FIRST, _STEP = 0.2, 1.24
"""The coarsest resolution, and how much finer each is than the one before."""
_SHUFFLES = 2
"""From which it is learned what two partitions share by chance."""


class Region(NamedTuple):
    """How many communities were found at the resolution that was taken, and how far the halves agreed there.

    ``number`` is a geometric mean over all halves; ``agreement`` is 1 at best and 0 by chance.
    """

    number: float
    agreement: float


def halves_of(
    lists: Sequence[NDArray[np.int32]], rng: np.random.Generator
) -> tuple[list[NDArray[np.int32]], list[NDArray[np.int32]]]:
    """Lists of neighbours, (n, k) each, dealt into two by chance, every row by itself; a single neighbour goes to both."""
    first, second = [], []
    for near in lists:
        mixed = np.take_along_axis(near, np.argsort(rng.random(near.shape), axis=1), axis=1)
        middle = near.shape[1] // 2
        first.append(mixed[:, : max(1, middle)])
        second.append(mixed[:, middle:])
    return first, second


def likely_region(
    pairs: Sequence[tuple[Any, Any]], fewest: float, most: float, seed: int, threads: Workers
) -> Region:
    """The resolution whose communities say most that both graphs of a pair say.

    ``pairs`` are graphs of the same items, made from different halves of their neighbours. At resolutions that give
    ``fewest`` to ``most`` communities, both graphs of a pair are cut into communities by themselves. Of the entropy H
    of these the two share I (both above chance), and the largest I - 0.7 H wins: more communities are better as long as
    seven tenths of what they add is found again in the other half.
    """
    rng = np.random.default_rng(seed)
    graphs = [graph for pair in pairs for graph in pair]
    each = [slice(g, g + 1) for g in range(len(graphs))]
    best, most_said, resolution = None, -np.inf, _FIRST
    while True:
        cut = partial(_cut, graphs, seed, resolution)
        found = list(threads.map(cut, each))
        number = round(float(np.exp(np.mean([np.log(labels.max() + 1.0) for labels in found]))), 6)
        if number > most:
            return best or Region(number, 0.0)
        told = [shared_information(*found[p : p + 2], rng) for p in range(0, len(found), 2)]
        shared, entropy = np.mean(told, axis=0).tolist()
        said = shared - _REPRODUCED * entropy
        if number >= fewest and said > most_said:
            best, most_said = Region(number, shared / entropy if entropy > 0 else 0.0), said
        resolution *= _STEP


def _cut(graphs: Sequence[Any], seed: int, resolution: float, which: slice) -> Places:
    return communities(graphs[which.start], seed + which.start, resolution)


def shared_information(a: Places, b: Places, rng: np.random.Generator) -> tuple[float, float]:
    """What two partitions say together, and what they say each in the mean: nats, less what shuffled ones share."""
    sizes = [np.bincount(labels) for labels in (a, b)]
    own = sum(_entropy(counts) for counts in sizes)

    def together(other: Places) -> float:
        return own - _entropy(np.bincount(a * sizes[1].size + other))

    chance = float(np.mean([together(rng.permutation(b)) for _ in range(_SHUFFLES)]))
    return together(b) - chance, own / 2 - chance


def _entropy(counts: Places) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares @ np.log(shares)))
