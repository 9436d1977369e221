"""How a view becomes points that can be compared with those of other views: each law once, on plain arrays.

*Words*: weighted as in ``weighting``, along their strongest directions. *Numbers*: ranks, min-max, as they are, roots,
directions. What was learned of a view is a plain dict of arrays, so that it can be saved and new items be put
into the same space: ``kind`` says which of the forms it has. Everything reads a view in blocks, so that one on disk may
be larger than memory; points are float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Matrix, is_sparse
from ..blocks import Workers, row_blocks
from ..errors import ViewError
from ..types import Floats, Mask, Singles
from ._ranks import KNOTS, rank_heights
from .read_back import Factors, counts_of, find_factors
from .weighting import Damping, holders, inverse_frequency, row_bytes, smallest_entry, tf_idf, unit_rows

__all__ = [
    "DENSE_SCALINGS",
    "column_spread",
    "cut_words",
    "learn_dense",
    "learn_points",
    "learn_words",
    "nothing",
    "same_row_sums",
    "signed_root",
    "to_points",
    "words_in",
]

Learned = dict[str, Any]

DENSE_SCALINGS = ("rank", "minmax", "raw", "sqrt", "cos")
_COMPONENTS = 100
_SAMPLE = 100_000  # rows from which the components of words are learned
_FAR = 1e6  # where a new item far outside of everything is put, so that squares stay finite
_IN_MEMORY = 2**30  # bytes of points of a view on disk that are made in memory
_UNHEARD = 1e-6  # strength of a direction of words, of the strongest, below which it holds rounding
_FLAT = {4: 1e-6, 8: 1e-12}  # a column that varies by less, relative to its size, holds rounding: by bytes of a number
_FAINT = 1e-12  # the same of a column beside the others of its view


def column_spread(matrix: Matrix, present: Mask, threads: Workers) -> tuple[Floats, Floats]:
    """The mean and standard deviation of every dense column over the items present; deviation 0 where it is rounding.

    Two passes: the mean, then what is left about it, in units in which squares neither overflow nor vanish.
    """
    width, n_present = int(matrix.shape[1]), max(1, int(np.count_nonzero(present)))
    blocks = row_blocks(matrix.shape[0], 24.0 * max(1, width))
    total, largest = np.zeros((2, width))

    def one(block: slice) -> tuple[Floats, Floats]:
        part = matrix[block][present[block]]
        ends = part.min(axis=0, initial=0.0), part.max(axis=0, initial=0.0)
        return part.sum(axis=0, dtype=np.float64), np.maximum(-ends[0], ends[1])

    for added, large in threads.map(one, blocks):
        total, largest = total + added, np.maximum(largest, large)
    mean = total / n_present
    unit = np.exp2(np.clip(np.frexp(largest)[1], -1000, 1000))  # a power of two: nothing is rounded by it

    def squares(block: slice) -> Floats:
        part = (matrix[block][present[block]] - mean) / unit
        return np.asarray(np.einsum("ij,ij->j", part, part))

    deviation = np.sqrt(sum(threads.map(squares, blocks), np.zeros(width)) / n_present) * unit
    # relative to the column and to the view, so that units do not matter
    varies = deviation > np.maximum(_FLAT[matrix.dtype.itemsize] * np.abs(mean), _FAINT * deviation.max(initial=0.0))
    return mean, np.where(varies & (deviation > np.finfo(np.float64).tiny), deviation, 0.0)


def signed_root(values: Any) -> Floats:
    """The square root of a number's size, with its sign: long tails become shorter."""
    values = np.asarray(values, dtype=np.float64)
    return np.asarray(np.sign(values) * np.sqrt(np.abs(values)))


def same_row_sums(matrix: Matrix, present: Mask) -> bool:
    """Do all rows of a dense view add up to the same number, as proportions do?"""
    if is_sparse(matrix) or matrix.shape[1] < 2:
        return False
    blocks = row_blocks(matrix.shape[0], row_bytes(matrix))
    sums = np.concatenate([matrix[rows][present[rows]].sum(axis=1, dtype=np.float64) for rows in blocks])
    return sums.size > 1 and bool(np.ptp(sums) <= 1e-5 * max(np.abs(sums).max(), 1e-300))


