"""Rows for TagForest: trees beside scikit-learn's multi-output forests, the affinity beside SciPy's sparse product.

Binning and soft tags are done once per forest and are not in the rows of trees. A forest of a thousand trees is a
thousand times a row, which is an extrapolation. scikit-learn at the size of NUS-WIDE takes minutes a tree and runs with
``--large`` only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .harness import Case, Contender, Data
from .worker import Fit

MED = {"n_items": 2_379, "n_features": 2_000, "n_tags": 114, "per_item": 4.0, "n_kinds": 15}
NUS = {"n_items": 17_523, "n_features": 4_096, "n_tags": 1_000, "per_item": 4.8, "n_kinds": 30}
BAR = {"n_items": 1_500, "n_features": 1_024, "n_tags": 1_000, "per_item": 4.8, "n_kinds": 30}


def cases(quick: bool, large: bool) -> list[Case]:
    bar, med, nus = (
        Data(name, "tagged_items", {**sizes, **({"n_items": 400} if quick else {})})
        for name, sizes in (("bar", BAR), ("trecvid-size", MED), ("nus-wide-size", NUS))
    )
    repeats = 2 if quick else 5
    slow = (Contender("scikit-learn RandomForestRegressor", "sklearn_tree", {"kind": "regressor"}),) if large else ()
    return [
        Case(
            "one tree, 1,500 items, 1,024 features, 1,000 tags",
            bar,
            (
                Contender("manyview, flat hard tags", "tree", {"flat": True}, ours=True),
                Contender("manyview, two layers, soft tags", "tree", {"flat": False}, ours=True),
                Contender("scikit-learn RandomForestRegressor", "sklearn_tree", {"kind": "regressor"}),
            ),
            repeats=repeats,
        ),
        Case(
            "one tree of a thousand at the size of TRECVID (2,379 x 2,000, 114 tags)",
            med,
            (
                Contender("manyview, two layers, soft tags", "tree", {"flat": False}, ours=True),
                Contender("scikit-learn RandomForestClassifier", "sklearn_tree", {"kind": "classifier"}),
                Contender("scikit-learn RandomForestRegressor", "sklearn_tree", {"kind": "regressor"}),
            ),
            repeats=repeats,
        ),
        Case(
            "one tree of a thousand at the size of NUS-WIDE (17,523 x 4,096, 1,000 tags)",
            nus,
            (
                Contender("manyview, two layers, soft tags", "tree", {"flat": False}, ours=True),
                Contender("manyview, flat hard tags", "tree", {"flat": True}, ours=True),
                *slow,
            ),
            repeats=1 if large else 3,
        ),
        Case(
            "affinity of 1,500 items from 1,000 trees",
            bar,
            (
                Contender("manyview, leaf mates and rows", "affinity", {"n_trees": 1000}, ours=True),
                Contender("SciPy sparse product of the leaf matrix", "scipy_product", {"n_trees": 1000}),
            ),
            repeats=repeats,
        ),
        Case(
            "spectral step: 1,500 items, 30 clusters, from a graph of 20 neighbours",
            bar,
            (
                Contender("manyview (Lanczos, ten k-means starts)", "spectral", {"n_trees": 200}, ours=True),
                Contender("scikit-learn SpectralClustering (arpack)", "sklearn_spectral", {"n_trees": 200}),
            ),
            repeats=repeats,
        ),
    ]


def tagged_items(folder: Path, n_items: int, n_features: int, n_tags: int, per_item: float, n_kinds: int) -> None:
    """Items of several kinds with overlapping looks and Zipf-like tags. view0: looks, float32; view1: tags, uint8."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(n_kinds, size=n_items)
    looks = 0.4 * rng.normal(size=(n_kinds, n_features))[kinds] + rng.normal(size=(n_items, n_features))
    chance = rng.dirichlet(np.full(n_tags, 0.03), n_kinds) * per_item
    np.save(folder / "view0.npy", looks.astype(np.float32))
    np.save(folder / "view1.npy", (rng.random((n_items, n_tags)) < chance[kinds]).astype(np.uint8))


