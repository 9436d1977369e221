"""``manyview bring``: tags from other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .talk import print_json, safe, say, spoken


@spoken
def bring(
    collection: Annotated[Path, typer.Argument(help="NAME.manyview")],
    source: Annotated[Path, typer.Argument(help="digiKam's digikam4.db, or the folder of a Google Takeout.")],
    albums: Annotated[bool, typer.Option("--albums", help="Titles of albums are tags too.")] = False,
    ratings: Annotated[bool, typer.Option("--ratings", help="Stars are tags too: 1 star, 4 stars.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how much it would be.")] = False,
    who: Annotated[str | None, typer.Option(help="Who does it. Default: your user name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Bring in tags that another program keeps in its own place, which is only read. One entry of the history."""
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
