"""Why an item is where it is: the figures, and sentences for every kind of place."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview import Views, cluster_profiles, explain_item
from manyview.errors import ParameterError

LABELS = [0, 0, 0, 1, 1, 1, -1, 2]
TAGS = [["dog", "beach"], ["dog"], ["dog", "odd"], ["cat"], ["cat"], ["dog", "cat"], ["dog"], []]
NAMES = ["a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg", "f.jpg", "g.jpg", ""]


@pytest.fixture(scope="module")
def profiles():
    looks = np.array([[0.0, 0], [0.1, 0], [4.0, 4], [5.0, 5], [5.1, 5], [5, 5.2], [0.2, 0], [9, -9]])
    tags = csr_matrix([[word in row for word in ("dog", "cat", "beach", "odd")] for row in TAGS], dtype=float)
    return cluster_profiles(Views({"looks": looks, "tags": tags}), LABELS, TAGS, item_names=NAMES)


def test_views_pull_as_the_profiles_measured(profiles):
    reason = explain_item(profiles, 0)
    assert (reason.label, reason.cluster, reason.size, reason.runner_up.name) == (0, "dog", 3, "cat")
    looks, tags = reason.views
    assert looks.margin == pytest.approx(looks.own - looks.other) and tags.margin > 0
    assert reason.margin == pytest.approx(float(profiles.likeness.margin[0]))
    assert reason.margin == pytest.approx((looks.margin + tags.margin) / 2, abs=1e-5)
    assert reason.runner_up.closeness == pytest.approx((looks.other + tags.other) / 2, abs=1e-5)


def test_shared_tags_and_tags_of_its_own(profiles):
    reason = explain_item(profiles, 0)
    assert [(share.tag, share.count, share.looked_at) for share in reason.shared_tags] == [("dog", 3, 3)]
    assert reason.own_tags == ("beach",)
    assert 'It shares the tag "dog", as do 3 of 3 tagged members.' in str(reason)
    both = explain_item(profiles, 5)
    assert [share.tag for share in both.shared_tags] == ["cat"] and both.own_tags == ("dog",)


def test_the_nearest_exemplars_are_other_members(profiles):
    for item in range(6):
        reason = explain_item(profiles, item)
        assert all(one.item in profiles[reason.label].exemplars and one.item != item for one in reason.exemplars)
    # of the two typical dogs, the one at the same place
    assert explain_item(profiles, 1).exemplars[0].item == 0


def test_sentences_for_every_place(profiles):
    assert str(explain_item(profiles, 0)).startswith('a.jpg is in "dog" rather than in "cat" by looks (')
    moved = str(explain_item(profiles, 2))
    assert moved.startswith('c.jpg is in "dog", although it is closer to "cat" by looks (')
    assert str(explain_item(profiles, 6)).startswith('g.jpg is in no cluster; the closest is "dog" (')
    assert str(explain_item(profiles, 7)) == 'item 7 is in "Group 2" alone; the next is "dog".'
    only = cluster_profiles(np.arange(6.0).reshape(3, 2), [0, 0, 0])
    assert str(explain_item(only, 0)) == 'item 0 is in "Group 0", the only cluster. It is most like item 1.'
    silent = cluster_profiles(np.ones((4, 2)), [0, 0, 1, 1])
    assert str(explain_item(silent, 0)) == 'item 0 is in "Group 0"; no view says anything about it.'
    bare = cluster_profiles(None, [0, 0, 1])
    assert str(explain_item(bare, 0)) == 'item 0 is in "Group 0"; no view says anything about it.'


def test_an_item_that_would_rather_be_elsewhere_is_told():
    X = np.array([[0.0], [0.1], [5.0], [5.0], [5.1], [5.2]])
    reason = explain_item(cluster_profiles({"looks": X}, [0, 0, 0, 1, 1, 1]), 2)
    assert reason.margin < 0
    assert str(reason).startswith('item 2 is in "Group 0", although it is closer to "Group 1" by looks (')


def test_views_that_disagree_are_told_apart():
    looks = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    shape = np.array([[0.0], [0.1], [3.0], [5.0], [5.1], [5.2]])
    reason = explain_item(cluster_profiles({"looks": looks, "shape": shape}, [0, 0, 0, 1, 1, 1]), 2)
    figures = [f"{view.view} ({view.own:.2f} against {view.other:.2f})" for view in reason.views]
    assert str(reason).startswith(
        f'item 2 is in "Group 0" rather than in "Group 1" by {figures[0]}, although {figures[1]} would rather put it '
        "there."
    )


def test_in_a_persons_words_without_figures():
    looks = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    shape = np.array([[0.0], [0.1], [3.0], [5.0], [5.1], [5.2]])
    profiles = cluster_profiles({"embedding": looks, "edge_shape": shape}, [0, 0, 0, 1, 1, 1])
    reason = explain_item(profiles, 2, view_words={"embedding": "looks"}, figures=False)
    assert str(reason).startswith(
        'item 2 is in "Group 0" rather than in "Group 1" by looks, although edge shape would rather put it there.'
    )
    loose = cluster_profiles({"embedding": looks}, [0, 0, -1, 1, 1, 1])
    assert str(explain_item(loose, 2, figures=False)) == 'item 2 is in no cluster; the closest is "Group 0".'


def test_missing_views_are_not_held_against_an_item():
    looks = np.array([[0.0, 1], [0.1, 1], [np.nan, np.nan], [5, 1], [5, 1.1]])
    X = Views({"looks": looks, "tags": csr_matrix(np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 1]]))})
    reason = explain_item(cluster_profiles(X, [0, 0, 0, 1, 1]), 2)
    assert reason.views[0].own is None and reason.views[0].margin is None
    assert reason.margin == pytest.approx(reason.views[1].margin, abs=1e-6)
    assert "looks" not in str(reason)


def test_it_is_plain_data(profiles):
    for item in range(8):
        reason = explain_item(profiles, item)
        plain = json.loads(json.dumps(reason.to_dict(), allow_nan=False))
        assert plain["sentence"] == str(reason) and plain["item"] == item
    assert explain_item(profiles, -1) == explain_item(profiles, 7)
    with pytest.raises(ParameterError, match="there is no item 8; items go from 0 to 7"):
        explain_item(profiles, 8)
    with pytest.raises(ParameterError, match="item must be an integer"):
        explain_item(profiles, "a.jpg")
