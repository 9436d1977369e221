"""suggest_n_clusters finds what is there, tells why, and draws it, for every clusterer."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans

import manyview
from manyview import suggest_n_clusters
from manyview.errors import ParameterError
from manyview.methods import halves as module


def blobs(n_items=200, n_blobs=5, d=6, seed=0, apart=6.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_blobs, d))[np.arange(n_items) % n_blobs] * apart + rng.normal(size=(n_items, d))


@pytest.mark.parametrize("n_blobs", [3, 6])
def test_both_ways_find_the_number_of_blobs(n_blobs):
    X = blobs(n_blobs=n_blobs, apart=12.0)
    model = manyview.AcceleratedKMeans(n_init=5)
    found = suggest_n_clusters(X, model, candidates=range(2, 10), n_repeats=2, random_state=0)
    assert found.n_clusters == found.by_stability == found.by_held_out == n_blobs
    assert found.stability.shape == found.held_out.shape == (8, 4)
    assert found.stability[n_blobs - 2].mean() > 0.99 > found.stability[-1].mean() + 0.1
    assert "agree" in found.reason
    other = suggest_n_clusters(X, model, candidates=range(2, 10), n_repeats=2, random_state=0, by="held_out")
    assert other.n_clusters == n_blobs and "bends most" in other.reason
    assert np.array_equal(other.stability, found.stability), "the same seed gave other trials"


def test_the_default_works_on_views_with_holes_and_tags():
    looks = blobs(150, 4, apart=10.0)
    tags = sparse.csr_matrix(np.eye(4)[np.arange(150) % 4])
    looks[:5] = np.nan
    views = {"looks": looks, "tags": tags}
    asked = {"candidates": [2, 4, 6], "n_repeats": 2, "random_state": 0, "n_jobs": 1}
    assert suggest_n_clusters(views, by="stability", **asked).n_clusters == 4
    assert suggest_n_clusters(views, **asked).n_clusters == 4
    assert module._check_candidates(None, 150).tolist() == [2, 3, 4, 5, 6, 7, 8, 9, 10, 12]
    assert module._check_candidates(None, 10**6)[-1] == 100


@pytest.mark.slow  # trials of every clusterer
def test_every_clusterer_of_ours():
    counts = (
        np.random.default_rng(0).poisson(np.repeat(np.eye(3), 4, axis=1)[np.arange(60) % 3] * 6 + 0.3).astype(float)
    )
    annotations = np.eye(3).repeat(4, axis=1) * 9
    cases = [
        (manyview.RobustMultiviewKMeans(n_init=2), {}),
        (manyview.HierarchicalKMeans(n_starts=2), {"sample_weight": np.ones(60)}),
        (manyview.PLSA(n_init=1, max_iter=30), {}),
        (manyview.AnnotatedPLSA(n_init=1, max_iter=30), {"annotations": annotations}),
        (manyview.ConsensusClustering(members=3), {}),
        (manyview.CrossModalClustering(n_components=4, n_starts=2), {}),
        (manyview.TagForest(n_estimators=20), {"tags": np.eye(3)[np.arange(60) % 3]}),
        (manyview.SingleViewKMeans(n_init=2), {}),
    ]
    for model, params in cases:
        X = [counts, counts[:, ::2]] if type(model).__name__ == "CrossModalClustering" else counts
        found = suggest_n_clusters(X, model, candidates=[2, 3], n_repeats=2, fit_params=params, random_state=0)
        assert np.isfinite(found.held_out).all() and found.by_stability == 3, type(model).__name__
    assert model.n_clusters == 8, "the estimator that was passed must stay as it is"


def test_items_and_what_belongs_to_them_are_cut_together():
    rows = np.array([0, 2])
    assert module._rows_of(["a", "b", "c"], rows, 3) == ["a", "c"]
    assert module._rows_of(np.arange(3), rows, 3).tolist() == [0, 2]
    assert module._rows_of(sparse.eye(3, format="csr"), rows, 3).shape == (2, 3)
    assert module._rows_of(np.eye(4), rows, 3).shape == (4, 4) and module._rows_of("abc", rows, 3) == "abc"
    assert module._rows_of(5, rows, 3) == 5
    frame = pd.DataFrame({"a": [10.0, 11.0, 12.0]}, index=[2, 0, 1])
    assert module._rows_of(frame["a"], rows, 3).tolist() == [10.0, 12.0], "rows were taken by label"
    assert module._rows_of(frame.set_index(frame.index + 100), rows, 3)["a"].tolist() == [10.0, 12.0]


def test_annotations_are_never_cut():
    counts = np.random.default_rng(0).poisson(2.0, size=(12, 5)) + 1.0
    seen = []

    class Spy(manyview.AnnotatedPLSA):
        def fit(self, X, y=None, *, annotations=None):
            seen.append(annotations)
            return super().fit(X, annotations=annotations)

    model, annotations = Spy(n_init=1, max_iter=2), np.ones((12, 5))  # as many tags as items
    given = {"annotations": annotations}
    suggest_n_clusters(counts, model, candidates=[2], n_repeats=1, fit_params=given, by="held_out", random_state=0)
    assert len(seen) == 2 and all(one is annotations for one in seen)


def test_the_spread_of_held_out_items_by_hand():
    views = manyview.Views({"a": np.array([[0.0], [2.0], [10.0], [1.0]]), "b": sparse.csr_matrix(np.eye(4))})
    here, there = np.array([0, 1, 2]), np.array([3])
    value = module._spread(views, here, np.array([0, 0, 1]), there, np.array([0]))
    variance_a, variance_b = np.var([0.0, 2.0, 10.0]), 3 * np.var([1, 0, 0])
    assert value == pytest.approx(0.0 / variance_a + (0.25 + 0.25 + 1.0) / variance_b)


def test_no_more_clusters_than_items_that_differ():
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 5)), 30, axis=0)
    asked = {"by": "stability", "n_repeats": 2, "random_state": 0}
    found = suggest_n_clusters(X, candidates=[3, 4, 5, 10], **asked)
    assert found.n_clusters == 4 and not found.stability[2:].any()
    with pytest.raises(ParameterError, match=r"agree on none of the candidates \(5, 10\).*smaller"):
        suggest_n_clusters(X, candidates=[5, 10], **asked)
    with pytest.raises(ParameterError, match="where 2 is too many, the items are one cluster"):
        suggest_n_clusters(np.ones((40, 3)), **asked)
    other = suggest_n_clusters(X, candidates=[5, 10], **(asked | {"by": "held_out"}))
    assert other.by_stability == 5 and "5 clusters" in other.svg()


def test_knees_and_ties():
    numbers = np.array([2, 3, 4, 5, 6])
    assert module._knee(numbers, np.array([0.0, 5.0, 9.0, 9.5, 10.0])) == 4
    assert module._knee(numbers, np.array([0.0, 5.0, 4.0, 3.0, 2.0])) == 3
    assert module._knee(numbers, np.array([5.0, 4.0, 3.0, 2.0, 1.0])) == 2
    steady = np.array([[1.0, 1.0], [0.7, 0.7], [1.0, 0.99], [0.2, 0.2], [0.1, 0.1]])
    assert module._largest_steady(numbers, steady) == 4


def test_large_collections_are_sampled(monkeypatch):
    seen = []
    monkeypatch.setattr(module, "_trial", lambda m, v, p, n, halves, s: seen.extend(halves) or ([1, 1], [n, n]))
    suggest_n_clusters(blobs(500), by="stability", candidates=[2, 3], n_repeats=1, max_items=100, random_state=0)
    assert [half.size for half in seen] == [50] * 4 and not np.intersect1d(seen[0], seen[1]).size


def test_the_plot_is_a_picture(tmp_path):
    found = suggest_n_clusters(blobs(80, 3), by="stability", candidates=[2, 3, 4], n_repeats=2, random_state=0)
    path = found.plot(tmp_path / "clusters.svg")
    root = ElementTree.fromstring(path.read_text())  # noqa: S314  our own file
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert f"agreement of two halves: {found.by_stability} clusters" in texts
    assert len([e for e in root.iter() if e.tag.endswith("polyline")]) == 4


def test_wrong_settings_are_named():
    X = blobs(40)
    for settings, words in (
        ({"estimator": manyview.FusionART()}, "finds the number of clusters by itself"),
        ({"estimator": object()}, "clusterer with fit and predict"),
        ({"estimator": KMeans()}, "KMeans could not be fitted to Views: .*AcceleratedKMeans"),
        ({"candidates": [2, 30]}, "at most half the number of different items"),
        ({"candidates": []}, "got none"),
        ({"candidates": [1]}, "candidates"),
        ({"by": "luck"}, "by must be"),
        ({"by": "stability", "candidates": [2, 30]}, "at most half the number of items, 20"),
        ({"by": "neighbours", "estimator": manyview.AcceleratedKMeans()}, "leave estimator out"),
        ({"n_repeats": 0}, "n_repeats"),
    ):
        with pytest.raises(ParameterError, match=words):
            suggest_n_clusters(X, **settings)
