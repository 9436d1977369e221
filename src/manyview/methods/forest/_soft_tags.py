"""From observed tags to what a tree judges splits by: soft tags for items that a layer says nothing of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.tags import TagTable

__all__ = ["SHRINK", "correlations", "soft_layers"]

Tags = NDArray[np.intp]
SHRINK = 5.0  # tags that are expected to meet less than a few times say little by not meeting (0 is the paper's rule)
_FAINTEST = 0.01
_LARGEST = 5  # soft tags kept per item and layer
_BLOCK_BYTES = 64 * 2**20


def correlations(
    both: NDArray[np.float64], first: NDArray[np.float64], second: NDArray[np.float64], n_items: int, shrink: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How much each tag j speaks for and against each tag i: P(i|j) of (7), and the shortfall of their meetings, (9).

    both[i, j] items have the two, first[i] and second[j] the one. With E = first second / n_items the items expected to
    have both, the second result is max(0, E - both) / (E + shrink); at shrink 0 that is 1 - lift where lift is below 1.
    """
    expected = first[:, None] * second[None, :] / n_items
    likely = np.divide(both, second, out=np.zeros_like(both), where=second > 0)
    low = np.maximum(0.0, expected - both)
    shortfall = np.divide(low, expected + shrink, out=np.zeros_like(both), where=expected > 0)
    return likely, shortfall


def soft_layers(table: TagTable, layers: list[Tags], use_correlations: bool, shrink: float = SHRINK) -> list[Any]:
    """One CSR matrix per layer, items by all tags: observed tags, and soft ones for items that have none in the layer.

    An item without a tag in a layer gets soft tags from its tags in the layers below: positive (1 - negative), each
    scaled by its largest value over such items, at least 0.01 and the five largest. What is known to be wrong stays 0.
    """
    from scipy.sparse import csr_matrix

    yes = csr_matrix(table.yes)
    result = []
    for number, tags in enumerate(layers):
        keep = np.zeros(table.n_tags, dtype=bool)
        keep[tags] = True
        rows = np.repeat(np.arange(table.n_items), np.diff(yes.indptr))
        here = keep[yes.indices]
        hard = _csr(rows[here], yes.indices[here], np.ones(here.sum()), yes.shape)
        below = np.concatenate([np.empty(0, dtype=np.intp), *layers[number + 1 :]])
        if use_correlations and below.size:
            lacking = np.flatnonzero((hard.getnnz(axis=1) == 0) & (yes[:, below].getnnz(axis=1) > 0))
            if lacking.size:
                hard = csr_matrix(hard + _soft(table, tags, below, lacking, shrink))
        hard.sort_indices()
        result.append(hard)
    return result


def _soft(table: TagTable, tags: Tags, below: Tags, lacking: Tags, shrink: float) -> Any:
    """Soft tags of the items that lack a layer, a block of the layer's tags at a time."""
    from scipy.sparse import csr_matrix

    yes = csr_matrix(table.yes, dtype=np.float64)
    speaking = csr_matrix(yes[:, below])
    often = np.asarray(speaking.sum(axis=0)).ravel()
    heard = csr_matrix(speaking[lacking])
    refused = csr_matrix(table.no[lacking]) if table.no.nnz else None
    width = max(1, int(_BLOCK_BYTES // (24 * (lacking.size + below.size))))
    rows, columns, values = [], [], []
    for start in range(0, tags.size, width):
        block = tags[start : start + width]
        own = csr_matrix(yes[:, block])
        both = (own.T @ speaking).toarray()
        likely, shortfall = correlations(both, np.asarray(own.sum(axis=0)).ravel(), often, table.n_items, shrink)
        positive = _scaled(np.asarray(heard @ likely.T))
        value = positive * (1.0 - _scaled(np.asarray(heard @ shortfall.T)))
        if refused is not None:
            value[refused[:, block].toarray() > 0] = 0.0
        r, c = np.nonzero(value >= _FAINTEST)
        rows.append(r)
        columns.append(block[c])
        values.append(value[r, c])
    row, column, strength = (np.concatenate(part) for part in (rows, columns, values))
    order = np.lexsort((column, -strength, row))
    row, column, strength = row[order], column[order], strength[order]
    rank = np.arange(row.size) - np.searchsorted(row, row, side="left")
    kept = rank < _LARGEST
    return _csr(lacking[row[kept]], column[kept], strength[kept], yes.shape)


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each column divided by its largest value."""
    largest = values.max(axis=0)
    return values / np.where(largest > 0, largest, 1.0)


def _csr(rows: Any, columns: Any, values: Any, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_matrix

    return csr_matrix((np.asarray(values, dtype=np.float32), (rows, columns)), shape=shape)
