"""Ours against the paper written out literally, against hand-made numbers, and against scikit-learn."""

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.cluster import KMeans

from manyview import RobustMultiviewKMeans
from manyview.methods.kmeans import _robust_assignment
from manyview.methods.kmeans import _robust_kmeans_kernels as kernels
from manyview.methods.kmeans import _scaled_view_kernels as view_kernels
from manyview.methods.kmeans._robust_rounds import objective_and_weights
from manyview.methods.kmeans._scaled_views import DenseView

from .rmkmc_reference import blobs, literal_rounds, start_from


@pytest.mark.parametrize("rule", ["literal", "exact"])
@pytest.mark.parametrize("gamma", [1.26, 5.0, 79.4])
def test_equals_the_three_loop_version(rule, gamma, seed):
    rng = np.random.default_rng(seed)
    views, _ = blobs(rng)
    labels = np.arange(40) % 3
    model, problem, outcome = start_from(views, labels, gamma=gamma, assign=rule, max_iter=6, tol=0)
    eps = problem.eps * problem.unit
    n_rounds = len(outcome.objective)
    expected, F, alpha, omega, objective = literal_rounds(views, labels, 3, gamma, rule, n_rounds, eps)
    assert np.array_equal(outcome.labels, expected)
    for v, name in enumerate(model.view_names_):
        assert np.allclose(model.cluster_centers_[name], F[v], rtol=0, atol=1e-10)
    assert np.allclose(model.alpha_, alpha, atol=1e-12)
    assert np.allclose(model.view_weights_, omega / omega.sum(), atol=1e-12)
    assert np.allclose(outcome.objective, objective, rtol=1e-12)


def test_equal_weights_equal_the_three_loop_version(seed):
    views, _ = blobs(np.random.default_rng(seed))
    labels = np.arange(40) % 3
    _, problem, outcome = start_from(views, labels, view_weights="equal", max_iter=5, tol=0)
    expected, _, _, _, objective = literal_rounds(
        views, labels, 3, 2.0, "literal", len(outcome.objective), problem.eps * problem.unit, learned=False
    )
    assert np.array_equal(outcome.labels, expected)
    assert np.allclose(outcome.objective, objective, rtol=1e-12)


def test_two_views_of_four_items_by_hand():
    # F 0.5, 11 and 1, 5; residuals .5 .5 1 1 and 1 1 1 1; H 3, 4; a fixed point.
    views = [np.array([[0.0], [1], [10], [12]]), np.array([[0.0], [2], [4], [6]])]
    model, _, outcome = start_from(views, [0, 0, 1, 1], gamma=2.0)
    assert outcome.labels.tolist() == [0, 0, 1, 1]
    assert np.allclose(model.cluster_centers_["view0"].ravel(), [0.5, 11])
    assert np.allclose(model.cluster_centers_["view1"].ravel(), [1, 5])
    assert np.allclose(model.residuals_, [3, 4])
    assert np.allclose(model.alpha_, [4 / 7, 3 / 7])
    assert np.allclose(model.view_weights_, [0.64, 0.36])
    assert outcome.objective[-1] == pytest.approx(np.log(12 / 7), abs=1e-9)
    assert outcome.objective[-1] == pytest.approx(0.538997, abs=1e-6)


@pytest.mark.parametrize(
    ("gamma", "alpha", "omega"),
    [
        (1.258925, (0.752327, 0.247673), (0.801984, 0.198016)),
        (10, (0.507990, 0.492010), (0.579238, 0.420762)),
        (79.4328, (0.500917, 0.499083), (0.572327, 0.427673)),
        (1e6, (0.5, 0.5), (4 / 7, 3 / 7)),
        (1.0001, (1, 0), (1, 0)),
    ],
)
def test_weights_of_residuals_three_and_four(gamma, alpha, omega):
    log_phi, log_omega, log_alpha = objective_and_weights(np.array([3.0, 4.0]), np.ones(2), 4.0, gamma, None)
    assert np.allclose(np.exp(log_alpha), alpha, atol=1e-6)
    assert np.allclose(np.exp(log_omega - logsumexp(log_omega)), omega, atol=1e-6)
    assert np.isfinite(log_phi)


