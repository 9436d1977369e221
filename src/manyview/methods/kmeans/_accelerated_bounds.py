"""Which bounds pay, by counted distances: the paper's second bound, and one bound for every item and centre (Elkan).

All decisions rest on counts and shapes, never on the clock, so that a run does the same work wherever it runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...types import Floats
from ._accelerated_tables import Centres, DenseTable, Table

__all__ = ["Gates", "Move", "OwnDistances", "PairBounds", "Pairs", "share_to_gather"]

MOST_BYTES = 2**30  # of pair bounds
_SCOUTS = 8  # one block in so many tries pair bounds out
_CHEAP = 0.1  # keeping bounds is cheap where it costs less than that part of computing the distances
_WORTH = 0.8  # a visit guided by pair bounds must cost less than that part of one by BLAS
_HOPELESS = 1.2  # costing more than that, those who try them out rest for a while

_ROWS_PER_CENTRE = 32  # with fewer, distances between centres cost more than a few per cent of a round

# What a row costs, in multiplications inside BLAS (one took about 1/54 ns where these were measured).
_ROW = 8000.0  # coming to a row with pair bounds
_SCAN = 80.0  # reading one bound
_KEEP = 54.0  # writing one
_PAIR, _PAIR_FEATURE = 270.0, 3.3  # a distance by itself, and each feature of it
_OWN, _OWN_FEATURE = 1500.0, 19.0  # the same in float64
_GATHER, _GATHER_FEATURE = 800.0, 20.0  # copying a row


@dataclass(frozen=True)
class Move:
    """How the centres moved since the bounds were made."""

    shift: Floats
    other_shift: Floats
    gate: Floats
    own_distances: bool  # are they worth trying?


class _Trial:
    """Use something while it pays. When it does not, let it rest, twice as long each time, and try again."""

    def __init__(self, allowed: bool, rest: int) -> None:
        self.used = False
        self._rest = 0 if allowed else 10**9
        self._first_rest = self._next_rest = rest

    def again(self, gain: float, cost: float) -> bool:
        """Is it to be used in the next round, after what it gained and cost in the last?"""
        if self.used and gain < cost:
            self._rest, self._next_rest = self._next_rest, 2 * self._next_rest
        elif self.used:
            self._next_rest = self._first_rest
        self.used = self._rest == 0
        self._rest -= not self.used
        return self.used


class OwnDistances:
    """An exact distance to the own centre saves many rows from being compared with all; or it does not."""

    def __init__(self, table: Table, n_clusters: int, allowed: bool) -> None:
        self.n_tried = self.n_saved = 0
        self._gain = float(n_clusters * table.n_features)
        self._cost = _OWN + _OWN_FEATURE * table.n_features
        self._trial = _Trial(allowed and self._gain > self._cost, rest=1)

    def again(self) -> bool:
        """Are they worth trying in the next round?"""
        used = self._trial.again(self.n_saved * self._gain, self.n_tried * self._cost)
        self.n_tried = self.n_saved = 0
        return used


def share_to_gather(table: Table, n_clusters: int) -> float:
    """Up to this share of open rows in a block, gathering them costs less than taking all."""
    by_blas = float(n_clusters * table.n_features)
    return by_blas / (by_blas + _GATHER + _GATHER_FEATURE * table.n_features)


class Gates:
    """The paper's second bound, for as long as it saves more distances than it costs.

    A row nearer to its old centre than ``gate = min_f |c_old - c_new_f| / 2 - shift / 2`` keeps its label. That never
    lets pass less than the first bound, so the first is left out. Where it saved less than the K (K - 1) distances
    between centres, it rests, twice as long each time.
    """

    def __init__(self, n_clusters: int, n_rows: int, allowed: bool) -> None:
        self.n_saved = 0
        self._trial = _Trial(allowed and 1 < n_clusters <= n_rows // _ROWS_PER_CENTRE, rest=4)

    def move(self, table: Table, centres: Centres, points: Floats, shift: Floats, own: bool) -> tuple[Move, int]:
        """The bounds for the next round; and how many distances between centres they took."""
        n_clusters = shift.size
        wide = shift * table.wider
        others = np.full(n_clusters, wide.max() if n_clusters > 1 else 0.0)
        if n_clusters > 1:
            largest = int(np.argmax(wide))
            others[largest] = np.delete(wide, largest).max()
        used = self._trial.again(self.n_saved, n_clusters - 1)
        self.n_saved = 0
        if not used:
            return Move(wide, others, np.full(n_clusters, -np.inf), own), 0
        gaps = _least_gaps(table, centres, points)
        return Move(wide, others, 0.5 * (gaps - wide), own), n_clusters * (n_clusters - 1)


def _least_gaps(table: Table, centres: Centres, points: Floats) -> Floats:
    """At most the distance of each old centre to the nearest new one of another cluster."""
    new = points * table.scale
    error = (table.n_features + 8) * 2 * float(np.finfo(np.float64).eps)
    squares = (1 - error) * (centres.squares[:, None] + np.einsum("kj,kj->k", new, new))
    new *= table.scale
    squares -= 2 * (centres.points @ new.T)
    np.fill_diagonal(squares, np.inf)
    return np.sqrt(np.maximum(squares.min(axis=1), 0.0)) / table.wider


@dataclass(frozen=True)
class Pairs:
    """What is told to those who keep the bounds of rows: see ``PairBounds``."""

    active: bool = False
    most: int = 0
    now: int = 0
    drift: NDArray[np.float32] | None = None
    epoch: int = 0  # bounds of another one are forgotten
    everywhere: bool = False
    early: bool = False
    leaf_rows: int = 1

    def keeps(self, number: int) -> bool:
        """Are the bounds of a leaf of that number to be kept in this round?"""
        return self.active and not self.early and (self.everywhere or number % _SCOUTS == 0)


class PairBounds:
    """A lower bound for every item and centre, kept for the items that were last compared with all centres.

    A bound of round t still holds later, less what its centre has moved since, so nothing is rewritten when centres
    move. Where tables are so wide that keeping them costs little, all blocks do, from the start; elsewhere one block in
    eight, and the others when a visit guided by bounds costs clearly less than one by BLAS. While it costs clearly
    more, nobody keeps them, for twice as many rounds each time.
    """

    def __init__(self, table: Table, n_clusters: int, n_rows: int) -> None:
        self._by_blas = float(n_clusters * table.n_features)
        self._visit = _ROW + _SCAN * n_clusters
        self._pair = _PAIR + _PAIR_FEATURE * table.n_features
        fits = n_rows * n_clusters * 4 <= MOST_BYTES
        self.useful = fits and isinstance(table, DenseTable) and self._visit < _WORTH * self._by_blas
        self.most = int(self._by_blas / self._pair)  # so many pairs cost as much as all by BLAS
        self.now = 0
        self.cheap = self.useful and _KEEP < _CHEAP * table.n_features
        self.everywhere = self.cheap
        self._moved = [np.zeros(n_clusters)]
        self.drift: NDArray[np.float32] = np.zeros((1, n_clusters), dtype=np.float32)
        self._epoch = 0
        self._rows = self._distances = self._by_rest = 0
        self._rest, self._next_rest = 0, 1

    def told(self, leaf_rows: int) -> Pairs:
        """What the tasks of this round have to know."""
        if not self.useful or self._rest:
            return Pairs()
        early = self.now == 0 and not self.cheap  # then centres are about to go far
        return Pairs(True, self.most, self.now, self.drift, self._epoch, self.everywhere, early, leaf_rows)

    def next_round(self, shift: Floats) -> None:
        """Carry on to centres that moved; decide from the last round who keeps bounds in the next."""
        if not self.useful:
            return
        self._rest = max(0, self._rest - 1)
        if self._rows:
            cost = self._rows * self._visit + self._distances * self._pair + self._by_rest * self._by_blas
            share = cost / (self._rows * self._by_blas)
            self.everywhere = self.cheap or share < _WORTH
            if share > _HOPELESS and not self.cheap:
                self._rest, self._next_rest = self._next_rest, 2 * self._next_rest
                self._epoch += 1  # old bounds are no better later on
            else:
                self._next_rest = 1
        self._rows = self._distances = self._by_rest = 0
        self.now += 1
        self._moved.append(self._moved[-1] + shift)
        self.drift = ((self._moved[-1] - np.array(self._moved)) * (1 + 4e-7)).astype(np.float32)

    def count(self, n_rows: int, n_settled: int, n_distances: int) -> None:
        """What bounds did for rows that had them."""
        self._rows += n_rows
        self._by_rest += n_rows - n_settled
        self._distances += n_distances
