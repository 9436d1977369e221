"""Does a poor view move the number of clusters? On draws of the shared sets that have two views or more.

Beside the good views of a draw comes one that says nothing: a view with every column shuffled by itself, three of
those, normal numbers, or a view with its rows in another order. "Same" is how often the number stays what it is without
them. Regret is the adjusted Rand index of a fit with the true number, good views alone, less that of its tree cut at
the number found. "before" is the rule that gave all views the same say, measured once on the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from manyview import ConsensusClustering, Views, metrics, suggest_n_clusters

from .n_clusters_rules import many_draws
from .table import Table

_FIRST_SEED, _ROUNDS = 300, 3
_FEWEST, _MOST = 50, 600
"""Items; below fifty nothing is told apart from chance."""
BEFORE = {
    "nothing": (1.0, 0.044),
    "columns shuffled": (0.75, 0.048),
    "three of them": (0.53, 0.074),
    "normal numbers": (0.59, 0.077),
    "rows shuffled": (0.47, 0.061),
}
"""Share of the same numbers, and regret."""


def tables(quick: bool) -> Iterator[Table]:
    found: dict[str, list[dict[str, float]]] = {how: [] for how in POOR}
    for trial in many_draws(_FIRST_SEED, 1 if quick else _ROUNDS):
        X, y = trial.load() or (Views([np.zeros((1, 1))]), np.zeros(1))
        if len(X.names) < 2 or not _FEWEST <= X.n_items <= _MOST:
            continue
        n_true = int(y.max()) + 1
        model = ConsensusClustering(n_true, random_state=0).fit(X)
        alone = number_of(X)
        for how, poor in POOR.items():
            number = number_of(Views({name: X[name] for name in X.names} | poor(X, np.random.default_rng(trial.seed))))
            at = np.clip(number, *model.level_range_)
            lost = [metrics.adjusted_rand_index(y, labels) for labels in (model.cut(n_true), model.cut(int(at)))]
            found[how].append({"same": float(number == alone), "regret": lost[0] - lost[1]})
    table = Table("poor views beside good ones", ("same", "regret"))
    for how, rows in found.items():
        if rows:
            table.add(how, [{figure: float(np.mean([row[figure] for row in rows])) for figure in ("same", "regret")}])
    table.notes.append(f"{len(found['nothing'])} draws")
    table.notes += [f"before, {how}: same {same}, regret {regret}" for how, (same, regret) in BEFORE.items()]
    yield table


def number_of(X: Views) -> int:
    return int(suggest_n_clusters(X, random_state=0).n_clusters)


def shuffled_columns(X: Views, rng: np.random.Generator, count: int) -> dict[str, object]:
    from manyview.methods.consensus._say import scrambled

    return {f"noise {n}": scrambled(X[X.names[n % len(X.names)]], int(rng.integers(2**31))) for n in range(count)}


POOR: dict[str, Callable[[Views, np.random.Generator], dict[str, object]]] = {
    "nothing": lambda X, rng: {},
    "columns shuffled": lambda X, rng: shuffled_columns(X, rng, 1),
    "three of them": lambda X, rng: shuffled_columns(X, rng, 3),
    "normal numbers": lambda X, rng: {"noise": rng.normal(size=(X.n_items, 50))},
    "rows shuffled": lambda X, rng: {"other rows": X[X.names[-1]][rng.permutation(X.n_items)]},
}
