"""Two runs of a collection, item by item."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...collection.runs import ClusterRow, Run
from ...collection.store import Store
from ...errors import ParameterError
from ...types import Ids
from .identity import overlap_table

__all__ = ["Comparison", "Matched", "compare_runs"]


@dataclass(frozen=True)
class Matched:
    """A cluster of the first run and the one of the second that shares the most items with it."""

    first: int | None
    """The cluster's number; None where the second one has no counterpart."""
    second: int | None
    first_name: str | None
    second_name: str | None
    first_size: int
    second_size: int
    shared: int

    @property
    def share(self) -> float:
        """Items in both, as a share of the items in either."""
        either = self.first_size + self.second_size - self.shared
        return self.shared / either if either else 0.0


@dataclass(frozen=True)
class Comparison:
    """How far two runs agree, and where they do not. Sizes count the items that are in both runs."""

    runs: tuple[Run, Run]
    n_items: int
    only_first: int
    only_second: int
    ari: float
    nmi: float
    same: float
    """Share of the items that are in matched clusters."""
    matched: tuple[Matched, ...]
    flows: tuple[tuple[int, int, int], ...]
    """From, to, how many: items of clusters that are not matched; -1 is no cluster. Largest first."""
    movers: dict[int, tuple[int, int]] = field(repr=False)
    """Item -> from, to."""
    guesses: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    """Clusters of either run whose names were only guessed."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "runs": [{"id": r.id, "method": r.method, "settings": r.settings, "made_at": r.made_at} for r in self.runs],
            "items": {"both": self.n_items, "only_first": self.only_first, "only_second": self.only_second},
            "agreement": {"ari": self.ari, "nmi": self.nmi, "same": self.same},
            "matched": [
                {
                    "first": one.first,
                    "second": one.second,
                    "first_name": one.first_name,
                    "second_name": one.second_name,
                    "first_size": one.first_size,
                    "second_size": one.second_size,
                    "shared": one.shared,
                    "share": one.share,
                }
                for one in self.matched
            ],
            "flows": [{"from": source, "to": target, "size": size} for source, target, size in self.flows],
            "movers": [{"item": item, "from": source, "to": target} for item, (source, target) in self.movers.items()],
        }


def compare_runs(collection: Store, first: int, second: int) -> Comparison:
    """Compare what two runs found, before a person's edits: matched clusters, items that moved, how far they agree.

    Clusters are matched one to one so that the largest number of items is in matched ones. Agreement is the adjusted
    Rand index and the normalised mutual information over the items that are in a cluster of both runs, and the share
    of those that are in matched clusters.
    """
    from scipy.optimize import linear_sum_assignment

    from ...metrics import adjusted_rand_index, normalized_mutual_info

    runs = collection.runs.get_fit(first), collection.runs.get_fit(second)
    sides = [collection.runs.labels(run.id) for run in runs]
    items, a, b = np.intersect1d(sides[0][0], sides[1][0], assume_unique=True, return_indices=True)
    if not items.size:
        raise ParameterError(f"runs {runs[0].id} and {runs[1].id} have no item in common.")
    rows = [{row.label: row for row in collection.runs.clusters(run.id)} for run in runs]
    labels = [sides[0][1][a], sides[1][1][b]]
    table, columns_a, columns_b = overlap_table(*labels)
    pairs = list(zip(*linear_sum_assignment(-table), strict=True)) if table.size else []
    partner = {int(columns_a[r]): int(columns_b[c]) for r, c in pairs if table[r, c]}
    same = np.array([partner.get(x, -2) == y for x, y in zip(*(part.tolist() for part in labels), strict=True)])
    ids = [_numbers(part, known) for part, known in zip(labels, rows, strict=True)]
    moved = np.flatnonzero(~same & ~((labels[0] < 0) & (labels[1] < 0)))
    flows, sizes = np.unique(np.column_stack([ids[0][moved], ids[1][moved]]), axis=0, return_counts=True)
    listed = sorted(((int(x), int(y), int(n)) for (x, y), n in zip(flows, sizes, strict=True)), key=lambda f: -f[2])
    inside = (labels[0] >= 0) & (labels[1] >= 0)
    return Comparison(
        runs=runs,
        n_items=int(items.size),
        only_first=int(sides[0][0].size - items.size),
        only_second=int(sides[1][0].size - items.size),
        ari=float(adjusted_rand_index(labels[0][inside], labels[1][inside])) if inside.any() else 0.0,
        nmi=float(normalized_mutual_info(labels[0][inside], labels[1][inside])) if inside.any() else 0.0,
        same=float(same[inside].mean()) if inside.any() else 0.0,
        matched=_matched(labels, rows, partner),
        flows=tuple(listed),
        movers={int(items[n]): (int(ids[0][n]), int(ids[1][n])) for n in moved},
        guesses=(_guesses(rows[0]), _guesses(rows[1])),
    )


def _guesses(rows: dict[int, ClusterRow]) -> frozenset[int]:
    """Clusters that are called what was guessed, and not what a person called them since."""
    names = ((row, row.profile.get("name", {})) for row in rows.values())
    return frozenset(row.id for row, name in names if name.get("is_guess") and name["name"] == row.name)


def _numbers(labels: Ids, rows: dict[int, ClusterRow]) -> Ids:
    """The clusters' numbers in place of a run's labels."""
    return np.array([rows[label].id if label in rows else -1 for label in labels.tolist()], dtype=np.int64)


def _matched(labels: list[Ids], rows: list[dict[int, ClusterRow]], partner: dict[int, int]) -> tuple[Matched, ...]:
    sizes = [dict(zip(*(p.tolist() for p in np.unique(part, return_counts=True)), strict=True)) for part in labels]
    found: list[tuple[int | None, int | None]] = list(partner.items())
    found += [(x, None) for x in sizes[0] if x >= 0 and x not in partner]
    found += [(None, y) for y in sizes[1] if y >= 0 and y not in partner.values()]
    told = []
    for x, y in found:
        one, other = (rows[0][x] if x is not None else None), (rows[1][y] if y is not None else None)
        shared = 0 if x is None or y is None else int(((labels[0] == x) & (labels[1] == y)).sum())
        told.append(
            Matched(
                first=one.id if one else None,
                second=other.id if other else None,
                first_name=None if one is None else one.called,
                second_name=None if other is None else other.called,
                first_size=0 if x is None else sizes[0][x],
                second_size=0 if y is None else sizes[1][y],
                shared=shared,
            )
        )
    return tuple(sorted(told, key=lambda m: (-m.shared, m.first is None, m.first or m.second or 0)))
