"""Every step on the device against its definition in NumPy."""

from itertools import pairwise

import numpy as np
import pytest


@pytest.fixture
def tensor(device):
    import torch

    return lambda array: torch.tensor(array, device=device)


def host(values):
    return values.cpu().numpy()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("size", [1e-30, 1.0, 1e17])
def test_the_nearest_centre_is_the_nearest_or_tied(tensor, seed, dtype, size):
    from manyview.gpu.nearest import make_table, nearest_centres

    rng = np.random.default_rng(seed)
    X = (size * rng.normal(size=(300, 21)) * 10.0 ** rng.integers(-6, 1, size=21)).astype(dtype)
    C = X[rng.choice(300, 40, replace=False)].astype("f8")
    C[31] = C[35]  # twins, so that some rows are tied
    C[5:20] = C[5] * (1 + 1e-7 * rng.normal(size=(15, 21)))  # and some are nearly so
    squares = ((X[:, None].astype("f8") - C[None]) ** 2).sum(axis=2)
    labels, tied = (host(part) for part in nearest_centres(make_table(tensor(X)), tensor(C)))
    sure = np.setdiff1d(np.arange(300), tied)
    assert (labels[sure] == squares.argmin(axis=1)[sure]).all()
    best, second = np.sort(squares, axis=1)[:, :2].T
    assert (second - best)[tied].max(initial=0) <= 1e-9 * (X.astype("f8") ** 2).sum(axis=1).max()
    assert np.isin(np.flatnonzero(squares.argmin(axis=1) == 31), tied).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_the_cheapest_cluster_of_views_with_gaps(tensor, seed, dtype):
    from manyview.gpu.cheapest import cheapest_clusters, make_views
    from manyview.gpu.pieces import cut_by_cluster
    from manyview.gpu.sums import lengths_and_sums

    rng = np.random.default_rng(seed)
    n, K, widths = 333, 37, [16, 48, 16]
    edges = np.cumsum([0, *widths])
    X = (rng.normal(size=(n, 80)) * np.repeat([1, 100, 0.01], widths)).astype(dtype)
    F = X[rng.choice(n, K, replace=False)].copy()
    present = rng.random((3, n)) < 0.7
    present[0] |= ~present.any(axis=0)
    for v in range(3):
        X[~present[v], edges[v] : edges[v + 1]] = np.nan
    F = np.nan_to_num(F, nan=0.0)
    scale, eps, counts = rng.random(80) + 0.5, np.array([0.1, 0.2, 1e-4]), rng.integers(0, 3, size=n).astype("f8")
    weight = np.abs(rng.normal(size=(3, n))) * present * np.array([[1], [1e-4], [1e4]])
    views = make_views(tensor(X), tensor(present.astype("u1")), widths, tensor(scale))
    labels, tied = cheapest_clusters(views, tensor(F), tensor(weight))
    apart = np.nan_to_num(X[:, None].astype("f8") - F[None].astype("f8")) * scale
    squares = np.stack([(apart[:, :, a:b] ** 2).sum(axis=2) for a, b in pairwise(edges)])
    assert (host(labels) == (weight[:, :, None] * squares).sum(axis=0).argmin(axis=1)).all() and tied.numel() == 0

    lengths, sums, mass, totals = lengths_and_sums(
        views, tensor(counts), tensor(F), tensor(eps), cut_by_cluster(labels, K)
    )
    own = np.sqrt(squares[:, np.arange(n), host(labels)] + eps[:, None] ** 2)
    rounded = np.where(present, own, np.inf).astype(dtype)
    assert np.allclose(host(lengths), rounded, rtol=2e-16 if dtype == "f8" else 1e-7)
    D = 0.5 * counts / rounded.astype("f8")
    for v, (a, b) in enumerate(pairwise(edges)):
        expected = np.zeros((K, b - a))
        differences = np.nan_to_num(X[:, a:b].astype("f8") - F[host(labels), a:b].astype("f8"))
        np.add.at(expected, host(labels), D[v][:, None] * np.where(present[v][:, None], differences, 0.0))
        assert np.allclose(host(sums)[:, a:b], expected, rtol=1e-11, atol=1e-11 * np.abs(expected).max())
        assert np.allclose(host(mass)[:, v], np.bincount(host(labels), D[v], K), rtol=1e-12)
        assert np.isclose(host(totals)[:, v].sum(), counts[present[v]] @ own[v][present[v]], rtol=1e-12)


