"""FusionART with a person's groups."""

import numpy as np
import pytest

from manyview import FusionART, Views
from manyview.errors import ParameterError

from .test_fusion_art import noisy_views, rows_of, same_state


def test_groups_start_as_their_means_and_members_keep_them():
    views = noisy_views()
    y = np.full(400, -1)
    y[[3, 8, 13]], y[[40, 41]] = 7, 2
    model = FusionART(bounds=(-20, 50), random_state=0).fit(views, y)
    assert model.groups_ == [2, 7]
    assert np.all(model.labels_[[40, 41]] == 0) and np.all(model.labels_[[3, 8, 13]] == 1)
    assert model.n_clusters_ > 2
    assert model.cluster_sizes_.sum() == 400
    only = FusionART(bounds=(-20, 50)).fit(rows_of(views, [3, 8, 13]), [0, 0, 0])
    looks = (views["looks"][[3, 8, 13]] + 20) / 70
    tags = views["tags"].toarray()[[3, 8, 13]]
    assert only.field_["corner"][0] == pytest.approx(looks.mean(axis=0), abs=1e-6)
    assert only.cluster_centers_["tags"].toarray()[0] == pytest.approx(tags.mean(axis=0))
    mean = np.concatenate([looks.mean(axis=0), 1 - looks.mean(axis=0)])
    true = np.abs(np.hstack([looks, 1 - looks]) - mean).sum(axis=1).mean() / mean.sum()
    assert only.scatter_[0, 0] == pytest.approx(true, abs=1e-5)
    assert only.scatter_[0, 1] == pytest.approx(
        np.abs(tags - tags.mean(axis=0)).sum(axis=1).mean() / tags.mean(axis=0).sum()
    )


def test_unknown_is_minus_one_and_not_nan():
    for y in (np.r_[1.0, np.nan, np.zeros(398)], ["a", "b"] * 200, np.full(400, -2)):
        with pytest.raises(ParameterError, match="-1 where it is unknown"):
            FusionART().fit(noisy_views(), y)


def test_groups_can_be_lists_of_ids():
    views = noisy_views(n_items=60)
    ids = [f"photo{i}" for i in range(60)]
    X = Views(views, ids=ids)
    y = np.full(60, -1)
    y[[1, 2]], y[[5, 9]] = 0, 1
    by_number = FusionART(random_state=0).fit(X, y)
    by_list = FusionART(random_state=0).fit(X, [["photo1", "photo2"], ["photo9", "photo5"]])
    same_state(by_list, by_number)
    named = FusionART(random_state=0).fit(X, {"beach": ["photo1", "photo2"], "dogs": ["photo5", "photo9"]})
    assert named.groups_ == ["beach", "dogs"]
    assert named.explain_cluster(1)["group"] == "dogs"
    with pytest.raises(ParameterError, match="'nobody'"):
        FusionART().fit(X, [["nobody"]])
    with pytest.raises(ParameterError, match="photo1"):
        FusionART().fit(X, [["photo1"], ["photo1"]])


def test_groups_survive_the_stream():
    views = noisy_views()
    y = np.full(400, -1)
    y[:4] = [0, 0, 1, 1]
    model = FusionART(0.2).partial_fit(rows_of(views, slice(0, 100)), y[:100])
    assert model.labels_[:4].tolist() == [0, 0, 1, 1]
    later = np.full(300, -1)
    later[[0, 5]], later[9] = 1, 4
    model.partial_fit(rows_of(views, slice(100, 400)), later)
    assert model.labels_[[0, 5]].tolist() == [1, 1]
    assert model.groups_ == [0, 1, 4]
    assert model.field_["group"][model.labels_[9]] == 2
    assert model.cluster_sizes_.sum() == 400
    assert FusionART().fit(views, np.full(400, -1)).groups_ == []


@pytest.mark.parametrize("tag_learning", ["probability", "fuzzy"])
def test_groups_work_with_both_ways_to_learn_tags(tag_learning):
    views = noisy_views()
    y = np.full(400, -1)
    y[:9] = np.arange(9) % 3
    model = FusionART(tag_learning=tag_learning, epochs=2, random_state=0).fit(views, y)
    assert np.array_equal(model.labels_[:9], y[:9])
    assert np.bincount(model.labels_, minlength=model.n_clusters_).sum() == model.cluster_sizes_.sum()
