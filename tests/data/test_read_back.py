"""Tf-idf that somebody brings is read as the counts it was made of."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfTransformer

from manyview import ConsensusClustering, TagCompleter, load, save
from manyview.blocks import workers
from manyview.data.read_back import Factors, are_weighted_counts, counts_of, find_factors
from manyview.data.spaces import learn_points, to_points
from manyview.data.views import Views
from manyview.describe.likeness import compare_views
from manyview.methods.preparation import has_words

WAYS = {
    "usual": {},
    "not smoothed": {"smooth_idf": False},
    "damped": {"sublinear_tf": True},
    "rows add up to one": {"norm": "l1"},
    "rows as they are": {"norm": None},
    "lengths only": {"use_idf": False},
}


def some_counts(seed, n_items=120, n_words=60):
    """Most words once, some twice or more, none in every item, and one in every row that occurs once."""
    rng = np.random.default_rng(seed)
    counts = rng.geometric(0.7, (n_items, n_words)) * (rng.random((n_items, n_words)) < rng.uniform(0.02, 0.3, n_words))
    counts[np.arange(n_items), rng.integers(n_words, size=n_items)] = 1
    return csr_matrix(counts.astype(np.float64))


def everyone(matrix):
    return np.ones(matrix.shape[0], dtype=bool)


def test_a_row_by_hand():
    factors = Factors(np.array([1.0, 2.0, 4.0]), False)
    rows = np.array([[0.1, 0.6, 0.0], [0.0, 0.0, 0.3], [0.0, 0.0, 0.0], [0.3, 0.0, 0.4]])
    assert counts_of(rows, factors).toarray().tolist() == [[1, 3, 0], [0, 0, 1], [0, 0, 0], [3, 0, 1]]
    damped = np.array([[1.0, 2.0 * (1.0 + np.log(5.0)), 0.0]])
    assert counts_of(damped, Factors(factors.words, True)).toarray().tolist() == [[1, 5, 0]]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_counts_come_back_from_tf_idf(seed, way, dtype):
    counts = some_counts(seed)
    table = csr_matrix(TfidfTransformer(**WAYS[way]).fit_transform(counts), dtype=dtype)
    if WAYS[way].get("norm", "l2") is None:
        table = table * dtype(0.37)  # else plain counts times idf; its rows are in no unit
    factors = find_factors(table, everyone(table))
    np.testing.assert_array_equal(counts_of(table, factors).toarray(), counts.toarray())


def test_the_idf_of_textbooks_is_known(seed):
    counts = some_counts(seed)
    idf = np.log2(120 / np.maximum(1, (counts > 0).sum(axis=0)))
    table = csr_matrix(counts.multiply(idf))
    np.testing.assert_array_equal(counts_of(table, find_factors(table, everyone(table))).toarray(), counts.toarray())


def test_what_was_weighted_elsewhere_or_never_stays_as_it_is(seed):
    rng = np.random.default_rng(seed)
    counts = some_counts(seed)
    assert find_factors(counts, everyone(counts)) is None
    half = csr_matrix(TfidfTransformer().fit_transform(counts))[::2]  # its idf knows of the other half
    assert find_factors(half, everyone(half)) is None
    any_weights = counts.copy()
    any_weights.data = rng.random(counts.nnz)
    assert find_factors(any_weights, everyone(counts)) is None
    any_weights.data -= 0.5
    assert find_factors(any_weights, everyone(counts)) is None
    alone = csr_matrix(np.diag(rng.random(30)))  # one entry a row: nothing to go by
    assert find_factors(alone, everyone(alone)) is None


def test_items_without_the_view_are_not_asked(seed):
    counts = some_counts(seed)
    present = np.arange(120) % 3 > 0
    table = counts.tolil()
    table[present] = TfidfTransformer().fit_transform(counts[present])
    table[~present] = 0
    table = table.tocsr()
    found = counts_of(table[present], find_factors(table, present))
    np.testing.assert_array_equal(found.toarray(), counts[present].toarray())


def test_a_dense_table_of_tf_idf_is_one_of_words(seed):
    table = TfidfTransformer().fit_transform(some_counts(seed)).toarray()
    assert has_words(table, everyone(table))
    assert not are_weighted_counts(table[:, :10], everyone(table))  # too few columns to tell
    assert not are_weighted_counts(table + 0.01, everyone(table))  # nothing is 0
    rng = np.random.default_rng(seed)
    rectified = np.maximum(rng.normal(-1.0, 1.0, (200, 40)), 0)  # mostly 0 and no words
    assert np.mean(rectified == 0) > 0.75 and not has_words(rectified, everyone(rectified))


def test_points_of_tf_idf_are_those_of_counts_also_of_new_items(seed):
    counts = some_counts(seed)
    scheme = TfidfTransformer().fit(counts)
    with workers(1) as threads:
        plain, _, learned = learn_points("words", counts, everyone(counts), "words", threads)
        weighted, _, read = learn_points("words", scheme.transform(counts), everyone(counts), "words", threads)
        np.testing.assert_array_equal(weighted, plain)
        new = some_counts(seed + 1)
        expected = to_points(learned, new, everyone(new), threads)[0]
        np.testing.assert_array_equal(to_points(read, scheme.transform(new), everyone(new), threads)[0], expected)


def test_clusters_do_not_depend_on_who_weighted_the_words(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), 40)
    views = {}
    for name in ("body", "title"):
        rates = np.where(rng.permuted(np.arange(60) % 3) == y[:, None], 0.25, 0.05)
        views[name] = csr_matrix(rng.poisson(rates).astype(np.float64))
    weighted = {name: TfidfTransformer().fit_transform(view) for name, view in views.items()}
    plain = ConsensusClustering(3, random_state=0).fit(views)
    np.testing.assert_array_equal(ConsensusClustering(3, random_state=0).fit(weighted).labels_, plain.labels_)


def test_likeness_and_proposals_do_not_depend_on_who_weighted_the_words(seed, tmp_path):
    counts, new = some_counts(seed), some_counts(seed + 1)
    scheme = TfidfTransformer(sublinear_tf=True).fit(counts)
    alike = [compare_views(Views({"text": one})).of_items(..., ...) for one in (counts, scheme.transform(counts))]
    np.testing.assert_array_equal(*alike)
    tags = [["even", "all"] if row % 2 else ["odd", "all"] for row in range(counts.shape[0])]
    plain, weighted = (TagCompleter(n_jobs=1).fit({"text": one}, tags) for one in (counts, scheme.transform(counts)))
    np.testing.assert_array_equal(weighted.tag_scores(), plain.tag_scores())
    save(weighted, tmp_path / "completer")
    of_new = load(tmp_path / "completer").tag_scores({"text": scheme.transform(new)})
    np.testing.assert_array_equal(of_new, plain.tag_scores({"text": new}))
