"""Scalings of views: numbers worked out by hand, SciPy's ranks, literal versions, and views that lie on disk."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import ndtri

from manyview.arrays import is_sparse
from manyview.blocks import workers
from manyview.data import spaces
from manyview.data._ranks import has_group_apart, rank_heights
from manyview.data.spaces import column_spread, cut_words, learn_points, same_row_sums, signed_root, to_points
from manyview.data.weighting import are_counts, damped, inverse_frequency, speaks, tf_idf, unit_rows
from manyview.errors import ViewError


@pytest.fixture
def threads():
    with workers(2) as pool:
        yield pool


def points(matrix, scaling, threads, present=None):
    matrix = matrix if is_sparse(matrix) else np.asarray(matrix, dtype=np.float64)
    if present is None:
        present = np.ones(matrix.shape[0], dtype=bool) if is_sparse(matrix) else ~np.isnan(matrix).all(axis=1)
    return learn_points("v", matrix, present, scaling, threads)


def test_minmax_of_three_numbers(threads):
    rows, _, _ = points([[0.0], [1.0], [3.0]], "minmax", threads)
    assert rows.ravel() == pytest.approx([-1.2, -0.3, 1.5])


def test_ranks_of_four_numbers(threads):
    rows, _, _ = points([[3.0], [1.0], [2.0], [2.0]], "rank", threads)
    assert rows.ravel() == pytest.approx([2, -2, 0, 0], abs=1e-6)


def test_ranks_against_scipy(threads):
    from scipy.stats import rankdata

    X = np.random.default_rng(0).standard_t(2, size=(50, 4)).round(1)
    expected = ndtri((rankdata(X, axis=0) - 0.5) / 50)
    expected -= expected.mean(axis=0)
    expected /= np.sqrt((expected**2).sum(axis=1)).mean()
    rows, _, _ = points(X, "rank", threads)
    assert rows == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("scale", spaces.DENSE_SCALINGS)
def test_views_have_mean_row_length_one_and_no_constant_features(threads, scale):
    X = np.random.default_rng(0).exponential(size=(40, 3)) * 100
    X = np.insert(X, 1, 7.5, axis=1)
    X[3] = np.nan
    rows, present, learned = points(X, scale, threads)
    held = rows[present]
    assert rows.shape == (40, 4 if scale == "raw" else 3) and not rows[3].any() and not present[3]
    assert np.sqrt((held**2).sum(axis=1)).mean() == pytest.approx(1, abs=1e-5)
    assert held.mean(axis=0) == pytest.approx(np.zeros(rows.shape[1]), abs=1e-6)
    again, _ = to_points(learned, X, present, threads)
    assert again == pytest.approx(rows, abs=1e-5)


def test_new_values_fall_between_the_ranks_of_their_neighbours(threads):
    X = np.arange(4_000.0)[:, None] ** 2
    _, _, learned = points(X, "rank", threads)
    assert learned["knots"].shape == (1, 512)  # whatever n
    new = np.array([[-5.0], [0.5], [1e6], [1e9]])
    rows, _ = to_points(learned, new, np.ones(4, dtype=bool), threads)
    middle, _ = to_points(learned, X, np.ones(4_000, dtype=bool), threads)
    assert rows[0] == middle[0] and rows[3] == middle[-1]
    assert middle[0] < rows[1] < rows[2] < middle[-1]
    exact, _, _ = points(X, "rank", threads)
    assert np.abs(middle - exact).max() < 0.05


def keeps_its_spacing(values):
    """Between the smallest and the largest, which may lie nearer."""
    heights = np.sort(rank_heights(values)[0])[1:-1]
    inner = np.sort(values)[1:-1]
    return bool(np.allclose(np.diff(heights) / np.ptp(heights), np.diff(inner) / np.ptp(inner), atol=1e-9))


def test_values_without_long_tails_keep_their_spacing_and_tails_do_not(seed):
    rng = np.random.default_rng(seed)
    two = rng.normal(size=300) + 6 * (np.arange(300) % 3 == 0)
    three = rng.normal(size=300) + 6 * (np.arange(300) % 3)
    few = rng.normal(size=300) + 4 * (np.arange(300) % 6 == 0)
    for values in (two, three, few, rng.random(300), -two, np.r_[two, 60.0]):  # one far value decides nothing
        assert keeps_its_spacing(values)
    tails = rng.exponential(size=300), np.exp(rng.normal(size=300)), rng.standard_t(1.5, size=300)
    for values in (*tails, -tails[0], np.r_[rng.normal(size=300), 30.0, 40.0, -30.0, -40.0]):
        assert not keeps_its_spacing(values)
        assert np.sort(rank_heights(values)[0]) == pytest.approx(ndtri((np.arange(values.size) + 0.5) / values.size))


def test_spacing_or_ranks_by_hand():
    quantiles = ndtri(np.array([1, 3, 5, 7, 9, 11]) / 12)  # -1.38, -0.67, -0.21, ...; the inner four deviate by 0.5
    assert rank_heights(np.array([0.0, 1, 4, 5, 8, 30]))[0] == pytest.approx(quantiles)  # evenly: 0.48
    # of eight: 1 to 9 evenly from -0.89 to 0.89 have a variance of 0.75, and the ranks 0.35; twice that is the most.
    # 0 and 14 go on evenly, to the ends at most
    quantiles = ndtri(np.arange(1, 16, 2) / 16)
    heights = rank_heights(np.array([0.0, 1, 1.1, 1.2, 8.8, 8.9, 9, 14]))[0]
    even = np.array([-5.0, -4, -3.9, -3.8, 3.8, 3.9, 4, 9]) / 4 * quantiles[6]
    even[-1] = quantiles[-1]
    factor = np.sqrt(2 * quantiles[1:7].var() / even[1:7].var())
    assert factor < 1 and even[0] > quantiles[0]
    assert heights == pytest.approx((even - even.mean()) * factor)


def test_evenly_spread_values_do_not_outweigh_the_rest(seed, threads):
    """They keep their spacing, and have at most twice the variance of what is ranked, however many there are."""
    rng = np.random.default_rng(seed)
    for n in (100, 5_000):
        ranked, even = rank_heights(rng.exponential(size=n))[0], rank_heights(rng.random(n))[0]
        assert even[np.argsort(even)[1:-1]].std() <= 1.42 * ranked[np.argsort(ranked)[1:-1]].std()


def test_a_small_group_apart_is_seen_and_tails_are_not(seed):
    rng = np.random.default_rng(seed)
    bell = rng.normal(size=900)
    apart = np.sort(np.r_[bell, rng.normal(9, 1, size=30)])
    assert has_group_apart(apart) and has_group_apart(-apart[::-1])
    heights = rank_heights(apart)[0]
    assert heights[900] - heights[899] > 0.1 * (heights[-1] - heights[0])  # ranks alone: a hundredth
    for smooth in (bell, rng.random(900), rng.exponential(size=900), rng.standard_t(1.5, size=900)):
        assert not has_group_apart(np.sort(smooth))
    assert not has_group_apart(np.sort(np.r_[bell, 9.0, 9.1, 9.2]))  # three are no group
    assert not has_group_apart(np.array([0.0, 0.0, 1.0]))


def test_text_weighting(threads):
    counts = np.array([[1, 2, 0], [0, 1, 3], [4, 0, 0], [0, 0, 0], [1, 1, 1]])
    idf = np.log(6 / (1 + np.array([3, 3, 2]))) + 1
    damped = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0) * idf
    weighted = tf_idf(sparse.csr_matrix(counts), idf, "counts").toarray()
    lengths = np.linalg.norm(damped, axis=1, keepdims=True)
    assert weighted == pytest.approx(np.divide(damped, lengths, out=np.zeros_like(damped), where=lengths > 0))
    _, present, learned = points(sparse.csr_matrix(counts), "words", threads)
    assert learned["counts"] is True and learned["idf"] == pytest.approx(idf)
    assert present.tolist() == [True, True, True, False, True]  # no words: no opinion in this view


def test_weights_below_one_never_turn_negative(threads):
    shares = sparse.csr_matrix(np.random.default_rng(0).random((12, 6)) * (np.arange(6) % 2) * 0.3)
    _, _, learned = points(shares, "words", threads)
    assert learned["counts"] is False
    assert (tf_idf(shares, learned["idf"], "weights").data >= 0).all()
    signed = tf_idf(-shares, learned["idf"], "weights")
    assert signed.toarray() == pytest.approx(-tf_idf(shares, learned["idf"], "weights").toarray())


def test_sparse_rows_keep_their_angles(threads):
    X = sparse.random(30, 20, 0.3, rng=np.random.default_rng(0)).tocsr() * 5
    rows, present, learned = points(X, "words", threads)
    assert rows.shape == (30, 20)
    assert np.linalg.norm(rows[present], axis=1) == pytest.approx(np.ones(present.sum()), abs=1e-5)
    weighted = tf_idf(X, learned["idf"], "weights").toarray()
    assert rows @ rows.T == pytest.approx(weighted @ weighted.T, abs=1e-5)


@pytest.mark.parametrize("n_words", [2, 3, 7])
def test_words_that_exclude_each_other_are_told_apart(n_words, threads):
    which = np.arange(60) % n_words
    rows, has, _ = points(sparse.csr_matrix(np.eye(n_words)[which]), "words", threads)
    assert has.all()
    assert rows @ rows.T == pytest.approx((which[:, None] == which).astype(float), abs=1e-5)


def test_directions_that_no_item_has_are_no_columns(threads):
    X = np.zeros((30, 8))
    X[:, 0], X[::2, 1] = 1, 1
    assert points(sparse.csr_matrix(X), "words", threads)[0].shape == (30, 2)


def test_proportions_are_told_by_their_sums():
    X = np.random.default_rng(0).dirichlet(np.ones(5) * 0.3, size=60)
    everyone = np.ones(60, dtype=bool)
    assert same_row_sums(X, everyone) and not same_row_sums(X * np.arange(1, 61)[:, None], everyone)


def test_roots_and_directions_literally(threads):
    X = np.random.default_rng(0).normal(size=(30, 4)) ** 3
    assert signed_root([-4.0, 0.0, 9.0]).tolist() == [-2.0, 0.0, 3.0]
    root = np.sign(X) * np.sqrt(np.abs(X))
    root -= root.mean(axis=0)
    rows, _, learned = points(X, "sqrt", threads)
    assert rows == pytest.approx(root / np.linalg.norm(root, axis=1).mean(), abs=1e-5)
    centred = X - X.mean(axis=0)
    units = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    units -= units.mean(axis=0)
    rows, _, learned = points(X, "cos", threads)
    assert rows == pytest.approx(units / np.linalg.norm(units, axis=1).mean(), abs=1e-5)
    new, _ = to_points(learned, X[:3] * 2 - X.mean(axis=0), np.ones(3, dtype=bool), threads)
    assert new == pytest.approx(rows[:3], abs=1e-5)  # twice as far from the middle: the same direction


def test_words_can_be_cut_to_their_strongest_directions(threads):
    X = sparse.random(60, 40, 0.2, rng=np.random.default_rng(0)).tocsr()
    rows, present, learned = points(X, "words", threads)
    fewer, _ = to_points(cut_words(learned, 5), X, present, threads)
    assert fewer == pytest.approx(unit_rows(rows[:, :5]), abs=1e-5)


def test_dampings():
    assert damped([0.5, 1.0, np.e], "counts") == pytest.approx([1, 1, 2])
    assert damped([-(np.e - 1), 0.0, np.e - 1], "weights") == pytest.approx([-1, 0, 1])


def test_counts_in_a_dense_table_are_seen(threads):
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.1, size=(50, 30)).astype(float)
    everyone = np.ones(50, dtype=bool)
    assert are_counts(counts, everyone)
    assert not are_counts(counts[:, :10], everyone)  # a few figures are no words
    assert not are_counts(counts + 1, everyone) and not are_counts(counts * 0.5, everyone)
    assert not are_counts(-counts, everyone) and not are_counts(np.zeros((50, 30)), everyone)
    assert not are_counts(rng.integers(0, 7, size=(50, 30)), everyone)  # grey levels
    dense, has, _ = learn_points("v", counts, everyone, "words", threads)
    thin, also, _ = learn_points("v", sparse.csr_matrix(counts), everyone, "words", threads)
    assert np.array_equal(dense, thin) and np.array_equal(has, also)


def test_idf_and_empty_rows_are_the_same_of_dense_and_sparse():
    X = np.array([[0.0, 2.0], [0.0, 0.0], [1.0, 3.0]])
    stored = sparse.csr_matrix(X)
    stored.data[0] = 0.0  # a stored zero is no word
    X[0, 1] = 0.0
    present = np.array([True, True, False])
    for matrix in (X, stored):
        assert inverse_frequency(matrix, present) == pytest.approx(np.log([3, 3]) + 1)
        assert speaks(matrix).tolist() == [False, False, True]


def test_spread_of_columns(threads):
    X = np.random.default_rng(0).normal(size=(40, 3)) * [1, 1e-3, 0] + [0, 5, 1e8 / 3]
    mean, deviation = column_spread(X, np.arange(40) > 3, threads)
    assert mean == pytest.approx(X[4:].mean(axis=0))
    assert deviation[:2] == pytest.approx(X[4:, :2].std(axis=0)) and deviation[2] == 0
    for factor in (1e160, 1e290, 1e-160, 1e-300):
        assert column_spread(X * factor, np.arange(40) > 3, threads)[1] / factor == pytest.approx(deviation)
    assert not column_spread(X * 5e-324, np.ones(40, dtype=bool), threads)[1].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_column_is_flat_where_its_type_cannot_tell_its_values_apart(threads, dtype):
    """Metres of a map or seconds of a clock vary by little of their size, and are no rounding in float64."""
    X = (np.random.default_rng(0).normal(size=(40, 2)) * [1, 1e-3] + [1e8, 1e8]).astype(dtype)
    _, deviation = column_spread(X, np.ones(40, dtype=bool), threads)
    assert deviation == pytest.approx([0, 0] if dtype == np.float32 else X.std(axis=0), rel=1e-6)


def test_a_view_on_disk_gets_points_on_disk(threads, tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(700, 6)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    stored = np.load(tmp_path / "x.npy", mmap_mode="r")[:]
    present = np.arange(700) % 5 > 0
    for scaling in spaces.DENSE_SCALINGS:
        rows, _, _ = learn_points("v", X, present, scaling, threads)
        assert rows.dtype == np.float32 and not isinstance(rows, np.memmap)
        with monkeypatch.context() as few:
            few.setattr(spaces, "_IN_MEMORY", 1_000)
            there, _, _ = learn_points("v", stored, present, scaling, threads)
        assert isinstance(there, np.memmap) and np.array_equal(there, rows)


def test_ranks_of_many_items_are_learned_on_a_sample(threads, monkeypatch):
    X = np.random.default_rng(0).exponential(size=(4_000, 3))
    exact, _, _ = points(X, "rank", threads)
    monkeypatch.setattr(spaces, "_SAMPLE", 2_000)
    rows, _, _ = points(X, "rank", threads)
    assert np.corrcoef(rows.ravel(), exact.ravel())[0, 1] > 0.999


def test_values_that_cannot_be_added_up_are_refused(threads):
    X = np.array([[1e305], [-1e307], [0.0]])
    with pytest.raises(ViewError, match="column 0, holds values from -1e"):
        points(X, "minmax", threads)
    assert np.isfinite(points(X, "rank", threads)[0]).all()


def test_words_of_one_item_alone_count_for_nothing(threads, seed):
    rng = np.random.default_rng(seed)
    shared = (rng.random((40, 12)) < 0.3).astype(np.float64)
    shared[3] = 0.0
    alone = np.diag(rng.integers(1, 5, size=40)).astype(np.float64)
    rows, has, _ = points(sparse.csr_matrix(np.hstack([shared, np.zeros((40, 1))])), "words", threads)
    more, has_too, learned = points(sparse.csr_matrix(np.hstack([shared, alone])), "words", threads)
    assert not has[3] and np.array_equal(has, has_too)
    assert (learned["idf"][12:] == 0).all() and (learned["idf"][:12] > 0).all()
    assert more @ more.T == pytest.approx(rows @ rows.T, abs=1e-5)  # the axes may be turned
