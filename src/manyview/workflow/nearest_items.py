"""The items most like one, view by view."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import is_sparse
from ..blocks import row_blocks
from .likeness import Likeness

__all__ = ["NearestItems"]


class NearestItems:
    """Finds the items that are most like one, by the likeness that profiles go by.

    One pass over the rows when it is made, for their lengths; a question then costs one product of each view with a
    row. Memory: a number per item and dense view, and a copy of sparse views.
    """

    def __init__(self, likeness: Likeness) -> None:
        self._likeness = likeness
        self._lengths: list[NDArray[np.float64] | None] = []
        self._units = []
        for space in likeness.spaces:
            if is_sparse(space.matrix):
                self._lengths.append(None)
                self._units.append(space.units(slice(0, space.matrix.shape[0])))
                continue
            lengths = np.zeros(space.matrix.shape[0])
            for block in row_blocks(space.matrix.shape[0], space.row_bytes):
                part = (space.matrix[block] - space.shift[:-1]) * space.scale[:-1]
                # the constant column of ``likeness``: the square root of the width
                lengths[block] = np.sqrt(np.einsum("ij,ij->i", part, part) + space.matrix.shape[1])
            self._lengths.append(np.where(space.present, lengths, np.inf))
            self._units.append(None)

    def of(self, row: int, n: int = 12) -> dict[str, list[tuple[int, float]]]:
        """View -> rows of the ``n`` most alike and how much: 0 for two items picked blindly, 1 for equal ones."""
        found = {}
        for v, (name, space) in enumerate(zip(self._likeness.names, self._likeness.spaces, strict=True)):
            base = self._likeness.base[v]
            if np.isnan(base) or not space.present[row]:
                continue
            units, lengths = self._units[v], self._lengths[v]
            one = space.units(np.array([row]))
            if units is not None:
                cosine = np.asarray((units @ one.T).toarray()).ravel().astype(np.float64)
            else:
                weight = np.asarray(one, dtype=np.float64)[0]
                scaled = weight[:-1] * space.scale[:-1]
                constant = weight[-1] * np.sqrt(space.matrix.shape[1]) - float(scaled @ space.shift[:-1])
                product = space.matrix @ scaled.astype(space.matrix.dtype)
                cosine = np.nan_to_num((product + constant) / lengths, nan=-1.0)
            cosine[row] = -np.inf
            cosine[~space.present] = -np.inf
            best = np.argpartition(-cosine, min(n, cosine.size - 1))[:n]
            best = best[np.lexsort((best, -cosine[best]))]
            values = (cosine[best] - base) / (1.0 - base)
            found[name] = [(int(other), float(value)) for other, value in zip(best, values, strict=True) if value > 0.0]
        return found