def learn_words(matrix: Matrix, present: Mask) -> Learned:
    """Tf-idf and the 100 leading right singular vectors, strongest first. Never centred. Takes a dense table of counts.

    Words that one item alone has count for nothing. Counts that were weighted already are read back first. Above
    100,000 items the vectors are learned on a sample.
    """
    from sklearn.utils.extmath import randomized_svd

    held = np.flatnonzero(present)
    sample = held
    if held.size > _SAMPLE:
        sample = np.sort(np.random.default_rng(0).choice(held, _SAMPLE, replace=False))
    factors = find_factors(matrix, present)
    learned: Learned = {"kind": "sparse", "counts": factors is not None or smallest_entry(matrix, present) >= 1}
    shared = holders(matrix, present) > 1  # a word that one item has likens it to nobody
    learned["idf"] = np.where(shared, inverse_frequency(matrix, present), 0.0)
    if factors is not None:
        learned |= {"factors": factors.words, "logs": factors.logs}
    weighted = _weigh(learned, matrix[sample])
    weighted = weighted[np.flatnonzero(np.diff(weighted.indptr))]
    n_components = min(_COMPONENTS, *weighted.shape)
    if n_components < 2:  # one item, or one word: nothing to reduce
        learned["components"] = np.eye(weighted.shape[1], min(_COMPONENTS, weighted.shape[1]), dtype=np.float32)
        return learned
    _, strengths, right = randomized_svd(weighted, n_components, n_iter=5, random_state=0)
    told = strengths > _UNHEARD * strengths[0]
    learned["components"] = np.ascontiguousarray(right[told].T, dtype=np.float32)
    return learned


def cut_words(learned: Learned, n_components: int) -> Learned:
    """The space of words along its strongest directions only."""
    return {**learned, "components": np.ascontiguousarray(learned["components"][:, :n_components])}


def learn_points(
    name: str, matrix: Matrix, present: Mask, scaling: str, threads: Workers
) -> tuple[Singles, Mask, Learned]:
    """The points of one view in the space that is learned of it, who has something to say there, and the space.

    ``words`` is for sparse views and dense tables of counts, the others for dense ones: see ``learn_dense``. A view
    that is the same for every item gets zero columns.
    """
    if scaling == "words":
        learned = learn_words(matrix, present)
    elif scaling == "rank" and np.count_nonzero(present) <= _SAMPLE:
        return _rank_points(matrix, present, threads)
    else:
        learned = learn_dense(name, matrix, present, scaling, threads)
    rows, has = to_points(learned, matrix, present, threads)
    if not _varies(rows, has):
        rows, learned = np.zeros((rows.shape[0], 0), dtype=np.float32), nothing()
    return rows, has, learned


def learn_dense(name: str, matrix: Matrix, present: Mask, scaling: str, threads: Workers) -> Learned:
    """How a dense view is scaled; rows then have mean length 1 and mean 0, and constant columns are gone.

    ``rank``: normal quantiles of a column's ranks where it has a long tail, else its own spacing. ``minmax``: every
    column to a range of 2. ``raw``: as it is, constant columns too. ``sqrt``: signed roots. ``cos``: directions seen
    from the middle. Ranks are learned on at most 100,000 items. ``name`` is for errors.
    """
    if scaling == "rank":
        sample = np.flatnonzero(present)
        if sample.size > _SAMPLE:
            sample = np.sort(np.random.default_rng(0).choice(sample, _SAMPLE, replace=False))
        return _rank_points(matrix[sample], np.ones(sample.size, dtype=bool), threads)[2]
    change = _CHANGES.get(scaling, _as_doubles)
    low, high, mean = _ranges(name, matrix, present, change, threads)
    spread = high - low
    moves = spread > 1e3 * float(np.finfo(matrix.dtype).tiny)  # below that a column counts as constant
    keep = np.arange(spread.size) if scaling == "raw" and moves.any() else np.flatnonzero(moves)
    unit = float(np.exp2(np.frexp(spread.max(initial=0.0))[1])) if moves.any() else 1.0  # keeps squares in range
    factor = 2.0 / spread[keep] if scaling == "minmax" else np.full(keep.size, 1.0 / unit)
    learned: Learned = {"kind": "linear", "columns": keep, "shift": mean[keep], "factor": factor}
    if scaling in ("sqrt", "cos"):
        learned["kind"] = scaling
    if scaling == "cos":
        learned |= {"middle": np.zeros(keep.size), "length": 1.0}
        learned["middle"] = _mean_point(learned, matrix, present, threads)
        learned["length"] = _mean_length(learned, matrix, present, threads)
    else:
        learned["factor"] = factor / _mean_length(learned, matrix, present, threads)
    return learned


