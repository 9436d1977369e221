"""Layers of tags, the most abstract first: as given, or induced from the tags."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.hierarchy import TagHierarchy
from ...data.tags import TagTable
from ...errors import ParameterError
from ..spectral import cluster_rows

__all__ = ["given_layers", "induced_layers"]

Tags = NDArray[np.intp]


def given_layers(table: TagTable, hierarchy: Any) -> list[Tags]:
    """The columns of each layer of a ``TagHierarchy``, or of lists of words or columns; unused tags are left out."""
    if not isinstance(hierarchy, TagHierarchy):
        if isinstance(hierarchy, str) or not np.iterable(hierarchy) or any(isinstance(one, str) for one in hierarchy):
            raise ParameterError(
                "hierarchy must be a TagHierarchy or a list of layers, each a list of tags; for 'a|b|c' paths use "
                "TagHierarchy.from_paths."
            )
        hierarchy = TagHierarchy.from_layers([[_word(tag, table) for tag in layer] for layer in hierarchy])
    if not any(name in hierarchy for name in table.names):
        raise ParameterError(
            f"the hierarchy knows none of the {table.n_tags} tags, such as {table.names[0]!r}; its tags are "
            f"{', '.join(map(repr, list(hierarchy.names)[:5]))}, ..."
        )
    used = np.flatnonzero(table.yes.getnnz(axis=0))
    layers = [np.intersect1d(layer, used) for layer in hierarchy.columns(table.names)]
    return [layer for layer in layers if layer.size]


def _word(tag: Any, table: TagTable) -> str:
    """A tag of a layer given as a word or as a column."""
    if isinstance(tag, str):
        return tag
    if not 0 <= int(tag) < table.n_tags:
        raise ParameterError(f"the hierarchy names column {tag}, but there are {table.n_tags} tags.")
    return table.names[int(tag)]


def induced_layers(yes: Any, n_layers: int, n_groups: int, seed: int) -> list[Tags]:
    """Layers of tags as the paper makes them, most abstract first; layers that would be empty are left out.

    The tf-idf rows of the tags are grouped by k-means; the 3 i heaviest tags of every group go into layer i, then the
    same again with the tags that are left. What remains at the end is the last layer. Untagged items take no part.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    left = np.flatnonzero(yes.getnnz(axis=0))
    layers: list[Tags] = []
    for number in range(1, n_layers):
        some = yes[:, left]
        some = some[some.getnnz(axis=1) > 0]
        n_rows = some.shape[0]
        if left.size <= 3 * number or n_rows < 2:
            break
        weights = TfidfTransformer().fit_transform(some.astype(np.float64))
        labels, _ = cluster_rows(weights, min(n_groups, n_rows), n_init=3, seed=seed + number, n_jobs=1)
        chosen: set[int] = set()
        for group in np.unique(labels):
            heavy = np.asarray(weights[labels == group].sum(axis=0)).ravel()
            best = np.argsort(-heavy, kind="stable")[: 3 * number]
            chosen.update(best[heavy[best] > 0].tolist())
        taken = np.array(sorted(chosen), dtype=np.intp)
        layers.append(left[taken])
        left = np.delete(left, taken)
    return [layer for layer in (*layers, left) if layer.size]
