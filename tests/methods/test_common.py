"""Every estimator through the same checks: manyview's own, and scikit-learn's on one plain array."""

import warnings

import numpy as np
import pandas as pd
import pyarrow
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

import manyview
from manyview.errors import ViewError, ViewWarning
from manyview.testing import check_multiview_estimator, multiview_checks, separated_views

REPEATS = "the random draws of the starts do not repeat when rows are weighted instead of repeated, as in KMeans"
WEIGHTED_STARTS = {
    "check_sample_weight_equivalence_on_dense_data": REPEATS,
    "check_sample_weight_equivalence_on_sparse_data": REPEATS,
}

# A cheap instance of each estimator, and the scikit-learn checks it may fail, each with its reason (at most three).
ESTIMATORS = [
    (manyview.RobustMultiviewKMeans(n_init=2), WEIGHTED_STARTS),
    (manyview.RobustMultiviewKMeans(n_init=2, assign="exact", view_weights="equal", view_scale=None), WEIGHTED_STARTS),
    (manyview.ConcatenatedKMeans(n_init=2, view_scale=("minmax", "mean_distance")), WEIGHTED_STARTS),
    (manyview.SingleViewKMeans(n_init=2), WEIGHTED_STARTS),
    (manyview.ConsensusClustering(3, members=1), {}),
    (manyview.AcceleratedKMeans(n_init=2), WEIGHTED_STARTS),
    (manyview.HierarchicalKMeans(n_starts=4), WEIGHTED_STARTS),
    (manyview.CrossModalClustering(n_starts=2), {}),
    (
        manyview.TagForest(3, n_estimators=200, min_samples_leaf=5),
        {"check_fit_score_takes_y": "fit(X, tags) takes tags, not y"},
    ),
]


def name(value):
    return type(value).__name__ if hasattr(value, "get_params") else None


def test_every_estimator_is_checked():
    public = {n for n in manyview.__all__ if hasattr(getattr(manyview, n), "fit_predict")}
    elsewhere = {"FusionART", "PLSA", "AnnotatedPLSA"}  # their own tests run the same checks
    assert public - elsewhere == {type(estimator).__name__ for estimator, _ in ESTIMATORS}


@pytest.mark.parametrize("estimator", [estimator for estimator, _ in ESTIMATORS], ids=name)
def test_multiview_checks(estimator):
    check_multiview_estimator(estimator)
    assert set(estimator.checks_not_applicable) <= set(multiview_checks())


@pytest.mark.parametrize("case", ESTIMATORS, ids=lambda case: name(case[0]))
def test_scikit_learn_checks(case):
    estimator, allowed = case
    assert len(allowed) <= 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", SkipTestWarning)
        warnings.filterwarnings("ignore", ".*is sparse but holds more than 0 and 1", ViewWarning)
        results = check_estimator(estimator, expected_failed_checks=allowed, on_fail=None)
    failed = {r["check_name"]: repr(r["exception"])[:300] for r in results if r["status"] == "failed"}
    assert not failed
    still_failing = {r["check_name"] for r in results if r["status"] == "xfail"}
    assert still_failing == set(allowed), "an exception is no longer needed"


@pytest.mark.parametrize("estimator", [estimator for estimator, _ in ESTIMATORS], ids=name)
def test_columns_of_frames_in_another_order_are_refused(estimator):
    X, _ = separated_views()
    looks = pd.DataFrame(X.joined()[:, :3], columns=["a", "b", "c"])
    model = clone(estimator).fit({"looks": looks})
    with pytest.raises(
        ViewError, match="the same columns in another order than in fit: column 0 is 'c', where 'a' was"
    ):
        model.predict({"looks": looks[["c", "b", "a"]]})
    assert (model.predict({"looks": looks}) == model.predict({"looks": looks.to_numpy()})).all()


def test_columns_of_tables_of_other_libraries_are_known_too():
    X, _ = separated_views()
    looks = X["looks"][:, :3]
    table = pyarrow.table({name: looks[:, i] for i, name in enumerate("abc")})
    model = manyview.AcceleratedKMeans(3, random_state=0).fit({"looks": table})
    assert (model.labels_ == model.predict({"looks": looks})).all()
    with pytest.raises(ViewError, match="the same columns in another order than in fit: column 0 is 'c', where 'a'"):
        model.predict({"looks": table.select(["c", "b", "a"])})


@pytest.mark.parametrize("name", ["RobustMultiviewKMeans", "AcceleratedKMeans", "ConsensusClustering", "PLSA"])
def test_long_indices_of_a_sparse_matrix(name):
    """As NumPy's own whole numbers are, alone as in a dict."""
    rng = np.random.default_rng(0)
    where = (rng.integers(0, 50, 300), rng.integers(0, 20, 300))
    rows = sparse.coo_array((np.ones(300), where), shape=(50, 20))
    model = getattr(manyview, name)(2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.array_equal(clone(model).fit(rows).labels_, clone(model).fit({"a": rows}).labels_)
