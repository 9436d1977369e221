"""``manyview undo``: take back what was done."""

from __future__ import annotations

from typing import Annotated

import typer

from .talk import CollectionPath, print_json, safe, say, spoken


@spoken
def undo(
    collection: CollectionPath,
    entry: Annotated[
        int | None,
        typer.Argument(metavar="ENTRY", help="Number of a history entry. Default: the last that can be taken back."),
    ] = None,
    who: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who does it, for the history. Default: your user name.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Take back the last, or the named, entry of the history: decisions, edits of clusters, tags written to files.

    What `add` and `fit` found is not taken back.
    """
    from ..workflow.collection import Collection
    from ..workflow.undo import undo as take_back

    with Collection.open(collection, write=True) as found:
        done = take_back(found, entry, who=who)
        later = found.history.newest(done.id - (done.undoes or 0))[1:] if entry is None else []
        stay = [one for one in later if one.id > (done.undoes or 0) and one.undoes is None and one.undone_by is None]
    if as_json:
        print_json({"entry": done.id, "undoes": done.undoes, "summary": done.summary, "stay": [one.id for one in stay]})
        return
    say(safe(done.summary))
    if stay:
        named = ", ".join(f"{one.id} ({one.summary})" for one in stay[:3]) + (", ..." if len(stay) > 3 else "")
        say(safe(f"  later entries stay, which changed nothing that could be taken back: {named}"))
