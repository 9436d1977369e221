"""Fields grown on shards become one, and a field can say why."""

import json

import numpy as np
import pytest

from manyview import FusionART, load, save
from manyview.errors import ParameterError

from .fusion_art_reference import content_difference, tag_difference
from .test_fusion_art import noisy_views, rows_of
from .test_fusion_art_reference import grid_data, prototype, tag_matrix


def shards(n_items=400, beta=1.0, seed=0, vigilance=(0.4, 0.1), **settings):
    looks, lists, _ = grid_data(seed, n_items)
    views = {"looks": looks, "tags": tag_matrix(lists, 30)}
    half = n_items // 2
    parts = [
        FusionART(list(vigilance), learning_rate=beta, bounds=(0, 1), **settings).partial_fit(rows_of(views, rows))
        for rows in (slice(0, half), slice(half, n_items))
    ]
    return looks, lists, parts


@pytest.mark.parametrize("beta", [0.6, 1.0])
def test_merge_is_exact_where_it_says_so(beta):
    looks, lists, (one, two) = shards(beta=beta)
    mine, theirs = one.labels_.copy(), two.labels_.copy()
    n_before, sizes = one.n_clusters_, two.cluster_sizes_
    other = {name: array.copy() for name, array in two.field_.items()}
    merged = one.merge(two)
    assert merged.shape == (sizes.size,) and n_before <= one.n_clusters_ < n_before + sizes.size
    labels = np.concatenate([mine, merged[theirs]])
    assert np.array_equal(one.cluster_sizes_, np.bincount(labels, minlength=one.n_clusters_))
    for j in range(one.n_clusters_):
        rows = np.flatnonzero(labels == j)
        counts = np.bincount(np.concatenate([np.empty(0, int), *(lists[i] for i in rows)]).astype(int), minlength=30)
        assert np.array_equal(one.field_["counts"][:, j], counts)
        assert one.field_["numbers"][:, 1, j].tolist() == [rows.size, counts.sum(), (counts**2).sum()]
        assert one.scatter_[j, 1] == pytest.approx(tag_difference([lists[i] for i in rows]), abs=1e-12)
        true = content_difference(prototype(one, j), looks[rows])
        assert true <= one.scatter_[j, 0] + 1e-9
        if beta == 1.0:
            coded = np.hstack([looks[rows], 1 - looks[rows]])
            assert np.array_equal(prototype(one, j), coded.min(axis=0))
            assert one.scatter_[j, 0] == pytest.approx(true, abs=1e-12)
    for name, array in other.items():
        assert np.array_equal(two.field_[name], array), "the absorbed model was changed"
    assert one.contributions_.sum() == pytest.approx(1)
    means = one.scatter_.mean(axis=0)
    assert one.contributions_ == pytest.approx(np.exp(-means) / np.exp(-means).sum(), abs=1e-12)


def test_merged_pairs_meet_the_conditions_and_a_higher_tag_vigilance_merges_less():
    _, _, (one, two) = shards()
    few = one.n_clusters_
    many = shards()[2][0]
    many.merge(two, tag_vigilance=0.9)
    one.merge(two)
    assert few <= one.n_clusters_ < many.n_clusters_
    nothing = shards(vigilance=(0.0, 0.0))[2]
    nothing[0].merge(nothing[1])
    assert nothing[0].n_clusters_ == 1


def test_merging_an_empty_side_or_many_shards():
    _, lists, parts = shards()
    looks, _, _ = grid_data(0, 400)
    pieces = []
    for rows in np.array_split(np.arange(400), 5):
        views = {"looks": looks[rows], "tags": tag_matrix([lists[i] for i in rows], 30)}
        pieces.append(FusionART([0.4, 0.1], bounds=(0, 1)).partial_fit(views))
    whole = pieces[0]
    for piece in pieces[1:]:
        whole.merge(piece)
    assert whole.cluster_sizes_.sum() == 400
    assert whole.partial_fit({"looks": looks[:3], "tags": tag_matrix(lists[:3], 30)}).cluster_sizes_.sum() == 403
    assert parts[0].cluster_sizes_.sum() == 200


def test_merge_brings_both_to_common_bounds():
    low = FusionART(0.5, learning_rate=1.0).partial_fit(np.array([[0.0, 2.0], [0.5, 1.0]]))
    high = FusionART(0.5, learning_rate=1.0).partial_fit(np.array([[8.0, 0.5], [7.0, -1.0]]))
    merged = low.merge(high)
    assert [side.tolist() for side in low.bounds_["view0"]] == [[0.0, -1.0], [8.0, 2.0]]
    corners = low.cluster_boxes_["view0"]
    assert corners[0][merged[0]] == pytest.approx([7.0, -1.0], abs=1e-5)
    assert corners[1][merged[0]] == pytest.approx([8.0, 0.5], abs=1e-5)


