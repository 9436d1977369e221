"""The rows of the GHF-ART tables: our method in its variants, and its rivals, from channels of content and text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from .. import metrics
from ..types import Mask
from .ghf_art_data import Channels
from .measures import judged_by
from .tables import Found, Row, Scale, Task, Trace

__all__ = ["FIGURES", "all_methods", "by_class", "equal_weights", "in_subsets", "judge", "times", "with_classes"]

FIGURES = ("AP", "H_cluster", "H_class", "purity", "RI", "NMI", "clusters")
TEXT = 0.7  # the paper's fixed share of the text in Fusion ART and SRC
N_NAMED = 3  # items of each class that a person names
MOST_CLUSTERS = 15
judge = judged_by(*FIGURES)


@dataclass(frozen=True)
class _Maker:
    """The rows of a table, from its channels."""

    task: Task
    scale: Scale

    @property
    def channels(self) -> Channels:
        return self.task.data

    def art(self, seed: int, y: Any = None, **settings: Any) -> Any:
        from ..methods.fusion_art.fusion_art import FusionART

        return FusionART(random_state=seed, **settings).fit(self.channels.views, y)

    def plain(self, **settings: Any) -> Callable[[int], Found]:
        """One pass of FusionART; how much say the text has, as it went on."""

        def run(seed: int) -> Found:
            model = self.art(seed, **settings)
            traces = {}
            if "contributions" not in settings:
                text = [list(self.channels.views).index(name) for name in self.channels.text]
                say = model.contributions_history_[:, text].sum(axis=1)
                traces["say of the text"] = Trace(say, model.history_items_, "items seen")
            return Found(model.labels_, traces=traces if not settings else {})

        return run

    def by_criterion(self, seed: int) -> Found:
        """The paper's own reason for its vigilance, that few items are in small clusters, made a rule."""
        model = self.art(seed, vigilance="auto")
        return Found(model.labels_, {"tag vigilance": model.tag_vigilance_})

    def shares(self, text: float) -> dict[str, float]:
        """A fixed weight of the text, shared evenly among its channels; the rest is the looks'."""
        c = self.channels
        return {
            name: text / len(c.text) if name in c.text else (1 - text) / max(1, len(c.views) - len(c.text))
            for name in c.views
        }

    def told(self, seed: int) -> tuple[Any, Mask]:
        """Three items of each class, by chance, and which items count then."""
        rng = np.random.default_rng(1000 + seed)
        hints = np.full(self.task.y.size, -1)
        for number in np.unique(self.task.y):
            members = np.flatnonzero(self.task.y == number)
            hints[rng.choice(members, min(N_NAMED, members.size), replace=False)] = number
        return hints, hints < 0

    def semi_supervised(self, seed: int) -> Found:
        hints, judged = self.told(seed)
        return Found(self.art(seed, hints).labels_, judged=judged)

    def subsets(self, seed: int) -> Found:
        """Four subsets one after the other, by ``partial_fit``."""
        from ..methods.fusion_art.fusion_art import FusionART

        views, n_items = self.channels.views, self.task.y.size
        labels, model = np.empty(n_items, dtype=np.intp), FusionART()
        for rows in np.array_split(np.random.default_rng(1000 + seed).permutation(n_items), 4):
            labels[rows] = model.partial_fit({name: view[rows] for name, view in views.items()}).labels_
        return Found(labels)

    def numbers(self) -> Iterable[int]:
        """The numbers of clusters over which the paper averages, or the true one."""
        k = len(self.task.class_names)
        if not self.scale.as_printed:
            return (k,)
        return (k, MOST_CLUSTERS) if self.scale.quick else range(k, max(k, MOST_CLUSTERS) + 1)

    def averaged(self, cluster: Callable[[int, int], Any], judged: Callable[[int], Mask] | None = None) -> Any:
        """A row that is the mean over the numbers of clusters."""

        def run(seed: int) -> Found:
            mask = judged(seed) if judged else None
            found = [cluster(k, seed) for k in self.numbers()]
            if len(found) == 1:
                return Found(found[0], judged=mask)
            figures = [_judge_of(self.task)(self.task, labels, mask) for labels in found]
            return Found(figures={name: float(np.mean([one[name] for one in figures])) for name in figures[0]})

        return run

    def kmeans(self, k: int, seed: int) -> Any:
        from sklearn.cluster import KMeans

        starts = {"n_init": 1, "init": "random"} if self.scale.as_printed else {"n_init": 10}
        return KMeans(k, max_iter=50, random_state=seed, **starts).fit_predict(self.channels.joined()).astype(np.intp)

    def prepared(self, k: int, seed: int) -> Any:
        from ..methods.kmeans.baselines import ConcatenatedKMeans

        return ConcatenatedKMeans(k, random_state=seed).fit(self.channels.views).labels_

    def nmf(self, k: int, seed: int) -> Any:
        from .rivals.factorization import factorize

        return factorize(self.channels.relations(), k, random_state=seed).labels

    def ss_nmf(self, k: int, seed: int) -> Any:
        from .rivals.factorization import factorize

        return factorize(self.channels.relations(), k, named=self.told(seed)[0], random_state=seed).labels

    def src(self, text: float) -> Callable[[int, int], Any]:
        from .rivals.relational import spectral_relational

        weights = list(self.shares(text).values())
        return lambda k, seed: (
            spectral_relational(self.channels.relations(), k, weights=weights, random_state=seed).labels
        )

    def even(self) -> float:
        """The text weight at which all channels weigh the same."""
        return len(self.channels.text) / len(self.channels.views)


