"""FusionART as a user meets it: settings, streams, groups, missing views, hazards."""

import copy
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from manyview import FusionART, Views
from manyview.errors import ParameterError, ViewError, ViewWarning
from manyview.methods.fusion_art._vigilance import GRID
from manyview.testing import check_multiview_estimator, separated_views

from .test_fusion_art_reference import grid_data, tag_matrix


def noisy_views(seed=0, n_items=400, dtype=np.float64):
    """Content far outside [0, 1], tags with noise; some items without tags."""
    rng = np.random.default_rng(seed)
    _, lists, kind = grid_data(seed, n_items)
    looks = (3 * rng.normal(size=(n_items, 8)) + 5 * kind[:, None]).astype(dtype)
    return {"looks": looks, "tags": tag_matrix(lists, 30, dtype)}


def rows_of(views, rows):
    return {name: matrix[rows] for name, matrix in views.items()}


def same_state(a, b):
    assert a.field_.keys() == b.field_.keys()
    for name, array in a.field_.items():
        assert array.dtype == b.field_[name].dtype and np.array_equal(array, b.field_[name]), name
    assert np.array_equal(a.contributions_, b.contributions_)
    assert a.n_clusters_ == b.n_clusters_


# The number of clusters cannot be asked for, so bounds and vigilance are such that three kinds come apart.
@pytest.mark.parametrize("more", [{}, {"tag_learning": "fuzzy"}, {"epochs": 2}, {"min_size": 2}], ids=str)
def test_multiview_checks(more):
    # What the first member lacks, fuzzy learning never learns, so there the tags may not veto.
    vigilance = {"content": 0.8, "tags": 0.0 if "tag_learning" in more else 0.1}
    check_multiview_estimator(FusionART(vigilance, bounds=(0, 10), **more))


def test_scikit_learn_checks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        warnings.simplefilter("ignore", ViewWarning)
        results = check_estimator(FusionART(0.75, learning_rate=1.0), on_fail=None)
    assert not {r["check_name"]: repr(r["exception"])[:300] for r in results if r["status"] == "failed"}


# -- streams


# -- what the spec promises of any field


def test_invariants():
    views = noisy_views()
    model = FusionART(vigilance=0.2, random_state=0).fit(views)
    labels, tags = model.labels_, views["tags"].toarray()
    assert model.cluster_sizes_.sum() == 400
    assert np.array_equal(np.bincount(labels), model.cluster_sizes_)
    assert model.contributions_.sum() == pytest.approx(1)
    assert np.all((model.scatter_[:, 1] >= 0) & (model.scatter_[:, 1] < 2))
    assert np.all(model.field_["figures"][0, 0] <= 8)
    means = np.array([tags[labels == j].mean(axis=0) for j in range(model.n_clusters_)])
    assert np.allclose(model.cluster_centers_["tags"].toarray(), means)


def test_content_prototypes_only_shrink():
    looks, _, _ = grid_data(0, 200)
    model = FusionART(vigilance=0.5)
    before = np.empty((0, 12))
    for i in range(200):
        model.partial_fit(looks[i : i + 1])
        corner = model.field_["corner"]
        assert np.all(corner[: len(before)] <= before)
        before = corner.copy()


def test_no_vigilance_makes_one_cluster_and_full_vigilance_one_per_record():
    looks, lists, _ = grid_data(1, 150)
    assert FusionART(0.0).fit({"looks": looks, "tags": tag_matrix(lists, 30)}).n_clusters_ == 1
    twice = np.random.default_rng(0).random((40, 3))[np.arange(80) % 40]
    assert FusionART(1.0).fit(twice).n_clusters_ == 40