def nothing() -> Learned:
    """The scaling of a view that says nothing: no columns."""
    return {"kind": "linear", "columns": np.empty(0, dtype=np.intp), "shift": np.empty(0), "factor": np.empty(0)}


def to_points(learned: Learned, matrix: Matrix, present: Mask, threads: Workers) -> tuple[Singles, Mask]:
    """Rows of a view in its learned space (zeros where absent), and who has something to say there.

    Of words an item without any that are known has nothing. Of a view on disk the points may lie on disk too.
    """
    words = learned["kind"] == "sparse"
    width = learned["components"].shape[1] if words else learned["columns"].size
    rows = _room(matrix, width)
    if width == 0:
        return rows, present.copy()
    has = present.copy()

    def block(which: slice) -> None:
        here = np.flatnonzero(present[which]) + which.start
        if here.size:
            found = points_of(learned, matrix[here])
            rows[here] = found
            if words:
                has[here] = found.any(axis=1)

    for _ in threads.map(block, row_blocks(rows.shape[0], 16 * max(width, matrix.shape[1]))):
        pass
    return rows, has


def points_of(learned: Learned, part: Matrix) -> Floats:
    """Some rows, all of them present, in a learned space."""
    if learned["kind"] == "sparse":
        weighted = _weigh(learned, part)
        # Words that no component speaks of leave nothing but rounding.
        return np.asarray(unit_rows(weighted @ learned["components"].astype(np.float64), smallest=1e-6))
    part = part.toarray() if is_sparse(part) else part
    part = part[:, learned["columns"]]
    if learned["kind"] == "ranks":
        values: Floats = part.astype(np.float64)
        for column in range(values.shape[1]):
            values[:, column] = np.interp(values[:, column], learned["knots"][column], learned["heights"][column])
        return values
    with np.errstate(over="ignore"):
        values = (_CHANGES.get(learned["kind"], _as_doubles)(part) - learned["shift"]) * learned["factor"]
        values = np.clip(values, -_FAR, _FAR)
    if learned["kind"] == "cos":
        values = (unit_rows(values) - learned["middle"]) / learned["length"]
    return values


def _as_doubles(values: Any) -> Floats:
    return np.asarray(values, dtype=np.float64)


_CHANGES: dict[str, Callable[[Any], Floats]] = {"sqrt": signed_root}


def words_in(learned: Learned, matrix: Matrix) -> Any:
    """Rows of words before they are weighted: as they came, or the counts that are read back from them."""
    return counts_of(matrix, Factors(learned["factors"], learned["logs"])) if "factors" in learned else matrix


def _weigh(learned: Learned, matrix: Matrix) -> Any:
    damping: Damping = "counts" if learned["counts"] else "weights"
    return tf_idf(words_in(learned, matrix), learned["idf"], damping)


