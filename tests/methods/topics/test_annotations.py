"""Annotations in every form, and what is said of those that do not fit."""

import numpy as np
import pandas as pd
import pytest

from manyview import AnnotatedPLSA, TagTable, annotation_matrix
from manyview.errors import ViewError


def test_annotations_in_a_frame_need_the_columns_of_the_items():
    counts = pd.DataFrame(np.arange(1.0, 13.0).reshape(4, 3), columns=["a", "b", "c"])
    model = AnnotatedPLSA(n_clusters=2, n_init=1, max_iter=2, random_state=0)
    for X in (counts, {"x": counts[["a"]], "y": counts[["b", "c"]]}):
        model.fit(X, annotations=counts[:2])
        model.fit(X, annotations=counts[["c", "b", "a"]].to_numpy())
        with pytest.raises(ViewError, match="'annotations' has the same columns in another order than in X: column 0"):
            model.fit(X, annotations=counts[["c", "b", "a"]])
        with pytest.raises(ViewError, match="other columns than in X: column 2 is 'd', where 'c' was"):
            model.fit(X, annotations=counts.rename(columns={"c": "d"}))
    with pytest.raises(ViewError, match="another order than in fit"):
        model.fit(counts).predict({"view0": counts[["c", "b", "a"]]})
    model.fit(counts.to_numpy(), annotations=counts[["c", "b", "a"]])  # of items without names nothing is known


def test_annotation_matrix_takes_tags_in_any_form():
    lists, words = [["sea", "sand"], ["sea"], []], np.array([[2.0, 0.0], [1.0, 3.0], [5.0, 5.0]])
    table, expected = TagTable.from_lists(lists), [[2.0, 0.0], [3.0, 3.0]]
    series = pd.Series(lists)
    for tags in (lists, series, table, table.yes, table.yes.toarray()):
        assert annotation_matrix(tags, words).toarray().tolist() == expected
    blocks = annotation_matrix(iter([table[:2], table[2:]]), iter([words[:2], words[2:]]))
    assert blocks.toarray().tolist() == expected


def test_iterables_that_end_early_are_named():
    block = np.ones((2, 3))
    with pytest.raises(ViewError, match="words ended after 1 blocks, but tags went on"):
        annotation_matrix(iter([block, block]), iter([block]))
    with pytest.raises(ViewError, match="tags ended after 1 blocks, but words went on"):
        annotation_matrix(iter([block]), iter([block, block]))