def test_a_contribution_of_zero_silences_the_choice_but_not_the_vigilance():
    looks, lists, _ = grid_data(2, 200, tagless=0.0)
    views = {"looks": looks, "tags": tag_matrix(lists, 30)}
    settings = {"shuffle": False, "bounds": (0, 1), "learning_rate": 1.0}
    plain = FusionART(0.55, **settings).fit(looks)
    silent = FusionART([0.55, 0.0], contributions=(1, 0), **settings).fit(views)
    assert np.array_equal(plain.labels_, silent.labels_)
    assert silent.contributions_.tolist() == [1, 0]
    watched = FusionART([0.55, 0.3], contributions={"tags": 0, "looks": 2}, **settings).fit(views)
    assert not np.array_equal(watched.labels_, silent.labels_)
    assert np.all(watched.contributions_history_ == [1, 0])


def test_names_of_tags_and_order_of_features_do_not_matter():
    looks, lists, _ = grid_data(3, 300)
    tags = tag_matrix(lists, 30)
    rng = np.random.default_rng(0)
    settings = {"learning_rate": 1.0, "random_state": 0, "vigilance": 0.2}
    labels = FusionART(**settings).fit_predict({"looks": looks, "tags": tags})
    turned = {"looks": looks[:, rng.permutation(12)], "tags": tags[:, rng.permutation(30)]}
    assert np.array_equal(FusionART(**settings).fit_predict(turned), labels)
    doubled = {"looks": looks, "tags": csr_matrix(np.hstack([tags.toarray()] * 2))}
    tiny = {**settings, "choice": 1e-9}
    assert np.array_equal(
        FusionART(**tiny).fit_predict(doubled), FusionART(**tiny).fit_predict({"looks": looks, "tags": tags})
    )


def test_items_without_tags():
    looks, lists, _ = grid_data(4, 200)
    model = FusionART(0.3, shuffle=False, bounds=(0, 1)).fit({"looks": looks, "tags": tag_matrix(lists, 30)})
    alone = model.predict({"looks": looks[:9], "tags": tag_matrix([[]] * 9, 30)})
    assert np.array_equal(alone, model.predict({"looks": looks[:9]}))
    bare = {"looks": looks, "tags": tag_matrix([[]] * 200, 30)}
    with pytest.warns(ViewWarning, match="'tags' holds no tag at all"):
        tagless = FusionART(0.6, random_state=0).fit(bare)
    assert np.array_equal(tagless.labels_, FusionART(0.6, random_state=0).fit_predict(looks))
    assert tagless.contributions_.tolist() == [1, 0]


def test_one_cluster_for_nearly_all_is_told():
    """Of dense numbers the paper's vigilance accepts nearly everything; who asks for as little knows that."""
    X = np.random.default_rng(0).normal(size=(60, 8)) + 2.0 * np.eye(3, 8)[np.arange(60) % 3]
    with pytest.warns(ViewWarning, match=r"60 of 60 items are in one cluster.*vigilance=\{'content': 0.7\}"):
        FusionART(random_state=0).fit(X)
    assert FusionART(0.0, random_state=0).fit(X).n_clusters_ == 1  # and nothing is said
    assert FusionART({"content": 0.7}, learning_rate=0.1, random_state=0).fit(X).n_clusters_ > 2


# -- channels


def test_channels_are_found_or_told():
    looks, lists, _ = grid_data(0, 60)
    tags = tag_matrix(lists, 30)
    views = {"looks": looks, "tags": tags, "counts": tags * 2, "flags": tags.toarray()}
    with pytest.warns(ViewWarning, match="view 'counts' is sparse"):
        model = FusionART(0.0).fit(views)
    assert model.channels_ == {"looks": "content", "tags": "tags", "counts": "content", "flags": "content"}
    told = FusionART(channels={"flags": "tags", "counts": "content"}, random_state=0).fit(views)
    assert told.channels_["flags"] == "tags"
    dense = FusionART(channels={"view0": "tags"}, random_state=1).fit([tags.toarray()])
    for kind in (csr_matrix, csr_array):
        assert np.array_equal(FusionART(random_state=1).fit([kind(tags)]).labels_, dense.labels_)
    stored_zeros = tags.copy()
    stored_zeros.data[:5] = 0
    cleaned = stored_zeros.copy()
    cleaned.eliminate_zeros()
    same_state(FusionART(random_state=1).fit([stored_zeros]), FusionART(random_state=1).fit([cleaned]))


