"""Missing views and missing labels, by the code of ``manyview papers missing``, with iMML's methods in the same run."""

from __future__ import annotations

from collections.abc import Iterator

from ..environments import NotInstalled, python_of
from .paper import paper_tables
from .table import Table


def tables(quick: bool) -> Iterator[Table]:
    try:
        interpreters = {"imml": python_of("imml")}
    except NotInstalled as reason:
        interpreters = {}
        yield Table(f"iMML is not beside ours: {reason}", ())
    yield from paper_tables("missing", quick, protocols=("paper",), interpreters=interpreters)
