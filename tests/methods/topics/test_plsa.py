"""PLSA, AnnotatedPLSA and annotation_matrix as a user meets them."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, SkipTestWarning
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.utils.estimator_checks import check_estimator

import manyview
from manyview import PLSA, AnnotatedPLSA, Views, annotation_matrix
from manyview.errors import ParameterError, ViewError, ViewWarning
from manyview.metrics import class_entropy
from manyview.testing import check_multiview_estimator

# At most three of scikit-learn's checks, each with its reason.
ALLOWED = {
    "check_clustering": "it standardises its data, and counts cannot be negative",
    "check_estimator_sparse_array": "it takes whatever has predict_proba for a classifier and asks for its classes",
    "check_estimator_sparse_matrix": "it takes whatever has predict_proba for a classifier and asks for its classes",
}


def topic_counts(seed, n_items=60, n_words=40, n_topics=3, length=30):
    """Items of one topic each, some words shared by all topics; with the truth."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.2), n_topics) * 0.8 + 0.2 / n_words
    truth = np.arange(n_items) % n_topics
    return np.array([rng.multinomial(length, topics[k]) for k in truth]).astype(float), truth


@pytest.mark.parametrize("estimator", [PLSA(n_init=2), AnnotatedPLSA(n_init=2), PLSA(n_init=1, n_topics=6)], ids=repr)
def test_multiview_checks(estimator):
    check_multiview_estimator(estimator)


