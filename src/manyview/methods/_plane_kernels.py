"""Compiled loops of the layout on a plane."""

from __future__ import annotations

import numpy as np

from ..kernel import kernel


@kernel
def move_points(places, heads, tails, weights, due, step, n_pushes, draws):
    """One round: ties that are due pull their ends together, and points drawn blindly push the first end away.

    IN   heads, tails int32 (m,), weights float32 (m,): the ties, each once from either end, the strongest 1
         step float32: how far a force of 1 moves a point; n_pushes: points drawn for each tie
    OUT  places float32 (n, 2): moved; due float32 (m,): adds up the weight of each tie, which pulls when it reaches 1;
         draws uint64 (1,): the state of Marsaglia's xorshift generator, not 0

    A pull is -2 d / (1 + d^2), a push 2 d / (d^2 (1 + d^2)), at most 4 along either axis.
    """
    n_points = np.uint64(places.shape[0])
    half, left, right, last = np.uint64(32), np.uint64(13), np.uint64(7), np.uint64(17)
    one, two, most, little = np.float32(1.0), np.float32(2.0), np.float32(4.0), np.float32(1e-3)
    draw = draws[0]
    for t in range(heads.shape[0]):
        due[t] += weights[t]
        if due[t] < one:
            continue
        due[t] -= one
        i, j = heads[t], tails[t]
        x, y = places[i, 0], places[i, 1]
        dx, dy = x - places[j, 0], y - places[j, 1]
        force = step * two / (one + dx * dx + dy * dy)
        x -= force * dx
        y -= force * dy
        places[j, 0] += force * dx
        places[j, 1] += force * dy
        for _ in range(n_pushes):
            draw ^= draw << left
            draw ^= draw >> right
            draw ^= draw << last
            other = np.int64(((draw >> half) * n_points) >> half)
            if other == i:
                continue
            dx, dy = x - places[other, 0], y - places[other, 1]
            square = dx * dx + dy * dy
            force = two / ((little + square) * (one + square))
            x += step * min(most, max(-most, force * dx))
            y += step * min(most, max(-most, force * dy))
        places[i, 0], places[i, 1] = x, y
    draws[0] = draw
