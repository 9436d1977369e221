"""The rounds of the accelerated k-means: Lloyd's algorithm, without the distances it does not need.

Every row carries three bounds: its distance to its own centre lies between ``own`` and ``upper``, and no other centre
is nearer than ``lower``. Centres move, bounds widen by as much, and only rows whose bounds have met are looked at
again: by bounds of their own for every centre where that pays, else in panels by BLAS. Labels are always those of
Lloyd's algorithm in float64, ties to the lowest number; sums change by what moved, in an order that depends on labels
alone. So every engine gives the same bits.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...arrays import is_sparse
from ...data.source import RowSource
from ...engines.base import Engine, Plan, cut, total
from ...engines.checkpoint import Checkpoint
from ...types import Floats
from . import _accelerated_kmeans_kernels as kernels
from ._accelerated_bounds import Gates, OwnDistances, PairBounds
from ._accelerated_leaf import (
    Part,
    Round,
    TableFrame,
    add_parts,
    far_leaf,
    inertia_leaf,
    open_table,
    round_leaf,
    square_leaf,
    sum_leaf,
)
from ._accelerated_tables import Table, make_table
from ._robust_assignment import merge_costliest

__all__ = ["Outcome", "PlainTable", "Problem", "assign_rows", "nearest_points", "run_rounds"]

Labels = NDArray[np.int32]
Report = Callable[[int, Callable[[], Labels], float, int, int], None]
"""Round, labels if asked for, inertia, rows moved, distances so far."""

BLOCK_BYTES = 8 * 2**20
MOST_ROWS = 16_384
_NS_PER_PRODUCT = 0.03  # of a row with a centre, in one feature; with a little for each of these, on one core
_NS_PER_NUMBER = 1.5
_TABLE = "view table"
_DIGITS = 1e-6  # an inertia so much smaller than what it is the difference of is added up from differences instead
_TURNOVER = 1e4  # sums are made anew when that many times their size has gone in and out


@dataclass(frozen=True)
class Problem:
    """What stays the same over all rounds and starts. Lengths are in scaled units."""

    source: RowSource
    frame: TableFrame
    table: Table  # the kind of table, without rows
    row_bytes: float
    max_iter: int
    tol: float  # of the summed squared shifts
    relocate: bool  # empty clusters go to the farthest item
    engine: Engine
    checkpoint: Checkpoint

    @cached_property
    def _plans(self) -> dict[int, Plan]:
        return {}

    def plan(self, n_clusters: int) -> Plan:
        """How rows are cut, by the number of centres they are compared with."""
        if n_clusters not in self._plans:
            seconds = 0.25e-9 * self.row_bytes * (_NS_PER_NUMBER + _NS_PER_PRODUCT * n_clusters)
            n_bytes = max(self.row_bytes, BLOCK_BYTES / MOST_ROWS, 2.0 * n_clusters)
            self._plans[n_clusters] = cut(self.source.n_rows, n_bytes, BLOCK_BYTES, seconds)
        return self._plans[n_clusters]


@dataclass(frozen=True)
class PlainTable:
    """One table in memory, with what is remembered about its rows. May be sent to others."""

    source: RowSource
    frame: TableFrame

    @classmethod
    def of(cls, matrix: Any, scale: Floats | None = None, weight: Floats | None = None) -> PlainTable:
        """A dense table in C order is not copied."""
        n_rows, n_features = matrix.shape
        matrix = matrix if is_sparse(matrix) else np.ascontiguousarray(matrix)
        weight = np.ones(n_rows) if weight is None else weight
        scale = np.ones(n_features) if scale is None else scale
        frame = TableFrame((_TABLE,), (0,), (np.zeros(n_features),), None, scale)
        return cls(RowSource({_TABLE: matrix, "mask": np.ones((n_rows, 1), dtype=bool), "weight": weight}), frame)

    @property
    def table(self) -> Table:
        """All rows, read-only."""
        return open_table(self.source.rows(0, self.source.n_rows), self.frame)

    @property
    def matrix(self) -> Any:
        """The same as an array or a CSR matrix."""
        return self.table.matrix

    def placed(self, engine: Engine) -> PlainTable:
        """The same table where the engine's workers find it."""
        return replace(self, source=engine.place(self.source))

    def problem(self, engine: Engine, max_iter: int, tol: float, relocate: bool) -> Problem:
        """What ``run_rounds`` takes, without a checkpoint."""
        matrix, nothing = self.source.columns[_TABLE], Checkpoint(None, engine)
        table = make_table(matrix[:0], self.frame.scale)
        row_bytes = make_table(matrix, self.frame.scale).row_bytes
        return Problem(self.source, self.frame, table, row_bytes, max_iter, tol, relocate, engine, nothing)


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