def _rank_points(matrix: Matrix, present: Mask, threads: Workers) -> tuple[Singles, Mask, Learned]:
    held, width = np.flatnonzero(present), int(matrix.shape[1])
    rows = _room(matrix, width)
    knots, heights = np.zeros((2, width, KNOTS))
    varies = np.zeros(width, dtype=bool)

    def columns(which: slice) -> None:
        part = np.ascontiguousarray(matrix[:, which].T[:, held])
        for column, values in enumerate(part, start=which.start):
            found = rank_heights(values)
            if found is not None:
                varies[column] = True
                rows[held, column], knots[column], heights[column] = found

    if held.size:
        size = max(1, min(16, 2**26 // (8 * held.size + 1)))
        for _ in threads.map(columns, [slice(c, min(c + size, width)) for c in range(0, width, size)]):
            pass
    keep = np.flatnonzero(varies)
    if keep.size < width:
        rows = np.ascontiguousarray(rows[:, keep])
    lengths = [
        np.sqrt((rows[block].astype(np.float64) ** 2).sum(axis=1)) for block in row_blocks(rows.shape[0], 8 * width)
    ]
    length = float(np.concatenate(lengths)[held].mean()) if keep.size else 1.0
    rows /= np.float32(length)
    learned = {"kind": "ranks", "columns": keep, "knots": knots[keep], "heights": heights[keep] / length}
    return rows, present.copy(), learned


def _varies(rows: Singles, present: Mask) -> bool:
    if not present.any() or not rows.shape[1]:
        return False
    low, high = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], -np.inf)
    for block in row_blocks(rows.shape[0], 8.0 * rows.shape[1]):
        part = rows[block][present[block]]
        low, high = (
            np.minimum(low, part.min(axis=0, initial=np.inf)),
            np.maximum(high, part.max(axis=0, initial=-np.inf)),
        )
    return float((high - low).max()) >= 1e-6


def _ranges(
    name: str, matrix: Matrix, present: Mask, change: Callable[[Any], Floats], threads: Workers
) -> tuple[Floats, Floats, Floats]:
    """The smallest, the largest and the mean value of every column."""
    width = int(matrix.shape[1])
    low, high, total = np.full(width, np.inf), np.full(width, -np.inf), np.zeros(width)

    def block(which: slice) -> tuple[Floats, Floats, Floats]:
        part = change(matrix[which][present[which]])
        with np.errstate(over="ignore"):
            return part.min(axis=0, initial=np.inf), part.max(axis=0, initial=-np.inf), part.sum(axis=0)

    for lowest, highest, added in threads.map(block, row_blocks(matrix.shape[0], 16.0 * max(1, width))):
        low, high, total = np.minimum(low, lowest), np.maximum(high, highest), total + added
    if not present.any():
        return np.zeros(width), np.zeros(width), np.zeros(width)
    with np.errstate(over="ignore", invalid="ignore"):
        too_wide = ~(high - low < 1e-3 * float(np.finfo(matrix.dtype).max)) | ~np.isfinite(total)
    if too_wide.any():
        column = int(np.flatnonzero(too_wide)[0])
        raise ViewError(
            f"view {name!r}, column {column}, holds values from {low[column]:g} to {high[column]:g}, more than "
            f"{matrix.dtype} can add up. Divide the column by a large number first."
        )
    return low, high, total / np.count_nonzero(present)


def _mean_point(learned: Learned, matrix: Matrix, present: Mask, threads: Workers) -> Floats:
    def block(which: slice) -> Floats:
        return np.asarray(points_of(learned, matrix[which][present[which]]).sum(axis=0))

    total: Floats = np.zeros(learned["columns"].size)
    for part in threads.map(block, row_blocks(matrix.shape[0], 16.0 * max(1, matrix.shape[1]))):
        total += part
    return np.asarray(total / max(1, int(np.count_nonzero(present))))


def _mean_length(learned: Learned, matrix: Matrix, present: Mask, threads: Workers) -> float:
    """The mean length of rows in a space; 1 where all are zero."""

    def block(which: slice) -> float:
        part = points_of(learned, matrix[which][present[which]])
        return float(np.sqrt(np.einsum("ij,ij->i", part, part)).sum())

    total = sum(threads.map(block, row_blocks(matrix.shape[0], 16.0 * max(1, matrix.shape[1]))), 0.0)
    return total / int(np.count_nonzero(present)) if total > 0 else 1.0


def _room(matrix: Matrix, width: int) -> Singles:
    """Zeros for a view's points; in a file without a name where the view lies on disk and they would fill memory."""
    shape = (int(matrix.shape[0]), width)
    if 4 * shape[0] * width <= _IN_MEMORY or not _on_disk(matrix):
        return np.zeros(shape, dtype=np.float32)
    from tempfile import TemporaryFile

    with TemporaryFile(prefix="manyview-") as file:
        return np.memmap(file, np.float32, "w+", shape=shape)


def _on_disk(matrix: Any) -> bool:
    while isinstance(matrix, np.ndarray):
        if isinstance(matrix, np.memmap):
            return True
        matrix = matrix.base
    return False
