"""Hide tags, complete them, and count what was found: the same for every method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..completion.completer import TagCompleter
from ..completion.probability import probability_true
from ..completion.proposals import best_of_rows
from ..data.checks import check_number
from ..data.hiding import can_be_found, hide_tags
from ..data.tags import TagTable, as_tag_table
from ..data.views import Views
from ..errors import ParameterError
from ..figures import percent
from ..methods.base import say
from ..papers.rivals.tag_completion import MatrixRecovery, MultiOutputForest, PlainNeighbours, SparseReconstruction
from ..types import Floats
from .calibration import calibration_error
from .duplicates import count_duplicates
from .table import text_table

__all__ = ["Answers", "TagExperiment", "hidden_tags_experiment"]


_DEEPEST = 5
_DEFAULT = ("combined", "cooccurrence", "neighbours", "frequency")
_SOURCES = ("combined", "joint", "view_ridge", "neighbours", "naive_bayes", "cooccurrence", "frequency")
_OF_FOREST = {
    "forest_neighbourhood": "neighbourhood",
    "forest_cluster": "cluster",
    "forest_affinity": "affinity",
    "forest_leaf_frequency": "leaf_frequency",
}


@dataclass(frozen=True)
class Answers:
    """The first five proposals of each judged item on one draw: how likely each was called, and whether it was right.

    known : the probabilities with completeness set to what was left of the tags; ``estimated`` with the estimated one.
    """

    known: Floats
    estimated: Floats
    right: NDArray[np.bool_]


@dataclass(frozen=True)
class TagExperiment:
    """What ``hidden_tags_experiment`` found.

    figures : method -> name of a figure -> a value per seed. ``P@1`` to ``P@5``, ``R@1`` to ``R@5`` and ``C@1`` to
        ``C@5`` are precision, recall and coverage of the first proposals; ``ECE`` is the calibration error of the first
        five with completeness set to what was left, ``ECE estimated`` that with the estimated ``completeness``
        (methods with probabilities only).
    n_judged : items with a tag on two items or more: only of these is it known which tags they lack. Promises and
        calibration are judged by them, precision and recall by those of them from which something was hidden.
    n_duplicates : items whose views and tags repeat those of another one; where there are many, figures flatter.
    answers : method -> the proposals behind the calibration errors, a set per seed (methods with probabilities only).
    """

    hide: float
    seeds: tuple[int, ...]
    n_items: int
    n_tags: int
    n_judged: int
    n_duplicates: int
    figures: Mapping[str, Mapping[str, Sequence[float]]] = field(repr=False)
    answers: Mapping[str, Sequence[Answers]] = field(default_factory=dict, repr=False)

    def mean(self, method: str, figure: str) -> float:
        """The mean of a figure over the seeds."""
        return float(np.mean(self.figures[method][figure]))

    def table(self, figures: Sequence[str] = ("P@1", "P@5", "R@5", "C@5", "ECE", "ECE estimated")) -> str:
        """The figures of every method, with deviations, as text."""
        hidden = f"{percent(self.hide)} of the tags hidden"
        title = f"{self.n_items} items, {self.n_tags} tags, {hidden}, {len(self.seeds)} draw(s)"
        if self.n_judged < self.n_items:
            title += f"; {self.n_judged} items are judged, the others have no tag that could be hidden"
        if self.n_duplicates:
            title += f"; {self.n_duplicates} items repeat another one"
        return text_table(title, self.figures, figures)

    def __str__(self) -> str:
        return self.table()


class _Draw:
    """One draw: what is left of the tags, and a forest that several methods share."""

    def __init__(self, X: Any, table: TagTable, hide: float, seed: int, n_trees: int, n_jobs: int | None) -> None:
        self.X, self.seed, self.n_trees, self.n_jobs = X, seed, n_trees, n_jobs
        self.left, self.hidden = hide_tags(table, hide, seed, on_items=2)
        self.is_judged = _judged_items(table)

    @cached_property
    def n_clusters(self) -> int:
        """Where a method groups items first: the root of half their number."""
        return max(2, round(np.sqrt(self.left.n_items / 2)))

    @cached_property
    def forest(self) -> Any:
        from ..methods.forest.tag_forest import TagForest

        forest = TagForest(self.n_clusters, n_estimators=self.n_trees, use_hierarchy=False, random_state=self.seed)
        return forest.fit(self.X, self.left)


@dataclass(frozen=True)
class _ForestScores:
    """A forest asked by one of its algorithms, without growing it again for the sake of probabilities."""

    forest: Any
    algorithm: str

    def tag_scores(self) -> NDArray[np.float32]:
        scores: NDArray[np.float32] = self.forest.tag_scores(method=self.algorithm)
        return scores


Method = Callable[[_Draw], Any]


def _completer(name: str) -> Method:
    return lambda draw: TagCompleter(method=name, random_state=draw.seed, n_jobs=draw.n_jobs).fit(draw.X, draw.left)


def _of_forest(name: str) -> Method:
    return lambda draw: _ForestScores(draw.forest, name)


def _with_forest(draw: _Draw) -> Any:
    return TagCompleter(draw.forest, random_state=draw.seed).fit(draw.X, draw.left)


def _baseline(kind: Any) -> Method:
    return lambda draw: kind(random_state=draw.seed).fit(draw.X, draw.left)


def _kmeans(draw: _Draw) -> Any:
    from ..methods.kmeans.baselines import ConcatenatedKMeans

    groups = ConcatenatedKMeans(draw.n_clusters, n_init=1, random_state=draw.seed).fit(draw.X)
    return TagCompleter(groups, "cluster", random_state=draw.seed).fit(draw.X, draw.left)


_METHODS: dict[str, Method] = {
    **{name: _completer(name) for name in _SOURCES},
    "plain_neighbours": _baseline(PlainNeighbours),
    "matrix_recovery": _baseline(MatrixRecovery),
    "sparse_reconstruction": _baseline(SparseReconstruction),
    "multi_output_forest": _baseline(MultiOutputForest),
    "kmeans_cluster": _kmeans,
    **{name: _of_forest(algorithm) for name, algorithm in _OF_FOREST.items()},
    "combined_with_forest": _with_forest,
}


def hidden_tags_experiment(
    X: Any,
    tags: Any,
    hide: float = 0.4,
    seeds: int | Sequence[int] = 5,
    methods: Sequence[str] | Mapping[str, Any] | None = None,
    *,
    n_trees: int = 100,
    n_jobs: int | None = None,
    verbose: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> TagExperiment:
    """How well would missing tags be found? Hide a share of the known ones and look for them again.

    Items with at least one hidden tag are judged, by the first five proposals among the tags they were not left with.
    Tags on a single item stay: nobody could find them again. Promises are judged on every item with a tag that could be
    hidden, whether one was or not; an item without any tells nothing. Nothing that was hidden is seen by any method.

    Parameters
    ----------
    X : Views or what becomes one, or None where there are only tags
    tags : TagTable, 0/1 matrix, or a list of words per item
    hide : float, default=0.4
        The share of all tags to hide.
    seeds : int or list of int, default=5
        How many draws, or their seeds. A draw decides which tags are hidden, and every method is given its seed.
    methods : list of names, or dict of name to unfitted estimator, default=None
        Names: "combined", "joint", "view_ridge", "neighbours", "naive_bayes", "cooccurrence", "frequency" as in
        ``TagCompleter``; "plain_neighbours", "matrix_recovery" (TCMR), "sparse_reconstruction" (LSR),
        "multi_output_forest" (scikit-learn); "kmeans_cluster"; "forest_neighbourhood", "forest_cluster",
        "forest_affinity", "forest_leaf_frequency" and "combined_with_forest", which ask a flat ``TagForest``.
        Estimators have ``fit(X, tags)`` and ``propose`` or ``tag_scores``. None compares "combined", "cooccurrence",
        "neighbours" and "frequency".
    n_trees : int, default=100
        Trees of that forest.
    n_jobs : None or int
        Threads; None takes all cores.
    verbose : int, default=0
        1 tells of every method and draw, on stderr.
    progress : function, default=None
        Called with the number of fits that are done and the number of all.

    Examples
    --------
    >>> tags = [["snow", "ski"], ["snow", "ski"], ["sea", "sand"], ["sea", "sand"]] * 20
    >>> found = hidden_tags_experiment(None, tags, seeds=1, methods=["combined", "frequency"])
    >>> found.mean("combined", "P@1") > found.mean("frequency", "P@1")
    True
    """
    views = None if X is None else Views(X)
    table = as_tag_table(tags, None if views is None else views.n_items)
    given: Any = range(check_number("seeds", seeds, integer=True, low=1)) if np.ndim(seeds) == 0 else seeds
    draws = tuple(given)
    chosen = _chosen(methods)
    figures: dict[str, dict[str, list[float]]] = {name: {} for name in chosen}
    answers: dict[str, list[Answers]] = {}
    steps = [(seed, name) for seed in draws for name in chosen]
    draw: Any = None
    for step, (seed, name) in enumerate(steps):
        if progress is not None:
            progress(step, len(steps))
        if draw is None or draw.seed != seed:
            draw = _Draw(X, table, hide, seed, n_trees, n_jobs)
        found, told = _figures(chosen[name](draw), draw, hide)
        for figure, value in found.items():
            figures[name].setdefault(figure, []).append(value)
        if told is not None:
            answers.setdefault(name, []).append(told)
        if verbose:
            say(f"draw {seed}, {name}: P@1 {figures[name]['P@1'][-1]:.3f}, P@5 {figures[name]['P@5'][-1]:.3f}")
    if progress is not None:
        progress(len(steps), len(steps))
    duplicates = count_duplicates(views, table)
    n_judged = int(_judged_items(table).sum())
    return TagExperiment(float(hide), draws, table.n_items, table.n_tags, n_judged, duplicates, figures, answers)


def _judged_items(table: TagTable) -> NDArray[np.bool_]:
    """Items with a tag that could be hidden."""
    return np.asarray(table.yes @ can_be_found(table).astype(np.float32) > 0)


def _chosen(methods: Any) -> dict[str, Method]:
    if methods is None:
        methods = _DEFAULT
    if isinstance(methods, str):
        methods = (methods,)
    if isinstance(methods, Mapping):
        from sklearn.base import clone

        def fitted(one: Any, draw: _Draw) -> Any:
            return clone(one).fit(draw.X, draw.left)

        return {name: partial(fitted, one) for name, one in methods.items()}
    unknown = [name for name in methods if name not in _METHODS]
    if unknown:
        raise ParameterError(f"there is no method {unknown[0]!r}; there are {', '.join(_METHODS)}.")
    return {name: _METHODS[name] for name in methods}


def _figures(model: Any, draw: _Draw, hide: float) -> tuple[dict[str, float], Answers | None]:
    """Every figure of one fitted method on one draw, and the proposals behind its calibration."""
    figures: dict[str, float] = {}
    answers = None
    if hasattr(model, "propose"):
        proposals = model.propose(top=_DEEPEST)
        items, columns = proposals.items, proposals.columns
        judged = draw.is_judged[items]
        right = np.asarray(draw.hidden[items[judged], columns[judged]]).ravel() > 0
        known = probability_true(proposals.records[judged], proposals.new[judged], 1.0 - hide)
        answers = Answers(known, proposals.probabilities[judged], right)
        figures["ECE"] = calibration_error(answers.known, right)
        figures["ECE estimated"] = calibration_error(answers.estimated, right)
        figures["completeness"] = model.completeness_
    else:
        scores = np.array(model.tag_scores(), dtype=np.float32)
        scores[draw.left.yes.toarray() > 0] = -np.inf
        items, columns = best_of_rows(scores, _DEEPEST)
    return {**_curves(draw.hidden, items, columns), **figures}, answers


def _curves(hidden: Any, items: NDArray[np.int64], columns: NDArray[np.int64]) -> dict[str, float]:
    """Precision, recall and coverage @1 to @5 of ranked proposals; ``items`` ascend, the best of an item first."""
    rank = np.arange(items.size) - np.searchsorted(items, items)
    hits = np.zeros((hidden.shape[0], _DEEPEST))
    hits[items, rank] = np.asarray(hidden[items, columns]).ravel()
    n_hidden = np.diff(hidden.indptr)
    judged = n_hidden > 0
    summed = hits[judged].cumsum(axis=1)
    curves: dict[str, Floats] = {
        "P": (summed / np.arange(1, _DEEPEST + 1)).mean(axis=0),
        "R": (summed / n_hidden[judged, None]).mean(axis=0),
        "C": (summed > 0).mean(axis=0),
    }
    return {f"{name}@{n + 1}": float(curve[n]) for name, curve in curves.items() for n in range(_DEEPEST)}
