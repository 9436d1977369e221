"""From local descriptors to one row per picture: a code book of visual words, and counts of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..blocks import Workers, workers
from ..data.checks import as_generator, check_number
from ..data.nearest import largest
from ..data.parameters import RUNNING, Choice, Constraints, Either, Given, Number, check_parameters
from ..errors import ParameterError, ViewError
from ..methods.base import say
from .keypoints import dense_sift, grey_image, interest_points

__all__ = ["BagOfWords", "CodeBook", "DescriptorSample"]

_AT_ONCE = 32
"""Pictures in memory at a time; read in order, described on all threads."""

T = TypeVar("T")
Described = tuple[NDArray[Any], NDArray[np.float32]]
"""Descriptors (n, size), and their positions (n, 2): x and y as shares of width and height, from 0 to below 1."""


class CodeBook(TransformerMixin, BaseEstimator):
    """What coders of pictures share: local descriptors of each, and a code book learned from a sample of them.

    A subclass has the parameters ``n_words``, ``points``, ``step``, ``cell_widths``, ``max_side``, ``max_descriptors``,
    ``random_state``, ``n_jobs`` and ``verbose``. A picture may also come as a tuple of its descriptors (n, size) and
    their positions (n, 2), shares of width and height from 0 to below 1.
    """

    _constraints: ClassVar[Constraints] = {
        "n_words": Number(integer=True, low=1),
        "points": Choice("dense", "interest"),
        "step": Number(integer=True, low=1),
        "cell_widths": Given("one or several numbers above 0"),
        "max_side": Either(Number(integer=True, low=16), Choice(None)),
        "max_descriptors": Number(integer=True, low=1),
        **RUNNING,
    }
    n_words: int
    points: str
    step: int
    cell_widths: Any
    max_side: int | None
    max_descriptors: int
    random_state: Any
    n_jobs: int | None
    verbose: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Any:
        """Learn the code book from pictures; one pass over them."""
        from sklearn.cluster import MiniBatchKMeans

        self._check_parameters()
        rng = as_generator(self.random_state)
        sample = DescriptorSample(int(self.max_descriptors), rng)
        with workers(self.n_jobs) as threads:
            for descriptors in self._each(X, threads, lambda described: described[0]):
                sample.add(descriptors)
        values = sample.take().astype(np.float32)
        n_words = int(self.n_words)
        if len(values) < n_words:
            raise ParameterError(
                f"n_words must be at most the number of descriptors, got n_words={n_words} with {len(values)}. Ask "
                "for fewer words, a smaller step, or give more pictures."
            )
        if self.verbose:
            say(f"{sample.n_seen} descriptors; learning {n_words} words from {len(values)} of them")
        book = MiniBatchKMeans(n_words, batch_size=4096, n_init=1, random_state=int(rng.integers(2**31)))
        self.words_ = np.ascontiguousarray(book.fit(values).cluster_centers_, dtype=np.float32)
        self.n_descriptors_ = sample.n_seen
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn the code book and code the same pictures, which are read twice."""
        if isinstance(X, Iterator):
            raise ViewError("fit_transform reads the pictures twice; pass a list, not an iterator that ends.")
        return self.fit(X, y).transform(X)

    def _check_parameters(self) -> None:
        check_parameters(self)
        widths = np.atleast_1d(np.asarray(self.cell_widths, dtype=object))
        for width in widths.tolist():
            check_number("cell_widths", width, low=0, low_open=True)

    def _each(self, X: Any, threads: Workers, work: Callable[[Described], T]) -> Iterator[T]:
        """What ``work`` makes of the descriptors of each picture, on all threads, in order."""
        if isinstance(X, (str, bytes)) or not isinstance(X, Iterable):
            raise ViewError(f"expected several pictures (a list of paths, images or arrays), got {type(X).__name__}.")
        pictures, number = iter(X), 0
        while batch := list(islice(pictures, _AT_ONCE)):

            def one(rows: slice, batch: list[Any] = batch, first: int = number) -> T:
                try:
                    return work(self._describe(batch[rows.start]))
                except ViewError as error:
                    raise ViewError(f"picture {first + rows.start}: {error}") from error

            yield from threads.map(one, [slice(i, i + 1) for i in range(len(batch))])
            number += len(batch)

    def _describe(self, picture: Any) -> Described:
        if _is_described(picture):
            return _checked(*picture)
        grey = grey_image(picture, self.max_side).clip(0, 255) / np.float32(255)
        if self.points == "interest":
            descriptors, frames = interest_points(grey)
        else:
            widths = np.atleast_1d(np.asarray(self.cell_widths, dtype=np.float64)).tolist()
            descriptors, frames = dense_sift(grey, step=int(self.step), cell_widths=widths)
        positions = (frames[:, :2] + np.float32(0.5)) / np.array(grey.shape[::-1], dtype=np.float32)
        return descriptors, positions.clip(0, 1 - np.finfo(np.float32).eps)


def _is_described(picture: Any) -> bool:
    """Is this a pair (descriptors, positions), rather than a picture?"""
    return isinstance(picture, tuple) and len(picture) == 2 and all(np.ndim(part) == 2 for part in picture)


def _checked(descriptors: Any, positions: Any) -> Described:
    descriptors, positions = np.asarray(descriptors), np.asarray(positions, dtype=np.float32)
    if positions.shape != (descriptors.shape[0], 2) or descriptors.dtype.kind not in "fiu":
        raise ViewError(
            "descriptors must come as a pair: numbers (n, size) and positions (n, 2); got "
            f"{descriptors.dtype} {descriptors.shape} and {positions.shape}."
        )
    if not (np.isfinite(descriptors).all() and ((positions >= 0) & (positions < 1)).all()):
        raise ViewError("descriptors must be finite and positions from 0 to below 1; divide by width and height.")
    return descriptors, positions