@pytest.mark.parametrize("share", [(1.0, 1.0, 1.0), (0.3, 1.0, 0.8)])
def test_alpha_minimises_the_objective(share, seed):
    rng = np.random.default_rng(seed)
    H, gamma, share = np.array([3.0, 4.0, 0.5]), 3.0, np.array(share)
    log_phi, _, log_alpha = objective_and_weights(H, share, 10.0, gamma, None)
    best = np.exp(log_alpha)
    best /= share @ best
    assert (best**gamma @ H) == pytest.approx(np.exp(log_phi))  # the sum and the power mean agree
    others = rng.dirichlet(np.ones(3), size=1000)
    others /= (others @ share)[:, None]
    assert (others**gamma @ H).min() >= np.exp(log_phi) * (1 - 1e-12)


def test_one_view_walks_to_the_median_and_stays():
    # One cluster of 0, 1, 5 from its mean: the steps land on the datum 1, where the residual is zero.
    centroids, phi = [2, 16 / 11, 1.139043, 1.018980, 1.000434, 1.0000002], []
    view = np.array([[0.0], [1], [5]])
    for n_rounds, expected in enumerate(centroids, 1):
        model, _, outcome = start_from([view], [0, 0, 0], max_iter=n_rounds, tol=0)
        assert model.cluster_centers_["view0"][0, 0] == pytest.approx(expected, abs=2e-6)
        phi = np.exp(outcome.objective)
    assert np.allclose(phi, [6, 60 / 11, 5.139043, 5.018980, 5.000434, 5.0000002], atol=2e-6)
    model, _, _ = start_from([view], [0, 0, 0], max_iter=200)
    assert model.cluster_centers_["view0"][0, 0] == pytest.approx(1.0, abs=1e-6)


def test_literal_keeps_what_exact_moves():
    # Residuals now (.1, 4), to the other cluster (1, 1): 2.05 < 5.125 stays, 2 < 4.1 moves.
    now, other = np.array([0.1, 4.0]), np.array([1.0, 1.0])
    products, nothing, one = np.zeros((1, 2)), np.zeros(1), np.ones(1)
    norms = np.stack([now, other], axis=1)  # the item at the origin, the two centroids at its residuals
    labels, pairs = np.empty(1, dtype=np.intp), np.empty((2, 2), dtype=np.intp)
    cost, doubt = np.zeros((1, 2)), np.zeros(1)
    for f, e in zip(norms, now, strict=True):
        kernels.add_literal(products, f**2, f.max(), nothing, 0.5 / np.array([e]), 0.0, cost, doubt)
    assert kernels.cheapest(cost, doubt, labels, *pairs) == 0
    assert labels[0] == 0 and np.allclose(cost, [[2.05, 5.125]])
    cost, doubt = np.zeros((1, 2)), np.zeros(1)
    for f in norms:
        kernels.add_exact(products, nothing, f, one, 1e-15, cost, doubt)
    assert kernels.cheapest(cost, doubt, labels, *pairs) == 0
    assert labels[0] == 1 and np.allclose(cost, [[4.1, 2.0]])


def test_an_exact_fixed_point_is_literal_too(seed):
    views, _ = blobs(np.random.default_rng(seed), n=120)
    _, problem, outcome = start_from(views, np.arange(120) % 3, assign="exact", max_iter=300)
    F = outcome.centroids
    weights = np.exp(outcome.log_weights)
    squares = [((views[v][:, None] - F[v][None]) ** 2).sum(-1) / problem.unit[v] ** 2 for v in range(3)]
    here = np.arange(120)
    D = [0.5 / np.sqrt(s[here, outcome.labels]) for s in squares]
    literal_cost = sum(weights[v] * problem.unit[v] * D[v][:, None] * squares[v] for v in range(3))
    assert np.array_equal(literal_cost.argmin(axis=1), outcome.labels)


