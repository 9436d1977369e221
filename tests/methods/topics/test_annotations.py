"""Annotations in every form, and what is said of those that do not fit."""

import numpy as np
import pandas as pd
import pytest

from manyview import AnnotatedPLSA
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
