"""A dozen items, or two: fits, levels and the number of clusters of draws of 6 to 40 items.

Fitted with the true number; with another (one less, half of it, two more), the tree cut at the true one; and with the
number that is found. "before" had ten neighbours for every item in fits, a quarter of all in the graphs of the number,
and halved clusters from the median, measured once on the same draws and written down here.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from manyview import ConsensusClustering, Views, metrics, suggest_n_clusters

from .draws import Trial
from .n_clusters_rules import class_count
from .table import Table

SETS = ("scene8", "caltech101-7", "flickr8k looks", "flickr8k captions", "flickr8k both", "emoji", "pictures pooled")
SETS += ("three_sources", "bbcsport", "handwritten_numerals", "leaves100", "cora", "scene15")
SEEDS = range(9_500, 9_510)
FEWEST, MOST, TINY = 6, 40, 16
FIGURES = ("items", "ARI true", "ARI cut", "has finer levels", "ARI found", "regret", "below .7", "above 1.5", "exact")
BEFORE = {
    "all": (0.736, 0.640, 0.122, 0.298, 0.048),
    f"up to {TINY} items": (0.784, 0.643, 0.121, 0.216, 0.059),
}
"""ARI with the true number and of cuts; regret of the number, shares below .7 and above 1.5."""


def tables(quick: bool) -> Iterator[Table]:
    warnings.simplefilter("ignore")  # of clusters with next to no items
    rows = [row for seed in (SEEDS[:1] if quick else SEEDS) for row in measure(seed)]
    table = Table("few items", FIGURES)
    for name, most in (("all", MOST), (f"up to {TINY} items", TINY)):
        chosen = [row for row in rows if row["items"] <= most]
        if chosen:
            table.add(name, [{figure: float(np.mean([row[figure] for row in chosen])) for figure in FIGURES}])
            errors = {figure: np.std([row[figure] for row in chosen]) / len(chosen) ** 0.5 for figure in FIGURES[1:6]}
            said = ", ".join(f"{figure} {error:.3f}" for figure, error in errors.items())
            table.notes.append(f"{name}: {len(chosen)} draws; standard errors: {said}")
            table.notes.append(
                "before: ARI true {}, ARI cut {}, regret {}, below .7 {}, above 1.5 {}".format(*BEFORE[name])
            )
    yield table


def measure(seed: int) -> Iterator[dict[str, float]]:
    for place, name in enumerate(SETS):
        rng = np.random.default_rng([seed, place])
        classes, size = min(int(rng.integers(2, 7)), class_count(name)), int(rng.integers(3, 13))
        loaded = Trial("any", name, classes, size, seed).load() if classes else None
        if loaded is None or not FEWEST <= loaded[1].size <= MOST:
            continue
        X, y = loaded
        n_true = int(y.max()) + 1
        others = sorted({max(2, n_true - 1), max(2, n_true // 2), n_true + 2} - {n_true})
        trees = [fitted(X, number) for number in others]
        cuts = [metrics.adjusted_rand_index(y, tree.cut(int(np.clip(n_true, *tree.level_range_)))) for tree in trees]
        number = suggest_n_clusters(X, random_state=0).n_clusters
        direct, found = (metrics.adjusted_rand_index(y, fitted(X, one).labels_) for one in (n_true, number))
        finer = [tree.level_range_[1] > one for one, tree in zip(others, trees, strict=True)]
        yield {
            "items": y.size,
            "ARI true": direct,
            "ARI cut": float(np.mean(cuts)),
            "has finer levels": float(np.mean(finer)),
            "ARI found": found,
            "regret": direct - found,
            "below .7": float(number < 0.7 * n_true),
            "above 1.5": float(number > 1.5 * n_true),
            "exact": float(number == n_true),
        }


def fitted(X: Views, n_clusters: int) -> ConsensusClustering:
    return ConsensusClustering(n_clusters, random_state=0).fit(X)
