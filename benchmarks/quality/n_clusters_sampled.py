"""The number of clusters of collections too large to be looked at whole: a sample of 6,000 stands for 20,000 items.

The items are generated, since copies of real ones with noise mislead: groups of groups in 30 dimensions, of uneven
sizes, in two draws each. Small groups either overlap (their centres are as far from each other as an item is from its
own) or stand apart. Beside it as many groups in 5,000 items, which are all looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from manyview import suggest_n_clusters

from .table import Table

COLUMNS = 60
GROUPS = ((5, 4), (10, 6), (20, 8), (20, 20))
"""Large groups, and small ones in each."""
SPREADS = {"overlap": 0.5, "apart": 0.8}
"""How far the centres of small groups are spread, where items are spread by 1 and large groups by 2."""
SIZES = (5_000, 20_000)
FIGURES = ("large groups", "small groups", "found", "fewest", "most", "coarser", "finer")


def tables(quick: bool) -> Iterator[Table]:
    for size in SIZES[:1] if quick else SIZES:
        table = Table(f"{size:,} items", FIGURES)
        for large, each in GROUPS:
            for how, spread in SPREADS.items():
                drawn = (hierarchy(large, each, spread, size, seed) for seed in range(2))
                found = [suggest_n_clusters(X, random_state=0) for X in drawn]
                numbers = [one.n_clusters for one in found]
                row = {"large groups": large, "small groups": large * each, "found": float(np.mean(numbers))}
                row |= {"fewest": min(numbers), "most": max(numbers)}
                row |= {name: float(np.mean([getattr(one, name) or np.nan for one in found])) for name in FIGURES[-2:]}
                table.add(f"{large * each} in {large}, {how}", [row])
        yield table


def hierarchy(large: int, each: int, spread: float, n_items: int, seed: int) -> np.ndarray:
    """Items of ``large`` groups of ``each`` small ones, whose sizes differ up to some ten times."""
    rng = np.random.default_rng([seed, large, each])
    centres = np.repeat(rng.normal(scale=2.0, size=(large, COLUMNS)), each, axis=0)
    centres += rng.normal(scale=spread, size=centres.shape)
    weights = rng.lognormal(sigma=0.5, size=len(centres))
    of = rng.choice(len(centres), n_items, p=weights / weights.sum())
    return centres[of] + rng.normal(size=(n_items, COLUMNS))
