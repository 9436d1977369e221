"""The ridge that is found: directions that hold for items left out."""

import numpy as np
import pytest

from manyview import CanonicalFusion, CrossModalClustering, Views, metrics
from manyview.engines.choice import working
from manyview.errors import ParameterError
from manyview.methods.canonical import _ridge
from manyview.methods.canonical._ridge import RIDGES, choose_ridge


def few_pairs(n_items=150, n_features=300, n_topics=5, seed=0):
    """Topics that looks and tags share, in noise that a weak ridge takes for more."""
    rng = np.random.default_rng(seed)
    topic = np.arange(n_items) % n_topics
    looks = 1.5 * rng.normal(size=(n_topics, n_features))[topic] + 3.0 * rng.normal(size=(n_items, n_features))
    tags = (
        rng.random((n_items, 6 * n_topics)) < np.where(np.arange(6 * n_topics) // 6 == topic[:, None], 0.5, 0.03)
    ) * 1.0
    return topic, looks, tags


def found(views, seed=0, n_components=8):
    with working(1) as engine:
        return choose_ridge(Views(views), n_components, np.random.default_rng(seed), engine)


def test_it_is_the_best_of_a_literal_search(monkeypatch):
    _, looks, tags = few_pairs()
    looks[::7] = np.nan
    monkeypatch.setattr(_ridge, "_LOOKED_AT", 10_000)
    views = Views({"looks": looks, "tags": tags})
    several = np.flatnonzero(views.mask.all(axis=1))
    rng = np.random.default_rng(3)
    for items in (several, np.flatnonzero(~views.mask.all(axis=1))):
        rng.permutation(items)  # who is looked at: everybody
    fold = rng.permutation(several.size) % 5
    scores = []
    for ridge in RIDGES:
        score = 0.0
        for number in range(5):
            out = several[fold == number]
            model = CanonicalFusion(8, regularization=ridge).fit(views[np.setdiff1d(np.arange(looks.shape[0]), out)])
            a = model.coordinates({"looks": looks[out]}, "looks")
            b = model.coordinates({"tags": tags[out]}, "tags")
            both = [np.corrcoef(a[:, r], b[:, r])[0, 1] for r in range(model.n_components_)]
            score += sum(one * abs(one) for one in both)
        scores.append(score)
    assert len(set(np.round(scores, 6))) == len(RIDGES)
    assert found({"looks": looks, "tags": tags}, seed=3) == RIDGES[int(np.argmax(scores))]


def test_few_pairs_of_many_features_need_a_strong_one_and_many_of_few_do_not():
    _, looks, tags = few_pairs()
    assert found({"looks": looks, "tags": tags}) > 1
    _, looks, tags = few_pairs(2_000, 12)
    loud = 5.0 * np.random.default_rng(1).normal(size=(2_000, 12))  # what a strong one would listen to
    assert found({"looks": np.hstack([looks, 10.0 * loud]), "tags": tags}) == 1


def test_more_pairs_than_are_looked_at_lower_it_in_proportion(monkeypatch):
    _, looks, tags = few_pairs(400)
    monkeypatch.setattr(_ridge, "_LOOKED_AT", 100)
    strong = found({"looks": looks, "tags": tags})
    assert strong in [max(1.0, one / 4) for one in RIDGES]
    assert strong > 1


def test_too_few_pairs_to_tell_take_the_strongest_and_one_view_the_weakest():
    _, looks, tags = few_pairs()
    looks[9:] = np.nan
    assert found({"looks": looks, "tags": tags}) == RIDGES[-1]
    assert CanonicalFusion(2, regularization="auto").fit([tags]).regularization_ == RIDGES[0]


def test_three_views_with_gaps_and_a_constant_one():
    _, looks, tags = few_pairs()
    rng = np.random.default_rng(1)
    other = looks @ rng.normal(size=(looks.shape[1], 20))
    other[rng.random(150) < 0.3] = np.nan
    with pytest.warns(UserWarning, match="'same' is the same for every item"):
        model = CanonicalFusion(4, regularization="auto").fit(
            {"looks": looks, "tags": tags, "other": other, "same": np.ones((150, 2))}
        )
    assert model.regularization_ in RIDGES


def test_items_without_tags_find_their_topic(seed):
    topic, looks, tags = few_pairs(seed=seed)
    tagged = np.random.default_rng(seed).random(topic.size) < 0.5
    tags[~tagged] = 0
    labels = {
        ridge: CrossModalClustering(5, regularization=ridge, random_state=seed)
        .fit({"looks": looks, "tags": tags})
        .labels_
        for ridge in (1.0, "auto")
    }
    alone = topic[~tagged]
    weak, auto = (metrics.normalized_mutual_info(alone, one[~tagged]) for one in labels.values())
    assert auto > weak + 0.15


def test_what_it_may_be():
    with pytest.raises(ParameterError, match="regularization must be a number at least 0 or 'auto'"):
        CanonicalFusion(1, regularization="strong").fit([np.eye(4), np.eye(4)])
