"""``manyview undo``: take back what was done."""

from __future__ import annotations

from typing import Annotated

import typer

from .talk import CollectionPath, print_json, safe, say, spoken


@spoken
def undo(
    collection: CollectionPath,
    entry: Annotated[
        int | None, typer.Argument(metavar="ENTRY", help="Number of a history entry. Default: the last one.")
    ] = None,
    who: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who does it, for the history. Default: your user name.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Take back the last, or the named, entry of the history: decisions, edits of clusters, tags written to files."""
    from ..workflow.collection import Collection
    from ..workflow.undo import undo as take_back

    with Collection.open(collection, write=True) as found:
        done = take_back(found, entry, who=who)
    if as_json:
        print_json({"entry": done.id, "undoes": done.undoes, "summary": done.summary})
    else:
        say(safe(done.summary))
