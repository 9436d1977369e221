"""Several descriptions of the same items, as one object."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from ..arrays import Matrix, as_matrix, holds_sparse, is_dask, is_sparse, rows_of
from ..errors import ParameterError, ViewError
from ..types import Floats
from .checks import check_mask, check_rows, missing_rows
from .chunks import as_chunks, look_at_chunks
from .frames import column_names, mask_in_order, refuse_other_order
from .joining import cluster_means, column_means, side_by_side

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Views", "is_one_array"]


class Views:
    """Named matrices with one row per item: the same items, described in several ways.

    Parameters
    ----------
    views
        A mapping from name to matrix, a list or tuple of matrices (named view0, view1, ...), or one 2-D
        array (one view). A matrix is dense (any array-like, also memory-mapped, or a torch tensor), SciPy sparse, or a
        Dask array of row chunks that are either; those methods take it that run on a cluster (``manyview.on``). Of
        frames (pandas, polars, pyarrow) the names of columns are kept (``columns``), and pandas frames that hold the
        same items in another order are refused. A dense row of nothing but NaN means that the item lacks that view; an
        empty sparse row means that nothing is known.
    ids
        One identifier per item, kept through every selection of rows. Row numbers when not given.
    mask
        Which item has which view, ``n_items x n_views`` of booleans, for views that cannot say it with NaN.
        An item counts as having a view where the mask is true *and* the row is not all NaN. Columns of a pandas
        frame that are called like the views may stand in any order.

    Notes
    -----
    A ``Views`` never changes. ``X["tags"]`` is a matrix, ``X[["tags", "looks"]]`` a ``Views`` of those two,
    and ``X[rows]`` (integers, a slice or booleans) a ``Views`` of those items, so scikit-learn's
    ``train_test_split``, ``cross_validate`` and ``GridSearchCV`` work on it directly. ``len(X)`` counts
    items. No matrix is copied unless its type has to change.

    Examples
    --------
    >>> import numpy as np
    >>> X = Views({"looks": np.eye(3), "tags": np.ones((3, 2))})
    >>> X.names, X.shape
    (('looks', 'tags'), (3, 2))
    >>> X[1:]["looks"].shape
    (2, 3)
    """

    __slots__ = ("_columns", "_held", "_ids", "_mask", "_matrices", "_names")

    _names: tuple[str, ...]
    _matrices: tuple[Matrix, ...]
    _mask: NDArray[np.bool_]
    _ids: NDArray[Any]
    _columns: dict[str, NDArray[Any]]
    _held: dict[str, float]  # how many values a row has, of views in CSR chunks

    def __init__(self, views: Any, *, ids: Any = None, mask: Any = None) -> None:
        if isinstance(views, Views):
            ids = views.ids if ids is None else ids
            mask = views.mask if mask is None else mask
            named, self._columns = dict(views.items()), views._columns
        else:
            named = _named(views)
            refuse_other_order(named)
            called = {name: column_names(matrix) for name, matrix in named.items()}
            self._columns = {name: columns for name, columns in called.items() if columns is not None}
        if not named:
            raise ViewError("expected at least one view, got none.")
        matrices = tuple(
            as_chunks(name, value) if is_dask(value) else as_matrix(name, value) for name, value in named.items()
        )
        self._held = {}
        self._names = tuple(named)
        self._matrices = matrices
        n_items = _common_length(self._names, matrices)
        given = check_mask(mask_in_order(mask, named, ids), n_items, len(matrices))
        self._mask = np.empty((n_items, len(matrices)), dtype=bool)
        for v, (name, matrix) in enumerate(zip(self._names, matrices, strict=True)):
            ignore = None if given is None else ~given[:, v]
            if is_dask(matrix):
                missing, held = look_at_chunks(name, matrix, ignore)
                self._held |= {} if held is None else {name: held}
            else:
                missing = missing_rows(name, matrix, ignore)
            self._mask[:, v] = ~missing
        if given is not None:
            self._mask &= given
        self._mask.flags.writeable = False
        self._ids = _check_ids(ids, n_items)

    @classmethod
    def _trusted(
        cls,
        names: tuple[str, ...],
        matrices: tuple[Matrix, ...],
        mask: NDArray[np.bool_],
        ids: NDArray[Any],
        held: Mapping[str, float] | None = None,
        columns: Mapping[str, NDArray[Any]] | None = None,
    ) -> Views:
        """A ``Views`` of parts that were checked before."""
        new = object.__new__(cls)
        new._names, new._matrices, new._mask, new._ids, new._held = names, matrices, mask, ids, dict(held or {})
        new._columns = dict(columns or {})
        new._mask.flags.writeable = False
        return new

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, views: Mapping[str, Sequence[Any]], *, ids: Any = None) -> Views:
        """Views from the columns of a pandas frame: ``views={"colour": ["r", "g", "b"], ...}``.

        The frame's index becomes the ids, unless ``ids`` names a column or gives the values.
        """
        matrices = {}
        for name, columns in views.items():
            columns = [columns] if isinstance(columns, str) else list(columns)
            absent = [column for column in columns if column not in frame.columns]
            if absent:
                raise ViewError(
                    f"view {name!r} names {absent[0]!r}, which is not a column of the frame. Its columns are: "
                    f"{', '.join(map(str, frame.columns[:20]))}{', ...' if frame.shape[1] > 20 else ''}."
                )
            matrices[name] = frame[columns]
        if isinstance(ids, str):
            ids = frame[ids].to_numpy()
        return cls(matrices, ids=frame.index.to_numpy() if ids is None else ids)

    @property
    def names(self) -> tuple[str, ...]:
        """The views' names, in order."""
        return self._names

    @property
    def n_items(self) -> int:
        return int(self._mask.shape[0])

    @property
    def n_views(self) -> int:
        return len(self._names)

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_items, n_views)``; the first is what scikit-learn reads as the number of samples."""
        return (self.n_items, self.n_views)

    @property
    def n_features(self) -> dict[str, int]:
        """The number of columns of each view."""
        return {name: matrix.shape[1] for name, matrix in self.items()}

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """What the columns are called, of the views that came as frames."""
        return dict(self._columns)

    @property
    def ids(self) -> NDArray[Any]:
        """One identifier per item."""
        return self._ids

    @property
    def mask(self) -> NDArray[np.bool_]:
        """``n_items x n_views``: does this item have this view?"""
        return self._mask

    @property
    def in_chunks(self) -> tuple[str, ...]:
        """The names of the views that are Dask arrays."""
        return tuple(name for name, matrix in self.items() if is_dask(matrix))

    def values_per_row(self, name: str) -> float:
        """How many values a row of this view holds, on average: all of its columns, unless it is sparse."""
        matrix = self[name]
        if not holds_sparse(matrix):
            return float(matrix.shape[1])
        return self._held[name] if is_dask(matrix) else matrix.nnz / max(1, matrix.shape[0])

    def present(self, name: str) -> NDArray[np.bool_]:
        """Which items have this view."""
        has: NDArray[np.bool_] = self._mask[:, self.position(name)]
        return has

    def joined(self, fill: Any = "mean") -> Matrix:
        """All views side by side as one matrix, read-only: sparse where every view is, otherwise dense in C order.

        ``fill`` says what stands where an item lacks a view: "mean" for the mean of the items that have it (a sparse
        view stays empty there), one number, or a dict from view name to a row of numbers. One dense view that no item
        lacks is not copied where it lies in C order.

        >>> Views([[[1.0], [3.0], [np.nan]], [[5.0, 6.0], [np.nan, np.nan], [7.0, 8.0]]]).joined(0)
        array([[1., 5., 6.],
               [3., 0., 0.],
               [0., 7., 8.]])
        """
        joined = side_by_side(self._matrices, self._mask, [self._fill_of(fill, v) for v in range(self.n_views)])
        if not is_sparse(joined):
            joined = joined.view()
            joined.flags.writeable = False
        return joined

    def _fill_of(self, fill: Any, v: int) -> Floats:
        """What stands for the rows of one view that are missing."""
        matrix, name = self._matrices[v], self._names[v]
        if self._mask[:, v].all() or (isinstance(fill, str) and fill == "mean" and is_sparse(matrix)):
            return np.zeros(matrix.shape[1])
        if isinstance(fill, str) and fill == "mean":
            return column_means(matrix, self._mask[:, v])
        try:
            row = np.asarray(fill[name] if isinstance(fill, Mapping) else float(fill), dtype=np.float64)
            return np.broadcast_to(row, matrix.shape[1:])
        except (KeyError, TypeError, ValueError):
            raise ParameterError(
                f"fill must be 'mean', a number, or a dict with {matrix.shape[1]} numbers for view {name!r}; "
                f"got {fill!r}."
            ) from None

    def means(
        self, labels: Any, n_clusters: int | None = None, sample_weight: Floats | None = None
    ) -> dict[str, Floats]:
        """The mean of each view over the items of each cluster: name -> ``(n_clusters, n_columns)``, float64.

        ``labels`` are cluster numbers, one per item, -1 for none. Each mean is over the items that have the view; a
        cluster none of whose items has it gets the mean of all clusters' items that have it (zeros if nobody has).
        ``n_clusters`` is by default one more than the highest label. Items count once, or as ``sample_weight`` says.

        >>> {name: mean.tolist() for name, mean in Views([[1.0], [3.0], [8.0]]).means([0, 0, 1]).items()}
        {'view0': [[2.0], [8.0]]}
        """
        numbers = np.asarray(labels)
        if numbers.shape != (self.n_items,) or numbers.dtype.kind not in "iu":
            raise ParameterError(
                f"labels must be {self.n_items} whole numbers, the cluster of each item and -1 for none; "
                f"got {numbers.dtype} of shape {numbers.shape}."
            )
        highest = int(numbers.max(initial=-1))
        count = highest + 1 if n_clusters is None else int(n_clusters)
        if count <= highest:
            raise ParameterError(f"labels go up to {highest}, but n_clusters is {count}.")
        return {
            name: cluster_means(matrix, self.present(name), numbers.astype(np.intp, copy=False), count, sample_weight)
            for name, matrix in self.items()
        }

    def items(self) -> Iterator[tuple[str, Matrix]]:
        """Pairs of name and matrix, in order."""
        return zip(self._names, self._matrices, strict=True)

    def keys(self) -> tuple[str, ...]:
        return self._names

    def values(self) -> tuple[Matrix, ...]:
        return self._matrices

    def __len__(self) -> int:
        return self.n_items

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        raise ViewError(
            "a Views is several matrices, not one. Take one of them, X["
            f"{self._names[0]!r}], or all side by side, X.joined(); the estimators of manyview take it as it is."
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    @overload
    def __getitem__(self, key: str) -> Matrix: ...
    @overload
    def __getitem__(self, key: Any) -> Views: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._matrices[self.position(key)]
        if isinstance(key, tuple):  # X[rows, ...] or X[rows, :], as scikit-learn may write it
            if len(key) != 2 or not (key[1] is Ellipsis or key[1] == slice(None)):
                raise ViewError("a Views is indexed by items or by view names, not by columns: X[rows] or X['name'].")
            key = key[0]
        if isinstance(key, list) and key and all(isinstance(name, str) for name in key):
            return self._select(tuple(key))
        rows = self._check_rows(key)
        matrices = tuple(rows_of(matrix, rows) for matrix in self._matrices)
        return Views._trusted(self._names, matrices, self._mask[rows], self._ids[rows], self._held, self._columns)

    def position(self, name: str) -> int:
        """Which of the views this is, from 0."""
        try:
            return self._names.index(name)
        except ValueError:
            raise ViewError(f"there is no view {name!r}; the views are {', '.join(map(repr, self._names))}.") from None

    def _select(self, names: tuple[str, ...]) -> Views:
        positions = [self.position(name) for name in names]
        if len(set(names)) < len(names):
            raise ViewError(f"a view can be taken once; got {', '.join(map(repr, names))}.")
        matrices = tuple(self._matrices[p] for p in positions)
        columns = {name: self._columns[name] for name in names if name in self._columns}
        return Views._trusted(names, matrices, self._mask[:, positions], self._ids, self._held, columns)

    def _check_rows(self, key: Any) -> Any:
        if isinstance(key, slice):
            return key
        rows = np.asarray(key)
        if rows.ndim == 0 and rows.dtype.kind in "iu":
            part = f"X[{key}:{int(key) + 1 or ''}]"
            raise ViewError(f"X[{key}] would be one item, but a Views is always a table of items; write {part}.")
        return check_rows(rows, self.n_items)

    def __repr__(self) -> str:
        parts = [
            f"{name} {matrix.shape[1]}"
            + (" sparse" if holds_sparse(matrix) else "")
            + (f" ({(~self._mask[:, v]).sum()} missing)" if not self._mask[:, v].all() else "")
            for v, (name, matrix) in enumerate(self.items())
        ]
        return f"Views({self.n_items} items: {', '.join(parts)})"

    def __getstate__(self) -> dict[str, Any]:
        more = {key: kept for key, kept in (("held", self._held), ("columns", self._columns)) if kept}
        return {"names": self._names, "matrices": self._matrices, "mask": self._mask, "ids": self._ids, **more}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._names, self._matrices = state["names"], state["matrices"]
        self._mask, self._ids, self._held = state["mask"], state["ids"], state.get("held", {})
        self._columns = state.get("columns", {})


def is_one_array(X: Any) -> bool:
    """Is this one plain table (one view), rather than a collection of views?"""
    if is_sparse(X):
        return True  # also where it is a dict, as one of SciPy's formats is
    if isinstance(X, (Views, Mapping)):
        return False
    if not isinstance(X, (list, tuple)):
        return True
    # A list of rows is one table; a list of tables is several views (None stands for an absent one).
    return not any(_ndim(element) == 2 for element in X)


def _ndim(value: Any) -> int:
    if value is None or is_sparse(value) or hasattr(value, "ndim"):
        return getattr(value, "ndim", 0)
    try:
        return int(np.ndim(value))
    except ValueError:  # rows of differing length
        return 2


def _named(views: Any) -> dict[str, Any]:
    if isinstance(views, Mapping) and not is_sparse(views):
        for name in views:
            if not isinstance(name, str):
                raise ViewError(f"views must have names that are strings, got {name!r}.")
        return dict(views)
    if is_one_array(views):
        return {"view0": views}
    return {f"view{v}": matrix for v, matrix in enumerate(views)}


def _common_length(names: tuple[str, ...], matrices: tuple[Matrix, ...]) -> int:
    lengths = [int(matrix.shape[0]) for matrix in matrices]
    for name, length in zip(names, lengths, strict=True):
        if length != lengths[0]:
            listing = ", ".join(f"{n} {rows}" for n, rows in zip(names, lengths, strict=True))
            raise ViewError(
                f"view {name!r} has {length} rows but view {names[0]!r} has {lengths[0]}. Every view needs one row "
                f"per item (all-NaN where an item lacks it). Rows: {listing}."
            )
    return lengths[0]


def _check_ids(ids: Any, n_items: int) -> NDArray[Any]:
    if ids is None:
        checked = np.arange(n_items)
    else:
        checked = np.asarray(ids)
        if checked.shape != (n_items,):
            raise ViewError(f"ids must hold one identifier per item, {n_items} in all; got shape {checked.shape}.")
    checked = checked.view()
    checked.flags.writeable = False
    return checked
