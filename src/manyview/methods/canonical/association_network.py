"""Which tags go together, as a network, and tags of items made fuller by it."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ...blocks import row_blocks
from ...data.parameters import Choice, Constraints, Either, Number, check_parameters
from ...data.tags import TagTable, as_tag_table
from ...data.vocabulary import tags_in_vocabulary
from ...errors import ViewError

__all__ = ["AssociationNetwork"]


_DENSE_UP_TO = 5_000
"""Tags up to which the smoother is the inverse itself, dense; beyond it is a sparse series."""

_SERIES_ERROR = 1e-5
_NEGLIGIBLE = 1e-4
_BLOCK_BYTES = 32 * 2**20


class AssociationNetwork(TransformerMixin, BaseEstimator):
    """Tags as weighted rows in which tags that often go together speak for each other.

    A network joins tags by the share of items that have both among those that have either (Jaccard). Each item's
    tf-idf row is then smoothed over it: the row closest to the original whose entries differ least between joined tags.
    Choose it to make the few tags of an item comparable with those of others before ``CanonicalFusion`` or
    k-means, or to look at the network itself with ``neighbors`` and ``edges``.

    Parameters
    ----------
    threshold : float from 0 to 1, default=0.05
        Weaker links are left out (the paper's tau); a link must be above it.
    max_neighbors : None or int, default=None
        Keep only the strongest links of each tag; a link stays if either end keeps it.
    smoothing : float of at least 0, default=2.0
        Strength c of ``(I + c L) C = Q``: 2 minimises the paper's objective, 1 is its formula (8), 0 is plain tf-idf.
    min_df : int, default=1
        Tags on fewer items are left out.
    norm : "l2" or None, default="l2"
        Length of the rows. Unit length measured better for k-means; None leaves values from 0 to 1.

    Attributes
    ----------
    weights_ : CSR (n_tags, n_tags), symmetric, zero on the diagonal
    tag_names_ : list of str, the tags that are kept, in column order
    document_frequency_ : ndarray (n_tags,), items that have each tag
    n_items_ : int

    Notes
    -----
    Tags come as a 0/1 matrix, lists of words or a ``TagTable``. Fitting takes O(sum of squared tags per item), and up
    to 5,000 tags O(n_tags^3) for a dense inverse. Larger vocabularies get a sparse one, a series with small entries
    dropped, whose rows differ from the exact smoothed ones by less than 1e-4 in every entry. Rows come out sparse;
    entries below 1e-4 are dropped before scaling.

    C. Jin and others, "Cross-modal image clustering via canonical correlation analysis", AAAI 2015, equations (3) to
    (7); (8) is not the minimum of (7), and (9) does not converge to either: see the page on cross-modal clustering.

    Examples
    --------
    >>> from manyview import AssociationNetwork
    >>> network = AssociationNetwork().fit([["sea", "beach"], ["sea"], ["beach", "sand"]])
    >>> [(name, round(weight, 3)) for name, weight in network.neighbors("beach")]
    [('sand', 0.5), ('sea', 0.333)]
    """

    _constraints: ClassVar[Constraints] = {
        "threshold": Number(low=0, high=1),
        "max_neighbors": Either(Number(integer=True, low=1), Choice(None)),
        "smoothing": Number(low=0),
        "min_df": Number(integer=True, low=1),
        "norm": Choice("l2", None),
    }

    def __init__(
        self,
        threshold: float = 0.05,
        *,
        max_neighbors: int | None = None,
        smoothing: float = 2.0,
        min_df: int = 1,
        norm: str | None = "l2",
    ) -> None:
        self.threshold = threshold
        self.max_neighbors = max_neighbors
        self.smoothing = smoothing
        self.min_df = min_df
        self.norm = norm

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    def fit(self, X: Any, y: Any = None) -> AssociationNetwork:
        """Learn the network from the tags of items: a 0/1 matrix, lists of words, or a ``TagTable``."""
        check_parameters(self)
        min_df = int(self.min_df)
        table = as_tag_table(X)
        if not table.n_items:
            raise ViewError("expected the tags of at least one item, got none.")
        frequency = np.bincount(table.yes.indices, minlength=table.n_tags)
        kept = np.flatnonzero(frequency >= min_df)
        if not kept.size:
            raise ViewError(
                f"no tag is on {min_df} item(s) or more, out of {table.n_tags} tags on {table.n_items} items. "
                "Lower min_df, or give the items tags."
            )
        self.vocabulary_ = list(table.names)
        self.kept_ = kept
        self.tag_names_ = [table.names[i] for i in kept]
        self.n_items_ = table.n_items
        self.document_frequency_ = frequency[kept].astype(np.float64)
        self.weights_ = jaccard(table.yes[:, kept], float(self.threshold), self.max_neighbors)
        self.smoother_ = smoother(self.weights_, float(self.smoothing))
        return self

    def transform(self, X: Any) -> Any:
        """Smoothed rows of the items' tags, CSR float64 (n_items, n_tags); words never seen in ``fit`` are left out."""
        from scipy.sparse import csr_matrix, vstack

        rows = self.rows_of(X)
        parts = [rows[block] for block in row_blocks(rows.shape[0], 16.0 * rows.shape[1], _BLOCK_BYTES)]
        return vstack(parts, format="csr") if parts else csr_matrix(rows.shape)

    def rows_of(self, X: Any) -> SmoothedRows:
        """What ``transform`` gives, made some rows at a time when they are asked for: all at once they fill memory."""
        check_is_fitted(self)
        return SmoothedRows(self, tags_in_vocabulary(X, self.vocabulary_).yes[:, self.kept_])

    def _smooth(self, tags: Any) -> Any:
        """Smoothed rows, CSR, of 0/1 rows of the tags that are kept."""
        from scipy.sparse import csr_matrix

        smoothed = self._tf_idf(tags) @ self.smoother_
        if isinstance(smoothed, np.ndarray):
            smoothed[smoothed < _NEGLIGIBLE] = 0.0
            smoothed = csr_matrix(smoothed)
        else:
            smoothed.data[smoothed.data < _NEGLIGIBLE] = 0.0
            smoothed.eliminate_zeros()
            smoothed.sort_indices()
        if self.norm == "l2":
            lengths = np.sqrt(np.asarray(smoothed.multiply(smoothed).sum(axis=1)).ravel())
            smoothed.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(smoothed.indptr))
        return smoothed

    def neighbors(self, tag: str, n: int | None = 10) -> list[tuple[str, float]]:
        """The tags joined to one, strongest first, each with its weight; all of them where ``n`` is None."""
        check_is_fitted(self)
        row = self.weights_[self._index(tag)]
        names = [(self.tag_names_[i], float(weight)) for i, weight in zip(row.indices, row.data, strict=True)]
        return sorted(names, key=lambda link: (-link[1], link[0]))[:n]

    def edges(self) -> list[tuple[str, str, float]]:
        """Every link once, as two tags and a weight, strongest first."""
        from scipy.sparse import triu

        check_is_fitted(self)
        upper = triu(self.weights_, k=1).tocoo()
        links = zip(upper.row, upper.col, upper.data, strict=True)
        named = [(self.tag_names_[i], self.tag_names_[j], float(weight)) for i, j, weight in links]
        return sorted(named, key=lambda link: (-link[2], link[0], link[1]))

    def write_edges(self, path: str | os.PathLike[str]) -> Path:
        """Write ``edges`` as a CSV file (source, target, weight) that network programs and spreadsheets read.

        A tag that begins as a formula would (``=``, ``+``, ``-``, ``@``) gets an apostrophe in front.
        """
        path, links = Path(path), self.edges()
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(("source", "target", "weight"))
            for source, target, weight in links:
                writer.writerow((_harmless(source), _harmless(target), repr(weight)))
        return path

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The tags."""
        check_is_fitted(self)
        return np.array(self.tag_names_, dtype=object)

    def _index(self, tag: str) -> int:
        if tag in self.tag_names_:
            return self.tag_names_.index(tag)
        vocabulary = TagTable.from_lists([], names=self.tag_names_)
        return vocabulary.index(tag)

    def _tf_idf(self, tags: Any) -> Any:
        """Equation (4) over ln N, so that values lie between 0 and 1."""
        from scipy.sparse import diags_array

        counts = np.diff(tags.indptr)
        idf = np.log(self.n_items_ / self.document_frequency_) / np.log(max(self.n_items_, 2))
        rows = diags_array(1.0 / np.maximum(counts, 1))
        return (rows @ tags.astype(np.float64) @ diags_array(idf)).tocsr()


class SmoothedRows:
    """Rows of smoothed tags that are made when they are asked for. An item with three tags has weights on hundreds."""

    makes_csr = True
    dtype = np.dtype(np.float64)
    ndim = 2

    def __init__(self, network: AssociationNetwork, tags: Any) -> None:
        self._network, self.rows = network, tags
        self.shape: tuple[int, int] = tags.shape
        self.n_filled = np.zeros(self.shape[0], dtype=np.int32)
        """Numbers other than zero in each row."""
        for block in row_blocks(self.shape[0], 16.0 * self.shape[1], _BLOCK_BYTES):
            self.n_filled[block] = np.diff(self[block].indptr)
        self.nnz = int(self.n_filled.sum(dtype=np.int64))

    def __getitem__(self, rows: Any) -> Any:
        return self._network._smooth(self.rows[rows])

    def over(self, tags: Any) -> SmoothedRows:
        """The same made of other tags, or of none yet; how full its rows are is not known."""
        other = SmoothedRows.__new__(SmoothedRows)
        other._network, other.rows = self._network, tags
        other.shape = (0 if tags is None else tags.shape[0], self.shape[1])
        return other


def jaccard(tags: Any, threshold: float, max_neighbors: int | None) -> Any:
    """Items with both tags over items with either, where that is above the threshold; CSR, zero diagonal."""
    from scipy.sparse import csr_matrix

    tags = tags.astype(np.float64)
    together = (tags.T @ tags).tocoo()
    single = np.asarray(tags.sum(axis=0)).ravel()
    row, column, both = together.row, together.col, together.data
    weight = both / (single[row] + single[column] - both)
    kept = (weight > threshold) & (row != column)
    weights = csr_matrix((weight[kept], (row[kept], column[kept])), shape=together.shape)
    weights.sort_indices()
    return weights if max_neighbors is None else _strongest(weights, int(max_neighbors))


def _strongest(weights: Any, count: int) -> Any:
    """The ``count`` largest entries of each row (lower column first on ties), and their mirror images."""
    kept = np.zeros(weights.nnz, dtype=bool)
    for start, stop in zip(weights.indptr[:-1], weights.indptr[1:], strict=True):
        kept[start + np.argsort(-weights.data[start:stop], kind="stable")[:count]] = True
    trimmed = weights.copy()
    trimmed.data[~kept] = 0.0
    trimmed.eliminate_zeros()
    return trimmed.maximum(trimmed.T).tocsr()


def smoother(weights: Any, strength: float) -> Any:
    """``(I + strength L)^-1``, symmetric, at least 0, rows summing to one: dense, or sparse for many tags."""
    from scipy.sparse import csr_matrix, diags_array, identity

    n_tags = weights.shape[0]
    if not strength or not weights.nnz:
        return csr_matrix(identity(n_tags))
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    if n_tags <= _DENSE_UP_TO:
        from scipy.linalg import cho_factor, cho_solve

        system = -strength * weights.toarray()
        system.flat[:: n_tags + 1] = 1.0 + strength * degrees
        return np.asarray(cho_solve(cho_factor(system), np.eye(n_tags)))
    # H = D^-1 (I + c W H) with D = I + c diag(degrees) contracts every entry's error by c d / (1 + c d) a step; what is
    # dropped at each step adds up to at most (1 + c d_max) times that.
    scale = diags_array(1.0 / (1.0 + strength * degrees))
    step = (strength * (scale @ weights)).tocsr()
    start = csr_matrix(scale)
    slowest = float(strength * degrees.max() / (1.0 + strength * degrees.max()))
    negligible = _SERIES_ERROR * (1.0 - slowest) / 2
    found, error = start, 1.0
    while error > _SERIES_ERROR / 2:
        found = (start + step @ found).tocsr()
        found.data[found.data < negligible] = 0.0
        found.eliminate_zeros()
        error *= slowest
    return found


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
