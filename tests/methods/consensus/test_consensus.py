"""Consensus clustering: numbers worked out by hand, a dense twin, invariants, and every hazard it knows of."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import manyview
from manyview import ConsensusClustering, RobustMultiviewKMeans, Views
from manyview.data import _ranks, spaces
from manyview.datasets import load_handwritten
from manyview.errors import ParameterError, ViewWarning
from manyview.methods import neighbours as _neighbours
from manyview.methods import spectral
from manyview.methods.consensus import _members as _consensus_members
from manyview.methods.consensus import _vote as _consensus_vote
from manyview.methods.consensus._points import Points, kinds_of
from manyview.testing import separated_views


def blobs(seed, n_each=40, shift=6.0):
    """Three blobs in two views."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), n_each)
    centres = np.array([[0, 0, 0], [shift, 0, 0], [0, shift, 0]])
    return Views([centres[truth] + rng.normal(size=(truth.size, 3)) for _ in range(2)]), truth


def complementary(seed, shift=6.0, features=1):
    """View 0 tells class 0 from the rest, view 1 class 2 from the rest; neither knows all three."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(3), 40)
    first, second = rng.normal(size=(2, truth.size, 3))
    first[truth == 0, :features] += shift
    second[truth == 2, :features] += shift
    return Views([first, second]), truth


def nmi(a, b):
    return normalized_mutual_info_score(a, b)


def test_proportions_are_noticed(capsys):
    X = np.random.default_rng(0).dirichlet(np.ones(5) * 0.3, size=60)
    ConsensusClustering(2, scale="rank", verbose=1).fit(X)
    told = capsys.readouterr().err
    assert "same sum" in told and "last step" in told and "members" in told


# The operator


# The whole


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("scale", ["rank", "minmax"])
def test_three_blobs(number, scale):
    X, truth = blobs(number)
    model = ConsensusClustering(3, scale=scale, random_state=number).fit(X)
    assert nmi(truth, model.labels_) == pytest.approx(1)
    assert model.modularity_ > 0.5 and min(model.view_shares_.values()) > 0.95 and model.joined_share_ > 0.95
    assert model.member_labels_.shape == (120, 30) and ((model.member_sizes_ >= 3) & (model.member_sizes_ <= 9)).all()
    assert model.eigenvalues_.size == 6 and 1 >= model.eigenvalues_[2] > 0.9 > 0.75 > model.eigenvalues_[3]
    assert model.association_ > 0.9


@pytest.mark.parametrize("number", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3, 4))])
def test_complementary_views(number, monkeypatch):
    X, truth = complementary(number, features=3)
    assert nmi(truth, ConsensusClustering(3, scale="minmax").fit(X).labels_) == pytest.approx(1)
    assert nmi(truth, ConsensusClustering(3).fit(X).labels_) == pytest.approx(1)
    assert nmi(truth, KMeans(3, n_init=10, random_state=0).fit(X["view0"]).labels_) < 0.7
    X, truth = complementary(number)  # one feature of three: ranks alone lose it, groups that keep their spacing do not
    guarded = nmi(truth, ConsensusClustering(3).fit(X).labels_)
    monkeypatch.setattr(_ranks, "_evenly", lambda exact, height, low, high: height)
    assert guarded > 0.9 and nmi(truth, ConsensusClustering(3, scale="rank").fit(X).labels_) < 0.6


@pytest.mark.slow
def test_numerals():
    X, y = load_handwritten(return_X_y=True)
    assert nmi(y, ConsensusClustering(10).fit(X).labels_) >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "bar"), [("handwritten_numerals", 0.92), ("three_sources", 0.70), ("leaves100", 0.93)]
)
def test_development_collections(name, bar):
    from benchmarks.quality.consensus import load

    loaded = load(name)
    if loaded is None:
        pytest.skip(f"{name}.npz is not in MANYVIEW_DATA")
    X, y = loaded
    n_clusters = len(np.unique(y))
    scores = [nmi(y, ConsensusClustering(n_clusters, random_state=number).fit(X).labels_) for number in range(3)]
    assert np.mean(scores) >= bar


def test_threads_and_blocks_change_nothing(monkeypatch):
    X, _ = blobs(0, n_each=150, shift=2.0)
    first = ConsensusClustering(4, n_jobs=1).fit(X)
    second = ConsensusClustering(4, n_jobs=2).fit(X)
    assert np.array_equal(first.member_labels_, second.member_labels_)
    assert np.array_equal(first.labels_, second.labels_)
    monkeypatch.setattr("manyview.data.nearest._QUERIES", 256)
    assert np.array_equal(ConsensusClustering(4).fit(X).labels_, first.labels_)
    new = X[::3]
    assert np.array_equal(first.predict(new), second.predict(new))


def test_names_and_order_of_views_change_nothing():
    X, _ = blobs(1, shift=2.0)
    named = {"b": X["view1"], "a": X["view0"]}
    assert np.array_equal(ConsensusClustering(4).fit(named).labels_, ConsensusClustering(4).fit(X).labels_)


def test_clusters_are_numbered_by_size():
    X, _ = blobs(0)
    model = ConsensusClustering(3).fit(X[20:])
    assert model.cluster_sizes_.tolist() == [40, 40, 20]
    for name in X.names:
        means = [X[20:][name][model.labels_ == c].mean(axis=0) for c in range(3)]
        assert model.cluster_centers_[name] == pytest.approx(np.array(means))


def test_predict_agrees_with_fit_and_takes_what_views_there_are():
    X, _ = blobs(2)
    new, new_truth = blobs(3)
    model = ConsensusClustering(3).fit(X)
    assert np.mean(model.predict(X) == model.labels_) > 0.99
    assert nmi(new_truth, model.predict(new)) == pytest.approx(1)
    assert nmi(new_truth, model.predict({"view1": new["view1"]})) > 0.9
    alone = np.concatenate([model.predict(new[i : i + 1]) for i in range(0, 120, 7)])
    assert np.array_equal(alone, model.predict(new)[::7])


def test_given_members():
    X, truth = complementary(0)
    fitted = RobustMultiviewKMeans(3, n_init=1, random_state=0).fit(X)
    weak = truth.copy()
    weak[::9] = -1
    members = [fitted, (weak, 40.0), RobustMultiviewKMeans(2, n_init=1, random_state=0)]
    model = ConsensusClustering(3, members=[2, *members]).fit(X)
    assert model.member_labels_.shape == (120, 2 * 3 + 3)
    assert (model.member_labels_[::9, 7] == -1).all()
    assert nmi(truth, model.labels_) == pytest.approx(1)  # the heavy one decides
    assert adjusted_rand_score(model.member_labels_[:, 6], fitted.labels_) == 1
    assert model.predict(X).shape == (120,)  # plain labels have no opinion on new items, the models have
    assert ConsensusClustering(3, members=[fitted]).fit(X).member_labels_.shape == (120, 31)
    copy = clone(model).fit(X)  # clone forgets that a member was fitted; it is fitted again
    assert np.array_equal(copy.labels_, model.labels_)


def test_members_of_other_libraries_come_as_labels():
    X, _ = blobs(0)
    with pytest.raises(ParameterError, match=r"KMeans could not be fitted to Views: .*pass its labels_ as member 0"):
        ConsensusClustering(3, members=[KMeans(3)]).fit(X)
    fitted = KMeans(3, n_init=1, random_state=0).fit(X.joined())
    assert (
        adjusted_rand_score(ConsensusClustering(3, members=[fitted]).fit(X).member_labels_[:, -1], fitted.labels_) == 1
    )


def test_given_members_are_saved(tmp_path):
    X, truth = blobs(0)
    member = RobustMultiviewKMeans(3, n_init=1, random_state=0).fit(X)
    model = ConsensusClustering(3, members=[member, (truth, 2.0)]).fit(X)
    back = manyview.load(manyview.save(model, tmp_path / "model"))
    assert np.array_equal(back.predict(X), model.predict(X))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"scale": "zscore"}, "scale must be one of"),
        ({"alpha": 1.5}, "alpha must be"),
        ({"members": 0}, "members must be"),
        ({"members": [3, 4]}, "one number"),
        ({"members": [np.zeros(7, dtype=int)]}, "given member 0 must be"),
        ({"members": [np.zeros(120)]}, "given member 0 must be"),
        ({"members": [(np.zeros(120, dtype=int), -1.0)]}, "the weight of a member"),
        ({"n_neighbors": 0}, "n_neighbors must be"),
        ({"n_clusters": 121}, "n_clusters must be at most"),
    ],
)
def test_wrong_settings(settings, words):
    X, _ = blobs(0)
    with pytest.raises(ParameterError, match=words):
        ConsensusClustering(**settings).fit(X)


# Hazards


def test_missing_views_and_empty_rows_have_no_vote():
    X, truth = separated_views(n_items=90)
    tags = sparse.lil_matrix(X["tags"])
    tags[:9] = 0
    looks = X["looks"].copy()
    looks[9:18] = np.nan
    model = ConsensusClustering(3).fit({"looks": looks, "text": X["text"], "tags": tags.tocsr()})
    assert nmi(truth, model.labels_) == pytest.approx(1)
    own = {name: slice(10 * v, 10 * v + 10) for v, name in enumerate([None, *(n for n, _ in model.active_views_)])}
    assert (model.member_labels_[:9, own["tags"]] == -1).all() and (model.member_labels_[9:, own["tags"]] >= 0).all()
    assert (model.member_labels_[9:18, own["looks"]] == -1).all()
    assert (model.member_labels_[:, own["text"]] >= 0).all() and (model.member_labels_[:, own[None]] >= 0).all()


def test_items_without_any_word_are_placed_together():
    words = sparse.csr_matrix(np.repeat(np.eye(3, 12), 20, axis=0) + 0.0)
    words = sparse.vstack(
        [words + sparse.random(60, 12, 0.2, rng=np.random.default_rng(0)), sparse.csr_matrix((15, 12))]
    )
    model = ConsensusClustering(4).fit(words.tocsr())
    assert (model.labels_ >= 0).all() and len(set(model.labels_[60:])) == 1
    assert (model.predict(words.tocsr())[60:] == model.labels_[60]).all()


@pytest.mark.parametrize("copies", [5, 40])  # fewer and more than the neighbours asked for
def test_copies_share_a_cluster(copies):
    X, truth = blobs(0, shift=4.0)
    rows = np.r_[np.arange(120), np.repeat([3, 50, 100], copies)]
    model = ConsensusClustering(3).fit(X[rows])
    assert np.array_equal(model.labels_[120:], np.repeat(model.labels_[[3, 50, 100]], copies))
    assert nmi(truth, model.labels_[:120]) > 0.85


def test_disconnected_and_larger_than_the_dense_solver():
    rng = np.random.default_rng(0)
    truth = np.arange(600) % 12
    X = np.eye(12)[truth] * 50 + rng.normal(size=(600, 12))
    model = ConsensusClustering(12).fit(X)
    assert nmi(truth, model.labels_) == pytest.approx(1)


def moons(n_items, seed):
    """Two arcs that k-means cuts through."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_items) % 2
    angle = np.pi * rng.random(n_items)
    X = np.column_stack([np.where(truth, 1 - np.cos(angle), np.cos(angle)), np.where(truth, 0.5, 0) + np.sin(angle)])
    X[truth == 1, 1] = 0.5 - np.sin(angle[truth == 1])
    return X + 0.05 * rng.normal(size=X.shape), truth


