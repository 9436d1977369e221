"""Communities of a graph by modularity, as Louvain finds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...types import Places

__all__ = ["communities"]

_REFINEMENTS = 3


def communities(graph: Any, seed: int) -> Places:
    """The community of each item, numbered by first occurrence.

    ``graph`` is a symmetric CSR matrix of weights > 0. Items move one by one, in an order drawn with the seed, to the
    community of a partner where modularity gains most; communities then become the items of a smaller graph, and so
    on until nothing moves. Up to three times single items may move again, and all starts over from there.
    V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre, "Fast unfolding of communities in large networks", 2008.
    """
    rng = np.random.default_rng(seed)
    found = np.arange(graph.shape[0])
    for _ in range(1 + _REFINEMENTS):
        found, n_moves = _moved(graph, found, rng)
        if n_moves == 0:
            break
        while True:
            labels, upper = _numbered(found), _merged(graph, found)
            moved, n_moves = _moved(upper, np.arange(upper.shape[0]), rng)
            found = moved[labels]
            if n_moves == 0:
                break
    return _by_first(found)


def _moved(graph: Any, start: Places, rng: np.random.Generator) -> tuple[Places, int]:
    from ._communities_kernels import move_items

    n_items = graph.shape[0]
    degrees = np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()
    community = start.astype(np.int64)
    held = np.bincount(community, weights=degrees, minlength=n_items)
    rows = graph.indptr.astype(np.int64), graph.indices.astype(np.int32), graph.data.astype(np.float64)
    n_moves = move_items(*rows, degrees, rng.permutation(n_items), community, held)
    return community, int(n_moves)


def _merged(graph: Any, found: Places) -> Any:
    """Communities as items: the weights between them, those inside as loops."""
    from scipy.sparse import csr_matrix

    labels = _numbered(found)
    member = csr_matrix((np.ones(labels.size), (np.arange(labels.size), labels)))
    merged = csr_matrix(member.T @ graph @ member)
    merged.sort_indices()
    return merged


def _numbered(found: Places) -> Places:
    return np.unique(found, return_inverse=True)[1]


def _by_first(found: Places) -> Places:
    _, first, numbers = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[numbers]
