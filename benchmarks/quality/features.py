"""How much each offline feature knows: k-means per view. Six of them together are RMKMC's Table 3 (``rmkmc``).

Everything is computed from pixels. Classes are used for judging only; every extractor is at its defaults. Rows are
scaled to length one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview import BagOfWords, metrics
from manyview.features.base import extractor_names
from manyview.features.transformed import Transformed

from .pictures import PictureCollection, picture_collection
from .table import Table

FIGURES = ("ACC", "NMI", "purity")
KNOWN = {  # measured when the model was prepared: accuracy and NMI of k-means on unit rows
    ("scene8", "embedding"): ".89 .85",
    ("scene8", "color_histogram"): ".24 .08",
    ("scene8", "hog"): ".45 .40",
    ("caltech101-7", "embedding"): ".86 .94",
    ("caltech101-7", "color_histogram"): ".40 .27",
    ("caltech101-7", "hog"): ".70 .65",
    ("flickr8k-captioned", "embedding"): ".80 .67",
    ("flickr8k-captioned", "color_histogram"): ".32 .19",
    ("flickr8k-captioned", "hog"): ".23 .08",
}


def tables(quick: bool) -> Iterator[Table]:
    for name in ("caltech101-7",) if quick else ("scene8", "caltech101-7", "flickr8k-captioned"):
        pictures = picture_collection(name)
        yield missing(name) if pictures is None else single_views(pictures, 1 if quick else 5)


def missing(name: str) -> Table:
    return Table(f"{name}: no such file in MANYVIEW_DATA", FIGURES)


def view(pictures: PictureCollection, name: str) -> np.ndarray:
    """The rows of one view; those of 128 visual words are shares of the words (SIFT on a grid)."""
    if name != "sift":
        return pictures.view(name)
    counts = pictures.learned(Transformed("sift", BagOfWords(128, random_state=0)))
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def single_views(pictures: PictureCollection, n_seeds: int) -> Table:
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    known = pictures.labels["label"] != ""
    y = np.unique(pictures.labels["label"][known], return_inverse=True)[1]
    table = Table(f"{pictures.name}: k-means on each view alone, unit rows, best of ten starts", FIGURES)
    for name in (*extractor_names("picture"), "sift"):
        rows = view(pictures, name)
        runs = []
        for seed in range(n_seeds):
            labels = KMeans(len(np.unique(y)), n_init=10, random_state=seed).fit(normalize(rows)[known]).labels_
            runs.append(judge(y, labels))
        table.add(f"{name}, {rows.shape[1]}", runs, KNOWN.get((pictures.name, name), ""))
    table.notes.append("published: accuracy and NMI measured when the model was prepared, by other code.")
    return table


def judge(y: np.ndarray, labels: Any) -> dict[str, float]:
    return {
        "ACC": metrics.clustering_accuracy(y, labels),
        "NMI": metrics.normalized_mutual_info(y, labels),
        "purity": metrics.purity(y, labels),
    }
