"""``manyview export-site``: the gallery as plain files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..figures import counted
from .talk import CollectionPath, print_json, progress, safe, say, spoken


@spoken
def export_site(
    collection: CollectionPath,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="PATH", help="The folder to write: a new one, or an earlier export."),
    ],
    public: Annotated[
        bool, typer.Option("--public", help="Let other users of this machine read it, such as a web server.")
    ] = False,
    positions: Annotated[
        bool, typer.Option("--positions", help="Include where pictures were taken. Default: left out.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Write the gallery's pages as plain files: read-only, and no server is needed."""
    from ..web.site import export_site as export

    with progress() as bar:
        made = export(collection, output, public=public, positions=positions, progress=bar)
    if as_json:
        sizes = {"items": made.n_items, "previews": made.n_previews, "bytes": made.n_bytes}
        print_json({"site": str(made.folder), **sizes})
    else:
        say(f"wrote {safe(made.folder / 'index.html')}: {counted(made.n_items, 'item')}, {made.n_bytes / 1e6:.1f} MB")
