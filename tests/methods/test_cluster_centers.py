"""``cluster_centers_`` where none of a cluster's items has the view: the mean of those that have it."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import manyview
from manyview import TagTable, Views

MEANS = {
    "AcceleratedKMeans": {},
    "ConcatenatedKMeans": {},
    "ConsensusClustering": {},
    "CrossModalClustering": {},
    "HierarchicalKMeans": {},
    "TagForest": {"n_estimators": 20},
}


def two_groups():
    """Two groups far apart in ``where`` and ``when``; nobody of the second has ``looks``."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 30)
    looks = 10.0 + rng.normal(size=(60, 2))
    looks[group == 1] = np.nan
    where, when = (40.0 * group[:, None] + rng.normal(size=(60, 3)) for _ in range(2))
    return group, Views({"where": where, "when": when, "looks": looks})


@pytest.mark.parametrize("name", MEANS)
def test_a_cluster_without_the_view_gets_the_overall_mean(name):
    group, views = two_groups()
    model = getattr(manyview, name)(2, random_state=0, **MEANS[name])
    words = TagTable.from_lists([[f"group{number}"] for number in group])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(views, words) if name == "TagForest" else model.fit(views)
    without = model.labels_[-1]
    assert (model.labels_ == without).tolist() == (group == 1).tolist()
    overall = np.nanmean(views["looks"], axis=0)
    assert np.allclose(model.cluster_centers_["looks"], overall, rtol=1e-9)
    assert np.allclose(model.cluster_centers_["where"][without], views["where"][group == 1].mean(axis=0), rtol=1e-9)


def test_a_hidden_row_of_a_sparse_view_says_nothing():
    words = np.zeros((40, 3))
    words[:20, 0] = words[20:, 1] = 1
    hidden = words.copy()
    hidden[5] = [0, 50, 50]  # whatever the mask hides
    mask = np.ones((40, 1), dtype=bool)
    mask[5] = False
    mask = np.column_stack([mask, np.ones(40, dtype=bool)])
    place = np.repeat([[0.0], [1.0]], 20, axis=0)
    fitted = [
        manyview.ConcatenatedKMeans(2, random_state=0).fit(
            Views({"words": sparse.csr_matrix(table), "place": place}, mask=mask)
        )
        for table in (words, hidden)
    ]
    assert np.allclose(fitted[0].cluster_centers_["words"], fitted[1].cluster_centers_["words"])


@pytest.mark.parametrize("name", ["RobustMultiviewKMeans", "ConcatenatedKMeans", "SingleViewKMeans"])
def test_items_of_weight_zero_move_nothing_and_means_are_weighted(name):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.1, (10, 2)), rng.normal(5, 0.1, (10, 2)), [[1e4, 1e4]], rng.normal(3, 9, (9, 2))])
    weight = np.repeat([1.0, 0.0], [20, 10])
    weight[0] = 3.0
    make = getattr(manyview, name)
    model = make(2, random_state=0).fit(X, sample_weight=weight)
    alone = make(2, random_state=0).fit(X[:20], sample_weight=weight[:20])
    assert np.array_equal(model.labels_[:20], alone.labels_) and (model.labels_ >= 0).all()
    centres, label = model.cluster_centers_, model.labels_[0]
    centres = centres["view0"] if isinstance(centres, dict) else centres
    np.testing.assert_allclose(centres[label], np.average(X[:10], axis=0, weights=weight[:10]))
