"""What it costs a clustering that only some items vote and the others are placed: ConsensusClustering(landmarks=).

The largest real collections there are, with half and a quarter of the items as landmarks; and generated items, of which
20,000 vote, or 100,000, which is the default. NMI with the classes, their number given, defaults; "with all": NMI with
the labels of the fit in which everybody votes, whose other seeds say how much of that is chance.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview import ConsensusClustering, Views, metrics

from .collections import load
from .table import Table

REAL = ("ccv_video", "corel5k", "scene15", "newsgroups_ten", "handwritten_numerals")
FIGURES = ("NMI", "with all", "CPU s")
GROUPS, WIDTHS, VOTING, DEFAULT = 50, (64, 32), 20_000, 100_000


def tables(quick: bool) -> Iterator[Table]:
    warnings.simplefilter("ignore")
    for name in REAL[-1:] if quick else REAL:
        found = load(name)
        if found is None:
            yield Table(f"{name}: no such file in MANYVIEW_DATA", FIGURES)
            continue
        n_items = found[1].size
        yield compare(name, *found, (n_items // 2, n_items // 4), 1 if quick else 3)
    if not quick:
        yield compare("generated", *generate(50_000), (VOTING,), 1)
        yield compare("generated", *generate(200_000), (DEFAULT, VOTING), 1)


def generate(n_items: int, seed: int = 5) -> tuple[Views, np.ndarray]:
    """Uneven overlapping groups with outliers; the second view cannot tell half of them apart."""
    rng = np.random.default_rng(seed)
    y = rng.choice(GROUPS, n_items, p=rng.dirichlet(np.full(GROUPS, 3.0)))
    spread = np.where(rng.random(n_items) < 0.05, 4.0, 2.0).astype(np.float32)[:, None]
    views = {}
    for name, width in zip(("looks", "text"), WIDTHS, strict=True):
        centres = rng.normal(size=(GROUPS, width)).astype(np.float32)
        if name == "text":
            centres[GROUPS // 2 :] = centres[: GROUPS // 2]
        views[name] = centres[y] + spread * rng.standard_normal((n_items, width), dtype=np.float32)
    return Views(views), y


def compare(name: str, views: Views, y: np.ndarray, counts: tuple[int, ...], n_seeds: int) -> Table:
    n_clusters = np.unique(y).size
    table = Table(f"{name}: {y.size} items, {n_clusters} classes", FIGURES)
    runs: dict[str, list[dict[str, float]]] = {}
    whole = [fitted(views, n_clusters, seed, None) for seed in range(n_seeds)]
    for seed, (model, seconds) in enumerate(whole):
        other = whole[(seed + 1) % n_seeds][0]
        runs.setdefault("everybody votes", []).append(figures(model.labels_, y, other.labels_, seconds))
        for count in counts:
            part, took = fitted(views, n_clusters, seed, count)
            runs.setdefault(f"{count} landmarks", []).append(figures(part.labels_, y, model.labels_, took))
    for method, found in runs.items():
        table.add(method, found)
    return table


def fitted(views: Views, n_clusters: int, seed: int, landmarks: int | None) -> tuple[Any, float]:
    began = time.process_time()
    model = ConsensusClustering(n_clusters, landmarks=landmarks, random_state=seed, n_jobs=1).fit(views)
    return model, time.process_time() - began


def figures(labels: np.ndarray, y: np.ndarray, others: np.ndarray, seconds: float) -> dict[str, float]:
    measure = metrics.normalized_mutual_info
    return {"NMI": measure(y, labels), "with all": measure(others, labels), "CPU s": seconds}
