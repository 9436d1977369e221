"""Tables of numbers, as scikit-learn's users bring them: ConsensusClustering beside scikit-learn's methods, K given.

scikit-learn's methods get standardised columns. "views" has the same columns cut into two or three views. Single tables
are fitted once; of the others there are five draws.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.preprocessing import StandardScaler

from manyview import ConsensusClustering, Views, metrics

from .table import Table

FIGURES = ("consensus", "views", "minmax", "KMeans", "Spectral", "Ward")
DRAWS = 5
Data = tuple[np.ndarray, np.ndarray]


def tables(quick: bool) -> Iterator[Table]:
    warnings.simplefilter("ignore")  # scikit-learn: of graphs in several parts
    table = Table("tables: adjusted Rand index", FIGURES)
    for name in ("iris", "wine", "breast_cancer", "digits"):
        found = getattr(datasets, f"load_{name}")()
        table.add(name, [_measure(found.data, found.target, 0)])
    for name, make in GENERATED.items():
        table.add(name, [_measure(*make(seed), seed) for seed in range(1 if quick else DRAWS)])
    yield table


def _measure(X: np.ndarray, y: np.ndarray, seed: int) -> dict[str, float]:
    k, even = int(np.unique(y).size), StandardScaler().fit_transform(X)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    parts = np.array_split(order, 2 if X.shape[1] < 12 else 3)
    models: dict[str, tuple[Any, Any]] = {
        "consensus": (ConsensusClustering(k), X),
        "minmax": (ConsensusClustering(k, scale="minmax"), X),
        "KMeans": (KMeans(k, n_init=10, random_state=seed), even),
        "Spectral": (SpectralClustering(k, affinity="nearest_neighbors", random_state=seed), even),
        "Ward": (AgglomerativeClustering(k), even),
    }
    if X.shape[1] > 3:
        models["views"] = (ConsensusClustering(k), Views({f"part {n}": X[:, part] for n, part in enumerate(parts)}))
    found = dict.fromkeys(FIGURES, np.nan)
    return found | {
        name: metrics.adjusted_rand_index(y, model.fit_predict(data)) for name, (model, data) in models.items()
    }


def _groups(seed: int, n_items: int, n_groups: int, width: int, apart: float) -> tuple[np.random.Generator, Data]:
    """Normal groups around normal centres."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_groups, size=n_items)
    return rng, (rng.normal(scale=apart, size=(n_groups, width))[y] + rng.normal(size=(n_items, width)), y)


def _on_axes(seed: int, n_groups: int, width: int, apart: float) -> Data:
    """Every group away from the middle along a column of its own."""
    _, (X, y) = _groups(seed, 100 * n_groups, n_groups, width, 0.0)
    X[np.arange(y.size), y] += apart
    return X, y


def _stretched(seed: int) -> Data:
    _, (X, y) = _groups(seed, 450, 3, 8, 1.4)
    return np.exp(1.05 * X), y


def _heavy(seed: int) -> Data:
    rng, (X, y) = _groups(seed, 450, 3, 8, 2.0)
    return X + rng.standard_t(1.5, size=X.shape), y


def _far_items(seed: int) -> Data:
    rng, (X, y) = _groups(seed, 500, 4, 8, 2.5)
    X[rng.choice(y.size, 10, replace=False)] *= 20
    return X, y


def _few_of_many(seed: int) -> Data:
    _, (X, y) = _groups(seed, 600, 4, 43, 0.0)
    tells = y > 0
    X[np.flatnonzero(tells), y[tells] - 1] += 5
    return X, y


def _with_even_noise(seed: int) -> Data:
    """Two columns of eight are evenly spread, as a row number or an hour is, and say nothing."""
    rng, (X, y) = _groups(seed, 800, 4, 6, 2.0)
    return np.column_stack([X, rng.random((800, 2))]), y


def _typing_errors(seed: int) -> Data:
    """One value of every column is far off."""
    rng = np.random.default_rng(seed)
    X, y = _on_axes(seed, 6, 12, 4.0)
    X[rng.integers(y.size, size=12), np.arange(12)] = 50
    return X, y


def _few_far(seed: int) -> Data:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [900, 30])
    return rng.normal(size=(930, 5)) + 12 * y[:, None], y


def _blobs(width: int, n_groups: int, spread: float) -> Callable[[int], Data]:
    return lambda seed: datasets.make_blobs(500, width, centers=n_groups, cluster_std=spread, random_state=seed)


GENERATED: dict[str, Callable[[int], Data]] = {
    "blobs in two columns": _blobs(2, 5, 1.0),
    "blobs in ten columns": _blobs(10, 6, 4.0),
    "three groups, an axis each": lambda seed: _on_axes(seed, 3, 10, 4.0),
    "six groups, an axis each": lambda seed: _on_axes(seed, 6, 12, 4.0),
    "four groups in 3 of 43 columns": _few_of_many,
    "lognormal, three groups": _stretched,
    "heavy tails (Student t, 1.5)": _heavy,
    "ten items far out": _far_items,
    "groups of 900 and 30": _few_far,
    "six axes, one wrong value a column": _typing_errors,
    "four groups, two even columns of noise": _with_even_noise,
    "two arcs": lambda seed: datasets.make_moons(500, noise=0.06, random_state=seed),
    "two rings": lambda seed: datasets.make_circles(500, noise=0.05, factor=0.4, random_state=seed),
}
