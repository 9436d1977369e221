"""Documents beside photographs: views that are about other items are counted and heard each by themselves."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack
from sklearn.metrics import adjusted_rand_score

from manyview import ConsensusClustering, Views, suggest_n_clusters
from manyview.methods.consensus._kinds import best_sums, by_kind, kinds_of_views


def photographs(n, n_kinds, rng):
    kinds = np.arange(n) % n_kinds
    return rng.normal(size=(n_kinds, 64))[kinds] * 1.5 + rng.normal(size=(n, 64)), kinds


def documents(n, n_kinds, rng):
    kinds = np.arange(n) % n_kinds
    usual = np.where(rng.random((n_kinds, 300)) < 0.1, 1.0, 0.02)
    return csr_matrix(rng.poisson(usual[kinds] * 1.5)), kinds


def mixed(n_photographs, n_documents, seed, photo_kinds=5, document_kinds=4, both=0):
    """A table of looks and one of words; the first ``both`` photographs have a text as well."""
    rng = np.random.default_rng(seed)
    looks, of_looks = photographs(n_photographs, photo_kinds, rng)
    words, of_words = documents(n_documents, document_kinds, rng)
    rows = np.full((n_photographs + n_documents, 64), np.nan)
    rows[:n_photographs] = looks
    texts = vstack([words[:both], csr_matrix((n_photographs - both, 300)), words]).tocsr()
    return Views({"looks": rows, "words": texts}), np.r_[of_looks, photo_kinds + of_words]


def test_views_are_of_the_same_items_where_they_share_a_tenth_of_the_smaller():
    items = np.arange(100)
    assert kinds_of_views([items < 50, items >= 50]).tolist() == [0, 1]
    assert kinds_of_views([items < 50, items >= 45]).tolist() == [0, 0]  # five of 50
    assert kinds_of_views([items < 50, items >= 46]).tolist() == [0, 1]  # four of 50
    assert kinds_of_views([items < 50, items >= 50, items % 2 == 0]).tolist() == [0, 0, 0]  # both with a third
    assert kinds_of_views([items < 50, items >= 50, items == 3]).tolist() == [0, 1, 0]


def test_items_are_parted_by_kind():
    X, _ = mixed(30, 20, 0, both=1)
    first, second = by_kind(X)
    assert first.names == ("looks",) and first.n_items == 30 and second.names == ("words",) and second.n_items == 20
    X, _ = mixed(20, 30, 0, both=1)  # the larger kind takes who is of both
    assert [(part.names, part.n_items) for part in by_kind(X)] == [(("words",), 31), (("looks",), 19)]
    X, _ = mixed(30, 20, 0, both=10)
    assert by_kind(X) == [X]


def test_best_sums_by_hand():
    assert best_sums([{2: 1.0, 3: 4.0}, {1: 1.0}]) == {3: 0.25, 4: 1.0}
    # 5 is 2 + 3 (.5 x 1) or 3 + 2 (1 x .25)
    assert best_sums([{2: 1.0, 3: 2.0}, {2: 1.0, 3: 4.0}]) == {4: 0.125, 5: 0.5, 6: 1.0}
    assert best_sums([{2: 0.0, 3: -1.0}]) == {2: 1.0, 3: 1.0}  # nothing tells them apart


@pytest.mark.parametrize("sizes", [(100, 120), (300, 80)])
def test_each_kind_is_counted_and_heard_by_itself(sizes, seed):
    X, truth = mixed(*sizes, seed)
    found = suggest_n_clusters(X, random_state=0)
    parts = [suggest_n_clusters(part, random_state=0) for part in by_kind(X)]
    assert found.n_clusters == sum(part.n_clusters for part in parts) == 9
    assert found.n_items == X.n_items and found.score[found.candidates == 9] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # they tell no different stories
        model = ConsensusClustering(9).fit(X)
    assert not model.views_disagree_ and model.view_weights_.tolist() == [0.5, 0.5]
    assert np.isnan(model.view_agreement_["looks"]["words"])
    assert adjusted_rand_score(truth, model.labels_) > 0.9


def test_a_few_items_of_another_kind_are_a_group():
    X, _ = mixed(200, 3, 0)
    assert suggest_n_clusters(X, random_state=0).n_clusters == 6
    labels = ConsensusClustering(6).fit(X).labels_
    assert np.unique(labels[200:]).size == 1 and not np.isin(labels[200], labels[:200])


def test_only_the_numbers_asked_for_are_considered():
    X, _ = mixed(100, 120, 0)
    found = suggest_n_clusters(X, candidates=[2, 9, 30], random_state=0)
    assert found.n_clusters == 9 and found.candidates.tolist() == [2, 9, 30] and found.score[0] == 0


def test_order_and_names_of_views_change_nothing():
    X, _ = mixed(100, 120, 0)
    turned = Views({"b": X["words"], "a": X["looks"]})
    one, other = (suggest_n_clusters(views, random_state=0) for views in (X, turned))
    assert one.n_clusters == other.n_clusters and np.array_equal(one.score, other.score)