def test_sparse_content_equals_dense_content():
    rng = np.random.default_rng(0)
    words = rng.poisson(0.4, size=(120, 25)).astype(float)
    settings = {"vigilance": 0.7, "random_state": 0, "channels": {"view0": "content"}}
    dense = FusionART(**settings).fit([words])
    same_state(FusionART(**settings).fit([csr_matrix(words)]), dense)
    same_state(FusionART(**settings).partial_fit([csr_matrix(words)]), FusionART(**settings).partial_fit([words]))


def test_many_channels_of_both_kinds():
    looks, lists, kind = grid_data(0, 300, tagless=0.0)
    rng = np.random.default_rng(0)
    words = tag_matrix([sorted({int(k), int(5 + rng.integers(5))}) for k in kind], 10)
    views = {
        "a": looks[:, :5],
        "tags": tag_matrix(lists, 30),
        "b": looks[:, 5:],
        "words": words,
        "c": rng.random((300, 4)),
    }
    model = FusionART({"content": 0.3, "words": 0.4}, random_state=0).fit(views)
    assert model.contributions_.shape == (5,)
    assert model.contributions_.sum() == pytest.approx(1)
    assert np.array_equal(
        model.labels_,
        FusionART({"content": 0.3, "words": 0.4}, random_state=0).fit(dict(reversed(views.items()))).labels_,
    )


def test_a_constant_view_has_no_say():
    looks, _, _ = grid_data(0, 60)
    with pytest.warns(ViewWarning, match="'flat' is the same for every item"):
        model = FusionART(0.6, random_state=0).fit({"looks": looks, "flat": np.ones((60, 3))})
    assert model.contributions_.tolist() == [1, 0]
    assert np.array_equal(model.labels_, FusionART(0.6, random_state=0).fit_predict({"looks": looks}))
    model.partial_fit({"looks": looks[:1], "flat": np.array([[1.0, 2.0, 1.0]])})
    assert model.contributions_[1] > 0


def test_clusters_that_lack_a_channel_learn_it_later():
    views = Views(
        {"looks": np.array([[0.1], [0.9], [0.1]]), "more": np.array([[np.nan], [np.nan], [0.4]])},
    )
    model = FusionART(0.7).partial_fit(views)
    assert model.labels_.tolist() == [0, 1, 0]
    low, high = model.cluster_boxes_["more"]
    assert (low[0, 0], high[0, 0]) == pytest.approx((0.4, 0.4), abs=1e-6)
    assert np.isnan(low[1, 0])


# -- groups


# -- predict, novelty, min_size, epochs


def test_novelty():
    looks = np.array([[0.1, 0.1], [0.12, 0.1], [0.9, 0.9]])
    tags = tag_matrix([[0], [0], [1]], 3)
    model = FusionART([0.8, 0.5], novelty=True, bounds=(0, 1), shuffle=False).fit({"looks": looks, "tags": tags})
    new = {"looks": np.array([[0.1, 0.1], [0.9, 0.1], [0.9, 0.9]]), "tags": tag_matrix([[0], [0], [2]], 3)}
    assert model.predict(new).tolist() == [0, -1, -1]
    assert model.set_params(novelty=False).predict(new).tolist() == [0, 0, 1]
    assert model.explain(new, [-1, -1, -1])[0]["text"] == "It resembles no cluster."


def test_min_size_looks_again_and_leaves_small_clusters_out():
    views = noisy_views()
    online = FusionART(0.3, random_state=0).fit(views)
    large = FusionART(0.3, random_state=0, min_size=20).fit(views)
    assert np.array_equal(large.cluster_sizes_, online.cluster_sizes_)
    assert set(large.labels_) <= set(np.flatnonzero(online.cluster_sizes_ >= 20))
    assert np.array_equal(large.labels_, large.predict(views))
    share = FusionART(0.3, random_state=0, min_size=0.05).fit(views)
    assert np.array_equal(share.labels_, large.labels_)
    again = FusionART(0.3, random_state=0, min_size=1).fit(views)
    assert np.array_equal(again.labels_, online.predict(views))
    with pytest.warns(ViewWarning, match="no cluster has min_size=1000"):
        FusionART(min_size=1000).fit(views)


