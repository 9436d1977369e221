"""``manyview report``: a run as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .talk import CollectionPath, print_json, safe, say, spoken


@spoken
def report(
    collection: CollectionPath,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="PATH", help="The file to write. Default: NAME.html.")
    ] = None,
    run: Annotated[int | None, typer.Option(metavar="N", help="Number of the run. Default: the newest.")] = None,
    public: Annotated[bool, typer.Option("--public", help="Let other users of this machine read it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write a run as one HTML file that needs no server and no network."""
    from ..report.run import publish_run
    from ..workflow.collection import Collection

    path = output or collection.with_suffix(".html")
    with Collection.open(collection) as found:
        publish_run(found, path, run, public=public)
    if as_json:
        print_json({"report": str(path), "bytes": path.stat().st_size})
    else:
        say(f"wrote {safe(path)} ({path.stat().st_size / 1e6:.1f} MB)")
