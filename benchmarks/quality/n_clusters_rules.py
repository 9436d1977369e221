"""What could be gained in the number of clusters, and by which part of the rule? On many small draws.

Each draw takes classes of a shared set, 3 to 30 of them, as evenly spread on a logarithmic scale as the number of items
of each. One fit with the true number gives a tree, and the tree the adjusted Rand index of every number; so rules are
compared without further fits. Regret is the index of the fit less that of the cut at the number that a rule chooses.
"gap" and "region" are the two factors of the score, each by itself. "best level" and "best cut" see the classes: the
best of the suggested, the coarser and the finer number, and the best of all.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from manyview import ConsensusClustering, metrics, suggest_n_clusters

from .draws import DRAWN, SOURCES, Trial, stored
from .table import Table

_FIRST_SEED = 6_000
"""Of draws that no choice was made with."""
_ROUNDS = 12
_FEWEST, _MOST = 3, 30
_SMALLEST = 12

RULES = ("the true number", "best cut", "best level", "as it is", "gap", "gap times k", "region")
FIGURES = ("regret", "more than as it is", "its standard error", "median ratio", "below .7", "above 1.5")


def tables(quick: bool) -> Iterator[Table]:
    found: list[dict[str, Any]] = []
    for trial in many_draws(_FIRST_SEED, 1 if quick else _ROUNDS):
        measured = measure(trial)
        if measured is not None:
            found.append(measured)
    for kind in ("all", "pictures", "text", "features"):
        rows = [row for row in found if kind in ("all", row["kind"])]
        if rows:
            yield compared(f"{kind}: {len(rows)} draws", rows)


def many_draws(first_seed: int, n_rounds: int) -> Iterator[Trial]:
    for seed in range(first_seed, first_seed + n_rounds):
        for number, (kind, name, most) in enumerate(
            (kind, name, most) for kind, sets in DRAWN.items() for name, _, most in sets
        ):
            n_classes = class_count(name)
            if n_classes < _FEWEST:
                continue
            rng = np.random.default_rng([seed, number])
            classes = round(np.exp(rng.uniform(np.log(_FEWEST), np.log(min(_MOST, n_classes)))))
            size = round(np.exp(rng.uniform(np.log(_SMALLEST), np.log(most))))
            yield Trial(kind, name, classes, size, seed)


@cache
def class_count(name: str) -> int:
    found = SOURCES.get(name, lambda: stored(name))()
    return 0 if found is None else int(np.unique(found[1]).size)


def measure(trial: Trial) -> dict[str, Any] | None:
    """What each rule chooses, and the regret of it."""
    loaded = trial.load()
    if loaded is None:
        return None
    X, y = loaded
    n_true = int(y.max()) + 1
    number: Any = suggest_n_clusters(X, random_state=0)
    if not number.candidates.size:
        return None
    model = ConsensusClustering(n_true, random_state=0).fit(X)
    fewest, most = model.level_range_
    index = {k: metrics.adjusted_rand_index(y, model.cut(k)) for k in range(fewest, most + 1)}
    gap = number.eigenvalues[number.candidates - 1] - number.eigenvalues[number.candidates]
    region = np.divide(number.score, gap, out=np.zeros(gap.size), where=gap > 0)

    def at(k: int) -> float:
        return index[min(most, max(fewest, k))]

    def largest(score: np.ndarray) -> int:
        return int(number.candidates[np.argmax(score)])

    levels = [k for k in (number.n_clusters, number.coarser, number.finer) if k is not None]
    chosen = {
        "the true number": n_true,
        "best cut": max(index, key=lambda k: index[k]),
        "best level": max(levels, key=at),
        "as it is": number.n_clusters,
        "gap": largest(gap),
        "gap times k": largest(gap * number.candidates),
        "region": largest(region),
    }
    return {
        "kind": trial.kind,
        "ratio": {rule: k / n_true for rule, k in chosen.items()},
        "regret": {rule: index[n_true] - at(k) for rule, k in chosen.items()},
    }


def compared(title: str, rows: list[dict[str, Any]]) -> Table:
    table = Table(title, FIGURES)
    for rule in RULES:
        regret, ratio = (np.array([row[what][rule] for row in rows]) for what in ("regret", "ratio"))
        more = regret - np.array([row["regret"]["as it is"] for row in rows])
        table.add(
            rule,
            [
                {
                    "regret": float(regret.mean()),
                    "more than as it is": float(more.mean()),
                    "its standard error": float(more.std() / np.sqrt(more.size)),
                    "median ratio": float(np.median(ratio)),
                    "below .7": float((ratio < 0.7).mean()),
                    "above 1.5": float((ratio > 1.5).mean()),
                }
            ],
        )
    return table