class BagOfWords(CodeBook):
    """Pictures as counts of visual words: which small patterns occur, and how often.

    Local SIFT descriptors of all pictures are clustered into a code book by mini-batch k-means; a picture becomes
    the counts of the nearest words of its descriptors. What ``PLSA`` and ``AnnotatedPLSA`` take.

    Parameters
    ----------
    n_words : int, default=500
        Size of the code book. The aPLSA paper uses 2,000, for 20,000 pictures.
    points : "dense" or "interest", default="dense"
        SIFT on a grid; or at Lowe's interest points, as in the paper, which needs the ``opencv`` extra.
    step : int, default=8
        Of the grid, in pixels.
    cell_widths : numbers, default=(4, 6, 8)
        Sizes of dense patches; a patch is four cells wide.
    max_side : int or None, default=256
        Larger pictures are reduced to this, so that the same pattern is the same word at any resolution.
    max_descriptors : int, default=100_000
        The code book is learned from a random sample of at most so many descriptors.
    random_state : None, int or numpy Generator
    n_jobs : None or int
        Threads; None takes all cores. The result does not depend on it.
    verbose : int, default=0

    Attributes
    ----------
    words_ : ndarray float32 (n_words, 128), the code book
    n_descriptors_ : int, how many were seen in ``fit``

    Notes
    -----
    Pictures are arrays, Pillow images or paths, in any iterable; a few are in memory at a time. A tuple of descriptors
    and their positions may stand for a picture. ``transform`` takes O(n_words) per descriptor; memory is the code book,
    the sample (13 MB at the default) and the counts.

    Examples
    --------
    >>> import numpy as np
    >>> from manyview import BagOfWords
    >>> pictures = np.random.default_rng(0).integers(0, 256, (6, 64, 64), dtype=np.uint8)
    >>> counts = BagOfWords(n_words=10, random_state=0).fit_transform(pictures)
    >>> counts.shape
    (6, 10)
    """

    def __init__(
        self,
        n_words: int = 500,
        *,
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
        self.points = points
        self.step = step
        self.cell_widths = cell_widths
        self.max_side = max_side
        self.max_descriptors = max_descriptors
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def transform(self, X: Any) -> Any:
        """Counts of visual words as a CSR matrix, float64 (n_pictures, n_words)."""
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        half_squares = 0.5 * np.einsum("ij,ij->i", self.words_, self.words_)
        data: list[NDArray[np.float64]] = []
        indices: list[NDArray[np.int32]] = []
        with workers(self.n_jobs) as threads:
            for nearest in self._each(X, threads, lambda described: _nearest(described[0], self.words_, half_squares)):
                found = np.bincount(nearest, minlength=len(self.words_))
                indices.append(np.flatnonzero(found).astype(np.int32))
                data.append(found[indices[-1]].astype(np.float64))
        ends = np.concatenate([[0], np.cumsum([part.size for part in indices])]).astype(np.int32)
        if not data:
            return csr_matrix((0, len(self.words_)))
        return csr_matrix((np.concatenate(data), np.concatenate(indices), ends), shape=(len(data), len(self.words_)))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """word0, word1, ..."""
        check_is_fitted(self)
        return np.array([f"word{number}" for number in range(len(self.words_))], dtype=object)


class DescriptorSample:
    """An even random sample of a stream of descriptors: every one gets a random key, and the smallest keys stay."""

    def __init__(self, limit: int, rng: np.random.Generator) -> None:
        self.limit = limit
        self.n_seen = 0
        self._rng = rng
        self._rows: list[NDArray[Any]] = []
        self._keys: list[NDArray[np.float64]] = []
        self._held = 0

    def add(self, rows: NDArray[Any]) -> None:
        if self._rows and rows.shape[1] != self._rows[0].shape[1]:
            raise ViewError(f"descriptors of {self._rows[0].shape[1]} and of {rows.shape[1]} numbers cannot be mixed.")
        self._rows.append(rows)
        self._keys.append(self._rng.random(len(rows)))
        self._held += len(rows)
        self.n_seen += len(rows)
        if self._held > 2 * self.limit:
            self._shrink()

    def take(self) -> NDArray[Any]:
        self._shrink()
        return self._rows[0]

    def _shrink(self) -> None:
        if not self._rows:
            raise ViewError("there are no pictures to learn the words from.")
        rows, keys = np.concatenate(self._rows), np.concatenate(self._keys)
        if keys.size > self.limit:
            kept = np.sort(largest(-keys, self.limit))
            rows, keys = rows[kept], keys[kept]
        self._rows, self._keys, self._held = [rows], [keys], len(rows)


def _nearest(descriptors: NDArray[Any], words: NDArray[np.float32], half_squares: NDArray[Any]) -> NDArray[np.intp]:
    """The nearest word of each descriptor: the largest x w - |w|^2 / 2, in tiles that fit the cache."""
    labels = np.empty(len(descriptors), dtype=np.intp)
    step = max(64, 2**18 // len(words))
    for start in range(0, len(descriptors), step):
        rows = slice(start, start + step)
        labels[rows] = (descriptors[rows].astype(np.float32) @ words.T - half_squares).argmax(axis=1)
    return labels
