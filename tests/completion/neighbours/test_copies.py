"""Moments that are there several times, tagged as a whole: what is promised to others is learned from one of each."""

import numpy as np
import pytest

import manyview
from manyview import TagCompleter
from manyview.completion import recipe
from manyview.completion.neighbours.copies import one_of_each
from manyview.completion.neighbours.nearest import Nearest

N_MOMENTS, EACH, WIDTH, N_TAGS = 160, 4, 30, 6


@pytest.fixture
def moments(seed):
    """Pictures, their tags and their moments. A tag shows, but half of what a moment looks like is its own."""
    rng = np.random.default_rng(seed)
    of = np.repeat(np.arange(N_MOMENTS), EACH)
    tag = rng.integers(N_TAGS, size=N_MOMENTS)
    looks = 0.3 * rng.normal(size=(N_TAGS, WIDTH))[tag] + rng.normal(size=(N_MOMENTS, WIDTH))
    rows = looks[of] + 0.1 * rng.normal(size=(of.size, WIDTH))
    return rows.astype(np.float32), tag[of], of, rng


def fitted(rows, tag, known):
    words = [[f"tag {one}"] if has else [] for one, has in zip(tag, known, strict=True)]
    return TagCompleter(random_state=0).fit([rows], words)


def as_if_there_were_no_copies(monkeypatch):
    monkeypatch.setattr(recipe, "one_of_each", lambda *given: None)


def test_items_without_tags_are_judged_as_if_every_moment_were_there_once(moments, monkeypatch):
    rows, tag, of, rng = moments
    known = (rng.random(N_MOMENTS) < 0.5)[of]
    model, once = fitted(rows, tag, known), np.arange(of.size) % EACH == 0
    assert model.n_distinct_ == pytest.approx(known[once].sum(), rel=0.03)
    control = fitted(rows[once], tag[once], known[once])
    new = [rows[once & ~known]]
    assert np.abs(model.tag_scores(new) - control.tag_scores(new)).max() < 0.1
    assert np.abs(model.tag_probabilities(new) - control.tag_probabilities(new)).mean() < 0.03
    assert model.n_unlike_ == control.n_unlike_ == 0
    as_if_there_were_no_copies(monkeypatch)
    before = fitted(rows, tag, known)
    assert np.abs(before.tag_probabilities(new) - control.tag_probabilities(new)).mean() > 0.06
    # Copies are what tells most about items that have tags: nothing changes there.
    assert np.array_equal(model.tag_scores()[known], before.tag_scores()[known])
    # How complete the record is, copies that say the same do not tell.
    assert model.completeness_ == pytest.approx(control.completeness_, abs=0.1)


def test_a_random_part_changes_nothing(moments, monkeypatch):
    """The other pictures of a moment are as much there for items without tags."""
    rows, tag, _, rng = moments
    known = rng.random(tag.size) < 0.5
    model = fitted(rows, tag, known)
    as_if_there_were_no_copies(monkeypatch)
    assert model.n_distinct_ == known.sum()
    assert np.array_equal(model.tag_scores(), fitted(rows, tag, known).tag_scores())


def test_new_items_and_a_saved_model(moments, tmp_path):
    rows, tag, of, rng = moments
    known = (rng.random(N_MOMENTS) < 0.5)[of]
    model = fitted(rows, tag, known)
    manyview.save(model, tmp_path / "model.manyview")
    again = manyview.load(tmp_path / "model.manyview")
    assert again.n_distinct_ == model.n_distinct_
    # Features that fit had at hand come from larger products, whose last digit some processors round otherwise.
    np.testing.assert_allclose(again.tag_probabilities(), model.tag_probabilities(), rtol=0, atol=1e-5)
    assert np.array_equal(again.tag_probabilities([rows]), model.tag_probabilities([rows]))
    assert np.allclose(model.tag_scores([rows[~known]]), model.tag_scores()[~known], atol=1e-5)
    # Reasons of new items too: without tags, with tags, and both together.
    given = [[f"tag {one}"] if n % 2 else [] for n, one in enumerate(tag[:6])]
    for words in (None, [["tag 0"]] * 6, given):
        new = model.propose(top=2, X=[rows[:6]], tags=words)
        assert len(new) == 12 and all(one.reason for one in new)
        assert np.allclose([one.score for one in new], new.scores)


def test_reasons_add_up_for_items_with_tags_and_without(moments):
    rows, tag, of, rng = moments
    known = (rng.random(N_MOMENTS) < 0.5)[of]
    model = fitted(rows, tag, known)
    proposals, scores = model.propose(top=2), model.tag_scores()
    stand = set(np.flatnonzero(model._asked(None, None).cold.items.searched).tolist())
    seen = {True: 0, False: 0}
    for one in proposals:
        assert one.score == pytest.approx(scores[one.item, model.tag_names_.index(one.tag)], abs=1e-6)
        looks = [part for part in one.evidence if part.kind == "view"]
        seen[bool(known[one.item])] += len(looks)
        for part in looks:
            assert all(tag[row] == int(one.tag[4:]) and known[row] for row in part.items)
            assert known[one.item] or stand.issuperset(part.items)
    assert min(seen.values()) > 100


# --- by hand ---


def nearest(cosines, items=None):
    cosines = np.array(cosines, dtype=np.float32)
    found = np.tile(np.arange(cosines.shape[1]), (cosines.shape[0], 1)) if items is None else np.array(items)
    return Nearest(found.astype(np.int32), cosines)


def test_the_one_with_most_tags_stands_for_its_copies():
    """Items 0 and 1 are copies, 2 and 3 too; twenty have no tags and are far from all."""
    cosines = [[0.99, 0.2, 0.1]] * 2 + [[0.98, 0.2, 0.1]] * 2 + [[0.3, 0.2, 0.1]] * 20
    near = nearest(cosines, [[1, 2, 3], [0, 2, 3], [3, 0, 1], [2, 0, 1]] + [[0, 1, 2]] * 20)
    speaks, like, n_tags = np.ones((24, 1), dtype=bool), np.ones(24), np.array([1, 2, 1, 1] + [0] * 20)
    kept = one_of_each([near], speaks, n_tags, like)
    assert np.flatnonzero(kept).tolist() == [1, 2]
    # Of two others nothing can be told.
    few = Nearest(near.items[:6], near.cosines[:6])
    assert one_of_each([few], speaks[:6], n_tags[:6], like[:6]) is None
    # In another view they have nothing in common: in the mean they are no copies.
    other = nearest(np.full((24, 3), 0.5), [[4, 5, 4]] * 4 + [[0, 1, 2]] * 20)
    assert one_of_each([near, other], np.ones((24, 2), dtype=bool), n_tags, like) is None
    # A view that says nothing of them is not asked.
    speaks = np.column_stack([np.ones(24, dtype=bool), [False] * 4 + [True] * 20])
    assert one_of_each([near, other], speaks, n_tags, like).sum() == 2


def test_nothing_to_compare_with():
    near = nearest([[0.99, 0.1]] * 2 + [[0.2, 0.1]] * 60, [[1, 2], [0, 2]] + [[0, 1]] * 60)
    speaks, like, n_tags = np.ones((62, 1), dtype=bool), np.ones(62), np.array([1, 1] + [0] * 60)
    assert np.flatnonzero(one_of_each([near], speaks, n_tags, like)).tolist() == [0]
    assert one_of_each([near], speaks, np.ones(62, dtype=int), like) is None  # all are tagged
    assert one_of_each([near], speaks, n_tags, np.where(n_tags > 0, 1, 0.1)) is None  # the rest is another kind
    assert one_of_each([], speaks[:, :0], n_tags, like) is None
