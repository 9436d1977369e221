"""Items without tags that are something else than those with tags: nothing is promised for them."""

import numpy as np
import pytest

import manyview
from manyview import TagCompleter
from manyview.completion.neighbours.nearest import Nearest
from manyview.completion.neighbours.population import fit_population

K, EACH, WIDTH = 6, 60, 40


@pytest.fixture
def groups(seed):
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(K), EACH)
    rows = rng.normal(size=(K, WIDTH))[of] + 0.7 * rng.normal(size=(K * EACH, WIDTH))
    return rows.astype(np.float32), of, rng


def tags_of(of, known):
    return [[f"group {group}"] if has else [] for group, has in zip(of, known, strict=True)]


def judged(rows, of, known):
    """Probability of the best tag for every untagged item, and whether it is the right one."""
    model = TagCompleter(random_state=0).fit([rows], tags_of(of, known))
    probability = model.tag_probabilities()[~known]
    best = probability.argmax(axis=1)
    right = np.array(model.tag_names_)[best] == np.char.add("group ", of[~known].astype(str))
    return probability.max(axis=1), right, model


def test_a_random_part_is_of_one_kind(groups):
    rows, of, rng = groups
    for share in (0.1, 0.5):
        known = rng.random(of.size) < share
        _, _, model = judged(rows, of, known)
        assert (model._items().population.share == 1).all() and model.n_unlike_ == 0


@pytest.mark.parametrize("n_tagged", [1, 2, 4])
def test_groups_that_nobody_has_tagged_are_promised_nothing(groups, n_tagged):
    """Whole subjects were tagged, half of their items; of the other subjects every proposal is wrong."""
    rows, of, rng = groups
    known = (of < n_tagged) & (rng.random(of.size) < 0.5)
    promised, right, model = judged(rows, of, known)
    other = of[~known] >= n_tagged
    assert promised[other].mean() < 0.2 and (promised[other] >= 0.5).mean() < 0.02
    likely = promised >= 0.5
    assert likely[~other].mean() > 0.4 and right[likely].mean() > 0.9
    assert abs(promised.mean() - right.mean()) < 0.1
    assert model.n_unlike_ == pytest.approx(other.sum(), rel=0.15)


def test_new_items_and_a_saved_model(groups, tmp_path):
    rows, of, rng = groups
    known = (of < 1) & (rng.random(of.size) < 0.5)
    _, _, model = judged(rows, of, known)
    likely = model.tag_probabilities([rows[~known]]).max(axis=1)
    assert likely[of[~known] == 0].mean() > 0.5 and likely[of[~known] > 0].mean() < 0.1
    manyview.save(model, tmp_path / "model")
    again = manyview.load(tmp_path / "model")
    assert np.array_equal(again.tag_probabilities(), model.tag_probabilities())
    assert np.array_equal(again.tag_probabilities([rows]), model.tag_probabilities([rows]))


def test_by_hand():
    """Four tagged items, .5, .6, .7 and .8 from their second nearest; of 40 others 36 are farther than any of them."""
    second = np.array([0.5, 0.6, 0.7, 0.8, *[0.1] * 36, 0.55, 0.65, 0.75, 0.9], dtype=np.float32)
    near = [
        Nearest(np.zeros((44, 3), dtype=np.int32), np.column_stack([np.full_like(second, 0.95), second, second / 2]))
    ]
    has_tags = np.arange(44) < 4
    speaks = np.ones((44, 1), dtype=bool)
    found = fit_population(near, speaks, has_tags, ~has_tags)
    falling = np.array([36.5, 1.5, 1.5, 1.5, 1.5])
    assert np.allclose(found.share, np.minimum(1, np.mean([1.5, 1.5, 1.5]) / falling))
    like = found.of(near, speaks, has_tags)
    assert np.allclose(like[4:40], 1.5 / 36.5) and (like[:4] == 1).all() and (like[40:] == 1).all()
    assert np.array_equal(found.of(near, ~speaks, has_tags), has_tags)  # every tagged one has the view


def test_pictures_of_one_moment_do_not_make_all_others_strangers(groups):
    """Every moment is there four times, all but alike, and tagged as a whole or not at all."""
    rows, of, rng = groups
    moments = np.repeat(np.arange(of.size)[:: EACH // 20], 4)
    rows = rows[moments] + 0.05 * rng.normal(size=(moments.size, WIDTH)).astype(np.float32)
    known = (rng.random(of.size) < 0.5)[moments]
    promised, right, _ = judged(rows, of[moments], known)
    likely = promised >= 0.5
    assert likely.mean() > 0.5 and right[likely].mean() > 0.8


def test_without_views_nothing_is_known_of_kinds():
    model = TagCompleter(random_state=0).fit(None, [["a", "b"], ["a"], ["b", "c"], ["c"], []])
    assert (model._items().population.share == 1).all() and model.tag_probabilities().shape == (5, 3)


def test_items_that_cannot_be_compared_with_any_tagged_one_are_promised_nothing():
    """Texts with tags, clips without, and one of which no view says anything."""
    rng = np.random.default_rng(0)
    words, looks = np.full((41, 8), np.nan), np.full((41, 6), np.nan)
    words[:20], looks[20:40] = rng.random((20, 8)), rng.normal(size=(20, 6))
    tags = [["letter"] if item < 16 else [] for item in range(41)]
    completer = TagCompleter(random_state=0).fit({"words": words, "looks": looks}, tags)
    probabilities = completer.tag_probabilities()[:, 0]
    assert (probabilities[20:] == 0).all() and (probabilities[16:20] > 0.5).all()
    assert completer.n_unlike_ >= 21
    words[15] = np.nan  # now one with tags has no view either
    assert TagCompleter(random_state=0).fit({"words": words, "looks": looks}, tags).tag_probabilities()[40, 0] > 0
