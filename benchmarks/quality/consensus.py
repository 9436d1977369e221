"""Consensus clustering on eleven development collections, beside k-means that gets the same scaling and weighting.

NMI is divided by the mean entropy. The honest baseline: k-means, ten starts, on the concatenation of the views, dense
ones min-max scaled and divided by their mean length, sparse ones weighted and reduced exactly as for the consensus. The
numbers of clusters are those of the classes. Settings of the consensus are its defaults unless a row says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from manyview import ConsensusClustering, Views, metrics

from .collections import data_folder, sparse_block
from .table import Table

FIGURES = ("ACC", "NMI")
COLLECTIONS: dict[str, tuple[str, ...]] = {
    "handwritten_numerals": ("fou", "fac", "kar", "pix", "zer", "mor"),
    "cub_image_text": ("image_googlenet", "text_doc2vec"),
    "scene15": ("v1_20", "v2_59", "v3_40"),
    "leaves100": ("margin", "texture"),
    "three_sources": ("bbc", "guardian", "reuters"),
    "bbcsport": ("seg1", "seg2"),
    "reuters_multilingual_1200": ("lang1", "lang2", "lang3", "lang4", "lang5"),
    "ccv_video": ("v1_20", "v2_20", "v3_20"),
    "cora": ("content", "cites"),
    "corel5k": ("blobs", "tags"),
    "newsgroups_ten": ("body", "subject"),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "consensus, defaults": {},
    "consensus, alpha 0.5": {"alpha": 0.5},
    "consensus, min-max": {"scale": "minmax"},
}


def tables(quick: bool) -> Iterator[Table]:
    names = ("three_sources", "bbcsport") if quick else tuple(COLLECTIONS)
    seeds = 1 if quick else 3
    means: dict[str, list[dict[str, float]]] = {}
    for name in names:
        loaded = load(name)
        if loaded is None:
            yield Table(f"{name}: no such file in MANYVIEW_DATA", FIGURES)
            continue
        X, y = loaded
        table = Table(f"{name}: {X}, {len(np.unique(y))} classes", FIGURES)
        for method, fit in methods(X).items():
            runs = [score(y, fit(len(np.unique(y)), seed)) for seed in range(seeds)]
            table.add(method, runs)
            means.setdefault(method, []).append({key: float(np.mean([run[key] for run in runs])) for key in FIGURES})
        yield table
    yield summary(means)


def summary(means: dict[str, list[dict[str, float]]]) -> Table:
    """Every method's mean over the collections; the deviation is that between collections."""
    table = Table("mean over the collections", FIGURES)
    for method, runs in means.items():
        table.add(method, runs)
    honest = means.get("k-means, honest baseline", [])
    for method, runs in means.items():
        if runs is not honest and honest:
            above = [sum(a[key] > b[key] for a, b in zip(runs, honest, strict=True)) for key in FIGURES]
            table.notes.append(f"{method}: above k-means on {above[0]} (ACC) and {above[1]} (NMI) of {len(runs)}")
    return table


def methods(X: Views) -> dict[str, Callable[[int, int], np.ndarray]]:
    joined = baseline_points(X)

    def honest(n_clusters: int, seed: int) -> np.ndarray:
        from sklearn.cluster import KMeans

        return KMeans(n_clusters, n_init=10, random_state=seed).fit(joined).labels_

    def consensus(settings: dict[str, Any]) -> Callable[[int, int], np.ndarray]:
        return lambda k, seed: ConsensusClustering(k, random_state=seed, **settings).fit(X).labels_

    return {"k-means, honest baseline": honest} | {name: consensus(given) for name, given in VARIANTS.items()}


def baseline_points(X: Views) -> np.ndarray:
    from manyview.methods.preparation import prepared_views

    return np.hstack([matrix for _, matrix in prepared_views(X, "minmax").items()])


def score(y: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    return {
        "ACC": metrics.clustering_accuracy(y, labels),
        "NMI": metrics.normalized_mutual_info(y, labels),
    }


def load(name: str) -> tuple[Views, np.ndarray] | None:
    """The views of a collection as they are, sparse ones in their own counts or weights; None where it is missing."""
    folder = data_folder()
    if folder is None or not (folder / f"{name}.npz").is_file():
        return None
    with np.load(folder / f"{name}.npz", allow_pickle=False) as stored:
        views = {}
        for view in COLLECTIONS[name]:
            key = "tags" if view == "tags" else f"view_{view}"
            views[view] = stored[key] if key in stored.files else sparse_block(stored, key)
        return Views(views), stored["y"].astype(np.int64)
