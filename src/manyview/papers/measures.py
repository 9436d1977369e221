"""Figures of one run: measures of its clusters, the confusion of classes and clusters, samples to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import metrics
from ..types import Floats, Mask, Places
from .tables import Task

__all__ = ["MEASURES", "classes_of", "confusion", "judged_by", "samples"]

MEASURES: dict[str, Callable[[Any, Any], float]] = {
    "ACC": metrics.clustering_accuracy,
    "NMI": metrics.normalized_mutual_info,
    "NMI by the larger entropy": lambda y, labels: metrics.normalized_mutual_info(y, labels, average="max"),
    "purity": metrics.purity,
    "AP": metrics.average_precision,
    "H_cluster": metrics.cluster_entropy,
    "H_class": metrics.class_entropy,
    "entropy": metrics.class_entropy,
    "RI": metrics.rand_index,
    "ARI": metrics.adjusted_rand_index,
    "F1": metrics.pairwise_f1,
    "clusters": lambda y, labels: float(np.unique(labels).size),
}
_SAMPLES, _CLUSTERS = 10, 12


def judged_by(*figures: str, **renamed: str) -> Callable[[Task, Any, Mask | None], dict[str, float]]:
    """A judge by some of ``MEASURES``; ``NMI="NMI by the larger entropy"`` computes one figure by another measure."""
    measures = {name: MEASURES[renamed.get(name, name)] for name in figures}

    def judge(task: Task, labels: Any, judged: Mask | None) -> dict[str, float]:
        y, found = (task.y, labels) if judged is None else (task.y[judged], labels[judged])
        return {name: float(measure(y, found)) for name, measure in measures.items()}

    return judge


def classes_of(names: Any) -> tuple[Places, list[str], Mask]:
    """Class names of items as numbers, the names, and which items have one ("" has none)."""
    words = np.asarray(names)
    found, y = np.unique(words, return_inverse=True)
    return y.astype(np.intp), [str(name) for name in found], words != ""


def confusion(y: Any, labels: Any, n_classes: int) -> Floats:
    """Items of each class (rows) in each cluster, clusters standing under the class they are matched with.

    The matching is that of the clustering accuracy: one cluster a class, as many right items as can be. A last column
    holds the items of clusters that are left over.

    >>> confusion([0, 0, 1, 1, 1], [5, 5, 2, 2, 5], 2).tolist()
    [[2.0, 0.0, 0.0], [1.0, 2.0, 0.0]]
    """
    from scipy.optimize import linear_sum_assignment

    clusters, of = np.unique(labels, return_inverse=True)
    table = np.zeros((n_classes, clusters.size))
    np.add.at(table, (np.asarray(y), of), 1.0)
    classes, matched = linear_sum_assignment(table, maximize=True)
    shown = np.zeros((n_classes, n_classes + 1))
    shown[:, classes] = table[:, matched]
    shown[:, -1] = np.delete(table, matched, axis=1).sum(axis=1)
    return shown


def samples(task: Task, labels: Any, judged: Mask | None) -> list[dict[str, Any]]:
    """The largest clusters, each with its main class and some of its items, drawn by chance."""
    rng = np.random.default_rng(0)
    numbers, sizes = np.unique(labels[labels >= 0], return_counts=True)
    shown = []
    for place in np.argsort(-sizes, kind="stable")[:_CLUSTERS]:
        members = np.flatnonzero(labels == numbers[place])
        counted = members if judged is None else members[judged[members]]
        main = np.bincount(task.y[counted]) if counted.size else np.zeros(1, dtype=np.intp)
        drawn = np.sort(rng.choice(members, min(_SAMPLES, members.size), replace=False))
        shown.append(
            {
                "size": int(sizes[place]),
                "class": _named(task.class_names, int(main.argmax())) if counted.size else "",
                "share": float(main.max() / counted.size) if counted.size else 0.0,
                "items": [int(item) for item in drawn],
                "odd": [int(item) for item in drawn if task.y[item] != main.argmax()],
            }
        )
    return shown


def _named(names: Sequence[str], number: int) -> str:
    return names[number] if number < len(names) else str(number)