def test_merge_respects_groups():
    looks, lists, _ = grid_data(0, 60)
    views = {"looks": looks, "tags": tag_matrix(lists, 30)}
    first = rows_of(views, slice(0, 30))
    second = rows_of(views, slice(30, 60))
    one = FusionART(0.0, bounds=(0, 1)).fit(first, {"dogs": [0, 1, 2]})
    two = FusionART(0.0, bounds=(0, 1)).fit(second, {"cats": [0, 1], "dogs": [2, 3]})
    merged = one.merge(two)
    assert one.groups_ == ["dogs", "cats"]
    assert merged[1] == 0 and one.field_["group"][merged[0]] == 1
    assert merged[0] != 0


def test_merge_of_fuzzy_fields_and_what_it_refuses():
    _, _, (one, two) = shards(tag_learning="fuzzy")
    one.merge(two)
    assert one.cluster_sizes_.sum() == 400
    weights = one.cluster_centers_["tags"]
    assert weights.max() <= 1
    with pytest.raises(ParameterError, match="same tag_learning"):
        one.merge(shards()[2][0])
    with pytest.raises(ParameterError, match="same views"):
        one.merge(FusionART().fit(np.random.default_rng(0).random((5, 2))))
    with pytest.raises(ParameterError, match="tag_vigilance"):
        one.merge(two, tag_vigilance=2)


def test_a_merged_field_is_saved_and_goes_on(tmp_path):
    _, _, (one, two) = shards()
    one.merge(two)
    back = load(save(one, tmp_path / "model"))
    looks, lists, _ = grid_data(9, 50)
    views = {"looks": looks, "tags": tag_matrix(lists, 30)}
    assert np.array_equal(back.partial_fit(views).labels_, one.partial_fit(views).labels_)


def test_explanation_of_a_cluster():
    looks = np.array([[0.1, 0.5], [0.2, 0.4], [0.9, 0.5], [0.8, 0.6]])
    tags = tag_matrix([[0, 1], [0], [2], [2, 1]], 3)
    model = FusionART([0.5, 0.3], bounds=(0, 1), learning_rate=1.0, shuffle=False).fit({"looks": looks, "tags": tags})
    assert model.labels_.tolist() == [0, 0, 1, 1]
    names = {"looks": ["brightness", "contrast"], "tags": ["dog", "park", "sea"]}
    found = model.explain_cluster(0, names=names)
    assert (found["cluster"], found["size"], found["share"], found["group"]) == (0, 2, 0.5, None)
    words = found["views"]["tags"]
    assert [(tag["tag"], tag["probability"], tag["lift"]) for tag in words["tags"]] == [("dog", 1, 2), ("park", 0.5, 1)]
    assert words["scatter"] == pytest.approx(model.scatter_[0, 1])
    features = found["views"]["looks"]["features"]
    assert [feature["feature"] for feature in features] == ["brightness", "contrast"]
    assert (features[0]["low"], features[0]["high"]) == pytest.approx((0.1, 0.2), abs=1e-6)
    # The box of brightness is 0.1 wide, and 0.8 wide once it holds the other cluster.
    assert features[0]["separation"] == pytest.approx(0.7, abs=1e-6)
    assert "dog (100 %)" in found["text"] and "brightness 0.1 to 0.2" in found["text"]
    json.dumps(found)
    assert model.explain_cluster(1)["views"]["tags"]["tags"][0]["tag"] == 2
    with pytest.raises(ParameterError, match="cluster"):
        model.explain_cluster(2)
    with pytest.raises(ParameterError, match="2 features, but 1 names"):
        model.explain_cluster(0, names={"looks": ["brightness"]})
    with pytest.raises(ParameterError, match="'sound'"):
        model.explain_cluster(0, names={"sound": []})


def test_explanation_of_an_item_adds_up_to_its_choice_value():
    views = noisy_views()
    model = FusionART(0.2, random_state=0).fit(views)
    some = rows_of(views, slice(0, 30))
    labels = model.predict(some)
    for label, found in zip(labels, model.explain(some), strict=True):
        assert found["cluster"] == label
        parts = found["views"].values()
        assert sum(part["value"] for part in parts) == pytest.approx(found["choice"])
        assert sum(part["share"] for part in parts) == pytest.approx(1)
        tags = found["views"]["tags"]
        if "tags" in tags and len(tags["tags"]) < 5:
            assert sum(tag["value"] for tag in tags["tags"]) == pytest.approx(tags["value"])
        assert found["text"].startswith(f"Joins cluster {label} (")
        json.dumps(found)
    # The winner's value is the largest of all.
    one = rows_of(views, slice(0, 1))
    values = [model.explain(one, [j])[0]["choice"] for j in range(model.n_clusters_)]
    assert int(np.argmax(values)) == labels[0]
    with pytest.raises(ParameterError, match="labels must be 1 cluster numbers"):
        model.explain(one, [model.n_clusters_])


def test_explanation_where_nothing_is_known():
    model = FusionART(0.0).partial_fit({"looks": np.array([[0.5]]), "tags": tag_matrix([[]], 2)})
    found = model.explain_cluster(0)
    assert found["views"]["tags"]["tags"] == []
    item = model.explain({"tags": tag_matrix([[1]], 2)})[0]
    assert item["choice"] == 0 and "nothing speaks for it" in item["text"]
