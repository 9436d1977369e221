import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

from manyview import ConcatenatedKMeans, RobustMultiviewKMeans, SingleViewKMeans, Views, load, save
from manyview.blocks import workers
from manyview.errors import ViewError
from manyview.methods.preparation import prepare
from manyview.testing import separated_views

from .rmkmc_reference import blobs


def test_concatenation_is_scikit_learn_on_scaled_columns():
    views, _ = blobs(np.random.default_rng(0), n=80)
    ours = ConcatenatedKMeans(3, view_scale="minmax", random_state=0).fit(views)
    X = np.hstack(views)
    scaled = 2 * (X - X.min(0)) / (X.max(0) - X.min(0)) - 1
    theirs = KMeans(3, n_init=10, random_state=0).fit(scaled - scaled.mean(0))
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_)
    assert np.array_equal(ours.predict(views), ours.labels_)


@pytest.mark.parametrize("scale", ["auto", None])
@pytest.mark.parametrize("kind", [ConcatenatedKMeans, SingleViewKMeans])
def test_items_of_weight_0_have_no_influence(kind, scale):
    views, _ = blobs(np.random.default_rng(0), n=80)
    weight = np.random.default_rng(1).uniform(0.5, 2, 80)
    weight[::5] = 0
    away = [np.where(weight[:, None] > 0, view, 1e6) for view in views]
    model = kind(3, view_scale=scale, random_state=0)
    alone = model.fit([view[weight > 0] for view in views], sample_weight=weight[weight > 0])
    labels, inertia = alone.labels_, alone.inertia_
    for given in (views, away):
        model.fit(given, sample_weight=weight)
        assert np.array_equal(model.labels_[weight > 0], labels) and model.inertia_ == inertia
        assert np.array_equal(model.predict(given), model.labels_)
    with pytest.raises(ValueError, match="n_samples=64"):
        model.set_params(n_clusters=65).fit(views, sample_weight=weight)


def test_one_view_of_a_model_that_is_not_fitted():
    X, _ = separated_views()
    for form in (X, dict(X.items()), list(X.values()), X["looks"]):
        with pytest.raises(NotFittedError):
            SingleViewKMeans(view="looks").predict(form)


def test_a_list_without_the_one_view_says_which():
    X, _ = separated_views()
    model = SingleViewKMeans(3, view="looks", view_scale=None).fit(X)
    place = X.names.index("looks")
    without = [None if v == place else X[name] for v, name in enumerate(X.names)]
    with pytest.raises(ViewError, match=f"needs view 'looks'; the views given are others: it is number {place} of"):
        model.predict(without)
    with pytest.raises(ViewError, match="needs view 'looks'; the views given are none"):
        model.predict({})


def test_seeds_of_any_size():
    X, truth = separated_views()
    labels = [ConcatenatedKMeans(3, random_state=2**40).fit_predict(X) for _ in range(2)]
    assert np.array_equal(*labels) and adjusted_rand_score(truth, labels[0]) == 1


def test_mean_distance_makes_every_view_one_on_average():
    views, _ = blobs(np.random.default_rng(0), n=80)
    model = ConcatenatedKMeans(3, view_scale=("minmax", "mean_distance"), random_state=0).fit(views)
    joined = model._join(model._new_views(views))
    for start, stop in ((0, 3), (3, 8), (8, 10)):
        assert np.linalg.norm(joined[:, start:stop], axis=1).mean() == pytest.approx(1.0)


def test_centres_are_in_the_units_of_the_input():
    views, _ = blobs(np.random.default_rng(0), n=80)
    for scale in ("minmax", None, "mean_distance"):
        model = ConcatenatedKMeans(3, view_scale=scale, random_state=0).fit(views)
        for v, name in enumerate(model.view_names_):
            means = [views[v][model.labels_ == k].mean(axis=0) for k in range(3)]
            assert np.allclose(model.cluster_centers_[name], means)


def test_all_sparse_views_stay_sparse():
    views, _ = separated_views()
    thin = {name: sparse.csr_matrix(matrix) for name, matrix in views.items()}
    model = ConcatenatedKMeans(3, view_scale="minmax", random_state=0).fit(thin)
    assert sparse.issparse(model._join(model._new_views(thin)))
    dense = ConcatenatedKMeans(3, view_scale="minmax", random_state=0).fit(views)
    assert np.array_equal(model.labels_, dense.labels_)


