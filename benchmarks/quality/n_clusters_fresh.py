"""The number of clusters on draws that no choice was made with: those of ``n_clusters`` from other seeds.

Run it after a rule was chosen, not to choose one; once they have been used for that, take another first seed.
"""

from __future__ import annotations

from collections.abc import Iterator

from .draws import draws
from .n_clusters import summary, tables_of
from .table import Table

_FIRST_SEED = 500


def tables(quick: bool) -> Iterator[Table]:
    found: dict[str, list[dict[str, float]]] = {}
    yield from tables_of(list(draws(_FIRST_SEED)), quick, found)
    yield summary(found)
