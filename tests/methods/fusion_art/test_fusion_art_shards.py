"""A fit in shards: what it is made of, that nobody's number of threads matters, and what goes on from it."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

import manyview
from manyview import FusionART, load, save
from manyview.errors import ParameterError, ViewWarning

from .test_fusion_art import noisy_views, rows_of, same_state
from .test_fusion_art_reference import tag_matrix


def gappy_views(seed=0, n_items=300):
    """Two views with rows that are missing; the second of four parts has no looks, and one item has nothing."""
    views = noisy_views(seed, n_items)
    views["looks"][75:150] = np.nan
    views["text"] = np.random.default_rng(seed).random((n_items, 3))
    views["text"][::4] = np.nan
    mask = np.ones((n_items, 3), dtype=bool)
    mask[40] = False
    return manyview.Views(views, mask=mask)


def made_by_hand(model, views, n_shards):
    """The same from public parts: a model for each part, on the bounds of all, and one absorbs the others."""
    edges = np.arange(n_shards + 1) * len(views["looks"]) // n_shards
    bounds = {"looks": (views["looks"].min(axis=0), views["looks"].max(axis=0))}
    parts = []
    for start, stop in pairwise(edges):
        part = clone(model).set_params(shards=None, bounds=bounds)
        parts.append(part.fit(rows_of(views, slice(start, stop))))
    labels = [parts[0].labels_]
    for other in parts[1:]:
        numbers = parts[0].merge(other)
        labels.append(numbers[other.labels_])
    return parts[0], np.concatenate(labels)


@pytest.mark.parametrize("more", [{}, {"epochs": 3}, {"min_size": 0.05}, {"tag_learning": "fuzzy"}], ids=str)
def test_one_shard_is_the_plain_fit(more):
    views = noisy_views()
    plain = FusionART(0.3, random_state=3, **more).fit(views)
    one = FusionART(0.3, random_state=3, shards=1, **more).fit(views)
    same_state(one, plain)
    assert np.array_equal(one.labels_, plain.labels_) and one.n_iter_ == plain.n_iter_
    assert plain.n_clusters_ > 2


@pytest.mark.parametrize("n_shards", [2, 5])
def test_it_is_merge_of_fits_of_the_parts(n_shards):
    views = noisy_views()
    model = FusionART(0.3, shuffle=False, shards=n_shards)
    byhand, labels = made_by_hand(model, views, n_shards)
    found = clone(model).fit(views)
    same_state(found, byhand)
    assert np.array_equal(found.labels_, labels)


def test_six_items_by_hand():
    """Of the second half {2} joins {2}; {0, 1} joins {0, 1} with {0} (least match 3 / 4); {3} opens a cluster."""
    tags = tag_matrix([[0, 1], [0], [2], [2], [0, 1], [3]], 4)
    model = FusionART(0.5, shuffle=False, shards=2).fit({"tags": tags})
    assert model.labels_.tolist() == [0, 0, 1, 1, 0, 2]
    assert model.field_["counts"].T.tolist() == [[3, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 1]]
    strict = FusionART(0.8, shuffle=False, shards=2).fit({"tags": tags})
    assert strict.labels_.tolist() == [0, 0, 1, 1, 2, 3]


@pytest.mark.parametrize("more", [{}, {"min_size": 0.05}, {"vigilance": "auto"}], ids=str)
def test_threads_change_nothing_and_counts_are_those_of_the_members(more):
    views = gappy_views()
    model = FusionART(**{"vigilance": 0.3, "random_state": 0, "shards": 4, **more})
    found = []
    for where, n_jobs in (("serial", None), ("threads", 3)):
        with manyview.on(where, n_jobs=n_jobs), pytest.warns(ViewWarning, match="1 item.s. lack every view"):
            found.append(clone(model).fit(views))
    alone, threads = found
    same_state(threads, alone)
    assert np.array_equal(threads.labels_, alone.labels_)
    assert np.flatnonzero(alone.labels_ < 0).tolist() == [40]
    assert alone.cluster_sizes_.sum() == 299
    if not more:
        assert np.array_equal(alone.cluster_sizes_, np.bincount(np.delete(alone.labels_, 40)))
        for j in range(alone.n_clusters_):
            members = alone.labels_ == j
            assert np.array_equal(alone.field_["counts"][:, j], views["tags"][members].sum(axis=0).A1)


def test_a_group_is_one_cluster_wherever_its_members_are():
    views = noisy_views()
    y = np.full(400, -1)
    y[[3, 120, 390]] = 7
    y[[5, 250]] = 2
    for more in ({}, {"min_size": 0.05}):
        model = FusionART(0.3, random_state=0, shards=4, **more).fit(views, y)
        assert set(model.groups_) == {2, 7}
        (seven,), (two,) = (set(model.labels_[y == group].tolist()) for group in (7, 2))
        assert seven != two
        assert model.field_["group"][[seven, two]].tolist() == [model.groups_.index(7), model.groups_.index(2)]


def test_more_shards_than_items_and_what_is_refused():
    views = rows_of(noisy_views(), slice(0, 3))
    assert FusionART(0.0, shards=50).fit(views).labels_.tolist() == [0, 0, 0]
    for wrong in (0, 2.5, "many"):
        with pytest.raises(ParameterError, match="shards must be an integer at least 1"):
            FusionART(shards=wrong).fit(views)


def test_it_goes_on_as_a_stream_and_is_saved(tmp_path):
    views, more = noisy_views(), noisy_views(1, 50)
    model = FusionART(0.3, random_state=0, shards=3).fit(views)
    back = load(save(model, tmp_path / "model"))
    assert back.shards == 3 and np.array_equal(back.predict(views), model.predict(views))
    same_state(back.partial_fit(more), model.partial_fit(more))
    assert model.cluster_sizes_.sum() == 450 and model.labels_.size == 50


def test_an_order_can_be_had_again_and_the_lines_say_how_it_went(capsys):
    views = noisy_views()
    pair = [FusionART(0.3, random_state=np.random.default_rng(1), shards=3, verbose=v).fit(views) for v in (0, 1)]
    same_state(*pair)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3 and said[2].endswith(f"{pair[1].n_clusters_} with those before")