def _prepared(views: list[np.ndarray], flat: bool) -> dict[str, Any]:
    """Codes and layers, made once: what is timed is the growing of trees."""
    from manyview import Views
    from manyview.blocks import workers
    from manyview.data.tags import TagTable
    from manyview.methods.forest._bins import Bins, feature_quota
    from manyview.methods.forest._soft_tags import soft_layers
    from manyview.methods.forest._tag_layers import induced_layers

    looks, tags = views
    table = TagTable.from_matrix(tags)
    layers = [np.arange(tags.shape[1])] if flat else induced_layers(table.yes, 2, 30, 0)
    with workers(1) as threads:
        bins, codes = Bins.learn(Views(looks), 255, threads)
    return {
        "codes": codes,
        "layers": soft_layers(table, layers, not flat),
        "items": np.arange(looks.shape[0], dtype=np.int32),
        "quota": feature_quota("sqrt", {"looks": looks.shape[1]}),
        "view_start": np.array([0, looks.shape[1]]),
        "missing": bins.missing,
    }


def _grow(ready: dict[str, Any], seeds: list[int], threads: int) -> Any:
    from manyview.blocks import workers
    from manyview.methods.forest._trees import grow_forest

    with workers(threads) as pool:
        return grow_forest(
            **ready, seeds=seeds, min_leaf=3, min_split=2, n_kept=ready["items"].size, threads=pool, report=lambda: None
        )


def tree(views: list[np.ndarray], threads: int, flat: bool) -> Fit:
    ready = _prepared(views, flat)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        forest, _, _ = _grow(ready, [seed], threads)
        return {"iterations": int(forest.feature.size)}

    return fit


def sklearn_tree(views: list[np.ndarray], threads: int, kind: str) -> Fit:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    looks, tags = views[0], views[1].astype(np.float64)
    make = RandomForestRegressor if kind == "regressor" else RandomForestClassifier

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = make(1, max_features="sqrt", min_samples_leaf=3, bootstrap=False, n_jobs=threads, random_state=seed)
        return {"iterations": int(model.fit(looks, tags).estimators_[0].tree_.node_count)}

    return fit


def affinity(views: list[np.ndarray], threads: int, n_trees: int) -> Fit:
    from manyview.blocks import workers
    from manyview.methods.forest._trees import Mates

    forest, leaves, _ = _grow(_prepared(views, True), list(range(n_trees)), threads)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        with workers(threads) as pool:
            return {"iterations": int(Mates(leaves, forest.leaf_start, pool).affinity(pool).nnz)}

    return fit


def scipy_product(views: list[np.ndarray], threads: int, n_trees: int) -> Fit:
    from scipy.sparse import csr_matrix

    forest, leaves, _ = _grow(_prepared(views, True), list(range(n_trees)), threads)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        columns = (leaves + forest.leaf_start[None, :-1]).ravel()
        ends = np.arange(0, columns.size + 1, n_trees)
        shape = (leaves.shape[0], int(forest.leaf_start[-1]))
        Z = csr_matrix((np.ones(columns.size, dtype=np.float32), columns, ends), shape=shape)
        A = Z @ Z.T
        A.data /= n_trees
        return {"iterations": int(A.nnz)}

    return fit


def _graph(views: list[np.ndarray], threads: int, n_trees: int) -> Any:
    from manyview.blocks import workers
    from manyview.methods.forest._trees import Mates

    forest, leaves, _ = _grow(_prepared(views, True), list(range(n_trees)), threads)
    with workers(threads) as pool:
        return Mates(leaves, forest.leaf_start, pool).nearest(20, pool)


def spectral(views: list[np.ndarray], threads: int, n_trees: int) -> Fit:
    from manyview.methods.forest._clusters import spectral_clusters

    nearest = _graph(views, threads, n_trees)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        present = np.ones(nearest.shape[0], dtype=bool)
        return {"iterations": 0, "labels": spectral_clusters(nearest, present, 30, seed, threads)[1]}

    return fit


def sklearn_spectral(views: list[np.ndarray], threads: int, n_trees: int) -> Fit:
    from sklearn.cluster import SpectralClustering

    nearest = _graph(views, threads, n_trees)
    graph = nearest.maximum(nearest.T)

    def fit(iterations: int | None, seed: int) -> dict[str, Any]:
        model = SpectralClustering(30, affinity="precomputed", n_jobs=threads, random_state=seed).fit(graph)
        return {"iterations": 0, "labels": model.labels_}

    return fit
