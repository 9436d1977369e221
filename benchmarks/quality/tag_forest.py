"""Clusters of tagged pictures when tags go missing: TagForest and its variants beside honest baselines.

As in Table 3 and Figure 6 of the HML-RF paper: 0 to 50 % of the tags are removed at random, and clusters are judged by
classes that no method has seen. Looks are the shipped picture embedding. Settings are the defaults, with fewer trees
than the paper's thousand; nothing was chosen with the classes in view, but every method is told their number (affinity
propagation finds its own).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from manyview import CrossModalClustering, TagForest, TagTable, metrics
from manyview.evaluation import hide_tags
from manyview.methods.forest._clusters import spectral_clusters
from manyview.methods.spectral import cluster_rows

from .pictures import TOPIC_WORDS, PictureCollection, picture_collection
from .table import Table

REMOVED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
FIGURES = tuple(f"{share:.0%}" for share in REMOVED)
VARIANTS: dict[str, dict[str, Any]] = {
    "TagForest (HML-RF)": {},
    "TagForest, FlatTags": {"use_hierarchy": False},
    "TagForest, NoCorr": {"use_correlations": False},
}
PAPER = {  # relative to NMI 0.90 with all tags; no correlations 0.84 and 0.31 at the ends, flat 0.71
    "TagForest (HML-RF)": "paper, TRECVID: .90 .84 .76 .68 .58 .49",
    "TagForest, FlatTags": "paper: .71 at 0 %",
    "TagForest, NoCorr": "paper: .84 at 0 %, .31 at 50 %",
}
Labels = np.ndarray


def tables(quick: bool) -> Iterator[Table]:
    n_trees, n_seeds = (20, 1) if quick else (100, 2)
    for name, kinds in (("flickr8k-captioned", ("label",)), ("emoji", ("group", "subgroup"))):
        found = picture_collection(name)
        if found is None:
            yield Table(f"{name}: no such file in MANYVIEW_DATA", FIGURES)
            continue
        yield from compare(found, kinds, n_trees, n_seeds)


def compare(pictures: PictureCollection, kinds: tuple[str, ...], n_trees: int, n_seeds: int) -> Iterator[Table]:
    """A table of NMI per kind of class: methods by share of tags removed."""
    dropped = TOPIC_WORDS if pictures.name != "emoji" else frozenset()
    words = [[word for word in row if word.lower() not in dropped] for row in pictures.tags]
    whole = TagTable.from_lists(words)
    often = np.flatnonzero(whole.yes.getnnz(axis=0) >= 3)
    whole = TagTable.from_matrix(whole.yes[:, often], [whole.names[i] for i in often])
    truth = {kind: np.unique(pictures.labels[kind], return_inverse=True)[1] for kind in kinds}
    judged = {kind: pictures.labels[kind] != "" for kind in kinds}
    counts = {kind: np.unique(pictures.labels[kind][judged[kind]]).size for kind in kinds}
    figures: dict[str, dict[str, list[dict[str, float]]]] = {kind: {} for kind in kinds}
    for seed in range(n_seeds):
        for share, figure in zip(REMOVED, FIGURES, strict=True):
            left = hide_tags(whole, share, seed)[0] if share else whole
            for method, cluster in methods(pictures.embedding, left, n_trees, seed).items():
                for kind in kinds:
                    runs = figures[kind].setdefault(method, [])
                    if len(runs) <= seed:
                        runs.append({})
                    if share and method.endswith(" on looks"):  # knows no tags: nothing has changed
                        runs[seed][figure] = runs[seed][FIGURES[0]]
                        continue
                    labels = cluster(counts[kind])[judged[kind]]
                    runs[seed][figure] = metrics.normalized_mutual_info(truth[kind][judged[kind]], labels)
    for kind in kinds:
        table = Table(
            f"{pictures.name}: {len(pictures)} pictures, {whole.n_tags} tags on three or more, "
            f"{whole.yes.nnz / len(pictures):.1f} each{', words of the classes dropped' if dropped else ''}; "
            f"{counts[kind]} classes ({kind}); NMI by share of tags removed; {n_trees} trees",
            FIGURES,
        )
        for method, runs in figures[kind].items():
            table.add(method, runs, PAPER.get(method, ""))
        table.notes.append("CCA is CrossModalClustering, which knows the same looks and tags.")
        yield table


def methods(looks: np.ndarray, tags: TagTable, n_trees: int, seed: int) -> dict[str, Callable[[int], Labels]]:
    """Each method as a function from the number of clusters to labels; forests are grown once."""
    unit = tag_rows(tags)
    joined = np.hstack([looks, unit.toarray()])
    found: dict[str, Callable[[int], Labels]] = {}
    for name, settings in VARIANTS.items():
        found[name] = forest(looks, tags, n_trees, seed, settings)
    found["clustering forest on looks"] = forest(looks, None, n_trees, seed, {})
    found["clustering forest on looks and tags"] = forest(joined, None, n_trees, seed, {})
    for what, rows in (("looks", looks), ("tags", unit), ("looks and tags", joined)):
        found[f"k-means on {what}"] = lambda k, rows=rows: cluster_rows(rows, k, seed=seed)[0]
        found[f"spectral on {what}"] = lambda k, rows=rows: spectral(rows, k, seed)
    found["affinity propagation on looks and tags"] = lambda k: affinity_propagation(joined, seed)
    found["CCA on looks and tags"] = lambda k: cca(looks, tags, k, seed)
    return found


def tag_rows(tags: TagTable) -> csr_matrix:
    from sklearn.feature_extraction.text import TfidfTransformer

    return csr_matrix(TfidfTransformer().fit_transform(tags.yes), dtype=np.float32)


def forest(looks: np.ndarray, tags: Any, n_trees: int, seed: int, settings: dict[str, Any]) -> Callable[[int], Labels]:
    """One forest, cut into any number of clusters. Its induced hierarchy is that of the default number of groups."""
    grown: list[TagForest] = []

    def cluster(k: int) -> Labels:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not grown:
                grown.append(TagForest(n_estimators=n_trees, random_state=seed, **settings).fit(looks, tags))
            present = np.ones(looks.shape[0], dtype=bool)
            items, found, _ = spectral_clusters(grown[0].neighbors_, present, k, seed, None)
        labels = np.zeros(looks.shape[0], dtype=np.intp)
        labels[items] = found
        return labels

    return cluster


def spectral(rows: Any, k: int, seed: int) -> Labels:
    """Normalised spectral clustering of the graph of 20 nearest rows by cosine, the same step as the forest's."""
    from sklearn.neighbors import NearestNeighbors

    distances, items = NearestNeighbors(n_neighbors=21, metric="cosine").fit(rows).kneighbors(rows)
    weights = np.maximum(0.0, 1.0 - distances)
    n = rows.shape[0]
    graph = csr_matrix((weights.ravel(), items.ravel(), np.arange(0, items.size + 1, 21)), shape=(n, n))
    graph.setdiag(0)
    graph.eliminate_zeros()
    found, labels, _ = spectral_clusters(csr_matrix(graph), np.ones(n, dtype=bool), k, seed, None)
    every = np.zeros(n, dtype=np.intp)
    every[found] = labels
    return every


def affinity_propagation(rows: np.ndarray, seed: int) -> Labels:
    from sklearn.cluster import AffinityPropagation

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return AffinityPropagation(random_state=seed, max_iter=100).fit(rows.astype(np.float32)).labels_


def cca(looks: np.ndarray, tags: TagTable, k: int, seed: int) -> Labels:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CrossModalClustering(k, random_state=seed).fit({"looks": looks, "tags": tags.yes}).labels_
