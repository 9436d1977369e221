"""The tables of CCA + AHKMC: looks and tags alone and together (``manyview papers cca-ahkmc``)."""

from __future__ import annotations

from collections.abc import Iterator

from .paper import paper_tables
from .table import Table


def tables(quick: bool) -> Iterator[Table]:
    yield from paper_tables("cca-ahkmc", quick)
