"""Points laid out on a plane so that those that are near each other stay near: a map.

Each point is tied to its nearest ones, the tie being the weaker the farther it is beyond the nearest (UMAP's graph of
McInnes, Healy and Melville, 2018). The layout starts from the plane in which the points spread out most, or from an
earlier layout. Then ties pull, and points drawn blindly push, with the forces of t-SNE's kernel 1 / (1 + d^2):
both need no power and no logarithm, so that a round costs some nanoseconds a tie.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..blocks import Workers
from ..types import Floats, Places, Singles
from .neighbours import nearest_neighbours

Numbers: TypeAlias = NDArray[np.int32]

__all__ = ["align", "lay_out_points", "principal_plane"]

N_NEIGHBOURS = 15
ROUNDS = 600
_FEWEST_ROUNDS = 200
_ALL_ROUNDS = 4_000
"""Points up to which a layout takes all its rounds; from three times as many on it takes the fewest."""
_SETTLED_STEP = 0.1
"""The first step of a layout that goes on from an earlier one; otherwise it is 1."""
FEWEST = 15
"""Points below which a plane through them says as much as a layout."""
_PUSHES = 20
"""Points that push, for each tie that pulls."""
_TYPICAL = 9.0
"""How far half of the points come to be from the middle, whatever their number, in units of the kernel."""
_FAR = 10.0
"""How much farther than the typical point one may start."""
_BISECTIONS = 40


def lay_out_points(
    points: Singles,
    threads: Workers,
    *,
    seed: int = 0,
    start: Singles | None = None,
    settled: bool = False,
    on_round: Callable[[int, int], None] | None = None,
) -> Singles:
    """Places of the points on a plane, (n, 2); the same seed gives the same places, for any number of threads.

    start : where to begin; None begins with the plane in which the points spread out most
    settled : the start is a layout of much the same points, which move little
    on_round : called with the rounds that are done, and their number

    Takes O(n^2 d) for the nearest points up to 8,000 of them, O(n^1.5 d) above, and O(n) a round. Measured on one core,
    100 numbers a point: 1.6 s for 2,000 points, 7 s for 20,000; a third of that where the start is settled. Memory is
    some 500 bytes a point.
    """
    n_points = points.shape[0]
    begin = principal_plane(points) if start is None else start
    if n_points < FEWEST:
        return np.asarray(begin, dtype=np.float32)
    rounds = int(np.clip(ROUNDS * _ALL_ROUNDS / n_points, _FEWEST_ROUNDS, ROUNDS)) // (3 if settled else 1)
    heads, tails, weights = _ties(points, threads, seed)
    places = _sized(begin) + _jitter(n_points, seed)
    _move(places, (heads, tails, weights), seed, rounds, _SETTLED_STEP if settled else 1.0, on_round)
    return places


def _move(
    places: Singles,
    ties: tuple[Numbers, Numbers, Singles],
    seed: int,
    rounds: int,
    first_step: float,
    on_round: Callable[[int, int], None] | None,
) -> None:
    """Move places in rounds, each with a smaller step than the one before."""
    from ._plane_kernels import move_points

    due = np.zeros(ties[0].size, dtype=np.float32)
    draws = np.random.default_rng(seed).integers(1, 2**63, size=1, dtype=np.uint64)
    for done in range(rounds):
        if on_round is not None:
            on_round(done, rounds)
        step = np.float32(first_step * (1.0 - done / rounds))
        move_points(places, *ties, due, step, _PUSHES, draws)
    if on_round is not None:
        on_round(rounds, rounds)


def _ties(points: Singles, threads: Workers, seed: int) -> tuple[Numbers, Numbers, Singles]:
    """Who is tied to whom, each pair twice, and how strongly: the strongest tie has 1."""
    from scipy.sparse import csr_matrix

    n_points, k = points.shape[0], min(N_NEIGHBOURS, points.shape[0] - 1)
    near = nearest_neighbours(points, k, threads, seed=seed)
    distances = np.empty(near.shape, dtype=np.float64)
    for column in range(k):
        difference = points - points[near[:, column]]
        distances[:, column] = np.sqrt(np.einsum("ij,ij->i", difference, difference, dtype=np.float64))
    strength = _strengths(distances)
    graph = csr_matrix((strength.ravel(), near.ravel(), np.arange(0, n_points * k + 1, k)), shape=(n_points, n_points))
    both = csr_matrix(graph + graph.T - graph.multiply(graph.T))
    both.sort_indices()
    heads = np.repeat(np.arange(n_points, dtype=np.int32), np.diff(both.indptr))
    return heads, both.indices.astype(np.int32), (both.data / both.data.max()).astype(np.float32)


def _strengths(distances: Floats) -> Floats:
    """exp(-(d - d_nearest) / s), with s such that the ties of each point add up to log2 of their number."""
    beyond = distances - distances[:, :1]
    wanted = np.log2(distances.shape[1])
    low, high = np.zeros(len(beyond)), np.full(len(beyond), np.inf)
    scale = np.ones(len(beyond))
    for _ in range(_BISECTIONS):
        too_much = np.exp(-beyond / scale[:, None]).sum(axis=1) > wanted
        high, low = np.where(too_much, scale, high), np.where(too_much, low, scale)
        scale = np.where(np.isinf(high), 2.0 * scale, (low + high) / 2.0)
    floor = 1e-3 * max(float(distances.mean()), 1e-12)  # equal points must not make a tie of no width
    return np.asarray(np.exp(-beyond / np.maximum(scale, floor)[:, None]))


def principal_plane(points: Singles) -> Singles:
    """The plane in which points spread out most."""
    centred = points - points.mean(axis=0)
    if points.shape[0] < 2 or points.shape[1] < 2:
        return np.column_stack([centred[:, 0], np.zeros(points.shape[0], dtype=np.float32)])
    _, vectors = np.linalg.eigh(centred.T.astype(np.float64) @ centred)
    axes = vectors[:, ::-1][:, :2]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)  # the sign is a convention
    return np.asarray(centred @ axes, dtype=np.float32)


def align(places: Singles, rows: Places, onto: Singles) -> Singles:
    """Places turned, mirrored, shifted and scaled so that some of them lie as near to others as that can bring them."""
    some = places[rows].astype(np.float64)
    middle, there = some.mean(axis=0), onto.mean(axis=0, dtype=np.float64)
    left, strengths, right = np.linalg.svd((some - middle).T @ (onto - there))
    size = float(((some - middle) ** 2).sum())
    scale = float(strengths.sum()) / size if size > 0 and strengths.sum() > 0 else 1.0
    return np.asarray(scale * (places - middle) @ (left @ right) + there, dtype=np.float32)


def _sized(places: Singles) -> Singles:
    """Places about the origin, as far from it as a layout comes to be."""
    about = places - np.median(places, axis=0)
    typical = float(np.median(np.hypot(*about.T)))
    size = typical if typical > 0 else max(1e-9, float(np.abs(about).max()))  # more than half in one place
    return np.asarray(_TYPICAL * np.clip(about / size, -_FAR, _FAR), dtype=np.float32)


def _jitter(n_points: int, seed: int) -> Singles:
    """Equal points must not start in the same place."""
    return np.random.default_rng(seed).normal(scale=1e-3, size=(n_points, 2)).astype(np.float32)
