"""The tables of aPLSA: AnnotatedPLSA beside PLSA, k-means and self-taught clustering (``manyview papers aplsa``)."""

from __future__ import annotations

from collections.abc import Iterator

from .paper import paper_tables
from .table import Table


def tables(quick: bool) -> Iterator[Table]:
    yield from paper_tables("aplsa", quick)
