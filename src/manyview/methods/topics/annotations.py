"""From a tagged collection to the table that AnnotatedPLSA learns from: which words come with which tag."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import Any

import numpy as np

from ...arrays import Matrix, as_matrix, is_sparse
from ...blocks import row_blocks
from ...data.checks import check_choice, missing_rows
from ...data.tags import TagTable, are_words, as_tag_table
from ...errors import ViewError
from ._counts import check_counts

__all__ = ["annotation_matrix"]

_END = object()


def annotation_matrix(tags: Any, words: Any, *, count: str = "words") -> Any:
    """How often each word occurs together with each tag, as a CSR matrix (n_tags, n_words).

    Parameters
    ----------
    tags : matrix (n_items, n_tags), 1 where an item carries a tag; dense or sparse
        Or a ``TagTable``, or a list of words per item: row t is then about ``TagTable.from_lists(tags).names[t]``.
    words : matrix (n_items, n_words), counts of (visual) words; dense, sparse or memory-mapped
        Both may instead be iterables that yield blocks of rows, in step with each other.
    count : "words", "items" or "shares", default="words"
        "words" adds up word counts over the items of a tag. "items" counts the items that have both, the other
        reading of the aPLSA paper. "shares" divides each item's counts by their sum first, so that items with many
        words do not dominate.

    Notes
    -----
    Reads both once, block after block: memory is the result, a block, and nothing of the collection.

    Examples
    --------
    >>> import numpy as np
    >>> annotation_matrix(np.array([[1, 0], [1, 1]]), np.array([[2, 0], [1, 3]])).toarray()
    array([[3., 3.],
           [1., 3.]])
    """
    from scipy.sparse import csr_matrix

    check_choice("count", count, ("words", "items", "shares"))
    total = None
    for number, (tag_block, word_block) in enumerate(_pairs(tags, words)):
        name = f"block {number}"
        if tag_block.shape[0] != word_block.shape[0]:
            raise ViewError(
                f"tags have {tag_block.shape[0]} rows but words have {word_block.shape[0]} ({name}); both need one "
                "row per item."
            )
        for what, block in (("tags", tag_block), ("words", word_block)):
            if missing_rows(what, block).any():
                raise ViewError(f"{what} contain a row of NaN; leave the items that lack {what} out.")
            check_counts(what, block, "annotation_matrix")
        T, X = csr_matrix(tag_block, dtype=np.float64), csr_matrix(word_block, dtype=np.float64)
        if count == "items":
            T, X = (T > 0).astype(np.float64), (X > 0).astype(np.float64)
        elif count == "shares":
            sums = np.asarray(X.sum(axis=1)).ravel()
            X = X.copy()
            X.data /= np.repeat(np.where(sums > 0, sums, 1.0), np.diff(X.indptr))
        part = (T.T @ X).tocsr()
        if total is not None and part.shape != total.shape:
            raise ViewError(f"{name} gives a table of shape {part.shape}, the blocks before it {total.shape}.")
        total = part if total is None else total + part
    if total is None:
        raise ViewError("expected at least one item, got none.")
    total.sort_indices()
    return csr_matrix(total)


def _pairs(tags: Any, words: Any) -> Iterator[tuple[Matrix, Matrix]]:
    """Blocks of rows of both, in step."""
    streamed = [_is_stream(value) for value in (tags, words)]
    if all(streamed):
        for number, (tag_block, word_block) in enumerate(zip_longest(tags, words, fillvalue=_END)):
            if tag_block is _END or word_block is _END:
                short, long = ("tags", "words") if tag_block is _END else ("words", "tags")
                raise ViewError(
                    f"{short} ended after {number} blocks, but {long} went on; both need a block for the same items."
                )
            tag_block = tag_block.yes if isinstance(tag_block, TagTable) else tag_block
            yield as_matrix("tags", tag_block), as_matrix("words", word_block)
        return
    if any(streamed):
        raise ViewError("tags and words must both be matrices, or both iterables of blocks of rows.")
    if isinstance(tags, TagTable) or are_words(tags):
        tags = as_tag_table(tags).yes
    tags, words = as_matrix("tags", tags), as_matrix("words", words)
    if tags.shape[0] != words.shape[0]:
        raise ViewError(f"tags have {tags.shape[0]} rows but words have {words.shape[0]}; both need one row per item.")
    width = words.nnz / max(1, words.shape[0]) if is_sparse(words) else words.shape[1]
    for rows in row_blocks(words.shape[0], 12.0 * width):
        yield tags[rows], words[rows]


def _is_stream(value: Any) -> bool:
    if is_sparse(value) or hasattr(value, "shape"):
        return False
    if isinstance(value, (list, tuple)):  # a list of rows is a matrix, a list of matrices a stream
        return any(is_sparse(part) or getattr(part, "ndim", 0) == 2 for part in value)
    return isinstance(value, Iterable)