def test_one_view_with_squared_start_equals_scikit_learn_after_one_round(seed):
    # Round 1 has D = 1 and equal weights: an ordinary k-means step.
    views, _ = blobs(np.random.default_rng(seed), n=200, widths=(4,))
    labels = np.arange(200) % 3
    _, _, outcome = start_from(views, labels, max_iter=1)
    centres = np.array([views[0][labels == k].mean(axis=0) for k in range(3)])
    kmeans = KMeans(3, init=centres, n_init=1, max_iter=1).fit(views[0])
    assert np.array_equal(outcome.labels, ((views[0][:, None] - centres) ** 2).sum(-1).argmin(1))
    sums = [views[0][outcome.labels == k].mean(axis=0) for k in range(3)]
    assert np.allclose(kmeans.cluster_centers_, sums)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_equal_their_numpy_twins(dtype, seed):
    rng = np.random.default_rng(seed)
    X, F = _read_only(rng.normal(size=(30, 7)).astype(dtype)), rng.normal(size=(4, 7)).astype(dtype)
    scale = rng.random(7).astype(dtype)
    present, labels = rng.random(30) < 0.8, rng.integers(-1, 4, size=30)
    weight = rng.random(30)
    held = present & (labels >= 0)
    close = {"rtol": 1e-4, "atol": 1e-6} if dtype is np.float32 else {"rtol": 1e-12, "atol": 1e-12}
    squares = (((X - F[labels]) * scale) ** 2).sum(1)
    out = np.empty(30)
    view_kernels.row_norms(X, present, scale, out)
    assert np.allclose(out, np.where(present, np.linalg.norm(X * scale, axis=1), 0), **close)
    view_kernels.pair_squared_distances(X, present, scale, np.arange(30), labels, F, out)
    assert np.allclose(out, np.where(held, squares, 0), **close)
    lengths, sums, mass = np.empty(30, dtype=dtype), np.zeros((4, 7)), np.zeros(4)
    total = view_kernels.lengths_and_sums(X, present, scale, labels, weight, F, 0.1, lengths, sums, mass)
    apart = X.astype(float) - F[labels]  # float64 throughout, whatever the data are
    e = np.sqrt(((apart * scale) ** 2).sum(1) + 0.01)
    expected = np.where(held, e, np.inf).astype(dtype)
    assert np.allclose(lengths, expected, rtol=0 if dtype is np.float32 else 1e-15, atol=0)
    assert total == pytest.approx((weight * e)[held].sum(), rel=1e-14)
    one_hot = (labels[:, None] == np.arange(4)) * (held * weight * 0.5 / e.astype(dtype))[:, None]
    assert np.allclose(sums, one_hot.T @ apart, rtol=1e-12, atol=1e-13)
    assert np.allclose(mass, one_hot.sum(0), rtol=1e-14)
    sums, mass = np.zeros((4, 7)), np.zeros(4)
    view_kernels.add_differences(X, present, labels, weight, F, sums, mass)
    one_hot = (labels[:, None] == np.arange(4)) * (held * weight)[:, None]
    assert np.allclose(sums, one_hot.T @ (X - F[labels]), **close) and np.allclose(mass, one_hot.sum(0))
    low, high, column = np.full(7, np.inf), np.full(7, -np.inf), np.zeros(7)
    view_kernels.column_range(X, present, weight, low, high, column)
    assert np.array_equal(low, X[present].min(0)) and np.array_equal(high, X[present].max(0))
    assert np.allclose(column, weight[present] @ X[present], **close)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 3, 8, 17, 64, 100, 252, 1025])
def test_a_residual_is_the_same_however_it_is_made(dtype, width, seed):
    """Among many rows or few: to the last bit, since lost residuals are made again."""
    rng = np.random.default_rng(seed)
    X, F = _read_only(rng.normal(size=(50, width)).astype(dtype)), rng.normal(size=(4, width)).astype(dtype)
    scale, labels = rng.random(width).astype(dtype), rng.integers(4, size=50)
    one, two = np.empty((2, 50), dtype=dtype)
    everyone, weight, sums, mass = np.ones(50, dtype=bool), np.ones(50), np.zeros((4, width)), np.zeros(4)
    view_kernels.lengths_and_sums(X, everyone, scale, labels, weight, F, 0.1, one, sums, mass)
    for i in range(50):
        row = slice(i, i + 1)
        given = (X[row], everyone[row], scale, labels[row], weight[row], F, 0.1)
        view_kernels.lengths_and_sums(*given, two[row], sums, mass)
    assert np.array_equal(one, two)


