"""Rows for CanonicalFusion: whole fits beside a plain CCA in NumPy, scikit-learn's CCA and cca-zoo, at equal R.

The plain CCA is what one would write down: centre, three covariances in float64, a ridge, eigenvectors. It has two
forms, the symmetric one and equation (12) of the paper. All but ours need tags as a dense table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .harness import Case, Contender, Data
from .worker import Fit

OURS = "manyview CanonicalFusion"
SMALL: dict[str, Any] = {"n_tags": 60, "r": 8, "ridge": 1e-4}  # scikit-learn's has none; six tags an item are collinear


def cases(quick: bool, large: bool) -> list[Case]:
    n, d, m, r, repeats = (3_000, 256, 200, 32, 3) if quick else (20_000, 1_024, 1_000, 128, 5)
    settings = {"n_tags": m, "r": r}
    found = [
        Case(
            f"{n:,} x {d:,} looks and {m:,} tags, six an item, R={r}",
            Data("tagged", "tagged_items", {"n_items": n, "n_features": d, "n_tags": m}),
            (
                Contender(f"{OURS}, float32 looks, sparse tags", "ours", settings, ours=True),
                Contender(f"{OURS}, float64 looks, sparse tags", "ours", {**settings, "dtype": "float64"}, ours=True),
                Contender(f"{OURS}, float32, dense tags", "ours", {**settings, "dense": True}, ours=True),
                Contender(
                    f"{OURS}, float64, dense tags", "ours", {**settings, "dtype": "float64", "dense": True}, ours=True
                ),
                Contender("plain NumPy, float64, symmetric eigenvectors", "plain", settings),
                Contender("plain NumPy, float64, equation (12)", "plain", {**settings, "symmetric": False}),
                Contender("cca-zoo RidgeCCA, float64", "cca_zoo", settings, "cca-zoo"),
            ),
            repeats=repeats,
        ),
        Case(
            "2,000 x 100 looks and 60 tags, almost no ridge, R=8",
            Data("small", "tagged_items", {"n_items": 2_000, "n_features": 100, "n_tags": 60}),
            (
                Contender(
                    f"{OURS}, float64, dense tags", "ours", {**SMALL, "dtype": "float64", "dense": True}, ours=True
                ),
                Contender("scikit-learn CCA", "sklearn_cca", {"n_tags": 60, "r": 8}),
                Contender("cca-zoo RidgeCCA", "cca_zoo", SMALL, "cca-zoo"),
                Contender("plain NumPy, symmetric eigenvectors", "plain", SMALL),
            ),
            repeats=3,
        ),
    ]
    if large:  # how much memory a fit takes; the looks stay on disk
        found.append(
            Case(
                "269,648 x 1,024 looks, memory-mapped, and 1,000 tags, R=128",
                Data("nus-wide-size", "tagged_items", {"n_items": 269_648, "n_features": 1_024, "n_tags": 1_000}),
                (Contender(f"{OURS}, float32 looks, sparse tags", "ours", {"n_tags": 1_000, "r": 128}, ours=True),),
                repeats=2,
                memory_map=True,
            )
        )
    return found


def tagged_items(folder: Path, n_items: int, n_features: int, n_tags: int, per_item: int = 6) -> None:
    """Items of forty topics, in blocks. view0: looks, float32; view1: the numbers of each item's tags, int32."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, n_features)).astype(np.float32)
    favoured = np.where(np.arange(n_tags) % 40 == np.arange(40)[:, None], 2.0, -2.0)
    looks = np.lib.format.open_memmap(folder / "view0.npy", "w+", np.float32, (n_items, n_features))
    tags = np.empty((n_items, per_item), dtype=np.int32)
    for start in range(0, n_items, 10_000):
        rows = slice(start, min(start + 10_000, n_items))
        count = rows.stop - rows.start
        topics = rng.integers(40, size=count)
        looks[rows] = centres[topics] + 2 * rng.standard_normal((count, n_features), dtype=np.float32)
        keys = favoured[topics] + rng.gumbel(size=(count, n_tags))
        tags[rows] = np.sort(np.argpartition(-keys, per_item, axis=1)[:, :per_item], axis=1)
    looks.flush()
    np.save(folder / "view1.npy", tags)


