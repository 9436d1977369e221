"""The rounds of the accelerated k-means: Lloyd's algorithm, without the distances it does not need.

Every row carries three bounds: its distance to its own centre lies between ``own`` and ``upper``, and no other centre
is nearer than ``lower``. Centres move, bounds widen by as much, and only rows whose bounds have met are looked at
again: by bounds of their own for every centre where that pays, else in panels by BLAS. Labels are always those of
Lloyd's algorithm in float64, ties to the lowest number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...blocks import Workers, row_blocks
from ...types import Floats, Places
from . import _accelerated_kmeans_kernels as kernels
from ._accelerated_bounds import Gates, Move, OwnDistances, PairBounds, share_to_gather
from ._accelerated_tables import Centres, Table
from ._robust_kmeans_kernels import settle

__all__ = ["Outcome", "Problem", "assign_rows", "run_rounds"]

Labels = NDArray[np.int32]
Report = Callable[[int, Labels, float, int, int], None]  # round, labels, inertia, rows moved, distances so far

BLOCK_BYTES = 8 * 2**20
MOST_ROWS = 16_384
_PANEL_BYTES = 2**20  # of products, so that they stay in the processor's own cache
_MOST_DOUBTS = 2**20  # pairs of row and centre that are decided together
_TIE = 1e-11  # squared distances that differ by less, relative, are compared digit by digit
_TURNOVER = 1e4  # sums are made anew when that many times their size has gone in and out


@dataclass(frozen=True)
class Problem:
    """What stays the same over all rounds and starts. Lengths are in scaled units."""

    table: Table
    weight: Floats
    max_iter: int
    tol: float  # of the summed squared shifts
    relocate: bool  # empty clusters go to the farthest item
    workers: Workers


@dataclass
class Outcome:
    """Where one start ended."""

    labels: Labels
    points: Floats
    mass: Floats
    objective: list[float]  # per round, then the last labels and points, from differences
    n_distances: int

    @property
    def inertia(self) -> float:
        return self.objective[-1]

    @property
    def n_iter(self) -> int:
        return len(self.objective) - 1


class _State(NamedTuple):
    """What is known about every row, in the order in which kernels take it."""

    labels: Labels
    upper: Floats
    own: Floats
    lower: Floats

    @classmethod
    def unknown(cls, n_rows: int) -> _State:
        return cls(np.full(n_rows, -1, dtype=np.int32), *(np.empty(n_rows) for _ in range(3)))

    def block(self, rows: slice) -> _State:
        return _State(self.labels[rows], self.upper[rows], self.own[rows], self.lower[rows])


@dataclass
class _Part:
    """What one block contributes to a round: who moved, where to, and what it cost."""

    rows: Places
    old: Labels
    sums: Floats | None
    n_distances: int = 0
    n_gated: int = 0  # rows that only the gate saved
    n_own: int = 0  # rows whose own distance was computed
    n_saved: int = 0  # and those of them that this saved
    by_pairs: tuple[int, int, int] = (0, 0, 0)  # rows with pair bounds, those settled, distances that took


def run_rounds(problem: Problem, points: Floats, report: Report | None = None) -> Outcome:
    """Lloyd's algorithm from given centres, until no label changes or the centres hardly move."""
    run = _Run(problem, points.shape[0])
    table, sums = problem.table, _Sums(problem, points.shape[0])
    alone = not run.pairs.cheap  # bounds for every pair leave little to the others
    gates, own = Gates(points.shape[0], problem.weight.size, alone), OwnDistances(table, points.shape[0], alone)
    squares = float(problem.weight @ table.norms(slice(None)) ** 2)
    objective: list[float] = []
    n_distances, move, settled = 0, None, False
    points, moved = points.copy(), np.empty(points.shape)
    shift, across = np.empty((2, points.shape[0]))
    for n_round in range(1, problem.max_iter + 1):
        centres = table.centres(points)
        n_moved = 0
        for part in run.round(centres, move):
            n_moved += part.rows.size
            n_distances += part.n_distances
            gates.n_saved += part.n_gated
            own.n_tried += part.n_own
            own.n_saved += part.n_saved
            sums.add(part, run.state.labels)
        sums.keep_digits(run.state.labels)
        moved[:] = points
        np.divide(sums.total, sums.mass[:, None], out=moved, where=sums.mass[:, None] > 0)
        kernels.measure_moves(sums.total, points, moved, table.scale, shift, across)
        objective.append(max(0.0, float(squares + sums.mass @ centres.squares - 2 * across.sum())))
        if report is not None:
            report(n_round, run.state.labels, objective[-1], n_moved, n_distances)
        if problem.relocate and not sums.mass.all():
            n_distances += _relocate(problem, run.state, sums, centres, moved)
            shift = table.lengths(moved - points)
        settled = n_moved == 0 and not (problem.relocate and shift.any())
        if settled:
            break
        move, extra = gates.move(table, centres, moved, shift, own.again())
        run.pairs.next_round(move.shift)
        n_distances += extra
        points, moved = moved, points
        if float((shift**2).sum()) <= problem.tol:
            break
    if not settled:  # the labels must match the centres
        centres = table.centres(points)
        n_distances += sum(part.n_distances for part in run.round(centres, move, sum_rows=False))
        sums.weigh(run.state.labels)
    objective.append(_inertia(problem, run.state.labels, centres))
    return Outcome(run.state.labels, points, sums.mass, objective, n_distances)


