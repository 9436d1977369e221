"""How neatly items fall into so many parts, from the leading eigenvectors of their graph, by a rough partition."""

from __future__ import annotations

import numpy as np

from ...blocks import workers
from ...types import Floats, Places

__all__ = ["neatness"]

_MOST_ITEMS = 1_500
_ALL = 30
"""Numbers up to which each is looked at;"""
_STEP = 1.05
"""beyond, each is so many times the one before, and those between are interpolated."""
_ROUNDS = 5


def neatness(vectors: Floats, numbers: Places, seed: int) -> Floats:
    """From 0 to 1 for each of some numbers (rising), given the eigenvectors (n, m) of a graph, leading ones first.

    Where a graph falls into k parts, its k leading eigenvectors can be turned so that every item has a value in one of
    them only. The turn: the k items that point most differently (a QR decomposition with pivots) become the axes, or
    what is orthogonal and nearest to that. An item is in the part of its largest value, after which five rounds of
    k-means move items between the parts. Neatness is the mean of two figures: the share of the largest value in an
    item's squares, on average over items, and the entropy of the sizes of the parts over that of even ones: crumbs
    beside a lump are not neat. A. Damle, V. Minden, L. Ying, "Simple, direct and efficient multi-way spectral
    clustering", 2019, find clusters by the same decomposition.

    Of more than 1,500 items so many are drawn with the seed.
    """
    rows = vectors
    if vectors.shape[0] > _MOST_ITEMS:
        chosen = np.random.default_rng(seed).choice(vectors.shape[0], _MOST_ITEMS, replace=False)
        rows = vectors[np.sort(chosen)]
    looked_at = _some(numbers)
    with workers(1):
        found = [_of_one(rows[:, :number]) for number in looked_at.tolist()]
    return np.interp(np.log(numbers), np.log(looked_at), found)


def _some(numbers: Places) -> Places:
    kept = [int(numbers[0])]
    for number in numbers[1:].tolist():
        if number <= _ALL or number >= _STEP * kept[-1] or number == numbers[-1]:
            kept.append(number)
    return np.array(kept)


def _of_one(rows: Floats) -> float:
    from scipy.linalg import qr

    number = rows.shape[1]
    axes = qr(rows.T, mode="r", pivoting=True, check_finite=False)[1][:number]
    left, _, right = np.linalg.svd(rows[axes].T)
    squares = (rows @ (left @ right)) ** 2
    lengths = squares.sum(axis=1)
    share = np.divide(squares.max(axis=1), lengths, out=np.zeros(lengths.size), where=lengths > 0)
    unit = np.divide(rows, np.sqrt(lengths)[:, None], out=np.zeros_like(rows), where=lengths[:, None] > 0)
    sizes = np.bincount(_moved(unit, squares.argmax(axis=1), number)) / lengths.size
    sizes = sizes[sizes > 0]
    return float((share.mean() - sizes @ np.log(sizes) / np.log(number)) / 2)


def _moved(rows: Floats, parts: Places, number: int) -> Places:
    """Parts after some rounds of k-means; what is empty stays so."""
    from scipy.sparse import csr_array

    for _ in range(_ROUNDS):
        sizes = np.bincount(parts, minlength=number)
        means = csr_array((1.0 / sizes[parts], (parts, np.arange(parts.size))), shape=(number, parts.size)) @ rows
        nearness = 2.0 * rows @ means.T - np.where(sizes > 0, (means**2).sum(axis=1), np.inf)
        moved = nearness.argmax(axis=1)
        if np.array_equal(moved, parts):
            break
        parts = moved
    return parts