def run_rounds(
    problem: Problem, first_points: Callable[[], Floats], report: Report | None = None, name: str = "rounds"
) -> Outcome:
    """Lloyd's algorithm from given centres, until no label changes or the centres hardly move.

    Goes on from the point of this name, if the problem's checkpoint has one.
    """
    point = problem.checkpoint.load(name)
    run = _Run(problem, first_points()) if point is None else _Run.restored(problem, *point)
    if not run.is_over:
        _rounds(problem, run, report, name)
        run.is_over = True
        problem.checkpoint.save(name, run.arrays(), run.states or [])
    return Outcome(run.labels(), run.points, run.sums.mass, run.objective, run.n_distances)


def _rounds(problem: Problem, run: _Run, report: Report | None, name: str) -> None:
    """Rounds until the end, from where the run is."""
    table, objective = problem.table, run.objective
    alone = not run.pairs.cheap  # bounds for every pair leave little to the others
    gates, own = Gates(run.n_clusters, problem.source.n_rows, alone), OwnDistances(table, run.n_clusters, alone)
    settled = False
    points, moved = run.points.copy(), np.empty(run.points.shape)
    shift, across = np.empty((2, run.n_clusters))
    for n_round in range(len(objective) + 1, problem.max_iter + 1):
        centres = table.centres(points)
        part = run.round(points)
        run.pairs.count(*part.by_pairs)
        run.squares = part.squares if n_round == 1 else run.squares
        run.n_distances += part.n_distances
        gates.n_saved += part.n_gated
        own.n_tried += part.n_own
        own.n_saved += part.n_saved
        sums = run.sums
        moved[:] = points
        np.divide(sums.total, sums.mass[:, None], out=moved, where=sums.mass[:, None] > 0)
        kernels.measure_moves(sums.total, points, moved, table.scale, shift, across)
        inertia = float(run.squares + sums.mass @ centres.squares - 2 * across.sum())
        objective.append(inertia if inertia > _DIGITS * run.squares else run.inertia(points))
        if report is not None:
            report(n_round, run.labels, objective[-1], part.n_moved, run.n_distances)
        if problem.relocate and not sums.mass.all():
            run.n_distances += run.relocate(points, moved)
            shift = table.lengths(moved - points)
        settled = part.n_moved == 0 and not (problem.relocate and shift.any())
        if settled:
            break
        run.move, extra = gates.move(table, centres, moved, shift, own.again())
        run.pairs.next_round(run.move.shift)
        run.n_distances += extra
        points, moved = moved, points
        if float((shift**2).sum()) <= problem.tol:
            break
        if problem.checkpoint.is_due():
            run.points = points.copy()
            problem.checkpoint.save(name, run.arrays(), run.states or [])
    of_last = None
    if not settled:  # the labels must match the centres
        last = run.round(points, sum_rows=False, add_squares=True)
        run.n_distances += last.n_distances
        of_last = last.inertia
    run.points = points
    objective.append(run.inertia(points) if of_last is None else of_last)


def assign_rows(problem: Problem, points: Floats) -> tuple[Labels, Floats]:
    """The nearest centre of every row, the lowest number on ties, and the squared distances."""
    run = _placed(problem, points)
    return run.labels(), run.row_squares(points)


def nearest_points(problem: Problem, points: Floats) -> Labels:
    """The nearest centre of every row, the lowest number on ties."""
    return _placed(problem, points).labels()


def _placed(problem: Problem, points: Floats) -> _Run:
    """One pass, which needs no bounds for the next: tables may be shared by runs of other numbers of centres."""
    run = _Run(problem, points)
    run.pairs.useful = False
    run.round(points, sum_rows=False)
    return run