def _tags(numbers: np.ndarray, n_tags: int) -> Any:
    from scipy.sparse import csr_matrix

    ends = np.arange(0, numbers.size + 1, numbers.shape[1], dtype=np.int32)
    return csr_matrix((np.ones(numbers.size, dtype=np.float32), numbers.ravel(), ends), shape=(len(numbers), n_tags))


def _dense(views: list[np.ndarray], n_tags: int) -> tuple[np.ndarray, np.ndarray]:
    return views[0].astype(np.float64), _tags(views[1], n_tags).toarray().astype(np.float64)


def ours(
    views: list[np.ndarray],
    threads: int,
    n_tags: int,
    r: int,
    ridge: float = 1.0,
    dtype: str = "float32",
    dense: bool = False,
) -> Fit:
    from manyview import CanonicalFusion

    looks: Any = views[0] if views[0].dtype == dtype else views[0].astype(dtype)
    tags = _tags(views[1], n_tags)
    tags = tags.toarray().astype(dtype) if dense else tags

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        CanonicalFusion(r, regularization=ridge, n_jobs=threads).fit([looks, tags])
        return {"iterations": 0}

    return fit


def plain(
    views: list[np.ndarray], threads: int, n_tags: int, r: int, ridge: float = 1.0, symmetric: bool = True
) -> Fit:
    looks, tags = _dense(views, n_tags)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        plain_cca(looks, tags, r, ridge, symmetric)
        return {"iterations": 0}

    return fit


def plain_cca(V: np.ndarray, S: np.ndarray, r: int, ridge: float, symmetric: bool) -> tuple[np.ndarray, ...]:
    """Correlations and both projections, from covariances."""
    V, S = V - V.mean(axis=0), S - S.mean(axis=0)
    n = len(V) - 1
    Cvv, Css, Cvs = V.T @ V / n, S.T @ S / n, V.T @ S / n
    Cvv += ridge * np.trace(Cvv) / len(Cvv) * np.eye(len(Cvv))
    Css += ridge * np.trace(Css) / len(Css) * np.eye(len(Css))
    if not symmetric:
        values, Q = np.linalg.eig(np.linalg.solve(Css, Cvs.T) @ np.linalg.solve(Cvv, Cvs))
        best = np.argsort(-values.real)[:r]
        correlations, Q = np.sqrt(values.real[best]), Q.real[:, best]
        return correlations, np.linalg.solve(Cvv, Cvs @ Q) / correlations, Q
    L, K = np.linalg.cholesky(Cvv), np.linalg.cholesky(Css)
    T = np.linalg.solve(K, np.linalg.solve(L, Cvs).T).T
    values, Y = np.linalg.eigh(T.T @ T)
    correlations, Y = np.sqrt(values[::-1][:r]), Y[:, ::-1][:, :r]
    return correlations, np.linalg.solve(L.T, T @ Y / correlations), np.linalg.solve(K.T, Y)


def cca_zoo(views: list[np.ndarray], threads: int, n_tags: int, r: int, ridge: float = 1.0) -> Fit:
    from cca_zoo.linear import RidgeCCA

    looks, tags = (X / np.sqrt(X.var(axis=0).mean()) for X in _dense(views, n_tags))
    shrinkage = ridge / (1.0 + ridge)  # (1 - c) C + c I is a multiple of C + ridge I

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        RidgeCCA(n_components=r, shrinkage=shrinkage).fit([looks, tags])
        return {"iterations": 0}

    return fit


def sklearn_cca(views: list[np.ndarray], threads: int, n_tags: int, r: int) -> Fit:
    from sklearn.cross_decomposition import CCA

    looks, tags = _dense(views, n_tags)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        return {"iterations": int(max(CCA(r).fit(looks, tags).n_iter_))}

    return fit
