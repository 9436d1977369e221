"""The number of clusters on sixty collections whose number is known, and the tree of levels at that number.

Every collection is fitted (``ConsensusClustering``, seed 0) with the true number and with the one that was found.
Regret is how much adjusted Rand index the number costs; cut is the index that the tree of the second fit has at the
true number, beside the direct fit there. "before" is the rule of the first edition, the knee of the objective of
k-means on items left out (one repeat, at most 1,000 items), measured once and written down here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from manyview import ConsensusClustering, metrics, suggest_n_clusters

from .draws import Trial, trials
from .table import Table

FIGURES = ("items", "true", "found", "coarser", "finer", "communities", "rival", "modularity", "ARI true", "ARI found")
FIGURES += ("ARI cut",)
SUMMARY = ("trials", "median ratio", "below .7", "below .5", "above 1.5", "within 20 %", "one of three", "regret")
SUMMARY += ("its standard error", "cut - direct")
BEFORE = {
    "all": (0.75, 0.44, 0.21, 0.07, 0.142),
    "pictures": (0.75, 0.137),
    "text": (0.92, 0.089),
    "features": (0.75, 0.203),
}
"""Median ratio, shares below .7, below .5 and above 1.5, and regret; of the kinds median ratio and regret."""


def tables(quick: bool) -> Iterator[Table]:
    found: dict[str, list[dict[str, float]]] = {}
    yield from tables_of(list(trials()), quick, found)
    made = summary(found)
    median, low, lower, high, regret = BEFORE["all"]
    made.notes.append(
        f"before: median ratio {median}, below .7 {low}, below .5 {lower}, above 1.5 {high}, regret {regret}; "
        + ", ".join(f"{kind} {BEFORE[kind][0]} and {BEFORE[kind][1]}" for kind in ("pictures", "text", "features"))
    )
    yield made


def tables_of(every: list[Trial], quick: bool, found: dict[str, list[dict[str, float]]]) -> Iterator[Table]:
    """A table for each kind of collections; ``found`` gets their rows."""
    for kind in ("pictures", "text", "features"):
        table = Table(f"{kind}: the number that is found", FIGURES)
        chosen = [trial for trial in every if trial.kind == kind]
        for trial in chosen[-3:] if quick else chosen:
            row = measure(trial)
            if row is not None:
                table.add(trial.name, [row])
                found.setdefault(kind, []).append(row)
        yield table


def measure(trial: Trial) -> dict[str, float] | None:
    loaded = trial.load()
    if loaded is None:
        return None
    X, y = loaded
    n_true = int(y.max()) + 1
    number: Any = suggest_n_clusters(X, random_state=0)
    direct = ConsensusClustering(n_true, random_state=0).fit(X)
    model = direct if number.n_clusters == n_true else ConsensusClustering(number.n_clusters, random_state=0).fit(X)
    fewest, most = model.level_range_
    at = min(most, max(fewest, n_true))
    return {
        "items": X.n_items,
        "true": n_true,
        "found": number.n_clusters,
        "coarser": number.coarser or np.nan,
        "finer": number.finer or np.nan,
        "communities": number.communities,
        "rival": number.rival,
        "modularity": number.modularity,
        "ARI true": metrics.adjusted_rand_index(y, direct.labels_),
        "ARI found": metrics.adjusted_rand_index(y, model.labels_),
        "ARI cut": metrics.adjusted_rand_index(y, model.cut(at)),
    }


def summary(found: dict[str, list[dict[str, float]]]) -> Table:
    table = Table("summary: ratio of the number found to the true one", SUMMARY)
    everything = [row for rows in found.values() for row in rows]
    for kind, rows in {"all": everything, **found}.items():
        ratio = np.array([row["found"] / row["true"] for row in rows])
        regret = np.array([row["ARI true"] - row["ARI found"] for row in rows])
        three = np.array([[row[key] / row["true"] for key in ("coarser", "found", "finer")] for row in rows])
        table.add(
            kind,
            [
                {
                    "trials": len(rows),
                    "median ratio": float(np.median(ratio)),
                    "below .7": float((ratio < 0.7).mean()),
                    "below .5": float((ratio < 0.5).mean()),
                    "above 1.5": float((ratio > 1.5).mean()),
                    "within 20 %": float(((ratio >= 0.8) & (ratio <= 1.25)).mean()),
                    "one of three": float(((three >= 0.8) & (three <= 1.25)).any(axis=1).mean()),
                    "regret": float(regret.mean()),
                    "its standard error": float(regret.std() / np.sqrt(regret.size)),
                    "cut - direct": float(np.mean([row["ARI cut"] - row["ARI true"] for row in rows])),
                }
            ],
        )
    return table
