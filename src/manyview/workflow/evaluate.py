"""How good is it on my data? Tags that were hidden and looked for again, and clusters against classes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import metrics
from ..collection.store import Store
from ..data.checks import check_number
from ..data.hiding import can_be_found
from ..data.tags import TagTable
from ..data.views import Views
from ..errors import ParameterError
from ..evaluation.experiment import Answers, TagExperiment
from ..figures import counted
from ..types import Progress
from .compute import compute_views, default_views
from .methods_table import DEFAULT_METHOD, METHODS, Method
from .proposing.suggest import completion_views
from .reading.classes import read_classes

__all__ = ["Evaluation", "Promise", "evaluate"]

CHOSEN = "suggest"
_METHODS = {
    CHOSEN: "combined",
    "co-occurrence": "cooccurrence",
    "nearest neighbours": "neighbours",
    "plain neighbours": "plain_neighbours",
    "popularity": "frequency",
}
"""What is compared, the name people know -> that of ``hidden_tags_experiment``."""
_OF_VIEWS = ("nearest neighbours", "plain neighbours")
CLUSTER_FIGURES = {
    "accuracy": metrics.clustering_accuracy,
    "NMI": metrics.normalized_mutual_info,
    "ARI": metrics.adjusted_rand_index,
    "purity": metrics.purity,
}
_LINES = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1)
_N_BINS = 15
_FEWEST_LEFT = 10
"""Tags it takes to hide some and learn from the rest."""

Rows = dict[str, dict[str, list[float]]]


@dataclass(frozen=True)
class Promise:
    """What accepting every proposal above a line was said to give, and what it gave."""

    min_probability: float
    n: int
    promised: float
    kept: float


@dataclass
class Evaluation:
    """What ``evaluate`` found: ``tags`` and ``clusters`` are figures by method, a value per draw."""

    n_items: int
    n_all: int
    """Items of the collection without repetitions, of which ``n_items`` were drawn."""
    draws: int
    hide: float | None = None
    n_tags: int = 0
    n_judged: int = 0
    """Items with a tag that could be hidden; of the others nobody knows what they lack."""
    n_duplicates: int = 0
    tags: Rows = field(default_factory=dict)
    promises: list[Promise] = field(default_factory=list)
    """With the completeness known, from the first five proposals of every judged item."""
    promises_estimated: list[Promise] = field(default_factory=list)
    """With the completeness that ``suggest`` would have estimated."""
    reliability: list[dict[str, float]] = field(default_factory=list)
    """Fifteen bins of probability: how many, what was said, what was found."""
    labels: str | None = None
    n_classes: int = 0
    n_labelled: int = 0
    n_clusters: int = 0
    method: str | None = None
    clusters: Rows = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def mean(self, rows: Rows, name: str, figure: str) -> float | None:
        """The mean of a figure over the draws; None where the method has none."""
        values = rows[name].get(figure)
        return float(np.mean(values)) if values else None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists and numbers."""
        found: dict[str, Any] = {"n_items": self.n_items, "n_all": self.n_all, "draws": self.draws, "said": self.said}
        if self.tags:
            found["tags"] = {
                "hide": self.hide,
                "n_tags": self.n_tags,
                "n_judged": self.n_judged,
                "n_left_out": self.n_items - self.n_judged,
                "n_duplicates": self.n_duplicates,
                "chosen": CHOSEN,
                "methods": _summed(self.tags),
                "promises": [vars(one) for one in self.promises],
                "promises_estimated": [vars(one) for one in self.promises_estimated],
                "reliability": self.reliability,
            }
        if self.clusters:
            found["clusters"] = {
                "labels": self.labels,
                "n_classes": self.n_classes,
                "n_labelled": self.n_labelled,
                "n_clusters": self.n_clusters,
                "chosen": self.method,
                "methods": _summed(self.clusters),
            }
        return found


def _summed(rows: Rows) -> dict[str, dict[str, dict[str, float]]]:
    return {
        name: {
            figure: {"mean": float(np.mean(values)), "deviation": float(np.std(values)), "draws": len(values)}
            for figure, values in figures.items()
        }
        for name, figures in rows.items()
    }


