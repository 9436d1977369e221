"""Robust multi-view k-means: the paper's tables (``manyview papers rmkmc``), and its variants on other collections.

NMI is divided by the larger entropy, as the paper's figures are. The honest baseline stands in every table: k-means,
ten starts, on concatenated views that are prepared as ours are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview import ConcatenatedKMeans, RobustMultiviewKMeans, SingleViewKMeans, Views, metrics
from manyview.datasets import load_handwritten

from .consensus import load
from .paper import paper_tables
from .table import Table

FIGURES = ("ACC", "NMI", "purity")
PAPER = {"view_scale": "minmax"}
OTHERS = (
    "scene15",
    "leaves100",
    "ccv_video",
    "cub_image_text",
    "three_sources",
    "bbcsport",
    "reuters_multilingual_1200",
)


def tables(quick: bool) -> Iterator[Table]:
    yield from paper_tables("rmkmc", quick)
    X, y = load_handwritten(return_X_y=True)
    yield defaults("handwritten numerals", X, y, 1 if quick else 10)
    for name in OTHERS[:1] if quick else OTHERS:
        loaded = load(name)
        if loaded is None:
            yield Table(f"{name}: no such file in MANYVIEW_DATA", FIGURES)
        else:
            yield defaults(name, *loaded, 1 if quick else 5)


def defaults(name: str, X: Views, y: np.ndarray, n_seeds: int) -> Table:
    """Our defaults, best of ten starts by the objective, beside the variants and the baseline."""
    table = Table(f"{name}: {X}, {len(np.unique(y))} classes; best of ten starts by objective", FIGURES)
    variants: dict[str, dict[str, Any]] = {
        "RMKMC, defaults": {},
        "RMKMC, min-max": PAPER,
        "RMKMC, exact assignment": {"assign": "exact"},
        "RMKMC, mean distance": {"view_scale": ("minmax", "mean_distance")},
        "SMKMC": {"view_weights": "equal"},
        "SMKMC, mean distance": {"view_weights": "equal", "view_scale": ("minmax", "mean_distance")},
    }
    for label, settings in variants.items():
        table.add(label, run(_maker(RobustMultiviewKMeans, **settings), X, y, n_seeds))
    table.add("NKMC (k-means on the concatenation)", run(_maker(ConcatenatedKMeans, **PAPER), X, y, n_seeds))
    table.add("k-means, honest baseline", run(_maker(ConcatenatedKMeans), X, y, n_seeds))
    singles = {view: run(_maker(SingleViewKMeans, view=view), X, y, n_seeds) for view in X.names}
    best = max(singles, key=lambda view: float(np.mean([r["ACC"] for r in singles[view]])))
    table.add(f"best single view, {best} (chosen with the classes)", singles[best])
    return table


def _maker(kind: Any, **settings: Any) -> Any:
    def make(n_clusters: int, seed: int) -> Any:
        return kind(n_clusters, random_state=seed, **settings)

    return make


def run(make: Any, X: Views, y: np.ndarray, n_runs: int) -> list[dict[str, float]]:
    runs = []
    for seed in range(n_runs):
        labels = make(len(np.unique(y)), seed).fit(X).labels_
        runs.append(
            {
                "ACC": metrics.clustering_accuracy(y, labels),
                "NMI": metrics.normalized_mutual_info(y, labels, average="max"),
                "purity": metrics.purity(y, labels),
            }
        )
    return runs
