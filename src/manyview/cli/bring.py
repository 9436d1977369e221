"""``manyview bring``: tags from other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .talk import CollectionPath, print_json, safe, say, spoken


@spoken
def bring(
    collection: CollectionPath,
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="digiKam's digikam4.db, or the folder of a Google Takeout.")
    ],
    albums: Annotated[bool, typer.Option("--albums", help="Make tags of the titles of albums too.")] = False,
    ratings: Annotated[bool, typer.Option("--ratings", help="Make tags of ratings too: 1 star, 4 stars.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many tags it would bring.")] = False,
    who: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who does it, for the history. Default: your user name.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Import tags that another program keeps in its own database, which is only read. One entry of the history."""
    from ..workflow.bring import bring_in
    from ..workflow.collection import Collection

    with Collection.open(collection, write=not dry_run) as found:
        done = bring_in(found, source, albums=albums, ratings=ratings, dry_run=dry_run, who=who)
    entry = None if done.entry is None else done.entry.id
    if as_json:
        told = {"program": done.program, "items": done.n_items, "tags": done.n_tags, "unknown": done.n_unknown}
        print_json({**told, "entry": entry})
        return
    say(f"{safe(done.sentence)}{'' if entry is None else f' (entry {entry})'}")
