"""The items most like each one: all at once, and among some only where there are many."""

import numpy as np
import pytest

from manyview import Views
from manyview.describe._grouping import check_grouping
from manyview.describe.likeness import measure_likeness
from manyview.describe.nearest_items import NearestItems, nearest_of_all


@pytest.fixture
def made(seed):
    """Sixty items in six clusters and none, of two views; one item lacks the first."""
    from scipy.sparse import random as draw_sparse

    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(-1, 5), 10)
    dense = rng.normal(size=(60, 5)) + 3.0 * rng.normal(size=(6, 5))[labels]
    dense[7] = np.nan
    words = draw_sparse(60, 30, density=0.3, format="csr", random_state=rng)
    grouping = check_grouping(labels, 60)
    return measure_likeness(Views({"looks": dense, "words": words}), grouping), grouping


def test_all_at_once_is_one_by_one(made):
    likeness, grouping = made
    nearest = NearestItems(likeness)
    for row, found in enumerate(nearest_of_all(likeness, grouping, n=8, most=60)):
        expected = nearest.of(row, 8)
        assert found.keys() == expected.keys()
        for view, near in found.items():
            assert [other for other, _ in near] == [other for other, _ in expected[view]]
            assert [value for _, value in near] == pytest.approx([value for _, value in expected[view]], abs=1e-5)


def test_where_there_are_many_each_is_compared_with_its_own_cluster_and_those_next_to_it(made):
    likeness, grouping = made
    found = nearest_of_all(likeness, grouping, n=8, most=25)
    assert found[7].keys() == {"words"}
    for row, near in enumerate(found):
        assert row == 7 or near["looks"], row
        assert all(row != other for view in near.values() for other, _ in view)
        own = int(grouping.code[row])
        if own >= 0:
            allowed = {own, *likeness.nearest[own].tolist()}
            assert all(int(grouping.code[other]) in allowed for view in near.values() for other, _ in view)
