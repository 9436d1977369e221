"""CanonicalFusion against the formulas: hand-worked numbers, slow twins, and what must hold for any data."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import eigh

from manyview import CanonicalFusion
from manyview.errors import ViewWarning
from manyview.methods.canonical import _learned
from manyview.methods.canonical import _moments as moments

from .canonical_reference import centred, maxvar, ridge_of, thin_svd_cca


def two_views(seed, n_items=80, widths=(9, 6), common=3):
    """Views that share a few directions, with offsets and scales of their own."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n_items, common))
    return [
        (shared @ rng.normal(size=(common, d)) + rng.normal(size=(n_items, d))) * 10.0**v + 5 * v
        for v, d in enumerate(widths)
    ]


def test_one_feature_by_hand():
    V, S = np.array([[1.0], [2], [3], [4]]), np.array([[1.0], [3], [2], [4]])
    assert CanonicalFusion(1, regularization=0).fit([V, S]).correlations_ == pytest.approx([0.8], abs=1e-12)
    # the ridge is relative: one mean variance, 5/3 here
    assert CanonicalFusion(1).fit([V, S]).correlations_ == pytest.approx([0.4], abs=1e-12)
    assert CanonicalFusion(1).fit([V * 1e3, S * 1e-3]).correlations_ == pytest.approx([0.4], abs=1e-12)
    opposed = CanonicalFusion(1, regularization=0).fit([V, -S])
    assert opposed.correlations_ == pytest.approx([0.8])  # and the signs are paired:
    assert np.corrcoef(opposed.coordinates(V, "view0").T, opposed.coordinates(-S, "view1").T)[0, 1] > 0


@pytest.mark.parametrize("rho", [0.0, 1e-3, 1.0, 10.0])
@pytest.mark.parametrize(("n_items", "widths"), [(80, (9, 6)), (60, (5, 40)), (900, (330, 320))])
def test_equals_the_formulas(seed, rho, n_items, widths):
    V, S = two_views(seed, n_items, widths)
    model = CanonicalFusion(5, regularization=rho, weights=[0.3, 0.7], corr_power=0).fit([V, S])
    P, Q, correlations = thin_svd_cca(V, S, rho, 5)
    np.testing.assert_allclose(model.correlations_, correlations, atol=1e-10)
    assert (np.diff(model.correlations_) <= 0).all() and model.correlations_[0] <= 1 and model.correlations_[-1] > 0
    mine = [model.projections_["view0"], model.projections_["view1"]]
    for X, found in zip((V, S), mine, strict=True):
        C = np.cov(X.T) + ridge_of(X, rho) * np.eye(X.shape[1])
        np.testing.assert_allclose(found.T @ C @ found, np.eye(5), atol=1e-8)
    cross = centred(V).T @ centred(S) / (n_items - 1)
    np.testing.assert_allclose(mine[0].T @ cross @ mine[1], np.diag(correlations), atol=1e-9)
    expected = 0.3 * centred(V) @ P + 0.7 * centred(S) @ Q
    signs = np.sign((expected * model.transform([V, S])).sum(axis=0))
    np.testing.assert_allclose(model.transform([V, S]), expected * signs, atol=1e-6)


def test_correlations_equal_the_generalised_eigenvalues(seed):
    V, S = two_views(seed)
    Cvv, Css = (np.cov(X.T) + ridge_of(X, 1.0) * np.eye(X.shape[1]) for X in (V, S))
    Cvs = centred(V).T @ centred(S) / (len(V) - 1)
    values = eigh(Cvs @ np.linalg.solve(Css, Cvs.T), Cvv, eigvals_only=True)[::-1]
    found = CanonicalFusion(6).fit([V, S]).correlations_
    np.testing.assert_allclose(found**2, values[:6], atol=1e-10)
    # (12), not symmetric, has the same spectrum
    product = np.linalg.solve(Cvv, Cvs) @ np.linalg.solve(Css, Cvs.T)
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(product).real)[::-1][:6], values[:6], atol=1e-8)