def test_parts_that_no_neighbours_join_are_taken_whatever_their_shape(seed):
    X, truth = moons(500, seed)
    model = ConsensusClustering(2).fit(X)
    assert model.candidate_ == "the parts that no neighbours join" and nmi(truth, model.labels_) == pytest.approx(1)
    new, told = moons(200, seed + 1)
    assert (model.predict(new) == told).mean() in (0.0, 1.0)
    again = ConsensusClustering(2, previous=model.labels_).fit(X)
    assert np.array_equal(again.labels_, model.labels_)
    assert ConsensusClustering(3).fit(X).n_clusters_ == 3  # not so many as there are parts


def test_a_small_part_is_not_cut_off(seed):
    rng = np.random.default_rng(seed)
    X = np.r_[rng.normal(size=(300, 4)), rng.normal(size=(15, 4)) * 0.01 + 1]
    assert ConsensusClustering(2).fit(X).cluster_sizes_.min() > 15


def test_a_small_group_far_from_the_rest_is_found(seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], [600, 24])
    X = np.array([9, 9, 0, 0, 0]) * truth[:, None] + rng.normal(size=(624, 5))
    assert adjusted_rand_score(truth, ConsensusClustering(2).fit(X).labels_) > 0.95


def test_few_items_warn_and_few_kinds_get_fewer_clusters():
    X, _ = blobs(0, n_each=4)
    with pytest.warns(ViewWarning, match="fewer than three each"):
        ConsensusClustering(5).fit(X)
    with pytest.warns(ConvergenceWarning, match="found 3 distinct clusters, fewer than n_clusters=8"):
        model = ConsensusClustering(8).fit(X[[0, 0, 5, 5, 11, 11, 0, 5, 11]])
    assert model.n_clusters_ == 3 and model.predict(X[[5, 11, 0]]).tolist() == model.labels_[[2, 4, 0]].tolist()


