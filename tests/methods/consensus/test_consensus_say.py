"""A poor view does not drag a good one: noise, constants, many noise views, rows of somebody else."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from manyview import ConsensusClustering, Views
from manyview.errors import ViewWarning
from manyview.methods.consensus._say import scrambled
from manyview.methods.preparation import told
from manyview.testing import separated_views


def good_views(n=180, n_views=2, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=n)
    return {f"good{v}": rng.normal(size=(4, 12))[truth] * 1.5 + rng.normal(size=(n, 12)) for v in range(n_views)}, truth


def found(views, truth):
    model = ConsensusClustering(4).fit(views)
    return adjusted_rand_score(truth, model.labels_), dict(zip(views, model.view_weights_.tolist(), strict=True)), model


def test_good_views_have_an_equal_say_and_nothing_is_said():
    views, truth = good_views()
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        score, weights, model = found(views, truth)
    assert score > 0.95 and weights == {"good0": 0.5, "good1": 0.5} and not model.views_disagree_
    assert model.view_agreement_["good0"]["good1"] > 0.3


@pytest.mark.slow  # twelve views
def test_ten_views_of_noise_beside_two_good_ones():
    views, truth = good_views()
    alone = found(views, truth)[0]
    noise = {f"noise{v}": scrambled(views["good0"], v) for v in range(10)}
    score, weights, _ = found({**views, **noise}, truth)
    assert score > alone - 0.03 and weights["good0"] == weights["good1"] > 0.4


def test_noise_beside_one_good_view():
    views, truth = good_views(n_views=1)
    alone = found(views, truth)[0]
    score, weights, model = found({**views, "noise": scrambled(views["good0"], 1)}, truth)
    assert score > alone - 0.05 and weights["good0"] > 0.9 and not model.views_disagree_


def test_faint_views_are_heard_together(seed):
    """None shows the classes alone, and the chance that one looks a little less like noise silences no other."""
    rng = np.random.default_rng(seed)
    truth = np.arange(240) % 4
    views = {f"faint{v}": rng.normal(size=(4, 60))[truth] * 0.245 + rng.normal(size=(240, 60)) for v in range(3)}
    score, weights, _ = found(views, truth)
    assert score > 0.55 and min(weights.values()) > 0.1


def test_a_view_whose_rows_are_somebody_elses_beside_two_good_ones():
    views, truth = good_views(n_views=3)
    views["good2"] = np.random.default_rng(1).permutation(views["good2"])
    score, weights, _ = found(views, truth)
    assert score > 0.95 and weights["good2"] < 0.02


def test_two_views_that_tell_different_stories_are_named():
    views, _ = good_views()
    views["good1"] = np.random.default_rng(1).permutation(views["good1"])
    with pytest.warns(ViewWarning, match=r"tell different stories.*agreement -?0\.0.*alone"):
        model = ConsensusClustering(4).fit(views)
    assert model.views_disagree_ and model.view_weights_.tolist() == [0.5, 0.5]


def test_items_that_lack_the_good_view_are_placed():
    views, truth = good_views(n_views=1)
    mask = np.ones((truth.size, 2), dtype=bool)
    mask[:15, 0] = False
    model = ConsensusClustering(4).fit(Views({**views, "noise": scrambled(views["good0"], 1)}, mask=mask))
    assert (model.labels_ >= 0).all() and (model.predict({"noise": scrambled(views["good0"], 2)[:5]}) >= 0).all()


def test_scrambling_keeps_columns_and_nothing_else():
    X = sparse.random(40, 6, 0.3, rng=np.random.default_rng(0)).tocsr()
    for matrix in (X, X.toarray()):
        mixed = scrambled(matrix, 0)
        dense = mixed.toarray() if sparse.issparse(mixed) else mixed
        assert np.array_equal(np.sort(dense, axis=0), np.sort(X.toarray(), axis=0))
        assert not np.array_equal(dense, X.toarray())


def test_order_and_names_of_views_change_nothing_with_a_poor_one():
    views, _ = good_views()
    views["noise"] = scrambled(views["good0"], 1)
    turned = {f"x{name}": views[name] for name in reversed(views)}
    first, second = ConsensusClustering(4).fit(views), ConsensusClustering(4, n_jobs=2).fit(turned)
    assert np.array_equal(first.labels_, second.labels_)
    assert first.view_weights_.tolist() == second.view_weights_[::-1].tolist()


def test_a_form_that_destroys_a_view_is_not_chosen():
    """The same view in another unit: raw values of a ninth power say little, ranks do not mind."""
    views, truth = good_views()
    views["good1"] = np.sign(views["good1"]) * np.abs(views["good1"]) ** 9
    model = ConsensusClustering(4).fit(views)
    assert model.view_scalings_["good1"] not in ("raw", "minmax")
    agreement = model.scaling_agreement_["good1"]
    assert agreement["rank"] > 1.5 * agreement["raw"]
    assert adjusted_rand_score(truth, model.labels_) > 0.95


def test_the_choice_is_told():
    agreement = {"a": {"rank": 0.5, "cos": 0.6}, "b": {"15": 0.3, "100": 0.2}, "c": {"rank": 0.4, "cos": 0.4}}
    said = told({"a": "cos", "b": "15", "c": "rank"}, agreement)
    assert said[0] == (
        "view a was compared by directions instead of the usual way: its neighbours then agree 20 % more with what the "
        "other views say."
    )
    assert said[1].startswith("view b was cut to 15 dimensions: its neighbours then agree 50 % more")
    assert len(said) == 2


def test_titles_that_hardly_anybody_shares_do_not_drag_texts(seed):
    rng = np.random.default_rng(seed)
    topic = np.repeat(np.arange(4), 40)
    texts = np.zeros((160, 240))
    for i, t in enumerate(topic):
        own = 60 * t + rng.choice(60, 12, replace=False)
        np.add.at(texts[i], np.r_[own, rng.choice(240, 20)], 1)
    titles = np.zeros((160, 400))
    titles[np.arange(160), rng.permutation(400)[:160]] = 1.0  # a word that nobody else uses
    titles[np.arange(160), rng.integers(400, size=160)] = 1.0  # and one of many
    alone = Views({"texts": sparse.csr_matrix(texts)})
    both = Views({"texts": sparse.csr_matrix(texts), "titles": sparse.csr_matrix(titles)})
    found = [adjusted_rand_score(topic, ConsensusClustering(4).fit_predict(X)) for X in (alone, both)]
    assert found[1] >= found[0] - 0.05 and found[0] > 0.9


def test_words_that_nobody_shares_have_no_vote():
    X, _ = separated_views()
    unique = sparse.csr_matrix(np.eye(X.n_items))
    with pytest.warns(ViewWarning, match="'w' holds nothing that two items share"):
        model = ConsensusClustering(3).fit(Views({**{name: X[name] for name in X.names}, "w": unique}))
    assert np.array_equal(model.labels_, ConsensusClustering(3).fit_predict(X))


def test_zeros_that_are_written_down_are_zeros(seed):
    """Columns are shuffled by what they hold, not by how it is stored."""
    rng = np.random.default_rng(seed)
    counts = sparse.csr_matrix(rng.poisson(0.2, size=(60, 12)).astype(float))
    entries = counts.tocoo()
    at = np.arange(5)
    more = (np.r_[entries.data, np.zeros(5)], (np.r_[entries.row, at], np.r_[entries.col, at]))
    stored = sparse.csr_matrix(more, shape=counts.shape)
    before = stored.nnz
    assert (scrambled(stored, 0) != scrambled(counts, 0)).nnz == 0 and stored.nnz == before