def test_scikit_learn_checks():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ViewWarning)  # its sparse data have empty rows
        warnings.simplefilter("ignore", SkipTestWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # they ask for as many clusters as the default
        results = check_estimator(PLSA(n_init=1, max_iter=50), expected_failed_checks=ALLOWED, on_fail=None)
    assert not {r["check_name"]: repr(r["exception"])[:300] for r in results if r["status"] == "failed"}
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(ALLOWED)


def test_more_clusters_than_items_is_an_error_that_names_both():
    with pytest.raises(ParameterError, match=r"n_clusters=7 .* n_samples=6"):
        PLSA(7).fit(np.eye(6) + 1)


@pytest.mark.parametrize("start", range(10))
def test_two_disjoint_sets_of_words_are_told_apart_from_any_start(start):
    rng = np.random.default_rng(99)
    counts = np.zeros((20, 10))
    counts[:10, :5], counts[10:, 5:] = rng.poisson(2, (10, 5)) + np.eye(10, 5), rng.poisson(2, (10, 5)) + 1
    counts[counts.sum(axis=1) == 0, 0] = 1
    labels = PLSA(2, random_state=start).fit_predict(counts)
    assert class_entropy(np.repeat([0, 1], 10), labels) == 0


def test_entropy_of_the_specification():
    assert class_entropy([0, 0, 0, 1], [0, 0, 1, 1]) == pytest.approx(0.346574, abs=5e-7)
    assert class_entropy([0, 0, 0, 1], [0, 0, 1, 1], base=2) == 0.5
    assert class_entropy([0, 1, 2, 3], [0, 0, 0, 0]) == pytest.approx(np.log(4))


def test_results_are_as_promised(seed):
    counts, truth = topic_counts(seed)
    model = PLSA(3, random_state=seed).fit(counts)
    assert class_entropy(truth, model.labels_) < 0.1
    assert model.item_topics_.shape == (60, 3) and model.topic_features_.shape == (3, 40)
    np.testing.assert_allclose(model.item_topics_.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(model.topic_features_.sum(axis=1), 1, atol=1e-12)
    assert len(model.log_likelihood_) == model.n_iter_ <= 200
    assert (np.diff(model.log_likelihood_) > -1e-10 * abs(model.log_likelihood_[1:])).all()
    np.testing.assert_array_equal(model.objective_, model.log_likelihood_)
    np.testing.assert_array_equal(model.labels_, model.item_topics_.argmax(axis=1))
    np.testing.assert_allclose(model.cluster_centers_["view0"], model.topic_features_)
    again = np.sum(
        counts / counts.sum(axis=1, keepdims=True) * np.log(model.item_topics_ @ model.topic_features_ + 1e-300)
    )
    assert model.log_likelihood_[-1] == pytest.approx(again)


def test_more_starts_never_give_a_lower_likelihood(seed):
    counts, _ = topic_counts(seed, length=8)
    few = PLSA(3, n_init=1, random_state=seed).fit(counts).log_likelihood_[-1]
    assert PLSA(3, n_init=6, random_state=seed).fit(counts).log_likelihood_[-1] >= few


class TestInvariance:
    @pytest.mark.filterwarnings("ignore:found . distinct cluster")  # of four kinds of items five
    def test_row_order_and_equal_rows(self, seed):
        counts, _ = topic_counts(seed, length=6)
        order = np.random.default_rng(seed).permutation(60)
        model = PLSA(3, random_state=seed).fit(counts)
        turned = PLSA(3, random_state=seed).fit(counts[order])
        np.testing.assert_allclose(turned.item_topics_, model.item_topics_[order], atol=1e-8)
        twins = PLSA(5, random_state=seed).fit(np.repeat(counts[:4], 3, axis=0)).item_topics_
        np.testing.assert_array_equal(twins[::3], twins[1::3])

    def test_scale_of_a_row(self, seed):
        counts, _ = topic_counts(seed)
        larger = counts.copy()
        larger[3] *= 7
        first, second = (PLSA(3, random_state=seed).fit(X).item_topics_ for X in (counts, larger))
        np.testing.assert_allclose(second, first, atol=1e-9)
        by_count = [PLSA(3, random_state=seed, weighting="count").fit(X).topic_features_ for X in (counts, larger)]
        assert abs(by_count[0] - by_count[1]).max() > 1e-6

    def test_weighting_does_not_matter_for_rows_of_one_length(self, seed):
        counts, _ = topic_counts(seed)  # 30 words each
        first, second = (PLSA(3, random_state=seed, weighting=w).fit(counts) for w in ("row", "count"))
        np.testing.assert_allclose(second.item_topics_, first.item_topics_, atol=1e-6)
        assert second.log_likelihood_[-1] == pytest.approx(30 * first.log_likelihood_[-1], rel=1e-6)

    def test_forms_of_input(self, seed):
        counts, _ = topic_counts(seed)
        first = PLSA(3, random_state=0, n_jobs=1).fit(counts)
        for other in (csr_matrix(counts), csr_array(counts), counts.astype(int), Views({"words": counts})):
            np.testing.assert_allclose(PLSA(3, random_state=0, n_jobs=2).fit(other).item_topics_, first.item_topics_)
        halves = PLSA(3, random_state=0).fit({"a": counts[:, :15], "b": csr_matrix(counts[:, 15:])})
        np.testing.assert_allclose(halves.item_topics_, first.item_topics_, atol=1e-9)
        assert halves.cluster_centers_["b"].shape == (3, 25)


class TestAnnotations:
    def test_tradeoff_one_is_plsa_for_any_annotations(self, seed):
        counts, _ = topic_counts(seed, length=10)
        alone = PLSA(3, random_state=seed).fit(counts)
        rng = np.random.default_rng(seed)
        for B in (rng.poisson(1, (25, 40)), np.ones((3, 40)), csr_matrix(rng.poisson(0.1, (50, 40)))):
            model = AnnotatedPLSA(3, tradeoff=1, random_state=seed).fit(counts, annotations=B)
            np.testing.assert_array_equal(model.item_topics_, alone.item_topics_)
            np.testing.assert_array_equal(model.topic_features_, alone.topic_features_)
            np.testing.assert_array_equal(model.log_likelihood_, alone.log_likelihood_)
            np.testing.assert_allclose(model.annotation_topics_.sum(axis=1), 1)
        single = AnnotatedPLSA(3, tradeoff=1, random_state=seed).fit(counts.astype(np.float32), annotations=B)
        assert single.item_topics_.dtype == np.float32

    def test_no_annotations_is_plsa_too(self, seed):
        counts, _ = topic_counts(seed)
        model = AnnotatedPLSA(3, random_state=seed).fit(counts)
        np.testing.assert_array_equal(model.labels_, PLSA(3, random_state=seed).fit(counts).labels_)
        with pytest.raises(ParameterError, match="fitted with annotations"):
            model.top_tags()

    def test_tradeoff_zero_learns_topics_from_the_annotations_only(self, seed):
        counts, truth = topic_counts(seed)
        B, _ = topic_counts(seed, n_items=30, length=300)
        model = AnnotatedPLSA(3, tradeoff=0, random_state=seed).fit(counts, annotations=B)
        alone = PLSA(3, random_state=seed).fit(B)
        np.testing.assert_allclose(model.topic_features_, alone.topic_features_, atol=1e-9)
        assert class_entropy(truth, model.labels_) < 0.2

    def test_annotations_help_items_of_few_words(self):
        gained = []
        for seed in range(5):
            counts, truth = topic_counts(seed, n_items=30, n_words=100, length=3)
            B, tag_topic = topic_counts(seed, n_items=60, n_words=100, length=400)
            keep = counts.sum(axis=1) > 0
            alone = PLSA(3, random_state=seed).fit(counts[keep])
            helped = AnnotatedPLSA(3, random_state=seed).fit(counts[keep], annotations=B)
            gained.append(class_entropy(truth[keep], alone.labels_) - class_entropy(truth[keep], helped.labels_))
            assert class_entropy(tag_topic, helped.annotation_topics_.argmax(axis=1)) < 0.1
        assert np.mean(gained) > 0.15

    def test_balance_mass_makes_tradeoff_the_share(self, seed):
        counts, _ = topic_counts(seed, length=10)
        B = np.random.default_rng(seed).poisson(1, (200, 40)) + np.eye(200, 40)
        V, W, share = 60, 200, 0.3
        same = share * W / (share * W + (1 - share) * V)  # the tradeoff over rows that gives this share
        mass = AnnotatedPLSA(3, tradeoff=share, balance="mass", random_state=seed, tol=0, max_iter=60)
        rows = AnnotatedPLSA(3, tradeoff=same, random_state=seed, tol=0, max_iter=60)
        first, second = mass.fit(counts, annotations=B), rows.fit(counts, annotations=B)
        np.testing.assert_allclose(first.topic_features_, second.topic_features_, atol=1e-8)
        repeated = clone(mass).fit(counts, annotations=np.vstack([B, B, B]))
        np.testing.assert_allclose(repeated.topic_features_, first.topic_features_, atol=1e-8)

    def test_unused_tags_and_words_do_no_harm(self, seed):
        counts, _ = topic_counts(seed)
        B, _ = topic_counts(seed, n_items=12)
        with_gaps = np.vstack([B, np.zeros((2, 40))])
        counts[:, 5], with_gaps[:, 5] = 0, 0
        model = AnnotatedPLSA(3, random_state=seed).fit(counts, annotations=with_gaps)
        np.testing.assert_allclose(model.annotation_topics_[12:], 1 / 3)
        np.testing.assert_array_equal(model.topic_features_[:, 5], 0)
        assert all(prob == 0 for tags in model.top_tags(n=14) for name, prob in tags if name in ("12", "13"))

    def test_top_tags(self, seed):
        counts, truth = topic_counts(seed)
        B, topic = topic_counts(seed, n_items=9, length=500)
        B[3:] *= 10  # the first three tags are rare
        names = [f"topic{topic[tag]} tag{tag}" for tag in range(9)]
        for n_topics in (None, 6):
            model = AnnotatedPLSA(3, n_topics=n_topics, random_state=seed).fit(counts, annotations=B)
            tops = model.top_tags(names, n=2)
            assert len(tops) == 3 and all(len(tags) == 2 for tags in tops)
            for cluster in range(3):
                main = np.bincount(truth[model.labels_ == cluster]).argmax()
                assert all(name.startswith(f"topic{main} ") and int(name[-1]) >= 3 for name, _ in tops[cluster])
            all_of_them = model.top_tags(n=9)
            np.testing.assert_allclose([sum(p for _, p in tags) for tags in all_of_them], 1)
        with pytest.raises(ViewError, match="9 in all; got 2"):
            model.top_tags(["a", "b"])

    def test_several_views(self, seed):
        counts, _ = topic_counts(seed)
        B, _ = topic_counts(seed, n_items=12)
        joined = AnnotatedPLSA(3, random_state=seed).fit(counts, annotations=B)
        views = {"a": counts[:, :15], "b": counts[:, 15:]}
        model = AnnotatedPLSA(3, random_state=seed)
        for annotations in (B, {"b": B[:, 15:], "a": B[:, :15]}):
            model.fit(views, annotations=annotations)
            np.testing.assert_allclose(model.annotation_topics_, joined.annotation_topics_, atol=1e-9)

    def test_a_later_fit_without_annotations_forgets_them(self, seed):
        counts, _ = topic_counts(seed)
        model = AnnotatedPLSA(3, random_state=seed).fit(counts, annotations=counts)
        assert not hasattr(model.fit(counts), "annotation_topics_")

    def test_errors_name_what_is_wrong(self):
        counts, _ = topic_counts(0)
        with pytest.raises(ViewError, match="39 columns but the items have 40"):
            AnnotatedPLSA(3).fit(counts, annotations=np.ones((3, 39)))
        with pytest.raises(ViewError, match="'annotations', row 1"):
            AnnotatedPLSA(3).fit(counts, annotations=np.vstack([counts[:1], -counts[:1]]))
        with pytest.raises(ViewError, match="no counts at all"):
            AnnotatedPLSA(3).fit(counts, annotations=np.zeros((3, 40)))
        with pytest.raises(ViewError, match="contains NaN in row 0"):
            AnnotatedPLSA(3).fit(counts, annotations=np.where(np.eye(3, 40) > 0, np.nan, 1))


def test_more_topics_than_clusters(seed):
    counts, truth = topic_counts(seed, n_items=90, n_topics=6, n_words=80, length=60)
    pairs = truth // 2
    model = PLSA(6, n_topics=12, random_state=seed).fit(counts)
    assert model.item_topics_.shape == (90, 12) and model.hellinger_centers_.shape == (6, 12)
    assert set(model.labels_) == set(range(6))
    assert class_entropy(pairs, model.labels_) < 0.2
    np.testing.assert_allclose(model.cluster_centers_["view0"].sum(axis=1), 1)
    nearest = ((np.sqrt(model.item_topics_)[:, None] - model.hellinger_centers_) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.labels_, nearest)
    assert np.mean(model.predict(counts) == model.labels_) > 0.95
    with pytest.raises(ParameterError, match=r"n_topics=2 with n_clusters=\s?3"):
        PLSA(3, n_topics=2).fit(counts)


class TestNothingKnown:
    def test_empty_rows_get_minus_one(self, seed):
        counts, _ = topic_counts(seed)
        counts[[4, 9]] = 0
        for form in (counts, csr_matrix(counts)):
            for n_topics in (None, 5):
                with pytest.warns(ViewWarning, match=r"2 item\(s\) have no counts and get label -1: rows 4, 9"):
                    model = PLSA(3, n_topics=n_topics, random_state=seed).fit(form)
                assert (model.labels_[[4, 9]] == -1).all() and (np.delete(model.labels_, [4, 9]) >= 0).all()
                np.testing.assert_allclose(model.item_topics_[4], 1 / model.n_topics_)
                assert np.isfinite(model.item_topics_).all() and np.isfinite(model.topic_features_).all()
        rest = np.delete(np.arange(60), [4, 9])
        without = PLSA(3, n_topics=5, random_state=seed).fit(counts[rest])
        np.testing.assert_allclose(model.topic_features_, without.topic_features_, atol=1e-9)

    def test_items_of_unknown_words_only(self, seed):
        counts, _ = topic_counts(seed)
        counts[:, 7] = 0
        model = PLSA(3, random_state=seed).fit(counts)
        new = np.zeros((2, 40))
        new[0, 7], new[1, :6] = 5, 1
        with pytest.warns(ViewWarning, match="no word that was seen in fit"):
            assert model.predict(new)[0] == -1
        np.testing.assert_allclose(model.predict_proba(new)[0], 1 / 3)
        assert np.isfinite(model.score(new))
        with pytest.raises(ViewError, match="at least one item"):
            model.score(new[:1])


def test_predict_proba_puts_new_items_where_they_belong(seed):
    counts, truth = topic_counts(seed, n_items=120)
    model = PLSA(3, random_state=seed).fit(counts[:90])
    shares = model.predict_proba(counts[90:])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(counts[90:]), shares.argmax(axis=1))
    assert class_entropy(truth, np.r_[model.labels_, model.predict(counts[90:])]) < 0.15
    alone = np.vstack([model.predict_proba(counts[i : i + 1]) for i in range(90, 95)])
    np.testing.assert_array_equal(alone, shares[:5])


def test_score_chooses_topics_on_held_out_items(seed):
    counts, _ = topic_counts(seed, n_items=120, length=200)
    search = GridSearchCV(PLSA(1, n_init=2, random_state=0), {"n_clusters": [1, 3]}, cv=KFold(3))
    assert search.fit(counts).best_params_ == {"n_clusters": 3}


def test_save_and_load(tmp_path, seed):
    counts, _ = topic_counts(seed)
    B, _ = topic_counts(seed, n_items=9)
    model = AnnotatedPLSA(3, n_topics=5, balance="mass", random_state=seed).fit(counts, annotations=B)
    back = manyview.load(manyview.save(model, tmp_path / "model"))
    np.testing.assert_array_equal(back.predict_proba(counts), model.predict_proba(counts))
    assert back.top_tags() == model.top_tags()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tradeoff": 1.5}, "tradeoff must be a number at least 0 and at most 1 or 'auto', got 1.5"),
        ({"balance": "even"}, "balance must be one of 'rows', 'mass'; got 'even'"),
        ({"weighting": "log"}, "weighting must be one of 'row', 'count'"),
        ({"n_init": 0}, "n_init must be an integer at least 1"),
        ({"max_iter": 0.5}, "max_iter must be an integer at least 1"),
        ({"tol": -1}, "tol must be a number at least 0"),
        ({"n_clusters": 0}, "n_clusters must be an integer at least 1"),
    ],
)
def test_bad_parameters(settings, message):
    with pytest.raises(ParameterError, match=message):
        AnnotatedPLSA(**{"n_clusters": 2, **settings}).fit(np.ones((4, 3)))


