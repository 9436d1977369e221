"""Compiled loop of the search for communities: items that move to where they have most links."""

from __future__ import annotations

import numpy as np

from ...kernel import kernel

_ROUNDS = 100
_TINY = 1e-12  # of a gain; below it is rounding


@kernel
def move_items(starts, partners, weights, degrees, order, community, held):
    """Move items one by one, and again until nobody moves, to the community of a partner that gains most modularity.

    IN      starts int64 (n + 1,), partners int32, weights float64 > 0: a symmetric graph as CSR; degrees float64 (n,);
            order int64 (n,): whose turn it is
    IN/OUT  community int64 (n,), numbers below n; held float64 (n,): the degrees of each community added up
    Returns how many moves there were. Staying wins a tie, then the partner that is listed first.
    """
    n_items = order.shape[0]
    total = 0.0
    for i in range(n_items):
        total += degrees[i]
    links = np.zeros(n_items)  # of the item at hand, by community
    met = np.empty(n_items, dtype=np.int64)
    n_moves = 0
    for _ in range(_ROUNDS):
        before = n_moves
        for turn in range(n_items):
            i = order[turn]
            home, n_met = community[i], 0
            for p in range(starts[i], starts[i + 1]):
                if partners[p] != i:
                    c = community[partners[p]]
                    if links[c] == 0.0:
                        met[n_met] = c
                        n_met += 1
                    links[c] += weights[p]
            held[home] -= degrees[i]
            share = degrees[i] / total
            best, most = home, links[home] - held[home] * share
            for m in range(n_met):
                gain = links[met[m]] - held[met[m]] * share
                if gain > most + _TINY:
                    best, most = met[m], gain
                links[met[m]] = 0.0
            held[best] += degrees[i]
            if best != home:
                community[i] = best
                n_moves += 1
        if n_moves == before:
            break
    return n_moves
