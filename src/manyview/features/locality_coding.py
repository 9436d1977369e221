"""Locality-constrained linear coding over a spatial pyramid (LLC and SPM): pictures as rows for linear methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..blocks import workers
from ..data.checks import check_number
from ..data.nearest import largest
from ..data.parameters import Constraints, Given, Number
from ..errors import ParameterError, ViewError
from .coding import CodeBook, Described

__all__ = ["LocalityCoding", "local_codes", "pooled"]

_TILE = 2**18  # distances of a tile stay in the cache


class LocalityCoding(CodeBook):
    """Pictures as codes of their small patterns, pooled over the whole, its quarters and its sixteenths.

    Every local SIFT descriptor is written as a sum of its nearest words of a code book, and each cell of a pyramid over
    the picture keeps the largest share of every word. Choose it over ``BagOfWords`` for methods that compare rows by
    inner products or distances (``CanonicalFusion``, k-means): where a pattern lies counts, and rows are dense and of
    unit length.

    Parameters
    ----------
    n_words : int, default=1024
        Size of the code book.
    n_neighbors : int, default=5
        Words that a descriptor is written in.
    pyramid : numbers, default=(1, 2, 4)
        Cells along each side, level by level: 1 + 4 + 16 cells.
    ridge : float above 0, default=1e-4
        Keeps the small systems solvable, as a share of their trace.
    points : "dense" or "interest", default="dense"
    step : int, default=8
    cell_widths : numbers, default=(4, 6, 8)
    max_side : int or None, default=256
    max_descriptors : int, default=100_000
    random_state : None, int or numpy Generator
    n_jobs : None or int
    verbose : int, default=0
        These, from ``points`` on, as in ``BagOfWords``.

    Attributes
    ----------
    words_ : ndarray float32 (n_words, 128), the code book
    n_descriptors_ : int, how many were seen in ``fit``

    Notes
    -----
    A picture takes O(n_descriptors n_words) for the distances, one matrix product. A row has n_words times the number
    of cells as columns: 86 kB at the default, 344 MB for 4,000 pictures. ``stream`` gives rows one by one, for
    collections whose rows do not fit in memory. Pictures are as in ``BagOfWords``; a tuple of descriptors (n, size) and
    positions (n, 2), shares of width and height, may stand for one.

    J. Wang and others, "Locality-constrained linear coding for image classification", CVPR 2010, with the analytical
    solution; S. Lazebnik and others, "Beyond bags of features", CVPR 2006, without weights of the levels.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import LocalityCoding
    >>> pictures = np.random.default_rng(0).integers(0, 256, (6, 64, 64), dtype=np.uint8)
    >>> LocalityCoding(n_words=10, random_state=0).fit_transform(pictures).shape
    (6, 210)
    """

    _constraints: ClassVar[Constraints] = {
        **CodeBook._constraints,
        "n_neighbors": Number(integer=True, low=1),
        "pyramid": Given("one or several integers of at least 1"),
        "ridge": Number(low=0, low_open=True),
    }

    def __init__(
        self,
        n_words: int = 1024,
        *,
        n_neighbors: int = 5,
        pyramid: Any = (1, 2, 4),
        ridge: float = 1e-4,
        points: str = "dense",
        step: int = 8,
        cell_widths: Any = (4, 6, 8),
        max_side: int | None = 256,
        max_descriptors: int = 100_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_words = n_words
        self.n_neighbors = n_neighbors
        self.pyramid = pyramid
        self.ridge = ridge
        self.points = points
        self.step = step
        self.cell_widths = cell_widths
        self.max_side = max_side
        self.max_descriptors = max_descriptors
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_neighbors > self.n_words:
            raise ParameterError(
                f"n_neighbors must be at most n_words, got n_neighbors={self.n_neighbors} with n_words={self.n_words}."
            )
        self._levels()

    def _levels(self) -> list[int]:
        levels = np.atleast_1d(np.asarray(self.pyramid, dtype=object)).tolist()
        if not levels:
            raise ParameterError("pyramid must name at least one level, such as (1, 2, 4).")
        return [check_number("pyramid", level, integer=True, low=1) for level in levels]

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Rows of unit length, float32 (n_pictures, n_cells x n_words); zeros for a picture without descriptors."""
        rows = list(self.stream(X))
        return np.stack(rows) if rows else np.empty((0, self._width()), dtype=np.float32)

    def stream(self, X: Any) -> Iterator[NDArray[np.float32]]:
        """The same rows one after another, with a few pictures in memory at a time."""
        check_is_fitted(self)
        levels, size = self._levels(), self.words_.shape[1]

        def code(described: Described) -> NDArray[np.float32]:
            descriptors, positions = described
            if descriptors.shape[1] != size:
                raise ViewError(
                    f"descriptors have {descriptors.shape[1]} numbers, but the code book was learned from {size}."
                )
            words, codes = local_codes(descriptors, self.words_, int(self.n_neighbors), float(self.ridge))
            return pooled(words, codes, positions, levels, len(self.words_))

        with workers(self.n_jobs) as threads:
            yield from self._each(X, threads, code)

    def _width(self) -> int:
        return len(self.words_) * sum(level**2 for level in self._levels())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """level1_cell0_word0, ...: levels are named by their cells along a side, cells row by row."""
        check_is_fitted(self)
        return np.array(
            [
                f"level{level}_cell{cell}_word{word}"
                for level in self._levels()
                for cell in range(level**2)
                for word in range(len(self.words_))
            ],
            dtype=object,
        )


