"""The scaled views side by side: what members and neighbours are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers, row_blocks
from ...data.joining import side_by_side
from ...types import Floats, Places
from ..gaps import fill_gaps
from ._graph import Space
from ._kinds import kind_columns, kinds_of_views

__all__ = ["Points", "kinds_of", "points_of"]

_SILENT = 0.05  # a say that is next to none
_FAR = 3.0  # from items of another kind; rows of a view have mean length 1


@dataclass(frozen=True)
class Points:
    """The scaled views that vary, side by side in order of their keys: their columns, and who has which.

    Behind them, where some views are of other items, columns that keep items of different kinds apart.
    """

    names: tuple[str, ...]
    keys: tuple[int, ...]
    rows: NDArray[np.float32]  # (n, all columns), filled where an item lacks the view (``gaps``)
    edges: Places  # (n_views + 1,): where each view's columns start
    present: NDArray[np.bool_]  # (n, n_views)
    says: Floats  # (n_views,): how much each view counts, 1 for a full say
    view_kinds: Places  # (n_views,): the same for views of the same items

    def spaces(self, at_least: int = 1) -> list[Space]:
        """Everything with everybody, then each view with those that have it, if that many do."""
        everyone = np.arange(self.rows.shape[0], dtype=np.int32)
        spaces = [Space(None, 0, self.rows, everyone)]
        for v, name in enumerate(self.names):
            items = np.flatnonzero(self.present[:, v]).astype(np.int32)
            columns = slice(self.edges[v], self.edges[v + 1])
            if items.size >= at_least:
                rows = self.rows[:, columns] if items.size == everyone.size else self.rows[items, columns]
                spaces.append(Space(name, self.keys[v], rows, items))
        return spaces

    @property
    def by_kind(self) -> list[NDArray[np.int32]]:
        """The items of every kind, where there are several."""
        apart = self.rows[:, self.edges[-1] :]
        return [np.flatnonzero(column).astype(np.int32) for column in apart.T]

    @property
    def heard(self) -> list[str]:
        """The views whose say is more than next to none."""
        return [name for name, say in zip(self.names, self.says.tolist(), strict=True) if say > _SILENT]

    @property
    def width(self) -> int:
        """How many columns the views that are heard have in all."""
        return int(np.diff(self.edges)[self.says > _SILENT].sum())

    def of(self, items: Places) -> Points:
        """Some of the items, given by rising numbers; no copy of all of them."""
        if items.size == self.rows.shape[0]:
            return self
        return replace(self, rows=self.rows[items], present=self.present[items])

    def kept(self, items: Places) -> dict[str, Any]:
        """What a model keeps of some of the items, to place new ones beside them."""
        rows = np.ascontiguousarray(self.rows[items])
        return {"rows": rows, "present": self.present[items], "view_kinds": self.view_kinds, "gaps": "filled"}

    def shares(self, spaces: Sequence[Space]) -> list[float]:
        """The share of every space in the neighbours: all views together have as much as all views one by one."""
        says = dict(zip(self.names, self.says.tolist(), strict=True))
        total = sum(says[space.name] for space in spaces if space.name is not None)
        return [1.0 if space.name is None else says[space.name] / total for space in spaces]


def points_of(
    names: list[tuple[str, int]],
    n_items: int,
    parts: list[tuple[NDArray[np.float32], NDArray[np.bool_]]],
    threads: Workers,
    says: Floats | None = None,
    state: dict[str, Any] | None = None,
    has: Sequence[NDArray[np.bool_]] = (),
) -> Points:
    """Views as points side by side: their names and keys, the rows of each, who has it, and how much say it has.

    A view's share in squared distances is its say, which is 1 where none is given. What items lack is filled in from
    each other, for new items from the fitted ones of ``state``. ``has``: who has each view, even if it says nothing of
    them, as of a text without a known word; an item that no view says anything of is of that kind nevertheless.
    """
    says = np.ones(len(names)) if says is None else says
    present = np.column_stack([np.zeros((n_items, 0), dtype=bool), *(has for _, has in parts)])
    if state is None:
        view_kinds = kinds_of_views([has for _, has in parts])
    else:  # models of the first editions knew of none
        view_kinds = np.asarray(state.get("view_kinds", np.zeros(len(names), dtype=np.intp)))
    told = present
    if has and view_kinds.any():
        told = present | (np.column_stack(has) & ~present.any(axis=1, keepdims=True))
    apart = kind_columns(told, view_kinds, _FAR * float(np.sqrt(says.sum())))
    parts = [
        (rows if say == 1.0 else rows * np.float32(np.sqrt(say)), has)
        for (rows, has), say in zip(parts, says.tolist(), strict=True)
    ]
    edges = np.cumsum([0, *(rows.shape[1] for rows, _ in parts)])
    tables, there = [rows for rows, _ in parts], present
    if apart.size:
        tables, there = [*tables, apart], np.column_stack([present, np.ones(n_items, dtype=bool)])
    joined = side_by_side(tables, there, [np.zeros(rows.shape[1]) for rows in tables])
    if state is None:
        fill_gaps(joined, present, edges, threads)
    elif state.get("gaps") == "filled":  # models of the first edition left them empty
        fill_gaps(joined, present, edges, threads, (state["rows"], state["present"]))
    titles, keys = tuple(name for name, _ in names), tuple(key for _, key in names)
    return Points(titles, keys, joined, edges, present, says, view_kinds)


def kinds_of(points: Points) -> Places:
    """A number for each item, the same for items that are equal in every view; numbered by first occurrence."""
    n_items, width = points.rows.shape
    odd = np.random.default_rng(0).integers(2**63, size=width, dtype=np.uint64) * 2 + 1
    patterns = np.random.default_rng(1).integers(2**63, size=points.present.shape[1], dtype=np.uint64)
    blocks = row_blocks(n_items, 16 * (width + 1))
    hashes = np.empty(n_items, dtype=np.uint64)
    for block in blocks:
        bits = (points.rows[block] + np.float32(0.0)).view(np.uint32)  # -0 becomes 0
        hashes[block] = (bits * odd).sum(axis=1, dtype=np.uint64)
        hashes[block] += (points.present[block] * patterns).sum(axis=1, dtype=np.uint64)
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    leader = first[inverse]
    for block in blocks:  # equal hashes by accident stay apart
        differ = (points.rows[block] != points.rows[leader[block]]).any(axis=1)
        differ |= (points.present[block] != points.present[leader[block]]).any(axis=1)
        leader[block] = np.where(differ, np.arange(block.start, block.stop), leader[block])
    return np.unique(leader, return_inverse=True)[1]