def evaluate(
    collection: Store,
    hide_tags: float | None = 0.4,
    labels: str | None = None,
    *,
    method: str | None = None,
    n_clusters: int | None = None,
    draws: int = 3,
    max_items: int = 10_000,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Measure tag completion and clustering on a collection that is open for writing, and keep what was found.

    hide_tags : the share of the tags that is hidden and looked for again, by what ``suggest`` uses and by baselines;
        None leaves this out
    labels : what the true classes are: a column of the table, a CSV file of ``id,label``, or "folder" for the folder a
        file lies in. Then clusters are judged too: of ``method`` (``fit``'s, None: the default), of k-means on all
        views side by side and on each view, with ``n_clusters`` or as many clusters as classes
    draws : how often each is repeated with other random numbers
    max_items : a larger collection is judged by so many of its items, drawn at random

    Pictures that repeat another are left out. Default views that are missing are computed first.
    """
    check_number("draws", draws, integer=True, low=1)
    check_number("max_items", max_items, integer=True, low=10)
    if hide_tags is None and labels is None:
        raise ParameterError("there is nothing to measure: give a share of the tags to hide, or labels.")
    wanted = default_views(collection)
    if wanted:
        compute_views(collection, wanted, n_jobs=n_jobs, progress=progress)
    rows, places = collection.items.fold()
    n_all = rows.size
    if rows.size > max_items:
        rows = np.sort(np.random.default_rng(seed).choice(rows, size=max_items, replace=False))
    found = Evaluation(int(rows.size), int(n_all), int(draws))
    if places.size > n_all:
        n_repeated = places.size - n_all
        many = f"{n_repeated} pictures repeat others and are left out."
        found.said.append("1 picture repeats another and is left out." if n_repeated == 1 else many)
    if n_all > rows.size:
        found.said.append(f"{rows.size} of {n_all} items, drawn at random, are judged.")
    if hide_tags is not None:
        _judge_tags(found, collection, rows, float(hide_tags), labels is not None, seed, n_jobs, progress)
    if labels is not None:
        _judge_clusters(found, collection, rows, labels, method, n_clusters, seed, n_jobs, progress)
    settings = {"hide_tags": hide_tags, "labels": labels, "method": method, "n_clusters": n_clusters, "seed": seed}
    collection.runs.save_evaluation(settings, found.to_dict())
    return found


# --- tags ---


def _judge_tags(
    found: Evaluation,
    collection: Store,
    rows: NDArray[np.intp],
    hide: float,
    is_more_asked: bool,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> None:
    check_number("hide_tags", hide, low=0, low_open=True, high=1)
    tags = collection.tags[rows]
    able = can_be_found(tags)
    n_able = int(tags.yes[:, able].nnz)
    if n_able < _FEWEST_LEFT:
        sentence = (
            f"tags that are on two items or more occur {counted(n_able, 'time')} in all, too few to hide some and look "
            f"for them: it takes {_FEWEST_LEFT}. Tag more items first."
        )
        if not is_more_asked:
            raise ParameterError(sentence)
        found.said.append(sentence)
        return
    X = completion_views(collection)
    methods = {shown: name for shown, name in _METHODS.items() if X is not None or shown not in _OF_VIEWS}
    with collection.unlocked(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        experiment = _experiment(
            X if X is None else X[rows], tags, hide, seed, found.draws, list(methods.values()), n_jobs, progress
        )
    found.said += list(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning)))
    found.hide, found.n_tags, found.n_duplicates = hide, int(able.sum()), experiment.n_duplicates
    found.n_judged = experiment.n_judged
    found.tags = {
        shown: {figure: list(values) for figure, values in experiment.figures[name].items()}
        for shown, name in methods.items()
    }
    answers = experiment.answers[methods[CHOSEN]]
    found.promises = _promises(answers, lambda one: one.known)
    found.promises_estimated = _promises(answers, lambda one: one.estimated)
    found.reliability = _reliability(answers)
    if found.n_judged < found.n_items:
        found.said.append(
            f"{found.n_judged} items are judged; {found.n_items - found.n_judged} have no tag that could be hidden and "
            "found again, so that nobody knows what they lack."
        )
    if found.n_duplicates:
        found.said.append(f"{found.n_duplicates} items repeat another one in every number; they flatter the figures.")


def _experiment(
    X: Views | None,
    tags: TagTable,
    hide: float,
    seed: int,
    draws: int,
    methods: Sequence[str],
    n_jobs: int | None,
    progress: Progress | None,
) -> TagExperiment:
    from ..evaluation.experiment import hidden_tags_experiment

    def told(done: int, total: int) -> None:
        if progress is not None:
            progress("hiding tags and looking for them", done, total)

    seeds = range(seed, seed + draws)
    return hidden_tags_experiment(X, tags, hide, list(seeds), methods, n_jobs=n_jobs, progress=told)


def _promises(answers: Sequence[Answers], said: Callable[[Answers], NDArray[np.float64]]) -> list[Promise]:
    probability = np.concatenate([said(one) for one in answers])
    right = np.concatenate([one.right for one in answers])
    found = []
    for line in _LINES:
        above = probability >= line
        if above.any():
            n = int(above.sum() / len(answers))
            found.append(Promise(line, n, float(probability[above].mean()), float(right[above].mean())))
    return found


def _reliability(answers: Sequence[Answers]) -> list[dict[str, float]]:
    probability = np.concatenate([one.known for one in answers])
    right = np.concatenate([one.right for one in answers])
    place = np.minimum((probability * _N_BINS).astype(int), _N_BINS - 1)
    return [
        {
            "n": int((place == b).sum() / len(answers)),
            "said": float(probability[place == b].mean()),
            "found": float(right[place == b].mean()),
        }
        for b in range(_N_BINS)
        if (place == b).any()
    ]


# --- clusters ---


def _judge_clusters(
    found: Evaluation,
    collection: Store,
    rows: NDArray[np.intp],
    labels: str,
    method: str | None,
    n_clusters: int | None,
    seed: int,
    n_jobs: int | None,
    progress: Progress | None,
) -> None:
    from .run_views import fit_views

    usable = [row.name for row in METHODS.values() if "annotations" not in row.needs]
    method = method or DEFAULT_METHOD
    if method not in usable:
        raise ParameterError(f"clusters can be judged for {', '.join(usable)}; got {method!r}.")
    classes = read_classes(collection, labels)[rows]
    known = classes >= 0
    y = classes[known]
    n_classes = int(np.unique(y).size)
    if n_classes < 2:
        raise ParameterError(f"labels {labels!r} put all items into one class; clusters cannot be judged by that.")
    k = n_classes if n_clusters is None else int(check_number("n_clusters", n_clusters, integer=True, low=1))
    every = collection.tags
    X, tags = fit_views(collection, None, method, every)[0][rows], every[rows]
    found.labels, found.n_classes, found.n_labelled = labels, n_classes, int(known.sum())
    found.n_clusters, found.method = k, method
    makers = _clusterers(X, tags, METHODS[method], k, n_jobs)
    steps = [(draw, name) for draw in range(found.draws) for name in makers]
    with collection.unlocked(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step, (draw, name) in enumerate(steps):
            if progress is not None:
                progress("clustering and comparing", step, len(steps))
            assigned = np.asarray(makers[name](seed + draw))[known]
            for figure, measure in CLUSTER_FIGURES.items():
                found.clusters.setdefault(name, {}).setdefault(figure, []).append(float(measure(y, assigned)))
    if progress is not None:
        progress("clustering and comparing", len(steps), len(steps))


def _clusterers(
    X: Views, tags: TagTable, method: Method, k: int, n_jobs: int | None
) -> dict[str, Callable[[int], Any]]:
    """What clusters by a seed: the chosen method and what it has to beat."""
    from ..methods.kmeans.baselines import ConcatenatedKMeans, SingleViewKMeans
    from .fitting.model import fit_model

    told = k if method.takes_k else None
    found: dict[str, Callable[[int], Any]] = {
        method.name: lambda seed: fit_model(X, tags, None, method, told, seed, n_jobs)[1],
        "k-means, all views": lambda seed: ConcatenatedKMeans(k, random_state=seed).fit(X).labels_,
    }
    if len(X.names) > 1:
        for name in X.names:
            # mypy knows no type for a parameter that only holds the name of this turn.
            found[f"k-means, {name}"] = lambda seed, name=name: (  # type: ignore[misc]
                SingleViewKMeans(k, view=name, random_state=seed).fit(X).labels_
            )
    return found