def test_the_old_name_of_n_neighbors_is_understood_for_one_release():
    X, _ = separated_views()
    model = clone(ConsensusClustering(3, neighbours=4))
    assert model.get_params()["neighbours"] == 4
    with pytest.warns(FutureWarning, match="neighbours is called n_neighbors now"):
        model.fit(X)
    assert model.state_["n_neighbours"] == 4
    assert np.array_equal(model.labels_, ConsensusClustering(3, n_neighbors=4).fit(X).labels_)


def test_one_cluster_and_more_neighbours_than_items():
    X, _ = blobs(0, n_each=5)
    assert ConsensusClustering(1).fit(X).labels_.tolist() == [0] * 15
    assert ConsensusClustering(3, n_neighbors=50).fit(X).n_clusters_ == 3


def test_a_constant_view_has_no_vote():
    X, _ = blobs(0)
    with pytest.warns(ViewWarning, match="'still' is the same for every item"):
        model = ConsensusClustering(3).fit({**dict(X.items()), "still": np.full((120, 2), 3.0)})
    assert model.view_shares_["still"] == 0 and np.array_equal(model.labels_, ConsensusClustering(3).fit(X).labels_)
    with pytest.warns(ViewWarning, match="'still' is the same"), pytest.warns(ConvergenceWarning, match="found 1"):
        nothing = ConsensusClustering(2).fit({"still": np.ones((9, 2))})
    assert nothing.labels_.tolist() == [0] * 9 and nothing.predict({"still": np.zeros((2, 2))}).tolist() == [0, 0]


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_members_or_neighbours_alone(alpha):
    X, truth = blobs(0)
    model = ConsensusClustering(3, alpha=alpha).fit(X)
    assert nmi(truth, model.labels_) == pytest.approx(1)
    assert nmi(truth, model.predict(X)) == pytest.approx(1)


