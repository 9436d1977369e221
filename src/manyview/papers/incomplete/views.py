"""Clusters of items that lack views: our clusterers, k-means on filled views, and the methods of iMML."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...arrays import is_sparse
from ...blocks import workers
from ...data.joining import side_by_side
from ...data.views import Views
from ...types import Places, Singles
from ..sources import Sources, stored_views
from ..tables import Found, PeerFailed, Row, Scale, Task, Trace
from .outside import IMML, imml_labels, takes

__all__ = ["COLLECTIONS", "FIGURES", "SHARES", "Incomplete", "filled", "lacking", "load", "rows", "share_names"]

SHARES = (0.0, 0.1, 0.3, 0.5, 0.7)
COLLECTIONS: dict[str, tuple[str, str]] = {
    "three_sources": ("three_sources", "stories at three papers"),
    "bbcsport": ("bbcsport", "two parts of sports articles"),
    "cub": ("cub_image_text", "birds, picture and text"),
    "leaves100": ("leaves100", "leaves of a hundred species"),
    "scene15": ("scene15", "scene photographs"),
}
"""By name: the stored file, and what it is."""
_MANY = 3_000  # items from which on one draw is made, for every row: means of other draws do not compare
_FUSED = 30  # dimensions of the shared space, where the views have as many

Cluster = Callable[[Views, int, int], Places]


def share_names(measure: str) -> tuple[str, ...]:
    """The figures of a measure, one for each share."""
    return tuple(f"{measure} {share:.0%}" for share in SHARES)


FIGURES = (*share_names("NMI"), *share_names("ACC"))


@dataclass(frozen=True)
class Incomplete:
    """Whole views of which some will be taken away, and the interpreter that has iMML, where there is one."""

    views: Views
    imml: str | None = None


def lacking(views: Views, share: float, draw: int) -> Views:
    """Every item without each of its views with probability ``share``, but for the last it has.

    What is missing at a small share is missing at a larger one of the same draw.
    """
    luck = np.where(views.mask, np.random.default_rng(draw).random(views.mask.shape), -1.0)
    has = views.mask & (luck >= share)
    stripped = np.flatnonzero(views.mask.any(axis=1) & ~has.any(axis=1))
    has[stripped, luck[stripped].argmax(axis=1)] = True
    return Views(dict(views.items()), ids=views.ids, mask=has)


def load(name: str) -> Callable[[Sources, Scale], Task]:
    """The views of a collection as they are; "numerals" ship."""

    def numerals(sources: Sources, scale: Scale) -> Task:
        from ...datasets import load_handwritten

        data = load_handwritten()
        some = slice(None, None, 8 if scale.quick else 1)
        words = "handwritten numerals, which ship with the package"
        return _task(words, data.views[some], data.y[some], sources)

    def stored(sources: Sources, scale: Scale) -> Task:
        with sources.matrices(COLLECTIONS[name][0]) as arrays:
            return _task(COLLECTIONS[name][1], stored_views(arrays), arrays["y"].astype(np.intp), sources)

    return numerals if name == "numerals" else stored


def _task(words: str, views: Views, y: Any, sources: Sources) -> Task:
    names = [str(one) for one in np.unique(y)]
    data = Incomplete(views, sources.interpreter("imml"))
    return Task(f"{words}: {views}, {len(names)} classes", np.asarray(y), names, data=data)


def rows(task: Task, scale: Scale) -> list[Row]:
    """A line for each method, with a figure for each share of missing views."""
    shares = SHARES[:3:2] if scale.quick else SHARES
    methods = _ours(task.data.views, scale)
    asked = [method for method in IMML if takes(method, task.data.views, len(task.class_names))]
    for method in asked if task.data.imml else ():
        methods[f"iMML {method}, prepared views"] = partial(imml_labels, task.data.imml, method)
    draws = 1 if task.data.views.n_items > _MANY else None
    return [Row(name, _run(task, cluster, shares), seeds=draws) for name, cluster in methods.items()]


def _run(task: Task, cluster: Cluster, shares: tuple[float, ...]) -> Callable[[int], Found]:
    from ... import metrics

    def run(seed: int) -> Found:
        found: dict[str, float] = {}
        failed: list[str] = []
        for share in shares:
            try:
                labels = cluster(lacking(task.data.views, share, seed), len(task.class_names), seed)
            except PeerFailed as failure:
                failed.append(f"{share:.0%} missing: {failure}")
                continue
            found[f"NMI {share:.0%}"] = metrics.normalized_mutual_info(task.y, labels)
            found[f"ACC {share:.0%}"] = metrics.clustering_accuracy(task.y, labels)
        done = [share for share in shares if f"NMI {share:.0%}" in found]
        curve = Trace([found[f"NMI {share:.0%}"] for share in done], [100 * s for s in done], "% of views missing")
        return Found(figures=found, traces={"NMI": curve} if done else {}, failed=failed)

    return run


def _ours(views: Views, scale: Scale) -> dict[str, Cluster]:
    found: dict[str, Cluster] = {
        "ConsensusClustering": _consensus,
        "k-means, prepared views, gaps at the mean": _kmeans,
        "k-means, prepared views, gaps from neighbours": _kmeans_filled,
        "RobustMultiviewKMeans": _robust,
        "RobustMultiviewKMeans, equal weights (SMKMC)": partial(_robust, view_weights="equal"),
        "CanonicalFusion, then k-means": _canonical,
        "HierarchicalKMeans": _hierarchical,
        "FusionART (finds its number)": _fusion_art,
        "clustering forest (TagForest without tags)": partial(_forest, n_trees=10 if scale.quick else 100),
    }
    if all(is_sparse(view) for view in views.values()):
        found["PLSA"] = _plsa
    return found


def _consensus(views: Views, k: int, seed: int) -> Places:
    from ...methods.consensus.consensus import ConsensusClustering

    return ConsensusClustering(k, random_state=seed).fit(views).labels_


def _kmeans(views: Views, k: int, seed: int) -> Places:
    from ...methods.kmeans.baselines import ConcatenatedKMeans

    return ConcatenatedKMeans(k, random_state=seed).fit(views).labels_


def _kmeans_filled(views: Views, k: int, seed: int) -> Places:
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(k, n_init=10, random_state=seed).fit(filled(views)).labels_, dtype=np.intp)


def filled(views: Views) -> Singles:
    """All views prepared and side by side, gaps filled from the nearest items that have the view."""
    from ...methods.gaps import fill_gaps
    from ...methods.preparation import prepared_views

    ready = prepared_views(views)
    parts = [np.asarray(part, dtype=np.float32) for part in ready.values()]
    edges = np.cumsum([0, *(part.shape[1] for part in parts)])
    joined = side_by_side(parts, ready.mask, [np.zeros(part.shape[1]) for part in parts]).astype(np.float32)
    with workers(None) as threads:
        fill_gaps(joined, ready.mask, edges, threads)
    return joined


def _robust(views: Views, k: int, seed: int, **settings: Any) -> Places:
    from ...methods.kmeans.robust_kmeans import RobustMultiviewKMeans

    return RobustMultiviewKMeans(k, random_state=seed, **settings).fit(views).labels_


def _canonical(views: Views, k: int, seed: int) -> Places:
    from ...methods.canonical.canonical_fusion import CanonicalFusion
    from ...methods.kmeans.baselines import ConcatenatedKMeans

    size = min(_FUSED, *(view.shape[1] for view in views.values()))
    shared = CanonicalFusion(size, random_state=seed).fit_transform(views)
    return ConcatenatedKMeans(k, view_scale=None, random_state=seed).fit(shared).labels_


def _hierarchical(views: Views, k: int, seed: int) -> Places:
    from ...methods.kmeans.hierarchical_kmeans import HierarchicalKMeans
    from ...methods.preparation import prepared_views

    return HierarchicalKMeans(k, random_state=seed).fit(prepared_views(views)).labels_


def _fusion_art(views: Views, k: int, seed: int) -> Places:
    """Words as tags, present or not, as in its paper."""
    from ...methods.fusion_art.fusion_art import FusionART

    present = {name: (view > 0).astype(np.float64) if is_sparse(view) else view for name, view in views.items()}
    return FusionART(random_state=seed).fit(Views(present, mask=views.mask)).labels_


def _forest(views: Views, k: int, seed: int, n_trees: int) -> Places:
    from ...methods.forest.tag_forest import TagForest
    from ...methods.preparation import prepared_views

    return TagForest(k, n_estimators=n_trees, random_state=seed).fit(prepared_views(views)).labels_


def _plsa(views: Views, k: int, seed: int) -> Places:
    from ...methods.topics.plsa import PLSA

    return PLSA(k, random_state=seed).fit(views).labels_
