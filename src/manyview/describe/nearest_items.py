"""The items most like one, view by view."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..arrays import is_sparse
from ..blocks import row_blocks
from ..data.nearest import best_first
from ..types import Places
from ._grouping import Grouping
from .likeness import Likeness

__all__ = ["NearestItems", "nearest_of_all"]

Found = dict[str, list[tuple[int, float]]]


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

    def of(self, row: int, n: int = 12) -> Found:
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
            best, values = best_first(cosine, n)
            values = (values - base) / (1.0 - base)
            found[name] = [(int(other), float(value)) for other, value in zip(best, values, strict=True) if value > 0.0]
        return found


def nearest_of_all(likeness: Likeness, grouping: Grouping, n: int, most: int) -> list[Found]:
    """For each item what ``NearestItems.of`` says of it, each looked for among at most ``most`` others.

    Where there are more items than that, those of its own cluster are compared, and then of the clusters next to it,
    so that time is linear in the items: ``most`` times the size of the views.
    """
    found: list[Found] = [{} for _ in range(grouping.n_items)]
    for rows, others in _cells(likeness, grouping, most):
        for v, (name, space) in enumerate(zip(likeness.names, likeness.spaces, strict=True)):
            base, speaking = likeness.base[v], others[space.present[others]]
            if np.isnan(base) or not speaking.size:
                continue
            units = space.units(speaking)
            asking = rows[space.present[rows]]
            for block in row_blocks(asking.size, 12.0 * speaking.size + space.row_bytes):
                mine = asking[block]
                cosine = space.units(mine) @ units.T
                cosine = np.asarray(cosine.toarray() if is_sparse(cosine) else cosine)
                cosine[mine[:, None] == speaking] = -np.inf
                best, values = best_first(cosine, n)
                shares = (values.astype(np.float64) - base) / (1.0 - base)
                for row, near, alike in zip(mine.tolist(), speaking[best].tolist(), shares.tolist(), strict=True):
                    found[row][name] = [pair for pair in zip(near, alike, strict=True) if pair[1] > 0.0]
    return found


def _cells(likeness: Likeness, grouping: Grouping, most: int) -> Iterator[tuple[Places, Places]]:
    """Rows, and the rows among which what is like them is looked for."""
    everyone = np.arange(grouping.n_items)
    if everyone.size <= most:
        yield everyone, everyone
        return
    members = grouping.members()
    for mine, beside in zip(members, likeness.nearest.tolist(), strict=True):
        near = [members[other] for other in beside if other >= 0]
        yield mine, np.sort(np.concatenate([_thinned(mine, most), *near])[:most])
    outside = np.flatnonzero(grouping.code < 0)
    yield outside, np.union1d(_thinned(outside, most // 2), _thinned(everyone, most // 2))


def _thinned(rows: Places, most: int) -> Places:
    """At most so many, evenly spaced."""
    return rows[:: max(1, -(-rows.size // most))]
