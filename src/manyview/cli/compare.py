"""``manyview compare``: two runs, item by item."""

from __future__ import annotations

from typing import Annotated

import typer

from ..figures import percent, when
from .talk import CollectionPath, print_json, print_table, safe, say, spoken


@spoken
def compare(
    collection: CollectionPath,
    first: Annotated[int, typer.Argument(metavar="RUN", help="Number of a run.")],
    second: Annotated[int, typer.Argument(metavar="RUN", help="Number of another run.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, with every item that moved.")] = False,
) -> None:
    """Compare two runs: which clusters match, which items moved, how far they agree."""
    from ..workflow.clusters.compare import compare_runs
    from ..workflow.collection import Collection

    with Collection.open(collection) as found:
        told = compare_runs(found, first, second)
    if as_json:
        print_json(told.to_dict())
        return
    first_run, second_run = (f"run {run.id} ({run.method}, {when(run.made_at)})" for run in told.runs)
    say(f"{first_run} and {second_run}")
    say(f"  {told.n_items} items in both; {told.only_first} only in the first, {told.only_second} only in the second")
    say(f"  in matched clusters: {percent(told.same, 1)}; adjusted Rand index {told.ari:.3f}, NMI {told.nmi:.3f}\n")
    rows = [
        (
            "" if m.first is None else m.first,
            safe(m.first_name or ""),
            m.first_size or "",
            "" if m.second is None else m.second,
            safe(m.second_name or ""),
            m.second_size or "",
            m.shared,
            percent(m.share),
        )
        for m in told.matched
    ]
    print_table((">cluster", "name", ">size", ">cluster", "name", ">size", ">shared", ">share"), rows)
    if told.flows:
        say("\n  items that are elsewhere:")
        flows = [("-" if a < 0 else a, "-" if b < 0 else b, n) for a, b, n in told.flows[:20]]
        print_table((">from", ">to", ">items"), flows)