@pytest.mark.parametrize("rho", [1e-2, 1.0])
def test_more_views_equal_the_stacked_problem(seed, rho):
    views = two_views(seed, 120, (7, 5, 6, 4))
    model = CanonicalFusion(4, regularization=rho).fit(views)
    vectors, correlations = maxvar(views, rho, 4)
    np.testing.assert_allclose(model.correlations_, correlations, atol=1e-10)
    for v, expected in enumerate(vectors):
        signs = np.sign((expected * model.projections_[f"view{v}"]).sum(axis=0))
        np.testing.assert_allclose(model.projections_[f"view{v}"], expected * signs, atol=1e-8)


def test_the_generalisation_contains_the_pair_and_the_single_view(seed):
    V, S = two_views(seed)
    pair = CanonicalFusion(4).fit([V, S])
    (P, Q), correlations = maxvar([V, S], 1.0, 4)
    np.testing.assert_allclose(pair.correlations_, correlations, atol=1e-12)
    np.testing.assert_allclose(np.abs(pair.projections_["view0"]), np.abs(P), atol=1e-10)
    np.testing.assert_allclose(np.abs(pair.projections_["view1"]), np.abs(Q), atol=1e-10)
    with pytest.warns(ViewWarning, match="'view2' is the same for every item; it gets weight 0"):
        three = CanonicalFusion(4).fit([V, S, np.full((80, 2), 7.0)])
    np.testing.assert_array_equal(three.correlations_, pair.correlations_)
    np.testing.assert_array_equal(three.transform([V, S, None]), pair.transform([V, S]))
    alone, twice = CanonicalFusion(4).fit(V), CanonicalFusion(4).fit([V, V])
    np.testing.assert_allclose(alone.correlations_, twice.correlations_, atol=1e-12)
    np.testing.assert_allclose(alone.transform(V), twice.transform([V, V]), atol=1e-10)


def test_few_items_many_features(seed, monkeypatch):
    """The thin form, through products of rows, equals the covariance form."""
    V, S = two_views(seed, 40, (150, 12))
    thin = CanonicalFusion(5).fit([V, S])
    dense = CanonicalFusion(5)
    monkeypatch.setattr(moments, "_row_space", lambda side, *_: np.eye(side.width))
    full = dense.fit([V, S])
    np.testing.assert_allclose(thin.correlations_, full.correlations_, atol=1e-10)
    np.testing.assert_allclose(thin.transform([V, S]), full.transform([V, S]), atol=1e-8)


def test_noise_correlates_without_a_ridge(seed):
    """Correction 10: with more features than items every correlation is 1 unless the ridge says otherwise."""
    rng = np.random.default_rng(seed)
    V, S = rng.normal(size=(50, 400)), rng.normal(size=(50, 20))
    assert CanonicalFusion(5, regularization=1e-8).fit([V, S]).correlations_[0] > 0.999
    assert CanonicalFusion(5).fit([V, S]).correlations_[0] < 0.9
    assert CanonicalFusion(5, regularization=10).fit([V, S]).correlations_[0] < 0.4


