"""How a view becomes points that can be compared with those of other views, now and for new items.

What was learned about a view is a plain dict of arrays, so that it can be saved: ``kind`` says which of the three
forms it has.
"""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...arrays import Matrix, is_sparse
from ...blocks import Workers, row_blocks
from ...data.views import Views
from ...types import Floats, Mask, Places
from ..kmeans.scaling import learn_scaling

__all__ = ["apply_scaling", "key_of", "learn_points", "same_row_sums"]

Rows = NDArray[np.float32]

_KNOTS = 512  # points of a feature's distribution kept for new items
_PEAKED = 0.6  # share of an even spread's inner variance below which values count as separate groups
_COMPONENTS = 100
_SAMPLE = 100_000  # rows from which the components of a sparse view are learned
_FAR = 1e6  # where a new item far outside of everything is put, so that squares stay finite


def learn_points(name: str, views: Views, scale: str | None, threads: Workers) -> tuple[Rows, Mask, dict[str, Any]]:
    """The scaled rows of one view (float32; zero where absent), who has it, and what new items need.

    A dense view has rows of mean length 1; a sparse one has unit rows, and items without any entry do not have it.
    A view that is the same for every item gets zero columns.
    """
    matrix, present = views[name], views.present(name)
    if is_sparse(matrix):
        learned = _learn_sparse(matrix, present)
    elif scale == "rank":
        return _learn_ranks(matrix, present, threads)
    else:
        steps = ("minmax", "mean_distance") if scale == "minmax" else "mean_distance"
        scaling = learn_scaling(views[[name]], steps, np.ones(views.n_items), threads)[0]
        keep = np.flatnonzero(scaling.scale > 0) if scaling.varies else np.empty(0, dtype=np.intp)
        learned = {"kind": "linear", "columns": keep, "shift": scaling.mean[keep], "factor": scaling.scale[keep]}
    rows, present = apply_scaling(learned, matrix, present, threads)
    held = rows[present]
    if held.size == 0 or float(np.ptp(held, axis=0).max()) < 1e-6:
        learned = {"kind": "linear", "columns": np.empty(0, dtype=np.intp), "shift": np.empty(0), "factor": np.empty(0)}
        rows = np.zeros((rows.shape[0], 0), dtype=np.float32)
    return rows, present, learned


def apply_scaling(learned: dict[str, Any], matrix: Matrix, present: Mask, threads: Workers) -> tuple[Rows, Mask]:
    """Rows of a view scaled as learned, and which items have something in it."""
    to_points = _sparse_points if learned["kind"] == "sparse" else _dense_points
    width = learned["components"].shape[1] if learned["kind"] == "sparse" else learned["columns"].size
    rows = np.zeros((matrix.shape[0], width), dtype=np.float32)
    if width == 0:
        return rows, present.copy()

    def block(which: slice) -> None:
        here = np.flatnonzero(present[which]) + which.start
        if here.size:
            rows[here] = to_points(learned, matrix[here])

    for _ in threads.map(block, row_blocks(rows.shape[0], 16 * max(width, matrix.shape[1]))):
        pass
    return rows, present & rows.any(axis=1) if learned["kind"] == "sparse" else present.copy()


def _dense_points(learned: dict[str, Any], part: Matrix) -> Floats:
    part = part.toarray() if is_sparse(part) else part
    values = part[:, learned["columns"]].astype(np.float64)
    if learned["kind"] == "linear":
        with np.errstate(over="ignore"):
            return np.clip((values - learned["shift"]) * learned["factor"], -_FAR, _FAR)
    for column in range(values.shape[1]):
        values[:, column] = np.interp(values[:, column], learned["knots"][column], learned["heights"][column])
    return values


def _learn_ranks(matrix: Matrix, present: Mask, threads: Workers) -> tuple[Rows, Mask, dict[str, Any]]:
    """Every feature as normal quantiles of its average ranks, minus their mean; the view to mean row length 1.

    A feature whose values lie in a few separate peaks keeps its spacing, in the range that ranks would have given it.
    """
    from scipy.special import ndtri

    held, width = np.flatnonzero(present), int(matrix.shape[1])
    rows = np.zeros((matrix.shape[0], width), dtype=np.float32)
    knots, heights = np.zeros((2, width, _KNOTS))
    varies = np.zeros(width, dtype=bool)

    def columns(which: slice) -> None:
        part = np.ascontiguousarray(matrix[:, which].T[:, held])
        for column, values in enumerate(part, start=which.start):
            order = np.argsort(values, kind="stable")
            ordered = values[order]
            first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
            if first.size < 2:
                continue
            varies[column] = True
            counts = np.diff(np.r_[first, held.size])
            height = ndtri((first + counts / 2) / held.size)  # the mean rank is first + (counts + 1) / 2
            exact = ordered.astype(np.float64) / float(np.abs(ordered[[0, -1]]).max())
            if in_peaks(exact):  # ranks would close the gap between them
                share = (exact[first] - exact[0]) / (exact[-1] - exact[0])
                height = height[0] + share * (height[-1] - height[0])
            height -= (height @ counts) / held.size
            rows[held[order], column] = np.repeat(height, counts)
            kept = _knots(height)
            kept = np.r_[kept, np.repeat(kept[-1:], _KNOTS - kept.size)]
            knots[column], heights[column] = ordered[first[kept]], height[kept]

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


