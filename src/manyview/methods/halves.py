"""How many clusters for a clusterer of yours? What two halves of the items agree on, and what one says of the other."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import is_sparse
from ..data.checks import check_number
from ..data.views import Views
from ..errors import ParameterError, ViewWarning
from ..types import Floats, Places
from .base import fit_to_views, say
from .curves import curve, picture

__all__ = ["ClusterTrials", "compare_halves"]

_ALIKE = 0.01  # agreements that differ by less are alike
_ROWS = 1000  # sparse rows compared with dense means at a time
_OURS = "Take a clusterer of manyview: for KMeans, ConcatenatedKMeans or AcceleratedKMeans."
_WHOLE = {"annotations"}  # its rows are tags, of which there may be as many as items
_GRID = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 65, 80, 100)


@dataclass(frozen=True)
class ClusterTrials:
    """A suggested number of clusters for one clusterer, and the two curves behind it.

    ``candidates`` (m,) are the numbers tried. ``stability`` (m, r) is how well two halves of the items agree, adjusted
    Rand index, 1 at best, 0 by chance, and 0 where a half fell into fewer clusters than asked. ``held_out`` (m, r) is
    the objective on the half that was not fitted: higher is better. ``by_stability`` and ``by_held_out`` are what each
    of them suggests, ``n_clusters`` the one that was asked for, ``reason`` a few words about it.
    """

    n_clusters: int
    reason: str
    by_stability: int
    by_held_out: int
    candidates: Places
    stability: Floats
    held_out: Floats

    def svg(self) -> str:
        """Both curves with their spread over the trials, as the text of an SVG picture."""
        above = f"agreement of two halves: {self.by_stability} clusters"
        below = f"objective on the other half: {self.by_held_out} clusters"
        return picture(
            curve(self.candidates, self.stability, [self.by_stability], above, 0),
            curve(self.candidates, self.held_out, [self.by_held_out], below, 260),
        )

    def plot(self, path: Any) -> Path:
        """Write the picture of ``svg`` to a file, which any browser shows."""
        file = Path(path)
        file.write_text(self.svg(), encoding="utf-8")
        return file


def compare_halves(
    views: Views,
    estimator: Any,
    by: str,
    *,
    candidates: Iterable[int] | None,
    n_repeats: int,
    max_items: int,
    fit_params: Mapping[str, Any] | None,
    rng: np.random.Generator,
    n_jobs: int | None,
    verbose: int,
) -> ClusterTrials:
    """See ``suggest_n_clusters``; ``by`` is "stability" or "held_out"."""
    model, params = _check_estimator(estimator), dict(fit_params or {})
    items = np.flatnonzero(views.mask.any(axis=1))
    if items.size > max_items:
        items = np.sort(rng.choice(items, max_items, replace=False))
    numbers = _check_candidates(candidates, items.size)
    if n_jobs is not None and "n_jobs" in model.get_params():
        model.set_params(n_jobs=n_jobs)
    trials = [(rng.permutation(items), rng.integers(2**31, size=2)) for _ in range(n_repeats)]
    stability, held_out = np.empty((2, numbers.size, 2 * n_repeats))
    for row, number in enumerate(numbers.tolist()):
        for r, (order, seeds) in enumerate(trials):
            halves = [np.sort(half) for half in np.array_split(order, 2)]
            scores = _trial(model, views, params, number, halves, seeds)
            stability[row, 2 * r : 2 * r + 2], held_out[row, 2 * r : 2 * r + 2] = scores
        if verbose:
            say(f"{number} clusters: agreement {stability[row].mean():.3f}, held-out {held_out[row].mean():.6g}")
    steady, bend = _largest_steady(numbers, stability), _knee(numbers, held_out.mean(axis=1))
    agreement = stability[numbers == steady].mean()
    reasons = {
        "stability": f"the most on which two halves of the items agree (adjusted Rand index {agreement:.2f})",
        "held_out": "where the objective on items that were not fitted bends most",
    }
    if by == "stability" and not stability.any():
        raise ParameterError(
            "no number of clusters can be suggested: two halves of the items agree on none of the candidates "
            f"({', '.join(map(str, numbers.tolist()))}), or fall into fewer clusters than asked, since too many items "
            "are alike. Give smaller candidates; where 2 is too many, the items are one cluster."
        )
    chosen = steady if by == "stability" else bend
    return ClusterTrials(chosen, reasons[by], steady, bend, numbers, stability, held_out)


def _check_estimator(estimator: Any) -> Any:
    from sklearn.base import clone

    if estimator is None:
        from .kmeans.baselines import ConcatenatedKMeans

        return ConcatenatedKMeans(n_init=3)
    name = type(estimator).__name__
    if not hasattr(estimator, "get_params") or not hasattr(estimator, "predict"):
        raise ParameterError(f"estimator must be a clusterer with fit and predict, got {name}.")
    if "n_clusters" not in estimator.get_params():
        raise ParameterError(f"{name} has no parameter n_clusters: it finds the number of clusters by itself.")
    return clone(estimator)


def _check_candidates(candidates: Iterable[int] | None, n_items: int) -> Places:
    if candidates is None:
        numbers = [number for number in _GRID if number <= max(2, int(np.sqrt(n_items)))]
    else:
        numbers = [check_number("candidates", number, integer=True, low=2) for number in candidates]
    found = np.unique(np.array(numbers, dtype=np.intp))
    if not found.size or found[-1] > n_items // 2:
        raise ParameterError(
            f"candidates must be at most half the number of items, {n_items // 2}, since each half is clustered by "
            f"itself; got {found[-1] if found.size else 'none'}."
        )
    return found


def _trial(
    model: Any, views: Views, params: Mapping[str, Any], n_clusters: int, halves: list[Places], seeds: Places
) -> tuple[list[float], list[float]]:
    """Fit both halves; each model is asked about the half of the other."""
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import adjusted_rand_score

    fitted = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", ViewWarning)
        for half, seed in zip(halves, seeds.tolist(), strict=True):
            copy = clone(model).set_params(n_clusters=n_clusters)
            if "random_state" in copy.get_params():
                copy.set_params(random_state=seed)
            own = {
                key: value if key in _WHOLE else _rows_of(value, half, views.n_items) for key, value in params.items()
            }
            fitted.append(fit_to_views(copy, views[half], _OURS, **own))
        is_whole = all(_n_found(one) >= n_clusters for one in fitted)
        agreement, objective = [], []
        for mine, other, here, there in ((0, 1, halves[0], halves[1]), (1, 0, halves[1], halves[0])):
            told, found = np.asarray(fitted[mine].predict(views[there])), np.asarray(fitted[other].labels_)
            both = (told >= 0) & (found >= 0)
            # Fits that collapse to the few items that differ agree perfectly, whatever was asked for.
            agreement.append(float(adjusted_rand_score(found[both], told[both])) if is_whole else 0.0)
            objective.append(_objective(fitted[mine], views, here, there, told))
    return agreement, objective


def _n_found(model: Any) -> int:
    labels = np.asarray(model.labels_)
    return int(np.unique(labels[labels >= 0]).size)


def _objective(model: Any, views: Views, here: Places, there: Places, told: Places) -> float:
    """A fitted model's own score of other items, or what stands for it. Squared distances are taken in logs."""
    if not callable(getattr(model, "score", None)):
        return -_log(_spread(views, here, np.asarray(model.labels_), there, told))
    score = float(model.score(views[there]))
    return -_log(-score) if hasattr(model, "inertia_") else score