def local_codes(
    descriptors: NDArray[Any], words: NDArray[Any], n_neighbors: int, ridge: float
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The nearest words of each descriptor and its coefficients over them, which sum to one; both (n, n_neighbors).

    The coefficients minimise ``|s - B' c|^2`` under ``1'c = 1``: with ``Z = B - 1 s'`` they are ``G^-1 1`` scaled to
    sum one, where ``G = Z Z' + ridge trace(Z Z') I``.
    """
    n, n_words = len(descriptors), len(words)
    found = np.empty((n, n_neighbors), dtype=np.intp)
    half_squares = 0.5 * np.einsum("ij,ij->i", words, words)
    step = max(64, _TILE // n_words)
    for start in range(0, n, step):
        rows = slice(start, start + step)
        scores = descriptors[rows].astype(words.dtype) @ words.T - half_squares
        if n_neighbors < n_words:
            found[rows] = np.sort(largest(scores, n_neighbors), axis=1)
        else:
            found[rows] = np.arange(n_words)
    differences = words[found].astype(np.float64) - descriptors[:, None, :]
    gram = differences @ differences.transpose(0, 2, 1)
    trace = np.trace(gram, axis1=1, axis2=2)
    # A descriptor that equals all of its words gets equal shares of them.
    gram[:, range(n_neighbors), range(n_neighbors)] += np.where(trace > 0, ridge * trace, 1.0)[:, None]
    codes = np.linalg.solve(gram, np.ones((n, n_neighbors, 1)))[:, :, 0]
    return found, codes / codes.sum(axis=1, keepdims=True)


def pooled(
    words: NDArray[np.intp],
    codes: NDArray[np.float64],
    positions: NDArray[Any],
    levels: list[int],
    n_words: int,
) -> NDArray[np.float32]:
    """The largest coefficient of every word in every cell, never below zero, as one row of unit length."""
    ends = np.cumsum([0, *(level**2 for level in levels)])
    row = np.zeros(int(ends[-1]) * n_words)
    for level, first in zip(levels, ends, strict=False):
        column, line = np.minimum((positions * level).astype(np.intp), level - 1).T
        cell = first + line * level + column
        np.maximum.at(row, (cell[:, None] * n_words + words).ravel(), codes.ravel())
    length = float(np.sqrt(row @ row))
    return (row / length if length > 0 else row).astype(np.float32)
