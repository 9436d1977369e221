"""Rows for AcceleratedKMeans: scikit-learn's two k-means and faiss, from the same start to the same tolerance.

Every contender gets the same centres. scikit-learn and we stop by the same rule; faiss knows no tolerance and is given
as many iterations as that rule took. ``shown`` puts distances and inertia beside the times.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .harness import Case, Contender, Data, blas_kernels
from .worker import Fit

D = 128
OVERLAP, APART = 0.4, 1.5
SETTINGS: dict[str, Any] = {"empty_clusters": "farthest"}  # what scikit-learn does with them


def cases(quick: bool, large: bool) -> list[Case]:
    sizes = [(6_000, (20, 100))] if quick else [(100_000, (81, 1_000))]
    if large:
        sizes.append((20_000, (81,)) if quick else (269_648, (81, 1_000)))
    found = []
    for n_items, numbers in sizes:
        for k in numbers:
            for words, spread in (("overlapping", OVERLAP), ("separate", APART)):
                data = Data(f"{words}-{n_items}-{k}", "blobs", {"n_items": n_items, "n_blobs": k, "spread": spread})
                name = f"{n_items:,} items, d={D}, K={k}, {words} clusters, float32, same start, tolerance 1e-4"
                repeats = 3 if quick or n_items * k > 10**8 else 5
                found += [_case(name, data, k, threads, repeats) for threads in ((1,) if quick or k > 100 else (1, 2))]
    noise = Data("noise", "blobs", {"n_items": 2_000 if quick else 20_000, "n_blobs": 1, "spread": 0.0})
    name = f"{noise.settings['n_items']:,} items, d={D}, K=81, no clusters at all: nothing to prune, same start"
    found.append(_case(name, noise, 81, 1, 5))
    pictures = Data("pictures", "pictures")
    for k in (100, 200):
        name = f"picture embeddings (emoji, photographs, scenes, objects), d=1280, K={k}, same start"
        found.append(_case(name, pictures, k, 1, 5))
    return found


def _case(name: str, data: Data, k: int, threads: int, repeats: int) -> Case:
    contenders = (
        Contender("manyview AcceleratedKMeans", "ours", {"k": k}, ours=True),
        Contender("scikit-learn KMeans, lloyd", "sklearn_kmeans", {"k": k, "algorithm": "lloyd"}),
        Contender("scikit-learn KMeans, elkan", "sklearn_kmeans", {"k": k, "algorithm": "elkan"}),
        Contender("faiss Kmeans, as many iterations", "faiss_kmeans", {"k": k}, variables=blas_kernels()),
    )
    return Case(name, data, contenders, threads=threads, repeats=repeats)


def blobs(folder: Path, n_items: int, n_blobs: int, spread: float, seed: int = 0) -> None:
    """Gaussian blobs; in each feature the centres spread by ``spread`` where the noise is 1."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(scale=spread, size=(n_blobs, D)).astype(np.float32)
    view = np.lib.format.open_memmap(folder / "view0.npy", mode="w+", dtype=np.float32, shape=(n_items, D))
    for start in range(0, n_items, 20_000):
        rows = slice(start, min(start + 20_000, n_items))
        view[rows] = rng.standard_normal((rows.stop - rows.start, D), dtype=np.float32)
        view[rows] += centres[rng.integers(n_blobs, size=rows.stop - rows.start)]
    view.flush()


def pictures(folder: Path) -> None:
    """Embeddings of every picture collection that is there, one below the other."""
    from .quality.pictures import NAMES, picture_collection

    found = [collection.embedding for name in NAMES if (collection := picture_collection(name)) is not None]
    if not found:
        raise FileNotFoundError("no picture collection was found; MANYVIEW_DATA names their folder")
    np.save(folder / "view0.npy", np.concatenate(found))


def _start(X: np.ndarray, k: int) -> np.ndarray:
    return X[np.random.default_rng(1).choice(len(X), min(k, len(X)), replace=False)]


def _shown(inertia: float, n_distances: int | None, n_all: int) -> str:
    share = "" if n_distances is None else f", {n_distances / n_all:.3f} of Lloyd's distances"
    return f"inertia {inertia:.8g}{share}"


def ours(views: list[np.ndarray], threads: int, k: int) -> Fit:
    from manyview import AcceleratedKMeans

    X = views[0]
    start = _start(X, k)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        settings = {**SETTINGS, "max_iter": iterations or 300}
        model = AcceleratedKMeans(len(start), init=start, n_jobs=threads, **settings).fit(X)
        n_all = len(X) * len(start) * (model.n_iter_ + 1)
        return {"iterations": int(model.n_iter_), "shown": _shown(model.inertia_, model.n_distances_, n_all)}

    return fit


def sklearn_kmeans(views: list[np.ndarray], threads: int, k: int, algorithm: str) -> Fit:
    from sklearn.cluster import KMeans

    X = views[0]
    start = _start(X, k)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = KMeans(len(start), init=start, n_init=1, algorithm=algorithm, max_iter=iterations or 300).fit(X)
        return {"iterations": int(model.n_iter_), "shown": _shown(model.inertia_, None, 1)}

    return fit


def faiss_kmeans(views: list[np.ndarray], threads: int, k: int) -> Fit:
    import faiss

    from manyview import AcceleratedKMeans

    faiss.omp_set_num_threads(threads)
    X = views[0]
    start = _start(X, k)
    n_iter = int(AcceleratedKMeans(len(start), init=start, n_jobs=threads, **SETTINGS).fit(X).n_iter_)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        limits = {"min_points_per_centroid": 1, "max_points_per_centroid": len(X)}
        model = faiss.Kmeans(X.shape[1], len(start), niter=iterations or n_iter, **limits)
        model.train(X, init_centroids=start)
        return {"iterations": len(model.iteration_stats), "shown": _shown(float(model.obj[-1]), None, 1)}

    return fit
