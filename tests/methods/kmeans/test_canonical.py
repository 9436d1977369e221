"""The canonical arithmetic of robust k-means: a slow literal twin, and the same bits however the work is cut."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import manyview
from manyview import RobustMultiviewKMeans, Views
from manyview.data import source
from manyview.engines import base
from manyview.methods.kmeans import _robust_rounds

from .rmkmc_reference import canonical_rounds, start_from


def overlapping(rng, n, widths, dtypes, missing=0.0, n_blobs=4):
    """Views of clusters that overlap so much that many items are close calls."""
    truth = rng.integers(n_blobs, size=n)
    views = {}
    for v, (width, dtype) in enumerate(zip(widths, dtypes, strict=True)):
        X = rng.normal(size=(n_blobs, width))[truth] + 2 * rng.normal(size=(n, width))
        if dtype == "sparse":
            views[f"tags{v}"] = csr_array((X > 2.0).astype(np.float32))
            continue
        X[rng.random(n) < missing] = np.nan
        views[f"looks{v}"] = X.astype(dtype)
    return Views(views)


@pytest.mark.parametrize("rule", ["literal", "exact"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_equals_the_literal_twin_in_every_round(rule, dtype, missing, seed):
    rng = np.random.default_rng(seed)
    X = overlapping(rng, 300, (5, 17), (dtype, dtype), missing)
    X = X[X.mask.any(axis=1)]
    labels = rng.integers(4, size=X.n_items)
    for n_rounds in (1, 2, 5, 20):
        given = {"gamma": 3.0, "assign": rule, "max_iter": n_rounds, "tol": 0, "n_clusters": 4}
        model, problem, outcome = start_from(X, labels, view_scale="minmax", **given)
        scales = [model.view_factor_[name] for name in X.names]
        expected, history = canonical_rounds(
            list(X.values()), X.mask, labels, 4, 3.0, rule, len(outcome.objective), problem.eps, scales
        )
        assert np.array_equal(outcome.labels, expected)
        points, H = history[-1]
        close = {"rtol": 0, "atol": 0} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-14}
        assert all(np.allclose(a, b, **close) for a, b in zip(outcome.centroids, points, strict=True))
        assert np.allclose(outcome.residual_sums / problem.unit, H, rtol=1e-13)


pytestmark = pytest.mark.filterwarnings("ignore:.*lack every view:manyview.errors.ViewWarning")
KINDS = {
    "float32": (np.float32, np.float32),
    "float64": (np.float64, np.float64),
    "mixed": (np.float32, np.float64),
    "sparse": (np.float32, "sparse"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rule", ["literal", "exact"])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_labels_do_not_depend_on_blocks_threads_or_what_was_kept(kind, rule, missing, monkeypatch, tmp_path, seed):
    rng = np.random.default_rng(seed)
    X = overlapping(rng, 700, (9, 30), KINDS[kind], missing)
    given = {"n_clusters": 7, "assign": rule, "view_scale": "minmax", "n_init": 2, "random_state": 0, "max_iter": 40}

    def labels(X=X, most=4096, seconds=1.0, n_jobs=1):
        monkeypatch.setattr(_robust_rounds, "MOST_ROWS", most)
        monkeypatch.setattr(base, "SPAN_SECONDS", seconds)
        return RobustMultiviewKMeans(**given, n_jobs=n_jobs).fit(X).labels_

    whole = labels()
    assert np.unique(whole[whole >= 0]).size == 7
    for most, seconds, n_jobs in ((100, 1.0, 2), (64, 1e-6, 1), (33, 2e-5, 2)):
        assert np.array_equal(labels(most=most, seconds=seconds, n_jobs=n_jobs), whole)
    for name, matrix in X.items():
        if name.startswith("looks"):
            np.save(tmp_path / f"{name}.npy", matrix)
    files = {n: np.load(tmp_path / f"{n}.npy", mmap_mode="r") if n.startswith("looks") else X[n] for n in X.names}
    assert np.array_equal(labels(Views(files), most=100), whole)
    monkeypatch.setattr(source, "_MOST_OPEN", 0)  # every kept residual is lost at once
    monkeypatch.setattr(source.RowSource, "rows", _forgetful(source.RowSource.rows))
    assert np.array_equal(labels(most=100, seconds=1e-6), whole)


def _forgetful(rows):
    def opened(self, *given):
        self.forget()
        return rows(self, *given)

    return opened


def test_kept_and_lost_residuals_give_the_same_bits(monkeypatch, seed):
    X = overlapping(np.random.default_rng(seed), 400, (9, 30), KINDS["float64"], 0.2)

    def model():
        return RobustMultiviewKMeans(5, n_init=1, view_scale="minmax", random_state=0, max_iter=30).fit(X)

    kept = model()
    monkeypatch.setattr(source.RowSource, "rows", _forgetful(source.RowSource.rows))
    lost = model()
    assert np.array_equal(kept.objective_, lost.objective_)
    assert all(np.array_equal(kept.cluster_centers_[name], lost.cluster_centers_[name]) for name in X.names)


def test_empty_clusters_are_given_the_same_items_however_the_rows_are_cut(monkeypatch):
    """Many starts leave clusters empty: few distinct items, far apart."""
    rng = np.random.default_rng(3)
    X = np.repeat(rng.normal(size=(12, 4)) * 10, 40, axis=0) + rng.normal(size=(480, 4)) * 1e-3
    given = {"n_clusters": 12, "init": "partition", "view_scale": None, "n_init": 4, "random_state": 1}
    whole = RobustMultiviewKMeans(**given).fit(X)
    assert whole.n_reseeded_ > 0
    for most in (7, 100):
        monkeypatch.setattr(_robust_rounds, "MOST_ROWS", most)
        monkeypatch.setattr(base, "SPAN_SECONDS", 1e-6)
        cut = RobustMultiviewKMeans(**given, n_jobs=2).fit(X)
        assert np.array_equal(cut.labels_, whole.labels_) and cut.n_reseeded_ == whole.n_reseeded_


def test_engines_of_this_machine_agree():
    X = overlapping(np.random.default_rng(0), 500, (9, 30), KINDS["mixed"])
    found = []
    for where, n_jobs in (("serial", None), ("threads", 2), ("threads", None)):
        with manyview.on(where, n_jobs=n_jobs):
            found.append(RobustMultiviewKMeans(5, view_scale="minmax", n_init=1, random_state=0).fit(X).labels_)
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])