@pytest.mark.parametrize("tag_learning", ["probability", "fuzzy"])
def test_epochs_keep_the_books(tag_learning):
    views = noisy_views()
    model = FusionART(0.25, epochs=4, random_state=0, tag_learning=tag_learning).fit(views)
    assert 1 < model.n_iter_ <= 4
    assert np.array_equal(np.bincount(model.labels_, minlength=model.n_clusters_), model.cluster_sizes_)
    assert model.cluster_sizes_.min() > 0
    if tag_learning == "probability":
        tags = views["tags"].toarray()
        for j in range(model.n_clusters_):
            counts = tags[model.labels_ == j].sum(axis=0)
            assert model.field_["counts"][:, j] == pytest.approx(counts)
            assert model.field_["numbers"][1:, 1, j].tolist() == [counts.sum(), (counts**2).sum()]
    one = FusionART(0.25, random_state=0, tag_learning=tag_learning).fit(views)
    assert one.n_iter_ == 1
    figures, n_channels = model.field_["figures"], 2
    assert model.field_["total_scatter"] == pytest.approx(figures[4].sum(axis=1), abs=1e-9)
    assert model.field_["seen_in"].shape == (n_channels,)


def test_the_order_is_seeded():
    views = noisy_views()
    first = FusionART(0.3, random_state=1).fit_predict(views)
    assert np.array_equal(FusionART(0.3, random_state=1).fit_predict(views), first)
    assert not np.array_equal(FusionART(0.3, random_state=2).fit_predict(views), first)


def test_predict_takes_threads_and_views_that_are_absent():
    views = noisy_views(n_items=1500)
    model = FusionART(0.3, random_state=0).fit(views)
    assert np.array_equal(model.set_params(n_jobs=2).predict(views), model.set_params(n_jobs=1).predict(views))
    assert model.predict({"tags": views["tags"][:5]}).shape == (5,)
    assert model.predict([None, views["tags"][:5]]).shape == (5,)
    with pytest.raises(ViewError, match="'sound' was not part of fit"):
        model.predict({"sound": views["looks"]})


def test_predict_of_separated_kinds():
    views, truth = separated_views()
    model = FusionART({"content": 0.8, "tags": 0.1}, bounds=(0, 10)).fit(views)
    assert len(set(zip(model.predict(views).tolist(), truth.tolist(), strict=True))) == 3


# -- a vigilance by the paper's own criterion


