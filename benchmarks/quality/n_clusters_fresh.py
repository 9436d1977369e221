"""The number of clusters on draws that no choice was made with: those of ``n_clusters`` from other seeds.

Run it after a rule was chosen, not to choose one; once they have been used for that, take other first seeds.
"""

from __future__ import annotations

from collections.abc import Iterator

from .draws import draws
from .n_clusters import summary, tables_of
from .table import Table

_FIRST_SEEDS = (5_000, 5_100, 5_200, 5_300, 5_400)


def tables(quick: bool) -> Iterator[Table]:
    found: dict[str, list[dict[str, float]]] = {}
    every = [trial for first in _FIRST_SEEDS for trial in draws(first)]
    yield from tables_of(every, quick, found)
    yield summary(found)
