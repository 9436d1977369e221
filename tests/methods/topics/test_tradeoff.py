"""The tradeoff of AnnotatedPLSA that makes held-out words likeliest."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview import AnnotatedPLSA, annotation_matrix, load, save
from manyview.errors import ParameterError
from manyview.methods.topics._tradeoff import TRIED, find_tradeoff, hold_out, word_likelihood


def collection(length, related, seed=0):
    """Items of three topics with so many words each, and tags of other items: of the same topics, or of others."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(60, 0.1), 3)
    theirs = topics if related else rng.dirichlet(np.full(60, 0.1), 3)
    kinds = np.arange(90) % 3
    annotations = annotation_matrix(np.eye(3)[kinds], rng.multinomial(100, theirs[kinds]))
    return rng.multinomial(length, topics[np.arange(30) % 3]), annotations


def test_a_fifth_of_the_words_is_held_out():
    counts = csr_matrix(np.random.default_rng(0).poisson(3, (200, 40)).astype(float))
    left, held = hold_out(counts, np.random.default_rng(1))
    np.testing.assert_array_equal((left + held).toarray(), counts.toarray())
    assert left.data.min() >= 0 and held.sum() / counts.sum() == pytest.approx(0.2, abs=0.01)
    weights = csr_matrix(counts.toarray() / 7)  # not whole: an entry goes or stays
    left, held = hold_out(weights, np.random.default_rng(1))
    assert set(np.unique(held.data / weights.data)) == {0.0, 1.0}
    assert (held.data > 0).mean() == pytest.approx(0.2, abs=0.01)


def test_likelihood_by_hand():
    model = SimpleNamespace(item_topics_=np.array([[0.5, 0.5]]), topic_features_=np.array([[0.8, 0.2], [0.4, 0.6]]))
    held = csr_matrix([[3.0, 1.0]])  # the words have probabilities .6 and .4, of which a hundredth is spread evenly
    expected = (3 * np.log(0.99 * 0.6 + 0.005) + np.log(0.99 * 0.4 + 0.005)) / 4
    assert word_likelihood(model, held) == pytest.approx(expected, rel=1e-12)


def test_long_items_beside_strange_annotations_go_by_themselves_and_short_ones_lean():
    counts, strange = collection(300, related=False)
    assert AnnotatedPLSA(3, tradeoff="auto", random_state=0).fit(counts, annotations=strange).tradeoff_ == 1
    counts, kindred = collection(5, related=True)
    assert AnnotatedPLSA(3, tradeoff="auto", random_state=0).fit(counts, annotations=kindred).tradeoff_ <= 0.2


def test_it_is_the_fit_with_the_number_that_was_found(tmp_path):
    counts, annotations = collection(20, related=True)
    views = {"a": counts[:, :25], "b": csr_matrix(counts[:, 25:])}
    for X, tags in ((counts, annotations), (views, {"a": annotations[:, :25], "b": annotations[:, 25:]})):
        auto = AnnotatedPLSA(3, tradeoff="auto", random_state=0).fit(X, annotations=tags)
        assert auto.tradeoff_ in TRIED
        same = AnnotatedPLSA(3, tradeoff=auto.tradeoff_, random_state=0).fit(X, annotations=tags)
        np.testing.assert_array_equal(auto.item_topics_, same.item_topics_)
    save(auto, tmp_path / "model")
    assert load(tmp_path / "model").tradeoff_ == auto.tradeoff_


def test_corners():
    counts, annotations = collection(5, related=True)
    alone = AnnotatedPLSA(3, tradeoff="auto", random_state=0).fit(counts)
    assert alone.tradeoff_ == 1  # nothing to weigh the items against
    assert find_tradeoff(AnnotatedPLSA(2, random_state=0), np.eye(2, 60), annotations) == 0.2  # too few words
    with pytest.raises(ParameterError, match="tradeoff"):
        AnnotatedPLSA(3, tradeoff="much").fit(counts, annotations=annotations)
    da = pytest.importorskip("dask.array")
    with pytest.raises(ParameterError, match="give a number for Dask arrays"):
        AnnotatedPLSA(3, tradeoff="auto").fit(da.from_array(counts, chunks=(10, 60)), annotations=annotations)