def _knots(height: Floats) -> Places:
    """Which values of a feature are kept for new items: half of them evenly in number, half evenly in height."""
    even = np.linspace(0, height.size - 1, _KNOTS // 2).round().astype(np.intp)
    tall = np.searchsorted(height, np.linspace(height[0], height[-1], _KNOTS // 2))
    return np.union1d(even, np.minimum(tall, height.size - 1))


def in_peaks(ordered: Floats) -> bool:
    """Do these rising values lie in two or three separate groups, each of at least a twentieth of them (and five)?

    Cut greedily where most variance goes. Values spread evenly leave 1/k^2 of theirs inside k groups, a bell leaves
    more; less than 0.6 of that means that there is little between the groups.
    """
    n_values = ordered.size
    smallest = max(5, -(-n_values // 20))
    within = float(((ordered - ordered.mean()) ** 2).sum())
    total, parts = within, [ordered]
    for n_parts in (2, 3):
        cuts = [_best_cut(part, smallest) for part in parts]
        best = max(range(len(parts)), key=lambda p: cuts[p][0])
        gain, cut = cuts[best]
        if cut == 0:
            return False
        parts[best : best + 1] = [parts[best][:cut], parts[best][cut:]]
        within -= gain
        if within * n_parts**2 < _PEAKED * total:
            return True
    return False


def _best_cut(part: Floats, smallest: int) -> tuple[float, int]:
    """How much variance (as a sum of squares) the best cut of rising values takes away, and where it is; 0: nowhere."""
    n_values = part.size
    if n_values < 2 * smallest or part[0] == part[-1]:
        return 0.0, 0
    left = np.cumsum(part - part.mean())[smallest - 1 : n_values - smallest]
    size = np.arange(smallest, n_values - smallest + 1)
    gains = left**2 * (1.0 / size + 1.0 / (n_values - size))
    best = int(np.argmax(gains))
    return float(gains[best]), smallest + best


def _learn_sparse(matrix: Matrix, present: Mask) -> dict[str, Any]:
    """Tf-idf and the leading right singular vectors. Never centred."""
    from sklearn.utils.extmath import randomized_svd

    held = np.flatnonzero(present)
    stored = matrix[held].tocsr()
    stored.eliminate_zeros()
    counts = bool(stored.nnz == 0 or stored.data.min() >= 1)
    frequency = np.bincount(stored.indices, minlength=matrix.shape[1])
    idf = np.log((1.0 + held.size) / (1.0 + frequency)) + 1.0
    learned = {"kind": "sparse", "counts": counts, "idf": idf}
    weighted = _weighted(learned, stored)
    weighted = weighted[np.flatnonzero(np.diff(weighted.indptr))]
    n_components = min(_COMPONENTS, weighted.shape[0] - 1, weighted.shape[1] - 1)
    if n_components < 1:  # one item, or one word: nothing to reduce
        learned["components"] = np.eye(weighted.shape[1], min(_COMPONENTS, weighted.shape[1]), dtype=np.float32)
        return learned
    if weighted.shape[0] > _SAMPLE:
        sample = np.sort(np.random.default_rng(0).choice(weighted.shape[0], _SAMPLE, replace=False))
        weighted = weighted[sample]
    _, _, right = randomized_svd(weighted, n_components, n_iter=5, random_state=0)
    learned["components"] = np.ascontiguousarray(right.T, dtype=np.float32)
    return learned


def _weighted(learned: dict[str, Any], matrix: Matrix) -> Any:
    """1 + ln of counts, signed ln(1 + |value|) of anything else, times idf, rows to unit length; float64 CSR."""
    from scipy.sparse import csr_matrix

    matrix = csr_matrix(matrix, dtype=np.float64, copy=True)
    matrix.eliminate_zeros()
    size = np.abs(matrix.data)
    # A new item may hold what fit did not: below 1 the logarithm of a count would turn negative.
    damped = 1.0 + np.log(np.maximum(size, 1.0)) if learned["counts"] else np.log1p(size)
    matrix.data = np.sign(matrix.data) * damped * learned["idf"][matrix.indices]
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(matrix.indptr))
    return matrix


def _sparse_points(learned: dict[str, Any], part: Matrix) -> Floats:
    points = np.asarray(_weighted(learned, part) @ learned["components"].astype(np.float64))
    lengths = np.sqrt((points**2).sum(axis=1, keepdims=True))
    # Words that no component speaks of leave nothing but rounding.
    return np.divide(points, lengths, out=np.zeros_like(points), where=lengths > 1e-6)


def key_of(rows: Rows) -> int:
    """A number that depends on what a view holds, not on its name or place. Reads about 1,000 rows."""
    return 1 + crc32(rows[:: max(1, rows.shape[0] // 1_000)].tobytes())


def same_row_sums(matrix: Matrix, present: Mask) -> bool:
    """Do all rows of a dense view add up to the same number, as proportions do?"""
    if is_sparse(matrix) or matrix.shape[1] < 2:
        return False
    sums = np.concatenate(
        [
            matrix[rows][present[rows]].sum(axis=1, dtype=np.float64)
            for rows in row_blocks(matrix.shape[0], 8 * matrix.shape[1])
        ]
    )
    return sums.size > 1 and bool(np.ptp(sums) <= 1e-5 * max(np.abs(sums).max(), 1e-300))
