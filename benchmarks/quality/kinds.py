"""Documents beside photographs, which have no view in common: is each kind clustered as well as it can be?

Draws of two shared sets in one collection, fitted with the true number and with seven tenths of it. "Mixed" is how
often a cluster holds items of both kinds, "mixed, coarsest" whether one of the two clusters of the coarsest level does.
"before" is without what keeps kinds apart, measured once on the same draws and written down here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_matrix, issparse, vstack

from manyview import ConsensusClustering, Views, metrics

from .draws import Trial
from .table import Table

PHOTOGRAPHS, DOCUMENTS = ("scene8", "pictures pooled", "flickr8k both"), ("newsgroups_ten", "bbcsport")
SEEDS = range(24, 56)
FEWER = 0.7
FIGURES = ("items", "ARI", "ARI of photographs", "ARI of documents", "mixed", "mixed, coarsest")
BEFORE = (0.632, 0.694, 0.394, 0.328, 0.578)
"""The five figures behind the number of items."""


def tables(quick: bool) -> Iterator[Table]:
    table = Table("documents beside photographs", FIGURES)
    found = [row for seed in (SEEDS[:2] if quick else SEEDS) for row in measure(seed)]
    if found:
        table.add("all", [{name: float(np.mean([row[name] for row in found])) for name in FIGURES}])
    sizes = [row["items"] for row in found]
    table.notes.append("before: " + ", ".join(f"{name} {one}" for name, one in zip(FIGURES[1:], BEFORE, strict=True)))
    table.notes.append(f"{len(found)} fits of {min(sizes, default=0):.0f} to {max(sizes, default=0):.0f} items")
    yield table


def measure(seed: int) -> Iterator[dict[str, float]]:
    """The fits of one draw."""
    rng = np.random.default_rng(1_900 + seed)
    drawn = [
        Trial(kind, sets[seed % len(sets)], int(rng.integers(2, 6)), int(rng.integers(4, most)), seed).load()
        for kind, sets, most in (("pictures", PHOTOGRAPHS, 40), ("text", DOCUMENTS, 50))
    ]
    if drawn[0] is None or drawn[1] is None:
        return
    (photographs, of_photographs), (documents, of_documents) = drawn
    y = np.concatenate([of_photographs, of_documents + of_photographs.max() + 1])
    is_text = np.arange(y.size) >= of_photographs.size
    X = beside(photographs, documents)
    n_true = int(y.max()) + 1
    for n_clusters in (n_true, max(2, round(FEWER * n_true))):
        model = ConsensusClustering(n_clusters, random_state=0).fit(X)
        labels, coarsest = model.labels_, model.cut(model.level_range_[0])
        yield {
            "items": y.size,
            "ARI": metrics.adjusted_rand_index(y, labels),
            "ARI of photographs": metrics.adjusted_rand_index(y[~is_text], labels[~is_text]),
            "ARI of documents": metrics.adjusted_rand_index(y[is_text], labels[is_text]),
            "mixed": float(np.isin(labels[is_text], labels[~is_text]).any()),
            "mixed, coarsest": float(np.isin(coarsest[is_text], coarsest[~is_text]).any()),
        }


def beside(first: Views, second: Views) -> Views:
    """One collection of both, whose items lack the views of the others."""
    found = {}
    for number, (views, above, below) in enumerate(((first, 0, second.n_items), (second, first.n_items, 0))):
        for name in views.names:
            rows = views[name]
            if issparse(rows):
                parts = [csr_matrix((above, rows.shape[1])), rows, csr_matrix((below, rows.shape[1]))]
                found[f"{name} of {number}"] = vstack(parts).tocsr()
            else:
                found[f"{name} of {number}"] = np.pad(rows, ((above, below), (0, 0)), constant_values=np.nan)
    return Views(found)
