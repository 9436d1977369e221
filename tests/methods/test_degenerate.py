"""Whatever the data: a right answer, or an error that names what is wrong. Never NaN, never a stray warning."""

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import manyview
from manyview.errors import ManyviewError, ViewError, ViewWarning

EXAMPLES = int(os.environ.get("MANYVIEW_EXAMPLES", "50"))
ESTIMATORS = {
    "literal": manyview.RobustMultiviewKMeans(n_init=1, max_iter=20, random_state=0),
    "exact": manyview.RobustMultiviewKMeans(n_init=1, max_iter=20, random_state=0, assign="exact", view_scale=None),
    "mean": manyview.RobustMultiviewKMeans(
        n_init=1, max_iter=20, random_state=0, init="random", view_scale="mean_distance", view_weights="equal"
    ),
    "joined": manyview.ConcatenatedKMeans(n_init=1, max_iter=20, random_state=0),
    "consensus": manyview.ConsensusClustering(members=2, n_neighbors=3),
    "accelerated": manyview.AcceleratedKMeans(max_iter=20, random_state=0, empty_clusters="farthest"),
    "hierarchical": manyview.HierarchicalKMeans(n_starts=2, max_iter=20, random_state=0),
    "forest": manyview.TagForest(n_estimators=5, random_state=0),
    "cross-modal": manyview.CrossModalClustering(n_starts=2, random_state=0),
}


