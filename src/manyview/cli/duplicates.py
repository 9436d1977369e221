"""``manyview duplicates``: pictures that are there twice."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..figures import counted
from .talk import CollectionPath, print_json, safe, say, spoken


@spoken
def duplicates(
    collection: CollectionPath,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only exact copies, or only near ones: exact or near.")
    ] = None,
    mark: Annotated[
        str | None,
        typer.Option(metavar="TAG", help="Give this tag to every copy that would not be kept; `undo` takes it back."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PATH", help="Write the list to a .csv or .json file.")
    ] = None,
    rows: Annotated[int, typer.Option(min=1, metavar="N", help="Number of groups to list.")] = 40,
    who: Annotated[str | None, typer.Option(metavar="NAME", help="Who marks them. Default: your user name.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List exact copies and near ones side by side, which would be kept, and why. Nothing is ever deleted."""
    from ..workflow.collection import Collection
    from ..workflow.reading.duplicates import (
        COLUMNS,
        duplicate_rows,
        find_duplicates,
        mark_duplicates,
        write_duplicates,
    )
    from ..writeback.cells import list_of

    with Collection.open(collection, write=mark is not None) as found:
        if output is not None:
            found.check_output(output, list_of(COLUMNS))
        groups = find_duplicates(found, kind)
        looked_at = bool(found.items.fingerprints())
        entry = None if mark is None else mark_duplicates(found, mark, kind, who=who)
    if output is not None:
        write_duplicates(groups, output)
    if as_json:
        listed = [dict(zip(COLUMNS, row, strict=True)) for row in duplicate_rows(groups)]
        print_json({"groups": len(groups), "copies": listed, "entry": None if entry is None else entry.id})
        return
    for number, one in enumerate(groups[:rows], 1):
        say(f"{number}. {one.kind}: {len(one.copies)} copies")
        for copy in one.copies:
            verb = "keep " if copy is one.kept else "     "
            say(f"  {verb}{safe(copy.key)}: {safe(copy.why)}")
    if len(groups) > rows:
        say(f"... and {len(groups) - rows} more groups; --rows shows more, -o writes all of them to a file")
    n_others = sum(len(one.others) for one in groups)
    if not groups:
        later = "no two pictures show the same" if looked_at else "near ones are found by `manyview features` or `fit`"
        say(f"no duplicates are known; {later}.")
        return
    repeating = counted(n_others, "item that repeats another", "items that repeat others")
    say(f"{counted(len(groups), 'group')}, {repeating}; nothing is deleted")
    if output is not None:
        say(f"wrote {safe(output)}")
    if entry is not None:
        say(f"{safe(entry.summary)} (entry {entry.id})\n")
        say(f"Next: manyview apply {safe(collection)} writes it to the sidecars")
    elif output is None:
        say(f"\nNext: manyview duplicates {safe(collection)} -o list.csv, or --mark duplicate")
