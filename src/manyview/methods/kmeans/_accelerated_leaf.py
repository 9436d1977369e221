"""What the accelerated k-means does with some rows: the tasks that an engine runs.

All that an item carries from round to round is its label. Bounds are kept where the rows are read, and may be lost:
rows without bounds are compared with all centres. Labels are the same either way, since they are always Lloyd's.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import is_sparse
from ...data.joining import side_by_side
from ...data.source import Rows
from ...engines.device import device_form
from ...types import Floats, Places
from . import _accelerated_kmeans_kernels as kernels
from ._accelerated_bounds import Move, Pairs, share_to_gather
from ._accelerated_tables import Centres, Table, make_table
from ._robust_assignment import Costliest, Spare
from ._robust_kmeans_kernels import settle

__all__ = [
    "Part",
    "Round",
    "TableFrame",
    "add_parts",
    "far_leaf",
    "inertia_leaf",
    "open_table",
    "round_leaf",
    "square_leaf",
    "sum_leaf",
]

Labels = NDArray[np.int32]

_PANEL_BYTES = 2**20  # of products, so that they stay in the processor's own cache
_MOST_DOUBTS = 2**20  # pairs of row and centre that are decided together
_TIE = 1e-11  # squared distances that differ by less, relative, are compared digit by digit


@dataclass(frozen=True)
class TableFrame:
    """How the views of a source become one table: side by side, gaps filled, the offset taken away."""

    columns: tuple[str, ...]
    numbers: tuple[int, ...]  # of the columns in the mask
    fills: tuple[Floats, ...]
    offset: Floats | None
    scale: Floats
    by_leaf: bool = False  # the table is made leaf by leaf, in every pass: a copy of all of it would fill memory
    key: str = field(default_factory=lambda: uuid.uuid4().hex)

    def opened(self, rows: Rows, leaf: slice) -> tuple[Rows, slice]:
        """The rows whose table is to be made for a leaf, and the leaf among them."""
        return rows.alone(leaf) if self.by_leaf else (rows, leaf)

    def table(self, rows: Rows) -> Table:
        """The table of some rows; one dense view without gaps is not copied."""
        present = rows["mask"][:, list(self.numbers)]
        matrix = side_by_side([rows[name] for name in self.columns], present, self.fills)
        if self.offset is not None:
            matrix = (matrix.toarray() if is_sparse(matrix) else matrix) - self.offset
        if not is_sparse(matrix):
            matrix = matrix.view()
            matrix.flags.writeable = False
        return make_table(matrix, self.scale)


def open_table(rows: Rows, frame: TableFrame) -> Table:
    """The table of a span, made once for as long as its rows are open."""
    key = ("table", frame.key)
    if key not in rows.made:
        table = frame.table(rows)
        table.remember(rows.kept.setdefault(("norms", frame.key), {}))
        rows.made[key] = table
    table = rows.made[key]
    return table


class _State(NamedTuple):
    """What is known about every row, in the order in which kernels take it."""

    labels: Labels
    upper: Floats
    own: Floats
    lower: Floats

    @classmethod
    def unknown(cls, n_rows: int) -> _State:
        return cls(np.full(n_rows, -1, dtype=np.int32), *(np.empty(n_rows) for _ in range(3)))


class _Room:
    """Memory for one thread's visits, kept for the whole run: making it anew each time costs more than filling it."""

    def __init__(self, table: Table, n_clusters: int, dtype: np.dtype[Any]) -> None:
        self.size = max(256, min(4096, _PANEL_BYTES // (n_clusters * dtype.itemsize)))
        self.products = np.empty(n_clusters * self.size, dtype=dtype)
        self.panel = table.panel(self.size, n_clusters)
        self.values = np.empty((2, self.size), dtype=dtype)
        self.label = np.empty(self.size, dtype=np.int32)
        self.doubts = np.empty((2, n_clusters * self.size), dtype=np.intp)
        self.row = np.empty(n_clusters, dtype=dtype), np.empty(n_clusters, dtype=np.intp)


@dataclass
class Round:
    """What the tasks of one pass over the rows are told."""

    frame: TableFrame
    points: Floats
    label_type: np.dtype[Any]
    run: str = ""
    name: str = ""  # of this round, under which bounds are kept
    last_name: str = ""
    move: Move | None = None  # since the round before; None in the first
    pairs: Pairs = field(default_factory=Pairs)
    sum_rows: bool = True
    add_squares: bool = False  # the inertia of the new labels is wanted
    worn: NDArray[np.bool_] | None = None  # clusters to add up anew
    n_wanted: int = 0
    rooms: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_centres"} | {"rooms": None}

    def centres(self, table: Table) -> Centres:
        centres = self.__dict__.get("_centres")
        if centres is None:
            centres = self.__dict__["_centres"] = table.centres(self.points)
        found: Centres = centres
        return found

    def room(self, table: Table) -> Spare[_Room]:
        if self.rooms is None:
            half = self.centres(table).half  # no lambda: it would hold this round, which holds the rooms
            self.rooms = Spare(partial(_Room, table, half.size, half.dtype))
        rooms: Spare[_Room] = self.rooms
        return rooms


@dataclass
class Part:
    """What some rows contribute to a round: what moved into clusters and out of them, and what it cost."""

    touched: Places  # clusters
    change: Floats  # (n_touched, d)
    mass: Floats  # (K,)
    held: Floats  # (K,), weighted lengths of the items
    turnover: Floats  # (K,), of those that moved
    squares: float = 0.0  # of all rows, in the first round
    n_moved: int = 0
    n_distances: int = 0
    n_gated: int = 0  # rows that only the gate saved
    n_own: int = 0  # rows whose own distance was computed
    n_saved: int = 0  # and those of them that this saved
    inertia: float | None = None  # of the new labels, where it was asked for
    by_pairs: tuple[int, int, int] = (0, 0, 0)  # rows with pair bounds, those settled, distances that took

    @cached_property
    def n_clusters(self) -> int:
        return int(self.mass.size)


def add_parts(whole: Part, part: Part) -> Part:
    """The sums of two parts, in the first of them."""
    if part.touched.size:
        _widen(whole, part.touched)
        whole.change[np.searchsorted(whole.touched, part.touched)] += part.change
    whole.mass += part.mass
    whole.held += part.held
    whole.turnover += part.turnover
    whole.squares += part.squares
    whole.inertia = None if whole.inertia is None or part.inertia is None else whole.inertia + part.inertia
    for name in ("n_moved", "n_distances", "n_gated", "n_own", "n_saved"):
        setattr(whole, name, getattr(whole, name) + getattr(part, name))
    first, second, third = (one + other for one, other in zip(whole.by_pairs, part.by_pairs, strict=True))
    whole.by_pairs = (first, second, third)
    return whole


def _widen(whole: Part, touched: Places) -> None:
    """Room for more clusters; for all of them once there are many."""
    if whole.touched.size == whole.n_clusters:
        return
    union = np.union1d(whole.touched, touched)
    if union.size == whole.touched.size:
        return
    union = np.arange(whole.n_clusters) if 2 * union.size > whole.n_clusters else union
    change = np.zeros((union.size, whole.change.shape[1]))
    change[np.searchsorted(union, whole.touched)] = whole.change
    whole.touched, whole.change = union, change


@device_form("manyview.methods.kmeans.device.accelerated")
def round_leaf(rows: Rows, leaf: slice, shared: Round, labels: Any) -> tuple[Part, NDArray[Any]]:
    """Label rows by their nearest centres, and say what moved."""
    rows, leaf = shared.frame.opened(rows, leaf)
    table, n_rows = open_table(rows, shared.frame), leaf.stop - leaf.start
    key = ("bounds", shared.frame.key, leaf.start)
    name, state = rows.kept.pop(key, ("", None))  # so that nobody finds it half changed
    old = np.full(n_rows, -1, dtype=np.int32) if labels is None else labels.astype(np.int32)
    known = state is not None and shared.move is not None and name == shared.last_name
    state = state if known else _State.unknown(n_rows)
    centres, rooms = shared.centres(table), shared.room(table)
    n_clusters = centres.half.size
    part = Part(np.empty(0, dtype=np.intp), np.empty((0, table.n_features)), *np.zeros((3, n_clusters)))
    room = rooms.take()
    visit = _Visit(table, leaf, shared, state, room, part, _pair_bounds(rows, leaf, shared, n_rows, n_clusters))
    which = visit.open_rows() if known and shared.move is not None else np.arange(n_rows)
    if which.size:
        visit.compare(which, _keeps_pairs(rows, leaf, shared))
    rooms.give(room)
    rows.kept[key] = (shared.name, state)
    _count(part, rows, leaf, old, state.labels, shared)
    if shared.add_squares:
        part.inertia = _inertia(rows, leaf, shared, state.labels)
    return part, state.labels.astype(shared.label_type)


def _count(part: Part, rows: Rows, leaf: slice, old: Labels, new: Labels, shared: Round) -> None:
    """What the clusters hold, and what moved."""
    table, weight, n_clusters = open_table(rows, shared.frame), rows["weight"][leaf], part.n_clusters
    (came, gone), touched = np.zeros((2, n_clusters)), np.zeros(n_clusters, dtype=bool)
    changed = np.empty(new.size, dtype=np.intp)
    norms = table.norms(leaf)
    n_moved = kernels.count_rows(old, new, weight, norms, part.mass, part.held, came, gone, touched, changed)
    part.n_moved, changed = n_moved, changed[:n_moved]
    if shared.move is None and shared.sum_rows:
        part.squares = float(weight @ norms**2)
    if not shared.sum_rows or not n_moved:
        return
    left = changed[old[changed] >= 0]
    part.turnover += came + gone
    part.touched = np.flatnonzero(touched)
    part.change = np.zeros((part.touched.size, table.n_features))
    place = np.zeros(n_clusters, dtype=np.int32)
    place[part.touched] = np.arange(part.touched.size)
    table.add_rows(changed + leaf.start, place[new[changed]], rows["weight"], 1.0, part.change)
    table.add_rows(left + leaf.start, place[old[left]], rows["weight"], -1.0, part.change)


def _keeps_pairs(rows: Rows, leaf: slice, shared: Round) -> bool:
    return shared.pairs.keeps((rows.start + leaf.start) // max(1, shared.pairs.leaf_rows))


def _pair_bounds(rows: Rows, leaf: slice, shared: Round, n_rows: int, n_clusters: int) -> Any:
    """Bounds for every row and centre, and the rounds they are of (-1: none); None where they do not pay."""
    if not shared.pairs.active:
        return None
    key = ("pairs", shared.frame.key, leaf.start)
    epoch = (shared.run, shared.pairs.epoch)
    known = rows.kept.get(key)
    if known is None:
        room = np.empty((n_rows, n_clusters), dtype=np.float32), np.full(n_rows, -1, dtype=np.int32)
        known = rows.kept[key] = (epoch, room)
    elif known[0] != epoch:
        known[1][1][:] = -1
        known = rows.kept[key] = (epoch, known[1])
    return known[1]


@dataclass
class _Visit:
    """The rows of one leaf, what is known about them, and room to find out more."""

    table: Table
    rows: slice
    shared: Round
    state: _State
    room: _Room
    part: Part
    pair_bounds: Any

    def open_rows(self) -> Places:
        """Rows that must be compared with all centres; the bounds settle the others."""
        table, state, part, move = self.table, self.state, self.part, self.shared.move
        assert move is not None  # noqa: S101
        centres, n_rows = self.shared.centres(table), state.labels.size
        which, tighten = np.empty(n_rows, dtype=np.intp), np.empty(n_rows, dtype=bool)
        n_open, part.n_gated = kernels.open_rows(*state, move.shift, move.other_shift, move.gate, which, tighten)
        tighten = tighten[:n_open]
        near = which[:n_open][tighten] if move.own_distances else which[:0]
        if near.size:
            squares = table.pair_squared_distances(self.rows, near, state.labels[near].astype(np.intp), centres)
            n_left = kernels.still_open(*state, move.gate, which, tighten, squares, table.wider)
            part.n_own, part.n_saved = near.size, n_open - n_left
            part.n_distances += near.size
            n_open = n_left
        if n_open and self.pair_bounds is not None:
            lengths = (table.norms(self.rows), centres.squares, table.error, table.wider)
            told = (self.shared.pairs.most, self.shared.pairs.drift, *self.pair_bounds)
            n_left, n_tried, n_settled, n_computed = kernels.visit_by_pair_bounds(
                table.matrix[self.rows],
                centres.folded,
                centres.half,
                *lengths,
                *told,
                which[:n_open],
                *self.room.row,
                *state,
            )
            n_open = n_left
            part.n_distances += n_computed
            part.by_pairs = (n_tried, n_settled, n_computed)
        to_gather = share_to_gather(table, centres.half.size)
        return np.arange(n_rows) if n_open > to_gather * n_rows else which[:n_open]

    def compare(self, which: Places, keep_pairs: bool) -> None:
        """Compare rows with all centres: labels and fresh bounds."""
        table, state, rows, room = self.table, self.state, self.rows, self.room
        centres = self.shared.centres(table)
        n_clusters = centres.half.size
        norms, squares, error = table.norms(rows), centres.squares, table.error
        whole = which.size == state.labels.size
        bounds = self.pair_bounds if keep_pairs else None
        self.part.n_distances += which.size * n_clusters
        doubts, n_doubts = [], 0
        for start in range(0, which.size, room.size):
            panel = which[start : start + room.size]
            m = panel.size
            place = slice(rows.start + start, rows.start + start + m) if whole else panel + rows.start
            products = room.products[: n_clusters * m].reshape(n_clusters, m)
            found = (room.values[0, :m], room.values[1, :m], room.label[:m])
            table.panel_products(place, centres, room.panel, products)
            kernels.nearest(products, centres.half, *found)
            n_open = kernels.settle_certain(
                products, centres.half, *found, panel, norms, squares, error, table.wider, *state, room.doubts
            )
            if n_open:
                doubts.append(room.doubts[:, :n_open].copy())
                n_doubts += n_open
            if bounds is not None:
                kernels.keep_pair_bounds(products, centres.half, panel, norms, error, self.shared.pairs.now, *bounds)
            if n_doubts > _MOST_DOUBTS or (doubts and start + m == which.size):
                rows_in_doubt, clusters = np.concatenate(doubts, axis=1)
                _decide(table, state, rows, rows_in_doubt, clusters, centres)
                self.part.n_distances += n_doubts
                doubts, n_doubts = [], 0


def _decide(table: Table, state: _State, rows: slice, which: Places, clusters: Places, centres: Centres) -> None:
    """Label rows that products could not decide, from differences in float64; exact ties go to the lowest number."""
    squares = table.pair_squared_distances(rows, which, clusters, centres)
    starts = np.flatnonzero(np.diff(which, prepend=-1))
    lengths = np.diff(starts, append=which.size)
    close = squares <= np.repeat(np.minimum.reduceat(squares, starts), lengths) * (1 + _TIE)
    tied = close & np.repeat(np.add.reduceat(close.astype(np.intp), starts) > 1, lengths)
    if tied.any():
        squares[tied] = table.tie_squares(which[tied] + rows.start, clusters[tied], centres.points)
    settle(which, clusters, squares, state.labels)
    chosen = clusters == state.labels[which]
    wide = table.wider * (1 + _TIE)
    lower = np.minimum.reduceat(np.where(chosen, np.inf, squares), starts)
    items = which[starts]
    state.upper[items] = np.sqrt(squares[chosen]) * wide
    state.own[items] = np.sqrt(squares[chosen]) / wide
    state.lower[items] = np.minimum(state.lower[items], np.sqrt(lower) / wide)


def sum_leaf(rows: Rows, leaf: slice, shared: Round, labels: NDArray[Any]) -> tuple[tuple[Floats], None]:
    """The sums of the clusters whose digits are worn, from all their rows."""
    rows, leaf = shared.frame.opened(rows, leaf)
    table, sums = open_table(rows, shared.frame), np.zeros(shared.points.shape)
    if shared.worn is not None:
        here = np.flatnonzero(shared.worn[labels]) + leaf.start
        table.add_rows(here, labels[here - leaf.start].astype(np.int32), rows["weight"], 1.0, sums)
    return (sums,), None


def far_leaf(rows: Rows, leaf: slice, shared: Round, labels: NDArray[Any]) -> tuple[Any, None]:
    """The rows farthest from their centres."""
    squares = _row_squares(*shared.frame.opened(rows, leaf), shared, labels)
    squares = np.where(rows["weight"][leaf] > 0, squares, 0.0)
    here = np.flatnonzero(squares > 0)
    found = Costliest(here + leaf.start + rows.start, squares[here], labels[here].astype(np.intp))
    nobody = Costliest(found.items[:0], found.costs[:0], found.labels[:0])
    return (found.merged(nobody, shared.n_wanted), shared.n_wanted), None


def inertia_leaf(rows: Rows, leaf: slice, shared: Round, labels: NDArray[Any]) -> tuple[tuple[float], None]:
    """Weighted squared distances of rows to their centres, from differences."""
    return (_inertia(*shared.frame.opened(rows, leaf), shared, labels),), None


def square_leaf(rows: Rows, leaf: slice, shared: Round, labels: NDArray[Any]) -> tuple[tuple[float], Floats]:
    """Squared distances of rows to their centres, from differences."""
    return (0.0,), _row_squares(*shared.frame.opened(rows, leaf), shared, labels)


def _inertia(rows: Rows, leaf: slice, shared: Round, labels: NDArray[Any]) -> float:
    return float(rows["weight"][leaf] @ _row_squares(rows, leaf, shared, labels))


def _row_squares(rows: Rows, leaf: slice, shared: Round, labels: NDArray[Any]) -> Floats:
    """Squared distances to centres, of opened rows."""
    table = open_table(rows, shared.frame)
    here = np.arange(labels.size)
    return table.pair_squared_distances(leaf, here, labels.astype(np.intp), shared.centres(table))
