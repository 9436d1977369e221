"""What a user of RobustMultiviewKMeans may rely on: invariances, hazards, errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from manyview import RobustMultiviewKMeans, Views
from manyview.datasets import load_handwritten
from manyview.errors import ViewError, ViewWarning
from manyview.methods.kmeans import _robust_rounds
from manyview.testing import separated_views

from .rmkmc_reference import blobs, fit, start_from


def rises(objective):
    """By how much log Phi rises anywhere after the first round, relative."""
    steps = np.diff(objective)[1:] / np.abs(objective[1:-1]).clip(1)
    return steps.max(initial=0.0)


class TestObjective:
    @pytest.mark.parametrize("rule", ["literal", "exact"])
    @settings(max_examples=50, deadline=None)
    @given(data=st.data())
    def test_never_rises_after_the_first_round(self, rule, data):
        rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
        n = data.draw(st.integers(4, 40))
        gamma = data.draw(st.sampled_from([1.0001, 1.26, 2.0, 12.6, 79.4, 1e6]))
        weights = data.draw(st.sampled_from(["learned", "equal", [1.0, 2.0, 0.5]]))
        views = [np.round(rng.normal(size=(n, d)) * 2) for d in (2, 1, 3)]  # rounding makes duplicates
        labels = rng.integers(3, size=n)
        labels[:3] = [0, 1, 2]
        _, _, outcome = start_from(
            views, labels, gamma=gamma, assign=rule, view_weights=weights, n_clusters=3, max_iter=40
        )
        assert np.isfinite(outcome.objective).all()
        if not outcome.n_reseeded:
            assert rises(outcome.objective) <= 1e-10

    def test_never_rises_on_the_numerals_in_single_precision(self):
        X, _ = load_handwritten(return_X_y=True)
        for seed in range(3):
            model = fit(X, 10, n_init=1, random_state=seed)
            assert rises(model.objective_) <= 1e-10 and model.n_iter_ == len(model.objective_) > 3

    def test_the_best_start_is_kept(self):
        views, _ = blobs(np.random.default_rng(1), n=100)
        # Start j draws from the j-th stream of the seed, so more starts can only add to the choice.
        ends = [fit(views, 6, n_init=k, random_state=3).objective_[-1] for k in range(1, 9)]
        assert (np.diff(ends) <= 0).all() and ends[-1] < ends[0]

    def test_score_ranks_models(self):
        X, _ = separated_views()
        scores = [fit(X, k).score(X) for k in (1, 2, 3)]
        assert scores[0] < scores[1] < scores[2]
        assert fit(X, 3).score(X[:30]) == pytest.approx(fit(X, 3).score(X), abs=0.2)

    @pytest.mark.parametrize("weights", ["learned", "equal", np.array([1.0, 2.0, 3.0])])
    @pytest.mark.filterwarnings("ignore:.*lack every view")
    def test_score_is_the_objective_per_item_that_has_a_view(self, weights):
        X, _ = separated_views()
        views = {name: np.vstack([matrix, np.full((6, matrix.shape[1]), np.nan)]) for name, matrix in X.items()}
        model = fit(X, 3, view_weights=weights, assign="exact", view_scale=None)
        per_item = model.objective_[-1] - np.log(X.n_items)
        assert -model.score(X) == pytest.approx(per_item) == -model.score(views)


class TestInvariance:
    def test_one_view_gets_all_the_weight_whatever_gamma(self):
        views, _ = blobs(np.random.default_rng(0), n=80, widths=(4,))
        runs = [fit(views, gamma=gamma) for gamma in (1.5, 79.4)]
        assert np.array_equal(runs[0].labels_, runs[1].labels_)
        assert runs[0].alpha_.tolist() == runs[0].view_weights_.tolist() == [1.0]

    def test_a_view_given_twice_changes_nothing(self):
        views, _ = blobs(np.random.default_rng(0), n=80, widths=(4,))
        _, _, once = start_from(views, np.arange(80) % 3)
        model, _, twice = start_from(views * 2, np.arange(80) % 3)
        assert np.array_equal(once.labels, twice.labels)
        assert np.allclose(model.alpha_, 0.5)

    def test_order_of_views_and_rows(self):
        views, _ = blobs(np.random.default_rng(0), n=80)
        labels = np.arange(80) % 3
        model, _, first = start_from(views, labels)
        turned, _, second = start_from(views[::-1], labels)
        assert np.array_equal(first.labels, second.labels)
        assert np.allclose(model.view_weights_, turned.view_weights_[::-1])
        order = np.random.default_rng(1).permutation(80)
        _, _, third = start_from([X[order] for X in views], labels[order])
        assert np.array_equal(first.labels[order], third.labels)

    def test_every_row_twice_gives_the_same_model(self):
        views, _ = blobs(np.random.default_rng(0), n=60)
        labels = np.arange(60) % 3
        once, _, _ = start_from(views, labels)
        twice, _, _ = start_from([np.vstack([X, X]) for X in views], np.r_[labels, labels])
        assert np.allclose(once.alpha_, twice.alpha_)
        for name in once.view_names_:
            assert np.allclose(once.cluster_centers_[name], twice.cluster_centers_[name])

    def test_integer_weights_are_repetitions(self):
        views, _ = blobs(np.random.default_rng(0), n=50)
        counts = np.random.default_rng(1).integers(0, 4, size=50)
        rows = np.repeat(np.arange(50), counts)
        weighted = RobustMultiviewKMeans(3, view_scale="minmax", n_init=20, random_state=0).fit(
            views, sample_weight=counts
        )
        repeated = RobustMultiviewKMeans(3, view_scale="minmax", n_init=20, random_state=0).fit(
            [X[rows] for X in views]
        )
        assert weighted.objective_[-1] == pytest.approx(repeated.objective_[-1], abs=1e-6)
        assert np.allclose(np.sort(weighted.residuals_), np.sort(repeated.residuals_), rtol=1e-5)

    def test_moving_or_turning_a_view_changes_nothing(self):
        views, _ = blobs(np.random.default_rng(0), n=80)
        labels = np.arange(80) % 3
        _, _, first = start_from(views, labels)
        turn = np.linalg.qr(np.random.default_rng(2).normal(size=(5, 5)))[0]
        _, _, second = start_from([views[0] + 1e3, views[1] @ turn, views[2]], labels)
        assert np.array_equal(first.labels, second.labels)

    def test_stretching_a_view_acts_as_the_exponent_says(self):
        # H_v grows by c, omega_v by c^(-gamma / (gamma - 1)): nearly scale free at a large gamma.
        views, _ = blobs(np.random.default_rng(0), n=80)
        for gamma in (3.0, 1e6):
            one, _, _ = start_from(views, np.arange(80) % 3, gamma=gamma, max_iter=1)
            big, _, _ = start_from([views[0] * 8, *views[1:]], np.arange(80) % 3, gamma=gamma, max_iter=1)
            if np.array_equal(one.labels_, big.labels_):
                assert big.residuals_[0] == pytest.approx(8 * one.residuals_[0])
            ratio = (big.view_weights_[0] / big.view_weights_[1]) / (one.view_weights_[0] / one.view_weights_[1])
            share = big.residuals_[0] / one.residuals_[0] * one.residuals_[1] / big.residuals_[1]
            assert ratio == pytest.approx(share ** (-gamma / (gamma - 1)), rel=1e-6)

    def test_scaling_settings(self):
        views, _ = blobs(np.random.default_rng(0), n=80)
        stretched = [X * c + 5 for X, c in zip(views, (1e-3, 1.0, 1e4), strict=True)]
        for scale in ("minmax", "mean_distance", ("minmax", "mean_distance")):
            assert np.array_equal(fit(views, view_scale=scale).labels_, fit(stretched, view_scale=scale).labels_)
        columns = [X * np.geomspace(1, 1e5, X.shape[1]) for X in views]
        assert np.array_equal(fit(views).labels_, fit(columns).labels_)  # minmax works by feature

    def test_minmax_is_the_papers_range(self):
        X = np.array([[0.0, 5.0], [4.0, 5.0], [1.0, 5.0], [2.0, 5.0]])
        model = fit([X], 1)
        assert model.view_factor_["view0"].tolist() == [0.5, 0.0]  # a constant feature counts for nothing
        assert np.allclose(model.cluster_centers_["view0"][:, 1], 5.0)


class TestSameAnswer:
    """However the work is cut and whatever holds the data."""

    @pytest.mark.parametrize("rule", ["literal", "exact"])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_blocks_and_threads(self, rule, dtype, monkeypatch):
        given, _ = load_handwritten(return_X_y=True)
        X = Views({name: matrix[::2].astype(dtype) for name, matrix in given.items()})
        settings = {"n_clusters": 10, "n_init": 2, "assign": rule, "max_iter": 20}
        monkeypatch.setattr(_robust_rounds, "MOST_ROWS", 10**6)
        whole = fit(X, **settings, n_jobs=1)
        for most, n_jobs in ((286, 1), (286, 2), (77, 2)):
            monkeypatch.setattr(_robust_rounds, "MOST_ROWS", most)
            cut = fit(X, **settings, n_jobs=n_jobs)
            assert np.array_equal(cut.labels_, whole.labels_)
            assert np.array_equal(cut.predict(X), whole.predict(X))
            for name in X.names:
                assert np.allclose(cut.cluster_centers_[name], whole.cluster_centers_[name], rtol=1e-12, atol=1e-12)
        monkeypatch.setattr(_robust_rounds, "MOST_ROWS", 1)
        small = X[:60]
        one_row_each = fit(small, 4)
        monkeypatch.undo()
        assert np.array_equal(one_row_each.labels_, fit(small, 4).labels_)

    def test_two_threads_give_the_same_bits(self):
        X, _ = load_handwritten(return_X_y=True)
        one, two = (fit(X, 10, n_init=1, n_jobs=k) for k in (1, 2))
        assert np.array_equal(one.objective_, two.objective_)
        assert all(np.array_equal(one.cluster_centers_[v], two.cluster_centers_[v]) for v in X.names)

    def test_sparse_and_dense(self):
        rng = np.random.default_rng(0)
        truth = np.arange(90) % 3
        words = rng.poisson(np.repeat(np.eye(3), 10, axis=1)[truth] * 2 + 0.1).astype(float)
        looks = rng.normal(size=(90, 4)) + truth[:, None]
        for scale in ("minmax", "mean_distance", None):
            for rule in ("literal", "exact"):
                settings = {"view_scale": scale, "assign": rule}
                dense = fit({"words": words, "looks": looks}, **settings)
                thin = fit({"words": sparse.csr_matrix(words), "looks": looks}, **settings)
                assert np.array_equal(dense.labels_, thin.labels_)
                assert np.allclose(dense.cluster_centers_["words"], thin.cluster_centers_["words"])
                mixed = {"words": sparse.csr_array(words), "looks": looks}
                assert np.array_equal(dense.predict(mixed), thin.predict({"words": words, "looks": looks}))


class TestWeights:
    def test_given_numbers_act(self):
        rng = np.random.default_rng(0)
        first, second = np.arange(60) % 2, np.arange(60) // 30
        views = {
            "a": first[:, None] + rng.normal(size=(60, 1)) * 0.01,
            "b": second[:, None] + rng.normal(size=(60, 1)) * 0.01,
        }
        for weights, truth in (({"a": 100, "b": 1}, first), ([1, 100], second), ([0, 1], second)):
            model = fit(views, 2, view_weights=weights, assign="exact", n_init=10)
            assert len(set(zip(model.labels_.tolist(), truth.tolist(), strict=True))) == 2
        assert fit(views, 2, view_weights=[1, 3]).view_weights_.tolist() == [0.25, 0.75]

    def test_equal_weights(self):
        views, _ = blobs(np.random.default_rng(0), n=60)
        assert np.allclose(fit(views, view_weights="equal").view_weights_, 1 / 3)

    def test_a_tighter_view_weighs_more(self):
        rng = np.random.default_rng(0)
        truth = np.arange(100) % 2
        tight = truth[:, None] + rng.normal(size=(100, 3)) * 0.02
        loose = truth[:, None] + rng.normal(size=(100, 3)) * 0.5
        weights = fit([tight, loose], 2).view_weights_
        assert weights[0] > 3 * weights[1]

    def test_missing_items_do_not_flatter_a_view(self):
        # The same view with nine of ten items missing keeps about the weight it has when complete.
        rng = np.random.default_rng(0)
        truth = np.arange(400) % 2
        views = [truth[:, None] + rng.normal(size=(400, 2)) * 0.2 for _ in range(2)]
        full = fit(views, 2, gamma=4.0).view_weights_
        holes = views[1].copy()
        holes[rng.random(400) < 0.9] = np.nan
        assert fit([views[0], holes], 2, gamma=4.0).view_weights_ == pytest.approx(full, abs=0.08)


class TestPredict:
    def test_is_the_exact_rule(self):
        views, _ = blobs(np.random.default_rng(0), n=80)
        model = fit(views)
        scaled = [X * model.view_factor_[v] for X, v in zip(views, model.view_names_, strict=True)]
        centres = [model.cluster_centers_[v] * model.view_factor_[v] for v in model.view_names_]
        cost = sum(
            w * np.linalg.norm(X[:, None] - F[None], axis=-1)
            for w, X, F in zip(model.view_weights_, scaled, centres, strict=True)
        )
        assert np.array_equal(model.predict(views), cost.argmin(axis=1))

    def test_exact_runs_predict_their_own_labels(self):
        views, _ = blobs(np.random.default_rng(0), n=80)
        model = fit(views, assign="exact")
        assert np.array_equal(model.predict(views), model.labels_)

    def test_forms_of_new_items(self):
        views, _ = blobs(np.random.default_rng(0), n=80)
        model = fit({"a": views[0], "b": views[1]})
        expected = model.predict({"a": views[0], "b": views[1]})
        assert np.array_equal(model.predict({"b": views[1], "a": views[0]}), expected)
        assert np.array_equal(model.predict([views[0], views[1]]), expected)
        assert np.array_equal(model.predict([views[0], None]), model.predict({"a": views[0]}))
        assert np.array_equal(model.predict(Views({"a": views[0], "b": views[1]})[5:9]), expected[5:9])

    def test_what_does_not_fit_is_named(self):
        views, _ = blobs(np.random.default_rng(0), n=20)
        with pytest.raises(NotFittedError):
            RobustMultiviewKMeans().predict(views)
        model = fit({"a": views[0], "b": views[1]})
        with pytest.raises(ViewError, match="view 'c' was not part of fit; the views known are 'a', 'b'"):
            model.predict({"c": views[0]})
        with pytest.raises(ViewError, match="view 'b' has 3 features, but .* expecting 5 features"):
            model.predict({"b": views[0]})
        with pytest.raises(ViewError, match=r"expected 2 views \(a, b\), got 3"):
            model.predict([views[0]] * 3)
        with pytest.raises(ViewError, match="got one array"):
            model.predict(views[0])
        with pytest.warns(ViewWarning, match="1 item"):
            assert model.predict({"a": np.full((1, 3), np.nan)}).tolist() == [-1]


class TestInsideScikitLearn:
    def test_split_validate_search_and_pipeline(self):
        X, truth = separated_views()
        train, test, truth_train, _ = train_test_split(X, truth, random_state=0, stratify=truth)
        assert isinstance(train, Views) and len(train) + len(test) == len(X) and len(truth_train) == len(train)
        scores = cross_validate(RobustMultiviewKMeans(3, n_init=2, random_state=0), X, cv=3)
        assert np.isfinite(scores["test_score"]).all()
        search = GridSearchCV(
            RobustMultiviewKMeans(n_init=2, random_state=0), {"n_clusters": [2, 3]}, cv=3, error_score="raise"
        ).fit(X)
        assert search.best_params_ == {"n_clusters": 3}
        pipe = Pipeline(
            [
                ("views", FunctionTransformer(lambda X: X[["looks", "tags"]])),
                ("cluster", RobustMultiviewKMeans(3, n_init=2)),
            ]
        )
        assert len(set(zip(pipe.fit_predict(X).tolist(), truth.tolist(), strict=True))) == 3

    def test_supervised_scores_by_name(self):
        X, truth = separated_views()
        scores = cross_validate(
            RobustMultiviewKMeans(3, n_init=2, random_state=0), X, truth, scoring="adjusted_rand_score", cv=3
        )
        assert scores["test_score"].tolist() == [1.0, 1.0, 1.0]


def test_tells_of_its_progress(capsys):
    X, _ = separated_views()
    fit(X, n_init=2, verbose=2)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "start 2 of 2" in shown.err and "round 1: log Phi" in shown.err and "items moved" in shown.err


def test_seeds_are_sought_in_a_sample_of_a_large_collection(monkeypatch):
    from manyview.methods.kmeans import _seeding

    X, truth = separated_views(n_items=90)
    monkeypatch.setattr(_seeding, "_SAMPLE", 12)
    labels = fit(X, n_init=3).labels_
    assert len(set(zip(labels.tolist(), truth.tolist(), strict=True))) == 3


@pytest.mark.parametrize("init", ["k-means++", "random", "partition"])
def test_every_start_finds_clear_clusters(init):
    X, truth = separated_views()
    labels = fit(X, init=init, n_init=10).labels_
    assert len(set(zip(labels.tolist(), truth.tolist(), strict=True))) == 3