@pytest.mark.slow  # ten thousand items
def test_large_collections_are_sampled(monkeypatch):
    """The paths for more than 8,000 and 100,000 items, at a size that a test can bear."""
    for module, name, value in (
        (_consensus_members, "_SAMPLED", 1_000),
        (_consensus_vote, "_ANCHORS", 500),
        (_neighbours, "EXACT", 1_000),
        (spectral, "_SAMPLE", 1_000),
        (spaces, "_SAMPLE", 500),
    ):
        monkeypatch.setattr(module, name, value)
    X, truth = separated_views(n_items=2_400)
    X = Views({"looks": X["looks"], "text": X["text"], "tags": sparse.csr_matrix(X["tags"])})
    model = ConsensusClustering(3, n_jobs=2).fit(X)
    assert nmi(truth, model.labels_) == pytest.approx(1)
    assert model.state_["rows"].shape[0] <= 500 and nmi(truth, model.predict(X)) == pytest.approx(1)
    assert np.array_equal(ConsensusClustering(3, n_jobs=1).fit(X).labels_, model.labels_)


def test_no_warning_on_plain_data():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ConsensusClustering(3).fit(blobs(0)[0]).predict(blobs(1)[0])


def test_equal_items_are_recognised():
    rows = np.array([[1, 2], [0, 3], [1, 2], [-0.0, 3], [1, 2], [5, 5]], dtype=np.float32)
    present = np.ones((6, 1), dtype=bool)
    present[4] = False
    same = Points(("a",), (1,), rows, np.array([0, 2]), present, np.ones(1), np.zeros(1, dtype=int))
    assert kinds_of(same).tolist() == [0, 1, 0, 1, 2, 3]
