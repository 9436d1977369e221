"""What every measure asks of its input, and the table of counts that most of them start from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from manyview.arrays import refuse_malformed, to_csr
from manyview.errors import ParameterError

__all__ = [
    "Contingency",
    "check_groups",
    "check_pair",
    "check_same_length",
    "check_same_shape",
    "check_scores",
    "check_tag_matrix",
    "contingency",
]


class Contingency(NamedTuple):
    """How many items each class shares with each cluster; only the cells that hold any.

    Cell c says: class ``classes[class_index[c]]`` and cluster number ``cluster_index[c]`` have ``shared[c]``
    items in common. Never more cells than items, however many classes and clusters there are.
    """

    classes: NDArray[Any]
    class_index: NDArray[np.intp]
    cluster_index: NDArray[np.intp]
    shared: NDArray[np.int64]
    class_sizes: NDArray[np.int64]
    cluster_sizes: NDArray[np.int64]
    n_items: int


def contingency(y_true: ArrayLike, labels: ArrayLike) -> Contingency:
    """Count the items that each class shares with each cluster: O(n log n) time, O(n) memory."""
    classes, class_of, _, cluster_of = check_pair(y_true, labels)
    class_sizes = np.bincount(class_of).astype(np.int64)
    cluster_sizes = np.bincount(cluster_of).astype(np.int64)
    # One number per (class, cluster) pair, so that equal pairs are found by sorting integers.
    cells, shared = np.unique(class_of * cluster_sizes.size + cluster_of, return_counts=True)
    class_index, cluster_index = np.divmod(cells, cluster_sizes.size)
    return Contingency(
        classes,
        class_index,
        cluster_index,
        shared.astype(np.int64),
        class_sizes,
        cluster_sizes,
        class_of.size,
    )


def check_pair(
    y_true: ArrayLike, labels: ArrayLike
) -> tuple[NDArray[Any], NDArray[np.intp], NDArray[Any], NDArray[np.intp]]:
    """Classes and clusters of the same items: distinct values and codes of each."""
    classes, class_of = check_groups(y_true, "y_true")
    clusters, cluster_of = check_groups(labels, "labels")
    check_same_length(class_of.size, "y_true", cluster_of.size)
    return classes, class_of, clusters, cluster_of


def check_groups(values: ArrayLike, name: str) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Turn one group name per item into the sorted distinct names and a number 0, 1, ... per item."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ParameterError(
            f"{name} must be a flat list with one entry per item, got rows of different length. "
            "Pass one integer or string per item."
        ) from error
    if array.ndim != 1:
        hint = "Use numpy.ravel on it." if array.ndim == 2 and 1 in array.shape else "Pass one column of it."
        if array.ndim == 0:
            hint = "Pass a list or an array, also for a single item."
        raise ParameterError(
            f"{name} must be a flat list with one entry per item, got an input of shape {array.shape}. {hint}"
        )
    if array.size == 0:
        raise ParameterError(f"{name} is empty. Pass at least one item: there is nothing to measure without.")
    if array.dtype.kind not in "biufSUOT":
        raise ParameterError(
            f"{name} must hold integers or strings, got dtype {array.dtype}. Convert it with .astype(str)."
        )
    try:
        missing = _first_missing(array)
        if missing is None:
            distinct, codes = np.unique(array, return_inverse=True)
            return distinct, codes.astype(np.intp, copy=False)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{name} must hold one kind of value, all integers or all strings, got a mixture. "
            "Convert every entry with str() first."
        ) from error
    raise ParameterError(
        f"{name} must name a group for every item, got {array[missing]!s} for item {missing}. "
        "Leave such items out, or give them a group of their own such as -1."
    )


def _first_missing(array: NDArray[Any]) -> int | None:
    """Position of the first None or NaN, or None where every entry is there."""
    if array.dtype.kind == "f":
        gaps = np.isnan(array)
        return int(np.argmax(gaps)) if gaps.any() else None
    if array.dtype.kind == "O":
        # NaN is the one value that differs from itself.
        return next((i for i, value in enumerate(array) if value is None or value != value), None)
    return None


def check_same_length(n_first: int, first: str, n_labels: int) -> None:
    """Refuse two descriptions of different numbers of items."""
    if n_first != n_labels:
        raise ParameterError(
            f"{first} and labels must describe the same items, got {n_first} items in {first} and "
            f"{n_labels} in labels. Pass both in the same order and for the same items."
        )


def check_tag_matrix(tags: Any, name: str) -> Any:
    """A 0/1 matrix, items by tags, as a fresh CSR array of int64 that stores ones only."""
    from scipy.sparse import csr_array, issparse

    refuse_malformed(name, tags)
    given = to_csr(name, tags) if issparse(tags) else _dense(tags, name)
    check_matrix_shape(given, name)
    matrix = csr_array(given, copy=True)
    matrix.sum_duplicates()
    wrong = ~((matrix.data == 0) | (matrix.data == 1))
    if wrong.any():
        value = matrix.data[np.argmax(wrong)]
        raise ParameterError(
            f"{name} must hold only 0 and 1, got {value!s}. Known tags come first and scores second; "
            f"to turn counts or weights into tags, pass {name} > 0."
        )
    matrix.eliminate_zeros()
    return matrix.astype(np.int64)


def check_matrix_shape(matrix: Any, name: str) -> None:
    """Refuse what is not a table of at least one item and one tag."""
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ParameterError(
            f"{name} must be a matrix with a row per item and a column per tag, at least one of each, "
            f"got shape {matrix.shape}."
        )


def _dense(values: Any, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ParameterError(
            f"{name} must be a matrix with a row per item and a column per tag, "
            "got rows of different length. Lists of words have to be turned into a 0/1 matrix first."
        ) from error
    if array.dtype.kind not in "biuf":
        raise ParameterError(
            f"{name} must be a matrix of numbers, got dtype {array.dtype}. "
            "Lists of words have to be turned into a 0/1 matrix first."
        )
    # SciPy's sparse matrices know neither half nor extended precision, nor numbers of another byte order.
    return array.astype(np.float64) if array.dtype.char in "eg" or not array.dtype.isnative else array


def check_scores(scores: Any, shape: tuple[int, int]) -> Any:
    """Scores, items by tags, dense or CSR, of the given shape; values are looked at later, block by block."""
    from scipy.sparse import csr_array, issparse

    refuse_malformed("scores", scores)
    given = csr_array(to_csr("scores", scores)) if issparse(scores) else scores
    given = given if issparse(given) else _dense(given, "scores")
    check_matrix_shape(given, "scores")
    check_same_shape(given.shape, "scores", shape)
    return given


def check_same_shape(found: tuple[int, int], name: str, hidden: tuple[int, int]) -> None:
    """Refuse a matrix that does not line up with the hidden tags."""
    if tuple(found) != tuple(hidden):
        raise ParameterError(
            f"{name} and hidden must have the same items and tags, got shape {tuple(found)} for {name} and "
            f"{tuple(hidden)} for hidden. Pass both with the same rows and columns, in the same order."
        )