def _log(value: float) -> float:
    return float(np.log(max(value, 1e-300)))


def _rows_of(value: Any, rows: Places, n_items: int) -> Any:
    """What belongs to these items, where there is one entry per item; otherwise all of it."""
    length = (
        value.shape[0] if hasattr(value, "shape") and value.shape else len(value) if hasattr(value, "__len__") else -1
    )
    if length != n_items or isinstance(value, (str, Mapping)):
        return value
    if isinstance(value, (list, tuple)):
        return [value[row] for row in rows.tolist()]
    return value.iloc[rows] if hasattr(value, "iloc") else value[rows]  # pandas takes labels in brackets


def _spread(views: Views, here: Places, labels: Places, there: Places, told: Places) -> float:
    """Mean squared distance of items to the means of the clusters they were told, in variances of each view."""
    centres = views[here].means(labels, 1 + int(max(labels.max(initial=-1), told.max(initial=-1))))
    total = 0.0
    for name, matrix in views.items():
        mask = views.present(name)
        mine = (labels >= 0) & mask[here]
        theirs = (told >= 0) & mask[there]
        if not mine.any() or not theirs.any():
            continue
        rows = here[mine]
        X, Y = (_dense_or_csr(matrix[part]) for part in (rows, there[theirs]))
        overall = np.asarray(X.mean(axis=0)).ravel()
        variance = float(_squares(X, overall[None, :], np.zeros(rows.size, dtype=np.intp)).mean())
        if variance > 0:
            total += float(_squares(Y, centres[name], told[theirs]).mean()) / variance
    return total


def _dense_or_csr(matrix: Any) -> Any:
    return matrix.tocsr() if is_sparse(matrix) else matrix.astype(np.float64)


def _squares(X: Any, means: Floats, which: Places) -> Floats:
    """Squared distances of rows to their means."""
    if not is_sparse(X):
        return np.asarray(((X - means[which]) ** 2).sum(axis=1))
    squares = np.empty(which.size)
    for start in range(0, which.size, _ROWS):
        part = slice(start, start + _ROWS)
        rows, centres = X[part], means[which[part]]
        squares[part] = np.asarray((rows.multiply(rows) - 2 * rows.multiply(centres)).sum(axis=1)).ravel()
        squares[part] += (centres**2).sum(axis=1)
    return np.maximum(squares, 0.0)


def _largest_steady(numbers: Places, stability: Floats) -> int:
    """The largest number whose agreement is that of the best, within its standard error; the smallest where none is."""
    mean = stability.mean(axis=1)
    best = int(np.argmax(mean))
    if not stability.any():
        return int(numbers[0])
    error = float(stability[best].std(ddof=1) / np.sqrt(stability.shape[1]))
    return int(numbers[np.flatnonzero(mean >= mean[best] - max(error, _ALIKE))[-1]])


def _knee(numbers: Places, curve: Floats) -> int:
    """Where a growing curve bends most: the point highest above the line from its start to its top."""
    top = int(np.argmax(curve)) + 1
    if top <= 2 or not curve[top - 1] > curve[0]:
        return int(numbers[top - 1])
    x = (numbers[:top] - numbers[0]) / (numbers[top - 1] - numbers[0])
    y = (curve[:top] - curve[0]) / (curve[top - 1] - curve[0])
    return int(numbers[int(np.argmax(y - x))])
