"""``manyview add``: new items into the clusters that are there."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .talk import SOME_BAD, CollectionPath, given, print_bad, print_json, progress, safe, say, spoken


@spoken
def add(
    collection: CollectionPath,
    source: Annotated[
        Path | None,
        typer.Argument(metavar="SOURCE", help="Source to add. Without it, all known sources are scanned again."),
    ] = None,
    instead_of: Annotated[
        Path | None,
        typer.Option("--instead-of", metavar="SOURCE", help="The known source that moved or was renamed to this one."),
    ] = None,
    id: Annotated[str | None, typer.Option(metavar="COLUMN", help="Table: the column that names an item.")] = None,
    image: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Table: the column with the path of a picture or clip.")
    ] = None,
    text: Annotated[str | None, typer.Option(metavar="COLUMN", help="Table: the column with text.")] = None,
    tags: Annotated[str | None, typer.Option(metavar="COLUMN", help="Table: the column with tags.")] = None,
    tag_sep: Annotated[str | None, typer.Option(metavar="TEXT", help="Table: the separator between tags.")] = None,
    root: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Table: the folder that picture paths are relative to.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Threads. Default: all cores.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Put new items into the clusters of the newest run, without a refit, and say what changed.

    Files that moved, changed or are gone are noticed too: a file with the same bytes at another place is the same
    item, and keeps its tags, answers and place. If it is interrupted, run the same command again.
    """
    from ..workflow.add import add_items
    from ..workflow.collection import Collection

    options = given({"id": id, "image": image, "text": text, "tags": tags, "tag_sep": tag_sep, "root": root})
    with progress() as bar, Collection.open(collection, write=True) as found:
        added = add_items(found, source, instead_of=instead_of, n_jobs=jobs, progress=bar, **options)
    if as_json:
        print_json(
            {
                "run": None if added.run is None else added.run.id,
                "sentence": added.sentence,
                "new": added.n_new,
                "moved": added.n_moved,
                "joined": added.n_joined,
                "in_new_clusters": added.n_opened,
                "opened": added.opened,
                "strangers": added.strangers,
                "said": added.said,
                "changes": None if added.changes is None else added.changes.to_dict(),
                "bad": [problem._asdict() for problem in added.bad],
            }
        )
    else:
        say(safe(added.sentence))
        lines = added.said if added.changes is None else [*added.said, *added.changes.lines()]
        for line in lines:
            say(f"  {safe(line)}")
    print_bad(added.bad)
    if added.bad:
        raise typer.Exit(SOME_BAD)
