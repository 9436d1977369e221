"""Where to look for the number of clusters: at as many communities as two halves of the neighbours agree on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...blocks import Workers
from ...types import Places
from ._communities import communities

__all__ = ["Region", "halves_of", "likely_region"]

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


def halves_of(graph: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    """A symmetric CSR matrix as the sum of two, every link of it dealt to one of them by chance."""
    from scipy.sparse import csr_matrix, triu

    links = triu(graph, 1, format="coo")
    is_first = rng.random(links.nnz) < 0.5
    parts = []
    for here in (is_first, ~is_first):
        upper = csr_matrix((links.data[here], (links.row[here], links.col[here])), shape=graph.shape)
        parts.append(csr_matrix(upper + upper.T))
    return parts[0], parts[1]


def likely_region(pairs: Sequence[tuple[Any, Any]], fewest: float, most: float, seed: int, threads: Workers) -> Region:
    """The resolution whose communities say most that both graphs of a pair say.

    ``pairs`` are graphs of the same items, made from different halves of their links. At resolutions that give
    ``fewest`` to ``most`` communities, both graphs of a pair are cut into communities by themselves. Of the entropy H
    of these the two share I (both above chance), and H - I is what either says alone. The largest I - (H - I) wins:
    more communities are better as long as most of what they add is found again in the other half.
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
        told = [shared_information(a, b, rng) for a, b in zip(found[::2], found[1::2], strict=True)]
        shared, entropy = np.mean(told, axis=0).tolist()
        said = shared - (entropy - shared)
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