def test_negative_counts_name_the_view_and_row():
    with pytest.raises(ViewError, match="'b', row 2"):
        PLSA(2).fit({"a": np.ones((4, 3)), "b": csr_matrix(np.diag([1.0, 1, -1, 1]))})


def test_verbose_tells_of_starts_and_iterations(capsys):
    counts, _ = topic_counts(0)
    PLSA(3, n_init=2, max_iter=3, verbose=2, random_state=0).fit(counts)
    said = capsys.readouterr().err
    assert "start 2 of 2: log-likelihood" in said and "start 1 of 2, iteration 3" in said


class TestAnnotationMatrix:
    tags = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 0], [0, 0, 0]])
    words = np.array([[2, 0], [1, 3], [0, 4], [9, 9]])

    def test_readings_by_hand(self):
        np.testing.assert_array_equal(annotation_matrix(self.tags, self.words).toarray(), [[3, 3], [1, 7], [2, 0]])
        np.testing.assert_array_equal(
            annotation_matrix(self.tags, self.words, count="items").toarray(), [[2, 1], [1, 2], [1, 0]]
        )
        np.testing.assert_allclose(
            annotation_matrix(self.tags, self.words, count="shares").toarray(), [[1.25, 0.75], [0.25, 1.75], [1, 0]]
        )

    def test_streams_and_forms_agree(self, monkeypatch, seed):
        rng = np.random.default_rng(seed)
        tags, words = rng.random((50, 6)) < 0.3, rng.poisson(0.5, (50, 20))
        whole = annotation_matrix(tags, words).toarray()
        np.testing.assert_array_equal(whole, tags.T.astype(int) @ words)
        pieces = [slice(start, start + 7) for start in range(0, 50, 7)]
        streamed = annotation_matrix((tags[p] for p in pieces), (csr_matrix(words[p]) for p in pieces))
        np.testing.assert_array_equal(streamed.toarray(), whole)
        monkeypatch.setattr(manyview.blocks, "BLOCK_BYTES", 500)
        np.testing.assert_array_equal(annotation_matrix(csr_matrix(tags), csr_array(words)).toarray(), whole)

    def test_errors(self):
        with pytest.raises(ViewError, match="4 rows but words have 3"):
            annotation_matrix(self.tags, self.words[:3])
        with pytest.raises(ViewError, match="both be matrices"):
            annotation_matrix(iter([self.tags]), self.words)
        with pytest.raises(ViewError, match="'words', row 0"):
            annotation_matrix(self.tags, -self.words)
        with pytest.raises(ParameterError, match="count must be one of"):
            annotation_matrix(self.tags, self.words, count="pages")
        with pytest.raises(ViewError, match="at least one item"):
            annotation_matrix(iter([]), iter([]))


@pytest.mark.parametrize("model", [PLSA(2), AnnotatedPLSA(2)], ids=["PLSA", "AnnotatedPLSA"])
@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones(4), "Reshape your data"),
        (np.ones((2, 2, 2)), "dim 3"),
        (np.ones((0, 3)), "0 sample"),
        (np.ones((3, 0)), "0 feature"),
        (np.ones((3, 2), dtype=complex), "complex"),
        ([["a", "b"], ["c", "d"]], "could not convert"),
        ([[1.0, 2.0], [3.0]], "inhomogeneous"),
        (None, "scalar"),
    ],
)
def test_tables_that_are_none_get_an_error_of_ours(model, X, words):
    with pytest.raises(ViewError, match=words) as refusal:
        model.fit(X)
    assert "view 'view0'" in str(refusal.value)
    fitted = clone(model).set_params(n_clusters=1, n_init=1, max_iter=2).fit(np.eye(4) + 1)
    with pytest.raises(ViewError, match="view0"):
        fitted.predict(X)