def test_sums_of_clusters_leave_out_rows_without_one(tensor, seed):
    from manyview.gpu.pieces import cut_by_cluster
    from manyview.gpu.sums import cluster_sums

    rng = np.random.default_rng(seed)
    X, counts = rng.normal(size=(500, 19)).astype("f4"), rng.random(500)
    labels = rng.integers(-1, 7, size=500)
    labels[labels == 4] = 5  # one is empty
    sums, mass = cluster_sums(tensor(X), tensor(counts), cut_by_cluster(tensor(labels.astype("i4")), 7, size=16))
    held = labels >= 0
    expected = np.zeros((7, 19))
    np.add.at(expected, labels[held], counts[held, None] * X[held])
    assert np.allclose(host(sums), expected, atol=1e-12)
    assert np.allclose(host(mass), np.bincount(labels[held], counts[held], 7))


@pytest.mark.parametrize(("dtype", "error"), [("f4", 6e-8), ("f8", 1e-13)])
@pytest.mark.parametrize("n_topics", [1, 5, 33])
def test_a_step_of_plsa(tensor, seed, dtype, error, n_topics):
    from scipy import sparse

    from manyview.gpu.topics import em_step, make_counts

    rng = np.random.default_rng(seed)
    A = sparse.random(120, 40, 0.2, "csr", random_state=seed, dtype=np.float64)
    A.data = np.ceil(5 * A.data)
    A.data[A.indptr[3] : A.indptr[4]] = 0  # a row without a word
    A.eliminate_zeros()
    row_sums = np.asarray(A.sum(axis=1)).ravel()
    inverse = np.divide(1, row_sums, out=np.zeros(120), where=row_sums > 0)
    weight = rng.random(120)
    theta = rng.dirichlet(np.ones(n_topics), 120).astype(dtype)
    phi = np.ascontiguousarray(rng.dirichlet(np.ones(40), n_topics).T.astype(dtype))
    counts = make_counts(
        *(tensor(part) for part in (A.indptr.astype("i8"), A.indices.astype("i4"), A.data.astype(dtype))),
        tensor(inverse), tensor(weight), 40,
    )  # fmt: skip
    there = tensor(theta)
    untouched = em_step(counts, there, tensor(phi), 1e-30, 1e-18)
    assert (host(there) == theta).all()
    G, loglik = (host(part) for part in em_step(counts, there, tensor(phi), 1e-30, 1e-18, out=there))
    assert (host(untouched[0]) == G).all() and (host(untouched[1]) == loglik).all()
    new = host(there)
    a, p = A.toarray() * inverse[:, None], theta.astype("f8") @ phi.T.astype("f8")
    shares = theta.astype("f8") * (a / p @ phi)
    total = shares.sum(axis=1, keepdims=True)
    assert np.allclose(new, np.where(total > 0, shares / np.where(total > 0, total, 1), theta), atol=error)
    assert np.allclose(G, (a / p).T @ (weight[:, None] * theta), rtol=1e-12, atol=1e-13)
    assert np.allclose(loglik, (a * np.log(p)).sum(axis=1), rtol=5 * error, atol=5 * error)


def test_products_of_views(tensor, seed, monkeypatch):
    from manyview.gpu import moments

    monkeypatch.setattr(moments, "ROWS", 100)
    monkeypatch.setattr(moments, "_COLUMNS", 8)
    rng = np.random.default_rng(seed)
    views = [rng.normal(size=(333, width)) for width in (30, 9)]
    found = moments.products([tensor(view) for view in views])
    assert set(found) == {(0, 0), (0, 1), (1, 1)}
    for (i, j), product in found.items():
        assert np.allclose(host(product), views[i].T @ views[j], rtol=1e-12, atol=1e-12)