def test_a_fit_that_forgets_its_residuals_ends_with_the_same_bits(monkeypatch, seed):
    """As one does that goes on from a point, or whose worker died: they are made again."""
    rng = np.random.default_rng(seed)
    views = {"a": rng.normal(size=(900, 24)).astype(np.float32), "b": rng.normal(size=(900, 9))}

    def fit():
        return RobustMultiviewKMeans(6, view_scale="minmax", n_init=2, max_iter=8, random_state=seed).fit(views)

    undisturbed, kept_or_made = fit(), _robust_assignment._lengths
    n_forgotten = []

    def forgetful(rows, leaf, shared, labels):
        n_forgotten.append(rows.kept.pop(("lengths", shared.frame.key, leaf.start), None))
        return kept_or_made(rows, leaf, shared, labels)

    monkeypatch.setattr(_robust_assignment, "_lengths", forgetful)
    again = fit()
    assert any(one is not None for one in n_forgotten)
    assert np.array_equal(undisturbed.labels_, again.labels_)
    assert np.array_equal(undisturbed.objective_, again.objective_)
    assert all(np.array_equal(undisturbed.cluster_centers_[v], again.cluster_centers_[v]) for v in views)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shift", [0.0, 20.0])
def test_distances_of_items_for_seeding(dtype, shift, seed):
    """Items alike, all but alike, far apart and missing; in line and picked."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 200))
    X[10:20] = X[:10]
    X[20:30] = X[:10] * (1 + 1e-6)
    X[30] = np.nan
    X, scale = (X + shift).astype(dtype), rng.uniform(0.5, 2, size=200).astype(dtype)
    view = DenseView(X, np.arange(60) != 30, np.full(200, shift), scale.astype(float))
    targets = np.array([0, 5, 40])
    exact = (((X[:, None].astype(float) - X[targets].astype(float)) * scale.astype(float)) ** 2).sum(axis=-1)
    for rows in (np.arange(60), np.arange(7, 60), np.array([0, 3, 10, 15, 20, 25, 30, 59])):
        found = view.item_squared_distances(rows, targets)
        present = rows != 30
        assert np.allclose(found[present], exact[rows][present], rtol=0.01, atol=1e-30)
        assert (found[present] == 0).tolist() == (exact[rows][present] == 0).tolist()
        assert (found[~present] == 0).all()


def test_sparse_kernels_equal_their_numpy_twins(seed):
    from scipy.sparse import random_array

    rng = np.random.default_rng(seed)
    X = random_array((30, 12), density=0.3, format="csr", rng=rng)
    csr, dense = (X.data, X.indices, X.indptr), X.toarray()
    F, scale, weight = rng.normal(size=(4, 12)), rng.random(12), rng.random(30)
    F[0] = dense[0]  # where the expanded square cancels
    present, labels = rng.random(30) < 0.8, rng.integers(-1, 4, size=30)
    present[0], labels[0] = True, 0
    held = present & (labels >= 0)
    out = np.empty(30)
    view_kernels.csr_row_norms(*csr, scale, out)
    assert np.allclose(out, np.linalg.norm(dense * scale, axis=1))
    squares = ((F * scale) ** 2).sum(axis=1)
    view_kernels.csr_pair_squared_distances(*csr, present, np.arange(30), labels, scale, F, squares, out)
    assert np.allclose(out, np.where(held, (((dense - F[labels]) * scale) ** 2).sum(1), 0)) and out[0] == 0.0
    sums, mass = np.zeros((4, 12)), np.zeros(4)
    view_kernels.csr_add_rows(*csr, 0, present, labels, weight, sums, mass)
    one_hot = (labels[:, None] == np.arange(4)) * (held * weight)[:, None]
    assert np.allclose(sums, one_hot.T @ dense) and np.allclose(mass, one_hot.sum(0))
    low, high, total = np.full(12, np.inf), np.full(12, -np.inf), np.zeros(12)
    stored = np.zeros(12, dtype=np.int64)
    view_kernels.csr_column_range(*csr, 0, present, weight, low, high, total, stored)
    kept = np.where((dense != 0) & present[:, None], dense, np.nan)
    has = ~np.isnan(kept).all(axis=0)
    assert np.array_equal(low[has], np.nanmin(kept[:, has], axis=0))
    assert np.array_equal(high[has], np.nanmax(kept[:, has], axis=0))
    assert np.allclose(total, (weight * present) @ dense) and np.array_equal(stored, (~np.isnan(kept)).sum(0))


def _read_only(X):
    """As every view is: kernels are compiled for no other."""
    X = X.copy()
    X.flags.writeable = False
    return X


def test_choice_leaves_open_only_what_rounding_allows():
    cost = np.array([[1.0, 2.0, 3.0], [5.0, 4.0, 4.05], [7.0, 7.0, 9.0]])
    products, squares = -cost / 2, np.zeros(3)  # so that |f|^2 - 2 x.f is the cost
    labels, pairs = np.empty(3, dtype=np.intp), np.empty((2, 9), dtype=np.intp)
    norms = np.array([0.5, 0.1, 0.0]) - 1e-9  # with a slack of 1 / 4 and lengths of 1e-9 of centroids, the doubt
    added, doubt = np.zeros((3, 3)), np.zeros(3)
    kernels.add_literal(products, squares, 1e-9, norms, np.ones(3), 0.25e9, added, doubt)
    assert np.array_equal(added, cost) and np.allclose(doubt, [0.5, 0.1, 0.0])
    n_open = kernels.cheapest(added, doubt, labels, *pairs)
    assert labels[0] == 0  # the others are open
    assert pairs[:, :n_open].T.tolist() == [[1, 1], [1, 2], [2, 0], [2, 1]]
    kernels.settle(*pairs[:, :n_open], np.array([4.06, 4.05, 7.0, 7.0]), labels)
    assert labels.tolist() == [0, 2, 0]  # the truly cheaper one, and the lowest on a tie


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_clusters", [1, 2, 15, 16, 17, 50, 130])
def test_what_is_open_equals_its_numpy_twin(dtype, n_clusters, seed):
    """Ties, doubts and costs past every number, wherever the lowest is among the lanes of a register."""
    rng = np.random.default_rng(seed)
    cost = rng.integers(40, size=(300, n_clusters)).astype(dtype)
    cost[:3] = np.inf
    doubt = rng.choice([0.0, 0.5, 1.0, 30.0], size=300)
    labels, pairs = np.empty(300, dtype=np.intp), np.empty((2, cost.size), dtype=np.intp)
    n_open = kernels.cheapest(cost, doubt, labels, *pairs)
    may_be = cost <= cost.min(axis=1, keepdims=True) + doubt[:, None]
    alone = may_be.sum(axis=1) == 1
    assert np.array_equal(labels[alone], cost[alone].argmin(axis=1))
    assert np.array_equal(pairs[:, :n_open], np.nonzero(may_be & ~alone[:, None]))


def test_quality_on_the_numerals_is_what_the_paper_promises():
    from manyview.datasets import load_handwritten
    from manyview.metrics import clustering_accuracy, normalized_mutual_info

    X, y = load_handwritten(return_X_y=True)
    runs = [
        RobustMultiviewKMeans(10, view_scale="minmax", init="partition", n_init=1, random_state=seed).fit(X).labels_
        for seed in range(20)
    ]
    assert np.mean([clustering_accuracy(y, labels) for labels in runs]) >= 0.76
    assert np.mean([normalized_mutual_info(y, labels) for labels in runs]) >= 0.83
    assert clustering_accuracy(y, RobustMultiviewKMeans(10, view_scale="minmax", random_state=0).fit(X).labels_) >= 0.90
