"""Measures of proposed tags against tags that were hidden on purpose.

All three rank the tags of each item by score and look at the first n. The largest score comes first; among
equal scores, the tag in the earlier column. What a sparse ``scores`` does not store scores 0, like a stored
zero, and still takes part; a tag that must never be proposed scores minus infinity. Tags marked in ``known``
are skipped.

Only items with at least one hidden tag are judged: on the others there is nothing to find. Every such item
weighs the same. The HML-RF paper reports these measures; its coverage and precision agree at n = 1 in every
table, so it judges the same items in both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from manyview.errors import ParameterError
from manyview.metrics._inputs import check_same_shape, check_scores, check_tag_matrix

__all__ = ["coverage_at", "precision_at", "recall_at"]

# Rows are made dense a block at a time: about 8 MB per temporary array.
_CELLS_PER_BLOCK = 1_000_000


def precision_at(hidden: Any, scores: Any, n: int, *, known: Any = None) -> float:
    """Share of the first n proposals that are right, averaged over items (AP@N in HML-RF).

    P@n = mean over items of (hidden tags among the first n) / n. The divisor stays n also where an item has
    fewer than n tags left to propose or to find, so 1 may be out of reach.

    hidden: 0/1 matrix of the tags to be found, items by tags, dense or sparse. scores: matrix of the same
    shape, dense or sparse, higher for better. known: 0/1 matrix of tags that the items already have, never
    proposed.

    Between 0 and 1, higher is better. O(judged items x tags) time; scores are read a block of items at a
    time, also from a memory-mapped array.

    >>> precision_at([[1, 1, 0]], [[0.9, 0.2, 0.5]], 2)
    0.5
    """
    hits, _ = _hits(hidden, scores, n, known)
    return float((hits / n).mean())


def recall_at(hidden: Any, scores: Any, n: int, *, known: Any = None) -> float:
    """Share of an item's hidden tags among its first n proposals, averaged over items (AR@N in HML-RF).

    R@n = mean over items of (hidden tags among the first n) / (hidden tags). The mean is over items, not over
    all hidden tags at once: for the latter, R@n would be n P@n times a constant, which the paper's table 8 is
    not.

    Arguments as in ``precision_at``. Between 0 and 1, higher is better, never falls as n grows. O(judged
    items x tags) time.

    >>> recall_at([[1, 1, 0]], [[0.9, 0.2, 0.5]], 2)
    0.5
    """
    hits, n_hidden = _hits(hidden, scores, n, known)
    return float((hits / n_hidden).mean())


def coverage_at(hidden: Any, scores: Any, n: int, *, known: Any = None) -> float:
    """Share of items with at least one right tag among the first n proposals (C@N in HML-RF).

    C@n = mean over items of [at least one hidden tag among the first n]; for n = 1 that is ``precision_at``.

    Arguments as in ``precision_at``. Between 0 and 1, higher is better, never falls as n grows. O(judged
    items x tags) time.

    >>> coverage_at([[1, 1, 0], [0, 0, 1]], [[0.9, 0.2, 0.5], [0.9, 0.2, 0.5]], 1)
    0.5
    """
    hits, _ = _hits(hidden, scores, n, known)
    return float((hits > 0).mean())


def _hits(hidden: Any, scores: Any, n: Any, known: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Hidden tags among the first n proposals, and hidden tags in all, for each item that has any."""
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ParameterError(f"n must be a whole number of proposals, 1 or more, got {n!r}.")
    truth = check_tag_matrix(hidden, "hidden")
    scores = check_scores(scores, truth.shape)
    if known is not None:
        known = check_tag_matrix(known, "known")
        check_same_shape(known.shape, "known", truth.shape)
        _check_apart(truth, known)
    n_hidden = np.diff(truth.indptr).astype(np.int64)
    judged = np.flatnonzero(n_hidden)
    if judged.size == 0:
        raise ParameterError("hidden holds no tag at all, so there is nothing to find. Hide at least one tag.")
    hits = np.empty(judged.size, dtype=np.int64)
    step = max(1, _CELLS_PER_BLOCK // truth.shape[1])
    for start in range(0, judged.size, step):
        items = judged[start : start + step]
        block = _dense_scores(scores, items)
        if known is not None:
            block[known[items].toarray() > 0] = -np.inf
        hits[start : start + step] = (_first(block, int(n)) & (truth[items].toarray() > 0)).sum(axis=1)
    return hits, n_hidden[judged]


def _check_apart(hidden: Any, known: Any) -> None:
    """Refuse a tag that is to be found and already known: no ranking could ever find it."""
    both = hidden.multiply(known).tocoo()
    if both.nnz:
        raise ParameterError(
            f"a tag cannot be both hidden and known, got {both.nnz} such tags, the first at item "
            f"{both.row[0]}, column {both.col[0]}. Take the hidden tags out of known."
        )


def _dense_scores(scores: Any, items: NDArray[np.intp]) -> NDArray[np.float64]:
    """A private dense copy of the scores of these items, refused where a score is not a number."""
    rows = scores[items]
    block = np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64)
    lost = np.isnan(block)
    if lost.any():
        row, column = np.argwhere(lost)[0]
        raise ParameterError(
            f"scores must be numbers, got NaN for item {items[row]}, column {column}. "
            "Give minus infinity to a tag that must not be proposed."
        )
    return block


def _first(block: NDArray[np.float64], n: int) -> NDArray[np.bool_]:
    """Mark the n best of each row; equal scores go by column, minus infinity never counts."""
    proposed = block > -np.inf
    n_tags = block.shape[1]
    if n >= n_tags:
        return proposed
    # Everything above the n-th largest score is in; what equals it fills the places left, from the left.
    last = np.partition(block, n_tags - n, axis=1)[:, n_tags - n, np.newaxis]
    above = block > last
    equal = block == last
    places = n - above.sum(axis=1, keepdims=True)
    best: NDArray[np.bool_] = (above | (equal & (np.cumsum(equal, axis=1) <= places))) & proposed
    return best
