"""``manyview estimate``: what could be done with a collection, how long it takes and how much memory."""

from __future__ import annotations

from typing import Annotated

import typer

from ..figures import counted
from .talk import CollectionPath, print_json, print_table, safe, say, spoken


@spoken
def estimate(
    collection: CollectionPath,
    clusters: Annotated[
        int | None, typer.Option("-k", "--clusters", min=1, metavar="N", help="Number of clusters to reckon with.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say how long views, a fit by each method, proposals and a map take here, and how much memory, about."""
    from ..steps import in_words
    from ..workflow.collection import Collection
    from ..workflow.reading.estimate import all_estimates

    with Collection.open(collection) as found:
        n_items, rows = len(found.items), all_estimates(found, clusters)
    if as_json:
        told = [{"work": row.work, "method": row.method, **row.estimate._asdict()} for row in rows]
        print_json({"collection": str(collection), "n_items": n_items, "estimates": told})
        return
    say(f"{safe(collection)}: {counted(n_items, 'item')}")
    table = [
        (
            f"{row.work} -m {row.method}" if row.method else row.work,
            in_words(row.estimate.seconds),
            f"{row.estimate.memory / 1e9:.1f} GB",
            row.estimate.sentence.rpartition(", ")[2],
        )
        for row in rows
    ]
    print_table(("work", ">time", ">memory", "known"), table)