def texts(n_each=30):
    """Two views of words of three topics, in texts of very different length, as counts."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(3), n_each)
    rates = np.full((3, 60), 0.1)
    rates[:, 45:] = 3.0  # words that everybody uses
    for topic in range(3):
        rates[topic, 15 * topic : 15 * topic + 15] = 0.6
    lengths = np.exp(rng.normal(size=(2, truth.size, 1)))
    return {f"text{v}": sparse.csr_matrix(rng.poisson(lengths[v] * rates[truth]) + 0.0) for v in range(2)}, truth


def test_by_default_it_is_scikit_learn_on_prepared_views():
    X, truth = texts()
    model = ConcatenatedKMeans(3, random_state=0).fit(X)
    assert set(model.view_scalings_) == set(X) and set(model.scaling_agreement_["text0"]) == {"15", "30", "60", "100"}
    with workers(1) as threads:
        found = prepare(Views(X), "auto", threads, 3)
    joined = np.hstack([found.points[name] for name in X])
    plain = KMeans(3, n_init=10, random_state=0).fit(joined - joined.mean(axis=0))
    assert adjusted_rand_score(plain.labels_, model.labels_) == 1
    raw = ConcatenatedKMeans(3, view_scale="minmax", random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > adjusted_rand_score(truth, raw.labels_) + 0.1
    assert np.array_equal(model.predict(X), model.labels_)
    for name, matrix in Views(X).items():  # in the units of the input
        means = [np.asarray(matrix[model.labels_ == k].mean(axis=0)).ravel() for k in range(3)]
        assert model.cluster_centers_[name] == pytest.approx(np.array(means))


def test_robust_k_means_takes_prepared_views_too(tmp_path):
    X, truth = texts()
    model = RobustMultiviewKMeans(3, n_init=3, random_state=0).fit(X)
    paper = RobustMultiviewKMeans(3, view_scale="minmax", n_init=3, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) > adjusted_rand_score(truth, paper.labels_) + 0.1
    assert np.mean(model.predict(X) == model.labels_) > 0.95 and np.isfinite(model.score(X))
    back = load(save(model, tmp_path / "model"))
    assert np.array_equal(back.predict(X), model.predict(X))
    assert model.cluster_centers_["text0"] == pytest.approx(Views(X).means(model.labels_)["text0"])


def test_single_view_looks_at_one_view_only():
    views, _ = separated_views()
    noise = np.random.default_rng(0).normal(size=(views.n_items, 3))
    both = {"noise": noise, "looks": views["looks"]}
    model = SingleViewKMeans(3, view="looks", random_state=0).fit(both)
    assert np.array_equal(model.labels_, SingleViewKMeans(3, random_state=0).fit(views["looks"]).labels_)
    assert list(model.cluster_centers_) == ["looks"]
    assert np.array_equal(model.predict(both), model.labels_)
    with pytest.raises(ViewError, match="needs view 'looks'"):
        model.predict({"noise": noise})
    with pytest.raises(ViewError, match="no view 'sound'"):
        SingleViewKMeans(3, view="sound").fit(both)


def test_single_view_finds_its_view_in_a_list(tmp_path):
    views, _ = separated_views()
    noise = np.random.default_rng(0).normal(size=(views.n_items, 3))
    both = [noise, views["looks"]]
    model = SingleViewKMeans(3, view="view1", random_state=0).fit(both)
    assert np.array_equal(model.predict(both), model.labels_)
    assert np.array_equal(model.predict([None, views["looks"]]), model.labels_)
    assert np.array_equal(model.predict([views["looks"]]), model.labels_)
    assert np.array_equal(load(save(model, tmp_path / "model")).predict(both), model.labels_)
    first = SingleViewKMeans(3, random_state=0).fit(both[::-1])
    assert np.array_equal(first.predict(both[::-1]), first.labels_)
    with pytest.raises(ViewError, match="expected 1 views"):
        model.predict([*both, noise])
