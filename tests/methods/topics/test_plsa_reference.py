"""The EM core against literal evaluations of the formulas, and the numbers of the specification."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from manyview import blocks
from manyview.blocks import Workers, workers
from manyview.engines.base import cut
from manyview.engines.checkpoint import Checkpoint
from manyview.engines.local import LocalEngine
from manyview.methods.topics import _em as _plsa_em
from manyview.methods.topics import _kernels as _plsa_kernels
from manyview.methods.topics._counts import suited
from manyview.methods.topics._em import Problem, dense_above, fold_in, random_topics
from manyview.methods.topics._tasks import Counts, padded

ALONE = LocalEngine(Workers(1, None))


def random_start(n_words, n_rows, n_topics, rng):
    return random_topics(n_words, n_topics, rng), [np.full((n, n_topics), 1.0 / n_topics) for n in n_rows]


def run_em(tables, topics, shares, *, engine=ALONE, dtype=np.float64, max_iter=200, tol=1e-6):
    problem = Problem(tables, engine, Checkpoint(None, engine), max_iter, tol, dtype)
    return _plsa_em.run_em(problem, topics, shares)


def sweep(tables, shares, phi, n_topics):
    """One sweep of given shares: what it found, and the new shares."""
    problem = Problem(tables, ALONE, Checkpoint(None, ALONE), dtype=phi.dtype)
    run = _plsa_em._Run(phi, _plsa_em._first_states(problem, phi, n_topics, shares), 1, 0.0)
    return _plsa_em._sweep(problem, run, n_topics), run


def table(matrix, weight=1.0, dense=False):
    matrix = np.asarray(matrix, dtype=float)
    sums = matrix.sum(axis=1)
    return Counts.of(matrix if dense else csr_matrix(matrix), sums, weight * (sums > 0))


def literal_step(parts, shares, phi):
    """Equations (6) to (10) with every posterior in memory. parts: (counts, weight); phi: (K, F)."""
    value, G, new = 0.0, np.zeros_like(phi), []
    for (counts, weight), theta in zip(parts, shares, strict=True):
        a = counts / counts.sum(axis=1, keepdims=True)
        joint = theta[:, None, :] * phi.T[None]  # rows, words, topics
        p = joint.sum(axis=2)
        posterior = joint / np.maximum(p, 1e-300)[:, :, None]
        value += weight * np.sum(a[a > 0] * np.log(p[a > 0]))
        new.append(np.einsum("ij,ijk->ik", a, posterior))
        G += weight * np.einsum("ij,ijk->kj", a, posterior)
    return value, new, G / G.sum(axis=1, keepdims=True)


def steps(tables, phi, shares, n, **settings):
    return run_em(tables, np.asarray(phi).T, shares, max_iter=n, tol=0, **settings)


class TestByHand:
    """Two pictures, one tag, two words, two topics (test 1 of the specification)."""

    A, B = np.array([[1, 1], [0, 2]]), np.array([[3, 1]])
    phi = np.array([[0.8, 0.2], [0.4, 0.6]])

    def run(self, n, dense):
        tables = [table(self.A, 0.5, dense), table(self.B, 0.5, dense)]
        return steps(tables, self.phi, [np.full((2, 2), 0.5), np.full((1, 2), 0.5)], n)

    @pytest.mark.parametrize("dense", [False, True])
    def test_one_step(self, dense):
        found = self.run(1, dense)
        np.testing.assert_allclose(found.shares[0], [[0.458333, 0.541667], [0.25, 0.75]], atol=5e-7)
        np.testing.assert_allclose(found.shares[1], [[0.5625, 0.4375]], atol=5e-7)
        np.testing.assert_allclose(found.topics.T, [[0.655738, 0.344262], [0.240964, 0.759036]], atol=5e-7)
        assert found.log_likelihood == [pytest.approx(-0.922780, abs=5e-7)]

    @pytest.mark.parametrize("dense", [False, True])
    def test_two_steps(self, dense):
        found = self.run(2, dense)
        np.testing.assert_allclose(found.shares[0][0], [0.487276, 0.512724], atol=5e-7)
        np.testing.assert_allclose(found.topics.T[0], [0.720178, 0.279822], atol=5e-7)
        assert found.log_likelihood[-1] == pytest.approx(-0.822933, abs=5e-7)

    def test_value_at_the_start(self):
        tables = [table(self.A, 0.5), table(self.B, 0.5)]
        found, _ = sweep(tables, [np.full((n, 2), 0.5) for n in (2, 1)], padded(self.phi.T, 8, float), 2)
        assert found.value == pytest.approx(-1.121020, abs=5e-7)


@pytest.mark.parametrize("n_topics", [1, 2, 3, 8, 9, 21])
@pytest.mark.parametrize("dense", [False, True])
def test_twenty_iterations_equal_the_literal_formulas(n_topics, dense, seed):
    rng = np.random.default_rng(seed)
    A, B = rng.integers(0, 4, (7, 9)) + np.eye(7, 9), rng.integers(0, 4, (5, 9)) + np.eye(5, 9)
    phi, shares = rng.dirichlet(np.ones(9), n_topics), [rng.dirichlet(np.ones(n_topics), n) for n in (7, 5)]
    found = steps([table(A, 0.2, dense), table(B, 0.8, dense)], phi, shares, 20)
    values = []
    for _ in range(20):
        value, shares, phi = literal_step([(A, 0.2), (B, 0.8)], shares, phi)
        values.append(value)
    values.append(literal_step([(A, 0.2), (B, 0.8)], shares, phi)[0])
    np.testing.assert_allclose(found.topics.T, phi, atol=1e-12)
    for ours, theirs in zip(found.shares, shares, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    np.testing.assert_allclose(found.log_likelihood, values[1:], rtol=1e-13)


@pytest.mark.parametrize("n_topics", [3, 12])
def test_sparse_and_dense_and_mixed_agree(n_topics, seed):
    rng = np.random.default_rng(seed)
    A, B = rng.poisson(0.4, (40, 30)), rng.poisson(0.6, (25, 30))
    phi, shares = random_start(30, [40, 25], n_topics, rng)
    first = steps([table(A, 0.2), table(B, 0.8)], phi.T, shares, 30)
    for forms in [(True, True), (False, True), (True, False)]:
        tables = [table(A, 0.2, forms[0]), table(B, 0.8, forms[1])]
        other = steps(tables, phi.T, shares, 30)
        np.testing.assert_allclose(other.topics, first.topics, atol=1e-12)
        np.testing.assert_allclose(other.shares[0], first.shares[0], atol=1e-12)
        np.testing.assert_allclose(other.log_likelihood, first.log_likelihood, rtol=1e-12)


@pytest.mark.parametrize("tradeoff", [0.0, 0.2, 1.0])
def test_likelihood_never_falls_and_rows_sum_to_one(tradeoff, seed):
    rng = np.random.default_rng(seed)
    A, B = rng.poisson(0.3, (50, 40)), rng.poisson(0.5, (30, 40))
    tables = [table(A, tradeoff), table(B, 1 - tradeoff)]
    found = steps(tables, rng.dirichlet(np.ones(40), 4), [rng.dirichlet(np.ones(4), n) for n in (50, 30)], 150)
    values = np.array(found.log_likelihood)
    assert (np.diff(values) > -1e-10 * abs(values[1:])).all()
    for rows in (found.topics.T, *found.shares):
        np.testing.assert_allclose(rows.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("dense", [False, True])
def test_blocks_and_threads_do_not_change_the_answer(dense, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    A = rng.poisson(0.5, (70, 25))
    start = random_start(25, [70], 3, rng)
    alone = run_em([table(A, dense=dense)], *start, max_iter=25, tol=0)
    monkeypatch.setattr(Counts, "plan", lambda self, n_topics: cut(self.n_rows, 1.0, 10, 0.05))
    assert [len(span.leaves) for span in table(A).plan(3).spans] == [2, 2, 2, 1]
    seven = run_em([table(A, dense=dense)], *start, max_iter=25, tol=0)
    np.testing.assert_allclose(seven.topics, alone.topics, atol=1e-12)
    np.testing.assert_allclose(seven.shares[0], alone.shares[0], atol=1e-12)
    with workers(2) as two:
        threads = run_em([table(A, dense=dense)], *start, max_iter=25, tol=0, engine=LocalEngine(two))
    np.testing.assert_array_equal(threads.topics, seven.topics)
    np.testing.assert_array_equal(threads.shares[0], seven.shares[0])
    assert threads.log_likelihood == seven.log_likelihood


def test_permutations_of_rows_and_of_words(seed):
    rng = np.random.default_rng(seed)
    A, B = rng.poisson(0.6, (20, 15)), rng.poisson(0.6, (10, 15))
    phi, shares = rng.dirichlet(np.ones(15), 3), [rng.dirichlet(np.ones(3), n) for n in (20, 10)]
    first = steps([table(A, 0.2), table(B, 0.8)], phi, shares, 40)
    rows, words = rng.permutation(20), rng.permutation(15)
    turned = steps([table(A[rows], 0.2), table(B, 0.8)], phi, [shares[0][rows], shares[1]], 40)
    np.testing.assert_allclose(turned.shares[0], first.shares[0][rows], atol=1e-10)
    shuffled = steps([table(A[:, words], 0.2), table(B[:, words], 0.8)], phi[:, words], shares, 40)
    np.testing.assert_allclose(shuffled.topics, first.topics[words], atol=1e-10)


def test_float32_follows_float64(seed):
    rng = np.random.default_rng(seed)
    A = rng.poisson(0.5, (40, 30))
    start = random_start(30, [40], 3, rng)
    double = run_em([table(A)], *start, max_iter=20, tol=0)
    single = run_em([table(A)], *start, dtype=np.float32, max_iter=20, tol=0)
    assert single.topics.dtype == np.float32
    np.testing.assert_allclose(single.topics, double.topics, atol=1e-4)
    np.testing.assert_allclose(single.log_likelihood, double.log_likelihood, rtol=1e-6)


@pytest.mark.parametrize("n_topics", [3, 12])
def test_in_single_precision_no_bit_hangs_on_the_order_of_sums(seed, n_topics):
    """Everything is float64 but what is written down: who adds up in another order writes down the same."""
    rng = np.random.default_rng(seed)
    A = rng.poisson(0.6, (200, 30)) + np.eye(200, 30)
    topics, shares = random_start(30, [200], n_topics, rng)
    first = run_em([table(A)], topics, shares, dtype=np.float32, max_iter=40, tol=0)
    rows, words, order = rng.permutation(200), rng.permutation(30), rng.permutation(n_topics)
    for dense in (False, True):
        turned = table(A[rows][:, words], dense=dense)
        other = run_em([turned], topics[words][:, order], shares, dtype=np.float32, max_iter=40, tol=0)
        np.testing.assert_allclose(other.topics, first.topics[words][:, order], rtol=2e-7, atol=1e-12)
        np.testing.assert_allclose(other.shares[0], first.shares[0][rows][:, order], rtol=2e-7, atol=1e-12)


def test_a_dead_topic_is_started_again_and_the_likelihood_rises():
    A = np.array([[4, 1, 0, 0], [3, 2, 0, 0], [0, 0, 2, 2], [0, 0, 0, 3.0]])
    phi = np.array([[0.25, 0.25, 0.25, 0.25], [0.1, 0.2, 0.3, 0.4]])
    theta = np.tile([1.0, 0.0], (4, 1))  # nobody uses the second topic
    found = steps([table(A)], phi, [theta], 30)
    assert found.n_reseeded == 1
    assert (np.diff(found.log_likelihood) > -1e-12).all()
    assert np.isfinite(found.topics).all() and (found.shares[0][:, 1] > 0.5).any()
    # Where the living topics explain everything there is nothing to start again from.
    phi[0] = A[0] / 5
    same = steps([table(np.tile(A[:1], (3, 1)))], phi, [theta[:3]], 30)
    assert same.n_reseeded == 0
    np.testing.assert_allclose(same.topics.sum(axis=0), 1.0)


def test_probabilities_that_underflow_stay_numbers():
    A = np.array([[1.0, 1.0], [1.0, 0.0]])
    phi = np.array([[1.0, 0.0], [1.0 - 1e-200, 1e-200]])
    for dtype in (np.float32, np.float64):
        for dense in (False, True):
            found = steps([table(A, dense=dense)], phi, [np.full((2, 2), 0.5)], 10, dtype=dtype)
            assert np.isfinite(found.topics).all() and np.isfinite(found.shares[0]).all()
            np.testing.assert_allclose(found.shares[0].sum(axis=1), 1.0, rtol=1e-6)


def test_the_vectorised_logarithm(seed):
    rng = np.random.default_rng(seed)
    p = np.concatenate([10.0 ** rng.uniform(-300, 3, 500), [1e-300, 0.5, 1.0, 2.0, np.sqrt(0.5), 1 - 1e-16]])
    x = rng.random(p.size)
    scratch = np.empty(p.size)
    for n in range(p.size):
        one = _plsa_kernels._log_sum(x[n : n + 1], p[n:], p[n:].view(np.int64), scratch, scratch.view(np.int64))
        assert one == pytest.approx(x[n] * np.log(p[n]), rel=4e-15, abs=1e-16)
    total = _plsa_kernels._log_sum(x, p, p.view(np.int64), scratch, scratch.view(np.int64))
    assert total == pytest.approx(np.sum(x * np.log(p)), rel=1e-13)


def test_fold_in_is_at_rest_where_the_fit_is_and_never_lowers_the_likelihood(seed):
    rng = np.random.default_rng(seed)
    A = rng.poisson(rng.dirichlet(np.ones(25) * 0.3, 3)[rng.integers(3, size=60)] * 20) + np.eye(60, 25)
    fit = run_em([table(A)], *random_start(25, [60], 3, rng), max_iter=20000, tol=1e-10)
    a, phi = A / A.sum(axis=1, keepdims=True), fit.topics.T
    theta = fit.shares[0]
    one_step = theta * ((a / np.maximum(theta @ phi, 1e-300)) @ phi.T)
    assert abs(one_step - theta).max() < 1e-4
    values = []
    for n in (1, 2, 5, 20, 100):
        theta, _ = fold_in(csr_matrix(A), fit.topics, ALONE, max_iter=n, tol=0)
        values.append(np.sum(np.where(a > 0, a * np.log(np.maximum(theta @ phi, 1e-300)), 0), axis=1))
    assert (np.diff(values, axis=0) > -1e-12).all()
    with workers(2) as two:
        again = fold_in(A, fit.topics, LocalEngine(two), max_iter=100, tol=0)[0]
    np.testing.assert_array_equal(again, theta)


def test_fold_in_leaves_unknown_words_out():
    topics = np.array([[0.9, 0.1], [0.1, 0.9], [0.0, 0.0]])
    theta, loglik = fold_in(csr_matrix([[3.0, 1, 0], [3, 1, 50], [0, 0, 4], [0, 0, 0]]), topics, ALONE)
    np.testing.assert_array_equal(theta[0], theta[1])
    assert loglik[0] == loglik[1]
    np.testing.assert_array_equal(theta[2:], 0.5)
    assert np.isnan(loglik[2:]).all()


def test_the_form_of_a_table_follows_its_density():
    full, thin = np.ones((4, 6)), np.eye(4, 6)
    assert isinstance(suited(csr_matrix(full), 0.5)[0], np.ndarray)
    assert suited(full, 0.5)[0] is full
    assert not isinstance(suited(thin, 0.5)[0], np.ndarray)
    np.testing.assert_array_equal(suited(thin, 0.5)[0].toarray(), thin)
    np.testing.assert_array_equal(suited(thin, 0.5)[1], np.ones(4))
    assert dense_above(2) > 1 and 0.5 < dense_above(8) < 0.7 and dense_above(1000) < 0.2


def test_many_topics_match_nmf_with_kullback_leibler(seed):
    """Counts weighting: PLSA and NMF under KL have the same optima; from ours, NMF has nothing to gain."""
    from sklearn.decomposition import non_negative_factorization

    rng = np.random.default_rng(seed)
    A = rng.poisson(0.8, (30, 20)) + np.eye(30, 20)
    counts = Counts.of(csr_matrix(A), A.sum(axis=1), A.sum(axis=1))
    fit = run_em([counts], *random_start(20, [30], 3, rng), max_iter=5000, tol=1e-14)
    W, H = fit.shares[0] * A.sum(axis=1, keepdims=True), np.ascontiguousarray(fit.topics.T)
    W2, H2, _ = non_negative_factorization(
        A,
        W.copy(),
        H.copy(),
        n_components=3,
        init="custom",
        solver="mu",
        beta_loss="kullback-leibler",
        max_iter=20,
        tol=0,
    )

    def loss(M):
        return np.sum(np.where(A > 0, A * np.log(np.maximum(A, 1) / np.maximum(M, 1e-300)), 0) - A + M)

    assert loss(W @ H) - loss(W2 @ H2) < 1e-4 * loss(W @ H)


def two_copies(counts, topics, shares, dtype, tol, max_iter):
    """EM as it is written down: old and new shares beside each other; what the last sweep read is the answer."""
    n_topics = topics.shape[1]
    phi, theta = padded(topics, max(n_topics, _plsa_kernels.LANES), dtype), shares[0].astype(dtype)
    values = []
    for n_iter in range(max_iter + 1):
        found, run = sweep([counts], [theta], phi, n_topics)
        values.append(found.value)
        if n_iter > 0 and (n_iter == max_iter or abs(found.value - values[-2]) < tol * abs(found.value)):
            return phi[:, :n_topics], theta, values[1:]
        phi, dead = _plsa_em._new_topics(phi, found.G, n_topics)
        theta = run.states[0][0][:, :n_topics]
        assert not dead.size


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("n_topics", [3, 12])
@pytest.mark.parametrize("near_end", [1.2, 0.0])  # 0: the end is never foreseen, and the way is gone again
def test_shares_held_once_end_where_two_copies_end(dense, n_topics, near_end, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    counts = table(rng.poisson(0.5, (70, 25)), dense=dense)
    start = random_start(25, [70], n_topics, rng)
    monkeypatch.setattr(_plsa_em, "_NEAR_END", near_end)
    for tol, max_iter in [(1e-4, 500), (1e-2, 500), (0.0, 7), (1e-4, 3)]:
        topics, shares, values = two_copies(counts, *start, np.float32, tol, max_iter)
        found = run_em([counts], *start, dtype=np.float32, max_iter=max_iter, tol=tol)
        np.testing.assert_array_equal(found.topics, topics)
        np.testing.assert_array_equal(found.shares[0], shares)
        assert found.log_likelihood == values


@pytest.mark.filterwarnings("ignore:found .* distinct clusters")  # four rounds are too few for fifty
def test_memory_is_the_shares_once(monkeypatch):
    import tracemalloc

    from manyview import PLSA

    rng = np.random.default_rng(0)
    n, n_topics = 40_000, 50
    counts = csr_matrix((np.ones(4 * n, np.float32), rng.integers(0, 30, 4 * n), np.arange(0, 4 * n + 1, 4)), (n, 30))
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 2**20)
    model = PLSA(n_topics, n_init=1, max_iter=4, random_state=0, n_jobs=1)
    model.fit(counts[:100])  # compiled
    tracemalloc.start()
    model.fit(counts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 300 * n  # a second copy of the shares would be 200 more
