"""A warning is shown where manyview was called, through scikit-learn's wrappers too."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import manyview
from manyview.errors import ViewWarning
from manyview.testing import separated_views

X, _ = separated_views(n_items=30)
CONSTANT = {**dict(X.items()), "constant": np.full((30, 2), 2.5)}
LACKING = {name: np.where(np.arange(30)[:, None] == 5, np.nan, matrix) for name, matrix in X.items()}
CLUSTERERS = {
    "robust": manyview.RobustMultiviewKMeans(3, n_init=1, random_state=0),
    "consensus": manyview.ConsensusClustering(3),
    "art": manyview.FusionART(random_state=0),
    "joined": manyview.ConcatenatedKMeans(3, n_init=1, random_state=0),
    "cross-modal": manyview.CrossModalClustering(3, n_starts=2, min_df=1, random_state=0),
    "forest": manyview.TagForest(3, n_estimators=5, random_state=0),
}


def heard_from(call):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        call()
    return [one.filename for one in heard]


@pytest.mark.parametrize("name", CLUSTERERS)
@pytest.mark.parametrize("views", [CONSTANT, LACKING], ids=["constant", "lacking"])
def test_of_clusterers(name, views):
    model = clone(CLUSTERERS[name])
    calls = [lambda: model.fit(views), lambda: model.fit_predict(views)]
    calls += [lambda: make_pipeline(FunctionTransformer(), model).fit_predict(manyview.Views(views))]
    calls += [lambda: model.fit(views).predict(LACKING)]
    for call in calls:
        files = heard_from(call)
        assert set(files) == {__file__}


def test_of_transformers():
    model = manyview.CanonicalFusion(50)
    for call in (lambda: model.fit(CONSTANT), lambda: model.fit_transform(CONSTANT), lambda: model.transform(LACKING)):
        assert set(heard_from(call)) == {__file__}


def test_of_completion():
    tags = [["even", "any"] if item % 2 else ["odd", "any"] for item in range(30)]
    assert set(heard_from(lambda: manyview.TagCompleter().fit(CONSTANT, tags))) == {__file__}


@pytest.mark.parametrize("name", CLUSTERERS)
def test_a_view_without_differences_is_named(name):
    """Not as one that is missing, though every item has it."""
    still = {"constant": CONSTANT["constant"], "one tag on all": np.ones((30, 1))}
    for called, matrix in still.items():
        with pytest.warns(ViewWarning, match=f"view '{called}' is the same for every item"):
            clone(CLUSTERERS[name]).fit({**dict(X.items()), called: matrix})


@pytest.mark.parametrize("name", CLUSTERERS)
def test_a_view_that_nobody_has_is_named(name):
    why = "holds nothing that two items share" if name == "consensus" else "is missing for every item"
    with pytest.warns(ViewWarning, match=f"view 'none' {why}"):
        clone(CLUSTERERS[name]).fit({**dict(X.items()), "none": np.full((30, 2), np.nan)})
