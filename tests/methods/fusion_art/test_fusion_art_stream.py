"""FusionART on a stream: however it is cut, stopped and widened."""

import copy

import numpy as np
import pytest

from manyview import FusionART, load, save

from .test_fusion_art import noisy_views, rows_of, same_state
from .test_fusion_art_reference import prototype


def in_pieces(model, views, cuts):
    n_items = views["tags"].shape[0]
    labels = []
    for start, stop in zip([0, *cuts], [*cuts, n_items], strict=True):
        labels.append(model.partial_fit(rows_of(views, slice(start, stop))).labels_)
    return np.concatenate(labels)


@pytest.mark.parametrize("settings", [{}, {"tag_learning": "fuzzy"}, {"match_tracking": "monotone"}], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_split_gives_the_same_state_bit_for_bit(settings, dtype):
    views = noisy_views(dtype=dtype)
    whole = FusionART(vigilance=0.2, **settings).partial_fit(views)
    assert whole.n_clusters_ > 3
    for cuts in ([7], [1, 2, 3, 200], list(range(1, 400, 9))):
        pieces = FusionART(vigilance=0.2, **settings)
        assert np.array_equal(in_pieces(pieces, views, cuts), whole.labels_)
        same_state(pieces, whole)


def test_many_rows_in_one_call_are_cut_into_blocks_without_a_trace():
    views = noisy_views(n_items=1300)
    whole = FusionART().partial_fit(views)
    pieces = FusionART()
    in_pieces(pieces, views, [650])
    same_state(pieces, whole)


def test_fit_in_order_equals_partial_fit_where_bounds_are_given():
    views = noisy_views()
    streamed = FusionART(bounds=(-10, 40)).partial_fit(views)
    fitted = FusionART(bounds=(-10, 40), shuffle=False).fit(views)
    same_state(fitted, streamed)
    tags = {"tags": views["tags"]}
    same_state(FusionART(shuffle=False).fit(tags), FusionART().partial_fit(tags))


def test_saving_mid_stream_and_going_on_equals_never_having_stopped(tmp_path):
    views = noisy_views()
    groups = np.full(400, -1)
    groups[:6] = [0, 0, 0, 1, 1, 1]
    whole = FusionART(vigilance=0.15).partial_fit(views, groups)
    stopped = FusionART(vigilance=0.15).partial_fit(rows_of(views, slice(0, 150)), groups[:150])
    back = load(save(stopped, tmp_path / "model"))
    same_state(back, stopped)
    back.partial_fit(rows_of(views, slice(150, 400)))
    same_state(back, whole)
    assert back.groups_ == [0, 1]
    same_state(copy.deepcopy(stopped).partial_fit(rows_of(views, slice(150, 400))), whole)


def test_bounds_widen_row_by_row_and_prototypes_move_along():
    rows = np.array([[0.25], [0.75], [1.5], [-2.5]])
    model = FusionART(vigilance=0.0, learning_rate=1.0)
    for row in range(4):
        model.partial_fit(rows[row : row + 1])
        low, high = model.cluster_boxes_["view0"]
        assert (low[0, 0], high[0, 0]) == pytest.approx((rows[: row + 1].min(), rows[: row + 1].max()), abs=1e-6)
    assert [side.tolist() for side in model.bounds_["view0"]] == [[-2.5], [1.5]]
    assert model.scatter_[0, 0] >= 0


@pytest.mark.parametrize("beta", [0.4, 1.0])
def test_scatter_stays_an_upper_bound_while_bounds_widen(beta):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 3)) * np.linspace(0.1, 4, 200)[:, None]
    model = FusionART(vigilance=0.3, learning_rate=beta)
    labels = model.partial_fit(rows).labels_
    low, high = model.bounds_["view0"]
    coded = (rows - low) / (high - low)
    for j in range(model.n_clusters_):
        members = coded[labels == j]
        true = np.abs(np.hstack([members, 1 - members]) - prototype(model, j)).sum(axis=1).mean()
        assert true / prototype(model, j).sum() <= model.scatter_[j, 0] + 1e-5


def test_memory_is_that_of_the_clusters_and_the_history_is_thinned():
    views = noisy_views(n_items=300)
    model = FusionART()
    for _ in range(3):
        model.partial_fit(views)
    size = sum(array.nbytes for array in model.field_.values())
    for _ in range(12):
        model.partial_fit(views)
    assert model.cluster_sizes_.sum() == 15 * 300
    per_cluster = 4 * (2 * 8 + 30) + 8 * (5 * 2 + 3 * 2 + 2)
    assert sum(array.nbytes for array in model.field_.values()) <= size + 40 * per_cluster
    assert len(model.contributions_history_) == len(model.history_items_) <= 1024
    assert np.all(np.diff(model.history_items_) == model.history_items_[0])
    assert np.allclose(model.contributions_history_.sum(axis=1), 1)