def _judge_of(task: Task) -> Callable[[Task, Any, Mask | None], dict[str, float]]:
    return by_class if task.figures else judge


def all_methods(task: Task, scale: Scale) -> list[Row]:
    """Tables 2, 5, 6 and 7: all methods by five measures; and the curves."""
    make = _Maker(task, scale)
    shows = ("confusion", "samples")
    text = TEXT if scale.as_printed else make.even()
    rows = [
        Row("K-means, raw concatenation", make.averaged(make.kmeans), "K-means"),
        Row(f"SRC, text weight {text:.2g}", make.averaged(make.src(text)), "SRC"),
        Row("NMF of all relations", make.averaged(make.nmf), "NMF"),
        Row("NMF, three items of each class held", make.averaged(make.ss_nmf, lambda s: make.told(s)[1]), "SS-NMF"),
        Row(
            f"Fusion ART, text weight {TEXT:.2g}",
            make.plain(tag_learning="fuzzy", contributions=make.shares(TEXT)),
            "Fusion ART",
        ),
        Row("GHF-ART", make.plain(), "GHF-ART", shows=shows),
        Row("GHF-ART(SS), three items of each class", make.semi_supervised, "GHF-ART(SS)"),
        Row("GHF-ART, then a second look, clusters of 1 %", make.plain(min_size=0.01)),
        Row("GHF-ART, vigilance by the paper's own criterion", make.by_criterion),
    ]
    if not scale.as_printed:
        rows.append(Row("k-means on prepared views", make.averaged(make.prepared), shows=shows))
    return rows + _curves(make, scale)


def _curves(make: _Maker, scale: Scale) -> list[Row]:
    few = scale.quick
    rows = []
    for gamma in (0.1, 0.5, 0.9) if few else np.arange(0.1, 0.95, 0.1).round(1):
        run = make.plain(contributions=make.shares(float(gamma)))
        rows.append(Row(f"gamma {gamma:.1f}", run, study="gamma", line="fixed", x=float(gamma)))
    for rho in (0.05, 0.3) if few else (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6):
        run = make.plain(vigilance={"tags": rho})
        rows.append(Row(f"vigilance {rho} for tags", run, study="vigilance", x=rho))
    for beta in (0.3, 0.8) if few else np.arange(0.1, 1.05, 0.1).round(1):
        run = make.plain(learning_rate=float(beta))
        rows.append(Row(f"learning rate {beta:.1f}", run, study="beta", x=float(beta)))
    return rows


