"""What topic models warn of, and where it is shown."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from manyview import PLSA, AnnotatedPLSA
from manyview.errors import ViewWarning


@pytest.mark.parametrize("empty", [0.0, np.nan])
def test_warnings_are_shown_where_manyview_was_called(empty):
    counts = np.array([[3.0, 1.0, 0.0], [0.0, 1.0, 3.0], [2.0, 2.0, 0.0], [0.0, 2.0, 2.0]])
    model = PLSA(2, n_init=1, max_iter=3, random_state=0).fit(counts)
    counts[1] = empty
    for call in (model.predict, model.fit, model.fit_predict):
        with pytest.warns(ViewWarning, match="get label -1: rows 1") as heard:
            call([counts])
        assert [one.filename for one in heard] == [__file__]


@pytest.mark.parametrize("n_topics", [None, 4])
def test_fewer_clusters_than_asked_for_are_told_of(n_topics):
    alike = np.tile([3.0, 1.0, 2.0], (8, 1))
    with pytest.warns(ConvergenceWarning, match="found 1 distinct cluster, fewer than n_clusters=3") as heard:
        AnnotatedPLSA(3, n_topics=n_topics, n_init=1, random_state=0).fit(alike)
    assert __file__ in {one.filename for one in heard}
