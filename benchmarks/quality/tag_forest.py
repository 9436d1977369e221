"""The tables of HML-RF: TagForest beside what its paper compares it with; 100 trees (``manyview papers hml-rf``)."""

from __future__ import annotations

from collections.abc import Iterator

from .paper import paper_tables
from .table import Table


def tables(quick: bool) -> Iterator[Table]:
    yield from paper_tables("hml-rf", quick, protocols=("defaults",))