def assign_rows(table: Table, points: Floats, workers: Workers) -> Labels:
    """The nearest centre of every row, the lowest number on ties."""
    run = _Run(Problem(table, np.ones(table.present.size), 1, 0.0, False, workers), points.shape[0])
    for _ in run.round(table.centres(points), None, sum_rows=False):
        pass
    return run.state.labels


def _blocks(table: Table, n_clusters: int) -> list[slice]:
    row_bytes = max(table.row_bytes, BLOCK_BYTES / MOST_ROWS, 2.0 * n_clusters)
    return row_blocks(table.present.size, row_bytes, BLOCK_BYTES)


class _Room:
    """Memory for one thread's visits, kept for the whole run: making it anew each time costs more than filling it."""

    def __init__(self, table: Table, centres: Centres) -> None:
        n_clusters, dtype = centres.half.size, centres.half.dtype
        self.size = max(256, min(4096, _PANEL_BYTES // (n_clusters * dtype.itemsize)))
        self.products = np.empty(n_clusters * self.size, dtype=dtype)
        self.panel = table.panel(self.size, n_clusters)
        self.values = np.empty((2, self.size), dtype=dtype)
        self.label = np.empty(self.size, dtype=np.int32)
        self.doubts = np.empty((2, n_clusters * self.size), dtype=np.intp)
        self.row = np.empty(n_clusters, dtype=dtype), np.empty(n_clusters, dtype=np.intp)


class _Run:
    """One start: what is known about the rows, and the work of a round on a block of them."""

    def __init__(self, problem: Problem, n_clusters: int) -> None:
        self.problem, self.table = problem, problem.table
        self.state = _State.unknown(problem.weight.size)
        self.pairs = PairBounds(self.table, n_clusters)
        self.blocks = _blocks(self.table, n_clusters)
        self._to_gather = share_to_gather(self.table, n_clusters)
        self._rooms: list[_Room] = []  # of threads that are done with a block

    def round(self, centres: Centres, move: Move | None, sum_rows: bool = True) -> Iterator[_Part]:
        """What each block contributes, in order."""

        def step(rows: slice) -> _Part:
            state = self.state.block(rows)
            old = state.labels.copy()
            room = self._rooms.pop() if self._rooms else _Room(self.table, centres)
            part = _Part(np.empty(0, dtype=np.intp), old, None)
            which = self._rows_to_visit(state, rows, centres, move, room, part)
            if which.size:
                self._visit(state, rows, which, centres, room, part)
            self._rooms.append(room)
            changed = np.flatnonzero(old != state.labels)
            part.rows, part.old = changed + rows.start, old[changed]
            if sum_rows and changed.size >= centres.half.size:  # fewer are cheaper to add one by one
                part.sums = np.zeros_like(centres.points)
                _exchange(self.problem, part.rows, part.old, state.labels[changed], part.sums)
            return part

        for part in self.problem.workers.map(step, self.blocks):
            self.pairs.count(*part.by_pairs)
            yield part

    def _rows_to_visit(
        self, state: _State, rows: slice, centres: Centres, move: Move | None, room: _Room, part: _Part
    ) -> Places:
        """Rows of a block that must be compared with all centres; the bounds settle the others."""
        table, n_rows = self.table, state.labels.size
        if move is None:
            return np.arange(n_rows)
        which, tighten = np.empty(n_rows, dtype=np.intp), np.empty(n_rows, dtype=bool)
        n_open, part.n_gated = kernels.open_rows(*state, move.shift, move.other_shift, move.gate, which, tighten)
        tighten = tighten[:n_open]
        near = which[:n_open][tighten] if move.own_distances else which[:0]
        if near.size:
            squares = table.pair_squared_distances(rows, near, state.labels[near].astype(np.intp), centres)
            n_left = kernels.still_open(*state, move.gate, which, tighten, squares, table.wider)
            part.n_own, part.n_saved = near.size, n_open - n_left
            part.n_distances += near.size
            n_open = n_left
        bounds = self.pairs.block(rows)
        if n_open and bounds is not None:
            lengths = (table.norms(rows), centres.squares, table.error, table.wider)
            told = (self.pairs.most, self.pairs.drift, *bounds)
            n_left, n_tried, n_settled, n_computed = kernels.visit_by_pair_bounds(
                table.matrix[rows], centres.folded, centres.half, *lengths, *told, which[:n_open], *room.row, *state
            )
            n_open = n_left
            part.n_distances += n_computed
            part.by_pairs = (n_tried, n_settled, n_computed)
        return np.arange(n_rows) if n_open > self._to_gather * n_rows else which[:n_open]

    def _visit(self, state: _State, rows: slice, which: Places, centres: Centres, room: _Room, part: _Part) -> None:
        """Compare rows of a block with all centres: labels and fresh bounds."""
        table, n_clusters = self.table, centres.half.size
        norms, squares, error = table.norms(rows), centres.squares, table.error
        whole = which.size == state.labels.size
        bounds = self.pairs.block(rows) if self.pairs.keeps(rows.start // self.blocks[0].stop) else None
        part.n_distances += which.size * n_clusters
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
                kernels.keep_pair_bounds(products, centres.half, panel, norms, error, self.pairs.now, *bounds)
            if n_doubts > _MOST_DOUBTS or (doubts and start + m == which.size):
                rows_in_doubt, clusters = np.concatenate(doubts, axis=1)
                _decide(table, state, rows, rows_in_doubt, clusters, centres)
                part.n_distances += n_doubts
                doubts, n_doubts = [], 0


def _exchange(problem: Problem, rows: Places, old: Labels, new: Labels, sums: Floats) -> None:
    """Take rows out of the sums of their old clusters and put them into the new ones."""
    problem.table.add_rows(rows, new, problem.weight, 1.0, sums)
    left = old >= 0
    problem.table.add_rows(rows[left], old[left], problem.weight, -1.0, sums)


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


class _Sums:
    """What every cluster holds, carried from round to round by what moves in and out."""

    def __init__(self, problem: Problem, n_clusters: int) -> None:
        self._problem = problem
        self.total = np.zeros((n_clusters, problem.table.n_features))
        self.mass = np.zeros(n_clusters)
        self._size = problem.weight * problem.table.norms(slice(None))
        self._turnover = np.zeros(n_clusters)

    def add(self, part: _Part, labels: Labels) -> None:
        if part.sums is not None:
            self.total += part.sums
        elif part.rows.size:
            _exchange(self._problem, part.rows, part.old, labels[part.rows], self.total)
        n_clusters, sizes, left = self.mass.size, self._size[part.rows], part.old >= 0
        self._turnover += np.bincount(labels[part.rows], sizes, n_clusters)
        self._turnover += np.bincount(part.old[left], sizes[left], n_clusters)

    def weigh(self, labels: Labels) -> None:
        self.mass = np.bincount(labels, self._problem.weight, self.mass.size).astype(np.float64)

    def keep_digits(self, labels: Labels) -> None:
        """Weigh the clusters, and add up anew those that lost much more than they hold: their digits went with it."""
        self.weigh(labels)
        held = np.bincount(labels, self._size, self.mass.size)
        worn = self._turnover > _TURNOVER * held
        if worn.any():
            rows = np.flatnonzero(worn[labels])
            self.total[worn] = 0.0
            self._problem.table.add_rows(rows, labels[rows], self._problem.weight, 1.0, self.total)
            self._turnover[worn] = held[worn]


def _relocate(problem: Problem, state: _State, sums: _Sums, centres: Centres, points: Floats) -> int:
    """Put the centre of each empty cluster on the item farthest from its own centre, which gives the item up.

    Returns how many distances that took.
    """
    squares = _row_squares(problem.table, slice(0, state.labels.size), state.labels, centres)
    squares[problem.weight == 0] = 0.0
    empty = np.flatnonzero(sums.mass == 0)
    farthest = np.argsort(-squares, kind="stable")[: empty.size]
    farthest = farthest[squares[farthest] > 0]
    rows, weight, donors = problem.table.dense_rows(farthest), problem.weight[farthest], state.labels[farthest]
    points[empty[: farthest.size]] = rows
    for donor in np.unique(donors):
        given = donors == donor
        left = sums.mass[donor] - weight[given].sum()
        if left > 0:
            points[donor] = (sums.total[donor] - weight[given] @ rows[given]) / left
    return int(state.labels.size)


def _row_squares(table: Table, rows: slice, labels: Labels, centres: Centres) -> Floats:
    here = np.arange(rows.stop - rows.start)
    return table.pair_squared_distances(rows, here, labels[rows].astype(np.intp), centres)


def _inertia(problem: Problem, labels: Labels, centres: Centres) -> float:
    def block(rows: slice) -> float:
        return float(problem.weight[rows] @ _row_squares(problem.table, rows, labels, centres))

    return sum(problem.workers.map(block, _blocks(problem.table, centres.half.size)))