def test_sparse_is_never_densified_and_equal(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    V, _ = two_views(seed, 300)
    S = sparse.random(300, 120, 0.02, random_state=seed, format="csr")
    S.data[:] = rng.normal(size=S.nnz)
    table = S.toarray()
    dense = CanonicalFusion(6).fit([V, table])
    full = sparse.csr_matrix.toarray
    wide = []
    monkeypatch.setattr(
        sparse.csr_matrix, "toarray", lambda self, *a, **k: (wide.append(self.shape), full(self, *a, **k))[1]
    )
    for form in (S, sparse.csr_array(S)):
        model = CanonicalFusion(6).fit([V, form])
        np.testing.assert_allclose(model.correlations_, dense.correlations_, atol=1e-12)
        np.testing.assert_allclose(model.transform([V, form]), dense.transform([V, table]), atol=1e-9)
    assert (300, 120) not in wide
    both = CanonicalFusion(6).fit([S, S[:, ::-1].tocsr()])
    pair = CanonicalFusion(6).fit([table, table[:, ::-1]])
    np.testing.assert_allclose(both.correlations_, pair.correlations_, atol=1e-12)


def test_blocks_and_threads_change_nothing(seed, monkeypatch):
    V, S = two_views(seed, 500, (20, 15))
    V[::7] = np.nan
    whole = CanonicalFusion(5, n_jobs=1).fit([V, S])
    monkeypatch.setattr(moments, "_BLOCK_BYTES", 5_000)
    blocks = CanonicalFusion(5, n_jobs=1).fit([V, S])
    threads = CanonicalFusion(5, n_jobs=3).fit([V, S])
    np.testing.assert_array_equal(blocks.correlations_, threads.correlations_)
    np.testing.assert_array_equal(blocks.transform([V, S]), threads.transform([V, S]))
    np.testing.assert_allclose(blocks.correlations_, whole.correlations_, atol=1e-12)


def test_many_rows_in_single_precision(seed):
    """Leaves are short and rows are shifted: with all rows in one, about zero, the error here is 3.2e-6."""
    rng = np.random.default_rng(seed)
    views = [rng.random((20_000, width)) for width in (64, 32)]
    single, double = (CanonicalFusion(8).fit([view.astype(kind) for view in views]) for kind in ("f4", "f8"))
    np.testing.assert_allclose(single.correlations_, double.correlations_, atol=5e-8)


def test_single_precision_adds_up_in_double(seed):
    V, S = two_views(seed, 3000, (30, 20))
    V = V + 1e4  # a mean that would eat the digits of single precision
    double = CanonicalFusion(8).fit([V.astype(np.float32).astype(float), S.astype(np.float32).astype(float)])
    single = CanonicalFusion(8).fit([V.astype(np.float32), S.astype(np.float32)])
    np.testing.assert_allclose(single.correlations_, double.correlations_, atol=1e-7)
    fused = single.transform([V.astype(np.float32), S.astype(np.float32)])
    assert fused.dtype == np.float32
    np.testing.assert_allclose(fused, double.transform([V, S]), atol=2e-3)


def test_wide_views_are_reduced_at_random(seed, monkeypatch):
    """Both views too wide and too long for exact treatment: a decaying spectrum is kept."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(700, 12))
    decay = 0.9 ** np.arange(650)
    V = np.hstack([shared * 4, rng.normal(size=(700, 638))]) * np.r_[np.ones(12), decay[12:] * 0.5]
    S = np.hstack([shared[:, ::-1] * 4, rng.normal(size=(700, 628))]) * np.r_[np.ones(12), decay[12:640] * 0.5]
    exact = CanonicalFusion(8).fit([V, S])
    monkeypatch.setattr(_learned, "_WIDTH", 100)  # the limit of each view becomes 512
    random = CanonicalFusion(8, random_state=seed).fit([V, sparse.csr_matrix(S)])
    np.testing.assert_allclose(random.correlations_, exact.correlations_, atol=1e-4)
    again = CanonicalFusion(8, random_state=seed, n_jobs=1).fit([V, sparse.csr_matrix(S)])
    np.testing.assert_array_equal(random.correlations_, again.correlations_)
    assert random.projections_["view0"].shape == (650, 8)


def test_columns_and_views_in_any_order(seed):
    V, S = two_views(seed)
    model = CanonicalFusion(4, weights={"view0": 0.3, "view1": 0.7}).fit([V, S])
    order = np.random.default_rng(seed).permutation(V.shape[1])
    turned = CanonicalFusion(4, weights={"S": 0.7, "V": 0.3}).fit({"S": S, "V": V[:, order]})
    np.testing.assert_allclose(model.transform([V, S]), turned.transform({"S": S, "V": V[:, order]}), atol=1e-9)