@st.composite
def collections(draw):
    """One to three views of one to twelve items, each spoiled in some way."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(1, 12))
    views = []
    for _ in range(draw(st.integers(1, 3))):
        d = draw(st.sampled_from([1, 2, 5]))
        X = rng.normal(size=(n, d))
        spoil = draw(
            st.sampled_from(
                [
                    "nothing",
                    "zero rows",
                    "duplicates",
                    "constant",
                    "constant column",
                    "missing",
                    "huge",
                    "tiny",
                    "largest",
                    "subnormal",
                    "integers",
                ]
            )
        )
        if spoil == "zero rows":
            X[rng.random(n) < 0.5] = 0
        elif spoil == "duplicates":
            X = X[rng.integers(0, 2, size=n) % n]
        elif spoil == "constant":
            X[:] = rng.normal()
        elif spoil == "constant column":
            X[:, 0] = 3.25
        elif spoil == "missing":
            X[rng.random(n) < 0.4] = np.nan
        elif spoil == "huge":
            X *= 1e30
        elif spoil == "tiny":
            X *= 1e-30
        elif spoil == "largest":
            X = X / np.abs(X).max() * 1.7e308
        elif spoil == "subnormal":
            X *= 1e-310
        elif spoil == "integers":
            X = np.round(X).astype(np.int32)
        form = draw(st.sampled_from(["plain", "float32", "fortran", "read-only", "sparse", "float16"]))
        if form == "float32" or (form == "float16" and spoil in ("huge", "tiny")):
            with np.errstate(over="ignore", under="ignore"):
                X = X.astype(np.float32)
        elif form == "float16":
            with np.errstate(over="ignore", under="ignore"):
                X = X.astype(np.float16)
        elif form == "fortran":
            X = np.asfortranarray(X)
        elif form == "read-only":
            X.flags.writeable = False
        elif form == "sparse" and not np.isnan(X).any():
            X = sparse.coo_matrix(X).tocsr()[:, ::-1]  # unsorted indices
        views.append(X)
    return views, draw(st.integers(1, n))


@pytest.fixture
def counted(record_property):
    record_property("count", EXAMPLES)


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.usefixtures("counted")
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=collections())
def test_degenerate_data(name, data):
    views, n_clusters = data
    model = ESTIMATORS[name].set_params(n_clusters=n_clusters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ViewWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            model.fit(views)
        except ValueError as error:
            # Items that lack every view do not count towards n_clusters.
            assert "n_samples" in str(error) or "view" in str(error)
            return
        predicted = model.predict(views)
    lacking = np.all(
        [np.isnan(X).all(axis=1) if isinstance(X, np.ndarray) else [False] * X.shape[0] for X in views], axis=0
    )
    for labels in (model.labels_, predicted):
        assert labels.dtype.kind == "i" and ((labels >= 0) | lacking).all() and (labels < n_clusters).all()
        assert (labels[lacking] == -1).all()
    for centres in model.cluster_centers_.values():
        assert np.isfinite(centres).all()
    if hasattr(model, "objective_"):
        assert np.isfinite(model.objective_).all()
    if hasattr(model, "view_weights_"):
        assert np.isfinite(model.view_weights_).all() and model.view_weights_.sum() == pytest.approx(1.0)


MAGNITUDES = [1.7e308, 1e307, 1e299, 1e200, 1e154, 3e38, 1e38, 1e-38, 1e-44, 1e-154, 1e-200, 1e-307, 1e-310, 5e-324]
OTHERS = {
    "art": manyview.FusionART(random_state=0),
    "plsa": manyview.PLSA(2, n_init=1, max_iter=20, random_state=0),
    "annotated": manyview.AnnotatedPLSA(2, n_init=1, max_iter=20, random_state=0),
    "single": manyview.SingleViewKMeans(2, n_init=1, max_iter=20, random_state=0),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", ["both signs", "positive", "sparse", "one column", "float32", "float32 column"])
@pytest.mark.parametrize("name", [*ESTIMATORS, *OTHERS])
def test_every_magnitude(name, form):
    """A right answer or an error that names the view, in fit and for new items; no warning gets out."""
    rng = np.random.default_rng(0)
    plain = clone(OTHERS[name] if name in OTHERS else ESTIMATORS[name].set_params(n_clusters=2))
    known = clone(plain).fit({"odd": rng.uniform(0.1, 1, size=(12, 5))})
    for magnitude in MAGNITUDES:
        x = rng.uniform(-1 if form == "both signs" else 0.01, 1, size=(12, 5))
        if form.startswith("float32"):
            magnitude = min(max(magnitude, 1e-44), 3e38)
        x[:, 1 if "column" in form else slice(None)] *= magnitude
        x = sparse.csr_matrix(x) if form == "sparse" else x.astype(np.float32) if "float32" in form else x
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ViewWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)
            for views in ({"odd": x}, {"looks": rng.uniform(size=(12, 3)), "odd": x}):
                try:
                    model = clone(plain).fit(views)
                    assert model.predict(views).shape == (12,)
                except ManyviewError as error:
                    assert "view 'odd'" in str(error) or "view 'looks', 'odd'" in str(error)
                    continue
                for centres in getattr(model, "cluster_centers_", {}).values():
                    assert np.isfinite(centres.data if sparse.issparse(centres) else centres).all()
            try:
                assert known.predict({"odd": x}).shape == (12,)
            except ManyviewError as error:
                assert "view 'odd'" in str(error)


@pytest.mark.parametrize(
    "model",
    [manyview.ConsensusClustering(2), manyview.AcceleratedKMeans(2), manyview.ConcatenatedKMeans(2), manyview.PLSA(2)],
)
def test_items_that_all_lack_every_view_are_told_of(model):
    nothing = np.full((6, 3), np.nan)
    with pytest.warns(ViewWarning, match="lack every view"):
        with pytest.raises(ViewError, match="every item lacks every view.*n_clusters=2 items need"):
            model.fit([nothing, nothing])


def test_items_without_any_count_are_told_of():
    with pytest.raises(ViewError, match="no item has any count above 0"):
        manyview.PLSA(2).fit(np.zeros((6, 3)))


@pytest.mark.filterwarnings("ignore:.*is the same for every item:manyview.errors.ViewWarning")
@pytest.mark.parametrize("n_kinds", [1, 2])
def test_more_copies_than_a_forest_keeps_neighbours_stay_together(n_kinds):
    X = np.repeat(np.random.default_rng(0).normal(size=(n_kinds, 5)), 60, axis=0)
    words = [[f"kind {item // 60}"] for item in range(len(X))]
    with pytest.warns(ConvergenceWarning, match=f"found {n_kinds} distinct cluster"):
        model = manyview.TagForest(3, n_estimators=100, random_state=0).fit(X, words)
    assert all(np.unique(model.labels_[60 * kind : 60 * kind + 60]).size == 1 for kind in range(n_kinds))
    assert np.array_equal(model.predict(X), model.labels_)
