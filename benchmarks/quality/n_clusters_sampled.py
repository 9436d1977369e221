"""The number of clusters of collections too large to be looked at whole: a sample of 6,000 stands for 20,000 items.

The items are generated, since copies of real ones with noise mislead: groups of groups, of uneven sizes, in two draws
each. The centres of small groups of one large one are some 5 ("near") or 8 ("apart") standard deviations of the items
from each other. Beside it as many groups in 5,000 items, which are all looked at. 30 columns go by the rule for tables
with few columns, 60 by the usual one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from manyview import suggest_n_clusters

from .table import Table

COLUMNS = (30, 60)
GROUPS = ((5, 4), (10, 6), (20, 8), (20, 20))
"""Large groups, and small ones in each."""
DISTANCES = {"near": 5.0, "apart": 8.0}
WIDE = 2.0
"""How far centres of large groups are spread in every column, where items are spread by 1."""
SIZES = (5_000, 20_000)
DRAWS = 2
FIGURES = ("large groups", "small groups", "found", "fewest", "most", "coarser", "finer")


def tables(quick: bool) -> Iterator[Table]:
    for columns in COLUMNS:
        for size in SIZES[:1] if quick else SIZES:
            table = Table(f"{size:,} items in {columns} columns", FIGURES)
            for large, each in GROUPS:
                for how, distance in DISTANCES.items():
                    drawn = (hierarchy(large, each, distance, (size, columns), seed) for seed in range(DRAWS))
                    found = [suggest_n_clusters(X, random_state=0) for X in drawn]
                    numbers = [one.n_clusters for one in found]
                    row = {"large groups": large, "small groups": large * each, "found": float(np.mean(numbers))}
                    row |= {"fewest": min(numbers), "most": max(numbers)}
                    row |= {
                        name: float(np.mean([getattr(one, name) or np.nan for one in found])) for name in FIGURES[-2:]
                    }
                    table.add(f"{large * each} in {large}, {how}", [row])
            yield table


def hierarchy(large: int, each: int, distance: float, shape: tuple[int, int], seed: int) -> np.ndarray:
    """Items of ``large`` groups of ``each`` small ones, whose sizes differ up to some ten times."""
    n_items, columns = shape
    rng = np.random.default_rng([seed, large, each])
    centres = np.repeat(rng.normal(scale=WIDE, size=(large, columns)), each, axis=0)
    centres += rng.normal(scale=distance / np.sqrt(2.0 * columns), size=centres.shape)
    weights = rng.lognormal(sigma=0.5, size=len(centres))
    of = rng.choice(len(centres), n_items, p=weights / weights.sum())
    return centres[of] + rng.normal(size=shape)
