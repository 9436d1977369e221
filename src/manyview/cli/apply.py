"""``manyview apply``: accepted tags into sidecars, a table, or the files themselves."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..writeback.apply import FileChange

from .talk import FAILED, SOME_BAD, CollectionPath, print_json, progress, safe, say, spoken

_SHOWN = 40


@spoken
def apply(
    collection: CollectionPath,
    to: Annotated[
        str, typer.Option(metavar="WHERE", help="xmp (sidecars), csv, json, or embedded (the files themselves).")
    ] = "xmp",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be written.")] = False,
    naming: Annotated[
        str, typer.Option(metavar="NAMING", help="Name of a new sidecar: full (photo.jpg.xmp) or stem (photo.xmp).")
    ] = "full",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PATH", help="The file, for csv and json.")
    ] = None,
    who: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who does it, for the history. Default: your user name.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write the tags you accepted to where other programs find them.

    Sidecars are merged, never replaced; `manyview undo` takes it back.
    """
    from ..workflow.collection import Collection
    from ..writeback.apply import apply_tags

    reads_only = dry_run or to in ("csv", "json")
    with progress() as bar, Collection.open(collection, write=not reads_only) as found:
        done = apply_tags(found, to, dry_run=dry_run, naming=naming, output=output, who=who, progress=bar)
    if as_json:
        print_json(done.to_dict())
    else:
        if dry_run:
            _show_changes(done.changes[:_SHOWN])
            if len(done.changes) > _SHOWN:
                say(f"... and {len(done.changes) - _SHOWN} more; --json lists all of them")
        say(safe(done.sentence))
        if dry_run and done.changes:
            say("Nothing was written yet: the same without --dry-run writes it.")
        if done.entry is not None:
            say(f"To undo: manyview undo {safe(collection)} {done.entry.id}")
    for problem in done.failed[:20]:
        typer.echo(f"  {safe(problem.path)}: {safe(problem.sentence)}", err=True)
    if len(done.failed) > 20:
        typer.echo(f"  ... and {len(done.failed) - 20} more; --json lists all of them", err=True)
    if done.failed:
        raise typer.Exit(SOME_BAD if done.changes else FAILED)


def _show_changes(changes: Sequence[FileChange]) -> None:
    """The folder that holds all of them once, and each file as it is called in it."""
    folder = ""
    if changes:
        with suppress(ValueError):  # on different drives
            folder = os.path.commonpath([os.path.dirname(change.path) for change in changes])
    if folder:
        say(f"in {safe(folder)}:")
    for change in changes:
        say(f"{safe(os.path.relpath(change.path, folder) if folder else change.path)}{' (new)' * change.is_new}")
        for line in change.lines():
            say(f"  {safe(line)}")
