"""Why TagCompleter proposes a tag: evidence that adds up, and who was asked."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans

import manyview
from manyview import TagCompleter, Views
from manyview.completion.reasons import explain_pairs
from manyview.errors import ParameterError

from .test_completer import LOOKS, VISIBLE, X


@pytest.mark.parametrize("method", ["combined", "joint", "view_ridge", "neighbours", "cooccurrence", "naive_bayes"])
def test_evidence_adds_up(method):
    """Intercept, tags, views and neighbours give the score back; a single source needs no more than its own parts."""
    model = TagCompleter(method=method).fit(X, VISIBLE)
    items, recipe = model._items(), model._recipe()
    rows = np.arange(6)
    for new in (False, True):
        if new:
            batch, near = items.new_batch(X[rows], VISIBLE[rows])
        else:
            batch, near = items.batch(rows, VISIBLE), items.near(rows)
        scores = recipe.scores(batch)
        asked, tags = (index.ravel() for index in np.indices((6, 13)))
        unknown = np.asarray(VISIBLE[asked, tags]).ravel() == 0
        asked, tags = asked[unknown], tags[unknown]
        evidence = explain_pairs(recipe, items, batch, near, asked, tags, VISIBLE.tocsc(), model.tag_names_)
        for row, tag, parts in zip(asked, tags, evidence, strict=True):
            assert sum(part.amount for part in parts) == pytest.approx(scores[row, tag], abs=1e-5)
            left = parts[-1].amount
            if method in ("neighbours", "cooccurrence") and batch.tags[row].nnz:
                assert left == pytest.approx(0, abs=1e-5)
            if method in ("joint", "view_ridge"):
                ridge = recipe.sources[method]
                intercept = (
                    ridge.tag_mean[tag] - ridge.tag_mean[ridge.inputs] @ ridge.coefficients(tag)[0][ridge.inputs]
                )
                intercept -= ridge.feature_mean @ ridge.coefficients(tag)[1]
                divisor = 1.0
                if not new:
                    residual = batch.tags.toarray() - ridge.fitted(batch)
                    divisor = ridge.denominators(batch, residual)[row, tag]
                assert left == pytest.approx(intercept / divisor, abs=1e-5)


def test_reasons_in_words():
    words = [["ski", "snow"], ["ski", "snow"], ["snow"], ["sea", "sand"], ["sea", "sand"], ["sea"]] * 8
    looks = np.array([[5.0, 0], [5, 0.1], [5, 0.2], [0, 5], [0.1, 5], [0.2, 5]] * 8)
    looks += np.random.default_rng(0).normal(size=looks.shape) * 0.1
    model = TagCompleter().fit(Views({"looks": looks}, ids=[f"{i}.jpg" for i in range(48)]), words)
    best = model.propose(top=1).of(2)[0]
    assert (best.tag, best.item_id) == ("ski", "2.jpg")
    assert (
        best.reason.startswith("ski: because of its looks (like ")
        and ".jpg" in best.reason
        and " 0 %" not in best.reason
    )
    assert ("tag", "snow") in [(one.kind, one.name) for one in best.evidence]
    shares = [one.share for one in best.evidence]
    assert sum(share for share in shares if share > 0) <= 1 + 1e-9
    carriers = next(one.items for one in best.evidence if one.kind == "view")
    assert carriers and all("ski" in words[t] for t in carriers)
    bare = TagCompleter(method="frequency").fit(None, words)
    assert bare.propose(top=1)[0].reason.endswith("frequent in this collection.")


def test_clusterers_and_their_reasons():
    kmeans = KMeans(4, n_init=3, random_state=0).fit(LOOKS)
    model = TagCompleter(kmeans, "cluster").fit(LOOKS, VISIBLE)
    sizes = np.bincount(kmeans.labels_)
    counts = np.zeros((4, 13))
    np.add.at(counts, kmeans.labels_, VISIBLE.toarray())
    expected = (counts[kmeans.labels_] - VISIBLE.toarray()) / (sizes[kmeans.labels_] - 1)[:, None]
    assert model.tag_scores() == pytest.approx(expected, abs=1e-6)
    assert model.tag_scores(LOOKS[:5]) == pytest.approx((counts / sizes[:, None])[kmeans.labels_[:5]], abs=1e-6)
    best = model.propose(top=1)[0]
    assert best.evidence[0].kind == "cluster" and f"cluster {kmeans.labels_[0]}" in best.reason
    joined = TagCompleter(kmeans).fit(LOOKS, VISIBLE)
    assert joined.sources_[-1] == "cluster" and joined.weights_.shape == (2, 6)
    assert clone(joined).model is kmeans


def test_a_forest_is_asked_and_says_who_is_alike():
    forest = manyview.TagForest(4, n_estimators=20, use_hierarchy=False, random_state=0).fit(LOOKS, VISIBLE)
    for method in ("neighbourhood", "affinity", "cluster"):
        model = TagCompleter(forest, method).fit(LOOKS, VISIBLE)
        assert model.tag_scores() == pytest.approx(forest.tag_scores(method=method), abs=2e-3)
        assert model.tag_scores(LOOKS[:3]) == pytest.approx(forest.tag_scores(LOOKS[:3], method=method), abs=1e-5)
        assert ((model.tag_probabilities() >= 0) & (model.tag_probabilities() <= 1)).all()
    best = TagCompleter(forest, "affinity").fit(LOOKS, VISIBLE).propose(top=1)[0]
    assert best.evidence[0].kind == "forest" and "same leaves (like" in best.reason
    assert all(VISIBLE[t, best.column] for t in best.evidence[0].items)
    with pytest.raises(ParameterError, match="other tags"):
        TagCompleter(forest, "affinity").fit(LOOKS, VISIBLE[:, :5])
    with pytest.raises(ParameterError, match="asks a TagForest"):
        TagCompleter(KMeans(3, n_init=1).fit(LOOKS), "affinity").fit(LOOKS, VISIBLE)
