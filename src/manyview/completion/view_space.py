"""A view as the completion sees it: rows of length one, and features of a kernel on some landmark items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, is_sparse
from ..blocks import Workers, row_blocks
from ..data.read_back import Factors, counts_of, find_factors
from ..data.spaces import column_spread
from ..types import Floats, Ints, Singles

__all__ = ["ViewSpace", "fit_kernel", "open_view", "speaking", "unit_rows"]


_WIDTH_SAMPLE = 2_000
_MEAN_SAMPLE = 2_000
_SMALLEST_EIGENVALUE = 1e-4
_LEAST = 1e-6  # of the largest deviation of a view, added to each: what hardly varies is not blown up


@dataclass(frozen=True)
class ViewSpace:
    """What ``fit`` learned of one view, and the unit rows of the items of ``fit``.

    ``units`` holds a row of length one per item (zeros where an item lacks the view, or where its row says
    nothing), ``landmarks`` the rows of the landmark items, ``basis`` turns similarities to them into features whose
    inner products are the kernel, and ``centre`` is the mean of those features.
    """

    name: str
    shift: Floats
    scale: Floats
    units: Matrix
    has: NDArray[np.bool_]
    landmarks: Ints
    width: float
    basis: Singles
    centre: Singles
    factors: tuple[Any, ...] | None = None
    """Those of a sparse view that came weighted (``Factors``); None where it is taken as it is."""

    @property
    def n_features(self) -> int:
        return int(self.basis.shape[1])

    def new_units(self, matrix: Matrix, present: NDArray[np.bool_]) -> Matrix:
        """Unit rows of items that were not in ``fit``."""
        return unit_rows(matrix, present, self.shift, self.scale, self.factors)

    def features(self, units: Matrix) -> Singles:
        """Centred kernel features of some unit rows; a row of zeros where there is no evidence."""
        if not self.n_features:
            return np.zeros((units.shape[0], 0), dtype=np.float32)
        return self.features_by(self.cosines(units), speaking(units))

    def features_by(self, cosines: Singles, speaks: NDArray[np.bool_]) -> Singles:
        """The same from the cosines with the landmarks, which are overwritten, and whether each row says anything."""
        found = _kernel(cosines, self.width) @ self.basis
        found -= self.centre
        found[~speaks] = 0.0
        return found

    def cosines(self, units: Matrix) -> Singles:
        """Of some unit rows with the landmarks: (n_rows, n_landmarks)."""
        found = units @ self.units[self.landmarks].T
        return np.asarray(found.toarray() if is_sparse(found) else found, dtype=np.float32)


def open_view(
    name: str,
    matrix: Matrix,
    present: NDArray[np.bool_],
    n_landmarks: int,
    rng: np.random.Generator,
    threads: Workers,
) -> ViewSpace:
    """Unit rows of one view, and which of them are landmarks; no kernel yet. Takes n x d single floats."""
    shift, scale = _column_statistics(matrix, present, threads)
    factors = find_factors(matrix, present) if is_sparse(matrix) else None
    units = unit_rows(matrix, present, shift, scale, factors)
    has = speaking(units)
    able = np.flatnonzero(has)
    landmarks = np.sort(rng.choice(able, size=min(n_landmarks, able.size), replace=False)).astype(np.int64)
    none = np.zeros((landmarks.size, 0), dtype=np.float32)
    return ViewSpace(name, shift, scale, units, has, landmarks, 1.0, none, none[:0].ravel(), factors)


def fit_kernel(space: ViewSpace, seen: Singles | None, rng: np.random.Generator, threads: Workers) -> ViewSpace:
    """The same with features of the kernel. Takes O(n (d + M)) time per feature.

    ``seen`` are the cosines of all items with the landmarks where they are at hand, else None.
    """
    if not space.landmarks.size:
        return space
    able, landmarks = np.flatnonzero(space.has), space.landmarks

    def cosines(rows: Ints) -> Singles:
        return space.cosines(space.units[rows]) if seen is None else seen[rows]

    sample = able if able.size <= _WIDTH_SAMPLE else rng.choice(able, size=_WIDTH_SAMPLE, replace=False)
    median = float(np.median(_squared_distances(cosines(sample))))
    width = 2.0 * median if median > 0 else 1.0
    basis = _whitening(_kernel(cosines(landmarks), width))
    # The exact mean up to 2,000 items; beyond, a sample: the intercept of the ridge absorbs the difference.
    rows = able if able.size <= _MEAN_SAMPLE else np.sort(rng.choice(able, size=_MEAN_SAMPLE, replace=False))

    def total(block: slice) -> Floats:
        return _kernel(cosines(rows[block]), width).sum(axis=0, dtype=np.float64)

    mean = sum(threads.map(total, row_blocks(rows.size, 8.0 * landmarks.size)), np.zeros(landmarks.size)) / rows.size
    return replace(space, width=width, basis=basis, centre=(mean @ basis).astype(np.float32))


def unit_rows(
    matrix: Matrix,
    present: NDArray[np.bool_],
    shift: Floats,
    scale: Floats,
    factors: tuple[Any, ...] | None = None,
) -> Matrix:
    """Rows of length one in single precision: tf-idf rows of a sparse view, standardised rows of a dense one.

    With ``factors`` a sparse view is tf-idf already, and is read back first: it would be weighted twice.
    """
    if not is_sparse(matrix):
        return _dense_units(matrix, present, shift, scale)
    return _sparse_units(matrix if factors is None else counts_of(matrix, Factors(*factors)), present, scale)


def _sparse_units(matrix: Matrix, present: NDArray[np.bool_], scale: Floats) -> Matrix:
    from scipy.sparse import csr_matrix

    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    values = _damped(matrix.data) * scale[matrix.indices] * present[row]
    length = np.sqrt(np.bincount(row, weights=values**2, minlength=matrix.shape[0]))
    values /= np.where(length > 0, length, 1.0)[row]
    return csr_matrix((values.astype(np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)


def _damped(values: NDArray[Any]) -> Floats:
    """log(1 + x), continued to negative values."""
    doubles = values.astype(np.float64)
    return np.sign(doubles) * np.log1p(np.abs(doubles))


def _dense_units(matrix: Matrix, present: NDArray[np.bool_], shift: Floats, scale: Floats) -> Singles:
    units = np.zeros(matrix.shape, dtype=np.float32)
    for block in row_blocks(matrix.shape[0], 8.0 * matrix.shape[1]):
        here = block if present[block].all() else np.flatnonzero(present[block]) + block.start
        values = matrix[here].astype(np.float64)
        values -= shift
        values *= scale
        length = np.sqrt(np.einsum("ij,ij->i", values, values))
        values /= np.where(length > 0, length, 1.0)[:, None]
        units[here] = values
    return units


def _column_statistics(matrix: Matrix, present: NDArray[np.bool_], threads: Workers) -> tuple[Floats, Floats]:
    """What is subtracted from each column, and what multiplies it: idf where sparse, 1 / deviation where dense."""
    n_features, n_present = matrix.shape[1], int(present.sum())
    if is_sparse(matrix):
        row = np.repeat(present, np.diff(matrix.indptr))
        occurrences = np.bincount(matrix.indices[row & (matrix.data != 0)], minlength=n_features)
        return np.zeros(n_features), np.log((n_present + 1) / (occurrences + 1)) + 1.0
    mean, deviation = column_spread(matrix, present, threads)
    above = deviation + _LEAST * deviation.max(initial=0.0)
    return mean, np.divide(1.0, above, out=np.zeros(n_features), where=deviation > 0)


def speaking(units: Matrix) -> NDArray[np.bool_]:
    """Which rows are not empty."""
    if is_sparse(units):
        filled: NDArray[np.bool_] = np.diff(units.indptr) > 0
        if filled.any():
            largest = np.zeros(units.shape[0])
            largest[filled] = np.maximum.reduceat(np.abs(units.data), units.indptr[:-1][filled])
            filled = largest > 0
        return filled
    return np.asarray(np.any(units != 0, axis=1))


def _squared_distances(cosines: Singles) -> Singles:
    """Of unit rows, in the place of their cosines."""
    cosines *= -2.0
    cosines += 2.0
    return np.maximum(cosines, 0.0, out=cosines)


def _kernel(cosines: Singles, width: float) -> Singles:
    """In the place of the cosines."""
    values = _squared_distances(cosines)
    values /= np.float32(-width)
    return np.exp(values, out=values)


def _whitening(block: Singles) -> Singles:
    """E diag(e^-1/2) of the kernel between landmarks, without directions that are mere rounding."""
    values, vectors = np.linalg.eigh(block.astype(np.float64))
    kept = values > _SMALLEST_EIGENVALUE * values[-1]
    return np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept]), dtype=np.float32)
