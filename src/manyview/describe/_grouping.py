"""Labels as every function of this room reads them: clusters are the labels that occur, -1 is no cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ParameterError
from ..types import Places

__all__ = ["Grouping", "check_grouping"]


@dataclass(frozen=True)
class Grouping:
    """Which item is in which cluster. ``code`` counts clusters from 0 in the order of ``labels``; -1 is outside."""

    labels: tuple[int, ...]
    code: Places
    sizes: Places

    @property
    def n_items(self) -> int:
        return int(self.code.size)

    @property
    def n_clusters(self) -> int:
        return len(self.labels)

    def members(self) -> list[Places]:
        """The items of each cluster, in rising order."""
        order = np.argsort(self.code, kind="stable")
        outside = self.n_items - int(self.sizes.sum())
        return np.split(order[outside:], np.cumsum(self.sizes)[:-1]) if self.n_clusters else []

    def indicator(self, rows: slice | None = None) -> Any:
        """CSR 0/1, clusters by items (of the rows): multiplying a matrix by it adds up the rows of each cluster."""
        from scipy.sparse import csr_matrix

        code = self.code if rows is None else self.code[rows]
        inside = np.flatnonzero(code >= 0)
        ones = np.ones(inside.size, dtype=np.float32)
        return csr_matrix((ones, (code[inside], inside)), shape=(self.n_clusters, code.size))


def check_grouping(labels: ArrayLike, n_items: int | None = None) -> Grouping:
    """Labels as a ``Grouping``: one integer per item, at least -1."""
    try:
        array = np.asarray(labels)
    except ValueError as error:
        raise ParameterError("labels must hold one integer per item, got rows of different length.") from error
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ParameterError(
            f"labels must hold one integer per item, got {array.dtype} of shape {array.shape}. Number the clusters "
            "first, for example with numpy.unique(labels, return_inverse=True)."
        )
    if n_items is not None and array.size != n_items:
        raise ParameterError(f"labels has {array.size} entries but there are {n_items} items; give one per item.")
    if array.size and array.min() < -1:
        item = int(np.argmin(array))
        raise ParameterError(
            f"labels must be at least -1 (which means: in no cluster), got {array[item]} for item {item}."
        )
    found, code = np.unique(array.astype(np.int64), return_inverse=True)
    if found.size and found[0] == -1:
        found, code = found[1:], code - 1
    inside = code[code >= 0]
    return Grouping(tuple(found.tolist()), code.astype(np.intp), np.bincount(inside, minlength=found.size))
