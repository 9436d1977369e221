"""The tables of GHF-ART: FusionART beside its rivals (``manyview papers ghf-art``)."""

from __future__ import annotations

from collections.abc import Iterator

from .paper import paper_tables
from .table import Table


def tables(quick: bool) -> Iterator[Table]:
    yield from paper_tables("ghf-art", quick)
