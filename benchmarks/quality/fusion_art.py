"""FusionART on two of its paper's collections, ten orders each, and a stream in four parts beside one pass.

The paper's third collection, NUS-WIDE, is not here, and its visual features of Corel are not either: blobs stand in
for them. Settings are the paper's (vigilance 0.1 everywhere) and were not chosen by looking at classes; the rows with
another vigilance show how much depends on it. Semi-supervised rows leave the items a person named out of the figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview import FusionART, metrics

from .collections import data_folder, sparse_block, tf_idf
from .table import Table

FIGURES = ("clusters", "purity", "precision", "NMI")
COREL_TOPICS = (0, 1, 30, 2, 47, 26)


def tables(quick: bool) -> Iterator[Table]:
    for name, load, published in (
        ("newsgroups_ten", newsgroups, {"pass": "purity .7994", "told": ".8435", "fuzzy": ".7538", "k-means": ".6826"}),
        ("corel5k", corel, {"pass": "purity .8975", "told": ".9176", "k-means": ".726"}),
    ):
        folder = data_folder()
        if folder is None or not (folder / f"{name}.npz").is_file():
            yield Table(f"{name}: no such file in MANYVIEW_DATA", FIGURES)
        else:
            with np.load(folder / f"{name}.npz", allow_pickle=False) as stored:
                views, y, title = load(stored)
            yield compare(title, views, y, published, 2 if quick else 10)


def newsgroups(stored: Any) -> tuple[dict[str, Any], np.ndarray, str]:
    """Body as tf-idf, and the words of the group's name as tags, as the paper does."""
    from scipy.sparse import csr_matrix

    names = [str(name).split(".") for name in stored["class_names"]]
    words = sorted({word for name in names for word in name})
    known = np.array([[float(word in name) for word in words] for name in names])
    y = stored["y"].astype(np.int64)
    views = {"body": tf_idf(sparse_block(stored, "view_body")), "category": csr_matrix(known[y])}
    return (
        views,
        y,
        f"newsgroups: {y.size:,} messages, ten groups; words of the body, words of the group's name as tags",
    )


def corel(stored: Any) -> tuple[dict[str, Any], np.ndarray, str]:
    rows = np.flatnonzero(np.isin(stored["y"], COREL_TOPICS))
    blobs, tags = (sparse_block(stored, name)[rows] for name in ("view_blobs", "tags"))
    title = (
        f"corel: {rows.size} photos of topics {', '.join(map(str, COREL_TOPICS))}; blobs as content, keywords as tags"
    )
    return {"blobs": blobs.toarray(), "keywords": tags}, stored["y"][rows].astype(np.int64), title


def compare(title: str, views: dict[str, Any], y: np.ndarray, published: dict[str, str], n_orders: int) -> Table:
    kinds = np.unique(y)
    runs: dict[str, list[dict[str, float]]] = {}
    notes = {}
    for seed in range(n_orders):
        rng = np.random.default_rng(1000 + seed)
        for row, (labels, kept, note) in _rows(views, y, kinds, seed, rng).items():
            runs.setdefault(row, []).append(_figures(y[kept], labels[kept]))
            notes[row] = published.get(note, "")
    table = Table(f"{title}; {n_orders} orders", FIGURES)
    for row, found in runs.items():
        table.add(row, found, notes[row])
    return table


def _rows(
    views: dict[str, Any], y: np.ndarray, kinds: np.ndarray, seed: int, rng: np.random.Generator
) -> dict[str, tuple[np.ndarray, Any, str]]:
    every = slice(None)
    hints = np.full(y.size, -1)
    for number, kind in enumerate(kinds):
        hints[rng.choice(np.flatnonzero(y == kind), 3, replace=False)] = number
    found: dict[str, tuple[np.ndarray, Any, str]] = {}
    for row, settings, note in (
        ("GHF-ART, one pass", {}, "pass"),
        ("GHF-ART, then a second look, clusters of 1 % and more", {"min_size": 0.01}, ""),
        ("GHF-ART, vigilance 0.3 for tags", {"vigilance": {"tags": 0.3}}, ""),
        ("GHF-ART, vigilance 0.6 for tags", {"vigilance": {"tags": 0.6}}, ""),
        ("Fusion ART (fuzzy tags)", {"tag_learning": "fuzzy"}, "fuzzy"),
    ):
        found[row] = (FusionART(random_state=seed, **settings).fit(views).labels_, every, note)
    told = FusionART(random_state=seed).fit(views, hints).labels_
    found["GHF-ART(SS), three items of each class named"] = (told, hints < 0, "told")
    found["GHF-ART, four subsets one after the other"] = (_stream(views, y.size, rng), every, "")
    found[f"k-means on unit rows side by side, k = {kinds.size}"] = (_kmeans(views, kinds.size, seed), every, "k-means")
    return found


def _stream(views: dict[str, Any], n_items: int, rng: np.random.Generator) -> np.ndarray:
    labels = np.empty(n_items, dtype=np.int64)
    model = FusionART()
    for rows in np.array_split(rng.permutation(n_items), 4):
        labels[rows] = model.partial_fit({name: view[rows] for name, view in views.items()}).labels_
    return labels


def _kmeans(views: dict[str, Any], k: int, seed: int) -> np.ndarray:
    from scipy.sparse import csr_matrix, hstack
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    joined = hstack([normalize(csr_matrix(view)) for view in views.values()]).tocsr()
    return KMeans(k, n_init=1, max_iter=50, random_state=seed).fit_predict(joined)


def _figures(y: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    return {
        "clusters": float(np.unique(labels).size),
        "purity": metrics.purity(y, labels),
        "precision": metrics.average_precision(y, labels),
        "NMI": metrics.normalized_mutual_info(y, labels),
    }