class _Sums:
    """What every cluster holds, carried from round to round by what moves in and out."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.total = np.zeros(shape)
        self.mass, self.turnover = np.zeros((2, shape[0]))

    def add(self, part: Part) -> NDArray[np.bool_]:
        """What moved; and which clusters lost much more than they hold: their digits went with it."""
        self.total[part.touched] += part.change
        self.mass = part.mass
        self.turnover += part.turnover
        worn = self.turnover > _TURNOVER * part.held
        self.turnover[worn] = part.held[worn]
        return worn


class _Run:
    """One start: where the items are, what the clusters hold, and the passes over the rows."""

    def __init__(self, problem: Problem, points: Floats) -> None:
        self.problem, self.points, self.n_clusters = problem, points, int(points.shape[0])
        self.objective: list[float] = []
        self.squares, self.n_distances, self.is_over = 0.0, 0, False
        self.plan = problem.plan(self.n_clusters)
        self.pairs = PairBounds(problem.table, self.n_clusters, problem.source.n_rows)
        self.sums = _Sums((self.n_clusters, problem.table.n_features))
        self.states: list[Any] | None = None
        self.move: Any = None
        self._name, self._n_passes = uuid.uuid4().hex, 0
        self._told = Round(problem.frame, points, np.min_scalar_type(-self.n_clusters), run=self._name)

    def arrays(self) -> dict[str, Any]:
        """What a run needs to go on, but for its states. Bounds are found again."""
        return {
            "points": self.points,
            "total": self.sums.total,
            "mass": self.sums.mass,
            "turnover": self.sums.turnover,
            "objective": np.array(self.objective),
            "squares": np.array(self.squares),
            "progress": np.array([self.n_distances, self.is_over], dtype=np.int64),
        }

    @classmethod
    def restored(cls, problem: Problem, kept: dict[str, Any], states: list[Any]) -> _Run:
        run = cls(problem, kept["points"])
        run.states, run.objective, run.squares = states, kept["objective"].tolist(), float(kept["squares"])
        run.sums.total, run.sums.mass, run.sums.turnover = kept["total"], kept["mass"], kept["turnover"]
        run.n_distances, run.is_over = int(kept["progress"][0]), bool(kept["progress"][1])
        return run

    def _tell(self, points: Floats, **more: Any) -> Round:
        self._told = replace(self._told, points=points, **more)
        return self._told

    def _map(self, task: Any, told: Round, combine: Any) -> tuple[Any, list[Any]]:
        problem = self.problem
        return total(problem.engine.map(task, problem.source, self.plan, told, self.states, combine), combine)

    def round(self, points: Floats, sum_rows: bool = True, add_squares: bool = False) -> Part:
        """Label all rows, and bring the sums up to date."""
        self._n_passes += 1
        told = self._tell(
            points,
            name=f"{self._name} {self._n_passes}",
            last_name=f"{self._name} {self._n_passes - 1}",
            move=self.move,
            pairs=self.pairs.told(self.plan.spans[0].leaves[0].stop if self.plan.spans else 1),
            sum_rows=sum_rows,
            add_squares=add_squares,
        )
        before = self.states
        part: Part
        part, self.states = self._map(round_leaf, told, add_parts)
        self.problem.checkpoint.release(before or [])
        if not sum_rows:
            self.sums.mass = part.mass
            return part
        worn = self.sums.add(part)
        if worn.any():
            (anew,), _ = self._map(sum_leaf, self._tell(points, worn=worn), _add_first)
            self.sums.total[worn] = anew[worn]
        return part

    def labels(self) -> Labels:
        read = self.problem.engine.read
        return np.concatenate([read(state) for state in self.states or []]).astype(np.int32)

    def row_squares(self, points: Floats) -> Floats:
        _, states = self._map(square_leaf, self._tell(points), _add_first)
        return np.concatenate([self.problem.engine.read(state) for state in states])

    def inertia(self, points: Floats) -> float:
        (inertia,), _ = self._map(inertia_leaf, self._tell(points), _add_first)
        return float(inertia)

    def relocate(self, points: Floats, moved: Floats) -> int:
        """Put the centre of each empty cluster on the item farthest from its own centre, which gives the item up.

        Returns how many distances that took.
        """
        sums = self.sums
        empty = np.flatnonzero(sums.mass == 0)
        (far, _), _ = self._map(far_leaf, self._tell(points, n_wanted=int(empty.size)), merge_costliest)
        if far.items.size:
            chosen = self.problem.source.take(far.items)
            rows = self.problem.frame.table(chosen).dense_rows(np.arange(far.items.size))
            weight = np.asarray(chosen["weight"])
            moved[empty[: far.items.size]] = rows
            for donor in np.unique(far.labels):
                given = far.labels == donor
                left = sums.mass[donor] - weight[given].sum()
                if left > 0:
                    moved[donor] = (sums.total[donor] - weight[given] @ rows[given]) / left
        return self.problem.source.n_rows


def _add_first(whole: tuple[Any], part: tuple[Any]) -> tuple[Any]:
    return (whole[0] + part[0],)