def families(n_items=200):
    """Two families of tags: each of four kinds shares one of its two words with the other kind of its family."""
    kind = np.arange(n_items) % 4
    tags = np.zeros((n_items, 6))
    tags[np.arange(n_items), kind] = 1
    tags[np.arange(n_items), 4 + kind // 2] = 1
    return {"tags": csr_matrix(tags)}, kind


def test_the_vigilance_is_the_largest_that_leaves_few_items_in_small_clusters():
    views, kind = families()
    assert FusionART(random_state=0).fit(views).n_clusters_ == 2  # a shared word is enough at 0.1
    model = FusionART("auto", random_state=0).fit(views)
    assert model.tag_vigilance_ == 1.0 and model.n_clusters_ == 4
    assert len(set(zip(model.labels_.tolist(), kind.tolist(), strict=True))) == 4
    same_state(model, FusionART({"tags": 1.0}, random_state=0).fit(views))
    model.partial_fit(rows_of(views, slice(0, 8)))  # a stream goes on with what was found
    assert model.n_clusters_ == 4


def test_every_larger_vigilance_would_leave_more():
    rng = np.random.default_rng(0)
    views = {"tags": csr_matrix((rng.random((300, 30)) < np.where(np.arange(30) < 6, 0.5, 0.03)).astype(float))}
    found = FusionART("auto", random_state=3).fit(views).tag_vigilance_
    shares = {}
    for rho in GRID:
        sizes = np.bincount(FusionART({"tags": rho}, random_state=3).fit(views).labels_)
        shares[rho] = sizes[sizes < 3].sum() / 300
    fit_for_it = [rho for rho in GRID if shares[rho] <= 0.02]
    assert found == (fit_for_it[0] if fit_for_it else 0.1) and shares[1.0] > 0.02


def test_without_tags_nothing_is_sought_and_a_stream_needs_a_number():
    model = FusionART("auto", random_state=0).fit(np.random.default_rng(0).random((40, 3)))
    assert model.tag_vigilance_ == 0.1
    with pytest.raises(ParameterError, match="call fit before partial_fit"):
        FusionART("auto").partial_fit(np.eye(3))


# -- what is refused


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"vigilance": 1.2}, "at most 1, one for each view .*; got 1.2 for view 'looks'"),
        ({"vigilance": {"sound": 0.1}}, "'sound'"),
        ({"vigilance": "high"}, "'high'"),
        ({"vigilance": [0.1]}, "2 finite number"),
        ({"choice": 0}, "choice"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"channels": {"sound": "tags"}}, "'sound'"),
        ({"channels": {"looks": "sound"}}, "'content' or 'tags'"),
        ({"channels": "tags"}, "channels must be 'auto'"),
        ({"contributions": [1]}, "2 finite number"),
        ({"contributions": {"looks": 1}}, "contributions must be"),
        ({"contributions": (0, 0)}, "not all 0"),
        ({"tag_learning": "mean"}, "tag_learning"),
        ({"match_tracking": "up"}, "match_tracking"),
        ({"epochs": 0}, "epochs"),
        ({"min_size": 0}, "min_size"),
        ({"novelty": "yes"}, "novelty must be True or False"),
        ({"bounds": (1, 0)}, "low at most high"),
        ({"bounds": 3}, "bounds must be a pair"),
        ({"bounds": {"tags": (0, 1)}}, "not a content view"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ParameterError, match=message):
        FusionART(**settings).fit(noisy_views(n_items=20))


def test_bad_data():
    views = noisy_views(n_items=20)
    wrong = views["tags"].copy()
    wrong.data[0] = 3
    with pytest.raises(ViewError, match=r"'tags' is a tag channel.* holds 3"):
        FusionART(channels={"tags": "tags"}).fit({**views, "tags": wrong})
    with pytest.raises(ViewError, match=r"row 4 holds 0\.5"):
        FusionART(channels={"view0": "tags"}).fit(np.where(np.arange(20)[:, None] == 4, 0.5, 1.0))
    model = FusionART().fit(views)
    state = copy.deepcopy(model)
    with pytest.raises(ViewError, match="is a tag channel"):
        model.partial_fit({**views, "tags": wrong})
    same_state(model, state)
    with pytest.raises(ParameterError, match="one integer for each of the 20 items"):
        FusionART().fit(views, [0, 1])
    with pytest.raises(ParameterError, match="integers"):
        FusionART().fit(views, np.full(20, 0.5))


def test_a_sparse_view_of_counts_is_content_and_a_warning_says_what_to_do():
    counts = csr_matrix(np.random.default_rng(0).poisson(0.2, size=(40, 30)).astype(float))
    assert counts.max() > 1
    with pytest.warns(ViewWarning, match="view 'words' is sparse but holds more than 0 and 1.*words > 0"):
        assert FusionART(random_state=0).fit({"words": counts}).channels_ == {"words": "content"}
    with pytest.warns(ViewWarning, match="view 'words'"):
        FusionART(channels={"looks": "content"}).fit({"looks": np.eye(40, 3), "words": counts})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FusionART(channels={"words": "content"}).fit({"words": counts})
        assert FusionART().fit({"words": counts > 0}).channels_ == {"words": "tags"}
    with pytest.raises(ViewError, match="row . holds 2.*words > 0 where any count is a yes"):
        FusionART(channels={"words": "tags"}).fit({"words": counts})
