"""Documents beside photographs: views that are about other items are counted and heard each by themselves."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix, hstack, vstack
from sklearn.metrics import adjusted_rand_score

import manyview
from manyview import ConsensusClustering, Views, suggest_n_clusters
from manyview.errors import ViewWarning
from manyview.methods.consensus._kinds import (
    best_sums,
    covered,
    items_of_kinds,
    kind_columns,
    kinds_of_views,
    present_in,
)


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


def parts(X):
    """The items of every kind, with their views alone."""
    return [X[items][[X.names[v] for v in views]] for items, views in items_of_kinds(present_in(X))]


def test_views_are_of_the_same_items_where_they_share_a_tenth_of_either_side():
    items = np.arange(100)
    assert kinds_of_views([items < 50, items >= 50]).tolist() == [0, 1]
    assert kinds_of_views([items < 50, items >= 45]).tolist() == [1, 0]  # five of 55; the larger kind is 0
    assert kinds_of_views([items < 50, items >= 44]).tolist() == [0, 0]  # six of 56
    assert kinds_of_views([items < 50, items >= 50, items % 2 == 0]).tolist() == [0, 0, 0]  # both with a third
    assert kinds_of_views([items == 3, items < 50, items >= 50]).tolist() == [0, 0, 1]  # captions of a few


def test_a_tag_on_an_item_of_either_kind_joins_nothing():
    items = np.arange(100)
    assert kinds_of_views([items < 50, items >= 50, np.isin(items, [3, 70])]).tolist() == [1, 0, 0]
    tags = (items >= 50) | (items < 4)  # all documents, four photographs
    assert kinds_of_views([items < 50, items >= 50, tags]).tolist() == [1, 0, 0]


def test_items_are_parted_by_kind():
    X, _ = mixed(30, 20, 0, both=1)
    first, second = parts(X)
    assert first.names == ("looks",) and first.n_items == 30 and second.names == ("words",) and second.n_items == 20
    X, _ = mixed(20, 30, 0, both=1)  # the larger kind takes who is of both
    assert [(part.names, part.n_items) for part in parts(X)] == [(("words",), 31), (("looks",), 19)]
    X, _ = mixed(30, 20, 0, both=10)
    assert [part.n_items for part in parts(X)] == [50]


def test_covered_by_hand():
    items = np.arange(10)
    assert covered([items < 5, items >= 4, items == 9]) == [0.2, 2 / 6, 1.0]


def test_best_sums_by_hand():
    assert best_sums([{2: 1.0, 3: 4.0}, {1: 1.0}]) == {3: 0.25, 4: 1.0}
    # 5 is 2 + 3 (.5 x 1) or 3 + 2 (1 x .25)
    assert best_sums([{2: 1.0, 3: 2.0}, {2: 1.0, 3: 4.0}]) == {4: 0.125, 5: 0.5, 6: 1.0}
    assert best_sums([{2: 0.0, 3: -1.0}]) == {2: 1.0, 3: 1.0}  # nothing tells them apart


@pytest.mark.parametrize("sizes", [(100, 120), (300, 80)])
def test_each_kind_is_counted_and_heard_by_itself(sizes, seed):
    X, truth = mixed(*sizes, seed)
    found = suggest_n_clusters(X, random_state=0)
    assert found.n_clusters == sum(suggest_n_clusters(part, random_state=0).n_clusters for part in parts(X)) == 9
    assert found.n_items == X.n_items and found.score[found.candidates == 9] == 1 and not found.is_guess
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # they tell no different stories
        model = ConsensusClustering(9).fit(X)
    assert not model.views_disagree_ and model.view_weights_.tolist() == [0.5, 0.5]
    assert np.isnan(model.view_agreement_["looks"]["words"])
    assert adjusted_rand_score(truth, model.labels_) > 0.9


def faint(seed, share=1.0):
    """Photographs whose groups are plain beside documents whose groups are not: one graph of both hides those."""
    rng = np.random.default_rng(seed)
    looks, _ = photographs(80, 4, rng)
    kinds = np.arange(120) % 4
    words = csr_matrix(rng.poisson(np.where(rng.random((4, 300)) < 0.1, 0.35, 0.12)[kinds]))
    rows = np.full((200, 64), np.nan)
    rows[:80] = looks
    return {"looks": rows, "words": vstack([csr_matrix((80, 300)), words]).tocsr()}


@pytest.mark.parametrize("beside", ["nothing", "a tag on one of each", "a constant", "one text"])
def test_what_does_not_join_kinds_does_not_change_the_number(beside, seed):
    views = faint(seed)
    alone = suggest_n_clusters(views, random_state=0).n_clusters
    assert alone == sum(suggest_n_clusters(part, random_state=0).n_clusters for part in parts(Views(views)))
    if beside == "a tag on one of each":
        views["tags"] = csr_matrix(([1.0, 1.0], ([3, 120], [0, 0])), shape=(200, 1))
    if beside == "a constant":
        views["constant"] = np.ones((200, 1))
    if beside == "one text":
        views["notes"] = csr_matrix(([1.0, 1.0], ([5, 5], [0, 1])), shape=(200, 2))
    assert suggest_n_clusters(views, random_state=0).n_clusters == alone


@pytest.mark.parametrize("n_texts", [1, 40])
def test_items_whose_view_says_nothing_are_no_group(n_texts, seed):
    rng = np.random.default_rng(seed)
    looks = np.full((90 + n_texts, 64), np.nan)
    looks[:90] = photographs(90, 3, rng)[0]
    words = csr_matrix((np.ones(n_texts), (90 + np.arange(n_texts), np.zeros(n_texts))), shape=(90 + n_texts, 1))
    assert suggest_n_clusters({"looks": looks, "words": words}, random_state=0).n_clusters == 3


def test_a_few_items_of_another_kind_are_a_group():
    X, _ = mixed(200, 3, 0, document_kinds=1)
    assert suggest_n_clusters(X, random_state=0).n_clusters == 6
    labels = ConsensusClustering(6).fit(X).labels_
    assert np.unique(labels[200:]).size == 1 and not np.isin(labels[200], labels[:200])


@pytest.mark.parametrize("sizes", [(100, 120), (90, 12)])
@pytest.mark.parametrize("n_clusters", [3, 9])
def test_no_cluster_of_any_level_has_items_of_two_kinds(sizes, n_clusters, seed):
    X, _ = mixed(*sizes, seed)
    model = ConsensusClustering(n_clusters, random_state=0, n_jobs=1).fit(X)
    is_text = np.arange(X.n_items) >= sizes[0]
    low, high = model.level_range_
    assert low == 2 and np.unique(model.cut(2)[is_text]).size == 1
    for level in (2, n_clusters, high):
        labels = model.cut(level)
        assert not np.isin(labels[is_text], labels[~is_text]).any()
        assert np.array_equal(model.at_level(level).predict(X), labels)


def test_new_items_go_to_their_own_kind(seed, tmp_path):
    X, _ = mixed(60, 15, seed, photo_kinds=3, document_kinds=2)
    more, _ = mixed(30, 20, seed, photo_kinds=3, document_kinds=2)
    model = ConsensusClustering(5, random_state=0, n_jobs=1).fit(X)
    manyview.save(model, tmp_path / "model")
    loaded = manyview.load(tmp_path / "model")
    for new in (more, Views({"looks": more["looks"][:30]}), Views({"words": more["words"][30:]})):
        labels = loaded.predict(new)
        assert np.array_equal(labels, model.predict(new))
        are_texts = np.arange(new.n_items) >= 30 if new is more else np.full(new.n_items, new.names == ("words",))
        assert not np.isin(labels[are_texts], model.labels_[:60]).any()
        assert not np.isin(labels[~are_texts], model.labels_[60:]).any()


def test_a_text_of_words_that_nobody_else_has_is_still_a_text(seed):
    X, _ = mixed(60, 40, seed, photo_kinds=3, document_kinds=2)
    words = hstack([X["words"], csr_matrix((100, 3))]).tolil()
    words[99] = 0
    words[99, 300:] = 1
    views = {"looks": X["looks"], "words": words.tocsr()}
    model = ConsensusClustering(5, random_state=0, n_jobs=1).fit(views)
    for level in (2, 5, model.level_range_[1]):
        labels = model.cut(level)
        assert labels[99] not in labels[:60]
        assert model.at_level(level).predict(Views(views)[[99]])[0] not in labels[:60]


def test_columns_of_kinds_by_hand():
    speaking = np.array([[True, False, False], [False, True, True], [True, True, False], [False, False, False]])
    columns = kind_columns(speaking, np.array([0, 1, 1]), 2.0)
    side = np.float32(np.sqrt(2.0))
    assert columns.tolist() == [[side, 0], [0, side], [side, 0], [0, 0]]  # of both kinds: the first; of none: neither
    assert kind_columns(speaking, np.zeros(3, dtype=int), 2.0).shape == (4, 0)


def test_a_rare_kind_is_not_lost_in_a_sample(seed):
    X, _ = mixed(2_000, 60, seed, document_kinds=3)
    assert suggest_n_clusters(X, max_items=600, random_state=0).n_clusters == 8


def test_a_view_that_most_items_have_alone_is_not_silenced_by_few(seed):
    """Documents tagged by subject, and one photograph in seven at random: that says nothing against the looks."""
    rng = np.random.default_rng(seed)
    X, truth = mixed(200, 200, seed, photo_kinds=4)
    tags = np.zeros((400, 6))
    tags[np.arange(200, 400), truth[200:] - 4] = 1
    tags[rng.choice(200, 28, replace=False), rng.integers(6, size=28)] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error", ViewWarning)
        model = ConsensusClustering(8).fit({**X, "tags": csr_matrix(tags)})
    assert model.says_["looks"] == 1
    assert adjusted_rand_score(truth[:200], model.labels_[:200]) > 0.9


def test_two_kinds_with_views_that_disagree_are_told_of_apart(seed):
    rng = np.random.default_rng(seed)
    views = {}
    for kind, items in (("a", slice(0, 120)), ("b", slice(120, 240))):
        for number in (1, 2):
            rows = np.full((240, 64), np.nan)
            rows[items] = rng.permutation(photographs(120, 4, rng)[0])
            views[f"{kind}{number}"] = rows
    with pytest.warns(ViewWarning, match="tell different stories") as told:
        ConsensusClustering(8).fit(views)
    said = [str(one.message) for one in told if "stories" in str(one.message)]
    assert len(said) == 2 and not any("a1" in one and "b1" in one for one in said)


def test_a_guess_about_most_items_is_a_guess_about_all():
    rng = np.random.default_rng(0)
    rows = np.full((2, 300, 3), np.nan)
    rows[0, :150], rows[1, 150:] = rng.normal(size=(2, 150, 3))
    both = suggest_n_clusters({"a": rows[0], "b": rows[1]}, random_state=0)
    one = [suggest_n_clusters(half[~np.isnan(half[:, 0])], random_state=0) for half in rows]
    assert both.is_guess and "guess" in both.reason and one[0].is_guess
    assert both.n_clusters == one[0].n_clusters + one[1].n_clusters


def test_only_the_numbers_asked_for_are_considered():
    X, _ = mixed(100, 120, 0)
    found = suggest_n_clusters(X, candidates=[2, 9, 30], random_state=0)
    assert found.n_clusters == 9 and found.candidates.tolist() == [2, 9, 30] and found.score[0] == 0
    assert found.coarser is None  # 2 is no sum of theirs
    assert suggest_n_clusters(X, candidates=[2], random_state=0).is_guess


def test_order_and_names_of_views_change_nothing():
    X, _ = mixed(100, 120, 0)
    turned = Views({"b": X["words"], "a": X["looks"]})
    one, other = (suggest_n_clusters(views, random_state=0) for views in (X, turned))
    assert one.n_clusters == other.n_clusters and np.array_equal(one.score, other.score)
    here, there = (ConsensusClustering(9, n_jobs=jobs).fit(views) for jobs, views in ((1, X), (2, turned)))
    for level in (2, 9, here.level_range_[1]):
        assert np.array_equal(here.cut(level), there.cut(level))