def by_class(task: Task, labels: Any, judged: Mask | None) -> dict[str, float]:
    """Average precision of each class, their mean, and the number of clusters."""
    y, found = (task.y, labels) if judged is None else (task.y[judged], labels[judged])
    precision = metrics.average_precision(y, found, per_class=True)
    classes = {task.class_names[int(number)]: float(value) for number, value in precision.items()}
    return {**classes, "overall": float(np.mean(list(classes.values()))), "clusters": float(np.unique(found).size)}


def with_classes(load: Callable[..., Task]) -> Callable[..., Task]:
    def loaded(sources: Any, scale: Scale) -> Task:
        task = load(sources, scale)
        figures = (*task.class_names, "overall", "clusters")
        return Task(task.words, task.y, task.class_names, task.picture, task.data, figures)

    return loaded


def _clusters_of_classes(task: Task, run: Callable[[int], Found]) -> Callable[[int], Found]:
    """How many clusters have each class as their main one, beside the average precision."""

    def counted(seed: int) -> Found:
        labels: Any = run(seed).labels
        counts = dict.fromkeys(task.class_names, 0.0)
        for number in np.unique(labels):
            counts[task.class_names[int(np.bincount(task.y[labels == number]).argmax())]] += 1
        return Found(figures={**counts, "clusters": float(np.unique(labels).size)})

    return counted


def in_subsets(task: Task, scale: Scale) -> list[Row]:
    make = _Maker(task, scale)
    whole, parts = make.plain(), make.subsets
    return [
        Row("whole set, average precision", whole, "Whole Set, AP", shows=("samples",)),
        Row("whole set, clusters of each class", _clusters_of_classes(task, whole), "Whole Set, clusters"),
        Row("four subsets, average precision", parts, "Subsets, AP"),
        Row("four subsets, clusters of each class", _clusters_of_classes(task, parts), "Subsets, clusters"),
    ]


def equal_weights(task: Task, scale: Scale) -> list[Row]:
    make = _Maker(task, scale)
    even = make.even()
    fixed = make.shares(even)
    return [
        Row("K-means, raw concatenation", make.averaged(make.kmeans), "K-means"),
        Row("SRC, equal weights", make.averaged(make.src(even)), "SRC"),
        Row("NMF of all relations", make.averaged(make.nmf), "NMF"),
        Row("Fusion ART, equal weights", make.plain(tag_learning="fuzzy", contributions=fixed), "Fusion ART"),
        Row("GHF-ART, equal weights", make.plain(contributions=fixed), "GHF-ART, equal weights"),
        Row("GHF-ART, adaptive weights", make.plain(), "GHF-ART, adaptive weights"),
    ]


def times(task: Task, scale: Scale) -> list[Row]:
    """CPU seconds of each method over the number of items."""
    rows, k = [], len(task.class_names)
    for share in (0.25, 1.0) if scale.quick else (0.125, 0.25, 0.5, 0.75, 1.0):
        n_items = round(share * task.y.size)
        some = np.sort(np.random.default_rng(0).permutation(task.y.size)[:n_items])
        part = Task(task.words, task.y[some], task.class_names, data=task.data.part(some))
        make = _Maker(part, scale)
        timed: dict[str, Callable[[int], Any]] = {
            "K-means": partial(make.kmeans, k),
            "SRC": partial(make.src(TEXT), k),
            "NMF": partial(make.nmf, k),
            "Fusion ART": partial(make.art, tag_learning="fuzzy"),
            "GHF-ART": make.art,
        }
        for name, run in timed.items():
            point = Row(
                f"{name}, {n_items} items", _timed(run), study="time", line=name, x=float(n_items), listed=share == 1
            )
            rows.append(point)
    return rows


def _timed(run: Callable[[int], Any]) -> Callable[[int], Found]:
    def timed(seed: int) -> Found:
        run(seed)  # the first compiles and warms up
        started = process_time()
        run(seed)
        return Found(figures={"CPU seconds": process_time() - started})

    return timed
