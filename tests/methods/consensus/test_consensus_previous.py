"""ConsensusClustering that goes on from earlier clusters."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from manyview import ConsensusClustering, Views
from manyview.errors import ParameterError
from manyview.testing import separated_views


def hard_views(n=600, seed=0):
    """Items without clear clusters, where a fit by itself depends on who else is there."""
    rng = np.random.default_rng(seed)
    y = rng.integers(6, size=n)
    return Views(
        {"a": rng.standard_normal((n, 6)) + 1.2 * y[:, None] % 3, "b": rng.standard_normal((n, 4)) + y[:, None] % 2}
    )


def kept(before, after):
    """The largest share of items in matched clusters."""
    from scipy.optimize import linear_sum_assignment

    known = before >= 0
    table = np.zeros((before.max() + 1, after.max() + 1))
    np.add.at(table, (before[known], after[known]), 1)
    return table[linear_sum_assignment(-table)].sum() / known.sum()


@pytest.mark.slow  # many fits
def test_going_on_from_earlier_clusters_keeps_what_chance_would_change():
    X = hard_views()
    late = np.arange(600) % 11 == 0
    previous = np.full(600, -1)
    previous[~late] = ConsensusClustering(6).fit_predict(X[~late])
    fresh, going_on = (ConsensusClustering(6, previous=part).fit(X) for part in (None, previous))
    assert kept(previous, going_on.labels_) >= 0.95 > kept(previous, fresh.labels_)
    renamed = np.where(previous >= 0, (previous * 7 + 3) % 101, -1)  # only who is with whom counts
    assert np.array_equal(ConsensusClustering(6, previous=renamed).fit_predict(X), going_on.labels_)
    other = ConsensusClustering(4, previous=previous).fit(X)  # another number: it votes, but is no start
    assert other.n_clusters_ == 4
    nobody = ConsensusClustering(6, previous=np.full(600, -1)).fit(X)
    assert np.array_equal(nobody.labels_, fresh.labels_)


def test_going_on_does_not_freeze_what_the_data_contradict():
    X, truth = separated_views()
    wrong = np.random.default_rng(0).permutation(truth)
    found = ConsensusClustering(3, previous=wrong).fit_predict(X)
    assert adjusted_rand_score(truth, found) == 1.0


def test_earlier_labels_are_checked():
    X, truth = separated_views()
    with pytest.raises(ParameterError, match="previous must hold 60 whole numbers"):
        ConsensusClustering(3, previous=truth[:-1]).fit(X)
    with pytest.raises(ParameterError, match="previous must hold"):
        ConsensusClustering(3, previous=truth.astype(float)).fit(X)
