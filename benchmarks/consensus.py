"""Rows for ConsensusClustering: how its time grows with the number of items, beside one fit of scikit-learn's k-means.

Two generated dense views of 50 and 30 features, twenty overlapping clusters: easy data, this says what it costs.
The slope between two rows is ln(time ratio) / ln(size ratio); ``python -m benchmarks.consensus`` prints it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from .harness import Case, Contender, Data
from .worker import Fit

SIZES, LARGE, QUICK = (10_000, 100_000), 1_000_000, (2_000, 4_000)
WIDTHS, K = (50, 30), 20


def cases(quick: bool, large: bool) -> list[Case]:
    sizes = QUICK if quick else (*SIZES, LARGE) if large else SIZES
    return [
        Case(
            f"{n_items:,} items, two views of {WIDTHS[0]} and {WIDTHS[1]} features, K = {K}, whole fit",
            Data(f"items{n_items}", "items", {"n_items": n_items}),
            (
                Contender("manyview ConsensusClustering", "consensus", ours=True),
                Contender("scikit-learn KMeans, joined, ten starts", "kmeans"),
            ),
            repeats=1 if n_items == LARGE else 3,
        )
        for n_items in sizes
    ]


def items(folder: Path, n_items: int, seed: int = 0) -> None:
    """view0, view1 and the classes they overlap in."""
    views, y = generate(n_items, seed)
    for number, view in enumerate(views):
        np.save(folder / f"view{number}.npy", view)
    np.save(folder / "y.npy", y)


def generate(n_items: int, seed: int = 0) -> tuple[list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(K, size=n_items)
    views = []
    for width in WIDTHS:
        view = rng.standard_normal((n_items, width), dtype=np.float32)
        view += rng.standard_normal((K, width), dtype=np.float32)[y]
        views.append(view)
    return views, y


def consensus(views: list[np.ndarray], threads: int) -> Fit:
    from manyview import ConsensusClustering

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = ConsensusClustering(K, random_state=seed, n_jobs=threads).fit(views)
        return {"iterations": 0, "labels": model.labels_}

    return fit


def kmeans(views: list[np.ndarray], threads: int) -> Fit:
    from sklearn.cluster import KMeans

    joined = np.hstack(views)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = KMeans(K, n_init=10, random_state=seed).fit(joined)
        return {"iterations": int(model.n_iter_), "labels": model.labels_}

    return fit


def main() -> None:
    """Time of each step and the slope, in CPU seconds of one process: ``python -m benchmarks.consensus [SIZE ...]``."""
    import resource

    from manyview import ConsensusClustering

    from .worker import accuracy

    ConsensusClustering(K, n_jobs=1).fit(generate(9_000)[0])  # compile both ways of finding neighbours
    before: tuple[int, float] | None = None
    for n_items in [int(size) for size in sys.argv[1:]] or list(SIZES):
        views, y = generate(n_items)
        started = time.process_time()
        model = ConsensusClustering(K, n_jobs=1, verbose=1).fit(views)
        spent = time.process_time() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        slope = "" if before is None else f", slope {np.log(spent / before[1]) / np.log(n_items / before[0]):.2f}"
        print(f"{n_items:,} items: {spent:.1f} CPU s, peak {peak:.2f} GB, ACC {accuracy(y, model.labels_):.3f}{slope}")
        before = (n_items, spent)


if __name__ == "__main__":
    main()
