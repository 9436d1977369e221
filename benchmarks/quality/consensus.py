"""Consensus clustering on every shared collection, beside k-means on the same prepared views and a graph method.

NMI is divided by the mean entropy; three seeds; the numbers of clusters are those of the classes. Views that items
lack: ``quality missing``; views made poor on purpose: ``quality poor_views``.
``--leave-one-out`` repeats every choice of a constant without each collection in turn: what the others would have
chosen, and what it is worth there.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from manyview import ConcatenatedKMeans, ConsensusClustering, Views, metrics
from manyview.errors import ViewWarning

from .collections import data_folder, sparse_block
from .table import Table

FIGURES = ("ACC", "NMI")
COLLECTIONS: dict[str, tuple[str, ...]] = {
    "handwritten_numerals": ("fou", "fac", "kar", "pix", "zer", "mor"),
    "cub_image_text": ("image_googlenet", "text_doc2vec"),
    "scene15": ("v1_20", "v2_59", "v3_40"),
    "leaves100": ("shape", "margin", "texture"),
    "three_sources": ("bbc", "guardian", "reuters"),
    "bbcsport": ("seg1", "seg2"),
    "reuters_multilingual_1200": ("lang1", "lang2", "lang3", "lang4", "lang5"),
    "webkb_course": ("page", "anchor"),
    "ccv_video": ("v1_20", "v2_20", "v3_20"),
    "cora": ("content", "cites"),
    "corel5k": ("blobs", "tags"),
    "newsgroups_ten": ("body", "subject"),
}
OURS, HONEST = "consensus, defaults", "k-means, prepared views"
MOST_FOR_NEMO = 5_000  # items: it makes n x n matrices
SMALL = 3_000  # items up to which views are spoilt and constants are tried


def tables(quick: bool) -> Iterator[Table]:
    names = ("three_sources", "bbcsport") if quick else tuple(COLLECTIONS)
    seeds = 1 if quick else 3
    means: dict[str, dict[str, dict[str, float]]] = {}
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
            means.setdefault(method, {})[name] = {key: float(np.mean([run[key] for run in runs])) for key in FIGURES}
        yield table
    yield summary(means)


def summary(means: dict[str, dict[str, dict[str, float]]]) -> Table:
    """Every method's mean over the collections it ran on; and ours against each of the others, wins and losses."""
    table = Table("mean over the collections", FIGURES)
    ours = means.get(OURS, {})
    for method, by_name in means.items():
        table.add(method, list(by_name.values()))
        if by_name is ours:
            continue
        wins = [name for name in by_name if ours[name]["NMI"] > by_name[name]["NMI"] + 0.005]
        losses = [name for name in by_name if ours[name]["NMI"] < by_name[name]["NMI"] - 0.005]
        said = f" ({', '.join(losses)})" if losses else ""
        table.notes.append(f"NMI against {method}: {len(wins)} wins, {len(losses)} losses of {len(by_name)}{said}")
    return table


def methods(X: Views) -> dict[str, Callable[[int, int], np.ndarray]]:
    from manyview.methods.preparation import prepared_views

    from .nemo import nemo

    def kmeans(**settings: Any) -> Callable[[int, int], np.ndarray]:
        return lambda k, seed: ConcatenatedKMeans(k, random_state=seed, **settings).fit(X).labels_

    def consensus(**settings: Any) -> Callable[[int, int], np.ndarray]:
        return lambda k, seed: ConsensusClustering(k, random_state=seed, **settings).fit(X).labels_

    made = {
        HONEST: kmeans(),
        "k-means, min-max": kmeans(view_scale=("minmax", "mean_distance")),
        OURS: consensus(),
        "consensus, ranks": consensus(scale="rank"),
    }
    if X.n_items <= MOST_FOR_NEMO:
        prepared = prepared_views(X)
        made["NEMO, prepared views"] = lambda k, seed: nemo(prepared, k, seed)
    return made


def fitted(X: Views, n_clusters: int, seed: int = 0) -> tuple[np.ndarray, bool]:
    """Labels of the defaults, and whether views were said to tell different stories."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ViewWarning)
        model = ConsensusClustering(n_clusters, random_state=seed).fit(X)
    return model.labels_, model.views_disagree_


def leave_one_out() -> Iterator[Table]:
    """For every constant: the value that all other collections would have chosen, and the NMI it gives on each."""
    from manyview.methods import preparation
    from manyview.methods.consensus import _candidates, _say

    constants: dict[str, tuple[Any, str, tuple[float, ...]]] = {
        "gate of another scaling": (preparation, "_CLEARLY", (1.05, 1.10, 1.20)),
        "what even sizes count": (_candidates, "_EVENNESS", (0.0, 0.02, 0.05)),
        "support for a full say": (_say, "_FULL", (0.1, 0.25, 0.5)),
    }
    loaded = {name: found for name in COLLECTIONS if (found := load(name)) is not None}
    collections = {name: found for name, found in loaded.items() if found[0].n_items <= SMALL}
    for what, (module, constant, values) in constants.items():
        usual = getattr(module, constant)
        scores = np.zeros((len(collections), len(values)))
        for v, value in enumerate(values):
            setattr(module, constant, value)
            for c, (X, y) in enumerate(collections.values()):
                labels = fitted(X, len(np.unique(y)))[0]
                scores[c, v] = metrics.normalized_mutual_info(y, labels)
        setattr(module, constant, usual)
        table = Table(f"{what}: {usual:g} of {values}", ("usual", "chosen by the others"))
        for c, name in enumerate(collections):
            chosen = int(np.argmax(np.delete(scores, c, axis=0).mean(axis=0)))
            there = {"usual": scores[c, values.index(usual)], "chosen by the others": scores[c, chosen]}
            table.add(f"{name}: {values[chosen]:g}", [there])
        yield table


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
            is_sparse = f"{key}_data" in stored.files
            views[view] = sparse_block(stored, key) if is_sparse else stored[key]
        return Views(views), stored["y"].astype(np.int64)
