"""Why TagCompleter proposes a tag: evidence that adds up, and who was asked."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.cluster import KMeans

import manyview
from manyview import TagCompleter, Views
from manyview.completion.neighbours.nearest import weights_of
from manyview.completion.reasons import Pairs, explain_pairs
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
        told = explain_pairs(recipe, Pairs(batch, near, items, VISIBLE, asked, tags), model.tag_names_)
        for row, tag, parts in zip(asked, tags, told.evidence(), strict=True):
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


def literal_parts(model, items, batch, near, row, tag):
    """What each source adds to one pair, one by one, times its weight: {(kind, name): amount}."""
    recipe, found = model._recipe(), {}
    own = batch.tags[row].indices.tolist()

    def put(kind, called, amount):
        found[kind, called] = found.get((kind, called), 0.0) + weights[name] * amount

    weights = dict(zip(recipe.sources, recipe.weights[int(not own)], strict=True))
    for name, source in recipe.sources.items():
        if name in ("joint", "view_ridge", "words"):
            from_tags, from_features = source.coefficients(tag)
            divisor = 1.0
            if batch.rows is not None:
                divisor = source.denominators(batch, batch.tags.toarray() - source.fitted(batch))[row, tag]
            features, start = source.features(batch)[row], 0
            features = features.toarray().ravel() if name == "words" else features
            for j in own:
                put("tag", model.tag_names_[j], from_tags[j] / divisor if j != tag else 0.0)
            for v, width in enumerate(items.word_widths if name == "words" else items.widths):
                part = slice(start, start := start + width)
                put("view", items.spaces[v].name, features[part] @ from_features[part] / divisor)
        elif name == "neighbours":
            by_view = [weights_of(one)[row] for one in near]
            for v, one in enumerate(near):
                carry = model.tags_[one.items[row], tag].toarray().ravel() > 0
                put("view", items.spaces[v].name, by_view[v][carry].sum() / max(1, sum(w.any() for w in by_view)))
        elif name == "naive_bayes":
            lifts = {j: max(0.0, source.lift[j, tag] + source.apart[j]) for j in own}
            for j in own if any(lifts.values()) else []:
                above = source.scores(batch)[row, tag] - source.prior[tag]
                put("tag", model.tag_names_[j], above * lifts[j] / sum(lifts.values()))
    return {key: amount for key, amount in found.items() if amount}


@pytest.mark.parametrize("new", [False, True])
def test_parts_of_many_pairs_are_those_of_each_alone(new, monkeypatch):
    """With known tags among the pairs, items without tags or views, words, and tags that are no inputs."""
    monkeypatch.setattr("manyview.completion.ridge.MOST_INPUTS", 8)
    rng = np.random.default_rng(3)
    n = 60
    tags = csr_matrix((rng.random((n, 13)) < 0.25) * (rng.random((n, 1)) < 0.8), dtype=np.float32)
    text = csr_matrix(rng.poisson(0.3, (n, 30)) + np.kron(tags.toarray(), np.ones(3))[:, :30], dtype=np.float32)
    looks = rng.normal(size=(n, 4)) + tags[:, :4].toarray()
    mask = np.column_stack([rng.random(n) < 0.8, rng.random(n) < 0.9])
    X = Views({"looks": looks, "text": text}, mask=mask)
    model = TagCompleter(n_jobs=1).fit(X, tags)
    items, rows = model._items(), np.arange(12)
    if new:
        batch, near = items.new_batch(X[rows], tags[rows])
    else:
        batch, near = items.batch(rows, model.tags_), items.near(rows)
    asked, columns = (index.ravel() for index in np.indices((12, 13)))
    told = explain_pairs(model._recipe(), Pairs(batch, near, items, model.tags_, asked, columns), model.tag_names_)
    assert "words" in model.sources_ and (np.diff(batch.tags.indptr) == 0).any()
    for row, tag, all_, main in zip(asked, columns, told.evidence(), told.main().evidence(), strict=True):
        *parts, left = all_
        wanted = literal_parts(model, items, batch, near, row, tag)
        assert {(one.kind, one.name): one.amount for one in parts} == pytest.approx(wanted, abs=2e-6)
        assert [one.amount for one in parts] == sorted((one.amount for one in parts), reverse=True)
        total = sum(max(0.0, one.amount) for one in all_)
        assert [one.share for one in all_] == pytest.approx([one.amount / total for one in all_])
        for one in parts:
            v = [space.name for space in items.spaces].index(one.name) if one.kind == "view" else 0
            alike = [i for i, c in zip(near[v].items[row], near[v].cosines[row], strict=True) if c > 0 and tags[i, tag]]
            assert one.items == (tuple(alike[:3]) if one.kind == "view" else ())
        against = [one for one in parts if one.share < -0.25][-1:]
        shown = [*[one for one in parts if one.amount > 0][:3], *against, left]
        assert [(one.kind, one.name, one.items) for one in main] == [(one.kind, one.name, one.items) for one in shown]
